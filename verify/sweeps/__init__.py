"""Sweeps: claims on grids and random families of runs that a user describes, one row of a table for each run and claim.

`read_spec` reads a sweep's file, `conduct` runs what is missing of it, `read_results` reads its table.  (Claims on the
families of instances that the project brings along are tried in `verify.evaluated_instances`.)
"""

from verify.sweeps.outcome import VERDICTS
from verify.sweeps.results import Results, Summary, read_results
from verify.sweeps.running import GOES_ON, conduct
from verify.sweeps.spec import Spec, read_spec

__all__ = ["GOES_ON", "VERDICTS", "Results", "Spec", "Summary", "conduct", "read_results", "read_spec"]

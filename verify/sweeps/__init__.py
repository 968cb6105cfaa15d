"""Sweeps: claims on user-defined grids and random families of runs; the table has one row for each run and claim.

`read_spec` reads the file of a sweep, `run_sweep` computes the missing runs, `read_results` reads the table. The
built-in families of instances are evaluated in `verify.evaluated_instances`.
"""

from verify.sweeps.results import Results, Summary, read_results
from verify.sweeps.row_outcome import VERDICTS
from verify.sweeps.running import GOES_ON, run_sweep
from verify.sweeps.spec import Spec, read_spec

__all__ = ["GOES_ON", "VERDICTS", "Results", "Spec", "Summary", "read_results", "read_spec", "run_sweep"]

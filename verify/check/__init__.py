"""Check one claim on one run. The modules are listed in the order of a check; each imports only those above it.

- `links`: the claim's relations and conditions, compiled
- `sides`: the values of both sides at every place of the run
- `decision`: whether one side exceeds the other, or rounding leaves this undecided
- `comparison`: the place where a relation is tightest, or violated most
- `applicability`: the assumptions, and the conditions, which are compared on the run as a whole
- `ladders`, `rates`: O(.) statements, compared on a ladder of runs
- `outcome`: the result of a check
- `one_run`: all of these in turn
- `joint_checks`: claims on many runs at once, with `joint_comparison`, `whole_runs` and `runs_at_places`
- `perturbed_runs`, `escalation`: which float results depend on rounding, and their decision in exact arithmetic
"""

from verify.check.one_run import check
from verify.check.outcome import Check

__all__ = ["Check", "check"]

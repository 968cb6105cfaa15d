"""One claim on one run.  The way of a claim, step by step; each module knows only those above it.

- `links`: the claim's relations and conditions, compiled
- `sides`: the values of both sides at every place of the run
- `decision`: whether one side exceeds the other, as far as rounding lets it be told
- `comparison`: where a relation is tightest, or violated most
- `applicability`: the assumptions, and the conditions, which are compared on the run as a whole
- `ladders`, `rates`: O(.) statements, compared on a ladder of runs
- `outcome`: what is found
- `one_run`: all of these in turn
- `together`: the same of many runs at once, for claims about whole runs
- `nearby`, `settle`: around a check in floats, what rounding decides, and what exact arithmetic says instead
"""

from verify.check.one_run import check
from verify.check.outcome import Check

__all__ = ["Check", "check"]

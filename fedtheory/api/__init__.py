"""The commands as functions, for notebooks and scripts: they take and return Python objects.

`fedtheory.simulate`, `check`, `verify`, `falsify`, `prove` and `plan` do what the commands of these names do;
`run_on` and `problem_from` make a run from arrays, data frames or a table.  Results display themselves in a notebook.
`check_answers` is for notebooks of courses.
`error_figure` and `bound_figure` draw a run, and a claim on a run, for a paper.
Like the command line, this package may import `verify` and `report`; it does so only when a function is called.

Uses `planner`, `proofs`, `language`, `runfile`, `engine`, `federation`, `arithmetic`.
"""

from fedtheory.api.commands import check, falsify, plan, prove, simulate, verify
from fedtheory.api.courses import check_answers
from fedtheory.api.pictures import bound_figure, error_figure
from fedtheory.api.problems import problem_from, run_on

__all__ = [
    "bound_figure",
    "check",
    "check_answers",
    "error_figure",
    "falsify",
    "plan",
    "problem_from",
    "prove",
    "run_on",
    "simulate",
    "verify",
]

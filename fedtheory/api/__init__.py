"""The commands as functions, for notebooks and scripts: they take and return Python objects.

`fedtheory.simulate`, `check`, `verify`, `falsify`, `prove` and `plan` do what the commands of these names do;
`run_on` and `problem_from` make a run from arrays, data frames or a table.  Results display themselves in a notebook.
`check_answers` is for notebooks of courses.
`error_figure` and `bound_figure` draw a run, and a claim on a run, for a paper.
Like the command line, this package may import `verify` and `report`; it does so only when a function is called.

Uses `planner`, `proofs`, `language`, `runfile`, `engine`, `federation`, `arithmetic`.
"""

from fedtheory.api.commands import check as check
from fedtheory.api.commands import falsify as falsify
from fedtheory.api.commands import plan as plan
from fedtheory.api.commands import prove as prove
from fedtheory.api.commands import simulate as simulate
from fedtheory.api.commands import verify as verify
from fedtheory.api.courses import check_answers as check_answers
from fedtheory.api.pictures import bound_figure as bound_figure
from fedtheory.api.pictures import error_figure as error_figure
from fedtheory.api.problems import problem_from as problem_from
from fedtheory.api.problems import run_on as run_on

"""PEPit's problems as the programs of `verify.worst_case.solvers`, all scalar constraints as rows of two matrices.

What a modelling layer does for each of hundreds of constraints takes longer than the solver, and so does PEPit's own
examination of the solution.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from PEPit.constraint import Constraint
from PEPit.expression import Expression
from PEPit.point import Point
from PEPit.tools.expressions_to_matrices import expression_to_matrices
from PEPit.wrapper import Wrapper
from PEPit.wrappers import WRAPPERS

from fedtheory.arithmetic import Array
from verify.worst_case.solvers import SOLVERS, Answer, Program

NAME = "fedtheory"
"""By which PEPit knows the wrapper; it looks for a package of that name."""


class RowsWrapper(Wrapper):  # type: ignore[misc]
    """What PEPit calls up to the solver; as it is told of no value it leaves the `answer` as it is."""

    answer: Answer

    def check_license(self) -> bool:
        """None is needed."""
        return True

    def set_main_variables(self) -> None:
        """Function values and inner products are known by their numbers."""

    def send_constraint_to_solver(self, constraint: Constraint) -> None:
        """Remember a scalar constraint for `generate_problem`."""
        self._list_of_constraints_sent_to_solver.append(constraint)

    def generate_problem(self, objective: Expression) -> None:
        """The program whose objective is to be maximised."""
        asked = _row(objective)
        rows: dict[str, list[Array]] = {"equality": [], "inequality": []}
        for constraint in self._list_of_constraints_sent_to_solver:
            rows[constraint.equality_or_inequality].append(_row(constraint.expression))
        equations, inequalities = (np.reshape(kind, (-1, len(asked))) for kind in rows.values())
        self.program = Program(asked[:-1], equations, inequalities, Point.counter)

    def solve(self, solver: str) -> tuple[str, str, None]:
        """Ask a solver."""
        self.answer = SOLVERS[solver](self.program)
        return self.answer.verdict, solver, None


def _row(expression: Expression) -> Array:
    """Weights of the function values and of the entries of the matrix of inner products, and the constant."""
    products, values, constant = expression_to_matrices(expression)
    rows, columns, scale = _triangle(len(products))
    return np.concatenate([values, products[rows, columns] * scale, [constant]])


@cache
def _triangle(size: int) -> tuple[Array, Array, Array]:
    """Rows and columns of the entries that a `Program` goes by, and what the weights there are multiplied by."""
    columns, rows = np.tril_indices(size)
    return rows, columns, np.where(rows == columns, 1, np.sqrt(2))


WRAPPERS[NAME] = RowsWrapper

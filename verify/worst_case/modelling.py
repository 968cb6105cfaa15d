"""PEPit's problems as CVXPY gets them: all scalar constraints as rows of two matrices, not one by one.

A problem has hundreds of them, and what CVXPY does for each takes several times as long as the solver.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from cvxpy.atoms.affine.hstack import hstack
from cvxpy.atoms.affine.vec import vec
from PEPit.constraint import Constraint
from PEPit.tools.expressions_to_matrices import expression_to_matrices
from PEPit.wrappers import WRAPPERS
from PEPit.wrappers.cvxpy_wrapper import CvxpyWrapper
from scipy.sparse import csr_array

from fedtheory.arithmetic import Array

NAME = "fedtheory"
"""By which PEPit knows the wrapper; it looks for a package of that name."""


class RowsWrapper(CvxpyWrapper):  # type: ignore[misc]
    """CVXPY's variables and solvers; inequalities are the rows of one constraint, equations those of another."""

    def __init__(self, verbose: int = 1) -> None:
        super().__init__(verbose=verbose)
        self._blocks: dict[str, Any] = {}

    def send_constraint_to_solver(self, constraint: Constraint) -> None:
        """Remember a scalar constraint for `generate_problem`."""
        self._list_of_constraints_sent_to_solver.append(constraint)

    def generate_problem(self, objective: Any) -> Any:
        """The problem whose objective is to be maximised."""
        unknowns = hstack([self.F, vec(self.G, order="C")])
        for kind, rows in self._rows().items():
            matrix = csr_array(np.stack([row[:-1] for row in rows]))
            sides = matrix @ unknowns + np.array([row[-1] for row in rows])
            self._blocks[kind] = sides <= 0 if kind == "inequality" else sides == 0
        self._list_of_solver_constraints += self._blocks.values()
        return super().generate_problem(objective)

    def _rows(self) -> dict[str, list[Array]]:
        """Weights of function values and of inner products, and the constant, of the constraints of each kind."""
        rows: dict[str, list[Array]] = {}
        for constraint in self._list_of_constraints_sent_to_solver:
            products, values, constant = expression_to_matrices(constraint.expression)
            row = np.concatenate([values, products.ravel(), [constant]])
            rows.setdefault(constraint.equality_or_inequality, []).append(row)
        return rows

    def _recover_dual_values(self) -> tuple[list[Any], Array]:
        """Those of the constraints in the order in which they came, after that of the matrix of inner products."""
        residual = self.prob.constraints[0].dual_value
        left = {kind: iter(block.dual_value) for kind, block in self._blocks.items()}
        duals = [next(left[each.equality_or_inequality]) for each in self._list_of_constraints_sent_to_solver]
        return [residual, *duals], residual


WRAPPERS[NAME] = RowsWrapper

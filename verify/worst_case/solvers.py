"""Semidefinite programs, and their solvers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.sparse import csc_array, vstack

from fedtheory.arithmetic import Array

_CLARABEL, _SCS = 1e-6, 1e-5
"""Accuracies required of the solvers."""


@dataclass(frozen=True)
class SolverAnswer:
    """Answer of a solver: its status, and upper and lower bounds on the value."""

    verdict: str
    """"optimal", "inaccurate", "unbounded" or "failed"."""
    above: float | None = None
    below: float | None = None

    @property
    def values(self) -> list[float]:
        """Return the upper and the lower bound, without those that are missing."""
        return [value for value in (self.above, self.below) if value is not None]

    @property
    def gap(self) -> float:
        """Return the gap between the bounds."""
        return max(self.values) - min(self.values)


@dataclass(frozen=True, eq=False)
class Program:
    """A semidefinite program that maximises a linear objective over free numbers and matrices.

    Each row has a coefficient for each unknown, and a constant. The unknowns are free numbers, followed by the upper
    triangles of positive semidefinite matrices, column by column, with off-diagonal entries times the root of two.
    """

    objective: Array
    equations: Array
    """Rows whose value is zero, (E, N+1)."""
    inequalities: Array
    """Rows whose value is at most zero, (I, N+1)."""
    sizes: Sequence[int]
    """Number of rows of each matrix."""

    @property
    def entries(self) -> int:
        """Count the unknowns of the matrices, which come last."""
        return sum(map(_count_entries, self.sizes))

    @property
    def sides(self) -> Array:
        """Return the right sides of the rows of `weights`."""
        constants = -np.concatenate([self.equations[:, -1], self.inequalities[:, -1]])
        return np.concatenate([constants, np.zeros(self.entries)])

    def weights(self, order: Array) -> csc_array:
        """Return equations, inequalities, and negated matrix entries in the order of a solver."""
        rows = csc_array(np.concatenate([self.equations, self.inequalities])[:, :-1])
        unknowns, entries = len(self.objective), self.entries
        columns = unknowns - entries + order
        matrices = csc_array((-np.ones(entries), (np.arange(entries), columns)), shape=(entries, unknowns))
        return csc_array(vstack([rows, matrices]))


@cache
def list_triangle_entries(size: int) -> tuple[Array, Array, Array]:
    """Return rows, columns and multipliers of the entries of a matrix that a `Program` uses."""
    columns, rows = np.tril_indices(size)
    return rows, columns, np.where(rows == columns, 1, np.sqrt(2))


def _count_entries(size: int) -> int:
    return size * (size + 1) // 2


def clarabel(program: Program) -> SolverAnswer:
    """Solve with Clarabel, an interior-point method."""
    import clarabel as solver

    settings = solver.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _CLARABEL
    # These settings save two thirds of the time; the required accuracy is far above rounding.
    settings.iterative_refinement_enable = False
    cones = [
        solver.ZeroConeT(len(program.equations)),
        solver.NonnegativeConeT(len(program.inequalities)),
        *map(solver.PSDTriangleConeT, program.sizes),
    ]
    weights, unknowns = program.weights(np.arange(program.entries)), len(program.objective)
    none = csc_array((unknowns, unknowns))
    found = solver.DefaultSolver(none, -program.objective, weights, program.sides, cones, settings).solve()
    verdicts = {"Solved": "optimal", "AlmostSolved": "inaccurate", "DualInfeasible": "unbounded"}
    return _read_answer(verdicts.get(str(found.status), "failed"), found.obj_val_dual, found.obj_val)


def scs(program: Program) -> SolverAnswer:
    """Solve with SCS, a splitting method."""
    import scs as solver

    data = {"A": program.weights(_order_rows(program.sizes)), "b": program.sides, "c": -program.objective}
    cones = {"z": len(program.equations), "l": len(program.inequalities), "s": list(program.sizes)}
    problem = solver.SCS(data, cones, verbose=False, eps_abs=_SCS, eps_rel=_SCS)
    found = problem.solve()["info"]
    verdicts = {1: "optimal", 2: "inaccurate", -1: "unbounded"}
    return _read_answer(verdicts.get(found["status_val"], "failed"), found["dobj"], found["pobj"])


def _order_rows(sizes: Sequence[int]) -> Array:
    """Return the order of entries for SCS, which reads lower triangles by columns, hence upper triangles by rows."""
    begins = np.cumsum([0, *map(_count_entries, sizes)])
    triangles = [(begin, *np.triu_indices(size)) for begin, size in zip(begins, sizes, strict=False)]
    return np.concatenate([begin + columns * (columns + 1) // 2 + rows for begin, rows, columns in triangles])


def _read_answer(verdict: str, above: float, below: float) -> SolverAnswer:
    """Return the answer of a solver that minimises."""
    return SolverAnswer(verdict, -above, -below) if verdict in ("optimal", "inaccurate") else SolverAnswer(verdict)


SOLVERS: dict[str, Callable[[Program], SolverAnswer]] = {"CLARABEL": clarabel, "SCS": scs}
"""The solvers; the second runs if the first does not converge reliably, and then both must agree."""

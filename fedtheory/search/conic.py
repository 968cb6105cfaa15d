"""Selects inequalities for a sum by semidefinite programs at numbers that satisfy the conditions.

The solver is Clarabel, from the extra `search`; without it, certificates for steps and points are not searched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from fedtheory.errors import InputError
from fedtheory.kernel.expressions import Expr
from fedtheory.kernel.quotients import Quotient
from fedtheory.kernel.work import spend
from fedtheory.search.blocks import Blocks, Key, list_blocks, list_vectors
from fedtheory.search.samples import Samples

_PROGRAM = 20_000
"""Units of work of one program, which takes milliseconds."""


@dataclass(frozen=True)
class Programs:
    """The problem at each sample: a goal and candidates as vectors of linear parts and triangles of matrices."""

    goals: NDArray[np.float64]
    """Sampled goals, of shape (samples, entries)."""
    candidates: NDArray[np.float64]
    """Sampled candidates, of shape (samples, entries, candidates)."""
    rows: int
    sizes: Sequence[int]
    inner: int
    """Number of samples in the interior of the conditions, which come first.

    Programs may fail at the others, on the boundary.
    """
    keys: Sequence[Expr | Key] = ()
    """Names of the entries: rows, then entries of matrices."""

    def only(self, samples: Sequence[int]) -> Programs:
        """Return the programs at some of the samples."""
        return replace(self, goals=self.goals[samples], candidates=self.candidates[samples])

    def solve(self, sample: int, chosen: Sequence[int], costs: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return non-negative weights of some candidates at a sample with the least cost; None if there are none."""
        from scipy.sparse import csc_matrix, vstack

        columns = self.candidates[sample][:, list(chosen)]
        matrix = vstack([csc_matrix(columns), csc_matrix(-np.eye(len(chosen)))]).tocsc()
        found = self._run(sample, costs[list(chosen)], matrix)
        return np.asarray(found.x) if is_solved(found) else None

    def find_worst(self, sample: int) -> tuple[float, NDArray[np.float64]] | None:
        """Return the largest violation of the goal at a sample, and values of its entries that attain it.

        The values satisfy every candidate; their matrices are positive semidefinite, and the traces and the entry of
        the number one add up to 1.  They are the solution of the dual program.
        """
        from scipy.sparse import csc_matrix, vstack

        count = self.candidates.shape[2]
        scale = np.array([float(key == 1 or (isinstance(key, tuple) and key[1] == key[2])) for key in self.keys])
        columns = np.column_stack([self.candidates[sample], -scale])
        signs = np.column_stack([-np.eye(count), np.zeros(count)])
        costs = np.append(np.zeros(count), 1.0)
        found = self._run(sample, costs, vstack([csc_matrix(columns), csc_matrix(signs)]).tocsc())
        if not is_solved(found):
            return None
        units = np.array([sqrt(2) if isinstance(key, tuple) and key[1] != key[2] else 1.0 for key in self.keys])
        return float(found.x[-1]), np.asarray(found.z)[: len(self.keys)] / units

    def _run(self, sample: int, costs: NDArray[np.float64], matrix: Any) -> Any:
        """Return the solver's answer for a program; `matrix` has a row for each entry and each sign."""
        from scipy.sparse import csc_matrix

        clarabel = load_solver()
        spend(_PROGRAM)
        signs = matrix.shape[0] - self.goals.shape[1]
        cones = [clarabel.ZeroConeT(self.rows)] if self.rows else []
        cones += [clarabel.PSDTriangleConeT(size) for size in self.sizes]
        cones.append(clarabel.NonnegativeConeT(signs))
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_threads = 1
        right = np.concatenate([self.goals[sample], np.zeros(signs)])
        empty = csc_matrix((matrix.shape[1], matrix.shape[1]))
        return clarabel.DefaultSolver(empty, costs, matrix, right, cones, settings).solve()

    @property
    def count(self) -> int:
        """Number of samples."""
        return len(self.goals)


def load_solver() -> Any:
    """Return Clarabel's module; raise `InputError` with the command that installs it, if it is missing."""
    try:
        import clarabel
    except ImportError:
        raise InputError("search", "needs Clarabel for steps and points: pip install 'fedtheory[search]'") from None
    return clarabel


def is_solved(solution: Any) -> bool:
    """Return whether Clarabel found an optimum, up to rounding."""
    return str(solution.status) in ("Solved", "AlmostSolved")


def make_programs(samples: Samples, goal: Blocks, candidates: Sequence[Blocks], inner: int) -> Programs:
    """Return the programs at some samples."""
    every = [goal, *candidates]
    rows = sorted({row for one in every for row in one.rows}, key=str)
    places: list[tuple[Key, float]] = []
    sizes = []
    joined = {key: None for one in every for key in one.matrices}
    for block in list_blocks(joined):
        vectors = list_vectors(joined, block)
        sizes.append(len(vectors))
        places += [
            ((block, vectors[row], vectors[column]), 1.0 if row == column else sqrt(2))
            for column in range(len(vectors))
            for row in range(column + 1)
        ]
    value = _make_evaluator(samples)
    count = samples.at.shape[1]
    table = np.zeros((len(every), count, len(rows) + len(places)))
    for number, one in enumerate(every):
        for place, row in enumerate(rows):
            if row in one.rows:
                table[number, :, place] = value(one.rows[row])
        for place, (key, scale) in enumerate(places, start=len(rows)):
            if key in one.matrices:
                table[number, :, place] = scale * value(one.matrices[key])
    keys = [*rows, *(key for key, _ in places)]
    return Programs(table[0], table[1:].transpose(1, 2, 0), len(rows), sizes, inner, keys)


def _make_evaluator(samples: Samples) -> Callable[[Quotient], NDArray[np.float64]]:
    """Return a function that evaluates numbers at the samples, with a cache."""
    known: dict[sp.Expr, NDArray[np.float64]] = {}

    def value(number: Quotient) -> NDArray[np.float64]:
        expression = number.expression
        if expression not in known:
            known[expression] = samples.values(expression)
        return known[expression]

    return value


def find_least_support(programs: Programs, attempt: int = 0) -> list[int] | None:
    """Return a minimal set of candidates that suffices at every sample; None if all candidates do not suffice.

    The first attempt minimises the sum of the weights, further ones use random costs.
    """
    everything = list(range(programs.candidates.shape[2]))
    random = np.random.default_rng(attempt)
    costs = np.ones(len(everything)) if attempt == 0 else np.exp(random.uniform(-1.5, 1.5, len(everything)))
    first = [programs.solve(sample, everything, costs) for sample in range(programs.count)]
    if any(weights is None for weights in first[: programs.inner]):
        return None
    programs = programs.only([sample for sample, weights in enumerate(first) if weights is not None])
    largest = np.max([weights for weights in first if weights is not None], axis=0)
    kept = [one for one in everything if largest[one] > 1e-6]
    if not _suffices(programs, kept):
        kept = everything
    for one in sorted(kept, key=lambda place: largest[place]):
        fewer = [other for other in kept if other != one]
        if _suffices(programs, fewer):
            kept = fewer
    return kept


def _suffices(programs: Programs, chosen: Sequence[int]) -> bool:
    """Return whether the chosen candidates suffice at every sample."""
    costs = np.ones(programs.candidates.shape[2])
    if not chosen:
        return False
    return all(programs.solve(sample, chosen, costs) is not None for sample in range(programs.count))


UNBOUNDED = 1e12
"""Value for a bound that a program does not find."""

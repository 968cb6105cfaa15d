"""Selects inequalities for a sum by semidefinite programs, one for each sample of the symbols.

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

_PROGRAM = 15_000
"""Units of work of one program, which takes milliseconds, without those for its entries."""
_ENTRY = 80
"""Units of work for an entry of the linear part or of a Gram matrix."""


@dataclass(frozen=True)
class Programs:
    """The program at each sample: to write the goal as a non-negative sum of candidates and squares.

    The goal and the candidates are vectors: coefficients of the linear part, then the triangles of Gram matrices.
    """

    goals: NDArray[np.float64]
    """Sampled goals, of shape (samples, entries)."""
    candidates: NDArray[np.float64]
    """Sampled candidates, of shape (samples, entries, candidates)."""
    rows: int
    """Number of entries of the linear part."""
    sizes: Sequence[int]
    """Number of vectors of each Gram matrix."""
    inner: int
    """Number of samples strictly inside the conditions, which come first.

    The others are on the boundary, and their programs may have no solution.
    """
    keys: Sequence[Expr | Key] = ()
    """Names of the entries: monomials of the linear part, then places in Gram matrices."""

    def select(self, samples: Sequence[int]) -> Programs:
        """Return the programs at some of the samples."""
        return replace(self, goals=self.goals[samples], candidates=self.candidates[samples])

    def solve(self, sample: int, chosen: Sequence[int], costs: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return the weights of some candidates at a sample with the least cost; None if no weights suffice."""
        columns = self.candidates[sample][:, list(chosen)]
        found = self._run(sample, costs[list(chosen)], np.concatenate([columns, -np.eye(len(chosen))]))
        return np.asarray(found.x) if is_solved(found) else None

    def find_worst(self, sample: int) -> tuple[float, NDArray[np.float64]] | None:
        """Return the largest violation of the goal at a sample, and values of its entries that attain it.

        The values satisfy every candidate, and their matrices are positive semidefinite.  They are scaled so that the
        traces and the entry of the number one add up to 1.  They solve the dual program.
        """
        count = self.candidates.shape[2]
        scale = np.array([float(key == 1 or (isinstance(key, tuple) and key[1] == key[2])) for key in self.keys])
        columns = np.column_stack([self.candidates[sample], -scale])
        signs = np.column_stack([-np.eye(count), np.zeros(count)])
        costs = np.append(np.zeros(count), 1.0)
        found = self._run(sample, costs, np.concatenate([columns, signs]))
        if not is_solved(found):
            return None
        units = np.array([sqrt(2) if isinstance(key, tuple) and key[1] != key[2] else 1.0 for key in self.keys])
        return float(found.x[-1]), np.asarray(found.z)[: len(self.keys)] / units

    def _run(self, sample: int, costs: NDArray[np.float64], matrix: NDArray[np.float64]) -> Any:
        """Return the solver's answer for a program; `matrix` has a row for each entry and each sign."""
        from scipy.sparse import csc_matrix

        clarabel = load_solver()
        spend(_PROGRAM + _ENTRY * self.goals.shape[1])
        signs = matrix.shape[0] - self.goals.shape[1]
        cones = [clarabel.ZeroConeT(self.rows)] if self.rows else []
        cones += [clarabel.PSDTriangleConeT(size) for size in self.sizes]
        cones.append(clarabel.NonnegativeConeT(signs))
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_threads = 1
        right = np.concatenate([self.goals[sample], np.zeros(signs)])
        empty = csc_matrix((matrix.shape[1], matrix.shape[1]))
        return clarabel.DefaultSolver(empty, costs, csc_matrix(matrix), right, cones, settings).solve()

    @property
    def count(self) -> int:
        """Number of samples."""
        return len(self.goals)


def load_solver() -> Any:
    """Return Clarabel's module; raise `InputError` with the command that installs it if it is missing."""
    try:
        import clarabel
    except ImportError:
        raise InputError("search", "needs Clarabel for steps and points: pip install 'fedtheory[search]'") from None
    return clarabel


def is_solved(solution: Any) -> bool:
    """Return whether Clarabel found an optimum, up to rounding."""
    return str(solution.status) in ("Solved", "AlmostSolved")


def make_programs(samples: Samples, goal: Blocks, candidates: Sequence[Blocks], inner: int) -> Programs:
    """Return the programs at samples, of which the first `inner` are strictly inside the conditions."""
    scalars = [goal, *candidates]
    rows = sorted({row for each in scalars for row in each.rows}, key=str)
    entries = {key: None for each in scalars for key in each.matrices}
    vectors_of_blocks = [(block, list_vectors(entries, block)) for block in list_blocks(entries)]
    # The solver expects entries off the diagonal times the root of two.
    scales = {
        (block, vectors[row], vectors[column]): 1.0 if row == column else sqrt(2)
        for block, vectors in vectors_of_blocks
        for column in range(len(vectors))
        for row in range(column + 1)
    }
    evaluate = _make_evaluator(samples)
    table = np.zeros((len(scalars), samples.at.shape[1], len(rows) + len(scales)))
    for number, each in enumerate(scalars):
        for place, row in enumerate(rows):
            if row in each.rows:
                table[number, :, place] = evaluate(each.rows[row])
        for place, (key, scale) in enumerate(scales.items(), start=len(rows)):
            if key in each.matrices:
                table[number, :, place] = scale * evaluate(each.matrices[key])
    sizes = [len(vectors) for _, vectors in vectors_of_blocks]
    return Programs(table[0], table[1:].transpose(1, 2, 0), len(rows), sizes, inner, [*rows, *scales])


def _make_evaluator(samples: Samples) -> Callable[[Quotient], NDArray[np.float64]]:
    """Return a function that evaluates numbers at the samples, with a cache."""
    known: dict[sp.Expr, NDArray[np.float64]] = {}

    def evaluate(number: Quotient) -> NDArray[np.float64]:
        """Return the values of a number at every sample."""
        expression = number.expression
        if expression not in known:
            known[expression] = samples.values(expression)
        return known[expression]

    return evaluate


def find_least_support(programs: Programs, attempt: int = 0) -> list[int] | None:
    """Return a minimal set of candidates that suffices at every sample; None if all candidates do not suffice.

    The first attempt minimises the sum of the weights, further attempts minimise random costs.
    """
    places = list(range(programs.candidates.shape[2]))
    random = np.random.default_rng(attempt)
    costs = np.ones(len(places)) if attempt == 0 else np.exp(random.uniform(-1.5, 1.5, len(places)))
    solutions = [programs.solve(sample, places, costs) for sample in range(programs.count)]
    if any(weights is None for weights in solutions[: programs.inner]):
        return None
    programs = programs.select([sample for sample, weights in enumerate(solutions) if weights is not None])
    largest = np.max([weights for weights in solutions if weights is not None], axis=0)
    kept = [place for place in places if largest[place] > 1e-6]
    if not _suffices(programs, kept):
        kept = places
    for place in sorted(kept, key=lambda place: largest[place]):
        fewer = [other for other in kept if other != place]
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
"""Value that stands for a bound on a coefficient if there is none."""

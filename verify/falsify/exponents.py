"""Exponents: the growth of each term of a bound with each aspect of a run, and directions in which the bound fails.

Near a run, a term is approximately a product of powers of its aspects, so its logarithm is linear in theirs. The best
direction solves a linear program: the smaller side increases most relative to every term, and all conditions hold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np

from fedtheory.arithmetic import FLOAT, Array, plain_float
from fedtheory.language.claim import Claim
from verify.check.comparison import Comparison
from verify.check.links import compile_conditions
from verify.check.outcome import Check
from verify.falsify.run_tables import Table, evaluate_run
from verify.falsify.score import score

NOTHING_THERE = -200.0
"""Logarithm of zero."""
_DETOUR = 0.02
"""Cost of a power of two: between two directions with the same score, the shorter one is chosen."""
_ROUNDING = 0.05
"""Accuracy of measured exponents, about."""
_TIE = 1e-9


@dataclass(frozen=True)
class Logarithms:
    """Base-two logarithms of the terms of a relation and of the conditions of a claim."""

    smaller: float
    terms: Array
    """Terms of the larger side, and subtracted terms of the smaller one, shape (terms,)."""
    conditions: Array
    """Ratios of the smaller side to the larger side of each condition, shape (conditions,)."""

    def lead(self, penalties: Array) -> float:
        """Return the logarithm of the smaller side over the sum of the terms times two to the `penalties`."""
        return self.smaller - float(np.logaddexp2.reduce(self.terms + penalties))

    def exponents(self, other: Logarithms, powers: int) -> Logarithms:
        """Return the growth of each value per power of two, from a second reading `powers` powers of two away."""
        return Logarithms(
            (other.smaller - self.smaller) / powers,
            (other.terms - self.terms) / powers,
            (other.conditions - self.conditions) / powers,
        )


class LogarithmReader:
    """Evaluate the logarithms of a claim on runs, including runs that its conditions exclude."""

    def __init__(self, claim: Claim) -> None:
        conditions = [link.relation for link in compile_conditions(claim)]
        self._claim = replace(claim, conditions=claim.choice_conditions, also=[*claim.also, *conditions])
        self._own = len(claim.relations)
        self._known: dict[bytes, Logarithms | None] = {}
        self.is_equation = np.array([relation.operator == "==" for relation in conditions], dtype=bool)

    def read(self, table: Table) -> Logarithms | None:
        """Return the cached logarithms of a run; several rays pass the same runs."""
        key = blake2b(str(table).encode()).digest()
        if key not in self._known:
            self._known[key] = self._compute_reading(table)
        return self._known[key]

    def _compute_reading(self, table: Table) -> Logarithms | None:
        """Compute the logarithms of a run at its worst relation; None where the claim compares nothing there."""
        found = evaluate_run(self._claim, table, FLOAT)
        if found is None or not found.comparisons:
            return None
        worst = max(found.comparisons[: self._own], key=lambda comparison: _score_comparison(found, comparison))
        positive, negative = _split_by_sign(worst)
        if worst.relation.operator == "==" or not 0 < sum(positive) < math.inf:
            return None
        conditions = [_compute_log_quotient(comparison) for comparison in found.comparisons[self._own :]]
        return Logarithms(
            math.log2(sum(positive)), np.array([_take_logarithm(value) for value in negative]), np.array(conditions)
        )

    def allows(self, reading: Logarithms) -> bool:
        """Return whether the conditions hold, up to float rounding."""
        missed = np.where(self.is_equation, abs(reading.conditions), reading.conditions)
        return bool((missed <= _TIE).all())


def _score_comparison(found: Check, comparison: Comparison) -> float:
    return score(replace(found, comparisons=(comparison,)))


def _split_by_sign(comparison: Comparison) -> tuple[list[float], list[float]]:
    """Move all terms of a relation to the side on which they are positive; return the smaller side and the other."""
    smaller, larger = comparison.relation.in_order(comparison.left_terms, comparison.terms)
    up, down = ([plain_float(term.value) for term in side] for side in (smaller, larger))
    return (
        [*(max(value, 0.0) for value in up), *(max(-value, 0.0) for value in down)],
        [*(max(value, 0.0) for value in down), *(max(-value, 0.0) for value in up)],
    )


def _compute_log_quotient(condition: Comparison) -> float:
    smaller, larger = map(plain_float, condition.relation.in_order(condition.lhs, condition.rhs))
    return _take_logarithm(smaller) - _take_logarithm(larger)


def _take_logarithm(value: float) -> float:
    return math.log2(value) if 2**NOTHING_THERE < value < math.inf else NOTHING_THERE


@dataclass(frozen=True)
class Room:
    """Bounds of a step."""

    low: Array
    """The lower bounds in powers of two, shape (aspects,)."""
    high: Array
    sums: Array
    """Rows of ones for the aspects whose sum is bounded, shape (bounds, aspects)."""
    most: Array
    """The upper bounds of these sums."""


def find_best_step(
    at: Logarithms, penalties: Array, exponents: Sequence[Logarithms], is_equation: Array, room: Room
) -> Array | None:
    """Return the step, in powers of two, that most increases the smaller side over all terms; None without one.

    `exponents`: logarithms per power of two for each aspect; `penalties`, shape (terms,), are added to the terms.
    """
    count = len(exponents)
    rises = np.array([aspect.smaller for aspect in exponents])
    terms = np.array([aspect.terms for aspect in exponents]).T
    conditions = np.array([aspect.conditions for aspect in exponents]).T.reshape(len(at.conditions), count)
    fixed = -conditions[is_equation]
    # Variables: the step, the largest term after it, and the absolute value of each change.
    same, still = np.eye(count), np.zeros((count, 1))
    rows = [
        np.hstack([terms, -np.ones((len(terms), 1)), np.zeros((len(terms), count))]),
        np.hstack([same, still, -same]),
        np.hstack([-same, still, -same]),
        *(np.hstack([some, np.zeros((len(some), count + 1))]) for some in (room.sums, conditions, fixed)),
    ]
    # An inequality may have slack; an equation must remain satisfied.
    most = np.maximum(-at.conditions, 0) + _ROUNDING
    bounds = [-at.terms - penalties, np.zeros(2 * count), room.most, most, np.full(len(fixed), _ROUNDING)]
    found = _solve_linear_program(
        np.concatenate([-rises, [1.0], np.full(count, _DETOUR)]),
        np.vstack(rows),
        np.concatenate(bounds),
        np.concatenate([room.low, [-np.inf], np.zeros(count)]),
        np.concatenate([room.high, np.full(1 + count, np.inf)]),
    )
    return None if found is None else np.round(found[:count]).astype(int)


def _solve_linear_program(costs: Array, rows: Array, most: Array, low: Array, high: Array) -> Array | None:
    """Minimise `costs @ x` subject to `rows @ x <= most` and `low <= x <= high`; None if infeasible.

    HiGHS is called directly: importing the SciPy module around it takes longer than many searches.
    """
    import highspy

    program, (row, column) = highspy.HighsLp(), np.nonzero(rows)
    program.num_row_, program.num_col_ = rows.shape
    program.col_cost_, program.col_lower_, program.col_upper_ = costs, low, high
    program.row_lower_, program.row_upper_ = np.full(len(most), -np.inf), most
    matrix = program.a_matrix_
    matrix.format_ = highspy.MatrixFormat.kRowwise
    matrix.start_ = np.searchsorted(row, np.arange(len(rows) + 1))
    matrix.index_, matrix.value_ = column, rows[row, column]
    solver = highspy.Highs()
    solver.silent()
    solver.passModel(program)
    solver.run()
    is_solved = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return np.array(solver.getSolution().col_value) if is_solved else None

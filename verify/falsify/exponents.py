"""Exponents: how each term of a bound grows with each aspect of a run, and where its smaller side outgrows all terms.

Near a run a term is about a product of powers of its aspects.  In logarithms
that is a linear function, so the best direction is the solution of a linear
program: the smaller side rises, every term stays below, every
condition holds.
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
from verify.check.links import condition_links
from verify.check.outcome import Check
from verify.falsify.score import score
from verify.falsify.tables import Table, evaluate_run

NOTHING_THERE = -200.0
"""The logarithm of what is not there."""
_DETOUR = 0.02
"""Cost of a power of two: of two ways to the same score the shorter one is taken."""
_ROUNDING = 0.05
"""Measured exponents are good to about this."""
_TIE = 1e-9


@dataclass(frozen=True)
class Logarithms:
    """Logarithms, to base two, of what stands in a relation and in the conditions of a claim."""

    smaller: float
    terms: Array
    """Terms of the larger side, and those with a minus of the other one, (terms,)."""
    conditions: Array
    """Ratios of each condition's smaller side to its larger one, (conditions,)."""

    def lead(self, burdens: Array) -> float:
        """By how much the smaller side leads over the sum of the terms, each multiplied by its burden."""
        return self.smaller - float(np.logaddexp2.reduce(self.terms + burdens))

    def exponents(self, other: Logarithms, powers: int) -> Logarithms:
        """Return the growth of each value per power of two, from another reading so many of them away."""
        return Logarithms(
            (other.smaller - self.smaller) / powers,
            (other.terms - self.terms) / powers,
            (other.conditions - self.conditions) / powers,
        )


class Reader:
    """Reads a claim off runs, also off those that its conditions exclude."""

    def __init__(self, claim: Claim) -> None:
        asked = [link.relation for link in condition_links(claim)]
        self._claim = replace(claim, conditions=(), also=[*claim.also, *asked])
        self._own = len(claim.relations)
        self._known: dict[bytes, Logarithms | None] = {}
        self.is_equation = np.array([relation.operator == "==" for relation in asked], dtype=bool)

    def read(self, table: Table) -> Logarithms | None:
        """The reading of a run, found once: rays begin at the same ones, and cross."""
        key = blake2b(str(table).encode()).digest()
        if key not in self._known:
            self._known[key] = self._reading(table)
        return self._known[key]

    def _reading(self, table: Table) -> Logarithms | None:
        """The reading of a run at its worst relation; None where the claim compares nothing there."""
        found = evaluate_run(self._claim, table, FLOAT)
        if found is None or not found.comparisons:
            return None
        worst = max(found.comparisons[: self._own], key=lambda comparison: _score(found, comparison))
        positive, negative = _split_by_sign(worst)
        if worst.relation.operator == "==" or not 0 < sum(positive) < math.inf:
            return None
        conditions = [_log_quotient(comparison) for comparison in found.comparisons[self._own :]]
        return Logarithms(math.log2(sum(positive)), np.array([_log(value) for value in negative]), np.array(conditions))

    def allows(self, reading: Logarithms) -> bool:
        """Return whether the conditions hold, as far as floats tell."""
        missed = np.where(self.is_equation, abs(reading.conditions), reading.conditions)
        return bool((missed <= _TIE).all())


def _score(found: Check, comparison: Comparison) -> float:
    return score(replace(found, comparisons=(comparison,)))


def _split_by_sign(comparison: Comparison) -> tuple[list[float], list[float]]:
    """The terms of a relation with all of them on the side on which they are positive: the smaller side, the other."""
    smaller, larger = comparison.relation.in_order(comparison.left_terms, comparison.terms)
    up, down = ([plain_float(term.value) for term in side] for side in (smaller, larger))
    return (
        [*(max(value, 0.0) for value in up), *(max(-value, 0.0) for value in down)],
        [*(max(value, 0.0) for value in down), *(max(-value, 0.0) for value in up)],
    )


def _log_quotient(condition: Comparison) -> float:
    smaller, larger = map(plain_float, condition.relation.in_order(condition.lhs, condition.rhs))
    return _log(smaller) - _log(larger)


def _log(value: float) -> float:
    return math.log2(value) if 2**NOTHING_THERE < value < math.inf else NOTHING_THERE


@dataclass(frozen=True)
class Room:
    """Limits of a step."""

    low: Array
    """The least powers of two, (aspects,)."""
    high: Array
    sums: Array
    """Rows of ones for the aspects whose powers together are bounded, (bounds, aspects)."""
    most: Array
    """These bounds."""


def best_step(
    at: Logarithms, burdens: Array, exponents: Sequence[Logarithms], is_equation: Array, room: Room
) -> Array | None:
    """Powers of two by which aspects change, so that the smaller side gains most on all terms; None without a way.

    `exponents` has one reading for each aspect, its logarithms per power of two;
    `burdens`, (terms,), are added to those of the terms.
    """
    count = len(exponents)
    rises = np.array([aspect.smaller for aspect in exponents])
    terms = np.array([aspect.terms for aspect in exponents]).T
    conditions = np.array([aspect.conditions for aspect in exponents]).T.reshape(len(at.conditions), count)
    fixed = -conditions[is_equation]
    # Variables: the step, the largest term afterwards, and the size of each change.
    same, still = np.eye(count), np.zeros((count, 1))
    rows = [
        np.hstack([terms, -np.ones((len(terms), 1)), np.zeros((len(terms), count))]),
        np.hstack([same, still, -same]),
        np.hstack([-same, still, -same]),
        *(np.hstack([some, np.zeros((len(some), count + 1))]) for some in (room.sums, conditions, fixed)),
    ]
    # Of a condition there may be some room; one that fixes something goes on to hold.
    most = np.maximum(-at.conditions, 0) + _ROUNDING
    bounds = [-at.terms - burdens, np.zeros(2 * count), room.most, most, np.full(len(fixed), _ROUNDING)]
    found = _solve(
        np.concatenate([-rises, [1.0], np.full(count, _DETOUR)]),
        np.vstack(rows),
        np.concatenate(bounds),
        np.concatenate([room.low, [-np.inf], np.zeros(count)]),
        np.concatenate([room.high, np.full(1 + count, np.inf)]),
    )
    return None if found is None else np.round(found[:count]).astype(int)


def _solve(costs: Array, rows: Array, most: Array, low: Array, high: Array) -> Array | None:
    """The x between `low` and `high` with ``rows @ x <= most`` that costs least, (variables,); None without one.

    HiGHS itself: the module of SciPy around it takes longer to load than many a search.
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

"""Solves for coefficients of inequalities as rational functions of the symbols.

Linear equations determine some of the coefficients.  The others are free, and are tried with simple values for which
the rest is a sum of squares at every sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice, product
from typing import Any

import numpy as np
import sympy as sp

from fedtheory.kernel import Context, Rejected, Term, is_ordering, slack
from fedtheory.kernel.expressions import Average, Expr
from fedtheory.kernel.quotients import ONE, ZERO, Quotient, quotient
from fedtheory.kernel.work import spend
from fedtheory.search.blocks import (
    Block,
    Blocks,
    add_numbers,
    find_squares,
    list_blocks,
    list_vectors,
    multiply_numbers,
)
from fedtheory.search.candidates import CandidateInequality
from fedtheory.search.conic import UNBOUNDED
from fedtheory.search.dimensions import Dimension, Dimensions, divide_dimensions
from fedtheory.search.faces import Face, FeasibleSet, list_costs
from fedtheory.search.fits import Products
from fedtheory.search.positivity import SignFacts
from fedtheory.search.samples import Samples
from fedtheory.search.weighted_squares import find_weighted_squares

_MINUS = quotient(sp.S.NegativeOne)


@dataclass(frozen=True)
class Selection:
    """Inequalities whose multiples and squares add up to the goal at every sample."""

    candidates: Sequence[CandidateInequality]
    samples: Samples
    dimensions: Dimensions
    many: Samples
    """Further samples, to identify coefficients and vectors from their values."""
    units: Sequence[Expr] = ()
    """Sums that coefficients may have as a factor."""

    @cached_property
    def products(self) -> Products:
        """Products of powers of the numbers, for identifying values at the samples."""
        return Products(self.many, self.units)


@dataclass
class System:
    """Linear equations for the coefficients of chosen inequalities, solved step by step."""

    goal: Blocks
    chosen: Sequence[CandidateInequality]
    known: dict[int, dict[int, Quotient]]
    """Each solved coefficient, as a linear combination of free ones; the key -1 has the constant."""

    def rest(self) -> dict[int, Blocks]:
        """Return the goal minus all terms, as a linear combination of free coefficients; -1 has the constant part."""
        parts: dict[int, Blocks] = {-1: self.goal}
        empty = Blocks({}, {})
        for place, candidate in enumerate(self.chosen):
            for free, factor in self.known.get(place, {place: ONE}).items():
                parts[free] = parts.get(free, empty).plus(candidate.blocks, _MINUS * factor)
        return parts

    def impose(self, equation: Mapping[int, Quotient]) -> bool:
        """Require that a linear combination of free coefficients is zero, by solving it for one of them.

        Returns False if it is a number other than zero.
        """
        unknown = [free for free, factor in equation.items() if free >= 0 and factor]
        if not unknown:
            return not equation.get(-1, ZERO)
        pivot = unknown[0]
        inverse = quotient(-1 / equation[pivot].expression)
        solved = {
            free: multiply_numbers(factor, inverse) for free, factor in equation.items() if free != pivot and factor
        }
        self.known[pivot] = {pivot: ONE}
        for place, sums in list(self.known.items()):
            if pivot in sums:
                factor = sums.pop(pivot)
                for free, other in solved.items():
                    sums[free] = add_numbers(sums.get(free, ZERO), multiply_numbers(factor, other))
                self.known[place] = {free: number for free, number in sums.items() if number}
        return True

    def substitute(self, equation: Mapping[int, Quotient]) -> dict[int, Quotient]:
        """Return a linear combination of coefficients in terms of the free ones."""
        found: dict[int, Quotient] = {}
        for place, factor in equation.items():
            for free, other in self.known.get(place, {place: ONE}).items():
                found[free] = add_numbers(found.get(free, ZERO), multiply_numbers(factor, other))
        return {free: number for free, number in found.items() if number}

    def copy(self) -> System:
        """Return a copy that can be changed without this one."""
        return System(self.goal, self.chosen, {key: dict(sums) for key, sums in self.known.items()})

    @property
    def free(self) -> list[int]:
        """Places of the chosen inequalities with free coefficients."""
        return [place for place in range(len(self.chosen)) if place not in self.known]


def solve_exactly(system: System, selection: Selection, context: Context, signs: SignFacts) -> list[Term] | None:
    """Return terms of a certificate that add up to the goal; None if none are found."""
    try:
        return _solve(system, selection, context, signs)
    except Rejected:
        return None


def _solve(system: System, selection: Selection, context: Context, signs: SignFacts) -> list[Term] | None:
    """Solve the linear equations, then those of faces with fewer free coefficients, and then try simple values."""
    if not cancel_linear_parts(system):
        return None
    if not system.free:
        return write_terms(system, selection, context, signs)
    for narrower in _list_faces(system, selection):
        found = _solve(narrower, selection, context, signs)
        if found is not None:
            return found
    return _try_values(system, selection, context, signs) if len(system.free) <= _MOST_FREE else None


def _try_values(system: System, selection: Selection, context: Context, signs: SignFacts) -> list[Term] | None:
    """Return terms with a simple value for the first free coefficient; None if none leads to a sum of squares."""
    place = system.free[0]
    between = _find_interval(system, selection)
    if between is None:
        return None
    dimensions = selection.dimensions
    expected = divide_dimensions(*map(dimensions.find_dimension, (system.goal, selection.candidates[place].blocks)))
    for number in islice(list_simple_values(between, selection, expected), _MOST_VALUES):
        other = system.copy()
        if other.impose({place: ONE, -1: _MINUS * quotient(number)}):
            found = _solve(other, selection, context, signs)
            if found is not None:
                return found
    return None


def _find_interval(system: System, selection: Selection) -> list[tuple[float, float]] | None:
    """Return bounds on the first free coefficient at each sample; None if no value is feasible."""
    reduced, count = _reduce_system(system, selection), len(system.free)
    low, high = (reduced.find_face([sign, *[0.0] * (count - 1)]) for sign in (1.0, -1.0))
    if low is None:
        return None
    upper = [UNBOUNDED] * reduced.count if high is None else high.free[:, 0]
    return [(float(one), float(other)) for one, other in zip(low.free[:, 0], upper, strict=True)]


def _reduce_system(system: System, selection: Selection) -> FeasibleSet:
    """Return the values of the free coefficients that are feasible at each sample."""
    sums = [system.known.get(place, {place: ONE}) for place in range(len(system.chosen))]
    return FeasibleSet(selection.many, system.free, system.rest(), sums)


def _list_faces(system: System, selection: Selection) -> Iterator[System]:
    """Yield systems with fewer free coefficients: at an optimum, coefficients vanish and Gram matrices are singular."""
    free, parts = system.free, system.rest()
    sums = [system.known.get(place, {place: ONE}) for place in range(len(system.chosen))]
    reduced = _reduce_system(system, selection)
    faces = (reduced.find_face(costs) for costs in list_costs(len(free)))
    seen = set[str]()
    for face in filter(None, faces):
        equations = [dict(sums[place]) for place in reduced.list_zeros(face)]
        equations += _list_kernel_equations(face, parts, selection.products)
        narrower, written = system.copy(), str(equations)
        is_new = written not in seen and all(narrower.impose(narrower.substitute(each)) for each in equations)
        if is_new and len(narrower.free) < len(free):
            yield narrower
        seen.add(written)


def _list_kernel_equations(
    face: Face, parts: Mapping[int, Blocks], products: Products
) -> Iterator[dict[int, Quotient]]:
    """Yield equations by which the Gram matrices of a face have the kernels that are identified from samples."""
    for block, vectors, kernel in face.kernels:
        for column in range(kernel.shape[2]):
            entries = [products.fit(kernel[:, row, column]) for row in range(len(vectors))]
            known = [quotient(each) for each in entries if each is not None]
            if len(known) == len(vectors):
                yield from _require_vanishing(parts, block, vectors, known)


def _require_vanishing(
    parts: Mapping[int, Blocks], block: Block, vectors: Sequence[Expr], kernel: Sequence[Quotient]
) -> list[dict[int, Quotient]]:
    """Return equations between free coefficients, by which the product of a Gram matrix and a vector is zero."""
    equations = []
    for row in vectors:
        equation: dict[int, Quotient] = {}
        for (free, part), (column, factor) in product(parts.items(), zip(vectors, kernel, strict=True)):
            entry = part.matrices.get((block, row, column)) or part.matrices.get((block, column, row))
            if entry and factor:
                equation[free] = add_numbers(equation.get(free, ZERO), multiply_numbers(entry, factor))
        equations.append(equation)
    return equations


_MOST_FREE = 3
"""Limit on the free coefficients that are tried with simple values."""
_MOST_VALUES = 8
"""Limit on the values that are tried for a free coefficient."""
_MOST_SIMPLE = 4
"""Number of the simplest values, and of the values farthest from the bounds, among them."""


def write_terms(
    system: System, selection: Selection, context: Context, signs: SignFacts, has_weights: bool = False
) -> list[Term] | None:
    """Return the terms of a proof from a system without free coefficients; None if a coefficient may be negative.

    With `has_weights`, squares with the weights of Young's inequality are tried before elimination.
    """
    coefficients = [system.known[place].get(-1, ZERO) for place in range(len(system.chosen))]
    rest = system.rest()[-1]
    if rest.rows or any(_is_negative(number, selection) for number in coefficients):
        return None
    squares = find_weighted_squares(rest.matrices, selection.many, context, signs) if has_weights else None
    squares = find_squares(rest.matrices, context, signs) if squares is None else squares
    if squares is None:
        return None
    terms = list[Term]()
    for candidate, number in zip(system.chosen, coefficients, strict=True):
        summands = signs.split(number.expression)
        if summands is None:
            return None
        terms += [candidate.term(quotient(each)) for each in summands]
    return terms + squares


def _is_negative(number: Quotient, selection: Selection) -> bool:
    """Return whether a coefficient is negative at a sample by more than rounding."""
    values = selection.samples.values(number.expression) if number else np.zeros(1)
    return bool(np.any(values < -1e-9 * np.abs(values).max()))


def cancel_linear_parts(system: System) -> bool:
    """Impose that linear parts and inner products of vectors without a square cancel; return False if they cannot."""
    while True:
        parts = system.rest()
        equations = list(_list_equations(parts))
        if not equations:
            return True
        if not system.impose(equations[0]):
            return False


def _list_equations(parts: Mapping[int, Blocks]) -> Iterator[dict[int, Quotient]]:
    """Yield the equations between free coefficients by which linear parts cancel.

    They include those of inner products of vectors without a square: a Gram matrix with a zero on its diagonal is
    positive semidefinite only if the whole row is zero.
    """
    rows = {row for each in parts.values() for row in each.rows}
    for row in sorted(rows, key=str):
        yield {free: each.rows[row] for free, each in parts.items() if row in each.rows}
    keys = {key: None for each in parts.values() for key in each.matrices}
    without_square = (
        (block, side)
        for block in list_blocks(keys)
        for side in list_vectors(keys, block)
        if (block, side, side) not in keys
    )
    for block, side in without_square:
        for key in (key for key in keys if key[0] == block and side in key[1:]):
            yield {free: each.matrices[key] for free, each in parts.items() if key in each.matrices}


_SIMPLE_FACTORS = [
    sp.Rational(*pair) for pair in ((1, 1), (1, 2), (2, 1), (1, 4), (4, 1), (3, 2), (3, 1), (1, 3), (3, 4))
]


def _list_powers(symbols: int) -> list[tuple[int, ...]]:
    """Return powers of a number of symbols from -2 to 2, the simplest first; negative ones are less simple."""
    found = {(0,) * symbols}
    for count in range(1, min(symbols, _MOST_SYMBOLS) + 1):
        for places in combinations(range(symbols), count):
            for powers in product((1, 2, -1, -2), repeat=count):
                each = dict(zip(places, powers, strict=True))
                found.add(tuple(each.get(place, 0) for place in range(symbols)))
    return sorted(found, key=lambda powers: (sum(p if p > 0 else -1.5 * p for p in powers), powers))[:_MOST_POWERS]


_MOST_SYMBOLS = 3
"""Limit on the symbols in a simple value."""
_MOST_POWERS = 3000
"""Limit on the products of powers that are tried."""


def list_simple_values(
    between: Sequence[tuple[float, float]], selection: Selection, expected: Dimension | None = None
) -> Iterator[Expr]:
    """Yield expressions whose values lie between the bounds at every sample, of the expected dimension if it is known.

    Expressions that equal a bound come first, then the simplest ones, then those farthest from the bounds.  Each is a
    rational times powers of symbols, possibly times one of the units or divided by it.
    """
    low, high = np.array(between).T
    below, above = 1e-5 * np.abs(low) + 1e-9, 1e-5 * np.abs(high) + 1e-9
    samples = selection.many
    powers = np.array(_list_powers(len(samples.symbols))).reshape(-1, len(samples.symbols))
    spend(200 * len(powers) * (1 + 2 * len(selection.units)))
    monomials = np.exp(powers @ np.log(samples.at))
    simple: list[Expr] = []
    central: list[tuple[float, Expr]] = []
    for unit in (sp.S.One, *selection.units, *(1 / unit for unit in selection.units)):
        size = samples.values(unit) if unit.free_symbols else np.ones(len(low))
        numbers = np.multiply.outer([float(factor) for factor in _SIMPLE_FACTORS], monomials * size).swapaxes(0, 1)
        fits = ((numbers >= low - below) & (numbers <= high + above)).all(axis=2)
        fits &= selection.dimensions.fit(
            samples.symbols, powers, divide_dimensions(expected, selection.dimensions.find(unit))
        )
        is_end = _is_at(numbers, low, below, low > 0) | _is_at(numbers, high, above, high < UNBOUNDED)
        ends, others = np.argwhere(fits & is_end), np.argwhere(fits & ~is_end)

        def write(row: int, factor: int, unit: Expr = unit) -> Expr:
            """Return a product from the numbers of its powers and its rational factor."""
            symbols = zip(samples.symbols, powers[row], strict=True)
            return sp.Mul(_SIMPLE_FACTORS[factor], unit, *(one ** int(power) for one, power in symbols))

        yield from (write(*place) for place in ends)
        simple += [write(*place) for place in others[: max(_MOST_SIMPLE - len(simple), 0)]]
        margins = _find_margins(numbers[tuple(others.T)], low, high)
        central += [
            (-margins[place], write(*others[place])) for place in np.argsort(-margins, kind="stable")[:_MOST_SIMPLE]
        ]
    ordered = sorted(central, key=lambda pair: pair[0])[:_MOST_SIMPLE]
    yield from dict.fromkeys([*simple, *(written for _, written in ordered)])


def _find_margins(numbers: Any, low: Any, high: Any) -> Any:
    """Return the smallest relative distance of each number from its bounds, of shape (numbers,)."""
    below = (numbers - low) / (np.abs(numbers) + np.abs(low) + 1e-300)
    above = (high - numbers) / (np.abs(numbers) + np.abs(high) + 1e-300)
    return np.minimum(below, above).min(axis=1, initial=1.0)


def _is_at(numbers: Any, ends: Any, within: Any, known: Any) -> Any:
    """Return the mask of numbers that equal a bound wherever it is known, at several points."""
    near: Any = (np.abs(numbers - ends) <= within) | ~known
    return near.all(axis=2) & (known.sum() >= min(len(known), 2))


def list_units(goal: Blocks, conditions: Iterable[Expr]) -> list[Expr]:
    """Return sums that coefficients may have as factors: those in the goal's coefficients, and slacks."""
    numbers = [number.expression for number in (*goal.rows.values(), *goal.matrices.values())]
    numbers += [slack(one) for one in conditions if is_ordering(one)]
    factors = [base for number in numbers for base, _ in map(sp.Expr.as_base_exp, sp.Mul.make_args(sp.factor(number)))]
    found = dict.fromkeys(base for base in factors if base.is_Add and not base.atoms(Average))
    return list(found)[:_MOST_UNITS]


_MOST_UNITS = 6
"""Limit on the sums that coefficients may have as a factor."""

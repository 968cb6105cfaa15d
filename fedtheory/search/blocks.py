"""Normal forms as rows and Gram matrices: values and numbers, shared vectors, deviations of clients from their mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import sympy as sp

from fedtheory.kernel import Context, Rejected, Term, is_nonnegative, square, vector
from fedtheory.kernel.expressions import Average, Expr, Gradient, Inner, Value
from fedtheory.kernel.forms import Form
from fedtheory.kernel.indices import differs
from fedtheory.kernel.noise import is_noise
from fedtheory.kernel.quotients import ONE, Quotient, quotient
from fedtheory.kernel.work import spend
from fedtheory.search.positivity import Signs

Pair = tuple[Expr, Expr]
K = TypeVar("K")
_HALF, _MINUS = quotient(sp.Rational(1, 2)), quotient(sp.S.NegativeOne)
SHARED, APART, NOISE = "shared", "apart", "noise"
"""The Gram matrices: of vectors that all clients share, of what each has besides the mean, and of its noise."""


@dataclass(frozen=True)
class Blocks:
    """A scalar: what is linear, and symmetric matrices over vectors."""

    rows: Mapping[Expr, Quotient]
    matrices: Mapping[tuple[str, Expr, Expr], Quotient]
    """Entries by block and an ordered pair of vectors."""

    def plus(self, other: Blocks, factor: Quotient) -> Blocks:
        """The sum with a multiple of another."""
        return Blocks(_added(self.rows, other.rows, factor), _added(self.matrices, other.matrices, factor))


def _added(one: Mapping[K, Quotient], other: Mapping[K, Quotient], factor: Quotient) -> dict[K, Quotient]:
    total = dict(one)
    for key, number in other.items():
        more = times(factor, number)
        total[key] = plus(total[key], more) if key in total else more
    return {key: number for key, number in total.items() if number}


_LARGEST = 4000
"""Terms of a product of polynomials; larger ones are not worth the wait."""


def plus(one: Quotient, other: Quotient) -> Quotient:
    """The sum of two numbers; `Rejected` where it takes too long."""
    _require_small(
        len(one.numerator) * len(other.denominator)
        + len(other.numerator) * len(one.denominator)
        + len(one.denominator) ** 2
    )
    return one + other


def times(one: Quotient, other: Quotient) -> Quotient:
    """The product of two numbers; `Rejected` where it takes too long."""
    _require_small(len(one.numerator) * len(other.numerator) + len(one.denominator) * len(other.denominator))
    return one * other


def _require_small(terms: int) -> None:
    spend(100 * terms)
    if terms > _LARGEST:
        raise Rejected("the coefficients get too large")


def split_form(form: Form, context: Context) -> Blocks:
    """The blocks of a scalar's normal form; `Rejected` where it has lengths, or means with weights."""
    rows: dict[Expr, Quotient] = {}
    entries: dict[tuple[str, Expr, Expr], Quotient] = {}
    for monomial, coefficient in form.items():
        inside = monomial.args[0] if isinstance(monomial, Average) else monomial
        if monomial == 1 or isinstance(inside, Value):
            rows[monomial] = coefficient
        elif not isinstance(inside, Inner):
            raise Rejected(f"{monomial} is neither a value nor an inner product")
        elif inside is monomial:
            _add_entry(entries, SHARED, monomial.args, coefficient)
        else:
            _add_mean(entries, inside.args, coefficient, context)
    return Blocks(rows, {key: number for key, number in entries.items() if number})


def _add_mean(
    entries: dict[tuple[str, Expr, Expr], Quotient], pair: Sequence[Expr], coefficient: Quotient, context: Context
) -> None:
    """The mean of an inner product over clients: of deviations from the means, and of the means."""
    if any(is_noise(side, context) for side in pair):
        _add_entry(entries, NOISE, pair, coefficient)
        return
    _add_entry(entries, APART, pair, coefficient)
    left, right = (vector(Average(side), context) for side in pair)
    for one, c in left.items():
        for other, d in right.items():
            _add_entry(entries, SHARED, (one, other), coefficient * c * d)


def _add_entry(
    entries: dict[tuple[str, Expr, Expr], Quotient], block: str, pair: Sequence[Expr], coefficient: Quotient
) -> None:
    one, other = sorted(pair, key=sp.default_sort_key)
    more = coefficient if one == other else _HALF * coefficient
    key = (block, one, other)
    entries[key] = entries[key] + more if key in entries else more


def vectors_of(matrices: Mapping[tuple[str, Expr, Expr], object], block: str) -> list[Expr]:
    """The vectors of one block, in order."""
    found = {side for name, *pair in matrices for side in pair if name == block}
    return sorted(found, key=sp.default_sort_key)


def squares_of(
    matrices: Mapping[tuple[str, Expr, Expr], Quotient], context: Context, signs: Signs
) -> list[Term] | None:
    """A sum of squares with these matrices, by elimination in any order of pivots; None where no sign is seen."""
    found: list[Term] = []
    for block in (SHARED, APART, NOISE):
        entries = {frozenset(pair): number for (name, *pair), number in matrices.items() if name == block}
        terms = _eliminated(entries, block, context, signs)
        if terms is None:
            return None
        found += terms
    return found


def _eliminated(
    entries: Mapping[frozenset[Expr], Quotient], block: str, context: Context, signs: Signs
) -> list[Term] | None:
    if not entries:
        return []
    vectors = sorted(set().union(*entries), key=sp.default_sort_key)
    pivots = [one for one in vectors if frozenset({one}) in entries]
    for pivot in pivots:
        diagonal = entries[frozenset({pivot})]
        own = {one: entries[key] for one in vectors if (key := frozenset({pivot, one})) in entries}
        if not signs.is_nonnegative(diagonal.expression):
            continue
        inverse = quotient(1 / diagonal.expression)
        if len(own) > 1 and not is_nonnegative(inverse.expression, signs.numbers, signs.conditions):
            continue
        left = dict(entries)
        for (one, c), (other, d) in _pairs(own):
            key = frozenset({one, other})
            less = times(times(_MINUS * c, d), inverse)
            left[key] = plus(left[key], less) if key in left else less
        rest = _eliminated({key: number for key, number in left.items() if number}, block, context, signs)
        if rest is not None:
            direction = sp.Add(*((number * inverse).expression * _member(one, block) for one, number in own.items()))
            return [Term(diagonal.expression, square(with_means(direction, context)), averaged=block != SHARED), *rest]
    return None


def with_means(direction: Expr, context: Context) -> Expr:
    """A vector with gradients of F in place of the mean of the clients' gradients."""
    wholes = {own: whole for whole, own in context.means.items()}

    def whole(mean: Expr) -> Expr:
        (gradient,) = mean.args
        return Gradient(wholes[gradient.args[0]], gradient.args[1])

    def is_whole(part: Expr) -> bool:
        inside = part.args[0] if isinstance(part, Average) else None
        return isinstance(inside, Gradient) and inside.args[0] in wholes and not differs(inside.args[1], context)

    return direction.replace(is_whole, whole)


def _pairs(own: Mapping[Expr, Quotient]) -> Iterator[tuple[tuple[Expr, Quotient], tuple[Expr, Quotient]]]:
    items = list(own.items())
    return ((one, other) for place, one in enumerate(items) for other in items[place:])


def _member(one: Expr, block: str) -> Expr:
    return one - Average(one) if block == APART else one


UNIT = Blocks({sp.S.One: ONE}, {})
"""The number one."""

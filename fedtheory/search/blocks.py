"""Normal forms as linear parts and Gram matrices of shared vectors and of clients' deviations from their average."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import sympy as sp

from fedtheory.kernel import Context, Rejected, Term, is_nonnegative, square, vector
from fedtheory.kernel.expressions import Average, Expr, Gradient, Inner, LocalSum
from fedtheory.kernel.forms import Form
from fedtheory.kernel.indices import changes, differs, split_average
from fedtheory.kernel.noise import is_noise
from fedtheory.kernel.quotients import Quotient, linear, quotient
from fedtheory.kernel.work import spend
from fedtheory.search.positivity import SignFacts

K = TypeVar("K")
_HALF, _MINUS = quotient(sp.Rational(1, 2)), quotient(sp.S.NegativeOne)


class Block(NamedTuple):
    """A kind of Gram matrix: the sums over its squares, and the clients' numbers that weight them."""

    averaged: bool = False
    centred: bool = False
    """Whether its vectors are deviations from averages over the clients, and from time averages."""
    summed: bool = False
    """Whether its squares are summed over local steps."""
    weight: Expr = sp.S.One


SHARED = Block()
"""The Gram matrix of vectors that all clients share."""
DEVIATIONS = Block(averaged=True, centred=True)
"""The Gram matrix of each client's deviations from the client average."""
NOISE = Block(averaged=True)
"""The Gram matrix of each client's noise."""
STEP_DEVIATIONS = Block(summed=True, centred=True)
"""The Gram matrix of shared vectors' deviations from their time averages."""
CLIENT_STEP_DEVIATIONS = Block(averaged=True, summed=True, centred=True)
"""The Gram matrix of clients' deviations from both averages."""
Key = tuple[Block, Expr, Expr]
"""An entry: its Gram matrix, and an ordered pair of vectors."""


@dataclass(frozen=True)
class Blocks:
    """A scalar as a linear part, and symmetric matrices over vectors."""

    rows: Mapping[Expr, Quotient]
    matrices: Mapping[Key, Quotient]
    """Entries by block and an ordered pair of vectors."""

    def plus(self, other: Blocks, factor: Quotient) -> Blocks:
        """Return the sum with a multiple of another."""
        return Blocks(_add(self.rows, other.rows, factor), _add(self.matrices, other.matrices, factor))


def _add(one: Mapping[K, Quotient], other: Mapping[K, Quotient], factor: Quotient) -> dict[K, Quotient]:
    total = dict(one)
    for key, number in other.items():
        more = multiply_numbers(factor, number)
        total[key] = add_numbers(total[key], more) if key in total else more
    return {key: number for key, number in total.items() if number}


_LARGEST = 4000
"""Limit on the terms of a product of polynomials."""


def add_numbers(one: Quotient, other: Quotient) -> Quotient:
    """Return the sum of two numbers; raise `Rejected` if it takes too much work."""
    _require_small(
        len(one.numerator) * len(other.denominator)
        + len(other.numerator) * len(one.denominator)
        + len(one.denominator) ** 2
    )
    return one + other


def multiply_numbers(one: Quotient, other: Quotient) -> Quotient:
    """Return the product of two numbers; raise `Rejected` if it takes too much work."""
    _require_small(len(one.numerator) * len(other.numerator) + len(one.denominator) * len(other.denominator))
    return one * other


def _require_small(terms: int) -> None:
    spend(100 * terms)
    if terms > _LARGEST:
        raise Rejected("the coefficients get too large")


def split_form(form: Form, context: Context) -> Blocks:
    """Return the blocks of a scalar's normal form.

    Monomials that are in no square, such as a norm, are in the linear part.
    """
    rows: dict[Expr, Quotient] = {}
    entries: dict[Key, Quotient] = {}
    for monomial, coefficient in form.items():
        weight, inside = split_average(monomial, context)
        summed = isinstance(inside, LocalSum)
        product = inside.args[0] if summed else inside
        if not isinstance(product, Inner) or not is_nonnegative(weight, context.numbers):
            rows[monomial] = coefficient
            continue
        averaged, pair = isinstance(monomial, Average), product.args
        has_noise = any(is_noise(side, context) for side in pair)
        if has_noise or weight != 1 or (averaged and summed and _has_own_steps(context)):
            _add_entry(entries, Block(averaged=averaged, summed=summed, weight=weight), pair, coefficient)
        elif averaged:
            _add_mean(entries, pair, coefficient, context, summed)
        elif summed:
            _add_sum(entries, pair, coefficient, context)
        else:
            _add_entry(entries, SHARED, pair, coefficient)
    return Blocks(rows, {key: number for key, number in entries.items() if number})


def list_weights(blocks: Blocks, context: Context) -> list[Expr]:
    """Return the clients' numbers that weight Gram matrices of a scalar, or whose averages multiply shared vectors."""
    found = {block.weight for block, *_ in blocks.matrices if not block.summed and not block.centred}
    shared = [number.expression for (block, *_), number in blocks.matrices.items() if block == SHARED]
    found |= {mean.args[0] for number in shared for mean in number.atoms(Average)}
    kept = [weight for weight in found - {sp.S.One} if is_nonnegative(weight, context.numbers)]
    return sorted(kept, key=sp.default_sort_key)


def move_to_weights(blocks: Blocks, weights: Sequence[Expr], context: Context) -> Blocks:
    """Return the scalar with shared products times the average of a weight moved to the Gram matrix with this weight.

    The matrix of a weighted square then also contains the shared part of its vector.
    """
    entries: dict[Key, Quotient] = {}
    for (block, *pair), number in blocks.matrices.items():
        if block != SHARED:
            _add_whole(entries, (block, *pair), number)
            continue
        split = [split_average(side, context) for side in pair]
        of_weight = [place for place, (weight, inside) in enumerate(split) if weight in weights]
        if len(of_weight) == 1:
            (place,) = of_weight
            weight, inside = split[place]
            one, other = sorted((inside, pair[1 - place]), key=sp.default_sort_key)
            _add_whole(entries, (Block(averaged=True, weight=weight), one, other), number)
            continue
        means = {Average(weight): weight for weight in weights}
        shares, rest = linear(number.expression, means)
        for mean, share in shares.items():
            if share != 0:
                _add_whole(entries, (Block(averaged=True, weight=means[mean]), *pair), quotient(share))
        _add_whole(entries, (SHARED, *pair), quotient(rest))
    return Blocks(blocks.rows, {key: number for key, number in entries.items() if number})


def _add_whole(entries: dict[Key, Quotient], key: Key, number: Quotient) -> None:
    entries[key] = entries[key] + number if key in entries else number


def _has_own_steps(context: Context) -> bool:
    """Return whether the number of local steps depends on the client."""
    return context.numbers.differs(context.number_of_steps)


def _add_mean(
    entries: dict[Key, Quotient], pair: Sequence[Expr], coefficient: Quotient, context: Context, summed: bool
) -> None:
    """Add the average of an inner product over clients: of deviations from the averages, and of the averages."""
    _add_entry(entries, CLIENT_STEP_DEVIATIONS if summed else DEVIATIONS, pair, coefficient)
    if summed:
        per_step = coefficient * quotient(1 / context.number_of_steps)
        for own, other, c in _multiply_forms([vector(LocalSum(side), context) for side in pair], per_step):
            _add_entry(entries, DEVIATIONS, (own, other), c)
    for one, other, c in _multiply_forms([vector(Average(side), context) for side in pair], coefficient):
        if summed and changes(one, context) and changes(other, context):
            _add_sum(entries, (one, other), c, context)
        else:
            _add_entry(entries, SHARED, (one, other), c)


def _add_sum(entries: dict[Key, Quotient], pair: Sequence[Expr], coefficient: Quotient, context: Context) -> None:
    """Add the sum of an inner product over local steps: of deviations from the time average, and of the sums."""
    _add_entry(entries, STEP_DEVIATIONS, pair, coefficient)
    per_step = coefficient * quotient(1 / context.number_of_steps)
    for one, other, c in _multiply_forms([vector(LocalSum(side), context) for side in pair], per_step):
        _add_entry(entries, SHARED, (one, other), c)


def _multiply_forms(sides: Sequence[Form], coefficient: Quotient) -> Iterator[tuple[Expr, Expr, Quotient]]:
    """Yield the products of two vector forms: the two vectors and the coefficient."""
    left, right = sides
    return ((one, other, coefficient * c * d) for one, c in left.items() for other, d in right.items())


def _add_entry(entries: dict[Key, Quotient], block: Block, pair: Sequence[Expr], coefficient: Quotient) -> None:
    one, other = sorted(pair, key=sp.default_sort_key)
    more = coefficient if one == other else _HALF * coefficient
    key = (block, one, other)
    entries[key] = entries[key] + more if key in entries else more


def list_blocks(matrices: Iterable[Key]) -> list[Block]:
    """Return the Gram matrices of some entries, in order."""
    return sorted({block for block, *_ in matrices}, key=str)


def list_vectors(matrices: Iterable[Key], block: Block) -> list[Expr]:
    """Return the vectors of one block, in order."""
    found = {side for name, *pair in matrices for side in pair if name == block}
    return sorted(found, key=sp.default_sort_key)


def find_squares(matrices: Mapping[Key, Quotient], context: Context, signs: SignFacts) -> list[Term] | None:
    """Return a sum of squares with these matrices, by elimination with any order of pivots.

    Returns None if the kernel does not recognise the signs.
    """
    found: list[Term] = []
    for block in list_blocks(matrices):
        entries = {frozenset(pair): number for (name, *pair), number in matrices.items() if name == block}
        terms = _eliminate(entries, block, context, signs)
        if terms is None:
            return None
        found += terms
    return found


def _eliminate(
    entries: Mapping[frozenset[Expr], Quotient], block: Block, context: Context, signs: SignFacts
) -> list[Term] | None:
    """Write the quadratic form as squares by elimination; None if it is not non-negative."""
    if not entries:
        return []
    vectors = sorted(set().union(*entries), key=sp.default_sort_key)
    pivots = [one for one in vectors if frozenset({one}) in entries]
    for pivot in pivots:
        diagonal = entries[frozenset({pivot})]
        own = {one: entries[key] for one in vectors if (key := frozenset({pivot, one})) in entries}
        summands = signs.split(diagonal.expression)
        if summands is None:
            continue
        inverse = quotient(1 / diagonal.expression)
        if not all(_is_finite(multiply_numbers(number, inverse), signs) for number in own.values()):
            continue
        left = dict(entries)
        for (one, c), (other, d) in _pair_up(own):
            key = frozenset({one, other})
            less = multiply_numbers(multiply_numbers(_MINUS * c, d), inverse)
            left[key] = add_numbers(left[key], less) if key in left else less
        rest = _eliminate({key: number for key, number in left.items() if number}, block, context, signs)
        if rest is not None:
            direction = sp.Add(
                *((number * inverse).expression * _centre_vector(one, block, context) for one, number in own.items())
            )
            reason = square(use_average_gradients(direction, context))
            terms = [Term(block.weight * each, reason, block.averaged, block.summed) for each in summands]
            return [*terms, *rest]
    return None


def _is_finite(number: Quotient, signs: SignFacts) -> bool:
    """Return whether the denominator of a number in lowest terms is recognised as non-zero."""
    denominator = number.written(number.denominator)
    return signs.is_nonnegative(1 / denominator) or signs.is_nonnegative(-1 / denominator)


def use_average_gradients(direction: Expr, context: Context) -> Expr:
    """Return a vector with gradients of F in place of averages of the clients' gradients."""
    wholes = {own: whole for whole, own in context.means.items()}

    def whole(mean: Expr) -> Expr:
        (gradient,) = mean.args
        return Gradient(wholes[gradient.args[0]], gradient.args[1])

    def is_whole(part: Expr) -> bool:
        inside = part.args[0] if isinstance(part, Average) else None
        return isinstance(inside, Gradient) and inside.args[0] in wholes and not differs(inside.args[1], context)

    return direction.replace(is_whole, whole)


def _pair_up(own: Mapping[Expr, Quotient]) -> Iterator[tuple[tuple[Expr, Quotient], tuple[Expr, Quotient]]]:
    """Yield all pairs of entries, each pair once."""
    items = list(own.items())
    return ((one, other) for place, one in enumerate(items) for other in items[place:])


def _centre_vector(one: Expr, block: Block, context: Context) -> Expr:
    """Return the vector, minus its averages if the block is centred."""
    if not block.centred:
        return one
    found = one - LocalSum(one) / context.number_of_steps if block.summed else one
    return found - Average(found) if block.averaged else found

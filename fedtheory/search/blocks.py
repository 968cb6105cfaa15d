"""Splits the normal form of a scalar into a linear part and Gram matrices.

There is one Gram matrix for the vectors that all clients share, one for the clients' deviations from their average,
and further ones for noise, sums over local steps and weighted averages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
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
    """Whether its squares are averaged over the clients."""
    centred: bool = False
    """Whether its vectors are deviations from their average over the clients, or from their time average."""
    summed: bool = False
    """Whether its squares are summed over local steps."""
    weight: Expr = sp.S.One
    """The client's number that multiplies each square."""


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
"""The place of an entry: its Gram matrix, and an ordered pair of vectors."""


@dataclass(frozen=True)
class Blocks:
    """A scalar as a linear part and symmetric matrices over vectors."""

    rows: Mapping[Expr, Quotient]
    """Coefficient of each monomial of the linear part; the constant term has the key one."""
    matrices: Mapping[Key, Quotient]
    """Entries of the Gram matrices."""

    def plus(self, other: Blocks, factor: Quotient) -> Blocks:
        """Return the sum of this scalar and a multiple of another."""
        rows = _add_multiple(self.rows, other.rows, factor)
        return Blocks(rows, _add_multiple(self.matrices, other.matrices, factor))


NOTHING = Blocks({}, {})
"""The scalar zero."""


def _add_multiple(first: Mapping[K, Quotient], other: Mapping[K, Quotient], factor: Quotient) -> dict[K, Quotient]:
    """Return the sum of one table of numbers and a multiple of another, without zeros."""
    total = dict(first)
    for key, number in other.items():
        more = multiply_numbers(factor, number)
        total[key] = add_numbers(total[key], more) if key in total else more
    return {key: number for key, number in total.items() if number}


_MOST_TERMS = 4000
"""Limit on the terms of a product of polynomials."""


def add_numbers(one: Quotient, other: Quotient) -> Quotient:
    """Return the sum of two rational functions; raise `Rejected` if it has too many terms."""
    _require_small(
        len(one.numerator) * len(other.denominator)
        + len(other.numerator) * len(one.denominator)
        + len(one.denominator) ** 2
    )
    return one + other


def multiply_numbers(one: Quotient, other: Quotient) -> Quotient:
    """Return the product of two rational functions; raise `Rejected` if it has too many terms."""
    _require_small(len(one.numerator) * len(other.numerator) + len(one.denominator) * len(other.denominator))
    return one * other


def _require_small(terms: int) -> None:
    """Count the work of an operation with this number of terms; raise `Rejected` if they are too many."""
    spend(100 * terms)
    if terms > _MOST_TERMS:
        raise Rejected(f"a coefficient has more than {_MOST_TERMS} terms")


def split_form(form: Form, context: Context) -> Blocks:
    """Return the blocks of a scalar's normal form.

    The linear part takes the monomials that are no inner products, such as a norm.
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
        if has_noise or weight != 1 or (averaged and summed and _has_unequal_steps(context)):
            _add_entry(entries, Block(averaged=averaged, summed=summed, weight=weight), pair, coefficient)
        elif averaged:
            _add_average(entries, pair, coefficient, context, summed)
        elif summed:
            _add_sum(entries, pair, coefficient, context)
        else:
            _add_entry(entries, SHARED, pair, coefficient)
    return Blocks(rows, {key: number for key, number in entries.items() if number})


def list_weights(blocks: Blocks, context: Context) -> list[Expr]:
    """Return the clients' numbers that weight Gram matrices of a scalar, or whose averages multiply shared vectors."""
    weights = {block.weight for block, *_ in blocks.matrices if not block.summed and not block.centred}
    shared = [number.expression for (block, *_), number in blocks.matrices.items() if block == SHARED]
    weights |= {mean.args[0] for number in shared for mean in number.atoms(Average)}
    nonnegative = [weight for weight in weights - {sp.S.One} if is_nonnegative(weight, context.numbers)]
    return sorted(nonnegative, key=sp.default_sort_key)


def move_to_weights(blocks: Blocks, weights: Sequence[Expr], context: Context) -> Blocks:
    """Return the scalar with all products of a weight in the Gram matrix of this weight.

    A product of shared vectors times the average of a weight w is the average of w times the product.  The matrix of
    squares with weight w then also contains the shared part of their vectors.
    """
    entries: dict[Key, Quotient] = {}
    for (block, *pair), number in blocks.matrices.items():
        if block != SHARED:
            _add_number(entries, (block, *pair), number)
            continue
        split = [split_average(side, context) for side in pair]
        weighted = [place for place, (weight, _) in enumerate(split) if weight in weights]
        if len(weighted) == 1:
            (place,) = weighted
            weight, inside = split[place]
            first, second = sorted((inside, pair[1 - place]), key=sp.default_sort_key)
            _add_number(entries, (Block(averaged=True, weight=weight), first, second), number)
            continue
        means = {Average(weight): weight for weight in weights}
        factors, rest = linear(number.expression, means)
        for mean, factor in factors.items():
            if factor != 0:
                _add_number(entries, (Block(averaged=True, weight=means[mean]), *pair), quotient(factor))
        _add_number(entries, (SHARED, *pair), quotient(rest))
    return Blocks(blocks.rows, {key: number for key, number in entries.items() if number})


def _add_number(entries: dict[Key, Quotient], key: Key, number: Quotient) -> None:
    """Add a number to an entry."""
    entries[key] = entries[key] + number if key in entries else number


def _has_unequal_steps(context: Context) -> bool:
    """Return whether the number of local steps depends on the client."""
    return context.numbers.differs(context.number_of_steps)


def _add_average(
    entries: dict[Key, Quotient], pair: Sequence[Expr], coefficient: Quotient, context: Context, summed: bool
) -> None:
    """Add the client average of an inner product, as products of deviations and products of averages."""
    _add_entry(entries, CLIENT_STEP_DEVIATIONS if summed else DEVIATIONS, pair, coefficient)
    if summed:
        per_step = coefficient * quotient(1 / context.number_of_steps)
        for *sides, c in _multiply_forms([vector(LocalSum(side), context) for side in pair], per_step):
            _add_entry(entries, DEVIATIONS, sides, c)
    for left, right, c in _multiply_forms([vector(Average(side), context) for side in pair], coefficient):
        if summed and changes(left, context) and changes(right, context):
            _add_sum(entries, (left, right), c, context)
        else:
            _add_entry(entries, SHARED, (left, right), c)


def _add_sum(entries: dict[Key, Quotient], pair: Sequence[Expr], coefficient: Quotient, context: Context) -> None:
    """Add the sum of an inner product over local steps, as products of deviations and products of sums."""
    _add_entry(entries, STEP_DEVIATIONS, pair, coefficient)
    per_step = coefficient * quotient(1 / context.number_of_steps)
    for left, right, c in _multiply_forms([vector(LocalSum(side), context) for side in pair], per_step):
        _add_entry(entries, SHARED, (left, right), c)


def _multiply_forms(sides: Sequence[Form], coefficient: Quotient) -> Iterator[tuple[Expr, Expr, Quotient]]:
    """Yield the products of two vector forms: the two vectors and the coefficient."""
    left, right = sides
    return ((one, other, coefficient * c * d) for one, c in left.items() for other, d in right.items())


def _add_entry(entries: dict[Key, Quotient], block: Block, pair: Sequence[Expr], coefficient: Quotient) -> None:
    """Add a multiple of an inner product to a symmetric matrix, in which it has two entries unless it is a square."""
    first, second = sorted(pair, key=sp.default_sort_key)
    _add_number(entries, (block, first, second), coefficient if first == second else _HALF * coefficient)


def list_blocks(matrices: Iterable[Key]) -> list[Block]:
    """Return the Gram matrices of some entries, in order."""
    return sorted({block for block, *_ in matrices}, key=str)


def list_vectors(matrices: Iterable[Key], block: Block) -> list[Expr]:
    """Return the vectors of one Gram matrix, in order."""
    vectors = {side for key, *pair in matrices for side in pair if key == block}
    return sorted(vectors, key=sp.default_sort_key)


def find_squares(matrices: Mapping[Key, Quotient], context: Context, signs: SignFacts) -> list[Term] | None:
    """Return squares whose sum has these Gram matrices, by elimination in some order of the pivots.

    Returns None if in no order the kernel recognises every pivot as positive.
    """
    found: list[Term] = []
    for block in list_blocks(matrices):
        entries = {frozenset(pair): number for (key, *pair), number in matrices.items() if key == block}
        terms = _eliminate(entries, block, context, signs)
        if terms is None:
            return None
        found += terms
    return found


Entries = Mapping[frozenset[Expr], Quotient]
"""Entries of one symmetric matrix, by the set of the two vectors: a set of one vector for an entry of the diagonal."""


def _eliminate(entries: Entries, block: Block, context: Context, signs: SignFacts) -> list[Term] | None:
    """Return squares with the sum of a quadratic form, by elimination; None if none are found."""
    if not entries:
        return []
    vectors = sorted(set().union(*entries), key=sp.default_sort_key)
    squared = [each for each in vectors if frozenset({each}) in entries]
    # Vectors with few neighbours keep the other entries short, whose signs take less work.
    for pivot in sorted(squared, key=lambda each: _rate_pivot(entries, each)):
        diagonal = entries[frozenset({pivot})]
        summands = signs.split(diagonal.expression)
        if summands is None:
            continue
        row = {each: entries[key] for each in vectors if (key := frozenset({pivot, each})) in entries}
        inverse = quotient(1 / diagonal.expression)
        if not all(_is_finite(multiply_numbers(number, inverse), signs) for number in row.values()):
            continue
        rest = _eliminate(_subtract_square(entries, row, inverse), block, context, signs)
        if rest is not None:
            parts = (
                (number * inverse).expression * centre_vector(each, block, context) for each, number in row.items()
            )
            inequality = square(use_average_gradients(sp.Add(*parts), context))
            return [*(Term(block.weight * each, inequality, block.averaged, block.summed) for each in summands), *rest]
    return None


def _rate_pivot(entries: Entries, pivot: Expr) -> tuple[int, int]:
    """Return the number of entries in the row of a pivot, and the number of terms of its square."""
    square_of_pivot = entries[frozenset({pivot})]
    row = sum(pivot in pair for pair in entries)
    return row, len(square_of_pivot.numerator) + len(square_of_pivot.denominator)


def _subtract_square(entries: Entries, row: Mapping[Expr, Quotient], inverse: Quotient) -> Entries:
    """Return a quadratic form minus the square that has the row of a pivot, with the inverse of the pivot."""
    left = dict(entries)
    for (first, c), (second, d) in combinations_with_replacement(row.items(), 2):
        key = frozenset({first, second})
        less = multiply_numbers(multiply_numbers(_MINUS * c, d), inverse)
        left[key] = add_numbers(left[key], less) if key in left else less
    return {key: number for key, number in left.items() if number}


def _is_finite(number: Quotient, signs: SignFacts) -> bool:
    """Return whether the kernel recognises the sign of a number's denominator, so that it is not zero."""
    denominator = number.written(number.denominator)
    return signs.is_nonnegative(1 / denominator) or signs.is_nonnegative(-1 / denominator)


def use_average_gradients(direction: Expr, context: Context) -> Expr:
    """Return a vector with gradients of F in place of averages of the clients' gradients at one point."""
    averages = {client_objective: average for average, client_objective in context.means.items()}

    def write_gradient(mean: Expr) -> Expr:
        (gradient,) = mean.args
        return Gradient(averages[gradient.args[0]], gradient.args[1])

    def is_average_gradient(part: Expr) -> bool:
        inside = part.args[0] if isinstance(part, Average) else None
        return isinstance(inside, Gradient) and inside.args[0] in averages and not differs(inside.args[1], context)

    return direction.replace(is_average_gradient, write_gradient)


def centre_vector(each: Expr, block: Block, context: Context) -> Expr:
    """Return a vector minus its averages if the vectors of the Gram matrix are centred, else the vector itself."""
    if not block.centred:
        return each
    deviation = each - LocalSum(each) / context.number_of_steps if block.summed else each
    return deviation - Average(deviation) if block.averaged else deviation

"""Splits a product of two vectors off a Gram matrix by Young's inequality, with a weight from the matrix itself.

Elimination divides by a pivot, which is a long sum if a square has several costs.  With a weight s for which |b| s is
at most the coefficient of |x|^2, and |b|/s that of |g|^2, the product 2 b <x, g> is part of the square of x + g/s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, permutations, product

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from fedtheory.kernel import Context, Term, square
from fedtheory.kernel.expressions import Expr
from fedtheory.kernel.quotients import Quotient, quotient
from fedtheory.search.blocks import (
    Entries,
    Key,
    add_numbers,
    centre_vector,
    find_squares,
    list_blocks,
    list_vectors,
    use_average_gradients,
)
from fedtheory.search.fits import list_rationals
from fedtheory.search.positivity import SignFacts
from fedtheory.search.samples import Samples

_LARGEST_DENOMINATOR = 5
"""Limit on the denominator of the rational in a weight."""
_MOST_WEIGHTS = 3
"""Limit on the weights that are tried for a product."""
_ROUNDING = 1e-6


def find_weighted_squares(
    matrices: Mapping[Key, Quotient], samples: Samples, context: Context, signs: SignFacts
) -> list[Term] | None:
    """Return squares whose sum has these Gram matrices, with one product split off; None if none are found.

    It is the product of a vector that has no other in a matrix of three vectors or more.
    """
    for block in list_blocks(matrices):
        vectors = list_vectors(matrices, block)
        entries = {frozenset(pair): number for (key, *pair), number in matrices.items() if key == block}
        for one, other in permutations(vectors, 2) if len(vectors) > 2 else ():
            if [each for each in vectors if each != one and frozenset({one, each}) in entries] != [other]:
                continue
            for weight in islice(_list_weights(entries, one, other, samples), _MOST_WEIGHTS):
                found = _split_off(matrices, (block, one, other), weight, context, signs)
                if found is not None:
                    return found
    return None


def _split_off(
    matrices: Mapping[Key, Quotient], place: Key, weight: Expr, context: Context, signs: SignFacts
) -> list[Term] | None:
    """Return the square of a place's first vector plus the second over the weight, and squares for the rest."""
    block, *pair = place
    rest = dict(matrices)
    first, second = sorted(pair, key=sp.default_sort_key)
    cross = rest.pop((block, first, second)).expression
    sign = next((each for each in (1, -1) if signs.is_nonnegative(each * cross)), None)
    if sign is None:
        return None
    for each, less in zip(pair, (sign * cross * weight, sign * cross / weight), strict=True):
        rest[block, each, each] = add_numbers(rest[block, each, each], quotient(-less))
    squares = find_squares({key: number for key, number in rest.items() if number}, context, signs)
    if squares is None:
        return None
    one, other = (centre_vector(each, block, context) for each in pair)
    reason = square(use_average_gradients(one + sign * other / weight, context))
    return [Term(block.weight * sign * cross * weight, reason, block.averaged, block.summed), *squares]


def _list_weights(entries: Entries, one: Expr, other: Expr, samples: Samples) -> Iterator[Expr]:
    """Yield weights that are feasible at every sample, as products of a rational, a symbol and a sum.

    The sums are factors of denominators in the matrix.
    """
    cross = np.abs(_find_values(entries, [one], [other], samples)[0, 0])
    low = cross / _find_complement(entries, one, other, samples)
    high = _find_values(entries, [one], [one], samples)[0, 0] / cross
    if not np.all((low > 0) & (low <= high * (1 + _ROUNDING))):
        return
    bases = [sp.S.One, *(symbol for symbol in samples.symbols), *_list_denominators(entries)]
    sums = [base for base in bases if not base.is_Symbol]
    for base, other_base in product(sums, [each for each in bases if each not in sums[1:]]):
        for number in (one_power * other_power for one_power in _invert(base) for other_power in _invert(other_base)):
            values = samples.values(number) if number.free_symbols else np.ones(len(low))
            least, most = float(np.max(low / values)), float(np.min(high / values))
            yield from (ratio * number for ratio in list_rationals(least, most, _LARGEST_DENOMINATOR)[:1])


def _invert(base: Expr) -> Sequence[Expr]:
    """Return the inverse of a number and the number itself, which are one if it is one."""
    return (base,) if base == 1 else (1 / base, base)


def _list_denominators(entries: Entries) -> list[Expr]:
    """Return the sums that are factors of denominators."""
    written = [sp.factor(number.written(number.denominator)) for number in entries.values()]
    factors = {each.as_base_exp()[0] for number in written for each in sp.Mul.make_args(number)}
    return sorted((each for each in factors if each.is_Add), key=str)


def _find_complement(entries: Entries, one: Expr, other: Expr, samples: Samples) -> NDArray[np.float64]:
    """Return the coefficient of the second vector's square that the vectors other than the first leave, at samples."""
    rest = sorted(set().union(*entries) - {one, other}, key=sp.default_sort_key)
    inside = np.moveaxis(_find_values(entries, rest, rest, samples), 2, 0)
    row = _find_values(entries, [other], rest, samples)[0]
    whole = _find_values(entries, [other], [other], samples)[0, 0]
    complement: NDArray[np.float64] = whole - np.einsum("vs,svw,ws->s", row, np.linalg.pinv(inside), row)
    return complement


def _find_values(
    entries: Entries, rows: Sequence[Expr], columns: Sequence[Expr], samples: Samples
) -> NDArray[np.float64]:
    """Return part of a symmetric matrix at the samples, of shape (rows, columns, samples)."""
    values = np.zeros((len(rows), len(columns), samples.at.shape[1]))
    for (place, row), (number, column) in product(enumerate(rows), enumerate(columns)):
        entry = entries.get(frozenset({row, column}))
        if entry is not None:
            values[place, number] = samples.values(entry.expression)
    return values

"""Writes the difference of two similar numbers as a sum of products, each with one difference of their parts.

A user states a known bound with larger constants: tau for tau - 1, or twice a term.  In the normal form of the
difference all products are expanded.  In the original notation the two bounds differ in a few places, and a difference
of products a b - c d is (a - c) b + c (b - d).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.kernel.work import NODE, spend
from fedtheory.search.positivity import SignFacts, split_pairs


def split_differences(number: Expr, signs: SignFacts) -> list[Expr] | None:
    """Return summands of a number that are non-negative; its positive terms are paired with similar negative ones."""
    terms = sp.Add.make_args(number)
    less = [-term for term in terms if term.as_coeff_Mul()[0].is_negative]
    if not less:
        return None
    more = [term for term in terms if -term not in less]
    # Equal summands are merged.
    whole = sp.Add(*subtract(sp.Add(*more), sp.Add(*less)))
    found = [part for part in sp.Add.make_args(whole) if part != 0]
    return found if all(map(signs.is_nonnegative, found)) else split_pairs(whole, signs)


def subtract(more: Expr, less: Expr) -> list[Expr]:
    """Return summands of a difference, in which equal parts of both numbers cancel."""
    return list(_subtract(sp.sympify(more), sp.sympify(less)))


def _subtract(more: Expr, less: Expr) -> Iterator[Expr]:
    """Yield summands of a difference."""
    spend(10 * NODE)
    if more == less:
        return
    if more.is_Add or less.is_Add:
        for pair in _pair(sp.Add.make_args(more), sp.Add.make_args(less), sp.S.Zero):
            yield from _subtract_terms(*pair)
    else:
        yield from _subtract_terms(more, less)


def _subtract_terms(more: Expr, less: Expr) -> Iterator[Expr]:
    """Yield summands of a difference of two products or powers, or of parts that have nothing in common."""
    if sp.S.Zero in (more, less) or (more.is_Rational and less.is_Rational):
        yield more - less
    elif more.is_Mul or less.is_Mul:
        yield from _subtract_products(sp.Mul.make_args(more), sp.Mul.make_args(less))
    elif more.is_Pow or less.is_Pow:
        yield from _subtract_powers(more, less)
    else:
        yield from _subtract(more, less) if more.is_Add and less.is_Add else (more, -less)


def _subtract_products(more: Sequence[Expr], less: Sequence[Expr]) -> Iterator[Expr]:
    """Yield a b - c d as (a - c) b and c (b - d), times the common factors."""
    shared = sp.Mul(*_list_shared(more, less))
    pairs = list(_pair(more, less, sp.S.One))
    if len(pairs) > 1 and not any(_are_alike(*pair) for pair in pairs):
        yield from (sp.Mul(*more), -sp.Mul(*less))
        return
    for place, (one, other) in enumerate(pairs):
        before = sp.Mul(*(given for _, given in pairs[:place]))
        after = sp.Mul(*(given for given, _ in pairs[place + 1 :]))
        yield from (shared * before * part * after for part in _subtract(one, other))


def _subtract_powers(more: Expr, less: Expr) -> Iterator[Expr]:
    """Yield a^n - c^n as (a - c) times a sum, and 1/a - 1/c as (c - a)/(a c)."""
    (one, power), (other, same) = more.as_base_exp(), less.as_base_exp()
    if power != same or not power.is_Integer:
        yield from (more, -less)
    elif power == -1:
        yield from (part / (one * other) for part in _subtract(other, one))
    else:
        sign, count = (1, int(power)) if power > 0 else (-1, -int(power))
        bases = (one, other) if sign == 1 else (1 / one, 1 / other)
        rest = sp.Add(*(bases[0] ** k * bases[1] ** (count - 1 - k) for k in range(count)))
        yield from (part * rest for part in _subtract(*bases))


def _list_shared(more: Sequence[Expr], less: Sequence[Expr]) -> list[Expr]:
    """Return the arguments of both."""
    return [one for one in more if one in less]


def _pair(more: Sequence[Expr], less: Sequence[Expr], empty: Expr) -> Iterator[tuple[Expr, Expr]]:
    """Yield arguments without those of both, each with the one that is most alike, or with the neutral element."""
    shared = _list_shared(more, less)
    left = [one for one in less if one not in shared]
    for one in (each for each in more if each not in shared):
        best = max(left, key=lambda other: _count_shared(one, other), default=None)
        if best is not None and _are_alike(one, best):
            left.remove(best)
            yield one, best
        else:
            yield one, empty
    yield from ((empty, other) for other in left)


def _are_alike(one: Expr, other: Expr) -> bool:
    return _count_shared(one, other) > 0


def _count_shared(one: Expr, other: Expr) -> int:
    """Return the number of nodes of two expressions that are equal, and of symbols that both have."""
    if one.is_Rational or other.is_Rational:
        return int(one.is_Rational and other.is_Rational)
    parts = {part for part in sp.preorder_traversal(one) if not part.is_Rational}
    others = {part for part in sp.preorder_traversal(other) if not part.is_Rational}
    return len(parts & others)

"""Writes quadratic forms as sums of few squares, for display; no verdict depends on it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping

import sympy as sp

from fedtheory.kernel.expressions import Average, Expectation, Expr, Inner, LocalSum, inner, norm_sq

_MOST_VECTORS = 8
Wrap = Callable[[Expr], Expr]
Pairs = Mapping[tuple[Expr, ...], Expr]
"""Coefficients of inner products, by their two vectors."""


def collect_norms(terms: Mapping[Expr, Expr]) -> Expr:
    """Return the sum of coefficients times monomials, with inner products collected into norms if that is shorter."""
    groups: dict[type | None, dict[Expr, Expr]] = defaultdict(dict)
    for monomial, coefficient in terms.items():
        groups[_find_binder(monomial)][monomial] = coefficient
    parts = [_collect(kind, group) for kind, group in groups.items()]
    return sp.Add(*parts)


def collect_squares(terms: Mapping[Expr, Expr]) -> list[tuple[Expr, Expr, type]] | None:
    """Return weights, vectors and binders of squares whose sum is given by coefficients of monomials.

    Returns None if there are other monomials, or if the sum is not written by squares.
    """
    groups: dict[type | None, dict[Expr, Expr]] = defaultdict(dict)
    for monomial, coefficient in terms.items():
        groups[_find_binder(monomial)][monomial] = coefficient
    found: list[tuple[Expr, Expr, type]] = []
    for kind, group in groups.items():
        squares = [] if kind is None else _find_squares(kind, group)
        if kind is None or not all(squares):
            return None
        found += [(sp.factor(weight), vector, kind) for weight, vector in filter(None, squares)]
    return found


def _read_pairs(kind: type, group: Mapping[Expr, Expr]) -> Pairs:
    """Return the coefficients of the inner products under one binder."""
    return {(m if kind is Inner else m.args[0]).args: coefficient for m, coefficient in group.items()}


def _find_squares(kind: type, group: Mapping[Expr, Expr]) -> list[tuple[Expr, Expr] | None]:
    """Return the squares of one binder; a None for a part that is no square, or for more than some vectors."""
    form = _read_pairs(kind, group)
    vectors = sorted({vector for pair in form for vector in pair}, key=sp.default_sort_key)
    return [None] if len(vectors) > _MOST_VECTORS else list(_eliminate_squares(form, vectors))


def _find_binder(monomial: Expr) -> type | None:
    """Return the node around an inner product: `Inner` itself, or an average or a sum; None for all other monomials."""
    if isinstance(monomial, Inner):
        return Inner
    is_wrapped = isinstance(monomial, Average | LocalSum | Expectation) and isinstance(monomial.args[0], Inner)
    return type(monomial) if is_wrapped else None


def _collect(kind: type | None, group: Mapping[Expr, Expr]) -> Expr:
    plain = sp.Add(*(coefficient * monomial for monomial, coefficient in group.items()))
    if kind is None:
        return plain
    wrap: Wrap = (lambda inside: inside) if kind is Inner else kind
    form, squares = _read_pairs(kind, group), _find_squares(kind, group)
    if len(squares) < len(group) and all(square is not None for square in squares):
        return sp.Add(*(weight * wrap(norm_sq(of)) for weight, of in filter(None, squares)))
    is_short = len({vector for pair in form for vector in pair}) <= _MOST_VECTORS
    return (_write_products(form, wrap) if is_short else None) or plain


def _write_products(form: Pairs, wrap: Wrap) -> Expr | None:
    """Write a form as squares of the vectors whose own square occurs, and products for the rest.

    Returns None if not shorter.
    """
    squared = {one for one, other in form if one == other}
    inside = {pair: coefficient for pair, coefficient in form.items() if squared >= set(pair)}
    vectors = sorted(squared, key=sp.default_sort_key)
    squares = list(_eliminate_squares(inside, vectors))
    products = list(_pair_vectors({pair: coefficient for pair, coefficient in form.items() if pair not in inside}))
    if any(square is None for square in squares) or len(squares) + len(products) >= len(form):
        return None
    norms = (weight * wrap(norm_sq(of)) for weight, of in filter(None, squares))
    return sp.Add(*norms, *(weight * wrap(inner(one, other)) for weight, one, other in products))


def _pair_vectors(form: Pairs) -> Iterator[tuple[Expr, Expr, Expr]]:
    """Yield weights and pairs of vectors; the most frequent vector takes all its partners at once."""
    while form:
        counts = Counter(vector for pair in form for vector in set(pair))
        often = min(counts, key=lambda vector: (-counts[vector], sp.default_sort_key(vector)))
        partners = {(set(pair) - {often} or {often}).pop(): c for pair, c in form.items() if often in pair}
        weight = min(partners.values(), key=lambda c: (c.could_extract_minus_sign(), sp.default_sort_key(c)))
        yield weight, often, sp.Add(*(sp.cancel(c / weight) * vector for vector, c in partners.items()))
        form = {pair: c for pair, c in form.items() if often not in pair}


def _eliminate_squares(form: Pairs, vectors: list[Expr]) -> Iterator[tuple[Expr, Expr] | None]:
    """Yield weights and vectors of squares whose sum is a quadratic form, by elimination; None if no square is left."""
    matrix = sp.zeros(len(vectors))
    for (one, other), coefficient in form.items():
        row, column = vectors.index(one), vectors.index(other)
        matrix[row, column] += coefficient / 2
        matrix[column, row] += coefficient / 2
    while not matrix.is_zero_matrix:
        pivot = next((place for place in range(len(vectors)) if matrix[place, place] != 0), None)
        if pivot is None:
            yield None
            return
        weight, row = matrix[pivot, pivot], matrix[pivot, :]
        yield weight, sp.Add(*(sp.cancel(share / weight) * of for share, of in zip(row, vectors, strict=True)))
        matrix = (matrix - row.T * row / weight).applyfunc(sp.cancel)

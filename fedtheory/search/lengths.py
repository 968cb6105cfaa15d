"""Lists inequalities between norms: triangles, averages, Lipschitz functions, and square roots of assumptions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import permutations, product

import sympy as sp

from fedtheory.kernel import (
    Context,
    InequalityRef,
    Rejected,
    assumption,
    cauchy_schwarz,
    length_of_mean,
    lipschitz,
    lipschitz_gradient_length,
    root,
    scalar,
    square_of_lengths,
    triangle,
    vector,
    write_form,
)
from fedtheory.kernel.expressions import Average, Expr, Gradient, Inner, Value, is_length, subexpressions
from fedtheory.kernel.forms import Form
from fedtheory.language.claim import Relation
from fedtheory.search.blocks import use_average_gradients


def list_norm_inequalities(context: Context, form: Form, relation: Relation) -> Iterator[InequalityRef]:
    """Yield inequalities between norms for a statement with norms, or with values of Lipschitz functions."""
    yield from _list_of_values(context, form)
    yield from _list_products(context, form)
    vectors = _list_vectors(form)
    if vectors:
        yield from _list_between_norms(context, form, relation, vectors)


def _list_between_norms(
    context: Context, form: Form, relation: Relation, vectors: Sequence[Expr]
) -> Iterator[InequalityRef]:
    """Yield inequalities between the norms of vectors, of their differences, and of gradients."""
    points = _list_points(form, relation, context)
    rests = []
    for whole in vectors:
        for piece in [part for each in vectors if each != whole for part in (each, -each)]:
            rest = _normalise(whole - piece, context)
            rests.append(rest)
            yield triangle(use_average_gradients(piece, context), use_average_gradients(rest, context))
            # The sum of two norms bounds the norm of the sum, which the form need not contain.
            yield triangle(use_average_gradients(whole, context), use_average_gradients(-piece, context))
            yield from _split_by_objectives(context, piece, rest)
        parts = sp.Add.make_args(use_average_gradients(whole, context))
        if len(parts) > 1:
            yield triangle(*parts)
        yield triangle(whole, -whole)
    for each in dict.fromkeys([*vectors, *rests]):
        for member in _list_members(each):
            yield length_of_mean(member)
    yield from _list_of_gradients(context, form, relation, points)
    with_members = [part for each in vectors for part in (each, *_list_members(each))]
    differences = [at - around for at, around in permutations(points, 2)]
    yield from _list_roots(context, dict.fromkeys([*with_members, *differences]))


def _list_products(context: Context, form: Form) -> Iterator[InequalityRef]:
    """Yield the inequalities of Cauchy-Schwarz, with both signs, and of Young for each product of two norms."""
    for monomial in form:
        for part in subexpressions(monomial):
            norms = [factor for factor in part.args if is_length(factor)] if part.is_Mul else []
            if len(norms) == 2:
                left, right = (use_average_gradients(factor.base.args[0], context) for factor in norms)
                yield cauchy_schwarz(left, right)
                yield cauchy_schwarz(left, -right)
                yield square_of_lengths(left, right)


def _split_by_objectives(context: Context, piece: Expr, rest: Expr) -> Iterator[InequalityRef]:
    """Yield the triangle inequality for a vector and the parts of the rest, one part for each objective in it."""
    parts: dict[Expr, Expr] = {}
    for part in sp.Add.make_args(sp.expand(use_average_gradients(rest, context))):
        objectives = {gradient.args[0] for gradient in part.atoms(Gradient)}
        key = objectives.pop() if len(objectives) == 1 else sp.S.Zero
        parts[key] = parts.get(key, sp.S.Zero) + part
    if len(parts) > 1:
        yield triangle(use_average_gradients(piece, context), *parts.values())


def _normalise(each: Expr, context: Context) -> Expr:
    """Return a vector in normal form."""
    return write_form(vector(each, context))


def _list_vectors(form: Form) -> list[Expr]:
    """Return the vectors whose norms occur in a scalar, each once."""
    found = {part.base.args[0]: None for monomial in form for part in subexpressions(monomial) if is_length(part)}
    return list(found)


def _list_members(whole: Expr) -> list[Expr]:
    """Return the vector of one client whose average is a vector, as a list; empty if it contains no average."""
    member = whole.replace(lambda part: isinstance(part, Average), lambda mean: mean.args[0])
    return [] if member == whole else [member]


def _list_points(form: Form, relation: Relation, context: Context) -> list[Expr]:
    """Return the points at which objectives are evaluated."""
    parts = [part for each in (*form, *relation.sides) for part in subexpressions(each)]
    points = {part.args[1] for part in parts if isinstance(part, Gradient | Value)}
    found = {_normalise(point, context) for point in points}
    return sorted(found, key=sp.default_sort_key)


def _list_of_gradients(
    context: Context, form: Form, relation: Relation, points: Sequence[Expr]
) -> Iterator[InequalityRef]:
    """Yield that gradients at two points differ by at most the smoothness times the distance of the points."""
    parts = [part for each in (*form, *relation.sides) for part in subexpressions(use_average_gradients(each, context))]
    named = {part.args[0] for part in parts if isinstance(part, Gradient)}
    for f in sorted(named & context.smooth.keys(), key=str):
        for at, around in permutations(points, 2):
            yield lipschitz_gradient_length(f, at, around)


def _list_of_values(context: Context, form: Form) -> Iterator[InequalityRef]:
    """Yield inequalities for Lipschitz objectives, at the points of a run whose values occur in the statement."""
    wholes = {own: whole for whole, own in context.means.items()}
    values = [part for each in form for part in subexpressions(each) if isinstance(part, Value)]
    for f in sorted({f for value in values for f in (value.args[0], wholes.get(value.args[0]))} - {None}, key=str):
        points = sorted({value.args[1] for value in values}, key=sp.default_sort_key)
        visited = [point for point in context.visited for at in points if _is_same(point, at, context)]
        if f in context.lipschitz:
            yield from (lipschitz(f, at, around) for at, around in permutations(visited, 2))


def _is_same(point: Expr, at: Expr, context: Context) -> bool:
    """Return whether a point has a normal form."""
    with suppress(Rejected):
        return bool(write_form(vector(point, context)) == at)
    return False


def _list_roots(context: Context, vectors: Iterable[Expr]) -> Iterator[InequalityRef]:
    """Yield bounds on norms from assumptions on their squares."""
    for each, name in product(vectors, context.assumed):
        with suppress(Rejected):
            bound = scalar(assumption(name).instantiate(context).expression + Inner(each, each), context)
            found = _find_root(bound[sp.S.One].expression) if bound.keys() == {sp.S.One} else None
            if found is not None:
                yield root(name, found, each)


def _find_root(number: Expr) -> Expr | None:
    """Return the square root of a number as an expression without roots; None if some factor is no square."""
    found = sp.S.One
    for factor in sp.Mul.make_args(sp.factor(number)):
        base, power = factor.as_base_exp()
        is_square = sp.sqrt(factor).is_Rational if factor.is_Rational else (power / 2).is_Integer
        if not is_square:
            return None
        found *= sp.sqrt(factor) if factor.is_Rational else base ** (power / 2)
    return found

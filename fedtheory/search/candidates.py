"""Inequalities that hold in a context at the points of a statement."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations, permutations, product

import sympy as sp

from fedtheory.kernel import (
    Context,
    InequalityRef,
    Rejected,
    Term,
    assumption,
    cocoercivity,
    convexity,
    interpolation,
    is_nonnegative,
    is_ordering,
    lipschitz_gradient,
    mean_of_drawn,
    one,
    optimality,
    scalar,
    slack,
    smoothness,
    square,
    steps,
    strong_convexity,
    unweighted,
    vector,
    weighted,
    write_form,
)
from fedtheory.kernel.expressions import Average, Expr, Gradient, Inner, LocalSum, Selected, Value, parts_of
from fedtheory.kernel.forms import Form
from fedtheory.kernel.indices import changes, differs, split_average
from fedtheory.kernel.quotients import Quotient
from fedtheory.kernel.work import spend
from fedtheory.language.claim import Relation
from fedtheory.search.blocks import Blocks, split_form, use_average_gradients
from fedtheory.search.lengths import find_lengths


@dataclass(frozen=True)
class CandidateInequality:
    """A named inequality with clients' numbers as a factor, and its blocks."""

    pattern: Term
    """A term without further coefficients."""
    blocks: Blocks

    def term(self, coefficient: Quotient) -> Term:
        """Return the candidate times a coefficient, as a term of a certificate."""
        return replace(self.pattern, coefficient=coefficient.expression * self.pattern.coefficient)


def find_candidates(
    context: Context, form: Form, relation: Relation, nearby: bool, more_weights: Sequence[Expr] = ()
) -> Iterator[CandidateInequality]:
    """Yield the inequalities of a context at the points of a statement; if `nearby`, for its own objectives only.

    Otherwise also use client averages and further minimisers.  Averages are weighted by the factors of the form that
    differ between clients; averages of assumptions also by `more_weights`.
    """
    of_client = any(differs(monomial, context) for monomial in form)
    of_form = (split_average(monomial, context)[0] for monomial in form)
    weights = list(dict.fromkeys([sp.S.One, *of_form]))
    of_assumptions = list(dict.fromkeys([*weights, *more_weights]))
    has_sums = any(one.atoms(LocalSum) for one in form)
    has_means = not of_client or any(one.atoms(Average) for one in form)
    for reason in _list_reasons(context, form, relation, nearby):
        spend(5000)
        try:
            inequality = reason.instantiate(context)
            is_own = differs(inequality.expression, context)
            summed = changes(inequality.expression, context) and has_sums
        except Rejected:
            continue
        chosen = of_assumptions if reason.kind == "assumption" else weights
        patterns = [Term(weight, reason, averaged=True, summed=summed) for weight in chosen if is_own and has_means]
        if of_client or not is_own:
            patterns.append(Term(sp.S.One, reason, summed=summed))
        for term in patterns:
            with suppress(Rejected):
                yield CandidateInequality(term, split_form(scalar(term.whole(inequality), context), context))


def list_squares_as_written(
    context: Context, relation: Relation, conditions: Iterable[Expr]
) -> Iterator[CandidateInequality]:
    """Yield squares of vectors with norms in a statement, minus their time averages, and times slacks of numbers.

    They are needed because Gram matrices have the symbols of a vector as separate rows, and have no products of
    clients' numbers and sums over steps.
    """
    own = context.numbers.of_clients
    slacks = [slack(one) for one in conditions if is_ordering(one)]
    weights = [number for number in slacks if number.free_symbols & own and not number.has(Average)]
    for of in list_vectors_as_written(relation):
        with suppress(Rejected):
            is_own, is_summed = differs(of, context), changes(of, context)
            about_mean = [of - LocalSum(of) / context.number_of_steps] if is_summed else []
            patterns = [(sp.S.One, each, True) for each in about_mean]
            patterns += [
                (weight, of, summed) for weight in weights for summed in ((True, False) if is_summed else (False,))
            ]
            for (weight, each, summed), averaged in product(patterns, (True, False) if is_own else (False,)):
                term = Term(weight, square(each), averaged, summed)
                with suppress(Rejected):
                    yield CandidateInequality(
                        term, split_form(scalar(term.whole(term.reason.instantiate(context)), context), context)
                    )


def list_vectors_as_written(relation: Relation) -> list[Expr]:
    """The vectors in inner products of a statement, without factors, and the vectors in their averages and sums."""
    found: dict[Expr, None] = {}
    for side in relation.sides:
        for inner in parts_of(side, Inner):
            for each in inner.args:
                _peel(each, found)
    return list(found)


_SUMS = (Average, LocalSum, Selected)


def _peel(of: Expr, found: dict[Expr, None]) -> None:
    """Add the expression inside each of its nested sums."""
    sums = [factor for factor in sp.Mul.make_args(of) if isinstance(factor, _SUMS)]
    found[sums[0] if sums else of] = None
    if sums:
        _peel(sums[0].args[0], found)


def list_weighted_squares(context: Context, goal: Blocks, conditions: Iterable[Expr]) -> Iterator[CandidateInequality]:
    """Yield squares of the clients' vectors, times slacks of conditions on the clients' numbers."""
    own = context.numbers.of_clients
    slacks = [slack(one) for one in conditions if is_ordering(one)]
    weights = list(dict.fromkeys(number for number in slacks if number.free_symbols & own and not number.has(Average)))
    of_means = dict.fromkeys((block.summed, side) for block, *pair in goal.matrices if block.averaged for side in pair)
    patterns = [Term(weight, square(side), True, summed) for weight in weights for summed, side in of_means]
    patterns += [Term(weight, one(), averaged=True) for weight in weights]
    for term in patterns:
        with suppress(Rejected):
            yield CandidateInequality(
                term, split_form(scalar(term.whole(term.reason.instantiate(context)), context), context)
            )


def _list_reasons(context: Context, form: Form, relation: Relation, nearby: bool) -> Iterator[InequalityRef]:
    """Yield the inequalities that may be used in a form, for all objectives in it."""
    about = [part for each in (*form, *relation.sides) for part in parts_of(each, Gradient, Value)]
    of_client = any(differs(monomial, context) for monomial in form)
    named = {part.args[0] for part in about}
    if not nearby:
        named |= {mean for mean, of in context.means.items() if of in named}
    products = [split_average(monomial, context)[1] for monomial in form]
    if not (
        of_client
        or any(differs(one, context) and parts_of(one, Gradient) for one in products if isinstance(one, Inner))
        or any(differs(part.args[1], context) for part in about)
        or relation.free_symbols & context.client_objectives
    ):
        named -= context.client_objectives
    points = {part.args[1] for part in about}
    points |= {at for f, at in context.minimisers.items() if f in named and (not nearby or at in relation.free_symbols)}
    points |= {
        symbol
        for symbol in relation.free_symbols & context.visited
        if symbol not in context.definitions or not (nearby or context.definitions[symbol].has(Gradient))
    }
    forms = {use_average_gradients(write_form(vector(point, context)), context) for point in points}
    ordered = sorted(forms, key=sp.default_sort_key)
    yield from (one(), *(assumption(name) for name in context.assumed))
    for f in sorted(named, key=str):
        # An inequality for each client's objective, averaged, implies the one for the average objective.
        is_implied = context.means.get(f) in named and context.smooth.get(f) == context.smooth.get(context.means[f])
        pairs: Iterable[tuple[Expr, Expr]] = permutations(ordered, 2)
        if is_implied and not of_client:
            pairs = ((at, around) for at, around in pairs if differs(at, context) or differs(around, context))
        yield from _list_at_pairs(context, f, pairs)
        yield from _list_optimality(context, f, ordered)
        if not nearby and f not in context.convex:
            yield from _list_descent(context, f, ordered)
    yield from _list_of_means(context, form, relation)
    yield from find_lengths(context, form, relation)


def _list_of_means(context: Context, form: Form, relation: Relation) -> Iterator[InequalityRef]:
    """Yield Cauchy-Schwarz and Jensen for the averages and sums in a statement."""
    sides = {side for monomial in form for product in parts_of(monomial, Inner) for side in product.args}
    for side in sorted(sides.union(list_vectors_as_written(relation)), key=sp.default_sort_key):
        weight, inside = split_average(side, context)
        if isinstance(side, Average) and weight != 1:
            yield from (weighted(own, weight / own, inside) for own in _list_factors(weight, context))
        if isinstance(inside, LocalSum):
            yield steps(inside.args[0])
        if isinstance(side, Selected):
            yield mean_of_drawn(side.args[0])
        if isinstance(side, Average) and context.share is not None and context.share in context.numbers.of_clients:
            yield unweighted(side.args[0])
    for side in list_vectors_as_written(relation):
        yield from _list_of_combined_means(context, side)


def _list_factors(weight: Expr, context: Context) -> list[Expr]:
    """Return the non-negative products of factors of a client's number, including one and the number itself."""
    factors = sp.Mul.make_args(weight)[:_MOST_FACTORS]
    chosen = (each for count in range(len(factors) + 1) for each in combinations(factors, count))
    products = dict.fromkeys([weight, sp.S.One, *(sp.Mul(*each) for each in chosen)])
    return [each for each in products if is_nonnegative(each, context.numbers)]


_MOST_FACTORS = 3


def _list_of_combined_means(context: Context, of: Expr) -> Iterator[InequalityRef]:
    """Yield Cauchy-Schwarz for a sum of client averages of one vector, with different clients' numbers."""
    try:
        parts = [(number.expression, *split_average(basis, context)) for basis, number in vector(of, context).items()]
    except Rejected:
        return
    inside = {each for *_, each in parts}
    if len(parts) > 1 and len(inside) == 1 and differs(next(iter(inside)), context):
        yield weighted(sp.S.One, sp.Add(*(number * weight for number, weight, _ in parts)), inside.pop())


def _list_at_pairs(context: Context, f: sp.Symbol, pairs: Iterable[tuple[Expr, Expr]]) -> Iterator[InequalityRef]:
    """Yield the inequalities that an objective satisfies at pairs of points."""
    for at, around in pairs:
        if f in context.strongly_convex:
            yield strong_convexity(f, at, around)
        if f in context.smooth and f in context.convex:
            yield cocoercivity(f, at, around)
        if f in context.convex and not _is_named(context.smooth.get(f)):
            yield convexity(f, at, around)
        if f in context.smooth:
            yield smoothness(f, at, around)
        if f in context.smooth and f not in context.convex:
            yield lipschitz_gradient(f, at, around)
        if f in context.smooth and (f in context.strongly_convex or f not in context.convex):
            yield interpolation(f, at, around)


def _is_named(constant: Expr | None) -> bool:
    """Return whether the claim has a symbol for a constant, in which coefficients can be written."""
    return constant is not None and not isinstance(constant, sp.Dummy)


def _list_descent(context: Context, f: sp.Symbol, points: Sequence[Expr]) -> Iterator[InequalityRef]:
    """Yield inequalities for a step of gradient descent from each point.

    The value decreases, but stays above the minimum.
    """
    if f in context.minimisers and f in context.objectives and f in context.smooth:
        for at in points:
            if at != context.minimisers[f] and not differs(at, context):
                after = at - Gradient(f, at) / context.smooth[f]
                yield from (smoothness(f, after, at), optimality(f, after))


def _list_optimality(context: Context, f: sp.Symbol, points: Sequence[Expr]) -> Iterator[InequalityRef]:
    """Yield the inequalities of the minimiser at the points."""
    if f in context.minimisers and f in context.objectives:
        shared = (at for at in points if at != context.minimisers[f] and not differs(at, context))
        yield from (optimality(f, at) for at in shared)

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
from fedtheory.search.lengths import list_norm_inequalities


@dataclass(frozen=True)
class CandidateInequality:
    """A named inequality, possibly weighted by a client's number, and its blocks."""

    pattern: Term
    """The inequality as a term of a certificate, with its weight as the coefficient."""
    blocks: Blocks
    """The side of the inequality that is non-negative."""

    def term(self, coefficient: Quotient) -> Term:
        """Return the candidate times a coefficient, as a term of a certificate."""
        return replace(self.pattern, coefficient=coefficient.expression * self.pattern.coefficient)


def find_candidates(
    context: Context,
    form: Form,
    relation: Relation,
    only_named: bool,
    *,
    more_weights: Sequence[Expr] = (),
    more_evaluations: Sequence[Expr] = (),
) -> Iterator[CandidateInequality]:
    """Yield the inequalities of a context at the points of a statement.

    If `only_named`, the inequalities concern the objectives and minimisers that the statement names; otherwise also
    client averages of these objectives, and their minimisers.  Inequalities of single clients are averaged with each
    factor of the form that differs between clients as a weight, and those of assumptions also with `more_weights`.  The
    objectives and points are those of the statement, and of the gradients `more_evaluations`.
    """
    of_client = any(differs(monomial, context) for monomial in form)
    has_sums = any(monomial.atoms(LocalSum) for monomial in form)
    has_averages = not of_client or any(monomial.atoms(Average) for monomial in form)
    weights = list(dict.fromkeys([sp.S.One, *(split_average(monomial, context)[0] for monomial in form)]))
    weights_of_assumptions = list(dict.fromkeys([*weights, *more_weights]))
    for reference in _list_inequalities(context, form, relation, only_named, more_evaluations):
        spend(5000)
        try:
            inequality = reference.instantiate(context)
            is_of_client = differs(inequality.expression, context)
            summed = changes(inequality.expression, context) and has_sums
        except Rejected:
            continue
        patterns = []
        if is_of_client and has_averages:
            chosen = weights_of_assumptions if reference.kind == "assumption" else weights
            patterns += [Term(weight, reference, averaged=True, summed=summed) for weight in chosen]
        if of_client or not is_of_client:
            patterns.append(Term(sp.S.One, reference, summed=summed))
        for term in patterns:
            with suppress(Rejected):
                yield CandidateInequality(term, split_form(scalar(term.whole(inequality), context), context))


def _split_squares(patterns: Iterable[Term], context: Context) -> Iterator[CandidateInequality]:
    """Yield multiples of squares with their blocks, except those that the kernel rejects."""
    for term in patterns:
        with suppress(Rejected):
            whole = scalar(term.whole(term.reason.instantiate(context)), context)
            yield CandidateInequality(term, split_form(whole, context))


def list_squares_as_written(
    context: Context, relation: Relation, conditions: Iterable[Expr]
) -> Iterator[CandidateInequality]:
    """Yield squares of vectors with norms in a statement, minus their time averages, and times slacks of conditions.

    Gram matrices have a separate row for each symbol of a vector, and none for a product of a client's number and a sum
    over steps.  Hence elimination does not find these squares.
    """
    weights = _list_client_slacks(context, conditions)
    for written in list_vectors_as_written(relation):
        with suppress(Rejected):
            is_of_client, changes_in_round = differs(written, context), changes(written, context)
            mean = LocalSum(written) / context.number_of_steps if changes_in_round else written
            squares = [(sp.S.One, written - mean, True)] if changes_in_round else []
            spans = (True, False) if changes_in_round else (False,)
            squares += [(weight, written, summed) for weight in weights for summed in spans]
            averages = (True, False) if is_of_client else (False,)
            patterns = [
                Term(weight, square(each), averaged, summed)
                for (weight, each, summed), averaged in product(squares, averages)
            ]
            yield from _split_squares(patterns, context)


def _list_client_slacks(context: Context, conditions: Iterable[Expr]) -> list[Expr]:
    """Return the slacks of conditions on the numbers of single clients, each once."""
    slacks = [slack(condition) for condition in conditions if is_ordering(condition)]
    numbers = context.numbers.of_clients
    return list(dict.fromkeys(each for each in slacks if each.free_symbols & numbers and not each.has(Average)))


def list_vectors_as_written(relation: Relation) -> list[Expr]:
    """Return the vectors in inner products of a statement without their factors, and the vectors in sums of these."""
    found: dict[Expr, None] = {}
    for side in relation.sides:
        for inner in parts_of(side, Inner):
            for each in inner.args:
                _collect_summands(each, found)
    return list(found)


_SUMS = (Average, LocalSum, Selected)


def _collect_summands(vector_or_sum: Expr, found: dict[Expr, None]) -> None:
    """Add a vector without its factors and, if it is an average or a sum, the vectors inside."""
    sums = [factor for factor in sp.Mul.make_args(vector_or_sum) if isinstance(factor, _SUMS)]
    found[sums[0] if sums else vector_or_sum] = None
    if sums:
        _collect_summands(sums[0].args[0], found)


def list_weighted_squares(context: Context, goal: Blocks, conditions: Iterable[Expr]) -> Iterator[CandidateInequality]:
    """Yield squares of the clients' vectors, times slacks of conditions on the clients' numbers."""
    weights = _list_client_slacks(context, conditions)
    vectors = dict.fromkeys((block.summed, side) for block, *pair in goal.matrices if block.averaged for side in pair)
    patterns = [Term(weight, square(side), True, summed) for weight in weights for summed, side in vectors]
    patterns += [Term(weight, one(), averaged=True) for weight in weights]
    yield from _split_squares(patterns, context)


def _list_inequalities(
    context: Context, form: Form, relation: Relation, only_named: bool, more_evaluations: Sequence[Expr]
) -> Iterator[InequalityRef]:
    """Yield the inequalities that may be used in a form, for all objectives in it."""
    evaluations = [part for each in (*form, *relation.sides) for part in parts_of(each, Gradient, Value)]
    evaluations += more_evaluations
    of_client = any(differs(monomial, context) for monomial in form)
    objectives = _list_objectives(context, form, relation, evaluations, only_named)
    points = _list_points(context, relation, evaluations, objectives, only_named)
    yield from (one(), *(assumption(name) for name in context.assumed))
    for f in sorted(objectives, key=str):
        # The average of an inequality for each client's objective implies the one for the average objective.
        own = context.means.get(f)
        is_implied = own in objectives and context.smooth.get(f) == context.smooth.get(own)
        pairs: Iterable[tuple[Expr, Expr]] = permutations(points, 2)
        if is_implied and not of_client:
            pairs = ((at, around) for at, around in pairs if differs(at, context) or differs(around, context))
        yield from _list_at_pairs(context, f, pairs)
        yield from _list_optimality(context, f, points)
        if not only_named and f not in context.convex:
            yield from _list_descent(context, f, points)
    yield from _list_of_means(context, form, relation)
    yield from list_norm_inequalities(context, form, relation)


def _list_objectives(
    context: Context, form: Form, relation: Relation, evaluations: Sequence[Expr], only_named: bool
) -> set[sp.Symbol]:
    """Return the objectives of which values and gradients occur; without those of clients if only averages matter."""
    objectives = {part.args[0] for part in evaluations}
    if not only_named:
        objectives |= {average for average, own in context.means.items() if own in objectives}
    products = [split_average(monomial, context)[1] for monomial in form]
    needs_clients = (
        any(differs(monomial, context) for monomial in form)
        or any(differs(each, context) and parts_of(each, Gradient) for each in products if isinstance(each, Inner))
        or any(differs(part.args[1], context) for part in evaluations)
        or relation.free_symbols & context.client_objectives
    )
    return objectives if needs_clients else objectives - context.client_objectives


def _list_points(
    context: Context, relation: Relation, evaluations: Sequence[Expr], objectives: set[sp.Symbol], only_named: bool
) -> list[Expr]:
    """Return the points at which inequalities are used: of evaluations, minimisers and iterates, in normal form."""
    points = {part.args[1] for part in evaluations}
    minimisers = {at for f, at in context.minimisers.items() if f in objectives}
    points |= minimisers & relation.free_symbols if only_named else minimisers
    points |= {
        symbol
        for symbol in relation.free_symbols & context.visited
        if symbol not in context.definitions or not (only_named or context.definitions[symbol].has(Gradient))
    }
    forms = {use_average_gradients(write_form(vector(point, context)), context) for point in points}
    return sorted(forms, key=sp.default_sort_key)


def _list_of_means(context: Context, form: Form, relation: Relation) -> Iterator[InequalityRef]:
    """Yield the inequalities of Cauchy-Schwarz and Jensen for the averages and sums in a statement."""
    sides = {side for monomial in form for inner in parts_of(monomial, Inner) for side in inner.args}
    for side in sorted(sides.union(list_vectors_as_written(relation)), key=sp.default_sort_key):
        weight, inside = split_average(side, context)
        if isinstance(side, Average) and weight != 1:
            yield from (weighted(factor, weight / factor, inside) for factor in _list_factors(weight, context))
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
    subsets = (subset for count in range(len(factors) + 1) for subset in combinations(factors, count))
    products = dict.fromkeys([weight, sp.S.One, *(sp.Mul(*subset) for subset in subsets)])
    return [each for each in products if is_nonnegative(each, context.numbers)]


_MOST_FACTORS = 3


def _list_of_combined_means(context: Context, total: Expr) -> Iterator[InequalityRef]:
    """Yield Cauchy-Schwarz for a sum of client averages of one vector, each weighted by another client's number."""
    try:
        form = vector(total, context)
        parts = [(number.expression, *split_average(basis, context)) for basis, number in form.items()]
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
    """Return whether the claim has a symbol for a constant, so that coefficients can be written with it."""
    return constant is not None and not isinstance(constant, sp.Dummy)


def _list_descent(context: Context, f: sp.Symbol, points: Sequence[Expr]) -> Iterator[InequalityRef]:
    """Yield two inequalities for a step of gradient descent from each point.

    The value decreases by the descent lemma, and it stays above the minimum.
    """
    if f in context.minimisers and f in context.objectives and f in context.smooth:
        for at in points:
            if at != context.minimisers[f] and not differs(at, context):
                after = at - Gradient(f, at) / context.smooth[f]
                yield from (smoothness(f, after, at), optimality(f, after))


def _list_optimality(context: Context, f: sp.Symbol, points: Sequence[Expr]) -> Iterator[InequalityRef]:
    """Yield that the value at each point is at least the minimum."""
    if f in context.minimisers and f in context.objectives:
        shared = (at for at in points if at != context.minimisers[f] and not differs(at, context))
        yield from (optimality(f, at) for at in shared)

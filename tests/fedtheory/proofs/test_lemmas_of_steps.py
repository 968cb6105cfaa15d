"""Facts of the context of a local step hold at every step of exact runs, in expectation and on paths.

The expression of a vector by others becomes an equation, an assumption becomes an inequality; both are claims that are
checked in rationals.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import sympy as sp
from test_lemmas_of_runs import IN_THE_PLANE, ONCE, RUNS, UPDATES, run

from fedtheory import RATIONAL, parse_run
from fedtheory.engine.run import Run
from fedtheory.kernel.expressions import Expectation, Expr, Inner, Value, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs import build_context
from fedtheory.proofs.comparators import noise_at_y
from fedtheory.proofs.plain_symbols import use_plain_symbols
from verify.check import check

SHARED = (
    q.server_model,
    q.optimum,
    q.centralised_model,
    q.local_iterate,
    q.client_optimum,
    q.gradient_noise,
    q.stochastic_gradient,
    q.gradient_deviation,
    q.average_iterate,
    q.next_centralised_model,
    q.next_local_iterate,
    q.next_average_iterate,
    q.objective,
    q.client_objective,
    q.local_step_size,
    q.smoothness,
    q.noise_deviation,
    q.second_moment,
    q.gradient_dissimilarity,
    q.mean_dissimilarity,
    q.client_optimum_distance,
    q.nearest_start,
    q.client_dissimilarity,
    q.noise_smoothness,
    q.local_step_index,
)
POINTS = {
    "the optimum": (q.noise_at_optimum, q.dissimilarity_at_optimum),
    "a comparator": (q.comparator, q.comparator_noise, q.comparator_dissimilarity),
    "a comparator, with curvatures": (
        q.comparator,
        q.comparator_noise,
        q.comparator_dissimilarity,
        q.client_smoothness,
        q.comparator_curved_noise,
        q.comparator_curved_dissimilarity,
    ),
}
ASSUMED = {
    "bounded variance": (a.unbiased_bounded_variance,),
    "full gradients": (a.full_gradients, a.bounded_dissimilarity),
    "bounded dissimilarity": (a.bounded_dissimilarity,),
    "bounded mean dissimilarity": (a.bounded_mean_dissimilarity,),
    "bounded second moment": (a.bounded_second_moment,),
    "smooth noise": (a.smooth_noise,),
}


def runs() -> Iterator[Run]:
    """Yield the edge cases, and two runs in the plane, one of them with a shared Hessian."""
    yield from map(run, RUNS | UPDATES)
    alike = {**IN_THE_PLANE, "hessians": [[["1", "0"], ["0", "2"]]] * 2}
    for problem in (IN_THE_PLANE, alike):
        table = {"problem": {"kind": "quadratic", **problem, "noise": "1"}, "algorithm": ONCE}
        yield parse_run(table, RATIONAL)


def stated(claim: Claim) -> Iterator[tuple[str, str, Expr]]:
    """Return the facts of a claim's context: name, relation to zero, and the quantities in it."""
    context = build_context(claim)
    for symbol, definition in context.definitions.items():
        if symbol in claim.where:
            yield str(symbol), "==", norm_sq(symbol - definition)
    for name, slack in context.assumed.items():
        # No claim can name the noise at the comparator.
        if not slack.has(noise_at_y):
            yield name, ">=", slack


def in_the_mean(slack: Expr) -> Expr:
    """Return a sum with its random terms inside an expectation."""
    parts = sp.Add.make_args(sp.expand(slack))
    random = [part for part in parts if part.atoms(Inner, Value)]
    return Expectation(sp.Add(*random)) + sp.Add(*(part for part in parts if part not in random))


@pytest.mark.parametrize("place", ["step", "path"])
@pytest.mark.parametrize("assumed", ASSUMED)
@pytest.mark.parametrize("point", POINTS)
def test_facts_of_step_contexts_hold_at_each_step(point: str, assumed: str, place: Any) -> None:
    """Facts hold for one client, one step, no noise, flat objectives, stale models, or unequal weights."""
    where: dict[sp.Symbol, Any] = {sp.Symbol(quantity.name): quantity for quantity in (*SHARED, *POINTS[point])}
    shared: dict[str, Any] = {"id": "t:lemma", "place": place, "assumptions": (a.same_local_work, *ASSUMED[assumed])}
    plain = use_plain_symbols(Claim(lhs=0, rhs=0, where=where, **shared))
    for name, relation, slack in stated(plain):
        left = slack if place == "path" else in_the_mean(slack)
        used = {symbol: quantity for symbol, quantity in plain.where.items() if symbol in left.free_symbols}
        claim = Claim(lhs=left, relation=relation, rhs=0, where=used, **shared)
        found = [check(claim, one).holds for one in runs()]
        assert False not in found, name
        assert True in found, name

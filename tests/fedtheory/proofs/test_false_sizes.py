"""Step sizes that differ between clients: proofs are valid only for sizes that are constant over rounds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import sympy as sp

from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.arithmetic import RATIONAL
from fedtheory.federation.algorithms import fedavg
from fedtheory.kernel import Term, assumption, cocoercivity, square, strong_convexity, weighted
from fedtheory.kernel.expressions import Average, Gradient, norm_sq
from fedtheory.language.claim import Claim
from fedtheory.proofs import check_certificate
from fedtheory.proofs.definitions import ALIKE, CLIENT_OBJECTIVE, OBJECTIVE, OPTIMUM, state
from fedtheory.proofs.lyapunov import START_DISTANCE, Lyapunov
from fedtheory.runfile import parse_run
from verify.check import check

tau, T, mu, L, D, eta_i = sp.symbols("tau T mu L D eta_i", positive=True)
zeta = sp.Symbol("zeta", nonnegative=True)
eta = Average(eta_i)
factor = 1 - eta * mu / 2
OWN_SIZES = Claim(
    id="mine:own-sizes",
    lhs=q.final_distance_sq,
    rhs=factor**T * D**2 + 4 * zeta**2 / mu**2 + 4 * eta * zeta**2 / mu,
    conditions=[eta <= 1 / (2 * L), eta >= 1 / (8 * L), eta * mu <= 2, tau <= 1],
    assumptions=(
        *(a.update_rule, a.full_participation, a.importance_weights, a.server_step_of_one),
        *(a.convex_and_smooth, a.strongly_convex_clients, a.full_gradients, a.bounded_dissimilarity),
    ),
    where={
        **{eta_i: q.client_step_size, zeta: q.gradient_dissimilarity, tau: q.local_steps, T: q.rounds},
        **{mu: q.strong_convexity, L: q.smoothness, D: q.initial_distance},
    },
)
"""Gradient descent by clients with different step sizes that are equal in all rounds."""


def own_sizes_descent() -> Lyapunov:
    x = state(fedavg.x)
    points, slope = [(x, OPTIMUM), (OPTIMUM, x)], Gradient(OBJECTIVE, x)
    misfit = Gradient(CLIENT_OBJECTIVE, x) - slope
    return Lyapunov(
        claim="mine:own-sizes",
        function=norm_sq(x - OPTIMUM),
        factor=factor,
        offset=2 * eta * zeta**2 / mu + 2 * eta**2 * zeta**2,
        level=D**2,
        round=[
            *(Term(eta, strong_convexity(OBJECTIVE, *two)) for two in points),
            *(Term(eta, cocoercivity(OBJECTIVE, *two)) for two in points),
            Term(eta * (1 / L - 2 * eta), square(slope)),
            Term(2 * eta_i / mu, square(misfit + mu / 2 * (x - OPTIMUM)), averaged=True),
            Term(sp.S.One, square(eta * slope - Average(eta_i * misfit))),
            Term(sp.Integer(2), weighted(eta_i, sp.S.One, misfit)),
            Term(2 * eta_i / mu + 2 * eta * eta_i, assumption(ALIKE), averaged=True),
        ],
        start=[Term(sp.S.One, assumption(START_DISTANCE))],
    )


def test_steps_that_change_have_no_size() -> None:
    """Decreasing step sizes have no common symbol, so that proofs do not apply to such runs."""
    shrinking = replace(OWN_SIZES, assumptions=(a.decreasing_steps, *OWN_SIZES.assumptions[1:]))
    assert check_certificate(shrinking, own_sizes_descent()).verdict == "proved"
    problem = {"kind": "quadratic", "hessians": [[["1"]]], "linear": [["0"]], "start": ["1"]}
    keys = {"local_step_size": "2/(n + 4)", "rounds": 60, "local_steps": 1}
    run = parse_run({"problem": problem, "algorithm": keys}, RATIONAL)
    assert a.decreasing_steps.failure(run) is None
    assert Fraction(str(q.final_distance_sq.on(run))) > Fraction(3, 4) ** 60
    assert check(shrinking, run).reason == "client_step_size has no value: the step sizes change from step to step"

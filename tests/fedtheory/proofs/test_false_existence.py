"""Facts about a quantity are not used for runs on which it has no value, even if it cancels."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp
from attempts import Attempt, sums, terms

from fedtheory import RATIONAL, parse_run
from fedtheory.kernel import Term, assumption, lipschitz_gradient, square
from fedtheory.kernel.expressions import Gradient, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs import Certificate, Part, Proof, check_certificate, facts
from fedtheory.sources.fraboni2022.context import schedule_facts
from fedtheory.sources.fraboni2022.context import updates as u
from verify.check import check

t, S, M, R, W, nu = sp.symbols("t S M R W nu", positive=True)
delta, D, L, gap, slope, omega = sp.symbols("delta D L g s omega", nonnegative=True)
x, z, F = sp.symbols("x z F", real=True)
ONE = sp.S.One
LINES = {"hessians": [[["0"]], [["0"]]], "linear": [["1"], ["-1"]], "start": ["1"]}
HALVES = {"clock": {"policy": "async", "times": ["1/2", "1/2"], "ties": "one-by-one"}, "rounds": 4}
ALONE = {"participation": {"kind": "fixed", "clients": [0]}}
IN_TURN = (a.asynchronous, a.one_at_a_time, a.whole_cycles, a.positive_weights)
PRODUCT = [Part(ONE, schedule_facts.PERIOD_OF_SLOWEST), Part(ONE, schedule_facts.PERIOD_AT_MOST)]
WHOLE = [
    Part(ONE, schedule_facts.ASYNC_WINDOW),
    Part(ONE, schedule_facts.IN_A_PERIOD),
    Part((nu - 1) * R, facts.ONE),
]
PERIODS: dict[str, Attempt] = {
    "a period between two times": sums(
        {"links": [PRODUCT]},
        "need not exist",
        {},
        HALVES,
        lhs=S,
        rhs=t * S ** (M - 1),
        where={t: q.update_time, S: q.slowest_time, M: q.clients},
    ),
    "a period that is a whole number": sums(
        {"links": [WHOLE]},
        "need not exist",
        {},
        HALVES,
        lhs=R,
        rhs=W,
        where={R: q.update_rate, W: q.window, nu: q.common_period},
        assumptions=IN_TURN,
    ),
}


@pytest.mark.parametrize("name", PERIODS)
def test_times_that_are_not_whole_have_no_whole_period(name: str) -> None:
    one = PERIODS[name]
    found = check_certificate(one.claim, one.certificate)
    assert found.verdict == "broken"
    assert any(one.because in step.text for step in found.steps if not step.holds)
    assert one.fails


FLAT = sp.Le(delta, 0, evaluate=False)
AT_POINTS: dict[str, Any] = {"conditions": [FLAT], "place": "points"}
CLIENTS = {x: q.point, F: q.client_objective, delta: q.client_smoothness}
UPDATES = {slope: q.mean_gradient_at_virtual_sq, L: q.smoothness, omega: q.weight_sum}
OF_UPDATES: dict[str, Any] = {
    "conditions": [sp.Le(L, 0, evaluate=False)],
    "assumptions": (a.aggregation_scheme, a.convex_and_smooth, a.somebody_reports),
}


def no_slope(of: Any, at: Any, best: Any, constant: Any) -> list[Term]:
    """Return terms: if gradients are constant, they are equal to that at the minimiser."""
    squares = ((-constant * (constant + 1), square(at - best)), (constant, square(at - best)))
    return [Term(ONE, lipschitz_gradient(of, at, best)), *(Term(number, why) for number, why in squares)]


PREMISES: dict[str, tuple[Claim, Certificate, Attempt]] = {
    "minimisers of the clients": (
        Claim(
            id="t:premise",
            lhs=D + norm_sq(Gradient(F, x)),
            rhs=D,
            where={**CLIENTS, D: q.client_optimum_distance, z: q.client_optimum},
            **AT_POINTS,
        ),
        Certificate(claim="t:premise", links=[no_slope(F, x, z, delta)]),
        terms(
            {"links": [[Term(ONE, assumption("t:premise, relation 1"))]], "lemmas": ["t:premise"]},
            "need not exist",
            LINES,
            lhs=norm_sq(Gradient(F, x)),
            rhs=0,
            where=CLIENTS,
            **AT_POINTS,
        ),
    ),
    "minimisers of the updates": (
        Claim(id="t:premise", lhs=gap + slope, rhs=gap, where={**UPDATES, gap: q.round_gap_at_step}, **OF_UPDATES),
        Certificate(claim="t:premise", links=[no_slope(u.objective, u.virtual, u.round_optimum, L)]),
        sums(
            {"links": [[Part(ONE, "t:premise")]]},
            "need not exist",
            LINES,
            ALONE,
            lhs=slope,
            rhs=0,
            where=UPDATES,
            **OF_UPDATES,
        ),
    ),
}


@pytest.mark.parametrize("name", PREMISES)
def test_minimisers_that_cancel(name: str) -> None:
    """The premise is proved, but does not apply to affine objectives, which have no minimiser."""
    premise, why, one = PREMISES[name]
    proved: Proof = check_certificate(premise, why)
    assert proved.verdict == "proved"
    run = {"problem": {"kind": "quadratic", **LINES}, "algorithm": {"local_step_size": "1/4", "rounds": 2, **ALONE}}
    assert check(premise, parse_run(run, RATIONAL)).holds is None
    found = check_certificate(one.claim, one.certificate, lambda _name: proved)
    assert found.verdict == "broken"
    assert any(one.because in step.text for step in found.steps if not step.holds)
    assert one.fails

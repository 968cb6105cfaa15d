"""O(.) statements: exact limits refute, ladders support."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp
from flint import fmpq

from fedtheory import RATIONAL, Claim, InputError, Rate, norm_sq, parse_run
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.federation.problem import quadratic
from fedtheory.language import quantities as q
from fedtheory.language.registry import find
from verify.check import check
from verify.check.escalation import check_decided
from verify.early_decisions import Decision
from verify.evaluated_instances import Outcome
from verify.instances import Instance
from verify.verdict import _find_verdict

T, tau, L = sp.symbols("T tau L", positive=True)
error = q.average_suboptimality.symbol
WHERE = {T: q.rounds, tau: q.local_steps, L: q.smoothness, error: q.average_suboptimality}
NOISY = Instance("steady quadratics", 4).run()
QUIET = next(
    run
    for run in (Instance("steady quadratics", n).run() for n in range(60))
    if run.noise_variance.value == 0 and run.dissimilarity_sq.value == 0 and run.initial_distance_sq > 0
)


def test_a_positive_limit_refutes_a_vanishing_order() -> None:
    """With noise, the average error at a constant step size tends to a positive rational number."""
    assert NOISY.noise_variance.value > 0
    found = check(find("renard2022:goal-rate"), NOISY)
    assert found.holds is False
    assert found.rate is not None
    assert found.rate.limit is not None
    assert found.rate.limit > 0


def test_the_exact_limit_is_where_the_ladder_goes() -> None:
    """The levels approach the exact limit at the rate 1/T."""
    found = check(find("renard2022:goal-rate"), NOISY).rate
    assert found is not None
    gaps = [abs(level.measured - found.limit) for level in found.levels]
    assert gaps[-1] * 3 < gaps[-2]


def test_without_noise_and_drift_the_rate_holds() -> None:
    """One over T is right when the error tends to zero."""
    found = check(find("renard2022:goal-rate"), QUIET)
    assert found.holds is True
    assert found.rate is not None
    assert found.rate.slope is not None
    assert found.rate.slope < -0.9


APART: dict[str, Any] = {
    "problem": {
        "kind": "quadratic",
        "hessians": [[["2"]], [["4"]]],
        "linear": [["1/2"], ["7"]],
        "start": ["0"],
        "noise": ["4", "4"],
    },
    "algorithm": {"name": "fedavg", "local_step_size": "1/32", "local_steps": 4, "rounds": 1},
}
"""Two curvatures: the clients' gradients differ by no more than on a ball."""


def test_constants_are_those_of_the_ladder() -> None:
    """Constants are those of the whole ladder, not of its first run, whose ball may be smaller."""
    claim, run = find("renard2022:thm-2.1.rate.tuned"), parse_run(APART, RATIONAL)
    found = check(claim, run)
    assert found.holds is True
    assert found.rate == check(claim, run.with_step_factor(RATIONAL.number("1/64", ""))).rate


def test_constants_that_grow_with_the_horizon_are_none() -> None:
    """A ball for one round is smaller than that of all rounds, which would make the order of ever larger numbers."""
    short = APART | {"algorithm": APART["algorithm"] | {"local_steps": 1}}
    run = parse_run(short, RATIONAL)
    assert check(find("renard2022:goal-rate"), run).applicable  # has no constants
    found = check(find("renard2022:thm-2.1.rate"), run)
    assert not found.applicable
    assert found.reason is not None
    assert "grows" in found.reason


def test_ladders_of_rounding_errors_are_climbed_in_rationals() -> None:
    """Clients that are alike drift apart in floats alone: the order of that is no one's."""
    eta = sp.Symbol("eta", positive=True)
    drift = Claim(id="t:drift", rate=Rate(q.max_drift, eta**2, eta), where={eta: q.local_step_size})
    instance = Instance("steady quadratics", 16)
    rounded = check(drift, instance.run().as_floats())
    assert rounded.holds is None
    outcome = Outcome(drift, instance, True, True, None, False, None, (False, False, 0, 0, 0), 0.0)
    assert _find_verdict(drift, [outcome], Decision()).verdict == "asymptotic"
    settled = check_decided(drift, instance.run(), instance.run().as_floats())
    assert settled.holds is True
    assert settled.rate is not None
    assert settled.rate.is_zero


def test_rounding_errors_do_not_rise_over_an_order() -> None:
    """A linear rate stands although the last levels are squares of rounding errors; one that is too fast does not."""
    eta, mu = sp.symbols("eta mu", positive=True)
    where = {T: q.rounds, tau: q.local_steps, eta: q.local_step_size, mu: q.strong_convexity}
    run = Instance("steady quadratics", 41).run().as_floats()

    def held(order: sp.Expr) -> bool | None:
        return check(Claim(id="t:linear", rate=Rate(q.final_distance_sq, order, T), where=where), run).holds

    assert held((1 - eta * mu) ** (2 * T)) is True
    assert held((1 - eta * mu) ** (3 * T)) is None


def test_a_stated_constant_is_checked_on_every_level() -> None:
    """A constant that is too small refutes; the theorem's own constant does not."""
    claim = find("renard2022:goal-rate.tuned")
    assert claim.rate is not None
    assert check(claim, NOISY).holds is True
    tiny = Rate(
        claim.rate.measured, claim.rate.order, claim.rate.variable, claim.rate.step_size, constant=sp.Rational(1, 10**6)
    )
    assert check(Claim(id="t:tiny", rate=tiny, where=claim.where), NOISY).holds is False


def test_an_order_that_does_not_vanish_is_not_refuted_by_a_limit() -> None:
    """The average error is O(1)."""
    assert check(Claim(id="t:bounded", rate=Rate(error, sp.Integer(1), T), where=WHERE), NOISY).holds is True


def test_a_quantity_that_vanishes_is_not_refuted() -> None:
    """The last error of a quiet run vanishes; nothing takes its value at the run's own horizon for a limit."""
    last = q.final_suboptimality.symbol
    claim = Claim(id="t:last", rate=Rate(last, 1 / T, T), where={T: q.rounds, last: q.final_suboptimality})
    found = check(claim, QUIET)
    assert found.holds is True
    assert found.rate is not None
    assert found.rate.limit is None


def test_too_fast_a_rate_is_refuted() -> None:
    """The error of a quiet run is not O(1/T^2): in rationals by its limit, in floats the ladder is evidence against."""
    claim = Claim(id="t:fast", rate=Rate(error, 1 / T**2, T), where=WHERE)
    found = check(claim, QUIET)
    assert found.holds is False
    assert found.rate is not None
    assert found.rate.growth is not None
    assert found.rate.growth.power == -1
    in_floats = check(claim, QUIET.as_floats())
    assert in_floats.holds is None
    assert in_floats.rate is not None
    assert in_floats.rate.reason(claim.in_words) == "the ratio rises like T^1.00: evidence against"


@pytest.mark.parametrize("measured", [sp.Symbol("rho") / T, sp.sin(T), norm_sq(sp.Symbol("rho"))])
def test_rates_without_meaning_are_refused(measured: sp.Expr) -> None:
    """Unbound symbols, unknown functions and vectors in a rate are input errors."""
    with pytest.raises(InputError, match="t:odd"):
        check(Claim(id="t:odd", rate=Rate(measured, 1 / T, T), where=WHERE), QUIET)


N = sp.Symbol("N", positive=True)
GENTLE = [Instance("gentle quadratics", number).run().as_floats() for number in range(12)]
SPEEDUP = [run for run in GENTLE if run.noise_variance.value > 0 and run.initial_distance_sq > 0]


def _with_order(claim_id: str, order: Any) -> Claim:
    """Return a claim of liu2022 with another order in its own symbols N and T."""
    claim = find(claim_id)
    assert claim.rate is not None
    time, clients = claim.rate.variables
    rate = replace(claim.rate, order=sp.sympify(order).subs({T: time, N: clients}, simultaneous=True), variable=time)
    return replace(claim, id="t:speedup", rate=rate, verdict=None)


@pytest.mark.parametrize("claim_id", ["liu2022:cor-4.K1", "liu2022:cor-4.K"])
@pytest.mark.parametrize("run", SPEEDUP)
def test_too_fast_an_order_in_the_clients_is_not_supported(claim_id: str, run: Run) -> None:
    """1/sqrt(NT) stands; no larger power of N does, whatever the rate in T."""
    for order, holds in (
        (1 / sp.sqrt(N * T), True),
        (1 / (N * sp.sqrt(T)), None),
        (1 / (N**2 * sp.sqrt(T)), None),
        (1 / (N**6 * sp.sqrt(T)), None),
    ):
        assert check(_with_order(claim_id, order), run).holds is holds, order


def test_the_slope_in_the_clients_of_a_stationary_error() -> None:
    """Clients that all want 0 with independent noise: the error at stationarity is eta sigma^2/((2 - eta) M)."""
    array = RATIONAL.array
    problem = quadratic(array([[[1]]]), array([[0]]), array([0]), noise=array([3]))
    run = Run(problem, fedavg(problem, rounds=1, local_step_size=fmpq(1, 2)))
    claim = Claim(id="t:noise", rate=Rate(q.limiting_distance_sq, 1 / N, N), where={N: q.clients})
    found = check(claim, run).rate
    assert found is not None
    assert found.holds is True
    assert [level.measured for level in found.levels] == [fmpq(1, 4**number) for number in range(4)]
    assert found.slope == pytest.approx(-1)
    assert check(replace(claim, rate=Rate(q.limiting_distance_sq, 1 / N**2, N)), run).holds is None


@pytest.mark.parametrize("number", range(4))
def test_copies_keep_the_constants(number: int) -> None:
    """More clients of the same kinds have the same objective, gap, noise, smoothness and dissimilarity."""
    run = Instance("gentle quadratics", number).run()
    more = run.with_copies(4)
    names = "smoothness initial_gap initial_distance noise_deviation gradient_dissimilarity mean_dissimilarity"
    for quantity in (getattr(q, name) for name in names.split()):
        assert quantity.measure(more) == quantity.measure(run), quantity.name
    assert q.clients.measure(more) == 4 * q.clients.measure(run)


def test_zero_is_of_every_order() -> None:
    """An error that is exactly zero is O of everything, in each variable."""
    array = RATIONAL.array
    problem = quadratic(array([[[1]]]), array([[0]]), array([0]))
    run = Run(problem, fedavg(problem, rounds=1, local_step_size=fmpq(1, 2)))
    rate = Rate(q.final_distance_sq, 1 / (N**6 * T**9), T)
    for each in (run, run.as_floats()):
        found = check(Claim(id="t:zero", rate=rate, where={N: q.clients, T: q.rounds}), each)
        assert found.holds is True
        assert found.rate is not None
        assert found.rate.is_zero

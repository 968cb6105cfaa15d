"""Exact limits that decide about O(.) statements."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
from flint import fmpq

from fedtheory import FLOAT, RATIONAL, Claim, Rate, parse_run
from fedtheory import assumptions as a
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.federation.problem import quadratic
from fedtheory.language import quantities as q
from verify.check import check
from verify.check.escalation import check_and_escalate
from verify.check.growth import Growth, find_growth

T, K, eta, L, M, D, sigma = sp.symbols("T K eta L M D sigma", positive=True)
WHERE = {
    T: q.rounds, K: q.iterations, eta: q.local_step_size, L: q.smoothness, M: q.clients, D: q.initial_distance,
    sigma: q.noise_deviation,
}  # fmt: skip


def _run(noise: int = 0, start: Any = 1, steps: int = 1, rounds: int = 1) -> Run:
    """Gradient descent on x^2 / 2 with steps of 1/2."""
    array = RATIONAL.array
    problem = quadratic(array([[[1]]]), array([[0]]), array([start]), noise=array([noise]))
    return Run(problem, fedavg(problem, rounds=rounds, local_step_size=fmpq(1, 2), local_steps=steps))


def _growth(measured: Any, order: Any, variable: Any, run: Run, conditions: Any = (), **keys: Any) -> Growth | None:
    rate = Rate(measured, sp.sympify(order), variable, **keys)
    return find_growth(Claim(id="t:rate", rate=rate, where=WHERE, conditions=conditions), run)


@pytest.mark.parametrize(
    "order", [1 / T**2, T ** sp.Rational(-3, 2), D / T**2 + 1 / (sp.sqrt(K) * T), 1 / (K * sp.sqrt(T))]
)
def test_the_mean_error_of_gradient_descent_is_of_order_one_over_the_rounds(order: sp.Expr) -> None:
    """T times it tends to 1/6, the sum of (1/4)^k / 2; orders with roots are compared as well."""
    found = _growth(q.average_suboptimality, order, T, _run())
    assert found == Growth(T, sp.oo, Fraction(-1), fmpq(1, 6))
    assert found.words(str) == "measured * T tends to 1/6 as T grows, and order * T to 0: no constant serves for all T"


@pytest.mark.parametrize("order", [1 / T, 1 / sp.sqrt(T), 1 / K + sigma / T, sp.S.One])
def test_orders_that_bound_it(order: sp.Expr) -> None:
    """The ratio stays bounded, which holds as well where a ladder ends before its slope has settled."""
    found = _growth(q.average_suboptimality, order, T, _run())
    assert found is not None
    assert not found.exceeds
    slow = _run().with_step_factor(fmpq(1, 2**12))
    claim = Claim(id="t:slow", rate=Rate(q.average_suboptimality, order, T), where=WHERE)
    assert check(claim, slow).holds is True


def test_iterations_count_local_steps() -> None:
    """With two local steps a round, the errors of all steps sum up to 1/6 again, and K times their mean tends to it."""
    found = _growth(q.average_suboptimality, 1 / K**2, K, _run(steps=2))
    assert found == Growth(K, sp.oo, Fraction(-1), fmpq(1, 6))


def test_a_noise_floor_is_no_o_of_a_vanishing_order() -> None:
    """E|x^n|^2 tends to 1/3 for noise of variance 1 and steps of 1/2."""
    found = _growth(q.final_distance_sq, 1 / sp.sqrt(T), T, _run(noise=1))
    assert found == Growth(T, sp.oo, Fraction(0), fmpq(1, 3))
    assert found.words(str).startswith("measured tends to 1/3 as T grows, and order to 0")


def _unlike_clients() -> Run:
    """Two local steps on (x - 1)^2 / 2 and on (x + 2)^2 / 4: the fixed point is -eta / 6 + O(eta^2)."""
    array = RATIONAL.array
    problem = quadratic(array([[[1]], [[fmpq(1, 2)]]]), array([[1], [-1]]), array([1]))
    return Run(problem, fedavg(problem, rounds=1, local_step_size=fmpq(1, 64), local_steps=2))


@pytest.mark.parametrize(
    ("measured", "order", "run", "power", "coefficient"),
    [
        (q.limiting_distance_sq, eta**4, _unlike_clients(), 2, fmpq(1, 36)),
        (q.limiting_distance_sq, eta**2, _unlike_clients(), 2, fmpq(1, 36)),
        (q.limiting_mean_distance_sq, eta**3, _unlike_clients(), 2, fmpq(1, 36)),
        (q.limiting_model_suboptimality, eta**2, _run(noise=1), 1, fmpq(1, 4)),
    ],
)
def test_stationary_errors_are_series_in_the_step_size(
    measured: q.RunQuantity, order: sp.Expr, run: Run, power: int, coefficient: fmpq
) -> None:
    """The first coefficient of the series decides: the squared bias of local steps, or the noise of variance 1."""
    found = _growth(measured, order, eta, run)
    assert found == Growth(eta, sp.S.Zero, Fraction(power), coefficient, exceeds=order != eta**power)


def test_the_distance_stays_as_steps_shrink() -> None:
    """With a fixed number of rounds the distance tends to D^2, which no power of the step size does."""
    run = _run(start=fmpq(17, 4), rounds=3)
    found = _growth(q.final_distance_sq, eta**3, eta, run, conditions=[eta <= 1 / (4 * L)])
    assert found == Growth(eta, sp.S.Zero, Fraction(0), fmpq(289, 16))
    assert found.words(str).startswith("measured tends to 289/16 as eta tends to 0, and order to 0")


def test_powers_of_the_step_size() -> None:
    """One noisy step from the optimum moves by eta^2 in the square; roots of it are compared by their powers."""
    run = _run(noise=1, start=0)
    assert _growth(q.final_distance_sq, eta**3, eta, run) == Growth(eta, sp.S.Zero, Fraction(2), fmpq(1))
    bounded = _growth(q.final_distance_sq, eta**2, eta, run)
    assert bounded is not None
    assert not bounded.exceeds


def test_a_root_of_what_is_measured() -> None:
    """The root of the squared distance is like eta: its order is known, its coefficient is not looked for."""
    distance = sp.Symbol("d", positive=True)
    claim = Claim(
        id="t:root", rate=Rate(sp.sqrt(distance), eta**2, eta), where={**WHERE, distance: q.final_distance_sq}
    )
    found = find_growth(claim, _run(noise=1, start=0))
    assert found == Growth(eta, sp.S.Zero, Fraction(1), None)
    assert found.words(str).startswith("measured / eta tends to a positive number as eta tends to 0")


def test_a_difference_from_the_limit() -> None:
    """The mean error less its limit is like -4/9 in T times its half: the start at the optimum is better than most."""
    error, limit = q.average_suboptimality.symbol, q.limiting_suboptimality.symbol
    where = {**WHERE, error: q.average_suboptimality, limit: q.limiting_suboptimality}
    claim = Claim(id="t:fast", rate=Rate(error - limit, 1 / T**3, T), where=where)
    found = find_growth(claim, _run(noise=1, start=0))
    # The errors after k = 1, 2, ... steps are (1 - (1/4)^k) / 6, less than 1/6 by 1/18 in all.
    assert found == Growth(T, sp.oo, Fraction(-1), fmpq(1, 18))


def test_rates_without_an_exact_limit() -> None:
    """Variable-dependent step sizes, stated constants, floats, more clients and exponentials have no exact limit."""
    run = _run(noise=1)
    assert _growth(q.average_suboptimality, 1 / T, T, run, step_size=1 / sp.sqrt(T)) is None
    assert _growth(q.average_suboptimality, 1 / T, T, run, constant=sp.S.One) is None
    assert _growth(q.average_suboptimality, 1 / T, T, run.as_floats()) is None
    assert _growth(q.average_suboptimality, 1 / M**2, M, run) is None
    assert _growth(q.average_suboptimality, (1 - eta) ** T, T, run) is None


def test_a_condition_that_excludes_the_limit() -> None:
    """Steps that stay above a number do not vanish: nothing is refuted by steps that do."""
    assert _growth(q.final_distance_sq, eta**3, eta, _run(), conditions=[eta >= sp.Rational(1, 10**9)]) is None
    assert _growth(q.average_suboptimality, 1 / T**2, T, _run(), conditions=[T <= 10**9]) is None


def test_an_assumption_that_fails_at_the_limit() -> None:
    """A step size tied to the horizon is no longer that of the claim where the horizon alone grows."""
    run = Run(_run().problem, fedavg(_run().problem, rounds=4, local_step_size=fmpq(1, 2)))
    rate = Rate(q.average_suboptimality, 1 / T**2, T)
    tied = Claim(id="t:tied", rate=rate, where=WHERE, assumptions=(a.plain_speedup_step,))
    assert find_growth(tied, run) is None
    assert find_growth(Claim(id="t:free", rate=rate, where=WHERE), run) is not None


SQUARE = Claim(
    id="t:square",
    rate=Rate(q.average_suboptimality, 1 / T**2, T),
    where={T: q.rounds},
    assumptions=(a.full_gradients, a.one_client, a.convex_and_smooth),
)
RUN: dict[str, Any] = {
    "problem": {"kind": "quadratic", "hessians": [[["1"]]], "linear": [["0"]], "start": ["1"]},
    "algorithm": {"name": "fedavg", "local_step_size": "1/2", "local_steps": 1, "rounds": 4},
}


def test_ladders_in_floats_are_decided_in_rationals() -> None:
    """The ladder of floats has a ratio that rises like T; the exact limit refutes, and no word is said of rounding."""
    found = check_and_escalate(SQUARE, parse_run(RUN, FLOAT), lambda: parse_run(RUN, RATIONAL))
    assert found.holds is False
    assert found.decided_in == "in rationals"
    assert found.rate is not None
    assert found.rate.growth == Growth(T, sp.oo, Fraction(-1), fmpq(1, 6))
    assert [level.variable for level in found.rate.levels] == [1, 4, 16, 64, 256, 1024, 4096]
    assert found.rate.ladders[0].rise == pytest.approx(1, abs=1e-3)
    assert found.rate.ladders[0].describe_rise(str) == "the ratio rises like T^1.00"
    ratios = found.rate.ladders[0].ratios
    assert ratios[:2] == pytest.approx((1 / 8, 85 / 128))
    assert ratios[-1] == pytest.approx(2048 / 3)


def test_a_check_in_rationals_climbs_the_ladder_as_well() -> None:
    found = check(SQUARE, parse_run(RUN, RATIONAL))
    assert found.holds is False
    assert found.rate is not None
    assert [level.measured for level in found.rate.levels][:2] == [fmpq(1, 8), fmpq(85, 2048)]
    assert found.rate.ladders[0].is_rising

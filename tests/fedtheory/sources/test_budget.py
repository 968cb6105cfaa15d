"""Gradient descent under a budget: costs, intervals as rounds of the update rule, choice of tau."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory import RATIONAL, InputError, Problem, Run, fedavg, quadratic
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.problem import least_squares
from fedtheory.sources.lecture27.budget import (
    Budget,
    BudgetedRun,
    Controller,
    Estimates,
    compare,
    descend_adaptively,
    descend_fixed,
)
from fedtheory.sources.lecture27.budget.controller import GROWTH, compute_drift_bounds

ETA = fmpq(1, 8)


def problem() -> Problem:
    """Return two different clients in the plane, with different weights, in rationals."""
    return quadratic(
        RATIONAL.array([[[2, 0], [0, 1]], [[1, "1/2"], ["1/2", 3]]]),
        RATIONAL.array([[1, 0], [-1, 2]]),
        RATIONAL.array([3, -2]),
        weights=RATIONAL.array(["1/3", "2/3"]),
    )


def equal_clients() -> Problem:
    """Return two clients with the same objective, in floats."""
    return quadratic(np.array([np.diag([2.0, 1.0])] * 2), np.array([[1.0, 0.0]] * 2), np.array([3.0, -2.0]))


def estimates(lipschitz: float = 1, smoothness: float = 1, divergence: float = 1, distance_sq: float = 1) -> Estimates:
    """Return possible estimates of a run."""
    return Estimates(lipschitz, smoothness, divergence, distance_sq)


# Costs.


@pytest.mark.parametrize(
    ("costs", "key"),
    [
        (("-1", 1, 10), "local_cost"),
        ((1, "-1/2", 10), "aggregation_cost"),
        ((0, 0, 10), "local_cost"),
        (("x", 1, 10), "local_cost"),
        ((1, True, 10), "aggregation_cost"),
        ((1, 1, float("nan")), "budget"),
        ((1, "1/2", "149/100"), "budget"),
        ((1, 1, 0), "budget"),
        ((1, 1, 10**9), "budget"),
    ],
)
def test_bad_budgets(costs: tuple[object, ...], key: str) -> None:
    """Every invalid cost is an `InputError` with its name."""
    with pytest.raises(InputError) as raised:
        Budget(*costs)
    assert raised.value.key == key


def test_costs_are_exact() -> None:
    """Decimal costs are exact rationals."""
    budget = Budget(0.1, "1/5", 3)
    assert budget.compute_cost(3) == fmpq(1, 2)
    assert budget.limit_local_steps(100, fmpq(0)) == 28
    assert budget.limit_local_steps(5, fmpq(0)) == 5
    assert budget.limit_local_steps(100, fmpq(27, 10)) == 1
    assert budget.limit_local_steps(100, fmpq(14, 5)) == 0
    assert budget.limit_local_steps(100, fmpq(29, 10)) == 0


costs = st.fractions(0, 5, max_denominator=12).map(str)


@given(costs, costs, st.fractions(0, 40, max_denominator=30).map(str), st.integers(1, 12) | st.none())
@settings(max_examples=60, deadline=None)
def test_budget_is_never_exceeded(local: str, aggregation: str, total: str, local_steps: int | None) -> None:
    """The spent budget is exact, within the limit, and leaves less than one local update and one aggregation."""
    shortest = fmpq_of(local) + fmpq_of(aggregation)
    if shortest == 0 or fmpq_of(total) < shortest:
        with pytest.raises(InputError):
            Budget(local, aggregation, total)
        return
    if fmpq_of(total) > 60 * shortest:
        return
    budget, floats = Budget(local, aggregation, total), problem().as_floats()
    if local_steps is None:
        run = descend_adaptively(floats, 0.125, budget, longest=30)
    else:
        run = descend_fixed(floats, 0.125, budget, local_steps)
        assert set(run.local_steps[:-1]) <= {local_steps}
    assert_accounts(run)


def fmpq_of(text: str) -> fmpq:
    """Return a rational from its text."""
    return RATIONAL.number(text, "text")


def assert_accounts(run: BudgetedRun) -> None:
    """Check that the budget spent is the cost of the intervals, and that no further interval could have been paid."""
    budget = run.budget
    for n, spent in enumerate(run.spent, start=1):
        assert spent == budget.local_cost * sum(run.local_steps[:n]) + budget.aggregation_cost * n
    assert run.spent[-1] <= budget.total < run.spent[-1] + budget.compute_cost(1)
    assert min(run.local_steps) >= 1
    assert len(run.local_steps) == len(run.spent) == len(run.suboptimality) == len(run.values)
    assert run.best == min(run.suboptimality) <= run.suboptimality[-1] == run.final


def test_last_interval_is_cut() -> None:
    """After two intervals of five steps, the rest of the budget pays for two more steps."""
    run = descend_fixed(problem(), ETA, Budget(1, "5/2", "199/10"), 5)
    assert run.local_steps == (5, 5, 2)
    assert run.spent == (fmpq(15, 2), fmpq(15), fmpq(39, 2))


def test_free_local_steps() -> None:
    """Without a cost of local steps every interval has all its steps."""
    assert descend_fixed(problem().as_floats(), 0.125, Budget(0, 2, 7), 4).local_steps == (4, 4, 4)


# Intervals as rounds of the update rule.


@pytest.mark.parametrize("local_steps", [1, 2, 3, 5, 8])
def test_intervals_are_rounds(local_steps: int) -> None:
    """Losses after aggregations are exactly those of FedAvg."""
    budget = Budget(1, 0, 4 * local_steps)
    run = descend_fixed(problem(), ETA, budget, local_steps)
    rounds = Run(problem(), fedavg(problem(), rounds=4, local_step_size=ETA, local_steps=local_steps)).trajectory
    assert run.suboptimality.tolist() == rounds.server_suboptimality[1:].tolist()
    assert run.values.tolist() == (run.suboptimality + problem().optimal_value).tolist()


def test_one_local_step_is_centralised_descent() -> None:
    """With tau = 1 the run is exactly gradient descent on F (lecture27:thm-1.remark-zero)."""
    here, losses = problem(), []
    model = here.start
    for _ in range(6):
        model = model - ETA * (here.hessian @ model - here.mean_linear)
        losses.append(here.value(model))
    assert descend_fixed(here, ETA, Budget(1, 1, 12), 1).values.tolist() == losses


@pytest.mark.parametrize("arithmetic", ["float", "rational"])
def test_adaptive_run_is_made_of_rounds(arithmetic: str) -> None:
    """The adaptive run is FedAvg with the reported local steps."""
    here = problem() if arithmetic == "rational" else problem().as_floats()
    run = descend_adaptively(here, ETA, Budget(1, 3, 40), longest=6, control=0.05)
    assert len(set(run.local_steps)) > 1
    start = here.start
    for steps, loss in zip(run.local_steps, run.suboptimality, strict=True):
        moved = replace(here, start=start)
        rounds = Run(moved, fedavg(moved, rounds=1, local_step_size=here.arithmetic.number(ETA, ""), local_steps=steps))
        expected = rounds.trajectory.server_suboptimality[1]
        assert loss == (expected if arithmetic == "rational" else pytest.approx(expected, abs=1e-12))
        start = rounds.trajectory.server_mean[1]


def test_noise_is_refused() -> None:
    """The controller rejects noisy gradients."""
    noisy = quadratic(problem().hessians, problem().linear, problem().start, noise=RATIONAL.array([1, 1]))
    data = ClientData((np.eye(2),), (np.ones(2),))
    for refused in (noisy.as_floats(), least_squares(data, np.zeros(2), batch=1)):
        with pytest.raises(InputError, match="full gradients"):
            descend_adaptively(refused, 0.125, Budget(1, 1, 10))


def test_bad_arguments() -> None:
    """Step sizes, local steps, longest and control are checked."""
    here, budget = problem().as_floats(), Budget(1, 1, 10)
    for wrong in (
        lambda: descend_fixed(here, 0, budget, 1),
        lambda: descend_fixed(here, 0.125, budget, 0),
        lambda: descend_adaptively(here, 0.125, budget, longest=0),
        lambda: descend_adaptively(here, 0.125, budget, control=0.0),
        lambda: descend_adaptively(here, 0.125, budget, control=float("nan")),
    ):
        with pytest.raises(InputError):
            wrong()


def test_divergence_ends_a_run() -> None:
    """With a too large step size the run ends with an infinite loss, and the comparison continues."""
    comparison = compare(problem().as_floats(), 50.0, Budget(1, 1, 2000))
    for run in (*comparison.fixed.values(), comparison.adaptive):
        assert run.diverges
        assert np.isinf(run.final)
        assert run.spent[-1] <= 2000
    assert not compare(problem().as_floats(), 0.125, Budget(1, 1, 50)).adaptive.diverges


# Estimates.


def test_estimates_are_those_of_the_clients() -> None:
    """rho, beta, delta and the distance after one interval, by their definitions."""
    here = problem().as_floats()
    shown = descend_adaptively(here, 0.125, Budget(1, 1, 2)).estimates
    local = here.start - 0.125 * here.gradients(np.stack([here.start] * 2))
    model = here.weights @ local
    lengths = np.linalg.norm(local - model, axis=1)

    def loss(client: int, point: np.ndarray) -> float:
        return float(point @ here.hessians[client] @ point / 2 - here.linear[client] @ point)

    changes = [abs(loss(i, local[i]) - loss(i, model)) for i in range(2)]
    gradients = here.gradients(np.stack([model] * 2))
    bent = np.linalg.norm(here.gradients(local) - gradients, axis=1)
    apart = np.linalg.norm(gradients - here.weights @ gradients, axis=1)
    expected = Estimates(
        lipschitz=here.weights @ (changes / lengths),
        smoothness=here.weights @ (bent / lengths),
        divergence=here.weights @ apart,
        distance_sq=(model - here.start) @ (model - here.start),
    )
    assert len(shown) == 1
    for name, value in vars(expected).items():
        assert getattr(shown[0], name) == pytest.approx(value, rel=1e-12)


def test_smoothness_is_between_the_curvatures() -> None:
    """beta is between the clients' smallest and largest eigenvalues."""
    here = problem().as_floats()
    spectra = np.linalg.eigvalsh(here.hessians)
    for shown in descend_adaptively(here, 0.125, Budget(1, 2, 60)).estimates:
        assert spectra.min() - 1e-9 <= shown.smoothness <= spectra.max() + 1e-9


def test_equal_clients_drift_nowhere() -> None:
    """With equal clients rho and beta are 0/0, delta is zero, and local steps grow at the maximal rate."""
    run = descend_adaptively(equal_clients(), 0.125, Budget(1, 1, 400))
    assert {(shown.lipschitz, shown.smoothness, shown.divergence) for shown in run.estimates} == {(0.0, 0.0, 0.0)}
    assert run.local_steps[:5] == (1, 1, GROWTH, 100, 100)


def test_start_at_the_optimum() -> None:
    """A start at the optimum causes no division by zero."""
    here = equal_clients()
    run = descend_adaptively(replace(here, start=here.optimum), 0.125, Budget(1, 1, 30))
    assert run.final == 0


def test_the_first_intervals_have_one_local_step() -> None:
    """Estimates are sent with the next models, so that the first two intervals have one local step."""
    for aggregation in (0, 1, 1000):
        assert descend_adaptively(problem(), ETA, Budget(1, aggregation, 3 + 3 * aggregation)).local_steps[:2] == (1, 1)


# Choice of tau.


@given(st.floats(0.001, 1), st.just(0.0) | st.floats(1e-6, 20), st.just(0.0) | st.floats(1e-6, 20))
def test_drift_bound(step_size: float, smoothness: float, divergence: float) -> None:
    """h(0) = h(1) = 0 exactly; h is the closed form, convex and increasing (lecture27:h)."""
    bounds = compute_drift_bounds(12, step_size, smoothness, divergence)
    assert bounds.shape == (13,)
    assert bounds[0] == bounds[1] == 0
    assert (np.diff(bounds) >= 0).all()
    assert (np.diff(bounds, 2) >= -1e-12 * bounds.max()).all()
    if smoothness > 0.01:
        x = np.arange(13)
        closed = divergence / smoothness * ((step_size * smoothness + 1) ** x - 1) - step_size * divergence * x
        assert bounds == pytest.approx(closed, rel=1e-6, abs=1e-9 * max(1, divergence / smoothness))


def test_long_drift_bounds_do_not_fail() -> None:
    """Powers beyond double precision are infinite, and tau is not chosen because of them."""
    assert np.isinf(compute_drift_bounds(1000, 1.0, 1e6, 1.0)[-1])
    assert (compute_drift_bounds(1000, 1.0, 1e6, 0.0) == 0).all()
    assert Controller(1.0, Budget(1, 1, 100), 1000).choose_local_steps(estimates(smoothness=1e6), 100) == 1


@given(st.integers(1, 200), st.integers(1, 30), st.floats(0.001, 100))
def test_without_divergence_tau_is_as_large_as_allowed(longest: int, before: int, distance_sq: float) -> None:
    """With delta = 0 tau is as large as allowed."""
    controller = Controller(0.1, Budget(1, "1/7", 100), longest)
    shown = estimates(divergence=0, distance_sq=distance_sq)
    assert controller.choose_local_steps(shown, before) == min(longest, GROWTH * before)


@given(st.floats(0, 10), st.floats(0, 10), st.floats(0, 10), st.floats(0, 1e6), st.integers(1, 100))
def test_free_aggregations(lipschitz: float, smoothness: float, divergence: float, apart: float, before: int) -> None:
    """With b = 0 local steps cannot help, so that tau = 1."""
    controller = Controller(0.1, Budget("1/3", 0, 100))
    assert controller.choose_local_steps(Estimates(lipschitz, smoothness, divergence, apart), before) == 1


def test_dearer_aggregations_never_shorten_intervals() -> None:
    """tau grows with b and shrinks with delta."""
    by_cost = [Controller(0.1, Budget(1, b, 5000)).choose_local_steps(estimates(), 100) for b in (0, 1, 10, 100, 1000)]
    assert by_cost == sorted(by_cost)
    assert by_cost[0] < by_cost[-1]
    controller = Controller(0.1, Budget(1, 10, 5000))
    by_divergence = [controller.choose_local_steps(estimates(divergence=d), 100) for d in (0, 0.01, 0.1, 1, 10)]
    assert by_divergence == sorted(by_divergence, reverse=True)


def test_choice_is_the_minimiser_of_the_bound() -> None:
    """The choice minimises the published bound (lecture27:thm-2.explicit), with a given phi."""
    eta, phi, budget = 0.05, 0.2, Budget(2, 7, 900)
    shown = Estimates(lipschitz=1.5, smoothness=2.5, divergence=0.4, distance_sq=99.0)

    def bound(tau: int) -> float:
        h = 0.4 / 2.5 * ((eta * 2.5 + 1) ** tau - 1) - eta * 0.4 * tau
        inverse = (2 * tau + 7) / (900 * tau)
        half = inverse / (2 * eta * phi)
        return half + (half**2 + 1.5 * h / (eta * phi * tau)) ** 0.5 + 1.5 * h

    controller = Controller(eta, budget, control=phi)
    assert controller.compute_bounds(shown, 100) == pytest.approx([bound(tau) for tau in range(1, 101)], rel=1e-9)
    assert controller.choose_local_steps(shown, 100) == min(range(1, 101), key=bound)


def test_comparison() -> None:
    """A comparison has one run for each fixed number, with equal budgets; the best has the smallest final loss."""
    comparison = compare(problem(), ETA, Budget(1, 4, 60), fixed=(1, 3, 50))
    assert set(comparison.fixed) == {1, 3, 50}
    assert comparison.fixed[50].local_steps == (50, 2)
    assert comparison.fixed[comparison.best_fixed].final == min(run.final for run in comparison.fixed.values())
    assert_accounts(comparison.adaptive)
    assert len(comparison.adaptive.estimates) == len(comparison.adaptive.local_steps)

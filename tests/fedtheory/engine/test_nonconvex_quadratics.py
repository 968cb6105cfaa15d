"""Nonconvex quadratics: quantities without a minimiser are exact; others name the missing minimiser of F."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from fedtheory.arithmetic import FLOAT, RATIONAL, Arithmetic, plain_float, plain_floats
from fedtheory.engine.certified_run import certify_run
from fedtheory.engine.run import Run
from fedtheory.errors import FedtheoryError, NoMinimiser, NotApplicable
from fedtheory.federation.problem import quadratic
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.quantities import RunQuantity
from fedtheory.runfile import parse_run
from fedtheory.sources.vlaski2023.small_steps import compute_small_step_limit

Keys = dict[str, Any]
Numbers = list[Any]

BENT = {"hessians": [[["1"]], [["-1/2"]]], "linear": [["1"], ["0"]], "start": ["3"]}
"""F = x^2/8 - x/2, with the minimiser 2."""
SADDLE = {"hessians": [[["1", "0"], ["0", "-1"]]] * 2, "linear": [["1", "0"], ["0", "1"]], "start": ["3", "1"]}
"""F = (x^2 - y^2)/2 - (x + y)/2, with the saddle (1/2, -1/2)."""
SLOPE = {"hessians": [[["1"]], [["-1"]]], "linear": [["1"], ["0"]], "start": ["3"]}
"""F = -x/2, without a stationary point."""
PROBLEMS: dict[str, Keys] = {"bent": BENT, "saddle": SADDLE, "slope": SLOPE}
UNBOUNDED = {"saddle": SADDLE, "slope": SLOPE}


def run_of(problem: Keys, arithmetic: Arithmetic = RATIONAL, **algorithm: Any) -> Run:
    """Return a run with two local steps of 1/4 in each of three rounds, by default."""
    plan = {"local_step_size": "1/4", "local_steps": 2, "rounds": 3, **algorithm}
    return parse_run({"problem": {"kind": "quadratic", **problem}, "algorithm": plan}, arithmetic)


def followed(run: Run) -> list[list[tuple[Numbers, Numbers]]]:
    """Return the clients' iterates and their average for each round and k, by the update rule only."""
    problem, work = run.problem, run.algorithm.work
    model, rounds = list(problem.start), []
    for _ in range(run.algorithm.rounds):
        local, inside = [list(model) for _ in range(problem.clients)], []
        for k in range(work.steps[0] + 1):
            model = [sum(p * x[c] for p, x in zip(problem.weights, local, strict=True)) for c in range(len(model))]
            inside.append(([list(x) for x in local], model))
            if k < work.steps[0]:
                for i, (h, b) in enumerate(zip(problem.hessians, problem.linear, strict=True)):
                    local[i] = [
                        x - work.step_sizes[i] * g for x, g in zip(local[i], slope(h, b, local[i]), strict=True)
                    ]
        rounds.append(inside)
    return rounds


def slope(hessian: Sequence[Any], linear: Sequence[Any], at: Numbers) -> Numbers:
    """Return H x - b."""
    return [sum(h * x for h, x in zip(row, at, strict=True)) - b for row, b in zip(hessian, linear, strict=True)]


def squared(vector: Sequence[Any]) -> Any:
    return sum(x * x for x in vector)


@pytest.mark.parametrize("name", PROBLEMS)
def test_gradients_drift_and_values_follow_the_update_rule(name: str) -> None:
    """Gradients, drift and values of the server's models and averaged iterates agree, in rationals and in floats."""
    run = run_of(PROBLEMS[name])
    problem, rounds = run.problem, followed(run)
    hessian, linear = problem.hessian, problem.mean_linear
    models = [inside[0][1] for inside in rounds] + [rounds[-1][-1][1]]
    gradients = [squared(slope(hessian, linear, model)) for model in models]
    inner = [[squared(slope(hessian, linear, mean)) for _, mean in inside] for inside in rounds]
    drift = [[[squared([u - v for u, v in zip(x, mean, strict=True)]) for x in local] for local, mean in inside]
             for inside in rounds]  # fmt: skip
    descent = problem.value(RATIONAL.array(models[0])) - problem.value(RATIONAL.array(models[-1]))
    trajectory = run.trajectory
    assert trajectory.server_mean.tolist() == models
    assert trajectory.server_gradient_sq.tolist() == gradients
    assert trajectory.local_gradient_sq.tolist() == inner
    # For clients of equal weight whose server averages them, virtual iterates are averaged iterates.
    assert run.virtual_gradient_sq.tolist() == inner
    assert q.objective_gradient_sq.on(run)[..., 0].tolist() == [each[:-1] for each in inner]
    assert trajectory.drift.tolist() == drift
    assert q.total_descent.on(run) == descent
    floats = run_of(PROBLEMS[name], FLOAT)
    assert floats.trajectory.server_gradient_sq == pytest.approx(plain_floats(RATIONAL.array(gradients)), rel=1e-12)
    assert floats.trajectory.mean_local_gradient_sq == pytest.approx(
        plain_floats(run.trajectory.mean_local_gradient_sq), rel=1e-12
    )
    assert q.total_descent.on(floats) == pytest.approx(plain_float(descent), rel=1e-12)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize(
    "keys",
    [{"name": "fedavgm", "momentum": "0"}, {"clock": {"policy": "fedfix", "interval": "1", "times": ["1", "1"]}}],
    ids=["definition", "clock"],
)
def test_every_engine_finds_the_same(name: str, keys: Keys) -> None:
    """Momentum zero, and a clock with all clients in each update, give FedAvg."""
    plain, other = run_of(PROBLEMS[name]), run_of(PROBLEMS[name], **keys)
    for measured in ("server_mean", "server_gradient_sq", "local_gradient_sq", "drift"):
        assert getattr(other.trajectory, measured).tolist() == getattr(plain.trajectory, measured).tolist(), measured
    assert q.total_descent.on(other) == q.total_descent.on(plain)


@pytest.mark.parametrize("name", PROBLEMS)
def test_enclosures_contain_the_exact_values(name: str) -> None:
    """Enclosures of a run contain its exact values."""
    run = run_of(PROBLEMS[name] | {"noise": "1"})
    enclosed = certify_run(run)
    for quantity in (q.average_gradient_sq, q.average_local_gradient_sq, q.total_descent, q.max_drift):
        assert plain_float(quantity.on(enclosed)) == pytest.approx(plain_float(quantity.on(run)), rel=1e-12), name
    if not run.problem.is_bounded_below:
        with pytest.raises(NoMinimiser):
            q.final_suboptimality.on(enclosed)


def test_noise_expands_where_curvature_is_negative() -> None:
    """For F = -x^2/2 a step of 1/2 maps x to 3x/2 plus half of the noise."""
    run = run_of(
        {"hessians": [[["-1"]]], "linear": [["0"]], "start": ["2"], "noise": "1"},
        local_step_size="1/2",
        local_steps=1,
        rounds=2,
    )
    first = fmpq(9, 4) * 4 + fmpq(1, 4)
    assert run.trajectory.server_gradient_sq.tolist() == [4, first, fmpq(9, 4) * first + fmpq(1, 4)]
    assert run.attempted_trajectory.divergence is not None
    assert "F is unbounded below" in run.attempted_trajectory.divergence.reason


def test_a_minimiser_of_clients_that_are_not_convex() -> None:
    """F = x^2/8 - x/2 from 3 has x* = 2, F* = -1/2 and the gap 1/8; single clients have no minimiser."""
    run = run_of(BENT)
    assert run.problem.optimum.tolist() == [2]
    assert run.problem.optimal_value == fmpq(-1, 2)
    assert (run.initial_gap, run.initial_distance_sq) == (fmpq(1, 8), 1)
    assert run.trajectory.server_suboptimality[0] == fmpq(1, 8)
    assert compute_small_step_limit(run).tolist() == [0]
    with pytest.raises(NotApplicable, match="client's objective is not convex"):
        _ = run.problem.client_optima
    assert run.surrogate.optimum.tolist() == [0]
    with pytest.raises(NotApplicable, match="unbounded below"):
        run.surrogate._minimise(RATIONAL.array([0, 1]), run.problem.start)


def test_smoothness_is_the_largest_modulus() -> None:
    """The smoothness is the largest absolute eigenvalue of clients, rational or not, and of F."""
    problem = {"hessians": [[["1"]], [["-3"]]], "linear": [["0"], ["0"]], "start": ["1"]}
    for arithmetic in (RATIONAL, FLOAT):
        run = run_of(problem, arithmetic)
        assert run.smoothness == run.sample_smoothness == 3
        assert run.client_smoothness.tolist() == [1, 3]
        assert (run.objective_smoothness, run.smallest_curvature) == (1, -1)
        assert run.client_mean_square_smoothness.tolist() == [1, 9]
    irrational = {"hessians": [[["0", "1"], ["1", "-1"]]], "linear": [["0", "0"]], "start": ["1", "0"]}
    exact = run_of(irrational).smoothness
    # (1 + sqrt(5))/2, from above.
    assert 5 <= (2 * exact - 1) ** 2 < 5 + fmpq(1, 10**12)
    assert run_of(irrational, FLOAT).smoothness == pytest.approx((1 + 5**0.5) / 2, rel=1e-12)


@pytest.mark.parametrize("arithmetic", [RATIONAL, FLOAT], ids=["rational", "float"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_assumptions_of_convexity_fail(name: str, arithmetic: Arithmetic) -> None:
    """Convexity fails with the name of the client; smoothness holds, and no bounded region contains the run."""
    run = run_of(PROBLEMS[name], arithmetic)
    assert a.smooth.failure(run) is None
    for assumption in a.IMPLY_CONVEXITY - {a.least_squares_loss}:
        assert "is not convex" in (assumption.failure(run) or ""), assumption.name
    for quantity in (q.strong_convexity, q.client_strong_convexity):
        with pytest.raises(NotApplicable, match="is not convex"):
            quantity.on(run)
    with pytest.raises(NotApplicable, match="no bounded region"):
        _ = run.ball
    assert (a.bounded_dissimilarity.failure(run) is None) == (name == "saddle")
    assert "unbounded" in (a.bounded_second_moment.failure(run) or "")


FROM_OPTIMUM: tuple[RunQuantity, ...] = (
    q.initial_gap,
    q.initial_distance,
    q.final_suboptimality,
    q.final_distance_sq,
    q.average_suboptimality,
    q.mean_server_suboptimality,
    q.server_distance_sq,
    q.total_progress,
    q.virtual_distance_sq,
    q.noise_at_optimum,
    q.dissimilarity_at_optimum,
    q.comparator_suboptimality,
    q.optimal_value_gap,
    q.optimum_gradient,
    q.limiting_distance_sq,
)


@pytest.mark.parametrize("arithmetic", [RATIONAL, FLOAT], ids=["rational", "float"])
@pytest.mark.parametrize("name", UNBOUNDED)
def test_quantities_name_the_missing_minimiser(name: str, arithmetic: Arithmetic) -> None:
    """Quantities measured from a minimiser name it where F is unbounded below."""
    run = run_of(UNBOUNDED[name], arithmetic)
    for quantity in FROM_OPTIMUM:
        with pytest.raises(NoMinimiser, match=f"{quantity.name} has no value: F is unbounded below"):
            quantity.on(run)
    for measure in (lambda: run.problem.optimum, lambda: run.problem.optimal_value):
        with pytest.raises(NoMinimiser, match=r"x\* has no value"):
            measure()


@pytest.mark.parametrize("name", PROBLEMS)
def test_floats_and_rationals_agree_on_every_quantity(name: str) -> None:
    """Floats and rationals agree on the value, or on its absence."""
    exact, floats = run_of(PROBLEMS[name] | {"noise": "1"}), run_of(PROBLEMS[name] | {"noise": "1"}, FLOAT)
    for quantity in (entry for entry in vars(q).values() if isinstance(entry, RunQuantity)):
        found, near = (_value(quantity.on, run) for run in (exact, floats))
        assert (found is None) == (near is None), quantity.name
        if found is not None:
            assert plain_floats(near) == pytest.approx(plain_floats(found), rel=1e-8, abs=1e-9), quantity.name


def _value(measure: Callable[[Run], Any], run: Run) -> Any:
    try:
        return np.asarray(measure(run), dtype=object)
    except FedtheoryError:
        return None


def test_curvatures_that_cancel_leave_no_rounding() -> None:
    """With weights 1/10, 2/10, 7/10 of 7, 0 and -1 in floats, F is flat without rounding errors."""
    problem = quadratic(
        FLOAT.array([[[7]], [[0]], [[-1]]]),
        FLOAT.array([[0], [0], [0]]),
        FLOAT.array([2]),
        weights=FLOAT.array([0.1, 0.2, 0.7]),
    )
    assert problem.hessian.tolist() == [[0.0]]
    assert problem.optimum.tolist() == [2.0]

"""Guards of the engine on both sides of their thresholds: balls, growth, margins, sums of weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flint import fmpq
from loss_runs import loss_run, problem
from tiny_runs import quadratics

from fedtheory import FLOAT, RATIONAL, InputError, fedavg, quadratic
from fedtheory.engine.expected_smoothness import find_least_multiple
from fedtheory.engine.moments import MOST_EXACT_STEPS, Trajectory, is_too_long_for_rationals
from fedtheory.engine.region import Ball
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.federation.clock import Clock, FedFix
from fedtheory.sources.lecture27.budget import Budget, Controller, Estimates


def test_the_ball_of_steps_between_the_two_thresholds_grows() -> None:
    """2/(L + mu) < eta <= 2/L: curvatures 1 and 3 with eta = 3/5, where the second client's factor is -4/5.

    With noise of size 1 that changes its sign at every step, its model is 3 (1 - (4/5)^k) away after k of them,
    more than the radius 1 that noise over strong convexity would give.
    """
    run = quadratics([[["1"]], [["3"]]], [[0], [0]], [0], deviation=[0, 1], eta="3/5", steps=3).engine
    ball = run.ball
    assert isinstance(ball, Ball)
    assert ball.grows
    farthest = 3 * (1 - fmpq(4, 5) ** 3)
    assert 1 < farthest <= ball.radius == 3 * fmpq(3, 5)
    edge = quadratics([[["1"]], [["3"]]], [[0], [0]], [0], deviation=[0, 1], eta="1/2", steps=9).engine.ball
    assert isinstance(edge, Ball)
    assert (edge.radius, edge.grows) == (1, False)


class _Distances(Trajectory):
    """A trajectory with given distances."""

    def __init__(self, distances: list[float]) -> None:
        self.problem = quadratic(FLOAT.array([[[1.0]]]), FLOAT.array([[0.0]]), FLOAT.array([1.0]))
        self.moments = np.zeros((len(distances), 2, 2))
        self.moments[:, 1, 1] = distances


@pytest.mark.parametrize(("factor", "is_reported"), [(0.9, False), (1.9, False), (2.1, True), (5.0, True)])
def test_growth_in_the_last_quarter_is_reported(factor: float, is_reported: bool) -> None:
    """Growth is reported from twice the largest distance of the previous quarter, and of the start."""
    found = _Distances([1.0] * 12 + [3.0] * 6 + [3.0 * factor] * 6).growing()
    assert (found is not None) is is_reported
    if found is not None:
        assert found.reason == (
            f"E|x - x*|^2 is {3 * factor:.4g} times that of the start, and still grows: the step size is too large"
        )
    assert _Distances([4.0] + [1.0] * 17 + [factor] * 6).growing() is None
    assert _Distances([1.0] * 10 + [100.0] * 5).growing() is None


def test_a_multiple_found_in_floats_holds_in_rationals() -> None:
    """The margin covers rounding: c base - form is positive semidefinite for the float c, read as a rational."""
    generator = np.random.default_rng(3)
    for _ in range(60):
        roots = generator.integers(-4, 5, (2, 3, 3))
        form, base = (root @ root.T for root in roots)
        base = base + np.eye(3, dtype=int)
        found = find_least_multiple(FLOAT.array(form), FLOAT.array(base), FLOAT)
        multiple = fmpq(*float(found).as_integer_ratio())
        exact_form, exact_base = RATIONAL.array(form), RATIONAL.array(base)
        assert RATIONAL.is_psd(multiple * exact_base - exact_form)
        assert not form.any() or not RATIONAL.is_psd(multiple * fmpq(9999, 10000) * exact_base - exact_form)


@pytest.mark.parametrize("apart", [1e-6, -1e-6, 1e-8])
def test_weights_that_do_not_sum_to_one(apart: float) -> None:
    """Rounding of decimals is accepted in floats, and no other difference."""
    hessians, linear, start = FLOAT.array([[[1.0]]] * 3), FLOAT.array([[0.0]] * 3), FLOAT.array([1.0])
    shares = np.array([0.2, 0.3, 0.5])
    assert quadratic(hessians, linear, start, weights=shares + np.array([1e-11, 0, 0])).clients == 3
    with pytest.raises(InputError, match="sum to 1"):
        quadratic(hessians, linear, start, weights=shares + np.array([apart, 0, 0]))


@pytest.mark.parametrize(("smoothness", "expected"), [(0.0, 1200.0), (1.0, 1600.0), (2.0, 2400.0), (50.0, 2400.0)])
def test_the_control_that_is_estimated(smoothness: float, expected: float) -> None:
    """(20 |w - w(0)|)^2 / (1 - eta beta / 2) with |w - w(0)|^2 = 3 and eta = 1/2, where eta beta counts up to 1."""
    shown = Estimates(lipschitz=1.0, smoothness=smoothness, divergence=1.0, distance_sq=3.0)
    assert Controller(0.5, Budget(1, 1, 10)).compute_inverse_control(shown) == pytest.approx(expected, rel=1e-14)
    assert Controller(0.5, Budget(1, 1, 10), control=0.25).compute_inverse_control(shown) == 4


def test_a_finished_client_has_no_further_gradient() -> None:
    """The largest E|grad F_i|^2 is over the steps that a client takes, not the model that it ends with."""
    # Client 0 starts in its minimiser, and its one step, of three, takes it 1/2 away; client 1 starts 2 away.
    at = problem([(0, 0, 1, 0, 9), (1, 0, 1, 2, 9)], [0], noise=[1, 0])
    run = loss_run(at, rounds=1, size="1/2", steps=(1, 3))
    assert run.trajectory.largest_gradient_sq.tolist() == [0, 4]


def test_the_largest_number_that_fits_is_below_the_limit() -> None:
    """With curvature 2 functionals are four times as large as moments: 1e290 / 4 is the first that leaves the range."""
    run = quadratics([[["2"]]], [[0]], [1]).engine.as_floats()
    limit = 1e290 / 4
    assert run.trajectory._fits(np.array([limit / 2, np.nextafter(limit, 0), limit, 2 * limit])).tolist() == [
        True,
        True,
        False,
        False,
    ]


def test_the_curvatures_of_clients_by_hand() -> None:
    """diag(1, 2) and diag(3, 5): from 1 to 5, whichever client comes first."""
    clients = [[["1", "0"], ["0", "2"]], [["3", "0"], ["0", "5"]]]
    for hessians in (clients, clients[::-1]):
        exact = quadratics(hessians, [[0, 0], [0, 0]], [1, 1]).engine.problem
        assert (exact.smallest_curvature, exact.largest_curvature) == (1, 5)
        near = exact.as_floats()
        assert (near.smallest_curvature, near.largest_curvature) == pytest.approx((1, 5))


def test_runs_that_are_just_short_enough_for_rationals() -> None:
    """A run at the limit of rounds times local steps is accepted."""
    problem = quadratics([[["1"]]], [[0]], [1]).engine.problem
    for rounds, steps, is_too_long in ((MOST_EXACT_STEPS, 1, False), (MOST_EXACT_STEPS // 2, 2, False)):
        algorithm = fedavg(problem, rounds=rounds, local_step_size=fmpq(1, 2), local_steps=steps)
        assert is_too_long_for_rationals(problem, algorithm) is is_too_long
        longer = fedavg(problem, rounds=rounds + 1, local_step_size=fmpq(1, 2), local_steps=steps)
        assert is_too_long_for_rationals(problem, longer)


def test_weights_of_updates_without_reports() -> None:
    """Updates without reports have no normalised weights."""
    run = quadratics([[["1"]]], [[0]], [1], rounds=2).engine
    clock = Clock(FedFix(fmpq(1)), (fmpq(10),))
    never = Run(run.problem, replace(run.algorithm, clock=clock))
    for each in (never, never.as_floats()):
        with pytest.raises(NotApplicable, match="no client reports in any update"):
            _ = each.surrogate.mean_shares


def test_full_gradients_have_no_noise_in_either_direction() -> None:
    """Full gradients add no covariance to a moment, and no form of an earlier model."""
    forms, gradients = RATIONAL.array([[[2]]]), RATIONAL.array([[[3, 1], [1, 5]]])
    oracle = quadratics([[["1"]]], [[0]], [1]).engine.problem.oracle
    assert not oracle.depends_on_model
    assert not oracle.pull_back(forms, gradients).any()
    assert not oracle.covariances(gradients, forms).any()

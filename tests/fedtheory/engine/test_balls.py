"""Balls around the optimum: suprema of quadratics, and no sampled path leaves the run's ball."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tiny_shapes as shapes
from flint import fmpq
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import brentq
from tiny_runs import data, quadratics

from fedtheory.arithmetic import FLOAT, RATIONAL, Array
from fedtheory.engine.region import Ball, _find_best_multiplier, bound_supremum_on_ball
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.federation import Fixed, Full, Multinomial, Participation, Uniform


def _sup_on_interval(form: fmpq, linear: fmpq, constant: fmpq, radius: fmpq) -> fmpq:
    """Return sup of ``q u^2 + 2 b u + c`` over |u| <= r in closed form."""
    candidates = [form * u * u + 2 * linear * u + constant for u in (-radius, radius)]
    if form < 0 and abs(linear) <= -form * radius:
        candidates.append(constant - linear * linear / form)
    return max(candidates)


ONE_DIMENSION = [
    (fmpq(q), fmpq(b), fmpq(c), fmpq(r))
    for q in (fmpq(0), fmpq(1), fmpq(3, 7), fmpq(-2), fmpq(10**6), fmpq(1, 10**6))
    for b in (fmpq(0), fmpq(1), fmpq(-5, 3), fmpq(1, 10**9))
    for c in (fmpq(0), fmpq(2))
    for r in (fmpq(1), fmpq(1, 100), fmpq(37, 3))
]


@pytest.mark.parametrize("arithmetic", [RATIONAL, FLOAT], ids=lambda a: a.name)
def test_supremum_in_one_dimension(arithmetic: Any) -> None:
    """The supremum is at least the closed form, and within a part in a million of its terms."""
    for case in ONE_DIMENSION:
        form, linear, constant, radius = (arithmetic.number(value, "case") for value in case)
        bound = bound_supremum_on_ball(arithmetic.array([[form]]), arithmetic.array([linear]), constant, radius)
        closed = _sup_on_interval(*case)
        size = abs(case[0]) * case[3] ** 2 + 2 * abs(case[1]) * case[3] + abs(case[2])
        if arithmetic is RATIONAL:
            assert isinstance(bound, fmpq)
            assert closed <= bound <= closed + size / 10**6, case
        else:
            expected, scale = FLOAT.number(closed, "closed"), FLOAT.number(size, "size")
            assert expected - 1e-12 * scale <= bound <= expected + 2e-6 * scale, case


def _sampled(form: Array, linear: Array, constant: float, radius: float, generator: np.random.Generator) -> float:
    """Return the largest value on a dense sample of the ball."""
    directions = generator.standard_normal((20_000, len(form)))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    lengths = np.concatenate([np.ones(15_000), generator.random(5_000)])[:, None]
    at = radius * lengths * directions
    return float((((at @ form) * at).sum(axis=1) + 2 * at @ linear + constant).max())


@pytest.mark.parametrize("number", range(24))
def test_supremum_against_samples(number: int) -> None:
    """Suprema of random forms in two and three dimensions, also singular or indefinite ones, agree with samples."""
    generator = np.random.default_rng([5, number])
    size = 2 + number % 2
    root = RATIONAL.array(generator.integers(-3, 4, (size, size)))
    form = root.T @ root
    if number % 3 == 1:
        root[-1] = root[0]
        form = root.T @ root
    if number % 3 == 2:
        form = form - 4 * RATIONAL.identity(size)
    linear = RATIONAL.array(generator.integers(-4, 5, size) * (number % 4 != 3))
    constant, radius = fmpq(int(generator.integers(5))), fmpq(int(generator.integers(1, 6)), 2)
    bound = FLOAT.number(bound_supremum_on_ball(form, linear, constant, radius), "bound")
    floats = (FLOAT.array(form), FLOAT.array(linear), float(constant.p), float(radius.p) / float(radius.q))
    sampled = _sampled(*floats, generator)
    assert bound >= sampled - 1e-9 * abs(sampled)
    assert bound <= sampled + 0.02 * (abs(sampled) + 1)
    assert bound_supremum_on_ball(*floats) == pytest.approx(bound, rel=2e-6, abs=1e-6)


def test_supremum_in_the_hard_case() -> None:
    """Without a linear part along the largest curvature the multiplier is the eigenvalue itself.

    ``2 x^2 + y^2 + 2 b y`` on the unit circle is ``2 - y^2 + 2 b y``, largest at
    y = b for |b| <= 1: 2 + b^2.
    """
    form = RATIONAL.array([[2, 0], [0, 1]])
    for b in (fmpq(0), fmpq(1, 2), fmpq(1)):
        bound = bound_supremum_on_ball(form, RATIONAL.array([0, b]), fmpq(0), fmpq(1))
        assert 2 + b * b <= bound <= (2 + b * b) * (1 + fmpq(2, 10**6))


@given(
    st.lists(st.floats(-5, 5), min_size=3, max_size=3),
    st.lists(st.floats(-5, 5), min_size=3, max_size=3),
    st.floats(0.01, 100),
)
@example([0.0, 0.0, 0.0], [0.0, 0.0, 3e-278], 1.0)
@example([0.0, -1.0, 0.0], [0.0, 0.0, 3e-278], 1.0)
def test_the_multiplier_is_that_of_another_root_finder(
    curvatures: list[float], slope: list[float], radius: float
) -> None:
    """SciPy's bracketing search finds the same m, at which the norm of (m I - Q)^-1 q equals the radius."""
    values, linear = np.array(curvatures), np.array(slope)
    lowest, width = max(values.max(), 0.0), float(np.linalg.norm(linear)) / radius
    found, _ = _find_best_multiplier(np.diag(values), linear, radius)

    def gap(multiplier: float) -> float:
        return float(np.linalg.norm(linear / (multiplier - values))) - radius

    start = lowest + 1e-9 * max(lowest, width)
    if width <= 1e-6 or gap(start) <= 0:
        assert found == pytest.approx(lowest, rel=1e-6, abs=1e-6)
    else:
        assert found == pytest.approx(brentq(gap, start, lowest + 2 * width, xtol=1e-14), rel=1e-9)


def test_supremum_with_an_irrational_largest_curvature() -> None:
    """With eigenvalues 1 +- sqrt 2 the bound is never below the value at a rational point of the ball."""
    form = RATIONAL.array([[2, 1], [1, 0]])
    bound = bound_supremum_on_ball(form, RATIONAL.zeros(2), fmpq(0), fmpq(3))
    # bound >= 9 (1 + sqrt 2) iff (bound / 9 - 1)^2 >= 2.
    assert 2 <= (bound / 9 - 1) ** 2 <= 2 + fmpq(1, 10**5)


def test_supremum_on_a_ball_of_radius_zero() -> None:
    """On a ball of radius zero the supremum is the constant."""
    for linear in ([0, 0], [1, 2]):
        bound = bound_supremum_on_ball(RATIONAL.array([[2, 0], [0, 1]]), RATIONAL.array(linear), fmpq(5), fmpq(0))
        assert 5 <= bound <= 5 + fmpq(1, 10**5)


@pytest.mark.parametrize("unit", ["1/1000000", "1/1000000000000", "1/1000000000000000000", "1000000000000"])
@pytest.mark.parametrize("arithmetic", [RATIONAL, FLOAT], ids=lambda a: a.name)
def test_supremum_in_other_units(arithmetic: Any, unit: str) -> None:
    """The bound scales with the quadratic, and is equally tight in all units."""
    factor = arithmetic.number(unit, "unit")
    form, linear = arithmetic.array([[2, 1], [1, 1]]), arithmetic.array([1, 3])
    one = arithmetic.number(1, "one")
    plain = bound_supremum_on_ball(form, linear, one, one)
    scaled = bound_supremum_on_ball(factor * form, factor * linear, factor * one, one)
    assert FLOAT.number(scaled / factor, "bound") == pytest.approx(FLOAT.number(plain, "bound"), rel=2e-6)


def test_dissimilarity_on_the_ball_in_closed_form() -> None:
    """For two clients in one dimension |grad F_i - grad F| = |a u + g| is largest at an end of the ball."""
    run = quadratics([[["3"]], [["1"]]], [[1], [-2]], [4], eta="1/8", steps=2, rounds=5).engine
    bound, best = run.dissimilarity_sq, run.problem.optimum[0]
    assert isinstance(bound.region, Ball)
    # grad F_1 - grad F = u + (3 x* - 1) with mean Hessian 2 and grad F(x*) = 0; client 2 is its negative.
    reach = abs(3 * best - 1) + bound.region.radius
    assert reach**2 <= bound.value <= reach**2 * (1 + fmpq(1, 10**6))


PLANE = shapes.PLANE | {"start": ["1", "-2"]}
FLAT: dict[str, Any] = {
    "hessians": [[["1", "0"], ["0", "0"]], [["1", "0"], ["0", "2"]]],
    "linear": [["1", "3"], ["-1", "-2"]],
    "start": ["0", "0"],
}
ROWS: tuple[Any, Any] = ([[[1, 0], ["1/2", 1], [-1, 1]], [[1, 1], [0, -1], ["1/2", 0]]], [[1, 0, 2], [0, 3, 1]])

INSIDE: dict[str, Run] = {
    "noise": quadratics(**PLANE, deviation=[1, 2], eta=["1/4", "1/6"], steps=3, rounds=6).engine,
    "no noise": quadratics(**PLANE, eta="1/4", steps=3, rounds=6).engine,
    "longest step": quadratics(**PLANE, deviation=[1, 2], eta="11/20", steps=2, rounds=6).engine,
    "irrational noise": quadratics(**PLANE, deviation=["1/3", "2/7"], eta="1/10", steps=40, rounds=6).engine,
    "far start": quadratics(**(PLANE | {"start": ["30", "-20"]}), deviation=1, eta="1/4", steps=2, rounds=3).engine,
    "flat": quadratics(**FLAT, deviation=[1, 0], eta="1/2", steps=2, rounds=5).engine,
    "unequal steps": quadratics(**PLANE, deviation=[1, 2], eta="1/4", steps=(4, 1), rounds=6).engine,
    "server": quadratics(**PLANE, deviation=[1, 2], eta="1/4", steps=2, server="1/2", rounds=8).engine,
    "fixed clients": quadratics(**PLANE, deviation=1, eta="1/4", steps=2, law=Fixed((1,)), rounds=8).engine,
    "batches": data(*ROWS, ["1", "1"], batch=1, eta="1/4", steps=3, rounds=8).engine,
    "batches with a ridge": data(*ROWS, ["1", "1"], batch=1, ridge="1/2", eta="1/5", steps=3, rounds=8).engine,
    "batches of two": data(*ROWS, ["-2", "1"], batch=2, replacement=False, eta="1/8", steps=3, rounds=8).engine,
}


def _farthest(run: Run, seed: int) -> float:
    """Return the largest distance from x* of any local or server model on one random path, by plain loops."""
    run = run.as_floats()
    problem, algorithm = run.problem, run.algorithm
    generator = np.random.default_rng(seed)
    weights = algorithm.aggregation.moments(problem.weights).mean
    model, farthest = problem.start, 0.0
    for _ in range(algorithm.rounds):
        change = np.zeros_like(model)
        for i in range(problem.clients):
            at = model
            for _ in range(algorithm.work.steps[i]):
                gradient = problem.hessians[i] @ at - problem.linear[i] + problem.oracle.outcome(i, at, generator)
                at = at - algorithm.work.step_sizes[i] * gradient
                farthest = max(farthest, float(np.linalg.norm(at - problem.optimum)))
            change = change + weights[i] * (at - model)
        model = model + algorithm.aggregation.server_step_size * change
        farthest = max(farthest, float(np.linalg.norm(model - problem.optimum)))
    return farthest


@pytest.mark.parametrize("name", INSIDE)
def test_no_path_leaves_the_ball(name: str) -> None:
    """Forty random paths stay in the ball, including local models of clients that do not participate."""
    run = INSIDE[name]
    radius = FLOAT.number(run.ball.radius, "radius")
    farthest = max(_farthest(run, seed) for seed in range(40))
    assert 0 < farthest <= radius * (1 + 1e-12)
    assert run.as_floats().ball.radius == pytest.approx(radius, rel=3e-4)
    start = float(np.linalg.norm(run.as_floats().problem.centred.start))
    assert radius >= start


@pytest.mark.parametrize("deviation", [0, 1])
def test_the_ball_of_a_flat_client_is_tight(deviation: int) -> None:
    """A client without curvature may move straight away from x*, up to the boundary of the ball."""
    run = quadratics([[["0"]], [["2"]]], [[1], [-1]], [10], deviation=[deviation, 0], eta="1/2", steps=3).engine
    assert run.problem.optimum[0] == 0
    assert run.ball.radius == 10 + fmpq(1, 2) * (1 + deviation) * 3
    assert max(_farthest(run, seed) for seed in range(60)) == pytest.approx(FLOAT.number(run.ball.radius, "radius"))


def test_the_ball_of_a_run_without_pushes_is_its_start() -> None:
    """Without noise and with one minimiser for all clients, no step leaves the ball through the start."""
    run = quadratics([[["1", "0"], ["0", "0"]]] * 2, [[0, 0]] * 2, [3, 7], eta="1", steps=2, rounds=4).engine
    assert run.ball.radius == 3


def test_dissimilarity_is_that_of_the_worst_client() -> None:
    """The dissimilarity of three clients is the closed form at the ends of the ball, for any order of clients."""
    clients = [(["1"], [0]), (["1"], [1]), (["4"], [-9])]
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        run = quadratics([[clients[i][0]] for i in order], [clients[i][1] for i in order], [4], eta="1/8").engine
        bound, best = run.dissimilarity_sq, run.problem.optimum[0]
        # grad F_i - grad F = (h_i - 2) u + (h_i x* - b_i), with mean Hessian 2.
        reach = max(abs(fmpq(h) - 2) * bound.region.radius + abs(h * best - b) for h, b in ((1, 0), (1, 1), (4, -9)))
        assert reach**2 <= bound.value <= reach**2 * (1 + fmpq(1, 10**6))


def test_the_ball_of_a_contracting_run_does_not_grow() -> None:
    """Strong convexity bounds the radius for all horizons; a flat direction lets it grow with the horizon."""
    radii = [quadratics(**PLANE, deviation=1, eta="1/4", steps=2, rounds=t).engine.ball for t in (50, 500)]
    assert radii[0].radius == radii[1].radius
    assert not radii[0].grows
    growing = [quadratics(**FLAT, deviation=1, eta="1/4", rounds=t).engine.ball for t in (50, 500)]
    assert growing[0].radius < growing[1].radius
    assert growing[1].grows


def test_a_ridge_makes_the_steps_of_mini_batches_contract() -> None:
    """Without a ridge a single sample's objective is flat in most directions, and the ball grows with the horizon."""
    with_ridge = [data(*ROWS, ["1", "1"], batch=1, ridge="1/2", eta="1/5", rounds=t).engine for t in (100, 500)]
    assert with_ridge[0].ball.radius == with_ridge[1].ball.radius
    assert not with_ridge[0].ball.grows
    # The longest row is (-1, 1) or (1, 1).
    assert with_ridge[0].sample_smoothness == 2 * 2 + fmpq(1, 2)
    assert data(*ROWS, ["1", "1"], batch=1, eta="1/5", rounds=5).engine.ball.grows


UNEQUAL = {"law": Uniform(1), "importance": ["1/3", "2/3"]}


@pytest.mark.parametrize("settings", [{"eta": "1"}, {"server": "11/10"}, UNEQUAL], ids=str)
def test_no_ball_where_the_argument_fails(settings: dict[str, Any]) -> None:
    """No ball exists for expanding steps, large server steps, and random weights that do not sum to one."""
    with pytest.raises(NotApplicable, match="no bounded region is known"):
        _ = quadratics(**PLANE, deviation=1, **settings).engine.ball


@pytest.mark.parametrize("law", [Uniform(1), Multinomial(2)], ids=str)
def test_averaging_random_participants_stays_in_the_ball(law: Participation) -> None:
    """An average of participants is as close as the farthest one, so sampling does not change the ball."""
    full, sampled = (quadratics(**PLANE, deviation=1, law=chosen).engine for chosen in (Full(), law))
    assert sampled.ball.radius == full.ball.radius

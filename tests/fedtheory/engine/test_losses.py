"""Scalar losses: values and gradients, minimisers, and constants on the whole space."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from loss_runs import TWO_CLIENTS, TWO_COORDINATES, grid, loss_run, problem, random_terms, terms

from fedtheory.arithmetic import FLOAT, RATIONAL, Array
from fedtheory.engine.losses import LossRun
from fedtheory.errors import InputError, NotApplicable
from fedtheory.federation.losses import KINDS
from fedtheory.federation.losses.line import restrict_to_coordinate

few = settings(max_examples=25, deadline=None, derandomize=True)
seeds = st.integers(0, 10**6)
REFLECTED = [(0, 0, 1.0, 2.0, -0.5), (0, 0, 2.0, -1.0, 1.0), (1, 0, 4.0, 0.5, 0.25), (1, 0, 1.0, 0.0, -2.0)]
"""Increasing and decreasing softplus terms."""


def random_run(seed: int, clients: int = 2, dimension: int = 1) -> LossRun:
    """Return a Huber run of clients with unequal weights."""
    generator = np.random.default_rng(seed)
    shares = RATIONAL.array(generator.integers(1, 5, clients))
    start = RATIONAL.array(generator.integers(-3, 4, dimension))
    return loss_run(problem(random_terms(generator, clients, dimension), start, weights=shares / shares.sum()))


def gradients_on(run: LossRun, points: Array) -> Array:
    """Return grad F_i at points (P, d), (P, M, d)."""
    shape = (len(points), run.problem.clients, run.problem.dimension)
    return run.problem.gradients(np.broadcast_to(points[:, None], shape))


@pytest.mark.parametrize(
    ("u", "value", "slope", "curvature"),
    [(0, 0, 0, 1), ("1/3", "1/18", "1/3", 1), (2, "7/8", "1/2", 0), (-2, "7/8", "-1/2", 0)],
)
def test_huber_by_hand(u: object, value: object, slope: object, curvature: int) -> None:
    """phi(u) of width 1/2 is exactly u^2/2 up to the width, and |u|/2 - 1/8 beyond."""
    huber, at, width = KINDS["huber"], RATIONAL.array([u]), RATIONAL.array(["1/2"])
    assert huber.value(at, width)[0] == RATIONAL.number(value, "value")
    assert huber.derivative(at, width)[0] == RATIONAL.number(slope, "slope")
    assert huber.curvature(at, width)[0] == curvature


def test_smooth_kinds_are_their_closed_forms() -> None:
    """Values are w^2 log cosh(u/w) and w log(1 + exp(u/w)), with its reflection for negative width."""
    for u in (-3.0, -0.5, 0.0, 0.25, 7.0):
        for w in (0.5, 2.0):
            log_cosh, softplus = (float(KINDS[name].value(u, w)) for name in ("log-cosh", "softplus"))
            assert math.isclose(log_cosh, w * w * math.log(math.cosh(u / w)), abs_tol=1e-12)
            assert math.isclose(softplus, w * math.log1p(math.exp(u / w)))
            assert math.isclose(float(KINDS["softplus"].value(-u, -w)), softplus)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [0.5, 2.0, -1.5])
def test_slopes_and_curvatures_are_derivatives(kind: str, width: float) -> None:
    """Central differences of values agree with gradients, those of gradients with curvatures, away from kinks."""
    if width < 0 and not KINDS[kind].can_reflect:
        width = -width
    u, step = np.linspace(-4.03, 4.03, 41), 1e-5
    for function, derivative in (("value", "derivative"), ("derivative", "curvature")):
        of, expected = getattr(KINDS[kind], function), getattr(KINDS[kind], derivative)
        differences = (of(u + step, width) - of(u - step, width)) / (2 * step)
        assert np.allclose(differences, expected(u, width), atol=1e-6)


@pytest.mark.parametrize("kind", ["log-cosh", "softplus"])
def test_slopes_have_limits(kind: str) -> None:
    """At infinity gradients have their limits, and curvatures vanish."""
    ends = np.array([-np.inf, np.inf])
    loss = KINDS[kind]
    assert np.allclose(loss.derivative(ends, 0.5), loss.derivative(np.array([-50.0, 50.0]), 0.5), atol=1e-30)
    assert (loss.curvature(ends, 0.5) == 0).all()


def test_objectives_are_sums_of_their_terms() -> None:
    """Values and gradients of both clients at (1, 0) agree with values by hand."""
    at = RATIONAL.array([[1, 0], [1, 0]])
    both = terms(TWO_COORDINATES)
    # |1 - 2| and |0 - 1/2| for the first client; 1 + 1, 1 - 0 and 0 + 1 for the second.
    assert both.values(at).tolist() == [fmpq(3, 8) + fmpq(1, 4), 4 * fmpq(3, 2) + fmpq(1, 4) + fmpq(1, 2)]
    assert both.gradients(at).tolist() == [[fmpq(-1, 2), -1], [fmpq(9, 2), 1]]


@few
@given(seeds)
def test_huber_minimisers(seed: int) -> None:
    """The gradient of F vanishes exactly at x*, and no point closer to the start is a minimiser."""
    run = random_run(seed, clients=3)
    at = run.problem
    assert (at.mean_gradients(at.optimum) == 0).all()
    nearer = (at.optimum * 99 + at.start) / fmpq(100)
    assert (nearer == at.optimum).all() or (at.mean_gradients(nearer) != 0).all()
    assert all(at.value(point) >= at.optimal_value for point in grid()[:, None])


def test_the_nearest_of_many_minimisers() -> None:
    """Between two equal distant losses every point is a minimiser, and the closest is returned."""
    apart = [(0, 0, 1, -2, 1), (1, 0, 1, 2, 1)]
    for start, nearest in ((-5, -1), (0, 0), ("1/2", "1/2"), (7, 1)):
        assert problem(apart, [start]).optimum[0] == RATIONAL.number(nearest, "nearest")
        assert problem(apart, [start], arithmetic=FLOAT).optimum[0] == float(RATIONAL.number(nearest, "nearest"))


def test_a_coordinate_without_terms_stays() -> None:
    """If F does not depend on a coordinate, x* has the coordinate of the start."""
    assert problem([(0, 1, 1, 3, 1)], [5, 0]).optimum.tolist() == [5, 3]


def test_smooth_minimisers() -> None:
    """The gradients of log-cosh and softplus problems vanish at x* up to rounding."""
    for kind, given_terms in (
        ("log-cosh", TWO_COORDINATES),
        ("softplus", [*REFLECTED, (0, 1, 1, 0, 1), (1, 1, 1, 0, -1)]),
    ):
        at = problem(given_terms, [3.0, -1.0], kind=kind, arithmetic=FLOAT)
        assert np.abs(at.mean_gradients(at.optimum)).max() <= 1e-14


def test_clients_without_a_minimiser() -> None:
    """One softplus decreases without end, so that its client, and possibly F, has no minimiser."""
    at = problem([(0, 0, 1, 0, 1), (1, 0, 1, 0, -1)], [1.0], kind="softplus", arithmetic=FLOAT)
    assert abs(at.optimum[0]) <= 1e-15
    with pytest.raises(NotApplicable, match="no minimiser"):
        _ = at.client_optima
    with pytest.raises(InputError, match="never changes its sign"):
        problem([(0, 0, 1, 0, 1)], [1.0], kind="softplus", arithmetic=FLOAT)


def test_client_minimisers() -> None:
    """Each client's minimiser is the centre of its only loss, or the nearest point of a flat stretch."""
    at = problem([(0, 0, 1, -2, 1), (1, 0, 3, 2, 1)], [0])
    assert at.client_optima.tolist() == [[-2], [2]]
    assert at.optimum[0] == fmpq(5, 3)


@few
@given(seeds)
def test_huber_constants_are_those_of_the_kinks(seed: int) -> None:
    """On a grid with all kinks the suprema of gradients and of their differences are attained exactly."""
    run = random_run(seed, clients=3)
    points, weights = grid()[:, None], run.problem.weights
    gradients = gradients_on(run, points)[..., 0]
    mean = gradients @ weights
    apart = (gradients - mean[:, None]) ** 2
    assert run.lipschitz_sq.value == (gradients**2).max()
    assert run.objective_lipschitz_sq.value == (mean**2).max()
    assert run.client_dissimilarities_sq.value.tolist() == apart.max(axis=0).tolist()
    assert run.dissimilarity_sq.value == apart.max()
    assert run.mean_dissimilarity_sq.value == (apart @ weights).max()
    slopes = (gradients[1:] - gradients[:-1]) * 4
    assert run.client_smoothness.tolist() == slopes.max(axis=0).tolist()
    assert run.objective_smoothness == (slopes @ weights).max()
    assert run.smoothness == slopes.max()


@few
@given(seeds)
def test_coordinates_are_independent(seed: int) -> None:
    """In two dimensions suprema are attained at pairs of kinks, so sums over coordinates are exact."""
    run = random_run(seed, dimension=2)
    points = np.array(list(itertools.product(grid(reach=5, division=4), repeat=2)))
    gradients = gradients_on(run, points)
    mean = (gradients * run.problem.weights[:, None]).sum(axis=1)
    apart = ((gradients - mean[:, None]) ** 2).sum(axis=-1)
    assert run.lipschitz_sq.value == (gradients**2).sum(axis=-1).max()
    assert run.dissimilarity_sq.value == apart.max()
    assert run.mean_dissimilarity_sq.value == (apart @ run.problem.weights).max()


@few
@given(seeds, st.sampled_from([1, 2, 3]))
def test_gradient_growth(seed: int, factor: int) -> None:
    """The supremum of sum_i p_i |grad F_i|^2 - B^2 |grad F|^2 is above a fine grid, and close to it."""
    run = random_run(seed)
    gradients = gradients_on(run, grid(division=32)[:, None])[..., 0]
    weights = run.problem.weights
    gaps = gradients**2 @ weights - fmpq(factor**2) * (gradients @ weights) ** 2
    found = run.gradient_growth_sq(fmpq(factor)).value
    # Between grid points concave pieces rise by at most curvature times (1/64)^2.
    assert gaps.max() <= found <= gaps.max() + fmpq(factor**2) * run.objective_smoothness**2 / 64**2


@pytest.mark.parametrize("kind", ["log-cosh", "softplus"])
def test_constants_of_smooth_kinds(kind: str) -> None:
    """Branch and bound is above a fine grid, and close to it."""
    run = loss_run(problem(REFLECTED if kind == "softplus" else TWO_CLIENTS, [3.0], kind=kind, arithmetic=FLOAT))
    points = np.concatenate([np.linspace(-80, 80, 320_001), [-1e3, 1e3]])[:, None]
    gradients, weights = gradients_on(run, points)[..., 0], run.problem.weights
    mean = gradients @ weights
    apart = (gradients - mean[:, None]) ** 2
    slopes = np.diff(gradients[:-2], axis=0) / np.diff(points[:-2], axis=0)
    for found, largest in (
        (run.lipschitz_sq.value, (gradients**2).max()),
        (run.dissimilarity_sq.value, apart.max()),
        (run.mean_dissimilarity_sq.value, (apart @ weights).max()),
        (run.objective_lipschitz_sq.value, (mean**2).max()),
        (run.gradient_growth_sq(2.0).value, (gradients**2 @ weights - 4 * mean**2).max()),
        (run.smoothness, slopes.max()),
        (run.objective_smoothness, (slopes @ weights).max()),
    ):
        assert largest <= found <= largest * (1 + 1e-6)


def test_equal_clients_do_not_differ() -> None:
    """Clients with the same terms have gradient dissimilarity zero, in both arithmetics and for every kind."""
    same = [(client, 0, "1/3", 1, "1/2") for client in range(3)]
    assert loss_run(problem(same, [2])).dissimilarity_sq.value == 0
    for kind in ("huber", "log-cosh"):
        assert loss_run(problem(same, [2.0], kind=kind, arithmetic=FLOAT)).dissimilarity_sq.value == 0


@pytest.mark.parametrize("kind", ["huber", "hampel", "log-cosh"])
def test_suprema_of_equal_functions_are_those_of_each_alone(kind: str) -> None:
    """Four clients of two types: their gradients, and the differences from the average gradient."""
    each = [[(0, "1/3", 1, "1/2"), (0, 1, -2, 1)], [(0, 2, "1/4", 1)]]
    arithmetic = FLOAT if kind == "log-cosh" else RATIONAL
    found = terms([(client, *term) for client in range(4) for term in each[client % 2]], kind, arithmetic)
    identity, one = arithmetic.identity(4), arithmetic.identity(1)[0]
    for mixing in (identity, identity - arithmetic.array([1] * 4) / 4, identity - identity):
        alone = [restrict_to_coordinate(found, 0, row[None]).supremum(one) for row in mixing]
        assert restrict_to_coordinate(found, 0, mixing).suprema_sq().tolist() == pytest.approx(alone, rel=1e-11, abs=0)


def test_suprema_of_nothing() -> None:
    """A coordinate on which no objective depends adds zero to suprema."""
    empty = restrict_to_coordinate(terms([(0, 1, 1, 3, 1)]), 0, RATIONAL.identity(1))
    assert empty.supremum(RATIONAL.array([1])) == 0
    assert empty.find_steepest().tolist() == [0]


def test_an_interval_that_rounding_closes_keeps_its_curvature() -> None:
    """In floats a centre can be so large that adding the width does not change it."""
    far = problem([(0, 0, 3.0, 2.0**63, 0.5)], [0.0], arithmetic=FLOAT)
    assert loss_run(far).smoothness == 3
    both = problem([(0, 0, 3.0, 2.0**63, 0.5), (1, 0, 5.0, 0.0, 1.0)], [0.0], arithmetic=FLOAT)
    assert loss_run(both).smoothness == 5


@few
@given(seeds)
def test_the_order_of_clients_does_not_matter(seed: int) -> None:
    """A permutation of clients does not change constants and expectations."""
    run = random_run(seed, clients=3)
    order = [2, 0, 1]
    at = run.problem
    other = loss_run(type(at)(at.terms.select_clients(order), at.weights[order], at.start, at.oracle))
    assert _facts(run) == _facts(other)
    assert (run.trajectory.drift[..., order] == other.trajectory.drift).all()


@few
@given(seeds, st.integers(-9, 9))
def test_translations_change_nothing(seed: int, steps: int) -> None:
    """A translation does not change constants and expectations, and moves x*."""
    run = random_run(seed, dimension=2)
    at, origin = run.problem, RATIONAL.array([steps, "1/3"])
    other = loss_run(type(at)(at.terms.translate(origin), at.weights, at.start - origin, at.oracle))
    assert _facts(run) == _facts(other)
    assert (other.problem.optimum == at.optimum - origin).all()


def _facts(run: LossRun) -> list[object]:
    """Return constants and expectations of a run."""
    bounds = (run.lipschitz_sq, run.dissimilarity_sq, run.mean_dissimilarity_sq, run.second_moment)
    trajectory = run.trajectory
    errors = (trajectory.server_suboptimality, trajectory.local_suboptimality, trajectory.server_gradient_sq)
    constants = [run.smoothness, run.initial_gap, run.initial_distance_sq, run.problem.optimal_value]
    return [*constants, *(bound.value for bound in bounds), *(values.tolist() for values in errors)]

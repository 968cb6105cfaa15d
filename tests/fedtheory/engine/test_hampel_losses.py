"""Hampel's bounded losses: their values by hand, global minimisers, constants, and runs."""

from __future__ import annotations

from itertools import pairwise

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from loss_runs import Term, loss_run, problem

from fedtheory.arithmetic import FLOAT, RATIONAL, plain_float
from fedtheory.engine.region import Everywhere
from fedtheory.errors import NotApplicable
from fedtheory.federation.losses import KINDS
from fedtheory.federation.losses.line import restrict_to_coordinate
from fedtheory.language import assumptions as a
from fedtheory.runfile import parse_run, run_table

HAMPEL = KINDS["hampel"]
few = settings(max_examples=60, deadline=None, derandomize=True)
rationals = st.fractions(min_value=-4, max_value=4, max_denominator=4).map(lambda x: fmpq(x.numerator, x.denominator))
widths = st.sampled_from([fmpq(1, 4), fmpq(1, 2), fmpq(1), fmpq(2)])
weights = st.sampled_from([fmpq(1, 2), fmpq(1), fmpq(3)])
terms_of_one = st.lists(st.tuples(weights, rationals, widths), min_size=1, max_size=4)


def one_client(given_terms: list[tuple[fmpq, fmpq, fmpq]]) -> list[Term]:
    return [(0, 0, weight, centre, width) for weight, centre, width in given_terms]


def test_values_by_hand() -> None:
    """For width 2 the loss is a parabola up to 2, an inverted one up to 4, and flat beyond."""
    at = RATIONAL.array([0, 1, 2, 3, 4, 5, -1, -3, -9])
    width = RATIONAL.array([2])
    assert HAMPEL.value(at, width).tolist() == [0, fmpq(1, 2), 2, fmpq(7, 2), 4, 4, fmpq(1, 2), fmpq(7, 2), 4]
    assert HAMPEL.derivative(at, width).tolist() == [0, 1, 2, 1, 0, 0, -1, -1, 0]
    assert HAMPEL.curvature(at[[1, 3, 5]], width).tolist() == [1, -1, 0]
    assert not HAMPEL.is_convex
    assert HAMPEL.is_piecewise


@few
@given(rationals, rationals, widths)
def test_values_have_these_slopes(left: fmpq, right: fmpq, width: fmpq) -> None:
    """Simpson's rule on pieces without a kink gives the change of the value."""
    left, right = min(left, right), max(left, right)
    inner = [side * factor * width for side in (-1, 1) for factor in HAMPEL.kinks]
    ends = sorted({left, right, *(place for place in inner if left < place < right)})
    places = RATIONAL.array([0])
    total = fmpq(0)
    for low, high in pairwise(ends):
        slopes = [HAMPEL.derivative(places + x, RATIONAL.array([width]))[0] for x in (low, (low + high) / 2, high)]
        total += (slopes[0] + 4 * slopes[1] + slopes[2]) * (high - low) / 6
    values = [HAMPEL.value(places + x, RATIONAL.array([width]))[0] for x in (left, right)]
    assert values[1] - values[0] == total


@few
@given(terms_of_one, rationals)
def test_minimisers_are_global(given_terms: list[tuple[fmpq, fmpq, fmpq]], start: fmpq) -> None:
    """No point of a grid is lower, and none of equal value is closer to the start."""
    found = problem(one_client(given_terms), [start], kind="hampel")
    (best,) = found.optimum
    least = found.optimal_value
    for place in [fmpq(n, 8) for n in range(-64, 65)]:
        value = found.value(RATIONAL.array([place]))
        assert value >= least
        if value == least:
            assert abs(place - start) >= abs(best - start)
    near = problem(one_client(given_terms), [start], kind="hampel", arithmetic=FLOAT)
    assert near.optimal_value == pytest.approx(plain_float(least), abs=1e-12)
    assert near.optimum[0] == pytest.approx(plain_float(best), abs=1e-6)


def test_the_nearest_of_equal_minimisers() -> None:
    """The minimum closer to the start is chosen among equal ones at -3 and 3; F is flat between them."""
    apart = [(0, 0, 1, -3, 1), (0, 0, 1, 3, 1)]
    for start, best in ((1, 3), (-1, -3), (9, 3)):
        for arithmetic in (RATIONAL, FLOAT):
            assert problem(apart, [start], kind="hampel", arithmetic=arithmetic).optimum.tolist() == [best]


def test_a_minimum_on_an_interval() -> None:
    """Equal losses of width 1 at 0 and 2 have cancelling gradients in between, where F has its least value 1."""
    for start, best in (("3/2", fmpq(3, 2)), ("1/4", fmpq(1, 4)), (5, 2), (-4, 0)):
        found = problem([(0, 0, 1, 0, 1), (0, 0, 1, 2, 1)], [start], kind="hampel")
        assert found.optimum.tolist() == [best]
        assert found.optimal_value == 1


@few
@given(terms_of_one)
def test_constants_are_attained_bounds(given_terms: list[tuple[fmpq, fmpq, fmpq]]) -> None:
    """L bounds difference quotients of the gradient, and the Lipschitz constant bounds the gradient; both are
    attained.
    """
    run = loss_run(problem(one_client(given_terms), [0], kind="hampel"))
    grid = RATIONAL.array([fmpq(n, 16) for n in range(-160, 161)])[:, None]
    slopes = run.problem.mean_gradients(grid)[:, 0]
    quotients = (slopes[1:] - slopes[:-1]) * 16
    assert max(abs(quotients)) <= run.smoothness == run.objective_smoothness
    assert run.smallest_curvature <= min(quotients)
    assert max(slopes * slopes) <= run.lipschitz_sq.value
    # All kinks are at multiples of 1/16, or between two of them, so sampling the middle of pieces attains the bounds.
    along = restrict_to_coordinate(run.problem.terms, 0, RATIONAL.identity(1))
    pieces = along._curvatures_of_pieces[:, 0]
    assert run.smoothness == max(abs(pieces))
    assert run.smallest_curvature == min(0, *pieces)


def test_assumptions_on_all_of_space() -> None:
    """Gradients are bounded and smooth everywhere; nothing is convex."""
    run = loss_run(problem([(0, 0, 1, 0, 1), (1, 0, 2, 1, "1/2")], [2], kind="hampel", noise=[1, 1]))
    assert a.smooth.failure(run) is None
    for bounded in (a.bounded_second_moment, a.bounded_dissimilarity, a.lipschitz_losses, a.unbiased_bounded_variance):
        assert bounded.failure(run) is None
    assert isinstance(run.lipschitz_sq.region, Everywhere)
    assert run.lipschitz_sq.value == 1
    for assumption in (a.convex_and_smooth, a.strongly_convex_clients):
        assert assumption.failure(run) == "the objective of client 0 is not convex"
    with pytest.raises(NotApplicable, match="not convex"):
        _ = run.strong_convexity


def test_a_run_by_hand() -> None:
    """From 3/2 the gradient of width 1 is 1/2: steps of 1 lead to 1, then to 0."""
    run = loss_run(problem([(0, 0, 1, 0, 1)], ["3/2"], kind="hampel"), rounds=3, size=1, steps=1)
    assert run.trajectory.server_mean[:, 0].tolist() == [fmpq(3, 2), 1, 0, 0]
    assert run.trajectory.server_gradient_sq.tolist() == [fmpq(1, 4), 1, 0, 0]
    assert run.trajectory.server_suboptimality.tolist() == [fmpq(7, 8), fmpq(1, 2), 0, 0]
    assert run.trajectory.total_descent == fmpq(7, 8)


def test_a_start_where_gradients_vanish() -> None:
    """Beyond twice the width the gradient is zero, so that the gap stays constant."""
    run = loss_run(problem([(0, 0, 1, 0, 1)], [5], kind="hampel"), rounds=4, size=1, steps=1)
    assert run.trajectory.server_suboptimality.tolist() == [1] * 5
    assert run.initial_distance_sq == 25


def test_run_files_name_the_kind() -> None:
    """Run files are read back with the kind of loss."""
    run = loss_run(problem([(0, 0, 1, 0, 1), (1, 0, 2, 1, "1/2")], [2], kind="hampel", noise=["1/2", 1]))
    table = run_table(run)
    assert table["problem"]["kind"] == "hampel"
    again = parse_run(table, RATIONAL)
    assert run_table(again) == table
    assert again.trajectory.server_suboptimality.tolist() == run.trajectory.server_suboptimality.tolist()

"""Fixed points of second moments at the edge of stability: flat directions, random runs, images, overflow."""

from __future__ import annotations

from time import process_time
from typing import Any

import enumeration as brute
import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from stationary_runs import PLANE_ROWS, PLANE_VALUES, _plane, _recursion
from tiny_runs import data, quadratics

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.engine.moments.stationary import (
    compute_stationary_distance_sq,
    compute_stationary_mean,
    compute_stationary_moment,
    powers_vanish,
)
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.federation import Full, Multinomial, Participation, Uniform, fedavg
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.problem import least_squares, quadratic
from fedtheory.federation.problem.datasets import load
from fedtheory.federation.problem.generators import draw_quadratics
from fedtheory.federation.problem.split import split_iid


def test_flat_directions_keep_the_start() -> None:
    """Without curvature, gradient or noise the start is the limit; with noise there is none."""
    for deviation in (0, 1):
        run = quadratics([[["1", "0"], ["0", "0"]]], [["1", "0"]], [1, 1], deviation=deviation).engine
        for one in (run, run.as_floats()):
            if deviation:
                with pytest.raises(NotApplicable, match="without curvature"):
                    compute_stationary_moment(_recursion(one))
            else:
                assert compute_stationary_moment(_recursion(one)).tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 0]]


def test_gradients_along_flat_directions_have_no_limit() -> None:
    """Two opposite gradients without curvature: a fair choice of one of the clients is a random walk."""
    flat = [["1", "0"], ["0", "0"]]
    run = quadratics([flat, flat], [["1", "1"], ["1", "-1"]], [1, 1], law=Uniform(1)).engine
    for one in (run, run.as_floats()):
        with pytest.raises(NotApplicable, match="without curvature"):
            compute_stationary_moment(_recursion(one))


def test_a_coordinate_without_data_changes_nothing() -> None:
    """Mini-batches with an additional zero column have the same limit, with zeros in the new row and column."""
    for batch in (None, 2):
        exact = compute_stationary_moment(_recursion(_plane(batch, 1)))
        rows = [[[*row, 0] for row in client] for client in PLANE_ROWS]
        wider = data(rows, PLANE_VALUES, [3, -4, 5], batch=batch, replacement=False, eta="1/5", steps=2).engine
        padded = RATIONAL.zeros(4, 4)
        padded[:3, :3] = exact
        assert (compute_stationary_moment(_recursion(wider)) == padded).all()
        in_floats = compute_stationary_moment(_recursion(wider.as_floats()))
        assert in_floats == pytest.approx(FLOAT.array(padded), rel=1e-11, abs=1e-14)


def test_too_large_a_step_has_no_limit() -> None:
    """Step sizes with eta h > 2 have no limit, also if only the second moment diverges."""
    with pytest.raises(NotApplicable):
        compute_stationary_moment(_recursion(quadratics([[["3"]]], [["1"]], [1], deviation=1, eta="1").engine))
    rows = [[["1"], ["3"]]]
    # Mean factor 1 - 2 eta E z^2 = 1/6, but E (1 - 2 eta z^2)^2 = (25 + 9/36 * ...) > 1.
    run = data(rows, [[1, -1]], [1], batch=1, eta="1/6").engine
    eta = fmpq(1, 6)
    assert abs(1 - 2 * eta * fmpq(10, 2)) < 1 < ((1 - 2 * eta) ** 2 + (1 - 18 * eta) ** 2) / 2
    with pytest.raises(NotApplicable):
        compute_stationary_moment(_recursion(run))


@pytest.mark.parametrize("flat", ["1/1000", "1/100000", "1/10000000", "1/100000000"])
def test_floats_agree_with_rationals_on_flat_directions(flat: str) -> None:
    """A well-posed limit stays right in floats when curvatures differ by many orders of magnitude."""
    run = quadratics([[["1", "0"], ["0", flat]]], [["1", "0"]], [1, 1], deviation=1, eta="1/2").engine
    exact = FLOAT.array(compute_stationary_moment(_recursion(run)))
    assert np.diag(compute_stationary_moment(_recursion(run.as_floats()))) == pytest.approx(np.diag(exact), rel=1e-5)


def test_the_start_does_not_matter() -> None:
    """Two starts have one limit relative to the same optimum."""
    limits = []
    for start in (["5", "0"], ["-1", "1/2"]):
        problem = quadratic(
            RATIONAL.array(HESSIAN_PAIR),
            RATIONAL.array([[1, 0], [-1, 2]]),
            RATIONAL.array(start),
            noise=RATIONAL.array([1, 4]),
        )
        run = Run(problem, fedavg(problem, rounds=1, local_step_size="1/6", local_steps=2))
        limits.append(compute_stationary_moment(_recursion(run)))
    assert (limits[0] == limits[1]).all()


HESSIAN_PAIR = [[["2", "1/2"], ["1/2", "1"]], [["1", "-1"], ["-1", "3"]]]


def _random_run(seed: int) -> Run:
    """Return three clients in up to three dimensions with different curvatures, steps, step sizes, and any law."""
    generator = np.random.default_rng(seed)
    dimension, laws = 1 + seed % 3, (Full(), Uniform(1), Uniform(2), Multinomial(2))
    spectra = [[fmpq(int(generator.integers(1, 5)), 2) for _ in range(dimension)] for _ in range(3)]
    problem = draw_quadratics(generator, spectra, shared=False, heterogeneity=fmpq(1), noise=fmpq(seed % 5))
    if seed % 2:
        tables = ClientData(
            tuple(RATIONAL.array(generator.integers(-3, 4, (4, dimension))) / 2 for _ in range(3)),
            tuple(RATIONAL.array(generator.integers(-3, 4, 4)) for _ in range(3)),
        )
        problem = least_squares(tables, problem.start, batch=1 + seed % 4, replacement=seed % 4 == 1)
    sizes = RATIONAL.array(generator.integers(1, 6, 3)) / int(generator.integers(4, 40))
    steps = tuple(int(k) for k in generator.integers(1, 4, 3))
    chosen = laws[int(generator.integers(4))]
    return Run(problem, fedavg(problem, rounds=1, local_step_size=sizes, local_steps=steps, participation=chosen))


@given(st.integers(0, 10**6))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_floats_agree_with_rationals(seed: int) -> None:
    """Floats and rationals agree on the limit, or on its absence."""
    run = _random_run(seed)
    try:
        exact = FLOAT.array(compute_stationary_moment(_recursion(run)))
    except NotApplicable:
        with pytest.raises(NotApplicable):
            compute_stationary_moment(_recursion(run.as_floats()))
        return
    in_floats = _recursion(run.as_floats())
    assert compute_stationary_moment(in_floats) == pytest.approx(
        exact, rel=1e-9, abs=1e-9 * np.abs(exact[1:, 1:]).max()
    )
    assert compute_stationary_distance_sq(in_floats) == pytest.approx(exact[1:, 1:].trace(), rel=1e-9, abs=1e-25)
    assert compute_stationary_mean(in_floats) == pytest.approx(exact[0, 1:], rel=1e-9, abs=1e-12)


INPUTS = brute.point(1, -1, "1/2", 2)


def _edge(factor: fmpq) -> Run:
    """Return a run with eta a multiple of the largest stable one: E (1 - 2 eta z^2)^2 = 1 at factor 1."""
    square, fourth = (sum(z**power for z in INPUTS) for power in (2, 4))
    return data([[[z] for z in INPUTS]], [[1, 0, 2, -1]], [2], batch=1, eta=factor * square / fourth).engine


def test_the_edge_of_stability_is_decided_exactly_in_rationals() -> None:
    """At the edge and a part in 10^30 beyond there is no limit; as much inside there is one, and it is huge."""
    tiny = fmpq(1, 10**30)
    for factor in (fmpq(1), 1 + tiny, fmpq(2)):
        with pytest.raises(NotApplicable):
            compute_stationary_moment(_recursion(_edge(factor)))
    assert compute_stationary_distance_sq(_recursion(_edge(1 - tiny))) > 10**28


@pytest.mark.parametrize("distance", ["0", "1/100000000000000", "1/10000000000000", "-1/10000000000000", "-1/1000"])
def test_floats_refuse_to_decide_at_the_edge(distance: str) -> None:
    """Close to the edge floats cannot distinguish limit and divergence; beyond it there is no limit."""
    with pytest.raises(NotApplicable):
        compute_stationary_moment(_recursion(_edge(1 - brute.number(distance)).as_floats()))


@pytest.mark.parametrize(("distance", "accuracy"), [("1/10", 1e-12), ("1/1000", 1e-11), ("1/1000000", 1e-8)])
def test_floats_near_the_edge(distance: str, accuracy: float) -> None:
    """Inside the edge floats are as accurate as the conditioning allows."""
    run = _edge(1 - brute.number(distance))
    exact = FLOAT.number(compute_stationary_distance_sq(_recursion(run)), "limit")
    assert compute_stationary_distance_sq(_recursion(run.as_floats())) == pytest.approx(exact, rel=accuracy)


@pytest.mark.parametrize("start", [0, 1])
def test_random_participation_alone_can_diverge(start: int) -> None:
    """Curvatures 1 and 9, one of them at random: mean factor 1 - 5 eta, but E factor^2 = 1 - 10 eta + 41 eta^2.

    Both clients have the same minimiser, so that nothing but the start ever shows it.
    """
    for eta, settles in (("6/25", True), ("1/4", False), ("3/10", False)):
        run = quadratics([[["1"]], [["9"]]], [["0"], ["0"]], [start], eta=eta, law=Uniform(1)).engine
        for one in (run, run.as_floats()):
            if settles:
                assert compute_stationary_moment(_recursion(one)).tolist() == [[1, 0], [0, 0]]
            else:
                with pytest.raises(NotApplicable):
                    compute_stationary_moment(_recursion(one))


def test_an_unstable_direction_is_found_behind_a_slow_one() -> None:
    """A slow stable direction makes the witness large; the mildly negative entry next to it still counts."""
    hessians = [[["1", "0"], ["0", "1/1000000000"]], [["9", "0"], ["0", "1/1000000000"]]]
    run = quadratics(hessians, [["0", "0"]] * 2, [1, 1], eta="39/100", law=Uniform(1)).engine
    for one in (run, run.as_floats()):
        with pytest.raises(NotApplicable):
            compute_stationary_moment(_recursion(one))


def test_curvatures_that_may_be_rounding_are_refused() -> None:
    """For relative curvature 5 * 10^-12 rationals decide, floats do not."""
    nearly = quadratics([[["1", "0"], ["0", "1/200000000000"]]], [["1", "0"]], [1, 1]).engine
    assert compute_stationary_distance_sq(_recursion(nearly)) == 0
    with pytest.raises(NotApplicable, match="smallest curvature"):
        compute_stationary_moment(_recursion(nearly.as_floats()))


def _digits(batch: int | None, law: Participation, eta: float) -> Recursion:
    """Return a run in sixty-five dimensions, of which some pixels are always zero."""
    images = load("digits:3-8")
    parts = split_iid(len(images.outputs), 10, seed=0)
    tables = ClientData(tuple(images.inputs[part] for part in parts), tuple(images.outputs[part] for part in parts))
    problem = least_squares(tables, np.zeros(images.inputs.shape[1]), batch=batch)
    return Recursion(problem, fedavg(problem, rounds=1, local_step_size=eta, local_steps=5, participation=law))


@pytest.mark.parametrize("batch", [None, 8])
@pytest.mark.parametrize("law", [Full(), Uniform(4), Multinomial(4)], ids=repr)
def test_real_images(batch: int | None, law: Participation) -> None:
    """One round keeps the limit in d = 65, computed within two seconds; its mean is a fixed point."""
    recursion = _digits(batch, law, 0.05)
    begun = process_time()
    moment = compute_stationary_moment(recursion)
    assert process_time() - begun < 2
    again = recursion.propagate_round(moment, recursion.round_noise(moment))
    assert again == pytest.approx(moment, rel=0, abs=1e-12 * np.abs(moment[1:, 1:]).max())
    assert compute_stationary_mean(recursion).tolist() == moment[1:, 0].tolist()
    assert np.linalg.eigvalsh(moment - np.outer(moment[0], moment[0]))[0] > -1e-9


def test_real_images_with_too_large_a_step() -> None:
    """Full gradients of a random client have a limit where single images have none."""
    assert compute_stationary_distance_sq(_digits(None, Uniform(1), 0.22)) > 0
    with pytest.raises(NotApplicable, match="do not contract"):
        compute_stationary_moment(_digits(1, Uniform(1), 0.22))


def test_overflowing_steps_have_no_limit() -> None:
    """A round that leaves double precision has no limit."""
    run = quadratics([[["3"]]], [["1"]], [1], deviation=1, eta="1" + "0" * 50, steps=20).engine.as_floats()
    with np.errstate(over="ignore", invalid="ignore"):
        recursion = _recursion(run)
    for limit in (compute_stationary_mean, compute_stationary_moment):
        with pytest.raises(NotApplicable, match="radius"):
            limit(recursion)


def test_large_rational_problems_are_refused() -> None:
    """Exact second moments are for small dimensions; the mean is a linear solve in any dimension."""
    size = 40
    problem = quadratic(RATIONAL.identity(size)[None], RATIONAL.identity(size)[:1], RATIONAL.zeros(size))
    recursion = Recursion(problem, fedavg(problem, rounds=1, local_step_size="1/2"))
    assert not compute_stationary_mean(recursion).any()
    with pytest.raises(NotApplicable, match="dimensions"):
        compute_stationary_moment(recursion)


@pytest.mark.parametrize(
    ("matrix", "inside"),
    [
        ([[0]], True),
        ([[1]], False),
        ([[-1]], False),
        ([[fmpq(10**40 - 1, 10**40)]], True),
        ([[fmpq(10**40 + 1, 10**40)]], False),
        ([[fmpq(1, 2), 100], [0, fmpq(-1, 2)]], True),
        ([[0, -1], [1, 0]], False),
        ([[fmpq(3, 5), fmpq(-4, 5), 0], [fmpq(4, 5), fmpq(3, 5), 0], [0, 0, fmpq(1, 2)]], False),
        ([[fmpq(1, 3), 1, 0], [0, fmpq(1, 3), 1], [0, 0, fmpq(1, 3)]], True),
    ],
)
def test_eigenvalues_inside_the_unit_circle(matrix: list[list[Any]], inside: bool) -> None:
    """Eigenvalues on the circle do not count as inside, and the smallest distance is detected."""
    assert powers_vanish(np.array([[fmpq(entry) for entry in row] for row in matrix])) is inside

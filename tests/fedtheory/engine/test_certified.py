"""Midpoints and radii contain the rational results, for every operation and every round of a run."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from random_problems import few, fractions, random_problem, seeds

from fedtheory.arithmetic import CERTIFIED, FLOAT, RATIONAL, Array, MidpointRadius
from fedtheory.arithmetic.enclosures import Enclosure, convert_to_ball
from fedtheory.engine.certified_run import CertifiedRun
from fedtheory.engine.run import Run
from fedtheory.errors import Unresolved
from fedtheory.federation import Full, Multinomial, Uniform, fedavg
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.clock import Asynchronous, Clock
from fedtheory.federation.problem import Problem, least_squares
from fedtheory.runfile import parse_run, run_with

some = settings(max_examples=60, deadline=None, derandomize=True)


def rationals(generator: np.random.Generator, *shape: int) -> Array:
    """Return rationals of all sizes that are no floats."""
    sizes = RATIONAL.array([fmpq(10) ** int(power) for power in generator.integers(-9, 9, shape).ravel()])
    return (RATIONAL.array(generator.integers(-99, 99, shape)) / fmpq(7)) * sizes.reshape(shape)


def around(exact: Array, generator: np.random.Generator) -> MidpointRadius:
    """Return intervals that contain exact numbers, which need not be their midpoints."""
    enclosed = CERTIFIED.array(exact)
    apart = np.abs(enclosed.middle) * generator.random(exact.shape) * generator.choice([0, 1e-12, 0.5], exact.shape)  # type: ignore[attr-defined]
    moved = enclosed.middle + apart  # type: ignore[attr-defined]
    return MidpointRadius(moved, enclosed.radius + apart * (1 + 1e-12) + 1e-15 * np.abs(moved) * (apart > 0))  # type: ignore[attr-defined]


def contains(found: Any, exact: Any) -> bool:
    """Return whether every exact number is in its interval."""
    pairs = zip(np.asarray(found, dtype=object).ravel(), np.asarray(exact, dtype=object).ravel(), strict=True)
    return all((convert_to_ball(interval) - arb(value)).contains(0) for interval, value in pairs)


OPERATIONS = (operator.add, operator.sub, operator.mul, operator.matmul)


@some
@given(seeds)
def test_operations_contain_the_exact_results(seed: int) -> None:
    """Sums, differences and products of matrices, intervals, rationals and integers contain the exact results."""
    generator = np.random.default_rng(seed)
    a, b = rationals(generator, 2, 3, 3), rationals(generator, 3, 3)
    near_a, near_b = around(a, generator), around(b, generator)
    for operation in OPERATIONS:
        for found in (operation(near_a, near_b), operation(near_a, b), operation(a, near_b)):
            assert contains(found, operation(a, b)), operation
    assert contains(1 - 2 * near_a, 1 - 2 * a)
    assert contains(fmpq(1, 3) * near_a, fmpq(1, 3) * a)
    assert contains(near_a / 7, a / 7)
    divisors = b + (b == 0).astype(int)
    assert contains(near_a / CERTIFIED.array(divisors), a / divisors)
    assert contains(-abs(near_a), -abs(a))
    assert contains(near_b**2, b**2)


@some
@given(seeds)
def test_sums_and_places_contain_the_exact_results(seed: int) -> None:
    """Sums over axes, traces, running sums, maxima, and rearrangements contain the exact results."""
    generator = np.random.default_rng(seed)
    exact = rationals(generator, 2, 3, 3)
    near = around(exact, generator)
    for rearranged in (
        lambda x: x.sum(axis=1),
        lambda x: x.sum(axis=(-2, -1), keepdims=True),
        lambda x: x.sum(),
        lambda x: x.trace(axis1=1, axis2=2),
        lambda x: x.cumsum(axis=0),
        lambda x: x.max(),
        lambda x: x[1, 0, 2],
        lambda x: x.swapaxes(0, 1).transpose(2, 0, 1).reshape(3, -1).T.ravel(),
        lambda x: np.stack([np.concatenate([x, x], axis=1)[:, 0], x[:, 2]]),
        lambda x: np.outer(x[0, 0], x[1, 1]),
        lambda x: np.dot(x[0, :2], x[1]),
        lambda x: np.where(np.array([True, False, True]), x, 0 * x),
        lambda x: np.moveaxis(np.broadcast_to(x[0], (4, 3, 3)), 0, -1),
    ):
        assert contains(rearranged(near), rearranged(exact))


def test_unsupported_operations_raise() -> None:
    """Unsupported functions, close comparisons, and divisions by possible zeros raise errors."""
    near = MidpointRadius(np.array([1.0, 2.0]), np.array([0.5, 3.0]))
    for asked in (lambda: np.sin(near), lambda: np.linalg.inv(near), lambda: near.argmax(0)):
        with pytest.raises(Unresolved, match="not enclosed in floats"):
            asked()  # type: ignore[no-untyped-call]
    for asked in (lambda: near < 1, lambda: near == near.copy(), lambda: near[0] > 1):
        with pytest.raises(Unresolved, match="separate"):
            asked()  # type: ignore[no-untyped-call]
    assert ((near < 6) & (near > -2) & (near != 7)).all()
    with pytest.raises(Unresolved, match="contains zero"):
        1 / near
    with pytest.raises(TypeError):
        near + np.array(["1"], dtype=object)


def test_underflow_is_enclosed() -> None:
    """Numbers that underflow are enclosed where a large number multiplies them or a small one divides them."""
    small, large = RATIONAL.array([[fmpq(2**43 + 5) / fmpq(2) ** 1074]]), RATIONAL.array([[fmpq(2**52 + 1) * 2**850]])
    assert contains(CERTIFIED.array(large) @ CERTIFIED.array(small), large @ small)
    divided, by = RATIONAL.array([1 / fmpq(2) ** 1060]), fmpq(1, 2**900) + fmpq(1, 2**930)
    divisor = MidpointRadius(np.array([2.0**-900]), np.array([2.0**-930]))
    assert contains(CERTIFIED.array(divided) / divisor, divided / by)


def test_failed_eigenvalues_give_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """If LAPACK finds no eigenvalues, the intervals contain everything."""

    def fails(_matrix: Array) -> None:
        raise np.linalg.LinAlgError

    run = run_on(random_problem(np.random.default_rng(0), 2, 2), np.random.default_rng(0), 1)
    monkeypatch.setattr(np.linalg, "eigh", fails)
    assert (CertifiedRun(run.problem, run.algorithm).trajectory.server_distance_sq.radius[1:] == np.inf).all()  # type: ignore[attr-defined]


def test_there_is_no_truth_of_arrays_and_open_numbers() -> None:
    """The truth value of an array, and of a number that may be zero, is an error."""
    near = MidpointRadius(np.array([0.0, 1.0]), np.array([0.5, 0.5]))
    with pytest.raises(Unresolved):
        bool(near)
    with pytest.raises(Unresolved):
        bool(near[0])
    with pytest.raises(Unresolved):
        np.where(near, near, near)
    assert near[1]


def test_floats_that_are_enclosed_are_copied() -> None:
    """Later changes of the given array do not change the intervals."""
    given = np.array([1.0, 2.0])
    CERTIFIED.array(given)[0] = fmpq(7)
    assert given[0] == 1


def test_overflow_gives_an_infinite_radius() -> None:
    """An overflow gives an infinite radius, which decides nothing."""
    huge = MidpointRadius.enclose(np.array([1e200])) * MidpointRadius.enclose(np.array([1e200]))
    with pytest.raises(Unresolved):
        _ = huge[0] > 0


def laws(number: int, clients: int) -> Full | Uniform | Multinomial:
    """Return a law of participation."""
    return (Full(), Uniform(max(1, clients - 1)), Multinomial(2))[number % 3]


def data(generator: np.random.Generator, clients: int, dimension: int, ridge: fmpq) -> Problem:
    """Return least squares with mini-batches of one or two rows, sampled with or without replacement."""
    inputs = tuple(RATIONAL.array(generator.integers(-3, 4, (3, dimension))) / fmpq(3) for _ in range(clients))
    outputs = tuple(RATIONAL.array(generator.integers(-3, 4, 3)) / fmpq(7) for _ in range(clients))
    start = RATIONAL.array(generator.integers(-3, 4, dimension))
    batch, again = int(generator.integers(1, 3)), bool(generator.integers(2))
    return least_squares(ClientData(inputs, outputs, ridge), start, batch=batch, replacement=again)


def run_on(problem: Problem, generator: np.random.Generator, law: int) -> Run:
    """Return a few rounds of up to three local steps, of different sizes."""
    algorithm = fedavg(
        problem,
        rounds=int(generator.integers(1, 5)),
        local_step_size=fractions(generator, problem.clients) / fmpq(6),
        local_steps=1 + int(generator.integers(3)),
        server_step_size=fmpq(int(generator.integers(1, 5)), 3),
        participation=laws(law, problem.clients),
    )
    return Run(problem, algorithm)


EXPECTATIONS = (
    "moments",
    "server_mean",
    "server_suboptimality",
    "server_gradient_sq",
    "local_suboptimality",
    "local_distance_sq",
    "local_gradient_sq",
    "mean_local_suboptimality",
    "mean_drift",
    "drift",
)


def assert_contained(run: Run) -> None:
    """Assert that every expectation of a run is in its enclosure, and that the enclosure is narrow."""
    enclosed, exact = CertifiedRun(run.problem, run.algorithm).trajectory, run.trajectory
    for name in EXPECTATIONS:
        assert contains(getattr(enclosed, name), getattr(exact, name)), name
    forms = run.gradient_forms.stochastic
    assert contains(enclosed.local_second_moments(forms), exact.local_second_moments(forms))
    assert contains(enclosed.evaluate_at_virtual_iterates(forms), exact.evaluate_at_virtual_iterates(forms))
    factors = run.problem.weights * run.client_smoothness
    assert contains(enclosed.mean_difference_sq(factors), exact.mean_difference_sq(factors))
    distances = enclosed.server_distance_sq
    assert (distances.radius <= 1e-9 * (1 + distances.middle.max())).all()  # type: ignore[attr-defined]


@few
@given(seeds, st.integers(1, 3), st.integers(1, 3), st.integers(0, 2))
def test_expectations_contain_those_of_rationals(seed: int, clients: int, dimension: int, law: int) -> None:
    """Enclosures contain the expectations for additive noise, any participation, contracting and expanding steps."""
    generator = np.random.default_rng(seed)
    assert_contained(run_on(random_problem(generator, clients, dimension), generator, law))


@pytest.mark.long
@few
@given(seeds, st.integers(1, 3), st.integers(1, 3), st.integers(0, 2), st.sampled_from([fmpq(0), fmpq(1, 3)]))
def test_expectations_of_mini_batches_contain_those_of_rationals(
    seed: int, clients: int, dimension: int, law: int, ridge: fmpq
) -> None:
    """Enclosures contain the expectations for noise that depends on the model, with and without a ridge."""
    generator = np.random.default_rng(seed)
    assert_contained(run_on(data(generator, clients, dimension, ridge), generator, law))


DEFINITIONS: dict[str, dict[str, object]] = {
    "fedprox": {"name": "fedprox", "proximal": "1/2", "local_steps": 2},
    "fednova": {"name": "fednova", "local_steps": [1, 2]},
    "fedavgm": {"name": "fedavgm", "momentum": "1/2", "local_steps": 2},
    "nesterov": {"name": "fedavgm", "momentum": "1/2", "nesterov": True, "local_steps": 1},
    "sampled": {"name": "fedprox", "proximal": "1", "participation": {"kind": "uniform", "clients": 1}},
}
PROBLEMS: dict[str, dict[str, object]] = {
    "quadratic": {
        "kind": "quadratic",
        "hessians": [[["2", "1/2"], ["1/2", "1"]], [["1", "0"], ["0", "3"]]],
        "linear": [["1", "0"], ["-1", "2"]],
        "weights": ["1/4", "3/4"],
        "start": ["3", "-2"],
        "noise": ["1", "1/3"],
    },
    "least squares": {
        "kind": "least-squares",
        "inputs": [[["1", "1/3"], ["1/2", "-1"]], [["2/3", "0"], ["1", "1"]]],
        "outputs": [["2", "-1"], ["0", "1"]],
        "start": ["3", "-2"],
        "batch": 1,
    },
}


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", DEFINITIONS)
def test_expectations_of_definitions_contain_those_of_rationals(name: str, problem: str) -> None:
    """Enclosures contain the expectations of algorithms with stateless clients."""
    keys = {"local_step_size": "1/7", "rounds": 4} | DEFINITIONS[name]
    run = parse_run({"problem": PROBLEMS[problem], "algorithm": keys}, RATIONAL)
    enclosed, exact = CertifiedRun(run.problem, run.algorithm).trajectory, run.trajectory
    for expectation in ("moments", "server_mean", "server_suboptimality", "local_distance_sq", "drift"):
        assert contains(getattr(enclosed, expectation), getattr(exact, expectation)), expectation
    distances = enclosed.server_distance_sq
    assert (distances.radius <= 1e-9 * (1 + distances.middle.max())).all()  # type: ignore[attr-defined]


def test_vectors_that_clients_keep_are_not_enclosed() -> None:
    """Algorithms whose clients keep vectors, such as SCAFFOLD, are computed in rationals."""
    keys = {"name": "scaffold", "local_step_size": "1/7", "rounds": 2, "local_steps": 2}
    run = parse_run({"problem": PROBLEMS["quadratic"], "algorithm": keys}, RATIONAL)
    with pytest.raises(Unresolved, match="vectors that clients keep"):
        _ = CertifiedRun(run.problem, run.algorithm).trajectory


@pytest.mark.long
def test_long_runs_stay_narrow() -> None:
    """Enclosures of three hundred rounds in twelve dimensions are narrow, where plain intervals would explode."""
    generator = np.random.default_rng(3)
    problem = data(generator, 4, 12, fmpq(1, 3))
    algorithm = fedavg(problem, rounds=300, local_step_size=fmpq(1, 30), local_steps=3)
    distances = CertifiedRun(problem, algorithm).trajectory.server_distance_sq
    assert (distances.radius <= 1e-5 * distances.middle).all()  # type: ignore[attr-defined]
    floats = Run(problem.as_floats(), algorithm.as_floats()).trajectory.server_distance_sq
    assert (np.abs(distances.middle - floats) <= distances.radius + 1e-12 * floats).all()  # type: ignore[attr-defined]


@pytest.mark.long
def test_momentum_stays_narrow() -> None:
    """If a round contracts in no diagonal scaling, another scaling with contraction is found."""
    problem = data(np.random.default_rng(3), 4, 6, fmpq(1, 3))
    keys = {"name": "fedavgm", "momentum": "9/10", "local_step_size": "1/100", "rounds": 150, "local_steps": 2}
    run = run_with(problem, keys)
    distances = CertifiedRun(run.problem, run.algorithm).trajectory.server_distance_sq
    assert (distances.radius <= 1e-5 * distances.middle).all()  # type: ignore[attr-defined]
    floats = run.as_floats().trajectory.server_distance_sq
    assert (np.abs(distances.middle - floats) <= distances.radius + 1e-12 * floats).all()  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["fedavg", "fedavgm"])
def test_runs_that_diverge_are_enclosed_as_far_as_floats_go(name: str) -> None:
    """Enclosures of diverging runs are correct up to the range of floats, and contain everything beyond."""
    keys = {"name": name, "local_step_size": "1000", "rounds": 120} | ({"momentum": "1/2"} if name == "fedavgm" else {})
    run = parse_run({"problem": PROBLEMS["quadratic"], "algorithm": keys}, RATIONAL)
    distances = CertifiedRun(run.problem, run.algorithm).trajectory.server_distance_sq
    assert contains(distances[:6], run.with_rounds(5).trajectory.server_distance_sq)
    with pytest.raises(Unresolved):
        _ = distances[-1] > 1


def test_single_numbers_are_enclosures() -> None:
    """Single entries of interval arrays are enclosures, which mix with rationals."""
    near = CERTIFIED.array(RATIONAL.array(["1/3", "2/7"]))
    assert isinstance(near[0], Enclosure)
    assert isinstance(near.sum(), Enclosure)
    assert isinstance(near @ near, Enclosure)
    assert contains(near[0] + fmpq(1, 3), fmpq(2, 3))


def test_in_floats_nothing_is_enclosed() -> None:
    """The midpoints of an enclosed run are the floats of the run."""
    run = run_on(random_problem(np.random.default_rng(0), 2, 2), np.random.default_rng(0), 0)
    floats = CertifiedRun(run.problem, run.algorithm).as_floats()
    assert floats.arithmetic is FLOAT
    assert (floats.trajectory.moments == run.as_floats().trajectory.moments).all()


def test_stale_models_are_not_enclosed() -> None:
    """Runs with different rounds are computed in rationals."""
    problem = random_problem(np.random.default_rng(0), 2, 2)
    clock = Clock(Asynchronous("together"), (fmpq(1), fmpq(2)))
    algorithm = fedavg(problem, rounds=3, local_step_size=fmpq(1, 20), clock=clock)
    with pytest.raises(Unresolved, match="stale"):
        _ = CertifiedRun(problem, algorithm).trajectory

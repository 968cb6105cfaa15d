"""Runs with stale models against all outcomes, a dense joint recursion, and Monte-Carlo."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tiny_shapes as shapes
from enumeration import Law, Point, dot, expectation, minus, plus
from flint import fmpq
from stale_enumeration import Inside, Server, StaleRun, events
from tiny_runs import Pair, data, plain, quadratics

from fedtheory.arithmetic import RATIONAL, Array
from fedtheory.engine.frames import Vector, iterate_moment_frames, iterate_path_frames
from fedtheory.engine.moments import stale_rounds
from fedtheory.engine.run import Run
from fedtheory.engine.sampling import estimate_expectations, suboptimality
from fedtheory.federation.clock import Asynchronous, Clock, FedBuff, FedFix, Policy, Synchronous

POLICIES: dict[str, tuple[Policy, Server]] = {
    "sync": (Synchronous(), Server("sync")),
    "async": (Asynchronous(), Server("buffer")),
    "async one by one": (Asynchronous("one-by-one"), Server("buffer", together=False)),
    "fedfix": (FedFix(fmpq(1)), Server("fedfix")),
    "fedfix, often nothing": (FedFix(fmpq(1, 2)), Server("fedfix", interval=fmpq(1, 2))),
    "fedbuff": (FedBuff(2), Server("buffer", 2)),
    "fedbuff one by one": (FedBuff(2, "one-by-one"), Server("buffer", 2, together=False)),
}


def _stale(pair: Pair, policy: str, times: list[Any], weights: list[Any] | None = None) -> tuple[Run, StaleRun]:
    """Return a tiny run with a clock, for the engine and for the enumeration."""
    chosen, server = POLICIES[policy]
    durations = tuple(RATIONAL.array(times))
    given = pair.tiny.importance if weights is None else tuple(RATIONAL.array(weights))
    algorithm = pair.engine.algorithm
    algorithm = replace(
        algorithm,
        clock=Clock(chosen, durations),
        aggregation=replace(algorithm.aggregation, chosen=None if weights is None else given),
    )
    reports = [event.reports for event in events(server, durations, algorithm.rounds)]
    return Run(pair.engine.problem, algorithm), StaleRun(pair.tiny, reports, given)


def _assert_server_agrees(run: Run, tiny: StaleRun) -> None:
    exact, truth = run.trajectory, tiny.server_truth()
    assert plain(exact.server_mean) == [list(mean) for mean in truth.mean]
    assert plain(exact.server_suboptimality) == truth.suboptimality
    assert plain(exact.server_distance_sq) == truth.distance_sq
    assert plain(exact.server_gradient_sq) == truth.gradient_sq


def _distance_sq(left: Point, right: Point) -> fmpq:
    return dot(minus(left, right), minus(left, right))


def _assert_local_agrees(run: Run, tiny: StaleRun) -> None:
    """Assert agreement in suboptimality, distance and gradient of the virtual iterate, and client drift."""
    exact, whole, best = run.trajectory, tiny.tiny, tiny.tiny.minimiser()
    gradient, lowest = whole.gradient, whole.value(best)
    for n, k, law in tiny.inside():
        means: dict[str, Any] = {
            "local_suboptimality": expectation(law, lambda at: whole.value(at.virtual) - lowest),
            "local_distance_sq": expectation(law, lambda at: _distance_sq(at.virtual, best)),
            "local_gradient_sq": expectation(law, lambda at: dot(gradient(at.virtual), gradient(at.virtual))),
            "drift": [
                expectation(law, lambda at, i=i: _distance_sq(at.local[i], at.virtual))  # type: ignore[misc]
                for i in range(len(whole.clients))
            ],
        }
        for name, expected in means.items():
            assert plain(getattr(exact, name))[n][k] == expected, (name, n, k)
    assert exact.local_distance_sq.shape == (len(tiny.reports), whole.steps[0] + 1)
    assert exact.drift.shape == (len(tiny.reports), whole.steps[0] + 1, len(whole.clients))


LINE = shapes.LINE | {
    "constants": ["1/3", "-2"],
    "importance": ["1/3", "2/3"],
    "eta": ["1/3", "1/7"],
    "server": "3/2",
}
THREE = shapes.THREE | {"server": "4/3"}
PLANE = shapes.PLANE | {"importance": ["1/4", "3/4"], "eta": ["1/5", "1/8"], "server": "5/4"}
ROWS: tuple[Any, ...] = ([[["1/2"], [1]], [[1], ["1/3"]]], [[1, 0], [0, 1]], ["2"])
MORE_ROWS: tuple[Any, ...] = ([[["1/2"], [1], [-1]], [[1], ["1/3"], [2]]], [[1, 0, 2], [0, 1, -1]], ["2"])
PLANE_ROWS: tuple[Any, ...] = ([[[1, 0], ["1/2", 1]], [[1, 1], [0, -1]]], [[1, 2], [0, 1]], [1, -1])
BATCHES: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "one row, two steps": (ROWS, {"batch": 1, "steps": 2, "rounds": 2}),
    "one row, four updates": (ROWS, {"batch": 1, "rounds": 4}),
    "two rows of three, without replacement": (MORE_ROWS, {"batch": 2, "replacement": False, "rounds": 3}),
    "two rows of three, with replacement": (MORE_ROWS, {"batch": 2, "rounds": 2}),
    "plane": (PLANE_ROWS, {"batch": 1, "rounds": 4}),
}

TWO_TIMES = [[1, 2], [2, 1], ["1/2", "3/2"], ["3/2", 1]]
NAMES = [name for name in POLICIES if name != "sync"]


@pytest.mark.parametrize("weights", [None, ["5/4", "1/2"]], ids=["importance", "given"])
@pytest.mark.parametrize("times", TWO_TIMES, ids=str)
@pytest.mark.parametrize("policy", NAMES)
def test_two_clients_with_noise(policy: str, times: list[Any], weights: Any) -> None:
    """Two-point noise of both clients or one agrees in server and virtual iterate, as equal rationals."""
    for deviation, steps, rounds in (([1, 2], 1, 4), ([1, 0], 2, 4), ([0, 2], 2, 4)):
        pair = quadratics(**LINE, deviation=deviation, steps=steps, rounds=rounds)
        run, tiny = _stale(pair, policy, times, weights)
        _assert_server_agrees(run, tiny)
        _assert_local_agrees(run, tiny)


@pytest.mark.parametrize("times", [[1, 2, 3], [3, "3/2", 1], [1, 1, "5/2"]], ids=str)
@pytest.mark.parametrize("policy", NAMES)
def test_three_clients(policy: str, times: list[Any]) -> None:
    """Three clients of three speeds, with up to four live models, agree."""
    run, tiny = _stale(quadratics(**THREE, deviation=[1, 0, "1/2"], rounds=5), policy, times, ["3/2", 1, "2/5"])
    _assert_server_agrees(run, tiny)
    _assert_local_agrees(run, tiny)


@pytest.mark.parametrize("times", [[1, 4, 7], [7, 2, 3], [5, 1, 6]], ids=str)
@pytest.mark.parametrize("policy", NAMES)
def test_long_runs_with_noise_of_one_client(policy: str, times: list[Any]) -> None:
    """In ten updates models are discarded and their memory reused several times."""
    noisy = times.index(max(times))
    deviation = [3 if client == noisy else 0 for client in range(3)]
    run, tiny = _stale(quadratics(**THREE, deviation=deviation, rounds=10), policy, times)
    _assert_server_agrees(run, tiny)
    _assert_local_agrees(run, tiny)


@pytest.mark.parametrize("policy", NAMES)
def test_blocks_of_rounds(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds are evaluated in blocks if memory is limited."""
    monkeypatch.setattr(stale_rounds, "_MOST", 20)
    run, tiny = _stale(quadratics(**THREE, deviation=[0, 3, 0], rounds=5), policy, [1, 4, 7])
    _assert_local_agrees(run, tiny)


@pytest.mark.parametrize("policy", NAMES)
def test_in_a_plane(policy: str) -> None:
    """Two dimensions with noise along a random axis and non-commuting Hessians agree."""
    for deviation in ([1, 0], [0, 2]):
        pair = quadratics(**PLANE, deviation=deviation, rounds=4)
        run, tiny = _stale(pair, policy, ["1", "3/2"], ["2/3", "4/3"])
        _assert_server_agrees(run, tiny)
        _assert_local_agrees(run, tiny)


@pytest.mark.parametrize("steps", [(1, 2), (2, 1)], ids=str)
@pytest.mark.parametrize("policy", NAMES)
def test_unequal_local_steps(policy: str, steps: tuple[int, int]) -> None:
    """Clients with different numbers of steps agree at the server."""
    for times in ([1, 2], [2, 1]):
        run, tiny = _stale(quadratics(**LINE, deviation=[1, 2], steps=steps, rounds=3), policy, times, ["1/2", 2])
        _assert_server_agrees(run, tiny)


@pytest.mark.parametrize("case", BATCHES)
@pytest.mark.parametrize("policy", NAMES)
def test_mini_batches(policy: str, case: str) -> None:
    """Noise that depends on the received model agrees, in one dimension and in a plane."""
    rows, settings = BATCHES[case]
    for times in ([1, 2], ["3/2", 1]):
        pair = data(*rows, **settings, eta=["1/10", "1/7"], server="3/2", importance=["1/4", "3/4"])
        run, tiny = _stale(pair, policy, times, ["2/3", 1])
        _assert_server_agrees(run, tiny)
        _assert_local_agrees(run, tiny)


@pytest.mark.parametrize("policy", ["async", "fedfix"])
def test_mini_batches_with_unequal_local_steps(policy: str) -> None:
    """Mini-batches with different numbers of steps agree at the server."""
    pair = data(*ROWS, batch=1, eta=["1/10", "1/7"], steps=(1, 2), rounds=3)
    _assert_server_agrees(*_stale(pair, policy, [1, 2]))


def test_synchronous_rounds_are_those_of_the_enumeration() -> None:
    """The enumeration with all clients in every round is the synchronous run with chosen weights."""
    run, tiny = _stale(quadratics(**LINE, deviation=[1, 2], steps=2, rounds=2), "sync", [1, 2], ["5/4", "1/2"])
    assert tiny.reports == [(0, 1)] * 2
    _assert_server_agrees(run, tiny)


def test_the_comparison_is_sharp() -> None:
    """With another order of reports the numbers differ, so that the comparison is not vacuous."""
    run, tiny = _stale(quadratics(**LINE, deviation=1, rounds=4), "async", [1, 2])
    other = replace(tiny, reports=[tuple(1 - i for i in reports) for reports in tiny.reports])
    with pytest.raises(AssertionError):
        _assert_server_agrees(run, other)


# The joint recursion with dense matrices.


def _dense(run: Run, reports: list[tuple[int, ...]]) -> tuple[list[Array], list[Array]]:
    """Return means and covariances of theta^n by one affine recursion of (theta, base of client 1, ..., of client
    M).
    """
    problem, work = run.problem, run.algorithm.work
    numbers, size, clients = run.arithmetic, problem.dimension, problem.clients
    weights = run.algorithm.aggregation.server_step_size * run.algorithm.aggregation.weights(problem.weights)
    maps, shifts, spreads = zip(*(_client_work(run, client) for client in range(clients)), strict=True)
    mean = np.concatenate([problem.start] * (clients + 1))
    covariance, total = numbers.zeros(len(mean), len(mean)), len(mean)
    means, covariances = [mean[:size]], [covariance[:size, :size]]
    assert work.common_steps is None
    for chosen in reports:
        new = numbers.zeros(size, total)
        new[:, :size] = numbers.identity(size)
        shift, noise = problem.start - problem.start, numbers.zeros(size, size)
        for i in chosen:
            new[:, size * (i + 1) : size * (i + 2)] = weights[i] * (maps[i] - numbers.identity(size))
            shift, noise = shift + weights[i] * shifts[i], noise + weights[i] * weights[i] * spreads[i]
        copies = numbers.zeros(total, total) + numbers.identity(total)
        places = [0, *(i + 1 for i in chosen)]
        offset, added = mean - mean, numbers.zeros(total, total)
        for a in places:
            copies[size * a : size * (a + 1)] = new
            offset[size * a : size * (a + 1)] = shift
            for b in places:
                added[size * a : size * (a + 1), size * b : size * (b + 1)] = noise
        mean, covariance = copies @ mean + offset, copies @ covariance @ copies.T + added
        means.append(mean[:size])
        covariances.append(covariance[:size, :size])
    return means, covariances


def _client_work(run: Run, client: int) -> tuple[Array, Array, Array]:
    """Return matrix, shift and covariance of a client's whole work, step by step."""
    problem, eta = run.problem, run.algorithm.work.step_sizes[client]
    variance = problem.oracle.variances[client]  # type: ignore[attr-defined]
    identity = run.arithmetic.identity(problem.dimension)
    step = identity - eta * problem.hessians[client]
    work, shift, spread = identity, problem.start - problem.start, identity - identity
    for _ in range(run.algorithm.work.steps[client]):
        work, shift = step @ work, step @ shift + eta * problem.linear[client]
        spread = step @ spread @ step.T + eta * eta * variance / problem.dimension * identity
    return work, shift, spread


FOUR: dict[str, Any] = {
    "hessians": [
        [["2", "1/2", "0"], ["1/2", "1", "0"], ["0", "0", "1/2"]],
        [["1", "-1", "0"], ["-1", "3", "1"], ["0", "1", "2"]],
        [["1", "0", "1/3"], ["0", "1", "0"], ["1/3", "0", "1"]],
        [["3", "0", "0"], ["0", "1/2", "1/4"], ["0", "1/4", "1/2"]],
    ],
    "linear": [["1", "0", "2"], ["-1", "2", "0"], ["0", "1", "1"], ["2", "-2", "1"]],
    "start": ["3", "-2", "1"],
    "importance": ["1/10", "1/5", "3/10", "2/5"],
    "deviation": [1, 2, "1/2", 3],
    "eta": ["1/4", "1/5", "1/6", "1/8"],
    "steps": (2, 1, 3, 2),
    "server": "3/4",
}


@pytest.mark.parametrize("exact", [True, False], ids=["rational", "float"])
@pytest.mark.parametrize("policy", NAMES)
def test_against_the_dense_joint_recursion(policy: str, exact: bool) -> None:
    """Means and covariances agree for d = 3 and four clients over many updates."""
    run, tiny = _stale(quadratics(**FOUR, rounds=30 if exact else 80), policy, ["2/3", 1, 3, "5/2"], [1, "1/2", 1, 2])
    run = run if exact else run.as_floats()
    means, covariances = _dense(run, tiny.reports)
    found, moments = run.trajectory.server_mean, run.trajectory.moments
    away = found - run.problem.optimum
    second = np.stack(covariances) + away[:, :, None] * away[:, None, :]
    if exact:
        assert plain(found) == plain(np.stack(means))
        assert plain(moments[:, 1:, 1:]) == plain(second)
        assert (moments[:, 0, 0] == 1).all()
        assert plain(moments) == plain(moments.transpose(0, 2, 1))
        return
    assert found == pytest.approx(np.stack(means), rel=1e-9, abs=1e-9)
    assert moments[:, 1:, 1:] == pytest.approx(second, rel=1e-9, abs=1e-9)


# Monte-Carlo.


@pytest.mark.parametrize("oracle", ["noise", "batches"])
@pytest.mark.parametrize("policy", POLICIES)
def test_monte_carlo(policy: str, oracle: str) -> None:
    """Suboptimality, squared distance and coordinates agree within five standard errors."""
    if oracle == "noise":
        pair = quadratics(**PLANE, deviation=[1, 2], steps=(2, 3), rounds=7)
    else:
        pair = data(*PLANE_ROWS, batch=1, eta=["1/5", "1/6"], steps=(2, 3), rounds=7, server="2/3")
    run, _ = _stale(pair, policy, ["2/3", 1], ["1/2", "3/4"])
    exact, optimum = run.as_floats().trajectory, run.as_floats().problem.optimum
    measures = {
        "suboptimality": (suboptimality(run.problem), exact.server_suboptimality),
        "distance": (lambda models: ((models - optimum) ** 2).sum(axis=1), exact.server_distance_sq),
        "first": (lambda models: models[:, 0], exact.server_mean[:, 0]),
        "second": (lambda models: models[:, 1], exact.server_mean[:, 1]),
    }
    found = estimate_expectations(
        run.problem, run.algorithm, [m for m, _ in measures.values()], replicas=20_000, seed=11
    )
    for (name, (_, expected)), one in zip(measures.items(), found, strict=True):
        assert (abs(one.mean - expected) <= 5 * one.standard_error + 1e-12 * abs(expected) + 1e-12).all(), name
        assert one.standard_error[-1] > 0


# Frames.


def _vector(vector: Vector) -> list[list[fmpq]]:
    return plain(vector.values)  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", ["noise", "batches"])
@pytest.mark.parametrize("policy", NAMES)
def test_one_sampled_path(policy: str, kind: str) -> None:
    """On a path, eq. (7), eq. (8) and theta^{n,K} = theta^{n+1} hold exactly."""
    if kind == "noise":
        pair = quadratics(**PLANE, deviation=[1, 2], steps=3, rounds=7)
    else:
        pair = data(*PLANE_ROWS, batch=1, eta=["1/5", "1/6"], steps=3, rounds=7, server="2/3")
    run, tiny = _stale(pair, policy, ["2/3", 1], ["1/2", "3/4"])
    steps, sizes, best = 3, tiny.tiny.step_sizes, tiny.tiny.minimiser()
    server, frames = tiny.tiny.server_step_size, list(iterate_path_frames(run, seed=4))
    assert [frame.index for frame in frames] == [{"round": n, "step": k} for n in range(7) for k in range(steps)]
    versions, received, known = [], [0, 0], {}
    for frame in frames:
        n, k = int(frame.index["round"]), int(frame.index["step"])
        (model,), (virtual,), (following,) = map(_vector, (frame.server, frame.virtual, frame.next_virtual))
        bases, local, noise, moved = map(_vector, (frame.received, frame.local, frame.noise, frame.next_local))
        if k == 0:
            versions.append(model)
            assert virtual == model
        assert bases == [versions[version] for version in received]
        assert local == bases if k == 0 else True
        law = [tiny.weights[i] if i in tiny.reports[n] else fmpq(0) for i in range(2)]
        expected, stepped = tuple(model), tuple(virtual)
        for i in range(2):
            absolute = plus(tuple(local[i]), best)
            gradient = plus(tiny.tiny.clients[i].gradient(absolute), tuple(noise[i]))
            assert moved[i] == list(plus(tuple(local[i]), gradient, -sizes[i]))
            expected = plus(expected, minus(tuple(local[i]), tuple(bases[i])), server * law[i])
            stepped = plus(stepped, gradient, -server * sizes[i] * law[i])
            # Noise is sampled once, when the work begins, independent of later server updates.
            assert known.setdefault((i, received[i], k), (local[i], noise[i])) == (local[i], noise[i])
        assert virtual == list(expected)
        assert following == list(stepped)
        if k == steps - 1:
            received = [n + 1 if i in tiny.reports[n] else received[i] for i in range(2)]
            made = following
        if k == 0 and n > 0:
            assert model == made
    assert any(noise != [0, 0] for _, noise in known.values())


def _means(law: Law, best: Point, left: str, right: str) -> list[fmpq]:
    """Return E<left_i, right_i> relative to the minimiser, for each client."""

    def of(at: Inside, name: str, client: int) -> Point:
        value = getattr(at, name)
        return minus(value[client] if name in ("received", "local") else value, best)

    return [expectation(law, lambda at, i=i: dot(of(at, left, i), of(at, right, i))) for i in range(2)]  # type: ignore[misc]


@pytest.mark.parametrize("kind", ["noise of the fast", "noise of the slow", "batches"])
@pytest.mark.parametrize("policy", NAMES)
def test_frames_in_expectation(policy: str, kind: str) -> None:
    """All inner products of server, received, local and virtual models agree with the enumeration."""
    if kind == "batches":
        pair = data(*ROWS, batch=1, eta=["1/10", "1/7"], steps=2, rounds=2, server="3/2")
    else:
        pair = quadratics(**LINE, deviation=[1, 0] if kind == "noise of the fast" else [0, 2], steps=2, rounds=4)
    run, tiny = _stale(pair, policy, [1, 2], ["5/4", "1/2"])
    laws = {(n, k): law for n, k, law in tiny.inside()}
    best, steps = tiny.tiny.minimiser(), 2
    names = ("server", "received", "local", "virtual")
    frames = list(iterate_moment_frames(run))
    assert len(frames) == len(tiny.reports) * steps
    for frame in frames:
        n, k = int(frame.index["round"]), int(frame.index["step"])
        for left in names:
            for right in names:
                found = np.broadcast_to(frame.inner(getattr(frame, left), getattr(frame, right)).ravel(), 2)
                assert plain(found) == _means(laws[n, k], best, left, right), (left, right, n, k)
        after = laws[n, k + 1]
        for left, engine in (
            ("local", frame.next_local),
            ("received", frame.received),
            ("virtual", frame.next_virtual),
        ):
            found = np.broadcast_to(frame.inner(engine, frame.next_virtual).ravel(), 2)
            assert plain(found) == _means(after, best, left, "virtual"), (left, n, k)
        own = frame.inner(frame.next_local, frame.next_local).ravel()
        assert plain(own) == _means(after, best, "local", "local")

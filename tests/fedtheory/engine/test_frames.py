"""Frames: expected inner products against enumeration, sampled paths against the update rule."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import enumeration as brute
import numpy as np
import pytest
import tiny_shapes as shapes
from flint import fmpq
from tiny_runs import Pair, data, quadratics
from tiny_shapes import PLANE, ROWS

from fedtheory.engine.frames import (
    Frame,
    MomentFrame,
    PathFrame,
    Vector,
    iterate_moment_frames,
    iterate_path_frames,
    iterate_point_frames,
    list_probe_points,
)
from fedtheory.engine.run import Run
from fedtheory.engine.vectors import LinearMaps
from fedtheory.errors import NotApplicable
from fedtheory.federation import Multinomial, Uniform

LINE = shapes.LINE | {"importance": ["1/3", "2/3"]}
SHARES = brute.point("1/3", "2/3")

PAIRS: dict[str, Pair] = {
    "line": quadratics(**LINE, deviation=[1, 2], eta=["1/4", "1/3"], steps=3, rounds=2),
    "line, server step": quadratics(**LINE, deviation=[1, 2], eta=["1/4", "1/3"], steps=2, rounds=2, server="3/2"),
    "line, multinomial": quadratics(
        **LINE, deviation=[1, 0], steps=2, rounds=2, law=Multinomial(2), weights=brute.multinomial_weights(SHARES, 2)
    ),
    "line, uniform": quadratics(
        **LINE, deviation=[0, 1], steps=2, rounds=2, law=Uniform(1), weights=brute.uniform_weights(SHARES, 1)
    ),
    "plane": quadratics(**PLANE, deviation=[1, 0], eta="1/5", steps=2, rounds=2),
    "batches": data(*ROWS, ["2"], batch=1, eta=["1/10", "1/7"], importance=["1/4", "3/4"], steps=2, rounds=2),
    "batches without replacement": data(*ROWS, ["2"], batch=2, replacement=False, eta="1/8", steps=2, rounds=2),
}

Build = Callable[[Frame], Vector]
Truth = Callable[[brute.TinyRun, brute.Point, brute.Step], list[brute.Point]]


def _minus(left: Vector, right: Vector, run: Run) -> Vector:
    return left + right.scale(run.arithmetic.array([-1]))


def _mean_gradient(frame: Frame) -> Vector:
    """Return the weighted average of the full gradients at the local models."""
    return _minus(frame.gradient, frame.noise, frame.run).average(frame.run.problem.weights)


NAMES: dict[str, tuple[Build, Truth]] = {
    "x_i - x*": (lambda f: f.local, lambda _, best, s: [brute.minus(x, best) for x in s.local]),
    "xbar - x*": (
        lambda f: f.average,
        lambda tiny, best, s: [brute.minus(brute.mixture(tiny.importance, s.local), best)] * len(s.local),
    ),
    "x_i - xbar": (
        lambda f: _minus(f.local, f.average, f.run),
        lambda tiny, _, s: [brute.minus(x, brute.mixture(tiny.importance, s.local)) for x in s.local],
    ),
    "server - x*": (lambda f: f.server, lambda _, best, s: [brute.minus(s.base, best)] * len(s.local)),
    "g_i": (lambda f: f.gradient, lambda _tiny, _best, s: list(s.stochastic)),
    "noise_i": (
        lambda f: f.noise,
        lambda tiny, _, s: [
            brute.minus(g, client.gradient(x)) for g, client, x in zip(s.stochastic, tiny.clients, s.local, strict=True)
        ],
    ),
    "next x_i - x*": (lambda f: f.next_local, lambda tiny, best, s: [brute.minus(x, best) for x in tiny.moved(s)]),
    "next xbar - x*": (
        lambda f: f.next_average,
        lambda tiny, best, s: [brute.minus(brute.mixture(tiny.importance, tiny.moved(s)), best)] * len(s.local),
    ),
    "mean gradient": (
        _mean_gradient,
        lambda tiny, _, s: (
            [brute.mixture(tiny.importance, [c.gradient(x) for c, x in zip(tiny.clients, s.local, strict=True)])]
            * len(s.local)
        ),
    ),
    "a constant": (
        lambda f: f.constant(f.run.arithmetic.array([[i + j for j in range(f.run.problem.dimension)] for i in (1, 4)])),
        lambda _, best, _step: [tuple(fmpq(i + j) for j in range(len(best))) for i in (1, 4)],
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("name", PAIRS)
def test_expected_inner_products(name: str) -> None:
    """All pairs of ten vectors agree at every local step, client by client, as equal rationals."""
    pair = PAIRS[name]
    tiny, best, laws = pair.tiny, pair.tiny.minimiser(), pair.tiny.server_laws
    frames = list(iterate_moment_frames(pair.engine))
    assert [frame.index for frame in frames] == [
        {"round": t, "step": k} for t in range(tiny.rounds) for k in range(tiny.steps[0])
    ]
    for frame in frames:
        t, k = int(frame.index["round"]), int(frame.index["step"])
        expected = {both: [fmpq(0)] * 2 for both in itertools.combinations_with_replacement(NAMES, 2)}
        for probability, step in tiny.joint_steps(laws[t], k):
            values = {vector: truth(tiny, best, step) for vector, (_, truth) in NAMES.items()}
            for (left, right), sums in expected.items():
                for i in range(2):
                    sums[i] += probability * brute.dot(values[left][i], values[right][i])
        built = {vector: build(frame) for vector, (build, _) in NAMES.items()}
        for (left, right), wanted in expected.items():
            for one, other in ((left, right), (right, left)):
                found = frame.inner(built[one], built[other]).tolist()
                assert found in (wanted, wanted[:1] if wanted[0] == wanted[1] else wanted), (one, other, frame.index)


def test_frames_agree_with_the_trajectory() -> None:
    """Drift and distances of the averaged iterate and of the server's model agree between frames and trajectory."""
    run = PAIRS["line"].engine
    for frame in iterate_moment_frames(run):
        t, k = int(frame.index["round"]), int(frame.index["step"])
        apart = _minus(frame.local, frame.average, run)
        assert frame.inner(apart, apart).tolist() == run.trajectory.drift[t, k].tolist()
        assert frame.inner(frame.average, frame.average).item() == run.trajectory.local_distance_sq[t, k]
        after = frame.next_average
        assert frame.inner(after, after).item() == run.trajectory.local_distance_sq[t, k + 1]
        assert frame.inner(frame.server, frame.server).item() == run.trajectory.server_distance_sq[t]


def test_fresh_noise_is_orthogonal_to_the_past() -> None:
    """E<noise_i, v> = 0 for the local models, their average and the server's model, also in floats."""
    for pair in PAIRS.values():
        for run in (pair.engine, pair.engine.as_floats()):
            for frame in iterate_moment_frames(run):
                for past in (frame.local, frame.average, frame.server):
                    assert (frame.inner(frame.noise, past) == 0).all()


def _values(vector: Vector) -> Any:
    return vector.values.tolist()  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["line", "line, server step", "plane", "batches", "batches without replacement"])
def test_paths_follow_the_rule(name: str) -> None:
    """Sampled paths satisfy x' = x - eta g, the weighted average, and the server's step at the end of rounds."""
    run = PAIRS[name].engine
    problem, work = run.problem, run.algorithm.work
    frames = list(iterate_path_frames(run, seed=4))
    assert len(frames) == run.algorithm.rounds * work.steps[0]
    assert frames[0].server.values.tolist() == [problem.centred.start.tolist()]  # type: ignore[attr-defined]
    for frame, following in itertools.zip_longest(frames, frames[1:]):
        local, gradient = frame.local.values, frame.gradient.values  # type: ignore[attr-defined]
        full = problem.gradients(local + problem.optimum)
        assert (gradient == full + frame.noise.values).all()  # type: ignore[attr-defined]
        moved = local - work.step_sizes[:, None] * gradient
        assert _values(frame.next_local) == moved.tolist()
        mean = (problem.weights[:, None] * moved).sum(axis=0)
        assert _values(frame.next_average) == [mean.tolist()]
        if following is None:
            continue
        if following.index["round"] == frame.index["round"]:
            assert _values(following.local) == moved.tolist()
            assert _values(following.server) == _values(frame.server)
        else:
            base = frame.server.values[0]  # type: ignore[attr-defined]
            server = base + run.algorithm.aggregation.server_step_size * (mean - base)
            assert _values(following.server) == [server.tolist()]
            assert _values(following.local) == [server.tolist()] * problem.clients


@pytest.mark.parametrize("name", ["line", "plane", "batches", "batches without replacement"])
def test_noise_on_paths_is_an_outcome_of_the_law(name: str) -> None:
    """The stochastic gradient of every step of a path is one of the enumerated outcomes at its point."""
    pair = PAIRS[name]
    best = pair.tiny.minimiser()
    for frame in iterate_path_frames(pair.engine, seed=1):
        for i, client in enumerate(pair.tiny.clients):
            at = brute.plus(tuple(frame.local.values[i]), best)  # type: ignore[attr-defined]
            possible = [gradient for _, gradient in client.stochastic(at)]
            assert tuple(frame.gradient.values[i]) in possible  # type: ignore[attr-defined]


def test_path_inner_products_are_plain() -> None:
    """Inner products on a path are those of its vectors, with one value for all clients broadcast."""
    run = PAIRS["plane"].engine
    frame = next(itertools.islice(iterate_path_frames(run), 1, None))
    local, server = frame.local.values, frame.server.values[0]  # type: ignore[attr-defined]
    assert frame.inner(frame.local, frame.server).tolist() == [x @ server for x in local]
    turned = frame.local.transform(LinearMaps(run.problem.hessians)).scale(run.arithmetic.array([2, -1]))
    assert _values(turned) == [
        (2 * run.problem.hessians[0] @ local[0]).tolist(),
        (-run.problem.hessians[1] @ local[1]).tolist(),
    ]


def test_paths_are_sampled_from_the_seed() -> None:
    """Paths are determined by seeds; different seeds give different noise."""
    run = PAIRS["line"].engine
    first, again, other = ([_values(frame.noise) for frame in iterate_path_frames(run, seed)] for seed in (0, 0, 1))
    assert first == again
    assert first != other


def test_the_average_over_paths_is_the_moment() -> None:
    """Averaged over seeds, E|x_i - xbar|^2 at the last step is within six standard errors of the moment frame."""
    run = quadratics(**LINE, deviation=[1, 2], eta="1/4", steps=2, rounds=2).engine.as_floats()
    *_, last = iterate_moment_frames(run)
    apart = _minus(last.local, last.average, run)
    found = []
    for seed in range(1_500):
        *_, frame = iterate_path_frames(run, seed)
        assert isinstance(frame, PathFrame)
        gap = _minus(frame.local, frame.average, run)
        found.append(frame.inner(gap, gap))
    values = np.array(found)
    error = values.std(axis=0) / np.sqrt(len(values))
    assert (np.abs(values.mean(axis=0) - last.inner(apart, apart)) <= 6 * error).all()


def test_unequal_local_steps_have_no_frames() -> None:
    """With different numbers of local steps there is no averaged iterate."""
    run = quadratics(**LINE, deviation=1, steps=(1, 2)).engine
    for frames in (iterate_moment_frames, iterate_path_frames):
        with pytest.raises(NotApplicable, match="different numbers of local steps"):
            next(iter(frames(run)))


def test_points_and_probes() -> None:
    """Free points have one frame without a step; probes are the start, the optimum and the last mean, centred."""
    run = PAIRS["plane"].engine
    frames = list(iterate_point_frames(run))
    assert [frame.index for frame in frames] == [{}]
    assert (frames[0].noise.values == 0).all()  # type: ignore[attr-defined]
    start, optimum, last = list_probe_points(run).values()
    assert (start == run.problem.start - run.problem.optimum).all()
    assert (optimum == 0).all()
    assert (last == run.trajectory.server_mean[-1] - run.problem.optimum).all()


def test_moment_frames_are_moment_frames() -> None:
    """Every place is in expectation, and in the run's arithmetic."""
    run = PAIRS["plane"].engine
    for frame in iterate_moment_frames(run):
        assert isinstance(frame, MomentFrame)
        assert frame.inner(frame.local, frame.local).dtype == object

"""Parallel restarted SGD as a loop: with the restart first it is FedAvg, as published it is not."""

from __future__ import annotations

import itertools
from typing import Any

import enumeration as brute
import numpy as np
import pytest
from tiny_runs import Pair, data, quadratics
from tiny_shapes import LINE, PLANE, ROWS

from fedtheory.engine.frames import iterate_path_frames
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.federation import Fixed, Uniform
from fedtheory.language import quantities as q
from fedtheory.sources.liu2022.quantities.published_loop import (
    iterate_with_early_restart,
    measure_largest_deviation,
    simulate_as_published,
)


def _pairs(steps: int) -> dict[str, Pair]:
    shape: dict[str, Any] = {"steps": steps, "rounds": 3}
    return {
        "exact": quadratics(**LINE, eta=["1/4", "1/3"], importance=["1/3", "2/3"], **shape),
        "noise": quadratics(**LINE, deviation=[1, 2], eta="1/4", importance=["1/3", "2/3"], **shape),
        "plane": quadratics(**PLANE, deviation=[1, "1/2"], eta="1/5", **shape),
        "batches": data(*ROWS, ["2"], batch=1, eta=["1/10", "1/7"], importance=["1/4", "3/4"], **shape),
        "without replacement": data(*ROWS, ["2"], batch=2, replacement=False, eta="1/8", **shape),
    }


ALL = {(name, steps): pair.engine for steps in (1, 2, 3) for name, pair in _pairs(steps).items()}


def _fedavg(run: Run, seed: int) -> list[Any]:
    return [frame.next_local.values.tolist() for frame in iterate_path_frames(run, seed)]  # type: ignore[attr-defined]


@pytest.mark.parametrize("key", ALL, ids=str)
@pytest.mark.parametrize("seed", [0, 3])
def test_restarting_first_is_fedavg(key: tuple[str, int], seed: int) -> None:
    """Restarting before each step gives the iterates of FedAvg as rationals, with common samples."""
    run = ALL[key]
    found = [iterates.tolist() for iterates in iterate_with_early_restart(run, seed)]
    assert len(found) == run.algorithm.rounds * key[1]
    assert found == _fedavg(run, seed)
    assert measure_largest_deviation(run, iterate_with_early_restart) == 0
    assert q.restarting_first_deviation.measure(run) == 0
    floats = run.as_floats()
    assert q.restarting_first_deviation.measure(floats) == pytest.approx(0, abs=1e-24)


@pytest.mark.parametrize("key", ALL, ids=str)
def test_the_printed_loop_is_not(key: tuple[str, int]) -> None:
    """The published loop agrees for the first K - 1 iterations, and differs later; for K = 1 from the second on."""
    run, steps = ALL[key], key[1]
    printed, fedavg = [x.tolist() for x in simulate_as_published(run)], _fedavg(run, 0)
    assert len(printed) == len(fedavg)
    assert printed[: max(steps - 1, 1)] == fedavg[: max(steps - 1, 1)]
    assert printed[max(steps - 1, 1)] != fedavg[max(steps - 1, 1)]
    assert q.restarted_deviation.measure(run) > 0


def test_the_printed_loop_by_hand() -> None:
    """The published loop (gradient, restart if t mod K = 0, step) agrees with plain rationals."""
    for steps in (1, 2, 3):
        pair = quadratics(**LINE, eta=["1/4", "1/3"], steps=steps, rounds=2, importance=["1/3", "2/3"])
        tiny, best = pair.tiny, pair.tiny.minimiser()
        at = [tiny.start] * 2
        for t, found in enumerate(simulate_as_published(pair.engine), start=1):
            gradients = [client.gradient(x) for client, x in zip(tiny.clients, at, strict=True)]
            if t % steps == 0:
                at = [brute.mixture(tiny.importance, at)] * 2
            at = [brute.plus(x, g, -eta) for x, g, eta in zip(at, gradients, tiny.step_sizes, strict=True)]
            assert found.tolist() == [list(brute.minus(x, best)) for x in at]


def test_the_deviation_is_the_largest_over_time_and_clients() -> None:
    """The deviation is the largest of all squared distances."""
    run = ALL["noise", 2]
    apart = [
        ((np.array(x, dtype=object) - np.array(y, dtype=object)) ** 2).sum(axis=1)
        for x, y in zip(simulate_as_published(run), _fedavg(run, 0), strict=True)
    ]
    assert q.restarted_deviation.measure(run) == max(itertools.chain(*apart))


def test_one_client_never_restarts_elsewhere() -> None:
    """For one client both loops are SGD, because its average is its own iterate."""
    run = quadratics([[["2"]]], [["1"]], ["3"], deviation=1, eta="1/4", steps=2, rounds=3).engine
    assert q.restarted_deviation.measure(run) == 0
    assert q.restarting_first_deviation.measure(run) == 0


def test_unequal_steps_and_random_participants_are_refused() -> None:
    """The loop needs one K and full participation."""
    with pytest.raises(NotApplicable, match="different numbers of local steps"):
        next(iterate_with_early_restart(quadratics(**LINE, steps=(1, 2)).engine))
    with pytest.raises(NotApplicable, match="the loop over iterations averages all clients"):
        q.restarted_deviation.measure(quadratics(**LINE, steps=2, law=Uniform(1)).engine)


@pytest.mark.parametrize("settings", [{"server": "1/2"}, {"law": Fixed((0,))}], ids=str)
def test_other_algorithms_than_plain_fedavg_are_refused(settings: dict[str, Any]) -> None:
    """The loop averages with server step one; other servers are rejected."""
    with pytest.raises(NotApplicable):
        q.restarting_first_deviation.measure(quadratics(**LINE, steps=2, rounds=2, **settings).engine)


def test_the_deviation_compares_the_same_draws() -> None:
    """The deviation uses the loop's samples, for every seed."""
    run = ALL["noise", 2]
    assert measure_largest_deviation(run, iterate_with_early_restart, seed=3) == 0

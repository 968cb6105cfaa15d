"""Quantities that only claims use, against enumerations of samples, clocks and windows."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from enumeration import expectation
from flint import fmpq
from stale_enumeration import Inside, Server, StaleRun, events
from tiny_runs import data, quadratics

from fedtheory import RATIONAL, Run
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.engine.moments.stationary import compute_stationary_round_suboptimality
from fedtheory.federation.clock import Asynchronous, Clock
from fedtheory.language import quantities as q
from fedtheory.sources.vlaski2023.quantities import samples

INPUTS: list[list[Any]] = [[fmpq(1, 2), fmpq(1)], [fmpq(1), fmpq(1, 3)]]
OUTPUTS: list[list[Any]] = [[fmpq(1), fmpq(0)], [fmpq(0), fmpq(1)]]
TIMES = (fmpq(1), fmpq(2))
SHARES = [(fmpq(1), fmpq(0)), (fmpq(1, 2), fmpq(1, 2)), (fmpq(1), fmpq(0))]
"""Normalised weights q_i(n) / q(n): the second client reports in every second update."""


def _on_rows(steps: int, rounds: int) -> tuple[Run, StaleRun]:
    """Return two clients with two rows each, where the second is half as fast as the first."""
    inputs = [[[x] for x in rows] for rows in INPUTS]
    pair = data(inputs, OUTPUTS, ["2"], batch=1, eta="1/5", steps=steps, rounds=rounds)
    algorithm = replace(pair.engine.algorithm, clock=Clock(Asynchronous(), TIMES))
    reports = [event.reports for event in events(Server("buffer"), TIMES, rounds)]
    return Run(pair.engine.problem, algorithm), StaleRun(pair.tiny, reports, pair.tiny.importance)


def _gradient(client: int, row: int, at: fmpq) -> fmpq:
    """Return the gradient of the square of one residual."""
    x, y = INPUTS[client][row], OUTPUTS[client][row]
    return 2 * x * (x * at - y)


def _change(at: Inside, client: int, row: int) -> fmpq:
    """Return the change of a client's gradient between its model and the virtual one, for one row."""
    return _gradient(client, row, at.local[client][0]) - _gradient(client, row, at.virtual[0])


def _mean(client: int, at: fmpq) -> fmpq:
    return (_gradient(client, 0, at) + _gradient(client, 1, at)) / 2


def _over_rows(client: int, at: fmpq) -> fmpq:
    """Return the variance of a client's gradient over its two rows."""
    return ((_gradient(client, 0, at) - _gradient(client, 1, at)) / 2) ** 2


def test_gradients_of_one_draw_at_two_points() -> None:
    """Second moments, changes and noise at the virtual iterate agree with all possible rows."""
    run, stale = _on_rows(steps=2, rounds=3)
    found = {
        name: getattr(q, name).on(run)
        for name in (
            "virtual_second_moment",
            "stale_gradient_change",
            "mixed_gradient_change",
            "mixed_noise_at_virtual",
            "virtual_gradient_lengths",
            "mean_gradient_at_virtual_sq",
        )
    }
    pairs = list(itertools.product(range(2), range(2)))
    for n, k, law in stale.inside():
        if k == 2:
            continue
        shares = SHARES[n]
        for i in range(2):
            second = expectation(law, lambda at, i=i: sum(_gradient(i, r, at.virtual[0]) ** 2 for r in range(2)) / 2)
            assert found["virtual_second_moment"][n, k, i] == second
            changes = expectation(law, lambda at, i=i: sum(_change(at, i, r) ** 2 for r in range(2)) / 2)
            assert found["stale_gradient_change"][n, k, i] == changes
            lengths = expectation(law, lambda at, i=i: _mean(i, at.virtual[0]) ** 2)
            assert found["virtual_gradient_lengths"][n, k, i] == lengths
        mixed = expectation(
            law,
            lambda at, s=shares: sum((s[0] * _change(at, 0, a) + s[1] * _change(at, 1, b)) ** 2 for a, b in pairs) / 4,
        )
        assert found["mixed_gradient_change"][n, k, 0] == mixed
        noise = expectation(law, lambda at, s=shares: sum(s[i] ** 2 * _over_rows(i, at.virtual[0]) for i in range(2)))
        assert found["mixed_noise_at_virtual"][n, k, 0] == noise
        slope = expectation(law, lambda at, s=shares: sum(s[i] * _mean(i, at.virtual[0]) for i in range(2)) ** 2)
        assert found["mean_gradient_at_virtual_sq"][n, k, 0] == slope
    assert found["stale_gradient_change"].any()


def _value(client: int, at: fmpq) -> fmpq:
    return sum(((x * at - y) ** 2 for x, y in zip(INPUTS[client], OUTPUTS[client], strict=True)), fmpq(0)) / 2


def test_losses_of_a_window() -> None:
    """Two windows of two updates: q(n) is (1/2, 0) and (1/2, 1/2), so that q is (1/2, 1/4)."""
    run, stale = _on_rows(steps=1, rounds=4)
    weights = [(fmpq(1, 2), fmpq(0)), (fmpq(1, 2), fmpq(1, 2))] * 2
    own = [[fmpq(0), fmpq(0)] for _ in range(2)]
    surrogate = [[fmpq(0), fmpq(0)] for _ in range(2)]
    means = [[fmpq(0), fmpq(0)] for _ in range(2)]
    for n, k, law in stale.inside():
        if k == 1:
            continue
        values = [expectation(law, lambda at, i=i: _value(i, at.virtual[0])) for i in range(2)]
        for i in range(2):
            own[n // 2][i] += weights[n][i] * values[i]
            means[n // 2][i] += (fmpq(1, 2), fmpq(1, 4))[i] * values[i]
            surrogate[n // 2][i] += weights[n][i] * (values[0] / 2 + values[1] / 4)
    assert q.window.on(run) == 2
    assert q.window_round_loss.on(run)[:, 0].tolist() == own
    assert q.window_loss.on(run)[:, 0].tolist() == means
    assert q.window_surrogate_loss.on(run)[:, 0].tolist() == surrogate
    assert q.window_weight.on(run)[:, 0].tolist() == [[1, fmpq(1, 2)]] * 2


@pytest.mark.parametrize("server", ["1", "1/2", "5/4"])
def test_round_suboptimality_in_the_limit_of_another_server_step(server: str) -> None:
    """One client on a line, with curvature 2, steps of 1/3 and noise of variance 4; three steps in a round.

    A local step multiplies by 1/3 and adds noise of variance 4/9; the server keeps 1 - eta_g + eta_g / 27.
    """
    run = quadratics([[["2"]]], [[0]], [1], deviation=2, eta="1/3", steps=3, server=server).engine
    rate = RATIONAL.number(server, "server")
    added = [fmpq(0), fmpq(4, 9)]
    for _ in range(2):
        added.append(added[-1] / 9 + fmpq(4, 9))
    stationary = rate**2 * added[3] / (1 - (1 - rate + rate / 27) ** 2)
    inside = [stationary * fmpq(1, 9) ** k + added[k] for k in (1, 2, 3)]
    assert compute_stationary_round_suboptimality(Recursion(run.problem, run.algorithm)) == sum(inside) / 3


@pytest.mark.parametrize("batch", [None, 1, 2])
@pytest.mark.parametrize("replacement", [True, False])
def test_the_squared_curvature_of_a_draw(batch: int | None, replacement: bool) -> None:
    """E[A'A] agrees for the average A of h h' over the rows h of a mini-batch, or over all rows."""
    rows = np.array([[1, 2], [0, 1], [-1, 3]])
    run = data([rows.tolist()], [[1, 0, 2]], ["1", "0"], batch=batch, replacement=replacement, eta="1/50").engine
    draws: list[tuple[int, ...]] = [(0, 1, 2)]
    if batch is not None:
        every = itertools.product(range(3), repeat=batch)
        draws = [draw for draw in every if replacement or len(set(draw)) == batch]
    averages = [sum(np.outer(rows[j], rows[j]) for j in draw) for draw in draws]
    total = sum(average @ average for average in averages)
    expected = [[fmpq(int(entry), len(draws) * len(draws[0]) ** 2) for entry in row] for row in total]
    assert samples._square_sample_curvatures(run)[0].tolist() == expected


def test_the_largest_gradient_at_virtual_iterates() -> None:
    """For x^2/2 from 1, two steps of 1/2 and a server step of eight lead to -3, then to -5."""
    run = quadratics([[["1"]]], [[0]], [1], eta="1/2", steps=2, server=8).engine
    for quantity in (q.full_gradient_bound, q.gradient_bound):
        assert quantity.on(run) == 25

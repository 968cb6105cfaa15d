"""The engine against all mini-batches of a few rows, as equal rationals."""

from __future__ import annotations

from typing import Any

import pytest
from flint import fmpq
from tiny_runs import assert_local_agrees, assert_server_agrees, data

LINE: tuple[list[list[Any]], list[Any]] = ([["1/2"], [1], [-1], ["3/2"]], [1, 0, 2, -1])
OTHER_LINE: tuple[list[list[Any]], list[Any]] = ([[1], ["1/3"], [2], [0]], [0, 1, -2, 1])
PLANE: tuple[list[list[Any]], list[Any]] = ([[1, 0], ["1/2", 1], [-1, 1], [0, "1/3"]], [1, 0, 2, -1])
OTHER_PLANE: tuple[list[list[Any]], list[Any]] = ([[1, 1], [0, -1], ["1/2", 0], [1, "1/2"]], [0, 1, 1, -2])
START = {1: ["2"], 2: ["1", "-1"]}


def _run(*tables: tuple[list[list[Any]], list[Any]], **settings: Any) -> Any:
    dimension = len(tables[0][0][0])
    return data([inputs for inputs, _ in tables], [outputs for _, outputs in tables], START[dimension], **settings)


@pytest.mark.long
@pytest.mark.parametrize("replacement", [True, False], ids=["with replacement", "without"])
@pytest.mark.parametrize("batch", [1, 2, 3])
@pytest.mark.parametrize("table", [LINE, PLANE], ids=["line", "plane"])
def test_one_client(table: Any, batch: int, replacement: bool) -> None:
    """Two local steps on four data points agree with the enumeration."""
    rounds = 2 if batch < 3 or not replacement else 1
    pair = _run(table, batch=batch, replacement=replacement, eta="1/10", steps=2, rounds=rounds)
    assert_server_agrees(pair)
    assert_local_agrees(pair)


@pytest.mark.parametrize("replacement", [True, False], ids=["with replacement", "without"])
@pytest.mark.parametrize("batch", [1, 2, 3])
@pytest.mark.parametrize("tables", [(LINE, OTHER_LINE), (PLANE, OTHER_PLANE)], ids=["line", "plane"])
def test_two_clients(tables: Any, batch: int, replacement: bool) -> None:
    """One step in two rounds, and two steps in one round, agree, with unequal weights and step sizes."""
    common = {"batch": batch, "replacement": replacement, "eta": ["1/10", "1/7"], "importance": ["1/4", "3/4"]}
    few = batch == 1 or not replacement
    for steps, rounds in [(1, 2), (2, 1)] if few else [(1, 1)]:
        pair = _run(*tables, **common, steps=steps, rounds=rounds, server="3/2")
        assert_server_agrees(pair)
        assert_local_agrees(pair)


@pytest.mark.parametrize("replacement", [True, False], ids=["with replacement", "without"])
@pytest.mark.parametrize("tables", [(LINE, OTHER_LINE), (PLANE, OTHER_PLANE)], ids=["line", "plane"])
def test_a_ridge(tables: Any, replacement: bool) -> None:
    """A ridge adds its gradient to every step without noise; its optimum differs from that of the data."""
    common = {"replacement": replacement, "eta": ["1/10", "1/7"], "importance": ["1/4", "3/4"], "ridge": "2/3"}
    for batch, steps, rounds in [(1, 1, 2), (1, 2, 1), (2, 1, 1), (None, 2, 2)]:
        pair = _run(*tables, **common, batch=batch, steps=steps, rounds=rounds)
        assert_server_agrees(pair)
        assert_local_agrees(pair)


def test_clients_of_different_sizes() -> None:
    """Clients with four, two and one rows, and different numbers of local steps, agree."""
    small: Any = ([[1], [-2]], [1, 1])
    single: Any = ([["1/2"]], [3])
    for replacement in (True, False):
        pair = _run(LINE, small, single, batch=1, replacement=replacement, eta="1/12", steps=(1, 2, 2), rounds=2)
        assert_server_agrees(pair)


def test_whole_batches_are_full_gradients() -> None:
    """A batch of all rows has no noise without replacement, and noise with replacement."""
    full = _run(LINE, batch=None, eta="1/10", steps=2, rounds=2).engine.trajectory.server_distance_sq
    without = _run(LINE, batch=4, replacement=False, eta="1/10", steps=2, rounds=2).engine.trajectory.server_distance_sq
    with_replacement = _run(LINE, batch=4, eta="1/10", steps=2, rounds=2).engine.trajectory.server_distance_sq
    assert (full == without).all()
    assert with_replacement[-1] > full[-1]


def test_noise_variance_where_it_is_the_same_everywhere() -> None:
    """With inputs of equal norm in one dimension the noise is equal everywhere."""
    run = data([[[1], [1], [-1], [-1]]], [[1, 0, 2, 0]], [1], batch=2, replacement=False, eta="1/10").engine
    # Sample gradients are 2 (w - 1), 2 w, 2 (w + 2), 2 w: mean 2 w + 1/2, variance (2.5^2 + .5^2 + 3.5^2 + .5^2) / 4.
    per_sample = (fmpq(25, 4) + fmpq(1, 4) + fmpq(49, 4) + fmpq(1, 4)) / 4
    assert run.noise_variance.value == per_sample * fmpq(2, 2 * 3)
    assert run.noise_variance.region.description == "all of space"

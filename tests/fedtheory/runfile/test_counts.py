"""Clients in types: a run file with counts equals that with every client written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.errors import InputError, NotApplicable
from fedtheory.runfile import parse_run

HESSIANS, LINEAR, NOISE, CONSTANTS = ["2", "1"], ["1", "-3"], ["1/2", "2"], ["1", "0"]
ALGORITHM: dict[str, Any] = {
    "local_step_size": "1/8",
    "local_steps": 2,
    "rounds": 3,
    "participation": {"kind": "uniform", "clients": 2},
}


def _table(places: list[int], **keys: Any) -> dict[str, Any]:
    problem = {
        "kind": "quadratic",
        "hessians": [[[HESSIANS[place]]] for place in places],
        "linear": [[LINEAR[place]] for place in places],
        "noise": [NOISE[place] for place in places],
        "constants": [CONSTANTS[place] for place in places],
        "start": ["3"],
    }
    return {"problem": problem | keys, "algorithm": ALGORITHM}


@pytest.mark.parametrize("weights", [None, ["1/4", "3/4"]])
def test_counts_write_clients_out(weights: list[str] | None) -> None:
    """The numbers are equal in rationals; the weight of an entry is divided evenly among its clients."""
    each = [] if weights is None else ["1/12"] * 3 + ["3/8"] * 2
    given = {} if weights is None else {"weights": weights}
    found = parse_run(_table([0, 1], count=[3, 2], **given), RATIONAL)
    expected = parse_run(_table([0, 0, 0, 1, 1], **({} if weights is None else {"weights": each})), RATIONAL)
    assert found.clients == 5
    assert found.repeat_for_clients(found.trajectory.drift).tolist() == expected.trajectory.drift.tolist()
    for name in ("server_suboptimality", "server_distance_sq"):
        assert getattr(found.trajectory, name).tolist() == getattr(expected.trajectory, name).tolist()
    assert found.problem.optimal_value == expected.problem.optimal_value
    assert found.algorithm.times(found.problem.weights) == expected.algorithm.times(expected.problem.weights)


def test_one_count_is_for_all_entries() -> None:
    assert (
        parse_run(_table([0, 1], count=4), FLOAT).follow_all_clients().problem.hessians.ravel().tolist()
        == [2] * 4 + [1] * 4
    )


@pytest.mark.parametrize(
    ("count", "message"),
    [
        ([1], "expected 2 numbers, one for each entry, got 1"),
        ([1, 0], "expected a whole number of at least 1, got 0"),
        ([1, "2"], "expected a whole number"),
        (10**8, "expected at most 100000000 clients, got 200000000"),
    ],
    ids=["too few", "none", "text", "too many"],
)
def test_wrong_counts_are_refused(count: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_run(_table([0, 1], count=count), FLOAT)


def test_a_hundred_thousand_clients_in_two_types() -> None:
    """The last error is that of two clients with the same noise in their average."""
    count = 50_000
    law = {"participation": {"kind": "full"}}
    many = parse_run(_table([0, 1], count=count) | {"algorithm": ALGORITHM | law}, FLOAT)
    noise = [1 / 2 / count, 2 / count]
    few = parse_run(_table([0, 1], noise=noise) | {"algorithm": ALGORITHM | law}, FLOAT)
    found, expected = many.trajectory.server_suboptimality, few.trajectory.server_suboptimality
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_numbers_of_all_clients_have_to_fit() -> None:
    """Numbers of all clients at every local step that exceed memory are rejected."""
    run = parse_run(
        _table([0, 1], count=50_000) | {"algorithm": ALGORITHM | {"rounds": 400}}, FLOAT
    ).follow_all_clients()
    assert len(run.trajectory.server_suboptimality) == 401
    with pytest.raises(NotApplicable, match="expected at most 100000000 numbers"):
        _ = run.trajectory.drift

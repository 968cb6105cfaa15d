"""The clients of a run in words: types of equal clients have their numbers, default weights are not printed."""

from __future__ import annotations

from typing import Any

import pytest

from fedtheory.cli.run_in_words import describe_run

_STEEP, _FLAT = "curvature 1, linear term 2", "curvature 1/4, linear term 0"
_ALGORITHM: dict[str, Any] = {"name": "fedavg", "local_step_size": "1/4", "local_steps": 8, "rounds": 2}
_SETTINGS = ["start 1", "step size 1/4, local steps 8, rounds 2"]


def _problem(steep: list[bool], **more: Any) -> dict[str, Any]:
    hessians = [[["1"]] if of_client else [["1/4"]] for of_client in steep]
    linear = [["2"] if of_client else ["0"] for of_client in steep]
    return {"kind": "quadratic", "hessians": hessians, "linear": linear, "start": ["1"], **more}


@pytest.mark.parametrize(
    ("steep", "more", "clients"),
    [
        ([True], {}, [f"client 1: {_STEEP}"]),
        ([True], {"count": 512}, [f"clients 1 to 512: {_STEEP}"]),
        ([True, False], {"count": [1, 3]}, [f"client 1: {_STEEP}", f"clients 2 to 4: {_FLAT}"]),
        (
            [True, False],
            {"count": 2, "weights": ["1/2", "1/2"]},
            [f"clients 1 to 2: {_STEEP}", f"clients 3 to 4: {_FLAT}"],
        ),
        ([True, True, False], {"count": [2, 3, 1]}, [f"clients 1 to 5: {_STEEP}", f"client 6: {_FLAT}"]),
        ([True, False, True], {"count": [2, 3, 1]}, [f"3 clients: {_STEEP}", f"clients 3 to 5: {_FLAT}"]),
        ([True, False, True], {}, [f"clients (1, 3): {_STEEP}", f"client 2: {_FLAT}"]),
    ],
    ids=str,
)
def test_equal_clients_share_a_line(steep: list[bool], more: dict[str, Any], clients: list[str]) -> None:
    assert describe_run({"problem": _problem(steep, **more), "algorithm": _ALGORITHM}) == [*clients, *_SETTINGS]


def test_weights_that_differ_from_the_counts_are_printed() -> None:
    table = {"problem": _problem([True, False], count=[1, 3], weights=["1/2", "1/2"]), "algorithm": _ALGORITHM}
    assert describe_run(table)[2] == "start 1, weights 1/2 for each"

"""Noise of many clients, computed in blocks; sums of powers of maps, computed with few products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fedtheory.arithmetic import FLOAT, RATIONAL, Arithmetic, Array, product
from fedtheory.engine.moments import recursion
from fedtheory.engine.moments.powers import accumulate_noise
from fedtheory.runfile import parse_run


def _errors(arithmetic: Arithmetic, law: dict[str, Any]) -> Array:
    problem = {
        "kind": "quadratic",
        "hessians": [[[str(1 + n % 3), "1/2"], ["1/2", "1"]] for n in range(5)],
        "linear": [[str(n), "1"] for n in range(5)],
        "noise": ["1/2", "1", "2", "3", "0"],
        "start": ["3", "-1"],
    }
    algorithm = {"local_step_size": "1/8", "local_steps": 3, "rounds": 4, "participation": law}
    return parse_run({"problem": problem, "algorithm": algorithm}, arithmetic).trajectory.server_suboptimality


@pytest.mark.parametrize("law", [{"kind": "full"}, {"kind": "uniform", "clients": 2}], ids=["full", "uniform"])
def test_blocks_change_no_number(law: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    expected, close = _errors(RATIONAL, law), _errors(FLOAT, law)
    monkeypatch.setattr(recursion, "_BLOCK", 8)
    assert _errors(RATIONAL, law).tolist() == expected.tolist()
    np.testing.assert_allclose(_errors(FLOAT, law), close, rtol=1e-13)


@pytest.mark.parametrize("count", range(10))
def test_sums_of_powers_are_those_of_all_terms(count: int) -> None:
    """The sum sum_j A^j C A^j' of maps is that of all terms, in rationals."""
    maps = RATIONAL.array([[["1/2", "1"], ["0", "1/3"]], [["1", "1/5"], ["-1", "0"]]])
    fresh = RATIONAL.array([[["1", "0"], ["0", "2"]], [["2", "1"], ["1", "1"]]])
    counts = np.array([count, 3])
    found = accumulate_noise(maps, fresh, counts)
    for one, own, steps, total in zip(maps, fresh, counts, found, strict=True):
        expected, moved = own - own, own
        for _ in range(int(steps)):
            expected, moved = expected + moved, product(product(one, moved), one.T)
        assert total.tolist() == expected.tolist()

"""Least values of the clients, each at its own minimiser."""

from __future__ import annotations

import pytest

from fedtheory import FLOAT, RATIONAL, parse_run
from fedtheory.arithmetic import Arithmetic

RUN = {
    "problem": {
        "kind": "quadratic",
        "hessians": [[["2", "1"], ["1", "3"]], [["1", "0"], ["0", "5"]]],
        "linear": [["1", "2"], ["-1", "1/3"]],
        "start": [0, 0],
    },
    "algorithm": {"local_step_size": "1/20", "rounds": 2},
}


@pytest.mark.parametrize("arithmetic", [FLOAT, RATIONAL])
def test_least_values_by_hand(arithmetic: Arithmetic) -> None:
    """The values -b'H^-1 b/2 are -7/10 and -(1 + 1/45)/2 = -23/45, also in the table of all clients at all points."""
    run = parse_run(RUN, arithmetic)
    found = run.surrogate.least_client_values
    assert [float(value) for value in found] == pytest.approx([-7 / 10, -23 / 45], rel=1e-14)
    among_all = run.surrogate.client_values(run.problem.centred.client_optima).diagonal()
    assert [float(value) for value in found] == pytest.approx([float(value) for value in among_all], rel=1e-14)

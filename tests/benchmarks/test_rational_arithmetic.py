"""What exact rationals cost, beside floats."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import Row
from problems import best_of

from fedtheory.arithmetic import FLOAT, RATIONAL, Arithmetic
from fedtheory.language.registry import find
from fedtheory.runfile import parse_run
from verify.check import check

pytestmark = pytest.mark.slow
RUN = {
    "problem": {
        "kind": "quadratic",
        "hessians": [[["2", "0"], ["0", "1"]], [["2", "0"], ["0", "1"]]],
        "linear": [["1", "0"], ["-1", "0"]],
        "start": ["3", "-2"],
        "noise": "1",
    },
    "algorithm": {"name": "fedavg", "local_step_size": "1/20", "local_steps": 5, "rounds": 20},
}


def checked(arithmetic: Arithmetic) -> object:
    """Theorem 2.1 on the run."""
    return check(find("renard2022:thm-2.1"), parse_run(RUN, arithmetic))


def test_rationals_against_floats(benchmark: Any, row: Row) -> None:
    """A check of Theorem 2.1 on a run of twenty rounds, in both arithmetics."""
    checked(FLOAT)
    benchmark.pedantic(checked, args=(RATIONAL,), rounds=5)
    ratio = best_of(lambda: checked(RATIONAL)) / best_of(lambda: checked(FLOAT))
    row("check in rationals, 20 rounds", "the same in floats", ratio, "times the cost")

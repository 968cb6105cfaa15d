"""A run beyond the range of floats decides nothing about a claim."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from fedtheory.arithmetic import FLOAT
from fedtheory.language.registry import find
from fedtheory.runfile import parse_run
from verify.check import check
from verify.falsify.score import NOTHING, score

RUN = {
    "problem": {"kind": "quadratic", "hessians": [[["1"]], [["1"]]], "linear": [["1"], ["0"]], "start": ["0"]},
    "algorithm": {"name": "fedavg", "local_step_size": "1/8", "local_steps": 2, "rounds": 2},
}


@pytest.mark.parametrize("sides", [(math.inf, math.inf), (math.inf, -1.0), (math.inf, 0.0), (1.0, math.nan)])
def test_an_infinite_side_is_no_violation(sides: tuple[float, float]) -> None:
    """An infinite side is no violation, alone or against another infinite side."""
    found = check(find("renard2022:lemma-2.3"), parse_run(RUN, FLOAT))
    lhs, rhs = sides
    far = replace(found, comparisons=tuple(replace(c, lhs=lhs, rhs=rhs) for c in found.comparisons))
    assert score(found) != NOTHING
    assert score(far) == NOTHING

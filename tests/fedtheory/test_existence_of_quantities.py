"""Quantities that a run refuses are found by measuring them, and proofs know that they need not exist."""

from __future__ import annotations

from typing import Any

import pytest

from fedtheory import RATIONAL, NotApplicable, parse_run
from fedtheory.engine.run import Run
from fedtheory.language import quantities as q
from fedtheory.language.quantities import Quantity
from fedtheory.proofs.existence import KINDS

CURVED = {"hessians": [[["1"]], [["2"]]], "linear": [["1"], ["0"]], "start": ["1"]}
LINES = {"hessians": [[["0"]], [["0"]]], "linear": [["1"], ["-1"]], "start": ["1"]}
EMPTY = {"clock": {"policy": "fedfix", "times": ["1", "2"], "interval": "1/2"}}
FULL = {"clock": {"policy": "fedfix", "times": ["1", "2"], "interval": "2"}}
ALONE = {"participation": {"kind": "fixed", "clients": [0]}}
OF_ALL_UPDATES = {"mean_weight_share", "mean_chi_sq"}


def run(problem: dict[str, Any], algorithm: dict[str, Any]) -> Run:
    keys = {"local_step_size": "1/4", "rounds": 4, "local_steps": 2, **algorithm}
    return parse_run({"problem": {"kind": "quadratic", **problem}, "algorithm": keys}, RATIONAL)


def refused(one: Quantity, by: Run) -> bool:
    try:
        one.on(by)
    except NotApplicable:
        return True
    return False


@pytest.mark.parametrize(("without", "having"), [((CURVED, EMPTY), (CURVED, FULL)), ((LINES, ALONE), (LINES, {}))])
def test_what_an_update_lacks_is_known_to_proofs(without: Any, having: Any) -> None:
    """Where nobody reports there are no shares, and where one client is alone its problem may have no minimiser."""
    known = {notion.name for kind in KINDS for notion in kind.notions}
    every = {one.name: one for one in vars(q).values() if isinstance(one, Quantity)}
    lacking, other = run(*without), run(*having)
    found = {name for name, one in every.items() if refused(one, lacking) and not refused(one, other)}
    assert "weight_share" in found or "surrogate_optimum_distance" in found
    assert found - known <= OF_ALL_UPDATES | {"fastest_gap", "restarted_deviation", "restarting_first_deviation"}

"""Every quantity on a run of every algorithm is a number, or a reason of one line says why it has none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

from fedtheory import Claim
from fedtheory import quantities as q
from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.federation.algorithms import definition, names
from fedtheory.language.quantities.quantity import RunQuantity
from fedtheory.runfile import parse_run
from verify.check import check

PROBLEM = {
    "kind": "quadratic",
    "hessians": [[["2"]], [["1/2"]]],
    "linear": [["1"], ["-2"]],
    "start": ["3"],
    "noise": "1",
}
OWN: dict[str, dict[str, Any]] = {
    "compressed": {"coordinates": 1},
    "dsgd": {"mixing": [["2/3", "1/3"], ["1/3", "2/3"]]},
    "fedavg": {"local_step_size": "1/(5+n)"},
    "fedavgm": {"momentum": "2/5"},
    "fedprox": {"proximal": "3/2"},
    "scaffnew": {"probability": "1/3"},
}
EVERYWHERE = {"max_drift", "average_suboptimality", "final_distance_sq", "final_suboptimality", "total_progress"}
KEPT = {"consensus_distance_sq", "final_consensus_distance_sq"}


def _run(name: str) -> Run:
    keys = {"name": name, "local_step_size": "1/5", "rounds": 2} | OWN.get(name, {})
    keys |= {} if definition(name).steps_are_rounds else {"local_steps": 2}
    return parse_run({"problem": PROBLEM, "algorithm": keys}, RATIONAL)


def _reason(quantity: RunQuantity, run: Run) -> str | None:
    try:
        found = np.asarray(quantity.on(run))
    except NotApplicable as reason:
        return str(reason)
    assert found.size > 0
    return None


@pytest.mark.parametrize("name", names())
def test_every_quantity_has_a_value_or_a_reason(name: str) -> None:
    run = _run(name)
    quantities = [entry for entry in map(q.__dict__.get, q.__all__) if isinstance(entry, RunQuantity)]
    reasons = {quantity.name: _reason(quantity, run) for quantity in quantities}
    known = {quantity for quantity, reason in reasons.items() if reason is None}
    assert known >= EVERYWHERE
    assert known >= KEPT if definition(name).steps_are_rounds else not known & KEPT
    assert all(reason and "\n" not in reason for quantity, reason in reasons.items() if quantity not in known)


def test_changing_steps_are_what_the_update_rule_has_not() -> None:
    why = "it is known for the update rule, and fedavg with changing step sizes is not a setting of it"
    assert _reason(q.limiting_suboptimality, _run("fedavg")) == f"limiting_suboptimality has no value: {why}"


@pytest.mark.parametrize("name", names())
def test_claims_about_drift_hold_and_fail(name: str) -> None:
    """A claim with the value itself as bound holds, and one with a smaller bound fails."""
    run = _run(name)
    value = q.max_drift.on(run)
    bounds = [sp.Rational(str(value)), sp.Rational(str(value * 99 / 100))]
    claims = [Claim(id="mine:drift", lhs=q.max_drift, rhs=bound) for bound in bounds]
    assert value > 0
    assert [check(claim, run).holds for claim in claims] == [True, False]


def test_the_last_spread_is_the_end_of_all() -> None:
    """The spread of the clients' models after the last round equals the last entry over all rounds."""
    run = _run("dsgd")
    assert q.final_consensus_distance_sq.on(run) == run.trajectory.client_spread[-1]

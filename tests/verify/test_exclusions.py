"""Exclusions of runs from a claim are counted by name."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from verify.evaluated_instances import try_claims
from verify.exclusions import count_exclusions, describe_exclusions, explain_no_instance
from verify.instances import PARTS

eta, steps = sp.symbols("eta tau", positive=True)
WHERE = {eta: q.local_step_size, steps: q.local_steps}


@pytest.mark.long
def test_an_instance_counts_for_the_first_that_excludes_it() -> None:
    """An instance is counted for the first reason that excludes it: assumptions, then conditions, then missing
    quantities.
    """
    where = WHERE | {q.mixing_contraction.symbol: q.mixing_contraction}
    several = Claim(
        id="mine:several",
        lhs=0,
        rhs=q.mixing_contraction,
        where=where,
        conditions=[steps >= 2, eta <= 1],
        assumptions=[a.several_clients, a.update_rule],
    )
    outcomes = [outcome for part in PARTS for outcome in try_claims([several], part)]
    found = count_exclusions(outcomes)
    assert list(found) == sorted(found, key=lambda name: -found[name])
    assert set(found) >= {"several clients", "tau >= 2", "mixing_contraction"}
    assert sum(found.values()) == sum(not outcome.applicable for outcome in outcomes) == len(outcomes)
    single = [outcome for outcome in outcomes if outcome.instance.run().problem.clients == 1]
    assert {outcome.excluded for outcome in single} == {"several clients"}


def test_the_reason_says_what_each_is() -> None:
    """The reason says whether it is a quantity, an assumption or a condition."""
    claim = Claim(id="mine:one", lhs=0, rhs=eta, where=WHERE, conditions=[steps >= 2], assumptions=[a.full_gradients])
    printed = describe_exclusions(claim, {"full gradients": 3, "tau >= 2": 2, "local_step_size": 1})
    assert printed == (
        "the assumption full gradients fails (3 runs); the condition tau >= 2 fails (2 runs); "
        "local_step_size has no value (1 run)"
    )
    assert "no run was found" in describe_exclusions(claim, {})


def test_exclusions_are_found_without_outcomes() -> None:
    """Exclusions are found on a part of the instances if no outcomes are given."""
    never = Claim(id="mine:never", lhs=0, rhs=eta, where=WHERE, conditions=[eta >= 10**6], assumptions=[a.update_rule])
    printed = explain_no_instance(never)
    assert printed is not None
    assert printed.startswith("the condition eta >= 1000000 fails (")
    assert explain_no_instance(replace(never, conditions=())) is None

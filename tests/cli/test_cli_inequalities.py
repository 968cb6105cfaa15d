"""`fedtheory inequalities`: every inequality of the kernel with its arguments, and names of a claim's assumptions."""

from __future__ import annotations

from inspect import signature

import pytest

from fedtheory import kernel
from fedtheory.kernel.inequalities import INEQUALITIES, subjects


def test_every_inequality_is_listed(command) -> None:
    """Every inequality is listed with its arguments in order, as in `help`, and its non-negative expression."""
    listed = {entry["name"]: entry for entry in command("inequalities", "--json").document}
    assert listed.keys() == INEQUALITIES.keys()
    assert listed["smoothness"]["call"] == "smoothness(objective, at, around)"
    assert listed["triangle"]["call"] == "triangle(*vectors)"
    assert all(entry["formula"] for entry in listed.values())


@pytest.mark.parametrize("name", sorted(INEQUALITIES))
def test_constructors_show_their_arguments(name: str) -> None:
    """The signature of a constructor is that of the inequality without its context."""
    constructor = getattr(kernel, name)
    assert constructor.__name__ == name
    assert list(signature(constructor).parameters.values()) == subjects(name)


def test_assumptions_of_a_claim_have_names(command) -> None:
    """The assumptions are listed that the claim's certificates may use, also for a claim about a whole run."""
    found = command("inequalities", "assumption(", "--claim", "liu2022:lemma-1", "--json").document
    assert {entry["name"] for entry in found} >= {"bounded variance", "bounded second moment"}
    outcome = command("inequalities", "nothing-such")
    assert outcome.code == 2
    assert "no inequality has 'nothing-such'" in outcome.err

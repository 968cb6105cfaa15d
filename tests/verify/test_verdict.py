"""Verdicts over families of instances: what rationals do not confirm refutes nothing, and records agree."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fedtheory.arithmetic import plain_floats
from fedtheory.language.registry import all_sources, claims_of, find
from fedtheory.runfile import run_table
from verify import trials
from verify import verdict as verdicts
from verify.instances import FAMILIES, Instance, families_for
from verify.trials import Outcome, try_claims
from verify.verdict import ClaimVerdict, verify


def test_a_violation_that_rationals_do_not_confirm_refutes_nothing() -> None:
    """An outcome of floats alone is not a refutation."""
    claim = find("renard2022:lemma-2.3")
    spurious = Outcome(claim.id, Instance("small quadratics", 0), True, True, False, False, 2.0, (1, 1, 1), 0.0)
    assert verdicts._verdict(claim.id, [spurious], is_proved=False).verdict != "refuted"


def test_a_rate_is_shown_on_an_instance_that_says_something() -> None:
    """Not on a simpler one where the quantity is zero, and so of every order."""
    claim_id = "vlaski2023:claim.effective-step"
    instances = [Instance("steady sampled clients", number) for number in range(3)]
    outcomes = list(trials._check_chunk([claim_id], instances))
    shown, trivial = (next(o for o in outcomes if o.applicable and o.is_trivial is zero) for zero in (False, True))
    witness = verdicts._verdict(claim_id, [replace(trivial, complexity=(0, 0, 0)), shown], is_proved=False).witness
    assert witness is not None
    assert run_table(witness) == run_table(shown.instance.run())


def test_families_are_reproducible_and_satisfy_the_usual_condition() -> None:
    """An instance is its family and number; step sizes of the general families never pass 1/(4L)."""
    for name, family in FAMILIES.items():
        for number in (0, family.size // 2, family.size - 1):
            run, again = Instance(name, number).run(), Instance(name, number).run()
            assert run_table(run) == run_table(again)
            distances = [plain_floats(each.trajectory.server_distance_sq) for each in (run, again)]
            assert (distances[0] == distances[1]).all()
            assert family.meant_for or 4 * max(run.algorithm.work.step_sizes) * run.smoothness <= 1


def test_progress_is_told() -> None:
    """Trying claims reports how far it is, up to the end."""
    told: list[tuple[int, int]] = []
    try_claims(["renard2022:goal-rate.fixed"], jobs=1, on_progress=lambda done, whole: told.append((done, whole)))
    whole = sum(FAMILIES[name].size for name in families_for(find("renard2022:goal-rate.fixed")))
    assert told[-1] == (whole, whole)


def assert_recorded(verdicts_of_claims: list[ClaimVerdict], least: int) -> None:
    """Claims have their recorded verdicts, by a counterexample or on so many instances."""
    for found in verdicts_of_claims:
        assert found.agrees, f"{found.claim.id}: {found.verdict}, recorded {found.claim.verdict}"
        if families_for(found.claim) and found.verdict != "refuted":
            assert found.instances >= least, found.claim.id
        if found.verdict == "refuted":
            assert found.evidence is not None
            assert found.evidence.holds is False


OTHERS = {
    key: [claim.id for claim in claims_of(key) if claim.verdict not in ("proved", "refuted")] for key in all_sources()
}


@pytest.mark.long
@pytest.mark.parametrize("source", [key for key, claims in OTHERS.items() if claims])
def test_recorded_verdicts_hold(source: str) -> None:
    """What is neither proved nor refuted gets its recorded verdict, on at least 200 instances where they support it."""
    assert_recorded(verify(OTHERS[source]), least=200)


REFUTED = [claim.id for claim in claims_of() if claim.verdict == "refuted"]


@pytest.mark.parametrize("claim_id", REFUTED)
def test_what_is_recorded_as_refuted_is(claim_id: str) -> None:
    """By its stored counterexample, whatever instances say."""
    assert_recorded([verdicts._verdict(claim_id, [], is_proved=False)], least=0)


@pytest.mark.slow
@pytest.mark.parametrize("recorded", ["proved", "refuted"])
def test_instances_change_nothing_about_proofs_and_counterexamples(recorded: str) -> None:
    """Proved claims hold on at least 50 instances, where the proof says more."""
    assert_recorded(verify([claim.id for claim in claims_of() if claim.verdict == recorded], jobs=2), least=50)

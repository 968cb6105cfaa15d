"""Verdicts over families of instances: violations need exact confirmation, and recorded verdicts are reproduced."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest
import sympy as sp

from fedtheory import Claim
from fedtheory import quantities as q
from fedtheory.arithmetic import plain_floats
from fedtheory.errors import NoMinimiser
from fedtheory.language.registry import all_sources, claims_of, find
from fedtheory.language.targets import Target
from fedtheory.runfile import run_table
from verify import evaluated_instances
from verify import verdict as verdicts
from verify.claim_verdict import ClaimVerdict
from verify.early_decisions import Decision, decide_claim
from verify.evaluated_instances import Outcome, count_tries, try_claims
from verify.instances import FAMILIES, PARTS, Instance, families_for
from verify.verdict import verify


def test_a_violation_that_rationals_do_not_confirm_refutes_nothing() -> None:
    """A violation in floats alone is not a refutation."""
    claim = find("renard2022:lemma-2.3")
    spurious = Outcome(claim.id, Instance("small quadratics", 0), True, True, False, False, 2.0, (1, 1, 1), 0.0)
    assert verdicts._find_verdict(claim.id, [spurious], Decision()).verdict != "refuted"


def test_a_rate_is_shown_on_an_instance_that_says_something() -> None:
    """A rate is shown on an instance with a positive quantity, not on a simpler one where it is zero."""
    claim_id = "vlaski2023:claim.effective-step"
    instances = [Instance("steady sampled clients", number) for number in range(3)]
    outcomes = list(evaluated_instances._check_chunk([claim_id], instances))
    shown, trivial = (next(o for o in outcomes if o.applicable and o.is_trivial is zero) for zero in (False, True))
    witness = verdicts._find_verdict(claim_id, [replace(trivial, complexity=(0, 0, 0)), shown], Decision()).witness
    assert witness is not None
    assert run_table(witness) == run_table(shown.instance.run())


@pytest.mark.long
def test_families_are_reproducible_and_satisfy_the_usual_condition() -> None:
    """An instance is its family and number; step sizes of the general families never pass 1/(4L)."""
    for name, family in FAMILIES.items():
        for number in (0, family.size // 2, family.size - 1):
            run, again = Instance(name, number).run(), Instance(name, number).run()
            assert run_table(run) == run_table(again)
            with suppress(NoMinimiser):
                distances = [plain_floats(each.trajectory.server_distance_sq) for each in (run, again)]
                assert (distances[0] == distances[1]).all()
            assert family.meant_for or 4 * max(run.algorithm.work.step_sizes) * run.smoothness <= 1


def test_progress_is_reported() -> None:
    """Trying claims reports how far it is, up to the end."""
    progress: list[tuple[int, int]] = []
    try_claims(["renard2022:goal-rate.fixed"], 0, on_progress=lambda done, whole: progress.append((done, whole)))
    whole = sum(len(FAMILIES[name].part(0)) for name in families_for(find("renard2022:goal-rate.fixed")))
    assert progress[-1] == (whole, whole)
    assert whole == count_tries(["renard2022:goal-rate.fixed"], 0)


def assert_recorded(verdicts_of_claims: list[ClaimVerdict]) -> None:
    """Check that claims have their recorded verdicts, by a counterexample or on enough instances."""
    for found in verdicts_of_claims:
        assert found.agrees, f"{found.claim.id}: {found.verdict}, recorded {found.claim.verdict}"
        if families_for(found.claim) and found.verdict != "refuted":
            assert found.instances > 0, found.claim.id
            assert not found.is_thin, found.claim.id
        if found.verdict == "refuted":
            assert found.evidence is not None
            assert found.evidence.holds is False


OTHERS = {
    key: [claim.id for claim in claims_of(key) if claim.verdict not in ("proved", "refuted")] for key in all_sources()
}


@pytest.mark.long
@pytest.mark.parametrize("source", [key for key, claims in OTHERS.items() if claims])
def test_recorded_verdicts_hold(source: str) -> None:
    """Claims that are neither proved nor refuted get their recorded verdict, if enough instances support it."""
    assert_recorded(verify(OTHERS[source]))


REFUTED = [claim.id for claim in claims_of() if claim.verdict == "refuted"]


@pytest.mark.parametrize("claim_id", REFUTED)
def test_recorded_refutations_are_refuted(claim_id: str) -> None:
    """The stored counterexample refutes the claim, whatever the instances show."""
    assert_recorded([verdicts._find_verdict(claim_id, [], decide_claim(claim_id))])


@pytest.mark.parametrize("claim_id", ["lecture27:thm-2.interval", "liu2022:prsgd.fixed", "fraboni2022:eq-38"])
def test_decided_claims_are_checked_on_a_sample(claim_id: str) -> None:
    """A proof, a definition or a counterexample leaves to instances only how tight a claim is, on the first part."""
    claim = find(claim_id)
    found = verify(claim)[0]
    sample = {instance for name in families_for(claim) for instance in FAMILIES[name].part(0)}
    assert found.verdict in ("proved", "definition", "refuted")
    assert 0 < found.instances <= len(sample) + 1
    assert not found.is_thin


def test_in_full_a_proved_claim_is_tried_as_widely_as_others() -> None:
    """With all instances, a proved claim has at least 200 of them and the same verdict."""
    brief, full = (verify("renard2022:property-2.5", in_full=in_full)[0] for in_full in (False, True))
    assert brief.verdict == full.verdict == "proved"
    assert brief.instances < full.enough <= full.instances


@pytest.mark.long
def test_undecided_claims_are_checked_on_enough_instances() -> None:
    """A part of its families is left out only where the others have enough instances."""
    found = verify("lecture27:inherit")[0]
    whole = sum(FAMILIES[name].size for name in families_for(found.claim))
    assert found.enough <= found.instances < whole


def test_a_rate_climbs_few_more_ladders_than_are_enough() -> None:
    """Ladders take several runs each, so parts of families for rates are small."""
    found = verify("vlaski2023:thm-5.1.rate.contracts")[0]
    assert found.verdict == "asymptotic"
    assert found.enough <= found.instances < 1.5 * found.enough


@pytest.mark.parametrize("family", FAMILIES)
def test_the_parts_of_a_family_are_all_of_it(family: str) -> None:
    """Each member is in one part, and the first part has some."""
    members = [instance for part in PARTS for instance in FAMILIES[family].part(part)]
    assert sorted(members, key=lambda instance: instance.number) == FAMILIES[family].instances
    assert FAMILIES[family].part(0)


def test_a_violation_in_the_sample_overrides_a_decision() -> None:
    """A violation in the sample overrides a recorded or proved verdict."""
    claim = find("fraboni2022:eq-38")
    outcomes = try_claims([claim.id], 0)
    assert verdicts._find_verdict(claim.id, outcomes, Decision("proved")).verdict == "refuted"


@pytest.mark.parametrize("in_full", [False, pytest.param(True, marks=pytest.mark.long)])
def test_instances_refute_false_claims_that_count_as_proved(monkeypatch: pytest.MonkeyPatch, in_full: bool) -> None:
    """The instances refute a false user-defined claim that counts as proved."""
    eta, tau, zeta, sigma = sp.symbols("eta tau zeta sigma", positive=True)
    where = {eta: q.local_step_size, tau: q.local_steps, zeta: q.gradient_dissimilarity, sigma: q.noise_deviation}
    false = Claim(id="mine:false", lhs=q.max_drift, rhs=tau * eta**2 * (zeta**2 + sigma**2), where=where)
    monkeypatch.setattr(verdicts, "decide_claims", lambda targets, _jobs: [(t, Decision("proved")) for t in targets])
    assert verify(false, in_full=in_full)[0].verdict == "refuted"


def test_a_stored_counterexample_that_is_none_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stored counterexample is checked before it is used."""
    harmless = run_table(Instance("one client", 0).run())
    monkeypatch.setattr("verify.early_decisions.find_counterexample", lambda _claim: harmless)
    assert decide_claim("renard2022:lemma-2.2").verdict is None


@pytest.mark.slow
@pytest.mark.parametrize("recorded", ["proved", "refuted", "definition"])
def test_all_instances_change_nothing_about_what_is_decided(recorded: str) -> None:
    """Verdicts on a sample equal those on all instances, and proved claims have at least 50."""
    decided = [claim.id for claim in claims_of() if claim.verdict == recorded]
    outcomes: dict[Target, list[Outcome]] = {target: [] for target in decided}
    for outcome in (outcome for part in PARTS for outcome in try_claims(decided, part, jobs=2)):
        outcomes[outcome.target].append(outcome)
    found = [verdicts._find_verdict(target, of_target, decide_claim(target)) for target, of_target in outcomes.items()]
    assert_recorded(found)
    assert recorded != "proved" or all(verdict.instances >= 50 for verdict in found)

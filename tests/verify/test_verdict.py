"""Verdicts over families of instances: planted errors are found, true claims survive, records agree."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fedtheory.arithmetic import plain_floats
from fedtheory.language.registry import all_sources, claims_of, find
from fedtheory.runfile import run_table
from verify import trials
from verify import verdict as verdicts
from verify.check import check
from verify.instances import FAMILIES, Instance, families_for
from verify.trials import Outcome, try_claims
from verify.verdict import ClaimVerdict, verify

PLANTED = """
import sympy as sp
from fedtheory import Claim, Rate
from fedtheory.language import quantities as q

eta, tau, zeta, sigma, L, M, T, D = sp.symbols("eta tau zeta sigma L M T D", positive=True)
where = {eta: q.local_step_size, tau: q.local_steps, zeta: q.gradient_dissimilarity, sigma: q.noise_deviation,
         L: q.smoothness, M: q.clients, T: q.rounds, D: q.initial_distance}
drift_bound = 18 * tau**2 * eta**2 * zeta**2 + 4 * tau * eta**2 * sigma**2
drift = Claim(id="mine:drift", lhs=q.max_drift, rhs=drift_bound, where=where, conditions=[eta <= 1 / (4 * L)])
no_noise_term = Claim(id="mine:no-noise", lhs=q.max_drift, rhs=18 * tau**2 * eta**2 * zeta**2, where=where)
exponent = Claim(id="mine:exponent", lhs=q.max_drift, rhs=drift_bound * eta, where=where, verdict="supported")
start = Claim(id="mine:start", lhs=q.average_suboptimality, rhs=D**2 / (2 * eta * tau * T), where=where,
              conditions=[eta <= 1 / (4 * L)])
fast = Claim(id="mine:fast", rate=Rate(q.average_suboptimality.symbol - q.limiting_suboptimality.symbol, 1 / T**3, T),
             where={T: q.rounds, q.average_suboptimality.symbol: q.average_suboptimality,
                    q.limiting_suboptimality.symbol: q.limiting_suboptimality})
crowded = Claim(id="mine:crowded", lhs=q.average_suboptimality, where=where, conditions=[eta <= 1 / (4 * L)],
                rhs=D**2 / (2 * eta * tau * T) + eta * sigma**2 / M**2 + L * drift_bound)
nothing = Claim(id="mine:nothing", lhs=q.max_drift, rhs=1, where=where, conditions=[eta >= 10 / L])
"""


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ClaimVerdict]:
    """Verdicts on a user's file with one true and some false bounds."""
    file = Path(tmp_path_factory.mktemp("mine")) / "mine.py"
    file.write_text(PLANTED)
    names = ("drift", "no_noise_term", "exponent", "start", "fast", "nothing", "crowded")
    return dict(zip(names, verify([f"{file}:{name}" for name in names], jobs=2, search=6), strict=True))


def test_a_true_bound_is_supported(planted: dict[str, ClaimVerdict]) -> None:
    """The drift lemma survives, with its largest ratio and the instance that attains it."""
    found = planted["drift"]
    assert found.verdict == "supported"
    assert found.instances >= 200
    assert found.worst_ratio is not None
    assert 0.1 < found.worst_ratio < 1
    assert found.witness is not None


def test_supported_means_that_a_search_found_nothing(planted: dict[str, ClaimVerdict]) -> None:
    """No instance of the families is crowded enough; the search after them is. What is refuted is not searched."""
    assert planted["drift"].searched > 12
    assert planted["crowded"].searched > 0
    assert planted["exponent"].searched == 0


@pytest.mark.parametrize("name", ["no_noise_term", "exponent", "start", "crowded"])
def test_a_planted_error_is_refuted_by_an_exact_instance(planted: dict[str, ClaimVerdict], name: str) -> None:
    """The counterexample is rational, satisfies the conditions, and violates the bound when checked anew."""
    found = planted[name]
    assert found.verdict == "refuted"
    assert found.witness is not None
    again = check(found.claim, found.witness)
    assert again.arithmetic.name == "rational"
    assert again.applicable
    assert again.holds is False
    assert again.ratio is None or (found.worst_ratio is not None and found.worst_ratio >= again.ratio)


def test_a_differing_record_is_noticed(planted: dict[str, ClaimVerdict]) -> None:
    """A claim recorded as supported that is refuted does not agree; one without a record does."""
    assert not planted["exponent"].agrees
    assert planted["start"].agrees


def test_a_rate_that_no_ladder_supports_is_undecided(planted: dict[str, ClaimVerdict]) -> None:
    """O(1/T^3) where 1/T is true gets no positive verdict."""
    assert planted["fast"].verdict == "undecided"
    assert planted["fast"].undecided > 0


def test_refutations_prefer_constants_that_hold_everywhere(planted: dict[str, ClaimVerdict]) -> None:
    """The counterexamples to the drift bounds do not rest on a ball."""
    for name in ("no_noise_term", "exponent"):
        evidence = planted[name].evidence
        assert evidence is not None
        assert evidence.everywhere


def test_a_claim_that_never_applies_says_so(planted: dict[str, ClaimVerdict]) -> None:
    """Conditions that no instance meets give "not applicable", not "supported"."""
    assert planted["nothing"].verdict == "not applicable"
    assert planted["nothing"].instances == 0


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

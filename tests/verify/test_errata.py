"""The list of errata is complete and exact, and says what is wrong in each claim."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import pytest

from fedtheory.arithmetic import ENCLOSED, RATIONAL
from fedtheory.errors import InputError
from fedtheory.language.claim import Fault
from fedtheory.language.registry import all_claims, find, papers
from fedtheory.runfile import parse_run, run_table
from verify import counterexamples
from verify import errata as ledger_module
from verify.counterexamples import find_counterexample, list_stored_files, locate_counterexample_file, refutes
from verify.counterexamples.search import regenerate, remove_stale
from verify.errata import Erratum, list_errata
from verify.instances import Instance
from verify.witness import PrintedSides, explain_size

LEMMA = "renard2022:lemma-2.2"
SLIP = "lecture27:lemma-3.proof.factor"


LONG = {f"fraboni2022:{name}" for name in ("thm-1", "thm-1.explicit", "thm-2", "thm-3.loss", "thm-3.gradient")}
"""Refuted on one run of two clients and 200 rounds of 100 local steps."""
BEYOND_PENCIL: dict[str, list[str]] = {}
"""Refuted claims of which no counterexample of at most 3 clients, 2 dimensions and 4 digits is known."""


@pytest.fixture(scope="module")
def ledger() -> dict[str, Erratum]:
    """Return the whole list, by the ids of the printed claims."""
    return {entry.claim.id: entry for entry in list_errata(all_claims().values())}


def refuted() -> set[str]:
    """Return the ids of the claims that are recorded as refuted."""
    return {claim.id for claim in all_claims().values() if claim.verdict == "refuted"}


def test_exactly_the_refuted_claims_have_a_counterexample(ledger: dict[str, Erratum]) -> None:
    """Each refuted claim has one file and one entry, and no other claim has any."""
    assert ledger.keys() == refuted()
    assert list_stored_files() == {locate_counterexample_file(find(claim_id)) for claim_id in refuted()}
    assert find_counterexample(find("renard2022:lemma-2.2.fixed")) is None


def test_every_counterexample_fails_exactly(ledger: dict[str, Erratum]) -> None:
    """Each counterexample is an exact run that satisfies all assumptions and conditions and has two sides.

    Sides are rationals; for one long run they are enclosures.
    """
    for entry in ledger.values():
        exactly = ENCLOSED if entry.claim.id in LONG else RATIONAL
        assert entry.check.arithmetic is exactly, entry.claim.id
        assert parse_run(entry.run, RATIONAL).arithmetic is RATIONAL, entry.claim.id
        assert entry.check.applicable, entry.claim.id
        assert entry.check.holds is False, entry.claim.id
        assert all(condition.holds for condition in entry.check.conditions), entry.claim.id
        assert entry.sides is not None, entry.claim.id


def test_counterexamples_can_be_checked_by_hand(ledger: dict[str, Erratum]) -> None:
    """Counterexamples have at most 3 clients, 2 dimensions and 4 digits, and short sides; exceptions are recorded."""
    found = {name: explain_size(entry.run, PrintedSides.from_check(entry.check)) for name, entry in ledger.items()}
    assert {name: reasons for name, reasons in found.items() if reasons} == BEYOND_PENCIL


def test_sizes_beyond_a_check_by_hand_are_named(ledger: dict[str, Erratum]) -> None:
    """The numbers of clients, dimensions, digits and sides that are too large are named."""
    run = dict(ledger["renard2022:lemma-2.2"].run)
    assert explain_size(run, PrintedSides("1/2", "[0.5 +/- 1e-9]", None)) == []
    assert explain_size(run, PrintedSides("1" * 25, "0", None)) == ["25 characters in a side"]
    wide = {"kind": "quadratic", "hessians": [[["1", "0", "0"], ["0", "1", "0"], ["0", "0", "12345"]]] * 4}
    large = {**run, "problem": {**wide, "linear": [["0", "0", "0"]] * 4, "start": ["0", "0", "0"]}}
    assert explain_size(large, None) == ["4 clients", "3 dimensions", "5 digits in a number"]


def test_the_sides_are_on_the_wrong_sides_of_each_other(ledger: dict[str, Erratum]) -> None:
    """The sides shown as left and right contradict the relation between them."""
    contradicts = {
        "<=": lambda left, right: left > right,
        "<": lambda left, right: left >= right,
        "==": lambda left, right: left != right,
        ">=": lambda left, right: left < right,
        ">": lambda left, right: left <= right,
    }
    for entry in ledger.values():
        assert entry.sides is not None
        operator = "<=" if entry.check.worst is None else entry.check.worst.relation.operator
        assert contradicts[operator](*entry.sides), entry.claim.id


def test_every_entry_has_a_reason_and_a_correction(ledger: dict[str, Erratum]) -> None:
    """Each entry has a sentence at least, and a correction that is not refuted."""
    for entry in ledger.values():
        assert len(entry.reason.split()) >= 5, entry.claim.id
        assert entry.repairs, entry.claim.id
        for repair in entry.repairs:
            assert repair.corrects == entry.claim.id
            assert repair.verdict not in ("refuted", "undecided", "not applicable", None), repair.id


def test_faults_follow_from_the_kind_unless_the_print_slipped(ledger: dict[str, Erratum]) -> None:
    """Steps are proof steps, all else is a statement, and misprints are marked on refuted claims only."""
    for entry in ledger.values():
        assert entry.fault in get_args(Fault)
        by_kind = "proof step" if entry.claim.kind == "step" else "statement"
        assert entry.fault == (entry.claim.fault or by_kind)
    assert {claim.id for claim in all_claims().values() if claim.fault} <= refuted()
    assert ledger["renard2022:goal-rate"].fault == "statement"
    assert ledger[LEMMA].fault == "misprint"
    assert ledger["renard2022:lemma-2.2.proof.drop"].fault == "proof step"
    assert ledger["renard2022:property-2.4"].fault == "misprint"


def test_claims_that_stand_have_no_entry() -> None:
    """The corrections themselves are no errata."""
    assert list_errata([find(f"{LEMMA}.fixed"), find("renard2022:thm-2.1")]) == []


def test_a_run_that_violates_nothing_is_no_counterexample(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stored run is believed only after its exact check; the error names the claim."""
    harmless = run_table(Instance("small quadratics", 0).run())
    monkeypatch.setattr(ledger_module, "find_counterexample", lambda _claim: harmless)
    with pytest.raises(InputError, match=f"{LEMMA}: recorded as refuted, but the counterexample does not violate it"):
        list_errata([find(LEMMA)])


def test_a_refuted_claim_without_a_run_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each refuted claim needs its run."""
    monkeypatch.setattr(ledger_module, "find_counterexample", lambda _claim: None)
    monkeypatch.setattr(ledger_module, "verify", lambda _targets: [SimpleNamespace(run=None)])
    with pytest.raises(InputError, match=f"{LEMMA}: recorded as refuted, but no counterexample is stored"):
        list_errata([find(LEMMA)])


def _keep_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let counterexamples be read and written in another folder."""
    moved = {key: replace(paper, folder=folder) for key, paper in papers().items()}
    monkeypatch.setattr(counterexamples, "papers", lambda: moved)
    monkeypatch.setattr(counterexamples, "find_publisher", lambda claim: moved.get(claim.source))


@pytest.mark.long
def test_counterexamples_can_be_found_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A search without a start finds a violation, and a second search from this one finds none that is larger."""
    _keep_in(tmp_path, monkeypatch)
    claim = find(SLIP)
    assert find_counterexample(claim) is None
    assert regenerate([claim.id], seconds=0.2, jobs=1) == []
    first = find_counterexample(claim)
    assert first is not None
    assert refutes(claim, first)
    assert regenerate([claim.id], seconds=0.2, jobs=1) == []
    second = find_counterexample(claim)
    assert second is not None
    assert refutes(claim, second)
    assert len(str(second)) <= len(str(first))


def test_a_claim_that_stands_has_no_counterexample_to_find(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing is written for a claim that is not refuted, and its id is returned; its old files are removed."""
    _keep_in(tmp_path, monkeypatch)
    repair = find(f"{SLIP}.fixed")
    assert regenerate([repair.id], seconds=0.2, jobs=1) == [repair.id]
    file = locate_counterexample_file(repair)
    assert file is not None
    file.parent.mkdir()
    file.write_text("[problem]\n", encoding="utf-8")
    remove_stale()
    assert list_stored_files() == set()

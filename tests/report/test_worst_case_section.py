"""The worst case over a class of functions on a claim's page, where a solver is installed."""

from __future__ import annotations

import sys

import pytest

from fedtheory.language.quantities import local_step_size
from report import worst_case
from report.worst_case import WorstCaseSection, _make_row, compute_over_local_steps, make_worst_case_section
from verify.claim_verdict import ClaimVerdict
from verify.worst_case import Case


@pytest.fixture(autouse=True)
def few_local_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use two numbers of local steps only."""
    monkeypatch.setattr(worst_case, "LOCAL_STEPS", (1, 2))


def section(claim_id: str, jobs: int = 1) -> WorstCaseSection | None:
    """Return the section of a claim, with an invented largest ratio of 0.25."""
    verdict = ClaimVerdict(claim_id, "supported", 1, 1, 0, 0, 0.25, None, None, 0.0)
    return make_worst_case_section(verdict, compute_over_local_steps(claim_id, jobs))


def test_bound_and_worst_case_stand_side_by_side() -> None:
    """Rows by number of local steps: eta, 18 tau^2/16, tau^2/16; then relaxed assumptions, and the exact quadratics."""
    pytest.importorskip("PEPit")
    shown = section("renard2022:lemma-2.3")
    assert shown is not None
    (group,) = shown.groups
    rows = [(row.local_steps, row.step_size, row.bound, row.worst_case, row.ratio) for row in group.rows]
    assert rows == [(1, "1/4", "1.125", "0.0625", "0.0556"), (2, "1/4", "4.5", "0.25", "0.0556")]
    assert len(shown.remarks) == 2
    assert "gradient dissimilarity" in shown.remarks[0]
    assert "0.25" in shown.remarks[1]
    assert shown.command == "fedtheory worst-case renard2022:lemma-2.3 --clients 2 --local-steps 2"


def test_noise_of_the_solver_is_shown_as_zero() -> None:
    """From the optimum, one local step has average zero, so that solver noise is shown as zero."""
    pytest.importorskip("PEPit")
    shown = section("renard2022:thm-2.1")
    assert shown is not None
    assert len(shown.groups) == 3
    first = shown.groups[-1].rows[0]
    assert (first.worst_case, first.ratio) == ("0", "0")


def test_noise_beside_a_bound_of_zero_is_zero() -> None:
    """Noise below a solver's accuracy is no violation; a larger value is shown, without ratio if the bound is zero."""
    pytest.importorskip("PEPit")
    shown = section("liu2022:thm-3.sharp")
    assert shown is not None
    first = shown.groups[-1].rows[0]
    assert (first.bound, first.worst_case, first.ratio) == ("0", "0", "")
    constants = {local_step_size.name: "1/4"}
    seen = _make_row(1, Case(constants, 0.0, 0.002, "solved", 0.0))
    assert (seen.worst_case, seen.ratio) == ("0.002", "")


@pytest.mark.long
def test_other_processes_find_the_same() -> None:
    """Several processes give the same rows in the order of local steps."""
    pytest.importorskip("PEPit")
    assert section("renard2022:lemma-2.3", jobs=2) == section("renard2022:lemma-2.3")


@pytest.mark.parametrize("claim_id", ["renard2022:lemma-2.2", "renard2022:thm-2.1.proof.split", "fraboni2022:thm-1"])
def test_other_claims_have_no_section(claim_id: str) -> None:
    """Bounds without constants, steps of proofs, and claims outside of the model have no section."""
    assert section(claim_id) is None


def test_without_a_solver_there_is_no_section(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a solver the page has no section on worst cases."""
    monkeypatch.setitem(sys.modules, "PEPit", None)
    assert section("renard2022:lemma-2.3") is None

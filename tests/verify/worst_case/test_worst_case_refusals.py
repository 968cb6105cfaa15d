"""Worst cases: the claims they refuse, with reasons, the document, the tables and the command's options."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import pytest
import sympy as sp
from worst_cases import LAST_ITERATE, WHERE, D, L, eta, needs_solver, tau, zeta

from fedtheory import cli
from fedtheory.errors import InputError, NotApplicable
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.registry import all_claims, find
from verify.worst_case import WorstCase, find_worst_case
from verify.worst_case.statement import iterate_statements
from verify.worst_case.vocabulary import MEASURED, SCALES

DRIFT, THEOREM = find("renard2022:lemma-2.3"), find("renard2022:thm-2.1")


def test_unknown_assumptions_are_reported_with_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    """A claim with another assumption is answered with the assumptions that a worst case knows."""
    assert cli.run(["worst-case", "fraboni2022:thm-1"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "is outside" in printed
    assert "strongly convex clients" in printed
    assert "bounded gradient dissimilarity" in printed


def test_rounds_that_no_solver_can_hold_are_refused() -> None:
    """Before anything is computed, with the number that is too large."""
    with pytest.raises(InputError, match="at most 32 local steps of all clients together, got 1000 times 3"):
        find_worst_case(DRIFT, 1000, 3)


@needs_solver
def test_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    """The decisive case stands on top; standard output is one JSON document and nothing else."""
    assert cli.run(["worst-case", THEOREM.id, "--local-steps", "2", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["id"], document["clients"], document["local_steps"]) == (THEOREM.id, 2, 2)
    assert (document["applicable"], document["status"]) == (True, "solved")
    assert document["relaxed"] == ["gradient_dissimilarity"]
    assert document["ratio"] == max(case["ratio"] for case in document["cases"])
    assert document["ratio"] == document["worst_case"] / document["bound"]
    scales = [(c["constants"]["initial_distance"], c["constants"]["gradient_dissimilarity"]) for c in document["cases"]]
    assert scales == [("1", "1"), ("1", "0"), ("0", "1")]


@needs_solver
def test_tables_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    """Tables name the relaxed assumptions."""
    assert cli.run(["worst-case", DRIFT.id, "--local-steps", "1"]) == 0
    shown = capsys.readouterr().out
    assert "0.0625" in shown
    assert "never too small" in " ".join(shown.split())


OUTSIDE = {
    "fraboni2022:thm-1": "assumption 'aggregation scheme'",
    "renard2022:eq-8": "not about a run as a whole",
    "renard2022:thm-2.1.rate": "not a single inequality",
    "renard2022:thm-2.1.proof.telescope": "not a single inequality",
    "renard2022:thm-2.1.proof.assemble.fixed": "not a single inequality",
    "lecture27:thm-2": "smallest_gap",
    "liu2022:cor-2.step": "not a single inequality",
    "vlaski2023:claim.steady-state-noise": "assumption 'uniform sampling'",
    "liu2022:eq-8.condition.fixed": "the statement has no quantity",
}


@pytest.mark.parametrize("claim_id", OUTSIDE)
def test_claims_outside_get_a_reason(claim_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With or without a solver, the answer says which assumption or quantity is outside."""
    found = find_worst_case(find(claim_id))
    assert found.reason is not None
    assert OUTSIDE[claim_id] in found.reason
    assert (found.cases, found.decisive, found.status) == ((), None, None)
    assert cli.run(["worst-case", claim_id, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["applicable"], document["reason"], document["worst_case"]) == (False, found.reason, None)


def test_nonlinear_or_inapplicable_statements_are_refused() -> None:
    """Squares of errors, drift from below, and conditions that no step size meets."""
    square = Claim(id="mine:square", lhs=q.final_suboptimality.symbol**2, rhs=D**4, where=_bind(q.final_suboptimality))
    below = Claim(id="mine:below", lhs=zeta**2, rhs=q.max_drift, where=WHERE)
    impossible = replace(LAST_ITERATE, id="mine:impossible", conditions=[eta <= 1 / L, tau <= 2])
    for claim, reason in ((square, "not linear"), (below, "from below"), (impossible, "the condition")):
        found = find_worst_case(claim, 2, 3)
        assert found.reason is not None
        assert reason in found.reason


def _bind(quantity: q.RunQuantity) -> dict[sp.Symbol, q.Quantity]:
    return {**WHERE, quantity.symbol: quantity}


def test_every_claim_is_stated_or_refused() -> None:
    """No claim of the sources breaks the translation; those of one noiseless round are translated."""
    translated = set()
    for claim in all_claims().values():
        try:
            if list(iterate_statements(claim, 2, 2)):
                translated.add(claim.id)
        except NotApplicable:
            continue
    assert {DRIFT.id, THEOREM.id, "liu2022:thm-1", "liu2022:lemma-1", "lecture27:thm-2.explicit"} <= translated
    assert all(not claim_id.startswith(("fraboni2022", "vlaski2023")) for claim_id in translated)


def test_the_tables_do_not_overlap() -> None:
    """A quantity is measured or sets the scale, not both."""
    assert not MEASURED.keys() & SCALES.keys()


@pytest.mark.parametrize(("option", "count"), [("--clients", 0), ("--local-steps", -1)])
def test_counts_are_positive(option: str, count: int, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, with the option."""
    assert cli.run(["worst-case", DRIFT.id, option, str(count)]) == 2
    assert capsys.readouterr().err == f"fedtheory: {option}: expected at least 1, got {count}\n"
    keys = {"clients": count} if option == "--clients" else {"local_steps": count}
    with pytest.raises(InputError, match="expected at least 1"):
        find_worst_case(DRIFT, **keys)


def test_without_the_extra_one_line_names_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without PEPit nothing is solved, and one line names the extra."""
    monkeypatch.setitem(sys.modules, "PEPit", None)
    assert cli.run(["worst-case", DRIFT.id]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == (
        "fedtheory: a worst case over a class of functions needs the optional extra: "
        "pip install 'fedtheory[worst-case]'\n"
    )


def test_a_result_without_cases_decides_nothing() -> None:
    """A result without cases has only a reason."""
    outside = WorstCase(DRIFT, 2, 3, "for a reason")
    assert (outside.decisive, outside.status, outside.cases) == (None, None, ())

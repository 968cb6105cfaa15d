"""`fedtheory prove` without a certificate: found proofs, additional assumptions, and the nearest bound."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from cli_support import Command

MINE = """\
import sympy as sp
from fedtheory import Claim, quantities as q

eta, tau, T, M, zeta, sigma, L, D = sp.symbols("eta tau T M zeta sigma L D", positive=True)
where = {eta: q.local_step_size, tau: q.local_steps, T: q.rounds, M: q.clients, zeta: q.gradient_dissimilarity,
         sigma: q.noise_deviation, L: q.smoothness, D: q.initial_distance}
drift = 20 * tau**2 * eta**2 * L * zeta**2 + 5 * tau * eta**2 * L * sigma**2
small = [eta <= 1 / (4 * L)]
loose = Claim(id="mine:loose", lhs=q.average_suboptimality, where=where, conditions=small,
              rhs=D**2 / (2 * eta * tau * T) + eta * sigma**2 + drift)
fast = Claim(id="mine:fast", lhs=q.average_suboptimality, where=where, conditions=small,
             rhs=D**2 / (2 * eta * tau * T) + eta * sigma**2 / M**2 + drift)
"""


@pytest.fixture
def mine(tmp_path: Path) -> str:
    """Return a file with a true and a false claim."""
    file = tmp_path / "mine.py"
    file.write_text(MINE)
    return str(file)


def test_a_found_proof_is_a_document_with_what_it_rests_on(command: Command, mine: str) -> None:
    """The document names the claims that it uses, the additional assumptions, and its digest."""
    outcome = command("prove", f"{mine}:loose", "--json")
    found = outcome.document
    assert (outcome.code, found["verdict"], found["found"]) == (0, "proved", True)
    assert found["uses"]
    assert all(name.startswith("renard2022:thm-2.1") for name in found["uses"])
    assert found["assumed"][-1] == "convex and smooth"
    assert "a.convex_and_smooth" in found["assumed_line"]
    assert found["digest"]
    assert found["certificate"]["certificate"]["claim"] == "mine:loose"


def test_supposed_assumptions_are_printed(command: Command, mine: str) -> None:
    """A proof under additional assumptions names them, and the line that states them."""
    out = command("prove", f"{mine}:loose").out
    assert "mine:loose: proved" in out.replace("  : ", ": ")
    assert "supposed, for mine:loose does not say so" in out
    assert "a.convex_and_smooth" in out.replace("\n", " ")


def test_a_saved_certificate_is_checked_without_a_search(command: Command, mine: str, tmp_path: Path) -> None:
    """The certificate proves the claim with the additional assumptions, and names them for the claim without."""
    saved = tmp_path / "found.json"
    assert command("prove", f"{mine}:loose", "--save", str(saved)).code == 0
    json.loads(saved.read_text())
    checked = command("prove", str(saved), "--claims", mine, "--json")
    assert (checked.code, checked.document["verdict"]) == (1, "broken")
    assert checked.document["missing_assumptions"] == ["convex_and_smooth"]
    stated = MINE.replace("where=where,", "where=where, assumptions=SETTING,").replace(
        "small = ",
        "from fedtheory import assumptions as a\n"
        "SETTING = [a.full_participation, a.uniform_shares, a.same_local_work, a.unit_server_step]\n"
        "SETTING += [a.convex_and_smooth]\n"
        "small = ",
    )
    (tmp_path / "stated.py").write_text(stated)
    checked = command("prove", str(saved), "--claims", str(tmp_path / "stated.py"), "--json")
    assert (checked.code, checked.document["verdict"]) == (0, "proved")


@pytest.mark.long
def test_a_false_claim_is_not_proved(command: Command, mine: str) -> None:
    """The nearest bound and a point below all known bounds are named, as a start for a search of violations."""
    outcome = command("prove", f"{mine}:fast", "--json")
    found = outcome.document
    assert (outcome.code, found["verdict"], found["found"]) == (0, "no certificate", False)
    assert found["nearest"].startswith("renard2022:")
    assert found["below"].keys() <= {"eta", "tau", "T", "M", "zeta", "sigma", "L", "D"}
    out = command("prove", f"{mine}:fast").out
    assert "no certificate of the tried families" in out
    assert "fedtheory falsify" in out
    assert "proved" not in out


def test_no_search(command: Command, mine: str) -> None:
    """Without a search there is no certificate, and no message about a search."""
    found = command("prove", f"{mine}:loose", "--no-search", "--json").document
    assert found["verdict"] == "no certificate"
    assert "found" not in found


def test_little_work(command: Command, mine: str) -> None:
    """With a small amount of work the search ends, and says that more work may help."""
    assert "--effort" in command("prove", f"{mine}:loose", "--effort", "10000").out
    assert command("prove", f"{mine}:loose", "--effort", "0").code == 2


DESCENT = """\
import sympy as sp
from fedtheory import Claim, Gradient, Value, inner, norm_sq, quantities as q

L, f, x, y = sp.symbols("L f x y")
descent = Claim(id="mine:descent", lhs=Value(f, y) - Value(f, x) - inner(Gradient(f, x), y - x), place="points",
                rhs=4 * L * norm_sq(y - x), where={L: q.smoothness, f: q.objective, x: q.point, y: q.second_point})
wrong = Claim(id="mine:wrong", lhs=descent.lhs, place="points", rhs=L * norm_sq(y - x) / 4, where=descent.where)
"""


def test_a_bound_is_tightened(command: Command, tmp_path: Path) -> None:
    """The constant of the descent lemma decreases to about 1/2, with a certificate for the smaller bound."""
    file = tmp_path / "lemma.py"
    file.write_text(DESCENT)
    found = command("prove", f"{file}:descent", "--tighten", "--json").document["tightened"]
    (term,) = found["terms"]
    assert term["stated"] == "4"
    assert Fraction(1, 2) <= Fraction(term["proved"]) <= Fraction(5, 8)
    assert found["certificate"]["certificate"]["claim"] == "mine:descent"
    assert f"4 -> {term['proved']}" in command("prove", f"{file}:descent", "--tighten").out


def test_an_unproved_claim_cannot_be_tightened(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "lemma.py"
    file.write_text(DESCENT)
    for target in (f"{file}:wrong", "renard2022:property-2.5"):
        outcome = command("prove", target, "--tighten")
        assert (outcome.code, "--tighten" in outcome.err) == (2, True)


def test_only_a_folder_is_written_into(command: Command, mine: str) -> None:
    outcome = command("prove", f"{mine}:loose", "--search")
    assert (outcome.code, "expected the folder of your own paper" in outcome.err) == (2, True)

"""`fedtheory prove`: certificates, printed proofs, and the first step that fails."""

from __future__ import annotations

from pathlib import Path

from conftest import Command

KEYS = {"id", "verdict", "relaxed_conditions", "steps", "printed_proof", "first_failing"}


def test_a_certificate_is_checked_step_by_step(command: Command) -> None:
    """A proved claim has steps that all hold, and says under which weaker condition."""
    outcome = command("prove", "renard2022:lemma-2.3", "--json")
    code, found = outcome.code, outcome.document
    assert (code, found["verdict"]) == (0, "proved")
    assert found.keys() == KEYS
    assert found["steps"]
    assert all(step["holds"] for step in found["steps"])
    assert found["relaxed_conditions"] == [r"\eta \leq \frac{2}{L}"]


def test_a_printed_proof_without_certificate_is_broken_at_its_first_failing_step(command: Command) -> None:
    """Lemma 2.2 is false as printed; the first step that fails is named, with its reason."""
    outcome = command("prove", "renard2022:lemma-2.2", "--json")
    code, found = outcome.code, outcome.document
    assert (code, found["verdict"]) == (0, "broken")
    assert found["first_failing"] == "renard2022:observation-2.1"
    failing = next(step for step in found["steps"] if not step["holds"])
    assert failing["text"].startswith("renard2022:observation-2.1")
    assert "wrong way round" in failing["why"]


def test_a_claim_without_any_proof(command: Command) -> None:
    """Nothing is proved, nothing is broken."""
    outcome = command("prove", "fraboni2022:eq-10", "--json")
    code, found = outcome.code, outcome.document
    assert (code, found["verdict"], found["steps"], found["first_failing"]) == (0, "no certificate", [], None)


def test_a_true_theorem_with_a_broken_proof(command: Command) -> None:
    """Theorem 1 of liu2022 has a certificate; its printed proof fails nevertheless."""
    outcome = command("prove", "liu2022:thm-1", "--json")
    code, found = outcome.code, outcome.document
    assert (code, found["verdict"], found["first_failing"]) == (0, "proved", "liu2022:eq-3")


def test_the_terminal_names_the_first_failing_step(command: Command) -> None:
    """People see the steps and the reason."""
    shown = command("prove", "renard2022:thm-2.1")
    assert shown.code == 0
    assert "the first step that fails is renard2022:lemma-2.2" in shown.out
    assert "a weaker condition suffices: eta <= 1/(2*L)" in shown.out


def test_a_user_claim_without_a_certificate(command: Command, tmp_path: Path) -> None:
    """A claim of one's own has none."""
    file = tmp_path / "mine.py"
    file.write_text(
        "from fedtheory import Claim, quantities as q\nnothing = Claim(id='mine:nothing', lhs=q.clients, rhs=2)\n"
    )
    assert command("prove", f"{file}:nothing", "--json").document["verdict"] == "no certificate"

"""`fedtheory prove`: certificates, published proofs, and the first step that fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import Command

from fedtheory.language.targets import resolve

KEYS = {"id", "verdict", "relaxed_conditions", "digest", "steps", "printed_proof", "first_failing", "why_not_proved"}
KEYS |= {"missing_assumptions"}
KEYS |= {"assumed", "assumed_line"}


def test_a_certificate_is_checked_step_by_step(command: Command) -> None:
    """All steps of a proved claim hold, and the weaker condition of the certificate is named."""
    outcome = command("prove", "renard2022:lemma-2.3", "--json")
    code, found = outcome.code, outcome.document
    assert (code, found["verdict"]) == (0, "proved")
    assert found.keys() == KEYS
    assert found["steps"]
    assert all(step["holds"] for step in found["steps"])
    assert found["relaxed_conditions"] == [r"\eta \leq \frac{2}{L}"]


def test_a_printed_proof_without_certificate_is_broken_at_its_first_failing_step(command: Command) -> None:
    """Lemma 2.2 is false as published; the first step that fails is named, with its reason."""
    outcome = command("prove", "renard2022:lemma-2.2", "--json")
    code, found = outcome.code, outcome.document
    assert (code, found["verdict"]) == (0, "broken")
    assert found["first_failing"] == "renard2022:observation-2.1"
    failing = next(step for step in found["steps"] if not step["holds"])
    assert failing["text"].startswith("renard2022:observation-2.1")
    assert "sign is reversed" in failing["why"]


def test_a_claim_without_any_proof(command: Command) -> None:
    """A claim without proof is neither proved nor broken."""
    outcome = command("prove", "fraboni2022:example-1", "--json")
    code, found = outcome.code, outcome.document
    assert (code, found["verdict"], found["steps"], found["first_failing"]) == (0, "no certificate", [], None)
    assert found["why_not_proved"].startswith("the kernel has no recursion")


@pytest.mark.parametrize(("name", "has_reason"), [("fraboni2022:example-1", True), ("liu2022:thm-1", False)])
def test_why_there_is_no_certificate(command: Command, name: str, has_reason: bool) -> None:
    """The reason for a missing certificate is shown with the claim and with its proof."""
    assert ("why it is not proved" in command("prove", name).out) is has_reason
    assert ("why it is not proved" in command("show", name).out) is has_reason


def test_a_true_theorem_with_a_broken_proof(command: Command) -> None:
    """Theorem 1 of liu2022 has a certificate, although its published proof fails."""
    outcome = command("prove", "liu2022:thm-1", "--json")
    code, found = outcome.code, outcome.document
    assert (code, found["verdict"], found["first_failing"]) == (0, "proved", "liu2022:eq-3")


def test_the_terminal_names_the_first_failing_step(command: Command) -> None:
    """The terminal shows the steps and the reason."""
    shown = command("prove", "renard2022:thm-2.1")
    assert shown.code == 0
    assert "the first step that fails is renard2022:lemma-2.2" in shown.out
    assert "a weaker condition suffices: eta <= 1/(2*L)" in shown.out


def test_a_user_claim_without_a_certificate(command: Command, tmp_path: Path) -> None:
    """A user-defined claim has no certificate."""
    file = tmp_path / "mine.py"
    file.write_text(
        "from fedtheory import Claim, quantities as q\nnothing = Claim(id='mine:nothing', lhs=q.clients, rhs=2)\n"
    )
    assert command("prove", f"{file}:nothing", "--json").document["verdict"] == "no certificate"


def test_a_certificate_travels_as_a_file(command: Command, tmp_path: Path) -> None:
    """A saved certificate is checked from the file alone, and for a named claim, with equal digests."""
    file = tmp_path / "lemma.json"
    saved = command("prove", "renard2022:lemma-2.3", "--save", file, "--json").document
    alone = command("prove", file, "--json").document
    given = command("prove", "renard2022:lemma-2.3", "--certificate", file, "--json").document
    assert (alone["id"], alone["verdict"]) == ("renard2022:lemma-2.3", "proved")
    assert saved["digest"] == alone["digest"] == given["digest"]
    assert saved["digest"][:16] in command("prove", file).out


@pytest.mark.long
def test_a_certificate_that_was_changed_is_broken(command: Command, tmp_path: Path) -> None:
    """A change of one coefficient gives exit code 1, and another digest."""
    file = tmp_path / "lemma.json"
    saved = command("prove", "renard2022:lemma-2.3", "--save", file, "--json").document
    document = json.loads(file.read_text(encoding="utf-8"))
    document["certificate"]["terms"][0]["coefficient"] += "/2"
    file.write_text(json.dumps(document), encoding="utf-8")
    outcome = command("prove", file, "--json")
    assert (outcome.code, outcome.document["verdict"]) == (1, "broken")
    assert outcome.document["digest"] != saved["digest"]


def test_a_certificate_for_a_claim_of_ones_own(command: Command, tmp_path: Path) -> None:
    """A user-defined claim is read from Python, and its certificate from JSON."""
    (tmp_path / "mine.py").write_text(
        "import sympy as sp\nfrom fedtheory import Claim, norm_sq, quantities as q\nx, y = sp.symbols('x y')\n"
        "mine = Claim(id='mine:sum', lhs=norm_sq(x + y), rhs=2 * norm_sq(x) + 2 * norm_sq(y), place='points',\n"
        "             where={x: q.point, y: q.second_point})\n"
    )
    term = {"kind": "term", "coefficient": "1", "reason": {"reason": "square", "of": "point - second_point"}}
    document = {
        "format": "fedtheory certificate",
        "version": 1,
        "letters": {},
        "certificate": {"kind": "identities", "claim": "mine:sum", "links": [[term]]},
    }
    file = tmp_path / "sum.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    outcome = command("prove", f"{tmp_path}/mine.py:mine", "--certificate", file, "--json")
    assert (outcome.code, outcome.document["verdict"]) == (0, "proved")
    term["reason"]["of"] = "point - second_pint"
    file.write_text(json.dumps(document), encoding="utf-8")
    complaint = command("prove", f"{tmp_path}/mine.py:mine", "--certificate", file).complaint()
    assert f"{file}: certificate.links[0][0].reason.of: 'second_pint' is not a symbol" in complaint


OWN_ALGORITHM = """
import sympy as sp
from fedtheory import Claim, assumptions as a, quantities as q
from fedtheory.federation.definition import *

x, y = sp.symbols("x y_i", real=True)
own = FederatedAlgorithm(
    name="own", server={x: start}, local=Local(y, start=x, step=y - eta * Gradient(y)),
    server_update={x: x + Average(y - x)}, model=x, steps_are_rounds=True, at_optimum={x: optimum},
)
assumed = [a.of_algorithm("mine.py:own"), a.same_step_size]
rest = Claim(id="mine:rest", lhs=q.optimum_displacement_sq, relation="==", rhs=0, where={}, assumptions=assumed)
"""


def test_a_certificate_for_an_algorithm_of_ones_own(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A certificate names its algorithm; the error for a missing name says which one is expected."""
    monkeypatch.chdir(tmp_path)
    resolve.cache_clear()
    Path("mine.py").write_text(OWN_ALGORITHM)
    sent = {
        "format": "fedtheory certificate",
        "version": 1,
        "letters": {},
        "certificate": {"kind": "at rest", "claim": "mine:rest", "local_step": "single"},
    }
    given = ("prove", "mine.py:rest", "--certificate", "rest.json")
    Path("rest.json").write_text(json.dumps(sent))
    complaint = command(*given).complaint()
    assert "rest.json: definition: expected " in complaint
    expected = complaint.partition("expected ")[2].partition(",")[0]
    Path("rest.json").write_text(json.dumps(sent | {"definition": expected}))
    outcome = command(*given, "--json")
    assert (outcome.code, outcome.document["verdict"]) == (0, "proved")
    Path("mine.py").write_text(OWN_ALGORITHM.replace("Average(y - x)", "2 * Average(y - x)"))
    assert "for mine.py:own as it is now" in command(*given).complaint()


BAD = {
    "no file": (None, "cannot be read"),
    "no json": ("{", "is not JSON"),
    "a list": ("[]", "expected a table with certificate, format, letters, version"),
    "another format": (
        '{"format": "x", "version": 1, "letters": {}, "certificate": {}}',
        "expected 'fedtheory cert",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_get_one_line(command: Command, tmp_path: Path, case: str) -> None:
    """A bad file gives one line with the file, and what was expected."""
    text, words = BAD[case]
    file = tmp_path / "bad.json"
    if text is not None:
        file.write_text(text)
    complaint = command("prove", file).complaint()
    assert str(file) in complaint
    assert words in complaint
    assert "expected one claim" in command("prove", "renard2022", "--save", file).complaint()


def test_without_a_certificate_it_says_what_one_is(command, tmp_path: Path) -> None:
    """Without a certificate the output explains certificates; the commands that it names exist and work."""
    file = tmp_path / "mine.py"
    file.write_text(
        "from fedtheory import Claim, quantities as q\nx = Claim(id='mine:x', lhs=q.max_drift, rhs=1, where={})\n"
    )
    outcome = command("prove", f"{file}:x")
    assert "no certificate" in outcome.out
    assert "sum of terms" in outcome.out
    saved = tmp_path / "c.json"
    assert "prove renard2022:property-2.5 --save c.json" in outcome.out
    assert command("prove", "renard2022:property-2.5", "--save", saved).code == 0
    assert command("prove", "renard2022:property-2.5", "--certificate", saved).code == 0

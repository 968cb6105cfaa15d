"""`fedtheory claims` and `fedtheory show`, and targets that do not exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cli_claims import CONTRACT, MINE

from fedtheory.cli.unicode_math import unicode_math, unicode_prose
from fedtheory.language.claim import Claim
from fedtheory.language.registry import all_claims

SUMMARY = {"id", "source", "locator", "kind", "title", "statement", "corrects", "verdict"}
DETAILS = SUMMARY | {"assumptions", "conditions", "symbols", "certificate"}
VERDICTS = {"proved", "supported", "asymptotic", "refuted", "not applicable", "definition"}


def test_claims(command) -> None:
    """Every claim has the documented keys, an id of its source, and a statement."""
    outcome = command("claims", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    claims = outcome.document
    assert claims
    for claim in claims:
        assert claim.keys() >= SUMMARY
        assert claim["id"].startswith(f"{claim['source']}:")
        assert all(isinstance(claim[key], str) and claim[key] for key in ("locator", "kind", "title")), claim["id"]
        assert claim["verdict"] in VERDICTS
    ids = [claim["id"] for claim in claims]
    assert len(set(ids)) == len(ids)
    assert {claim["corrects"] for claim in claims} - {None} <= set(ids)


def test_the_id_of_a_published_claim_is_refused(command, tmp_path: Path) -> None:
    """A user-defined claim with the id of a published one is rejected with its line."""
    file = tmp_path / "mine.py"
    file.write_text(MINE + "\n\ntaken = Claim(\n    id='renard2022:thm-2.1',\n    lhs=q.max_drift,\n    rhs=1,\n)\n")
    outcome = command("show", f"{file}:taken")
    assert (outcome.code, outcome.out) == (2, "")
    line = MINE.count("\n") + 4
    assert f"{file}, line {line}: id: renard2022:thm-2.1 is a claim of renard2022 already" in outcome.err


def test_claims_of_a_source(command) -> None:
    """--source keeps the claims of one source, in the same order."""
    everything = command("claims", "--json").document
    chosen = command("claims", "--source", "renard2022", "--json").document
    assert chosen == [claim for claim in everything if claim["source"] == "renard2022"]
    assert chosen


@pytest.mark.long
def test_claims_for_people(command) -> None:
    """A table without --json."""
    outcome = command("claims")
    assert (outcome.code, outcome.err) == (0, "")
    assert "renard2022:thm-2.1" in outcome.out


@pytest.mark.parametrize("arguments", [("claims",), ("verify",)])
def test_unknown_source(arguments: tuple[str, ...], command) -> None:
    """The known sources are named."""
    complaint = command(*arguments, "--source", "renard2023", "--json").complaint()
    assert "renard2022" in complaint
    assert "'renard2023'" in complaint


def test_unknown_source_beside_an_id(command) -> None:
    """An unknown source is an error also if an id is given."""
    command("verify", "renard2022:property-2.5", "--source", "renard2023", "--jobs", "1", "--json").complaint()


@pytest.mark.long
def test_show_every_claim(command) -> None:
    """Every claim can be shown, with at least the fields of the list."""
    for listed in command("claims", "--json").document:
        outcome = command("show", listed["id"], "--json")
        assert (outcome.code, outcome.err) == (0, "")
        shown = outcome.document
        assert shown.keys() >= DETAILS
        assert {key: shown[key] for key in SUMMARY} == listed
        assert all(isinstance(condition, str) for condition in shown["conditions"])
        assert listed["id"] in command("show", listed["id"]).out


def test_show_the_theorem(command) -> None:
    """The theorem is shown with symbols, assumptions and conditions."""
    shown = command("show", "renard2022:thm-2.1", "--json").document
    assert shown["assumptions"]
    assert shown["conditions"]
    assert shown["symbols"]
    assert r"\tau" in shown["statement"]


def test_show_own_claim(command, tmp_path: Path) -> None:
    """A user-defined claim is shown with conditions and symbols, and without verdict."""
    path = tmp_path / "mine.py"
    path.write_text(CONTRACT)
    outcome = command("show", f"{path}:drift", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    shown = outcome.document
    assert (shown["id"], shown["verdict"], shown["certificate"], shown["corrects"]) == ("mine:drift", None, None, None)
    assert len(shown["conditions"]) == 1
    assert {"max_drift", "local_step_size", "local_steps", "gradient_dissimilarity", "noise_deviation"} <= {
        symbol["quantity"] for symbol in shown["symbols"]
    }
    people = command("show", f"{path}:drift")
    assert people.code == 0
    assert "mine:drift" in people.out


def test_show_own_claim_from_its_folder(command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative file name is looked up in the current folder."""
    (tmp_path / "relative_claims.py").write_text(CONTRACT)
    monkeypatch.chdir(tmp_path)
    assert command("show", "relative_claims.py:drift", "--json").document["id"] == "mine:drift"


BAD_TARGETS = {
    "near id": ("renard2022:thm-21", ("no claim", "renard2022:thm-2.1")),
    "other case": ("Renard2022:thm-2.1", ("no claim", "renard2022:thm-2.1")),
    "no such id": ("nobody1999:conjecture-9", ("no claim", "fedtheory claims")),
    "empty": ("", ("no claim",)),
    "missing file": ("{folder}/nowhere.py:drift", ("{folder}/nowhere.py", "no such file")),
    "folder": ("{folder}/folder.py:drift", ("{folder}/folder.py", "no such file")),
    "missing name": ("{folder}/mine.py:drif", ("{folder}/mine.py", "drif", "steps_are_huge")),
    "not a claim": ("{folder}/mine.py:number", ("{folder}/mine.py", "number", "steps_are_huge")),
    "no name": ("{folder}/mine.py:", ("{folder}/mine.py", "steps_are_huge")),
    "no colon": ("{folder}/mine.py", ("{folder}/mine.py",)),
    "no claims": ("{folder}/nothing.py:x", ("{folder}/nothing.py", "defines no Claim")),
    "syntax error": ("{folder}/syntax.py:x", ("{folder}/syntax.py", "SyntaxError")),
    "null byte": ("{folder}/null.py:x", ("{folder}/null.py",)),
    "not UTF-8": ("{folder}/latin.py:x", ("{folder}/latin.py",)),
    "missing import": ("{folder}/imports.py:x", ("{folder}/imports.py", "no_such_module_anywhere")),
    "raises": ("{folder}/raises.py:x", ("{folder}/raises.py", "ZeroDivisionError")),
    "multi-line error": ("{folder}/lines.py:x", ("{folder}/lines.py", "first second")),
    "exits": ("{folder}/exits.py:x", ("{folder}/exits.py",)),
    "unknown argument": ("{folder}/argument.py:x", ("{folder}/argument.py", "left")),
    "unknown quantity": ("{folder}/quantity.py:x", ("{folder}/quantity.py", "no_such_quantity")),
    "side that is no expression": ("{folder}/side.py:x", ("{folder}/side.py",)),
}

FILES = {
    "mine.py": MINE,
    "nothing.py": "x = 3\n",
    "syntax.py": "def broken(:\n    pass\n",
    "imports.py": "import no_such_module_anywhere\n",
    "raises.py": "x = 1 / 0\n",
    "lines.py": "raise ValueError('first\\nsecond')\n",
    "exits.py": "import sys\nsys.exit(0)\n",
    "argument.py": "from fedtheory import Claim\nx = Claim(id='mine:x', left=1)\n",
    "quantity.py": "from fedtheory import Claim, quantities as q\nx = Claim(id='a:x', lhs=q.no_such_quantity, rhs=1)\n",
    "side.py": "from fedtheory import Claim\nx = Claim(id='mine:x', lhs='1 +', rhs=1)\n",
}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files of claims, most of them broken."""
    path = tmp_path_factory.mktemp("claims")
    for name, text in FILES.items():
        (path / name).write_text(text)
    (path / "null.py").write_bytes(b"x = 1\0\n")
    (path / "latin.py").write_bytes("x = 'Größe'\n".encode("latin-1"))
    (path / "folder.py").mkdir()
    return path


# `verify` accepts a whole file.
MISTAKES = [(n, c) for n in ("show", "check", "verify") for c in BAD_TARGETS if (n, c) != ("verify", "no colon")]


@pytest.mark.parametrize(("name", "case"), MISTAKES, ids=lambda name: name.replace(" ", "-"))
def test_bad_targets(name: str, case: str, command, folder: Path, write_run) -> None:
    """A wrong name on the command line gives one line with a hint."""
    target, words = BAD_TARGETS[case]
    extra = {"show": [], "check": [write_run()], "verify": ["--jobs", "1"]}[name]
    try:
        complaint = command(name, target.format(folder=folder), *extra, "--json").complaint()
    except SystemExit as exit_of_the_file:
        pytest.fail(f"the file ends the program with exit code {exit_of_the_file.code}, in silence")
    missing = [word for word in words if word.format(folder=folder) not in complaint]
    assert not missing, complaint


@pytest.mark.parametrize("claim", all_claims().values(), ids=list(all_claims()))
def test_statements_and_notes_are_unicode(claim: Claim) -> None:
    """Output of `show`, `prove` and `errata` contains no LaTeX: no commands, no dollars."""
    texts = [unicode_math(claim.statement), unicode_math(claim.encoded)]
    texts += map(unicode_prose, (claim.title, claim.note, *(a.statement for a in claim.assumptions)))
    assert not re.search(r"\\|\$|mathbb|operatorname|quad\b", " ".join(texts))


def test_words_search_the_claims(command) -> None:
    """Words are searched in ids, titles and names of quantities; a word without a match is named."""
    found = {claim["id"] for claim in command("claims", "momentum", "--json").document}
    assert found == {claim.id for claim in all_claims().values() if "momentum" in " ".join(words_of(claim)).lower()}
    assert found
    assert "liu2022:thm-1" in {claim["id"] for claim in command("claims", "thm", "liu2022", "--json").document}
    outcome = command("claims", "nosuchword")
    assert outcome.code == 2
    assert "no claim has 'nosuchword' in its id" in outcome.err


def words_of(claim: Claim) -> list[str]:
    """Names by which people look for a claim."""
    names = [quantity.name for quantity in claim.where.values()] + [assumption.name for assumption in claim.assumptions]
    return [claim.id, claim.title, claim.locator, *names]

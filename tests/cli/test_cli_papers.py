"""A paper outside the package: its folder on the command line, or an entry point of another distribution."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_support import Command

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("no_open_paper")]

COMMANDS = (["claims"], ["verify", "--jobs", "1"], ["prove"], ["errata"])
BOUND = """

from fedtheory import Claim
from fedtheory import quantities as q

eta, tau, G = sp.symbols("eta tau G", positive=True)
CLAIMS += (
    Claim(
        id="paper:thm-1",
        title="How far clients get",
        lhs=q.max_drift,
        rhs=4 * tau**2 * eta**2 * G**2,
        where={eta: q.local_step_size, tau: q.local_steps, G: q.second_moment},
        assumptions=[a.bounded_second_moment],
        verdict="supported",
    ),
)
"""


@pytest.fixture
def paper(command, tmp_path: Path) -> Path:
    """Return the folder that `new-source` writes, with an additional bound of a run."""
    folder = tmp_path / "paper"
    assert command("new-source", folder).code == 0
    statements = folder / "statements.py"
    text = statements.read_text(encoding="utf-8") + BOUND
    statements.write_text(
        text.replace("import sympy as sp", "import sympy as sp\n\nfrom fedtheory import assumptions as a")
    )
    return folder


def test_every_command_takes_the_folder(command, paper: Path) -> None:
    """Commands accept the folder and return claims, verdicts, proofs and errata of this paper only."""
    listed = command("claims", f"{paper}/", "--json").document
    assert [claim["id"] for claim in listed] == ["paper:lemma-1", "paper:lemma-1.fixed", "paper:thm-1"]
    verified = command("verify", paper, "--jobs", 2, "--json").document["claims"]
    assert [claim["verdict"] for claim in verified] == ["refuted", "proved", "supported"]
    proofs = {proof["id"]: proof["verdict"] for proof in command("prove", paper, "--json").document}
    assert proofs["paper:lemma-1.fixed"] == "proved"
    assert proofs["paper:thm-1"] == "no certificate"
    (erratum,) = command("errata", paper, "--json").document
    assert (erratum["printed"], erratum["corrected"]) == ("paper:lemma-1", "paper:lemma-1.fixed")
    assert (erratum["lhs"], erratum["rhs"]) == ("4", "2")


def test_its_pages(command, paper: Path, tmp_path: Path) -> None:
    """The site has an index, a page of the paper and of each claim, and the errata, with internal links."""
    pages = tmp_path / "pages"
    assert command("report", paper, "-o", pages, "--jobs", 1).code == 0
    names = {"index", "paper", "errata", "paper-lemma-1", "paper-lemma-1-fixed", "paper-thm-1"}
    assert {page.stem for page in pages.glob("*.html")} == names
    proved = (pages / "paper-lemma-1-fixed.html").read_text(encoding="utf-8")
    assert "Proved: the kernel accepts the certificate below" in proved
    refuted = (pages / "paper-lemma-1.html").read_text(encoding="utf-8")
    assert 'href="paper-lemma-1-fixed.html"' in refuted
    assert "liu2022" not in (pages / "index.html").read_text(encoding="utf-8")


def test_tables_name_claims_by_their_ids(command, paper: Path) -> None:
    """Tables show ids, not folders."""
    for name, *options in COMMANDS:
        shown = command(name, paper, *options).out
        assert "paper:lemma-1" in shown
        assert str(paper) not in shown


def test_once_opened_its_ids_are_known(command, paper: Path) -> None:
    """After the folder is opened, its claims can be named by id, and by a pattern of ids."""
    assert command("show", f"{paper}:lemma-1.fixed", "--json").document["corrects"] == "paper:lemma-1"
    assert len(command("claims", "paper:lemma-*", "--json").document) == 2


def test_a_missing_counterexample_is_found(command, paper: Path) -> None:
    """The ledger of a new paper finds a counterexample that is not stored."""
    (paper / "counterexamples" / "lemma-1.toml").unlink()
    (erratum,) = command("errata", paper, "--json").document
    assert erratum["counterexample"]["problem"]["kind"] == "quadratic"


BROKEN = {
    "no init": ({"__init__.py": None}, ["{folder}", "expected the folder of a paper", "new-source"]),
    "no source": ({"__init__.py": "x = 1\n"}, ["__init__.py: SOURCE: expected a fedtheory.Source, got None"]),
    "syntax": ({"statements.py": "CLAIMS = (\n"}, ["statements.py, line 1: cannot be executed: SyntaxError"]),
    "exception": ({"statements.py": "x = 1\nCLAIMS = y\n"}, ["statements.py, line 2", "name 'y' is not defined"]),
    "no claim": ({"statements.py": "CLAIMS = (1,)\n"}, ["SOURCE.claims[0]: expected a Claim, got 1"]),
    "foreign id": (
        {"statements.py": "from fedtheory import Claim\nCLAIMS = (Claim(id='other:x', lhs=1, rhs=2),)\n"},
        ["SOURCE.claims[0]: expected an id that begins with paper:, got 'other:x'"],
    ),
    "twice": (
        {"statements.py": "from fedtheory import Claim\nCLAIMS = (Claim(id='paper:x', lhs=1, rhs=2),) * 2\n"},
        ["SOURCE.claims[1]: two claims have the id 'paper:x'"],
    ),
    "bad key": (
        {"__init__.py": "from fedtheory import Source\nSOURCE = Source('a b', 'T', 'A', 2026, ())\n"},
        ["SOURCE.key: expected letters, digits, - and _, got 'a b'"],
    ),
    "taken key": (
        {"__init__.py": "from fedtheory import Source\nSOURCE = Source('liu2022', 'T', 'A', 2026, ())\n"},
        ["another paper already has the key 'liu2022'"],
    ),
    "certificate": (
        {"certificates.py": "CERTIFICATES = 1\n"},
        ["certificates.py: CERTIFICATES: expected a list of certificates, got 1"],
    ),
    "certificate of nothing": (
        {
            "certificates.py": "from fedtheory.proofs import Certificate\n"
            "CERTIFICATES = [Certificate(claim='paper:none', links=[[]])]\n"
        },
        ["certificates.py: CERTIFICATES[0]: expected the id of a claim of paper, once, got 'paper:none'"],
    ),
    "counterexample": (
        {"counterexamples/lemma-1.toml": "[problem\n"},
        ["lemma-1.toml", "TOML"],
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_folder_is_one_line(command, case: str, tmp_path: Path) -> None:
    """A broken folder gives one line with the file, and what was expected."""
    folder = tmp_path / "paper"
    assert command("new-source", folder).code == 0
    changes, words = BROKEN[case]
    for name, text in changes.items():
        (folder / name).unlink() if text is None else (folder / name).write_text(text, encoding="utf-8")
    complaint = command("errata" if case == "counterexample" else "prove", folder).complaint()
    assert not [word for word in words if word.format(folder=folder) not in complaint], complaint


def test_a_new_folder_must_be_new(command, tmp_path: Path) -> None:
    """A new folder must not exist, and keys must be unique."""
    (tmp_path / "there").mkdir()
    assert "not there yet" in command("new-source", tmp_path / "there").complaint()
    assert "already" in command("new-source", tmp_path / "renard2022").complaint()
    assert "letters, digits" in command("new-source", tmp_path / "a paper").complaint()


def test_an_installed_paper(command, tmp_path: Path) -> None:
    """An entry point of the group names the package of a paper, which is then found automatically."""
    home = tmp_path / "site"
    home.mkdir()
    assert command("new-source", home / "installed2026").code == 0
    metadata = home / "elsewhere-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: elsewhere\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[fedtheory.sources]\ninstalled2026 = installed2026\n")
    environment = {**os.environ, "PYTHONPATH": str(home)}
    program = [sys.executable, "-m", "fedtheory", "verify", "--source", "installed2026", "--jobs", "2"]
    done = subprocess.run(program, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "installed2026:lemma-1.fixed" in done.stdout


def test_found_certificates_are_written_into_a_papers_folder(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The correction in a new paper is proved without a recorded certificate; nothing is written for a refuted
    claim.
    """
    monkeypatch.chdir(tmp_path)
    assert command("new-source", "searched_paper").code == 0
    folder = tmp_path / "searched_paper"
    (folder / "certificates.py").write_text("CERTIFICATES = []\n")
    found = command("prove", "searched_paper/", "--search", "--json").document
    assert {one["id"]: one["verdict"] for one in found}["searched_paper:lemma-1.fixed"] == "proved"
    assert [file.name for file in (folder / "found").iterdir()] == ["lemma-1-fixed.json"]


def test_a_certificate_in_the_folder_is_no_evidence_by_itself(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel checks a certificate in `found` like any other: with another square it is broken."""
    monkeypatch.chdir(tmp_path)
    assert command("new-source", "changed_paper").code == 0
    folder = tmp_path / "changed_paper"
    (folder / "certificates.py").write_text("CERTIFICATES = []\n")
    term = {"kind": "term", "coefficient": "1", "reason": {"reason": "square", "of": "point + second_point"}}
    proof = {"kind": "identities", "claim": "changed_paper:lemma-1.fixed", "links": [[term]]}
    document = {"format": "fedtheory certificate", "version": 1, "letters": {}, "certificate": proof}
    (folder / "found").mkdir()
    (folder / "found" / "lemma-1-fixed.json").write_text(json.dumps(document))
    outcome = command("prove", "changed_paper/", "--json")
    assert outcome.code == 1
    assert {one["id"]: one["verdict"] for one in outcome.document}["changed_paper:lemma-1.fixed"] == "broken"

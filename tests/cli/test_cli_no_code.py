"""Documents are never executed: a certificate names claims by id, and `--no-code` rejects Python files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cli_support import Outcome
from conftest import Command

from fedtheory.errors import InputError
from fedtheory.language.targets import resolve
from fedtheory.runfile.loading import load_file, load_folder, refusing_code

CLAIMS = """
from pathlib import Path
import sympy as sp
from fedtheory import Claim, norm_sq, quantities as q
Path({touched!r}).touch()
x, y = sp.symbols('x y')
mine = Claim(id={id!r}, lhs=norm_sq(x + y), rhs=2 * norm_sq(x) + 2 * norm_sq(y), place='points',
             where={{x: q.point, y: q.second_point}})
"""
ALGORITHM = """
from pathlib import Path
import sympy as sp
from fedtheory.federation.definition import *
Path({touched!r}).touch()
x, y = sp.symbols("x y_i", real=True)
own = FederatedAlgorithm(
    name="own", server={{x: start}}, local=Local(y, start=x, step=y - eta * Gradient(y)),
    server_update={{x: x + Average(y - x)}}, model=x, steps_are_rounds=True,
)
"""
RUN = """
[problem]
kind = "quadratic"
hessians = [[["1"]], [["2"]]]
linear = [["1"], ["0"]]
start = ["1"]
[algorithm]
name = "{file}:own"
local_step_size = "1/20"
rounds = 2
"""
TERM = {"kind": "term", "coefficient": "1", "reason": {"reason": "square", "of": "point - second_point"}}


def certificate(claim: str) -> str:
    """Return the document of a certificate for the claim of `CLAIMS`, with any id."""
    sent = {"kind": "identities", "claim": claim, "links": [[TERM]]}
    return json.dumps({"format": "fedtheory certificate", "version": 1, "letters": {}, "certificate": sent})


@pytest.fixture
def touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the files that Python code in the working directory creates when it is executed."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "touched"
    Path("mine.py").write_text(CLAIMS.format(touched=str(file), id="mine:sum"))
    Path("algorithm.py").write_text(ALGORITHM.format(touched=str(file)))
    paper = tmp_path / "paper"
    paper.mkdir()
    (paper / "__init__.py").write_text(f"open({str(file)!r}, 'w')")
    return file


@pytest.mark.parametrize("name", ["mine.py:mine", "{here}/mine.py:mine", "paper:sum", "{here}/paper:sum", "mine:sum"])
def test_a_certificate_names_no_file(name: str, touched: Path, command: Command) -> None:
    """A certificate that names a file or folder is rejected, and nothing is executed."""
    Path("c.json").write_text(certificate(name.format(here=touched.parent)))
    complaint = command("prove", "c.json").complaint()
    assert "c.json: certificate.claim: expected the id of a published claim" in complaint
    assert not touched.exists()


def test_a_certificate_for_a_file_that_is_given(touched: Path, command: Command) -> None:
    """The user names the file; the certificate names a claim by its id."""
    Path("c.json").write_text(certificate("mine:sum"))
    outcome = command("prove", "c.json", "--claims", "mine.py", "--json")
    assert (outcome.code, outcome.document["verdict"], outcome.document["id"]) == (0, "proved", "mine:sum")
    assert touched.exists()
    Path("c.json").write_text(certificate("mine.py:mine"))
    assert "expected the id of a published claim" in command("prove", "c.json", "--claims", "mine.py").complaint()


def test_claims_of_several_files(touched: Path, command: Command) -> None:
    """`--claims` may be repeated; two claims with one id are an error, and a published claim needs no file."""
    Path("other.py").write_text(CLAIMS.format(touched=str(touched), id="mine:other"))
    Path("third.py").write_text(CLAIMS.format(touched=str(touched), id="mine:other"))
    Path("c.json").write_text(certificate("mine:other"))
    given = ("prove", "c.json", "--claims", "mine.py", "--claims", "other.py")
    assert command(*given, "--json").document["verdict"] == "proved"
    assert "'mine:other' is the id of other.py:mine as well" in command(*given, "--claims", "third.py").complaint()
    command("prove", "renard2022:lemma-2.3", "--save", "lemma.json")
    assert command("prove", "lemma.json", "--claims", "mine.py", "--json").document["verdict"] == "proved"


def test_options_that_do_not_go_together(touched: Path, command: Command) -> None:
    """`--claims` needs a certificate file, and `--certificate` a claim; otherwise nothing is executed."""
    Path("c.json").write_text(certificate("mine:sum"))
    complaint = command("prove", "mine.py:mine", "--claims", "mine.py").complaint()
    assert "--claims: expected the target FILE.json" in complaint
    assert "--certificate: expected a claim" in command("prove", "c.json", "--certificate", "c.json").complaint()
    assert not touched.exists()


def refused(outcome: Outcome, touched: Path, file: str) -> None:
    """Check that a command names the file that it refuses to execute, and does not execute it."""
    complaint = outcome.complaint()
    assert "--no-code" in complaint
    assert file in complaint
    assert not touched.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("simulate", "run.toml"),
        ("check", "renard2022:thm-2.1", "run.toml"),
        ("plan", "run.toml"),
        ("budget", "run.toml", "--local-cost", "1", "--aggregation-cost", "1", "--budget", "9"),
        ("sweep", "sweep.toml"),
        ("report", "renard2022:thm-2.1", "--run", "run.toml"),
    ],
    ids=lambda one: one[0],
)
def test_run_files_that_name_python(arguments: tuple[str, ...], touched: Path, command: Command) -> None:
    """Every command that reads run files rejects the algorithm of a file before it is imported."""
    Path("run.toml").write_text(RUN.format(file="algorithm.py"))
    Path("sweep.toml").write_text(
        'run = "run.toml"\nclaims = ["renard2022:thm-2.1"]\n[grid]\n"algorithm.rounds" = [1]\n'
    )
    refused(command(*arguments, "--no-code"), touched, "algorithm.py")


@pytest.mark.parametrize("name", ["show", "verify", "falsify", "prove", "rocq", "errata", "worst-case", "report"])
@pytest.mark.parametrize("target", ["mine.py:mine", "paper:sum"])
def test_targets_that_are_python(name: str, target: str, touched: Path, command: Command) -> None:
    """Files and folders given as claims are not executed."""
    resolve.cache_clear()
    refused(command(name, target, "--no-code"), touched, target.partition(":")[0])


@pytest.mark.parametrize("name", ["claims", "verify", "prove", "report"])
@pytest.mark.parametrize("target", ["mine.py", "./paper"])
def test_targets_of_many_claims(name: str, target: str, touched: Path, command: Command) -> None:
    """A file or folder that stands for all of its claims is not executed."""
    refused(command(name, target, "--no-code"), touched, Path(target).name)


def test_sweeps_that_name_claims_of_files(touched: Path, command: Command) -> None:
    """A sweep that names claims of files is rejected."""
    run = RUN.replace('name = "{file}:own"\n', "")
    Path("sweep.toml").write_text(f'claims = ["mine.py:mine"]\n{run}[grid]\n"algorithm.rounds" = [1]\n')
    refused(command("sweep", "sweep.toml", "--no-code"), touched, "mine.py")


def test_no_code_ends_with_its_command(touched: Path, command: Command) -> None:
    """The next command of the same process executes code again, and a user's own variable is kept."""
    Path("run.toml").write_text(RUN.format(file="algorithm.py"))
    refused(command("simulate", "run.toml", "--no-code"), touched, "algorithm.py")
    assert "FEDTHEORY_NO_CODE" not in os.environ
    assert command("simulate", "run.toml", "--json").code == 0
    assert touched.exists()


def test_refusing_code_from_python(touched: Path) -> None:
    """Inside the context, also a nested one, no code is executed."""
    with refusing_code():
        with refusing_code():
            pass
        for load, path in ((load_file, Path("mine.py")), (load_folder, Path("paper"))):
            with pytest.raises(InputError, match="--no-code"):
                load(path)
    assert not touched.exists()
    load_file(Path("mine.py"))
    assert touched.exists()

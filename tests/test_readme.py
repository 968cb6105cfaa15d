"""The README is correct: its claim, counterexample, run file and Python lines are run."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from fedtheory import FLOAT, RATIONAL, parse_run
from fedtheory.cli.run_in_words import describe_run
from fedtheory.language.targets import resolve
from verify.check import check
from verify.verdict import verify

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)


def block(language: str, marker: str) -> str:
    """Return the code block in a language that contains a marker."""
    return next(text for name, text in BLOCKS if name == language and marker in text)


def test_it_fits_on_a_few_screens() -> None:
    """The README is short; more belongs into the documentation."""
    assert len(README.splitlines()) <= 120


@pytest.mark.long
def test_the_wrong_bound_is_refuted_as_shown(tmp_path: Path) -> None:
    """The printed counterexample violates the claim with the printed sides, and is what `verify` finds."""
    file = tmp_path / "mine.py"
    file.write_text(block("python", "# mine.py"))
    mine = f"{file}:drift"
    shown = block("console", "fedtheory verify mine.py:drift")
    verdict = verify([mine], search=10)[0]
    assert all(f"\n  {line}\n" in shown for line in describe_run(verdict.run))
    found = check(resolve(mine), parse_run(verdict.run, RATIONAL))
    assert found.holds is False
    assert found.worst is not None
    assert f"left side {found.worst.lhs}, right side {found.worst.rhs}" in shown
    assert str(verdict.instances) in shown


def test_the_run_file_is_valid(tmp_path: Path) -> None:
    """The run file is valid with a csv file of the described shape."""
    (tmp_path / "mine.csv").write_text("rooms,price,hospital\n1,2,a\n2,1,a\n3,4,b\n1,1,b\n")
    run = parse_run(tomllib.loads(block("toml", "# run.toml")), FLOAT, tmp_path)
    assert run.algorithm.rounds == 100


def test_the_notebook_lines_run() -> None:
    """Every line of Python in the README runs."""
    pytest.importorskip("pandas")
    exec(block("python", "import fedtheory as ft"), {})


def test_every_link_leads_somewhere() -> None:
    """Links and pictures exist."""
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(targets) > 20
    for target in targets:
        assert (ROOT / target).exists(), target

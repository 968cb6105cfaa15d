"""The README tells the truth: its claim, its counterexample and its Python lines are run."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import sympy as sp

from fedtheory import RATIONAL, parse_run
from fedtheory.cli.run_in_words import in_words
from fedtheory.language.assumptions import full_gradients
from fedtheory.language.registry import find
from fedtheory.language.targets import resolve
from fedtheory.proofs import prove
from verify.check import check
from verify.grade.latex_answer import read_latex
from verify.sweeps import conduct, read_results, read_spec
from verify.verdict import verify

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", README, re.DOTALL)


def block(language: str, marker: str) -> str:
    """The code block of that language which contains a marker."""
    return next(text for name, text in BLOCKS if name == language and marker in text)


@pytest.fixture
def mine(tmp_path: Path) -> str:
    """The README's claim, as a target."""
    file = tmp_path / "mine.py"
    file.write_text(block("python", "# mine.py"))
    return f"{file}:drift"


def test_the_wrong_bound_is_refuted_as_shown(mine: str) -> None:
    """The printed counterexample violates the claim with the printed sides, and is what `verify` finds."""
    shown = block("console", "fedtheory verify mine.py:drift")
    table = tomllib.loads(block("toml", "# counterexample.toml"))
    found = check(resolve(mine), parse_run(table, RATIONAL))
    assert all(f"\n  {line}\n" in shown for line in in_words(table))
    assert found.holds is False
    assert found.worst is not None
    assert f"left side {found.worst.lhs}, right side {found.worst.rhs}" in shown
    verdict = verify([mine], jobs=2)[0]
    assert verdict.run == table
    assert str(verdict.instances) in shown


def test_the_python_lines_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The example for instructors prints a refutation."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "counterexample.toml").write_text(block("toml", "# counterexample.toml"))
    exec(block("python", "found = check("), {})
    assert capsys.readouterr().out


def test_every_link_leads_somewhere() -> None:
    """Links and pictures of the README exist."""
    root = Path(__file__).parent.parent
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (root / target).exists(), target


def test_the_clock_runs() -> None:
    """The run file with a clock is one, and its error falls."""
    run = parse_run(tomllib.loads(block("toml", "# clock.toml")), RATIONAL)
    assert run.algorithm.schedule.times[-1] == 12
    assert run.trajectory.server_suboptimality[-1] < run.trajectory.server_suboptimality[0] / 10


def test_the_sweep_runs(tmp_path: Path, mine: str) -> None:
    """The sweep of the README has the columns and verdicts that it speaks of, on its own run file and claim."""
    assert Path(mine.rpartition(":")[0]).parent == tmp_path
    for name in ("clock.toml", "sweep.toml"):
        (tmp_path / name).write_text(block("toml", f"# {name}").replace("count = 20", "count = 2"))
    conduct(read_spec(tmp_path / "sweep.toml"), tmp_path / "sweep.parquet")
    results = read_results(tmp_path / "sweep.parquet")
    assert len(results.rows) == 2 * 3 * 2 * len(results.claims)
    assert {"renard2022:thm-2.1", "fraboni2022:thm-1", "mine.py:drift"} < results.claims.keys()
    told = set(
        re.findall(r"`([\w ]+)`", README[README.index("The table has one row") : README.index("The page shows")])
    )
    assert told >= set(results.rows[0]) - set(results.kinds)
    assert told >= {row["verdict"] for row in results.rows}
    assert {row["verdict"] for row in results.rows} >= {"holds", "violated", "not applicable"}


SHARPENED = {
    "Theorem 2.1 of `renard2022`": "renard2022:thm-2.1.sharp",
    "the same with full gradients": "renard2022:thm-2.1.quiet",
    "Theorem 1 of `liu2022`": "liu2022:thm-1.sharp",
    "Theorem 3 of `liu2022`": "liu2022:thm-3.sharp",
}


@pytest.mark.parametrize("theorem", SHARPENED)
def test_the_sharpened_terms_are_those_that_are_proved(theorem: str) -> None:
    """The two terms of a row differ as the bounds of the registry do, and both bounds are proved."""
    sharper = find(SHARPENED[theorem])
    printed = find(str(sharper.sharpens))
    assert prove(sharper).verdict == prove(printed).verdict == "proved"
    letters = {str(symbol): symbol for claim in (sharper, printed) for symbol in claim.notation}
    row = next(line for line in README.splitlines() if line.startswith(f"| {theorem} |"))
    before, after = (read_latex(re.findall(r"\$(.+?)\$", cell)[0], letters) for cell in row.split("|")[2:4])
    noise = letters["sigma"] if full_gradients in sharper.assumptions else None
    difference = (sharper.rhs - printed.rhs) - (after - before)
    assert sp.simplify(difference if noise is None else difference.subs(noise, 0)) == 0

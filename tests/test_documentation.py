"""The documentation is correct: its run files, claims, tables and links are tested.

The tutorials are run when the site is built (`make docs`).
"""

from __future__ import annotations

import re
import runpy
import tomllib
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from fedtheory import RATIONAL, parse_run, quantity
from fedtheory import quantities as q
from fedtheory.language.assumptions import full_gradients
from fedtheory.language.registry import find
from fedtheory.proofs import prove
from verify.check import check
from verify.grade.latex_answer import read_latex
from verify.sweeps import read_results, read_spec, run_sweep

DOCS = Path(__file__).parent.parent / "docs"
MADE = {f"reference/{name}.md" for name in ("commands", "run-file", "algorithms", "quantities", "assumptions", "json")}
"""Pages that exist only in the built site."""
PAGES = sorted({str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")} - MADE)


@cache
def text_of(page: str) -> str:
    """Return the text of a page."""
    return (DOCS / page).read_text(encoding="utf-8")


def block(page: str, language: str, marker: str) -> str:
    """Return the code block of a page in a language that contains a marker."""
    blocks = re.findall(r"```(\w+)\n(.*?)```", text_of(page), re.DOTALL)
    return next(text for name, text in blocks if name == language and marker in text)


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page: str) -> None:
    """Links lead to an existing page, a generated page, or a section."""
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text_of(page)):
        found = (DOCS / page).parent / target
        is_made = str(found.resolve().relative_to(DOCS)) in MADE
        assert is_made or found.exists(), target


def test_the_clock_runs() -> None:
    """The run file with a clock is valid, and its error decreases."""
    run = parse_run(tomllib.loads(block("how-to/algorithms.md", "toml", "# clock.toml")), RATIONAL)
    assert run.algorithm.schedule.times[-1] == 12
    assert run.trajectory.server_suboptimality[-1] < run.trajectory.server_suboptimality[0] / 10


def test_the_algorithms_of_ones_own_run(tmp_path: Path) -> None:
    """Algorithms have the names on the page, and a parameter is a key of the run file."""
    own = [block("how-to/algorithms.md", "python", name) for name in ("halves = ", "shrinking = ")]
    (tmp_path / "mine.py").write_text("\n".join(own))
    problem = {"kind": "quadratic", "hessians": [[["1"]]], "linear": [["0"]], "start": ["1"]}
    # With a step of 1/2: (1 + 1/2)/2, and 1 - 1/2 - 1/2 * 1/10.
    for keys, model in (({"name": "mine.py:halves"}, "3/4"), ({"name": "mine.py:shrinking", "decay": "1/10"}, "9/20")):
        algorithm = {**keys, "local_step_size": "1/2", "rounds": 1}
        run = parse_run({"problem": problem, "algorithm": algorithm}, RATIONAL, tmp_path)
        assert str(run.trajectory.server_mean[-1][0]) == model


def test_the_assumptions_of_ones_own_hold_as_they_say() -> None:
    """User-defined assumptions hold on a run with full gradients, and fail where their statements are false."""
    space: dict[str, Any] = {}
    exec(block("how-to/claims.md", "python", "few = "), space)
    algorithm = {"local_step_size": "1/2", "rounds": 1}
    two = {"kind": "quadratic", "hessians": [[["1"]]] * 2, "linear": [["0"]] * 2, "start": ["1"]}
    four = {"kind": "quadratic", "hessians": [[["1"]]] * 4, "linear": [["0"]] * 4, "start": ["1"], "noise": "1"}
    runs = [parse_run({"problem": problem, "algorithm": algorithm}, RATIONAL) for problem in (two, four)]
    for name in ("few", "exact"):
        assert [space[name].failure(run) is None for run in runs] == [True, False]


def test_the_sweep_runs(tmp_path: Path) -> None:
    """The sweep of the page has the columns and verdicts that it mentions, and claims that apply to some run."""
    page = text_of("how-to/sweeps.md")
    (tmp_path / "mine.py").write_text(block("how-to/claims.md", "python", "# mine.py"))
    sweep = block("how-to/sweeps.md", "toml", "# sweep.toml")
    (tmp_path / "sweep.toml").write_text(sweep.replace("count = 20", "count = 4"))
    run_sweep(read_spec(tmp_path / "sweep.toml"), tmp_path / "sweep.parquet")
    results = read_results(tmp_path / "sweep.parquet")
    assert len(results.rows) == 2 * 3 * 4 * len(results.claims)
    assert {"renard2022:thm-2.1", "fraboni2022:thm-1", "mine.py:drift"} < results.claims.keys()
    printed = set(re.findall(r"`([\w ]+)`", page[page.index("The table has one row") : page.index("The page shows")]))
    assert printed >= set(results.rows[0]) - set(results.kinds)
    assert printed >= {row["verdict"] for row in results.rows}
    assert {row["verdict"] for row in results.rows} == {"holds", "violated", "not applicable"}
    for claim in ("renard2022:thm-2.1", "fraboni2022:thm-1.any-point", "mine.py:drift"):
        assert results.summary(claim).worst_ratio is not None


SHARPENED = {
    "Theorem 2.1 of `renard2022`": "renard2022:thm-2.1.sharp",
    "the same with full gradients": "renard2022:thm-2.1.quiet",
    "the same with the noise": "renard2022:thm-2.1.halved",
    "Theorem 1 of `liu2022`": "liu2022:thm-1.sharp",
    "Theorem 3 of `liu2022`": "liu2022:thm-3.sharp",
}


def test_quantities_of_ones_own_have_their_values(tmp_path: Path) -> None:
    """User-defined quantities have the described values on an exact run, and their claim is checked."""
    (tmp_path / "own.py").write_text(block("how-to/claims.md", "python", "# own.py"))
    own = runpy.run_path(str(tmp_path / "own.py"))
    problem = {"kind": "quadratic", "hessians": [[["1"]], [["1/2"]]], "linear": [["1"], ["-1"]], "start": ["2"]}
    algorithm = {"local_step_size": "1/8", "local_steps": 3, "rounds": 2}
    run = parse_run({"problem": problem, "algorithm": algorithm}, RATIONAL)
    errors = q.suboptimality_after_step.on(run)
    weights = [(5 + t) ** 2 for t in range(6)]
    mean = sum(weight * error for weight, error in zip(weights, errors.ravel(), strict=True)) / sum(weights)
    assert own["error"].on(run) == mean
    assert (own["summed"].on(run) == errors.sum(axis=1, keepdims=True)).all()
    # The gradients are x - 1 and x/2 + 1, and their average is zero at the minimiser zero.
    server, farthest = Fraction(2), []
    for _ in range(2):
        models = [server, server]
        for _ in range(3):
            farthest.append(max(model**2 for model in models))
            models = [models[0] - (models[0] - 1) / 8, models[1] - (models[1] / 2 + 1) / 8]
        server = (models[0] + models[1]) / 2
    assert str(own["farthest"].on(run)) == str(sum(farthest) / 6)
    assert check(own["bound"], run).holds is True
    heaviest = quantity("heaviest", sp.Symbol("w"), {sp.Symbol("w"): q.weight_sum}, over="run", by="largest")
    assert heaviest.on(run) == 1


@pytest.mark.parametrize("theorem", SHARPENED)
def test_the_sharpened_terms_are_those_that_are_proved(theorem: str) -> None:
    """The terms of a row differ like the bounds of the registry, and both bounds are proved."""
    sharper = find(SHARPENED[theorem])
    printed = find(str(sharper.sharpens))
    assert prove(sharper).verdict == prove(printed).verdict == "proved"
    symbols = {str(symbol): symbol for claim in (sharper, printed) for symbol in claim.notation}
    row = next(line for line in text_of("explanation/findings.md").splitlines() if line.startswith(f"| {theorem} |"))
    before, after = (read_latex(re.findall(r"\$(.+?)\$", cell)[0], symbols) for cell in row.split("|")[2:4])
    noise = symbols["sigma"] if full_gradients in sharper.assumptions else None
    difference = (sharper.rhs - printed.rhs) - (after - before)
    assert sp.simplify(difference if noise is None else difference.subs(noise, 0)) == 0

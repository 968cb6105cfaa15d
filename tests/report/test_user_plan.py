"""The page of a plan has the order of the terminal: the answer, the table, then details on request."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

from fedtheory.cli import run as fedtheory
from fedtheory.runfile import run_toml

RUN = run_toml(
    {
        "problem": {"kind": "quadratic", "hessians": [[["2"]], [["1"]]], "linear": [["1"], ["-1"]], "start": ["3"]},
        "algorithm": {"local_step_size": "1/20", "local_steps": 3, "rounds": 20},
    }
)
CLAIMS = ("--claim", "renard2022:thm-2.1", "--claim", "liu2022:thm-1.sharp", "--claim", "liu2022:cor-2.K")


def page_of(folder: Path, *arguments: str) -> str:
    """Return the text of a page without tags."""
    (folder / "mine.toml").write_text(RUN)
    assert fedtheory(["plan", *arguments, *CLAIMS, "-o", str(folder / "plan.html")]) == 0
    return (folder / "plan.html").read_text(encoding="utf-8")


def words_of(page: str) -> str:
    """Return the words on a page."""
    return " ".join(unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL)).split())


def test_the_order_of_a_page(tmp_path: Path) -> None:
    """The page has answer, curves and map, one table, hidden reasons and details, and the command."""
    page = page_of(tmp_path, str(tmp_path / "mine.toml"), "--target", "1/10", "--map", "local_step_size,local_steps")
    words = words_of(page)
    order = (
        "Plan of",
        "use step size",
        "promised",
        "limits",
        "Bounds that cover the run",
        "Why other bounds",
        "detail",
    )
    places = [words.index(part) for part in (*order, "Reproduce it")]
    assert places == sorted(places)
    before, *folded = page.split("<details>")
    assert len(folded) == 2
    assert "step size of the corollary" not in before
    assert "step size of the corollary" in folded[0]
    assert before.count("<svg") == 2
    assert "$" not in words
    assert "src=" not in page


def test_constants_alone_have_a_page(tmp_path: Path) -> None:
    """A plan of constants has a page without curves."""
    page = page_of(tmp_path, "L=1", "M=10", "tau=5", "T=100", "D=2", "sigma=1", "zeta=0.5")
    assert "use step size" in words_of(page)
    assert "<svg" not in page


def test_averages_over_replicas_are_not_called_exact(tmp_path: Path) -> None:
    """Errors of a run with mini-batches on a logistic loss are estimates, with intervals in words and in the figure."""
    rows = {"inputs": [[[1], [2], [-1]], [[1], [-2], [3]]], "outputs": [[1, 0, 0], [1, 1, 0]], "ridge": "1/10"}
    algorithm = {"local_step_size": "1/4", "local_steps": 2, "rounds": 6}
    run = {"problem": {"kind": "logistic", **rows, "batch": 1}, "algorithm": algorithm}
    (tmp_path / "run.toml").write_text(run_toml(run))
    page = page_of(tmp_path, str(tmp_path / "run.toml"))
    words = words_of(page)
    assert re.search(r"estimated final_suboptimality [0-9.e-]+ ± [0-9.e-]+", words)
    assert "The estimated final suboptimality after each round. Bands are 95 % intervals." in words
    assert "The exact final" not in words
    exact = words_of(page_of(tmp_path, str(tmp_path / "mine.toml")))
    assert "The exact final suboptimality after each round." in exact
    assert "±" not in exact

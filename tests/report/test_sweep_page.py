"""The page of a sweep is self-contained, agrees with the table, and reproduces its worst run."""

from __future__ import annotations

import html
import json
import re
import tomllib
from pathlib import Path

import pytest
from test_site import Page

from fedtheory import RATIONAL, parse_run
from fedtheory.cli import run
from fedtheory.errors import InputError
from fedtheory.language.registry import find
from report.sweep import make_sweep_page
from report.website import write_sweep
from verify.check import check
from verify.sweeps import read_results, read_spec, run_sweep

pytestmark = pytest.mark.long

THEOREM, STEP, IDENTITY = (
    "renard2022:thm-2.1",
    "renard2022:lemma-2.2.proof.triangle",
    "renard2022:lemma-2.2.proof.regroup",
)
SWEEP = f"""
claims = ["{THEOREM}", "{STEP}", "{IDENTITY}", "liu2022:thm-1"]
arithmetic = "rational"
[problem]
kind = "quadratic"
hessians = [[["2","0"],["0","1"]], [["2","0"],["0","1"]]]
linear = [["1","0"], ["-1","0"]]
start = ["3", "-2"]
noise = "1"
[algorithm]
rounds = 2
[grid]
algorithm.local_step_size = ["1/100", "1/10", 1]
algorithm.local_steps = [1, 2, 4]
algorithm.participation = [{{kind = "full"}}, {{kind = "uniform", clients = 1}}]
[random]
count = 2
"problem.linear[0][0]" = {{law = "uniform", low = 0, high = 2}}
"""


def test_errors_come_first(tmp_path: Path) -> None:
    """The error is drawn over each key, step sizes first; caption and table name the best step size."""
    text = SWEEP.partition("[problem]")[2].partition("[grid]")[0]
    grid = "[grid]\nalgorithm.local_steps = [1, 2]\nalgorithm.local_step_size = [0.01, 0.1, 0.4]\n"
    (tmp_path / "steps.toml").write_text(f'errors = ["final_suboptimality"]\n[problem]{text}{grid}')
    run_sweep(read_spec(tmp_path / "steps.toml"), tmp_path / "steps.parquet")
    page = make_sweep_page(tmp_path / "steps.parquet")
    results = read_results(tmp_path / "steps.parquet")
    best = min(results.rows, key=lambda row: row["final_suboptimality"])
    step, count = (best[f"algorithm.{key}"] for key in ("local_step_size", "local_steps"))
    [error] = page.errors
    assert error.at == f"local_steps = {count}, local_step_size = {step}"
    assert [f"over algorithm.{key}" in figure.caption for figure, key in zip(
        error.figures, ("local_step_size", "local_steps"), strict=True)] == [True, True]  # fmt: skip
    assert f"is at {step}." in error.figures[0].caption
    assert error.at in html.unescape(write_sweep(tmp_path, tmp_path / "steps.parquet").read_text())


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the table of a sweep."""
    folder = Path(tmp_path_factory.mktemp("sweep"))
    (folder / "steps.toml").write_text(SWEEP)
    run_sweep(read_spec(folder / "steps.toml"), folder / "steps.parquet")
    return folder / "steps.parquet"


@pytest.fixture(scope="module")
def page(table: Path) -> str:
    """Return the text of the page of a table."""
    return write_sweep(table.parent, table).read_text(encoding="utf-8")


def test_the_page_stands_alone(page: str) -> None:
    """Tags are nested, ids are unique, links lead to headings, and no resource is remote."""
    parsed = Page(page)
    assert not parsed.open
    assert not parsed.sources
    assert len(parsed.ids) == len(set(parsed.ids))
    assert {link.removeprefix("#") for link in parsed.links} <= set(parsed.ids)
    assert "<script" not in page
    shown = re.sub(r"<svg.*?</svg>|<[^>]+>", " ", page, flags=re.DOTALL)
    assert not re.search(r"\b(nan|inf|None)\b", shown)


def test_counts_and_ratios_are_those_of_the_table(page: str, table: Path) -> None:
    """Each claim's section shows its verdicts with their numbers of runs, and its largest ratio."""
    results = read_results(table)
    sections = dict(zip(results.claims, re.split(r"<h2 id=", page)[1:], strict=True))
    for name, section in sections.items():
        summary = results.summary(name)
        shown = re.findall(r'class="badge [a-z-]+">(\d+) ([a-z ]+)<', section)
        assert {verdict: int(count) for count, verdict in shown} == summary.verdicts
        if summary.worst_ratio is not None:
            assert f"{summary.worst_ratio:.4g}" in section
    assert results.summary(STEP).verdicts["violated"] > 0


def test_figures_are_over_the_keys_that_vary(table: Path) -> None:
    """There is one figure for each of the four keys and each pair of the grid; none without ratios."""
    figures = {claim.name: [figure.name for figure in claim.figures] for claim in make_sweep_page(table).claims}
    assert len(figures[THEOREM]) == len(figures[STEP]) == 4 + 3
    assert len(set(figures[THEOREM] + figures[STEP])) == 14
    assert figures[IDENTITY] == []


def test_the_worst_run_can_be_run_from_the_page(page: str, table: Path) -> None:
    """The run file on the page gives the exact ratio that the table has for the worst row."""
    results = read_results(table)
    section = page[page.index(f'<h2 id="{STEP.replace(":", "-").replace(".", "-")}"') :]
    run_file = html.unescape(re.findall(r"<pre>(\[problem\].*?)</pre>", section, re.DOTALL)[0])
    found = check(find(STEP), parse_run(tomllib.loads(run_file), RATIONAL))
    worst = results.select_claim(STEP)[results.summary(STEP).worst_row or 0]
    assert found.holds is False
    assert found.worst is not None
    assert (str(found.worst.ratio), str(found.worst.lhs)) == (worst["ratio_exact"], worst["lhs_exact"])
    assert f"fedtheory check {STEP} run.toml --arithmetic rational" in section


def test_reasons_are_reported(page: str) -> None:
    """The page gives the reasons for undecided runs, with their numbers."""
    printed = re.findall(r"<li>(\d+) not applicable: (.*?)</li>", html.unescape(page))
    assert any("the condition eta <= 1/(4*L) does not hold" in reason for _, reason in printed)


def test_the_same_table_gives_the_same_bytes(page: str, table: Path) -> None:
    """Equal tables give equal bytes."""
    assert write_sweep(table.parent, table).read_text(encoding="utf-8") == page


def test_the_command(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`fedtheory report --sweep` writes the page and prints its path."""
    assert run(["report", "--sweep", str(table), "-o", str(tmp_path / "site"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"files": [str(tmp_path / "site" / "steps.html")]}
    assert [path.name for path in (tmp_path / "site").iterdir()] == ["steps.html"]
    assert run(["report", "--sweep", str(tmp_path / "no.parquet"), "-o", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"fedtheory: {tmp_path}/no.parquet: no such file\n"


def test_other_files_are_refused(table: Path) -> None:
    """A file that is not a table of a sweep is named in the error."""
    with pytest.raises(InputError, match="is not the table of a sweep"):
        make_sweep_page(table.with_name("steps.toml"))


def test_the_heading_says_how_many_runs(page: str) -> None:
    """The heading has the number of runs, and the name of the table once."""
    assert "<h1>A sweep of 36 runs</h1>" in page
    assert "Sweep " not in page

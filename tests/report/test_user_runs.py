"""User-defined claims and runs have pages like others."""

from __future__ import annotations

import json
import pickle
import re
import tomllib
from pathlib import Path

import pytest

from fedtheory.arithmetic import FLOAT
from fedtheory.errors import InputError
from fedtheory.language.targets import resolve
from fedtheory.runfile import parse_run, read_run
from report import worst_case
from report.figures import drift, errors
from report.user_runs import UserRun, draw_run_figures, read_runs
from report.website import write_site
from verify.check import check

pytestmark = pytest.mark.long

MINE = """
import sympy as sp
from fedtheory import Claim, quantities as q

eta, tau, T, M, zeta, sigma, L, D = sp.symbols("eta tau T M zeta sigma L D", positive=True)
where = {eta: q.local_step_size, tau: q.local_steps, T: q.rounds, M: q.clients, zeta: q.gradient_dissimilarity,
         sigma: q.noise_deviation, L: q.smoothness, D: q.initial_distance}
drift = 18 * tau**2 * eta**2 * zeta**2 + 4 * tau * eta**2 * sigma**2
loose = Claim(id="mine:loose", title="A loose bound", lhs=q.average_suboptimality, where=where,
              rhs=D**2 / (2 * eta * tau * T) + eta * sigma**2 + L * drift, conditions=[eta <= 1 / (4 * L)])
small = Claim(id="mine:small", lhs=q.max_drift, rhs=eta**2 * zeta**2, where=where, conditions=[eta <= 1 / (4 * L)])
"""
RUN = """
[problem]
kind = "quadratic"
hessians = [[["1"]], [["1"]]]
linear = [["1"], ["-1"]]
start = ["2"]
noise = "1/4"

[algorithm]
local_step_size = {step}
local_steps = 4
rounds = 20
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the pages of two user-defined claims on three runs: planned, with too large steps, and diverging."""
    folder = Path(tmp_path_factory.mktemp("own"))
    (folder / "mine.py").write_text(MINE)
    (folder / "planned.toml").write_text(RUN.format(step='"1/8"'))
    (folder / "bold.toml").write_text(RUN.format(step='"1/2"'))
    (folder / "wild.toml").write_text(RUN.format(step='"100000"'))
    targets = [f"{folder / 'mine.py'}:loose", f"{folder / 'mine.py'}:small"]
    with pytest.MonkeyPatch.context() as patch:
        # Worst cases over more local steps are similar, and take most of the time.
        patch.setattr(worst_case, "LOCAL_STEPS", (1, 2))
        runs = [str(folder / f"{name}.toml") for name in ("planned", "bold", "wild")]
        write_site(folder / "pages", targets, runs=runs)
    return folder


def page(site: Path, name: str) -> str:
    """Return the text of a page."""
    return (site / "pages" / f"{name}.html").read_text()


def test_the_files(site: Path) -> None:
    """There is a page for each claim and run, the index, the verdicts and the script, with working links."""
    files = {file.name for file in (site / "pages").iterdir()}
    pages = {
        "index.html",
        "claims-of-mine.html",
        "mine-loose.html",
        "mine-small.html",
        "run-planned.html",
        "run-bold.html",
        "run-wild.html",
    }
    assert files == pages | {"verdicts.json", "explorer.js"}
    for name in pages:
        links = re.findall(r'<a[^>]* href="([^"#]+)"', (site / "pages" / name).read_text())
        assert set(links) <= files, name


def test_a_run_travels(site: Path) -> None:
    """Pages of several claims are drawn by other processes, which receive the run as data."""
    (own,) = read_runs([str(site / "planned.toml")])
    there = pickle.loads(pickle.dumps(own))
    assert (there.name, there.page) == (own.name, own.page)
    assert there.run.algorithm.rounds == own.run.algorithm.rounds


def test_a_claim_of_ones_own(site: Path) -> None:
    """The page has the verdict, the statement, the explorer, the instance, and the origin of the claim."""
    text = page(site, "mine-loose")
    assert "A loose bound" in text
    assert "from <code>" in text
    assert "Explore the bound" in text
    assert "The simplest instance with nearly the largest ratio" in text
    assert "fedtheory check mine.py:loose run.toml" in text
    assert "Counterexample" in page(site, "mine-small")
    entries = json.loads((site / "pages" / "verdicts.json").read_text())["claims"]
    assert [entry["verdict"] for entry in entries] == ["supported", "refuted"]


def test_the_numbers_are_those_of_the_check(site: Path) -> None:
    """Both sides, the condition with its slack, and curves over rounds, step size and local steps are correct."""
    file = str(site / "planned.toml")
    worst = check(resolve(f"{site / 'mine.py'}:loose"), read_run(file, FLOAT)).worst
    assert worst is not None
    section = page(site, "mine-loose").split('<h2>On <a href="run-planned.html">')[1].split("<h2>")[0]
    assert f"{float(worst.lhs):.4g}" in section
    assert f"{float(worst.rhs):.4g}" in section
    assert "Decided in floats." in section
    assert "Decided in rationals." in page(site, "mine-small").split('<h2>On <a href="run-planned.html">')[1]
    assert "<td>yes</td>" in section
    assert section.count("<figure") == 5
    assert "Exact client drift" in section
    assert "local step size" in section


def test_a_run_outside_the_assumptions(site: Path) -> None:
    """If a condition fails, the page names it with its slack, and has no figures."""
    section = page(site, "mine-loose").split('<h2>On <a href="run-bold.html">')[1].split("<h2>")[0]
    assert "not applicable" in section
    assert "<td>no</td>" in section
    assert "<figure" not in section


def test_the_page_of_a_run(site: Path) -> None:
    """The page has all claims on the run in one table, reasons for others, and the bounds in one figure."""
    text = page(site, "run-planned")
    assert text.split("<h2>")[0].count("<tr><td><a") == 2
    assert "holds" in text
    assert "not applicable" in page(site, "run-bold")
    assert "run-planned.html" in page(site, "index")
    conditions, itself = text.split("<h2>Conditions</h2>")[1].split("<h2>The run itself</h2>")
    assert conditions.count("<td>yes</td>") == 2
    assert itself.count("<figure") == 2


def test_the_page_of_a_diverging_run(site: Path) -> None:
    """The page gives the cause of divergence and the largest stable step size; other pages do not."""
    text = page(site, "run-wild")
    assert "2 clients in 1 dimension, 20 rounds;" in text
    assert "<strong>Diverges</strong>: each round multiplies distances by up to" in text
    assert "this run is stable up to 2." in text
    assert "Diverges" not in page(site, "run-planned") + page(site, "run-bold")


@pytest.mark.parametrize(
    ("changes", "figures"),
    [
        ({}, ["rounds (server updates)", "local step"]),
        ({"clock": {"policy": "async", "times": [1, 3]}}, ["clock time", "local step"]),
        ({"clock": {"policy": "async", "times": [1, 3], "law": "exponential"}}, ["mean clock time"]),
        ({"local_steps": [1, 2]}, ["rounds (server updates)"]),
        ({"local_step_size": 100, "rounds": 500}, ["rounds (server updates)"]),
    ],
    ids=["synchronous", "asynchronous", "random clock", "unequal steps", "diverging"],
)
def test_pictures_of_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: dict[str, object], figures: list[str]
) -> None:
    """The figures are the error over updates, and the drift if all clients take equally many steps."""
    document = tomllib.loads(RUN.format(step='"1/8"'))
    run = parse_run({**document, "algorithm": {**document["algorithm"], **changes}}, FLOAT)
    labels: list[str] = []
    for module in (errors, drift):
        monkeypatch.setattr(module, "finish", lambda canvas, *_: labels.append(canvas.axes[0].get_xlabel()))
    monkeypatch.setattr(UserRun, "run", run)
    draw_run_figures(UserRun(str(tmp_path / "any.toml")))
    assert len(labels) == len(figures)
    for label, expected in zip(labels, figures, strict=True):
        assert label.startswith(expected)


def test_runs_of_one_name(tmp_path: Path) -> None:
    """Two run files with one name are rejected, because pages are named after them."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "run.toml").write_text(RUN.format(step="0.1"))
    with pytest.raises(InputError, match="twice"):
        read_runs([str(tmp_path / folder / "run.toml") for folder in ("a", "b")])

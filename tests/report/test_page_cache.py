"""Pages are cached: a second report draws none, and an edited claim only its own page."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from verify.cache import VARIABLE

PAPER = """
import sympy as sp

from fedtheory import Claim
from fedtheory import quantities as q

eta, tau, zeta, M = sp.symbols("eta tau zeta M", positive=True)
where = {eta: q.local_step_size, tau: q.local_steps, zeta: q.gradient_dissimilarity, M: q.clients}
CLAIMS = (
    Claim(id="paper:one", title="One", lhs=q.max_drift, rhs=eta * tau * zeta, where=where),
    Claim(id="paper:two", title="Two", lhs=q.max_drift, rhs=M * eta * tau, where=where),
    Claim(id="paper:three", title="Three", lhs=q.clients, rhs=q.clients, where=where, note="See paper:two."),
)
"""
SOURCE = """
from fedtheory import Source

from .statements import CLAIMS

SOURCE = Source(key="paper", title="A paper", authors="A. N. Author", year=2026, claims=CLAIMS)
"""
REPORT = """
import sys
from pathlib import Path
from fedtheory.language.targets import expand
from report import drawing, website
draw = drawing._draw

def draw_and_record(task, written):
    print(getattr(getattr(task, "verdict", None), "target", "other").rpartition(":")[2])
    if "--stop" in sys.argv and task.__class__.__name__ == "ClaimTask":
        raise SystemExit
    return draw(task, written)

drawing._draw = draw_and_record
site.write_site(Path(sys.argv[2]), expand([sys.argv[1]]), jobs=1)
"""


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small paper."""
    folder = Path(tmp_path_factory.mktemp("papers")) / "paper"
    folder.mkdir()
    (folder / "__init__.py").write_text(SOURCE)
    (folder / "statements.py").write_text(PAPER)
    return folder


def _draw(paper: Path, *, stop: bool = False) -> list[str]:
    """Write the report in a new process; return the drawn pages."""
    command = [sys.executable, "-c", REPORT, str(paper), str(paper.parent / "site"), *(["--stop"] if stop else [])]
    kept = {**os.environ, VARIABLE: str(paper.parent / "kept")}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=kept)
    return [line for line in done.stdout.splitlines() if line != "other"]


@pytest.mark.slow
def test_every_page_once(paper: Path) -> None:
    """Each page is drawn once, after an interruption, a repetition, and edits of claims."""
    statements = paper / "statements.py"
    assert len(_draw(paper, stop=True)) == 1
    assert sorted(_draw(paper)) == ["one", "three", "two"]
    pages = {page.name: page.read_bytes() for page in (paper.parent / "site").iterdir()}
    assert _draw(paper) == []
    assert pages == {page.name: page.read_bytes() for page in (paper.parent / "site").iterdir()}
    statements.write_text(PAPER.replace("rhs=eta * tau * zeta", "rhs=2 * eta * tau * zeta"))
    assert _draw(paper) == ["one"]
    statements.write_text(PAPER.replace("rhs=M * eta", "rhs=2 * M * eta"))
    assert sorted(_draw(paper)) == ["three", "two"]

"""Every refusal of the prover matters: in a copy of it in which one of them never happens, some test fails."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
PATTERNS = (
    "test_kernel*.py",
    "test_false*.py",
    "test_refusals*.py",
    "test_adversary.py",
    "test_documents.py",
    "test_updates.py",
    "test_windows.py",
    "test_intervals.py",
)
"""Tests that try false statements."""

UNTRIED = (
    "what a local step changes is known for weights that are given",
    "terms when it is multiplied out",
)
"""Refusals behind which no false claim is known: what they hold back holds in all runs tried, but is not derived, or
would be worked out without an end."""

RECORDER = """
import collections, json, os, sys
import pytest
from fedtheory.kernel.numbers import Rejected

TOLD = collections.defaultdict(list)
NOW = ['']
plain = Rejected.__init__

def recorded(self, *arguments):
    frame = sys._getframe(1)
    TOLD[f"{frame.f_code.co_filename}:{frame.f_lineno}"].append(NOW[0])
    plain(self, *arguments)

Rejected.__init__ = recorded

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    NOW[0] = item.nodeid

def pytest_sessionfinish():
    with open(os.environ['TOLD'], 'w') as file:
        json.dump({place: sorted(set(tests)) for place, tests in TOLD.items()}, file)
"""
"""Notes which test meets which refusal."""


def _guards(path: Path) -> Iterator[ast.If]:
    """The conditions of a module under which it refuses."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.If) and len(node.body) == 1 and isinstance(node.body[0], ast.Raise):
            raised = ast.unparse(node.body[0])
            if raised.startswith("raise Rejected(") and not any(words in raised for words in UNTRIED):
                yield node


def guards() -> list[tuple[str, int, int]]:
    """Module of every refusal, the line of its condition, and its own."""
    files = [*sorted((ROOT / "fedtheory/kernel").glob("*.py")), *sorted((ROOT / "fedtheory/proofs").glob("*.py"))]
    return [(str(f.relative_to(ROOT)), guard.lineno, guard.body[0].lineno) for f in files for guard in _guards(f)]


def run(copy: Path, chosen: Sequence[str], *options: str, **variables: str) -> int:
    """The exit code of some tests of the copy."""
    environment = {**os.environ, "PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1", **variables}
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", *options, *chosen]
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, check=False).returncode


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project, to be changed."""
    folder = tmp_path_factory.mktemp("mutants")
    for name in ("fedtheory", "verify", "report", "tests", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "recorder.py").write_text(RECORDER)
    return folder


@pytest.fixture(scope="module")
def met(copy: Path) -> dict[str, list[str]]:
    """For each refusal the tests that meet it; as it is, the copy passes them all."""
    here = Path(__file__).name
    files = [str(f) for p in PATTERNS for f in sorted((copy / "tests/fedtheory").glob(p)) if f.name != here]
    told = copy / "told.json"
    assert run(copy, files, "-p", "recorder", TOLD=str(told)) == 0
    return json.loads(told.read_text())


def _without(text: str, line: int) -> str:
    """The text of a module in which the refusal under the condition at a line never happens."""
    tree = ast.parse(text)
    guard = next(node for node in ast.walk(tree) if isinstance(node, ast.If) and node.lineno == line)
    guard.test = ast.Constant(False)
    return ast.unparse(ast.fix_missing_locations(tree))


@pytest.mark.parametrize(("module", "condition", "line"), guards())
def test_a_prover_that_does_not_refuse_is_found_out(
    copy: Path, met: dict[str, list[str]], module: str, condition: int, line: int
) -> None:
    """The refusal at this line is switched off."""
    file = copy / module
    last = line + 4
    tests = [test for at in range(line, last) for test in met.get(f"{file}:{at}", ())]
    assert tests, "no test meets it"
    text = file.read_text(encoding="utf-8")
    file.write_text(_without(text, condition), encoding="utf-8")
    try:
        assert run(copy, tests, "-x") != 0
    finally:
        file.write_text(text, encoding="utf-8")

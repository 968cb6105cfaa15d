"""Every check of the prover matters: if it is disabled in a copy, some test fails."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from modules import modules
from trusted import proved

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[3]
PATTERNS = (
    "test_kernel*.py",
    "test_false*.py",
    "test_refusals*.py",
    "test_adversary*.py",
    "test_source_comparator*.py",
    "test_documents.py",
    "test_own_certificates.py",
    "test_closed.py",
    "test_updates.py",
    "test_windows.py",
    "test_intervals.py",
    "test_decoding.py",
    "test_endless_documents.py",
    "test_guards_of_proofs.py",
    "test_own_quantities_in_proofs.py",
    "test_rules_of_terms.py",
    "test_rare_refusals_of_terms.py",
    "test_places_of_terms.py",
    "test_proof_terms.py",
    "test_means_by_terms.py",
    "test_tactics_of_terms.py",
    "test_small_counts.py",
    "test_fixed_step_sizes.py",
    "test_guards_of_contexts.py",
    "test_claim_choices.py",
    "test_cases_of_sums.py",
)
"""Names of tests that try false statements."""

UNTRIED = (
    "the change in a local step is known for fixed weights",
    "terms when it is multiplied out",
)
"""Rejections without a known false claim: the rejected relations hold on all tried runs, but are not derived, or would
take too much work.
"""

LIMITS = "fedtheory.kernel.sizes"
"""Module whose rejections bound the work of a check; no verdict depends on it."""

STEPS = ("check_nonnegative", "check_equal", "check_zero", "check_zero_form", "check_assumed", "check_defined")
"""Functions that create a step that may fail, at every call."""

RECORDER = """
import collections, json, os, sys
import pytest
from fedtheory.kernel import Rejected, Step

MET = collections.defaultdict(list)
NOW = ['']
plain, made = Rejected.__init__, Step.__init__

def note(*frames):
    for frame in frames:
        MET[f"{frame.f_code.co_filename}:{frame.f_lineno}"].append(NOW[0])

def recorded(self, *arguments):
    note(sys._getframe(1))
    plain(self, *arguments)

def checked(self, text, holds):
    if not holds:
        # Where the step is made, and where it is asked for.
        note(sys._getframe(1), sys._getframe(2), sys._getframe(3))
    made(self, text, holds)

Rejected.__init__, Step.__init__ = recorded, checked

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    NOW[0] = item.nodeid

def pytest_sessionfinish():
    with open(os.environ['MET'], 'w') as file:
        json.dump({place: sorted(set(tests)) for place, tests in MET.items()}, file)
"""
"""Plugin that records which test meets which rejection, or which failing step."""


def _is_check(node: ast.AST) -> bool:
    """Return whether a node is a condition for a rejection, or a step that may fail."""
    if isinstance(node, ast.If) and len(node.body) == 1 and isinstance(node.body[0], ast.Raise):
        raised = ast.unparse(node.body[0])
        return raised.startswith("raise Rejected(") and not any(words in raised for words in UNTRIED)
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func)
    return name in STEPS or (name == "Step" and len(node.args) == 2 and not isinstance(node.args[1], ast.Constant))


def _checks(text: str) -> list[Any]:
    """Return the checks of a module, in the order of its lines."""
    found = [node for node in ast.walk(ast.parse(text)) if _is_check(node)]
    return sorted(found, key=lambda node: (node.lineno, node.col_offset))  # type: ignore[attr-defined]


def checks() -> list[tuple[str, int, range]]:
    """Return the module of every check in trusted modules and of limits, its index, and its lines."""
    files = [modules()[name] for name in (*proved(), LIMITS)]
    found = [(f, n, check) for f in files for n, check in enumerate(_checks(f.read_text(encoding="utf-8")))]
    places = [(f, n, check.body[0] if isinstance(check, ast.If) else check) for f, n, check in found]
    return [(str(f.relative_to(ROOT)), n, range(place.lineno, place.end_lineno + 1)) for f, n, place in places]


def run(copy: Path, chosen: Iterable[str], *options: str, **variables: str) -> int:
    """Return the exit code of some tests of the copy."""
    environment = {**os.environ, "PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1", **variables}
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", *options, *chosen]
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, check=False).returncode


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project."""
    folder = tmp_path_factory.mktemp("mutants")
    for name in ("fedtheory", "verify", "report", "tests", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "recorder.py").write_text(RECORDER)
    return folder


@pytest.fixture(scope="module")
def met(copy: Path) -> dict[str, list[str]]:
    """Return the tests that fail for each check; the unchanged copy passes them all."""
    here = Path(__file__).name
    files = [str(f) for p in PATTERNS for f in sorted((copy / "tests/fedtheory").rglob(p)) if f.name != here]
    recorded = copy / "met.json"
    assert run(copy, files, "-p", "recorder", MET=str(recorded)) == 0
    return json.loads(recorded.read_text())


class _Passed(ast.NodeTransformer):
    """A transformer that makes the check at an index pass."""

    def __init__(self, at: tuple[int, int]) -> None:
        self.at = at

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Remove a rejection, or let a step hold."""
        if _is_check(node) and (node.lineno, node.col_offset) == self.at:  # type: ignore[attr-defined]
            if isinstance(node, ast.If):
                node.test = ast.Constant(False)
            elif isinstance(node, ast.Call):
                return ast.parse("Step('switched off', True)", mode="eval").body
        return super().generic_visit(node)


def _without(text: str, number: int) -> str:
    """Return the text of a module in which one check always passes."""
    check = _checks(text)[number]
    tree = _Passed((check.lineno, check.col_offset)).visit(ast.parse(text))
    return ast.unparse(ast.fix_missing_locations(tree))


@pytest.mark.parametrize(("module", "number", "lines"), checks())
def test_a_prover_that_does_not_check_is_found_out(
    copy: Path, met: dict[str, list[str]], module: str, number: int, lines: range
) -> None:
    """Without the check at these lines some test fails."""
    file = copy / module
    tests = [test for at in lines for test in met.get(f"{file}:{at}", ())]
    assert tests, "no test meets it"
    text = file.read_text(encoding="utf-8")
    file.write_text(_without(text, number), encoding="utf-8")
    try:
        assert run(copy, dict.fromkeys(tests), "-x") != 0
    finally:
        file.write_text(text, encoding="utf-8")

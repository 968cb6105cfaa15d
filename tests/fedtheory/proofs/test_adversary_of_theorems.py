"""Invalid proofs that earlier versions accepted do not become theorems in Rocq."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from test_adversary import ATTEMPTS

from verify.rocq.export import export_claim
from verify.rocq.project import render_file, write_project
from verify.rocq.refusals import NotExported

WRITTEN = {"flat objectives", "infinite for one client"}
"""Attempts that can be exported; Rocq rejects them."""


@pytest.mark.parametrize("name", sorted(ATTEMPTS.keys() - WRITTEN))
def test_false_claims_are_not_exported(name: str) -> None:
    """The export rejects the attempt with a reason of one line."""
    tried = ATTEMPTS[name]()
    with pytest.raises(NotExported) as refusal:
        export_claim(tried.claim, tried.certificate)
    assert str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.slow
@pytest.mark.rocq
@pytest.mark.parametrize("name", sorted(WRITTEN))
def test_false_claims_are_not_accepted(name: str, tmp_path: Path) -> None:
    """Rocq rejects the exported file, but accepts the library."""
    tried = ATTEMPTS[name]()
    write_project(tmp_path, [])
    (tmp_path / "Tried.v").write_text(render_file(export_claim(tried.claim, tried.certificate)), encoding="utf-8")
    for library in ("Space", "Clients", "Objectives", "Normal", "Step", "Run"):
        assert _is_accepted(tmp_path, f"library/{library}.v")
    assert not _is_accepted(tmp_path, "Tried.v")


def _is_accepted(folder: Path, name: str) -> bool:
    command = ["coqc", "-R", ".", "Fedtheory", name]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0

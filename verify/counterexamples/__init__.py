"""Smallest known counterexamples of refuted claims, stored as run files in the folders of papers.

A stored run is no evidence by itself: it is checked again before it is shown. The command ``python -m
verify.counterexamples`` searches for smaller ones.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fedtheory.language.claim import Claim
from fedtheory.language.registry import find_publisher, papers
from fedtheory.runfile import read_toml
from verify.check import check
from verify.witness import read_exact_run


def find_counterexample(claim: Claim) -> dict[str, Any] | None:
    """Return the stored counterexample as the table of a run file; None if there is none."""
    file = locate_counterexample_file(claim)
    if file is None or not file.is_file():
        return None
    return read_toml(file)


def refutes(claim: Claim, table: dict[str, Any]) -> bool:
    """Return whether a run violates a claim, in rationals or in certified enclosures."""
    return check(claim, read_exact_run(table)).holds is False


def locate_counterexample_file(claim: Claim) -> Path | None:
    """Return the path of a claim's stored counterexample, existing or not; None for a user-defined claim."""
    paper = find_publisher(claim)
    return None if paper is None else paper.counterexample_file(claim)


def list_stored_files() -> set[Path]:
    """Return the run files of all stored counterexamples."""
    return {file for paper in papers().values() for file in paper.folder.glob("counterexamples/*.toml")}

"""Runs with the largest known ratios of bounds and of their terms, in the folder `slack` of a paper.

Each run is one file, named by the beginning of its SHA-256 digest; one run may have the largest ratio of many parts.
``index.toml`` has one line per claim: for each part of the bound, the name of its run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from fedtheory.language.claim import Claim
from fedtheory.language.registry import find_publisher, papers
from fedtheory.runfile import read_toml, run_toml

RunTable = dict[str, Any]
"""The table of a run file."""
Index = dict[str, dict[str, str]]
"""For the name of a claim, without the key of its source, the name of the run by the name of the part."""
_INDEX = "index.toml"
_DIGITS = 8
"""Number of hexadecimal digits in the name of a run."""


def run_files(claim: Claim) -> dict[str, Path]:
    """Return the files of a claim's stored runs by the names of the parts; empty for a user-defined claim."""
    paper = find_publisher(claim)
    if paper is None:
        return {}
    runs = _read_index(paper.slack_folder).get(_find_name(claim), {})
    return {part: paper.slack_folder / f"{run}.toml" for part, run in runs.items()}


def list_stored_files() -> set[Path]:
    """Return the run files of all papers."""
    return {file for paper in papers().values() for file in _list_runs(paper.slack_folder)}


def store_run(claim: Claim, part: str, table: RunTable | None) -> None:
    """Store the run of one part of a published bound, or record with None that the part has none."""
    paper = find_publisher(claim)
    assert paper is not None, claim.id
    index = {name: dict(runs) for name, runs in _read_index(paper.slack_folder).items()}
    runs = index.setdefault(_find_name(claim), {})
    runs.pop(part, None)
    if table is not None:
        paper.slack_folder.mkdir(exist_ok=True)
        text = run_toml(table)
        runs[part] = hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
        (paper.slack_folder / f"{runs[part]}.toml").write_text(text, encoding="utf-8")
    _write_index(paper.slack_folder, index)


def load_runs(claim: Claim) -> list[RunTable]:
    """Read all stored runs of the claim's paper; a run of one bound may be best for another."""
    paper = find_publisher(claim)
    return [] if paper is None else [read_toml(file) for file in _list_runs(paper.slack_folder)]


def keep_parts(kept: Container[tuple[Claim, str]]) -> None:
    """Remove the stored runs of all papers but those of the given claims and names of parts."""
    for paper in papers().values():
        index = _read_index(paper.slack_folder)
        chosen = {
            _find_name(claim): {
                part: run for part, run in index.get(_find_name(claim), {}).items() if (claim, part) in kept
            }
            for claim in paper.source.claims
        }
        _write_index(paper.slack_folder, chosen)


def _find_name(claim: Claim) -> str:
    """Return the id of a claim without the key of its source."""
    return claim.id.partition(":")[2]


@cache
def _read_index(folder: Path) -> Index:
    file = folder / _INDEX
    return read_toml(file) if file.is_file() else {}


def _write_index(folder: Path, index: Index) -> None:
    """Write an index, and remove the runs that it does not name."""
    lines = [f'"{name}" = {_write_row(runs)}' for name, runs in sorted(index.items()) if runs]
    if lines or (folder / _INDEX).is_file():
        (folder / _INDEX).write_text("\n".join([*lines, ""]), encoding="utf-8")
    _read_index.cache_clear()
    named = {run for runs in index.values() for run in runs.values()}
    for file in _list_runs(folder):
        if file.stem not in named:
            file.unlink()


def _write_row(runs: Mapping[str, str]) -> str:
    return f"{{{', '.join(f'{part} = {run!r}' for part, run in sorted(runs.items()))}}}"


def _list_runs(folder: Path) -> list[Path]:
    return sorted(file for file in folder.glob("*.toml") if file.name != _INDEX)

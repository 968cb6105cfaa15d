"""The smallest known counterexample of each refuted claim: a run file beside this module, named by the claim's slug.

A stored run is no evidence by itself: whoever shows it checks it again.
``python -m verify.counterexamples`` finds and shrinks them anew.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from fedtheory.arithmetic import RATIONAL
from fedtheory.claim import Claim
from fedtheory.runfile import parse_run
from verify.check import check

FOLDER = Path(__file__).parent


def counterexample(claim: Claim) -> dict[str, Any] | None:
    """The stored counterexample as the table of a run file; None where there is none."""
    file = counterexample_file(claim)
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else None


def refutes(claim: Claim, table: dict[str, Any]) -> bool:
    """Whether a run violates a claim, in rationals."""
    return check(claim, parse_run(table, RATIONAL)).holds is False


def counterexample_file(claim: Claim) -> Path:
    """Where the counterexample of a claim is, or would be."""
    return FOLDER / f"{claim.slug}.toml"


def stored_files() -> set[Path]:
    """The run files that are stored."""
    return set(FOLDER.glob("*.toml"))

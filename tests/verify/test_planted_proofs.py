"""Planted errors that a run violates have no proof, in any search for one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from planted_errors import planted_errors

from fedtheory.search import Found, find_proof

FILE = Path(__file__).with_name("planted_errors.json")


def _prove(every: int) -> list[str]:
    violated = {entry["id"] for entry in json.loads(FILE.read_text(encoding="utf-8")) if entry["how"] == "run"}
    claims = [error.claim for error in planted_errors() if error.claim.id in violated][::every]
    assert claims
    return [claim.id for claim in claims if isinstance(find_proof(claim, effort=2 * 10**7), Found)]


@pytest.mark.long
def test_no_planted_error_of_a_sample_is_proved() -> None:
    """No search proves an error of a sample, which has every twelfth error."""
    assert not _prove(12)


@pytest.mark.slow
def test_no_planted_error_is_proved() -> None:
    """No search proves any of the planted errors."""
    assert not _prove(1)

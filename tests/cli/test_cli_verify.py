"""`fedtheory verify` on cheap claims, in one process."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_claims import MINE

KEYS = {"id", "verdict", "recorded", "instances", "worst_ratio", "seconds"}

YOUNG = "renard2022:property-2.5"


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A file with the user's own claims."""
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


def test_recorded_verdict(command) -> None:
    """A claim with a certificate is proved, and tried on all instances; progress leaves standard output alone."""
    outcome = command("verify", YOUNG, "--jobs", "1", "--json")
    assert outcome.code == 0
    document = outcome.document
    assert document.keys() >= {"claims", "seconds"}
    (claim,) = document["claims"]
    assert claim.keys() >= KEYS
    assert (claim["id"], claim["verdict"], claim["recorded"]) == (YOUNG, "proved", "proved")
    assert claim["instances"] > 100
    assert 0 < claim["worst_ratio"] <= 1
    assert 0 <= claim["seconds"] <= 60


def test_refuted_claim_in_order(command) -> None:
    """Verdicts come in the order that was asked for, each once; a recorded refutation agrees."""
    ids = ["renard2022:property-2.4", YOUNG, "renard2022:toy-problem"]
    outcome = command("verify", *ids, ids[0], "--jobs", "1", "--json")
    assert outcome.code == 0
    assert [claim["id"] for claim in outcome.document["claims"]] == ids
    assert [claim["verdict"] for claim in outcome.document["claims"]] == ["refuted", "proved", "definition"]
    assert outcome.document["claims"][2]["instances"] == 0


def test_for_people(command) -> None:
    """Without --json a table."""
    outcome = command("verify", YOUNG, "--jobs", "1")
    assert outcome.code == 0
    assert YOUNG in outcome.out
    assert "proved" in outcome.out
    assert "0 with another verdict" in outcome.out


def test_no_noise_on_standard_error(command) -> None:
    """Where standard error is no terminal, the progress bar leaves nothing there."""
    assert command("verify", "renard2022:toy-problem", "--jobs", "1", "--json").err == ""


def test_wrong_recorded_verdict(command, mine: Path) -> None:
    """Exit code 1 where a verdict differs from the recorded one, in both directions."""
    outcome = command("verify", f"{mine}:wrong", f"{mine}:right", "--jobs", "1", "--json")
    assert outcome.code == 1
    wrong, right = outcome.document["claims"]
    assert (wrong["id"], wrong["verdict"], wrong["recorded"]) == ("mine:wrong", "supported", "refuted")
    assert (right["id"], right["verdict"], right["recorded"]) == ("mine:right", "supported", "supported")


def test_wrongly_supported(command, mine: Path) -> None:
    """A claim recorded as supported that is refuted: exit code 1, also in the table for people."""
    outcome = command("verify", f"{mine}:wrongly_supported", "--jobs", "1")
    assert outcome.code == 1
    assert "refuted" in outcome.out
    assert "1 with another verdict" in outcome.out


def test_nothing_recorded(command, mine: Path) -> None:
    """Without a recorded verdict every outcome is fine."""
    outcome = command("verify", f"{mine}:steps_are_huge", "--jobs", "1", "--json")
    assert outcome.code == 0
    (claim,) = outcome.document["claims"]
    assert (claim["verdict"], claim["recorded"]) == ("refuted", None)
    assert claim["worst_ratio"] > 1


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("name", ["unbound", "outside"])
def test_mistaken_claims(name: str, jobs: str, command, mine: Path) -> None:
    """A claim that cannot be evaluated is one line, also from a worker process."""
    complaint = command("verify", f"{mine}:{name}", "--jobs", jobs, "--json").complaint()
    assert f"mine:{name}" in complaint


def test_claims_of_no_family(command, mine: Path) -> None:
    """A bare definition has no instances and no ratio."""
    outcome = command("verify", f"{mine}:bare", "--jobs", "1", "--json")
    assert outcome.code == 0
    (claim,) = outcome.document["claims"]
    assert (claim["verdict"], claim["instances"], claim["worst_ratio"]) == ("definition", 0, None)

"""`fedtheory errata`: the ledger on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Command

from fedtheory.language.registry import claims_of
from fedtheory.runfile import run_toml

KEYS = {"printed", "fault", "reason", "corrected", "counterexample"}


@pytest.mark.parametrize("source", ["renard2022", "lecture27"])
def test_the_ledger_of_a_source(command: Command, source: str) -> None:
    """The ledger has one entry for each refuted claim, in the order of the pages, with the documented keys."""
    outcome = command("errata", "--source", source, "--json")
    assert outcome.code == 0
    entries = outcome.document
    assert [e["printed"] for e in entries] == [c.id for c in claims_of(source) if c.verdict == "refuted"]
    for entry in entries:
        assert entry.keys() >= KEYS
        assert entry["fault"] in {"statement", "proof step", "misprint"}
        assert entry["corrected"] == entry["repairs"][0]["id"]
        assert entry["status"] == entry["repairs"][0]["verdict"]


def test_a_counterexample_can_be_saved_and_checked(command: Command, tmp_path: Path) -> None:
    """A saved counterexample has the same two sides, and violates the statement."""
    for entry in command("errata", "--source", "liu2022", "--json").document:
        file = tmp_path / "run.toml"
        file.write_text(run_toml(entry["counterexample"]), encoding="utf-8")
        found = command("check", entry["printed"], file, "--arithmetic", "rational", "--json").document
        assert found["applicable"] is True
        assert found["holds"] is False, entry["printed"]
        assert (found["lhs"], found["rhs"]) == (entry["lhs"], entry["rhs"])


def test_the_table_for_people_names_faults_and_verdicts(command: Command) -> None:
    """Every kind of error of a source is counted, and the verdict of the correction is next to the published id."""
    outcome = command("errata", "--source", "renard2022")
    assert outcome.code == 0
    entries = sum(claim.verdict == "refuted" for claim in claims_of("renard2022"))
    for part in ("misprint", "proof step", "statement", "proved", ".fixed", f"{entries} entries"):
        assert part in outcome.out


def test_an_unknown_source_is_one_line(command: Command) -> None:
    """A source that does not exist is a mistake of the user."""
    assert "expected one of" in command("errata", "--source", "nobody1999").complaint()

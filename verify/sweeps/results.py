"""A sweep's table, read back: what became of each claim, and the run file of every run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fedtheory.errors import InputError
from fedtheory.runfile import run_toml
from verify.sweeps.columns import kinds
from verify.sweeps.design import Design, read_design
from verify.sweeps.outcome import VERDICTS
from verify.sweeps.store import description, require_pyarrow


@dataclass(frozen=True)
class Stated:
    """A claim of a sweep in words."""

    name: str
    title: str
    statement: Sequence[str]
    """LaTeX of its relations."""


@dataclass(frozen=True)
class Summary:
    """What became of one claim."""

    claim: str
    verdicts: dict[str, int]
    """Runs of each verdict that occurs, in the order of `VERDICTS`."""
    worst_ratio: float | None
    worst_row: int | None
    """The run with the largest ratio."""


@dataclass(frozen=True, eq=False)
class Results:
    """The table of a sweep that is complete."""

    design: Design
    arithmetic: str
    claims: Mapping[str, Stated]
    """By their names in the table."""
    rows: Sequence[dict[str, Any]]
    """Run by run, and of each run claim by claim; columns by their names."""

    def of(self, claim: str) -> Sequence[dict[str, Any]]:
        """The rows of a claim."""
        return self._by_claim[claim]

    @cached_property
    def _by_claim(self) -> dict[str, list[dict[str, Any]]]:
        found: dict[str, list[dict[str, Any]]] = {claim: [] for claim in self.claims}
        for row in self.rows:
            found[row["claim"]].append(row)
        return found

    @cached_property
    def kinds(self) -> dict[str, str]:
        """For each swept key "flag", "integer", "number" or "text"."""
        return kinds(self.design)

    def summary(self, claim: str) -> Summary:
        """What became of a claim."""
        rows = self.of(claim)
        counted = Counter(row["verdict"] for row in rows)
        worst = max((row for row in rows if row["ratio"] is not None), key=lambda row: row["ratio"], default=None)
        return Summary(
            claim,
            {verdict: counted[verdict] for verdict in VERDICTS if counted[verdict]},
            None if worst is None else worst["ratio"],
            None if worst is None else worst["row"],
        )

    def run_file(self, row: int) -> str:
        """The text of a run file that gives the same run."""
        return run_toml(self.design.tables(row))


def read_results(file: str | Path) -> Results:
    """The table of a sweep; `InputError` where the file is none."""
    require_pyarrow()
    import pyarrow.parquet as pq

    if not Path(file).is_file():
        raise InputError("", "no such file", str(file))
    described = description(Path(file))
    if described is None:
        raise InputError("", "is no table of a sweep", str(file))
    design = read_design(described["base"], described["grid"], described["random"])
    claims = {stated["name"]: Stated(**stated) for stated in described["claims"]}
    rows = pq.read_table(file).to_pylist()
    return Results(design, described["arithmetic"], claims, rows)

"""Read the table of a sweep: verdicts and sides by claim, and the run file of every run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedtheory.errors import InputError
from fedtheory.runfile import run_toml
from verify.sweeps.arrow import read_table
from verify.sweeps.columns import classify_keys, name_margin_column
from verify.sweeps.row_outcome import VERDICTS
from verify.sweeps.spec import Stated
from verify.sweeps.store import read_description, require_pyarrow
from verify.sweeps.sweep_design import Design, read_design

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Summary:
    """Verdicts of one claim on all runs."""

    claim: str
    verdicts: dict[str, int]
    """Number of runs for each verdict that occurs, in the order of `VERDICTS`."""
    worst_ratio: float | None
    worst_row: int | None
    """The run with the largest ratio."""


@dataclass(frozen=True, eq=False)
class Results:
    """The table of a completed sweep."""

    design: Design
    arithmetic: str
    claims: Mapping[str, Stated]
    """Claims by their names in the table."""
    table: pa.Table
    """Rows in the order of runs, and for each run in the order of claims."""
    errors: Sequence[str] = ()
    """Recorded quantities by the names of their columns."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Return all rows as mappings from column names."""
        found: list[dict[str, Any]] = self.table.to_pylist()
        return found

    def select_claim(self, claim: str) -> list[dict[str, Any]]:
        """Return the rows of a claim."""
        import pyarrow.compute as pc

        found: list[dict[str, Any]] = self.table.filter(pc.field("claim") == claim).to_pylist()
        return found

    @cached_property
    def kinds(self) -> dict[str, str]:
        """Return the kind of each swept key: "flag", "integer", "number" or "text"."""
        return classify_keys(self.design)

    def summary(self, claim: str) -> Summary:
        """Summarise a claim."""
        names, verdicts, ratios, rows, _ = self._outcomes
        own = [place for place, name in enumerate(names) if name == claim]
        counted = Counter(verdicts[place] for place in own)
        compared = [place for place in own if ratios[place] is not None]
        worst = max(compared, key=lambda place: ratios[place], default=None)
        return Summary(
            claim,
            {verdict: counted[verdict] for verdict in VERDICTS if counted[verdict]},
            None if worst is None else ratios[worst],
            None if worst is None else rows[worst],
        )

    def find_usual_reason(self, verdict: str, claim: str | None = None) -> tuple[str, int] | None:
        """Return the most frequent reason of a verdict, for one claim or for all, with the first run that has it."""
        names, verdicts, _, rows, reasons = self._outcomes
        places = [
            p for p, found in enumerate(verdicts) if found == verdict and claim in (None, names[p]) and reasons[p]
        ]
        if not places:
            return None
        usual, _ = Counter(reasons[place] for place in places).most_common(1)[0]
        return usual, next(rows[place] for place in places if reasons[place] == usual)

    @cached_property
    def _outcomes(self) -> tuple[list[Any], ...]:
        """Return the columns that summaries use."""
        return tuple(self.table[name].to_pylist() for name in ("claim", "verdict", "ratio", "row", "reason"))

    def find_smallest(self, error: str) -> tuple[float, int, int] | None:
        """Return a recorded error's smallest value, its run, and the number of runs with a value; None without one."""
        import pyarrow.compute as pc

        known = self.table.filter(pc.is_valid(pc.field(error)))
        if known.num_rows == 0:
            return None
        least = pc.min(known[error])
        place = pc.index(known[error], least).as_py()
        return least.as_py(), known["row"][place].as_py(), pc.count_distinct(known["row"]).as_py()

    def find_margin(self, error: str, row: int) -> float | None:
        """Return half of the 95 % interval of an error of a run; None where it is exact."""
        import pyarrow.compute as pc

        column = name_margin_column(error)
        if column not in self.table.column_names:
            return None
        found = self.table.filter(pc.equal(pc.field("row"), row))[column].to_pylist()
        return None if found[0] is None else float(found[0])

    def list_error_rows(self, error: str) -> list[dict[str, Any]]:
        """Return one row for each run: its swept keys, the error, and the verdict if the run has no error."""
        first: dict[int, dict[str, Any]] = {}
        for row in self.table.select(["row", *self.kinds, error, "claim", "verdict"]).to_pylist():
            first.setdefault(row["row"], row)
        return list(first.values())

    def run_file(self, row: int) -> str:
        """Return the text of a run file that reproduces the run."""
        return run_toml(self.design.tables(row))


def read_results(file: str | Path) -> Results:
    """Read the table of a sweep; raises `InputError` if the file is not such a table."""
    require_pyarrow()
    if not Path(file).is_file():
        raise InputError("", "no such file", str(file))
    described = read_description(Path(file))
    if described is None:
        raise InputError("", "is not the table of a sweep", str(file))
    design = read_design(described["base"], described["grid"], described["random"])
    claims = {stated["name"]: Stated(**stated) for stated in described["claims"]}
    return Results(design, described["arithmetic"], claims, read_table(Path(file)), described.get("errors", ()))

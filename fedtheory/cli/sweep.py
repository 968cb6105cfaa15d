"""`fedtheory sweep`: check claims on a grid or a random family of runs, and write a table."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fedtheory.cli.output import Jobs, Json, NoCode, escape, print_json, print_lines, print_table, progress, short
from fedtheory.errors import Interrupted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from verify.sweeps import Results, Summary

NAME = "sweep"

SpecFile = Annotated[str, typer.Argument(metavar="SPEC", help="The file of a sweep (TOML).")]
Output = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FILE", help="The table; default: SPEC with .parquet.")
]
Scheduler = Annotated[
    str | None, typer.Option("--dask", metavar="ADDRESS", help="A Dask scheduler, tcp://host:port, with workers.")
]
Restart = Annotated[bool, typer.Option("--restart", help="Discard earlier results and begin again.")]


def run(
    spec_file: SpecFile,
    *,
    output: Output = None,
    jobs: Jobs = -1,
    dask: Scheduler = None,
    restart: Restart = False,
    _no_code: NoCode = False,
    as_json: Json = False,
) -> None:
    """Check claims on a grid or a random family of runs; after an interruption, the same command resumes."""
    from verify.sweeps import GOES_ON, read_results, read_spec, run_sweep

    begin = perf_counter()
    spec = read_spec(spec_file)
    table = Path(spec_file).with_suffix(".parquet") if output is None else Path(output)
    try:
        with progress("runs") as report:
            stored = run_sweep(spec, table, jobs=jobs, dask=dask, restart=restart, on_progress=report)
    except KeyboardInterrupt:
        raise Interrupted(GOES_ON) from None
    results = read_results(table)
    summaries = [results.summary(claim) for claim in results.claims]
    seconds = perf_counter() - begin
    if as_json:
        print_json(encode_sweep(table, results, summaries, stored, seconds))
    else:
        print_text(table, results, summaries, stored, seconds)


def encode_sweep(
    table: Path, results: Results, summaries: list[Summary], stored: int, seconds: float
) -> dict[str, Any]:
    """Return the JSON document: the table's file, numbers of rows, runs and reused runs, and each claim's summary."""
    return {
        "file": str(table),
        "rows": results.table.num_rows,
        "runs": results.design.runs,
        "stored": stored,
        "claims": [
            {
                "claim": summary.claim,
                "verdicts": summary.verdicts,
                "worst_ratio": summary.worst_ratio,
                "worst_row": summary.worst_row,
            }
            for summary in summaries
        ],
        "errors": [_find_smallest(results, error) for error in results.errors],
        "seconds": round(seconds, 3),
    }


def _find_smallest(results: Results, error: str) -> dict[str, Any]:
    """Find the row with the smallest recorded error."""
    value, row, runs = results.find_smallest(error) or (None, None, 0)
    at = None if row is None else results.design.values(row)
    margin = None if row is None else results.find_margin(error, row)
    return {"error": error, "runs": runs, "smallest": value, "margin": margin, "row": row, "at": at}


def print_text(table: Path, results: Results, summaries: list[Summary], stored: int, seconds: float) -> None:
    """Print the summary of a sweep for a terminal."""
    for error in results.errors:
        _print_best(results, error)
    rows = [[escape(s.claim), _format_counts(s), short(s.worst_ratio), short(s.worst_row)] for s in summaries]
    columns = ["claim", "runs", "largest ratio", "in row"]
    if rows:
        print_table("claims", columns, rows, whole=("claim", "largest ratio", "in row"))
    print_lines(*map(escape, _print_reasons(results, summaries)))
    known = f", {stored} of them stored before" if stored else ""
    print_lines(
        f"{results.design.runs} runs{known}, {seconds:.1f} s; {results.table.num_rows} rows in {escape(str(table))}"
    )


_MOST_BEST = 12
"""Number of runs in the table of an error."""


def _print_best(results: Results, error: str) -> None:
    """Print the runs with the smallest error, and a sentence on the best one."""
    found = _find_smallest(results, error)
    if found["at"] is None:
        print_lines(f"[bold]{error}[/bold] has no value on any run: all runs diverge, or have no such error")
        return
    known = sorted(
        (row for row in results.list_error_rows(error) if row[error] is not None), key=lambda row: row[error]
    )
    keys = list(results.kinds)
    columns = [key.rpartition(".")[2] for key in keys]
    rows = [
        [_format_error(row, error), *(escape(short(row[key])) for key in keys), str(row["row"])]
        for row in known[:_MOST_BEST]
    ]
    print_table(f"smallest {error}", [error, *columns, "in row"], rows, whole=(error, "in row"))
    at = ", ".join(f"{name} = {short(value)}" for name, value in zip(columns, found["at"].values(), strict=True))
    rest = results.design.runs - found["runs"]
    without = f"; {rest} of {results.design.runs} runs diverge or have none" if rest else ""
    value = short(found["smallest"])
    if found["margin"] is not None:
        value += f" ± {short(found['margin'])} (95 % interval, average over replicas)"
    print_lines(escape(f"smallest {error}: {value} at {at} (row {found['row']}){without}"))


def _format_error(row: Mapping[str, Any], error: str) -> str:
    """Format an error, with a note if the run diverges: until it overflows, its error is finite."""
    return f"{short(row[error])} (diverges)" if row["verdict"] == "diverging" else short(row[error])


def _print_reasons(results: Results, summaries: list[Summary]) -> list[str]:
    """Return lines with the most frequent reasons why runs are invalid, and why claims apply to no run."""
    lines = []
    for verdict in ("invalid", "failed"):
        usual = results.find_usual_reason(verdict)
        if usual is not None:
            lines.append(f"{verdict}, as in row {usual[1]}: {usual[0]}")
    never: dict[str, list[str]] = {}
    for summary in summaries:
        applies = summary.verdicts.keys() - {"not applicable", "invalid"}
        usual = None if applies else results.find_usual_reason("not applicable", summary.claim)
        if usual is not None:
            never.setdefault(usual[0], []).append(summary.claim)
    return lines + [f"applies to no run: {', '.join(claims)}: {reason}" for reason, claims in never.items()]


def _format_counts(summary: Summary) -> str:
    """Return the number of runs with each verdict, with colour."""
    styles = {"violated": "bold red", "holds": "green", "failed": "bold red"}
    return ", ".join(
        f"[{styles.get(verdict, 'yellow')}]{count} {verdict}[/]" for verdict, count in summary.verdicts.items()
    )

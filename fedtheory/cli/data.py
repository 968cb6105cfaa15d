"""`fedtheory data`: describe a data file, and write a run file for it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fedtheory.cli.output import Json, escape, print_json, print_lines, print_table, short, write_text
from fedtheory.errors import InputError

if TYPE_CHECKING:
    from fedtheory.planner.description import DataDescription

NAME = "data"

File = Annotated[str, typer.Argument(metavar="FILE", help="csv, Parquet or npz; or a data set such as digits:3-8.")]
Target = Annotated[str | None, typer.Option("--target", metavar="COLUMN", help="The column to predict.")]
Client = Annotated[
    str | None, typer.Option("--client", metavar="COLUMN", help="The column with the client of each row.")
]
Features = Annotated[
    list[str] | None,
    typer.Option(
        "--feature", metavar="COLUMN", help="Only these features; may be repeated. Default: all other columns."
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COLUMN", help="Leave this column out of the features; may be repeated."),
]
Standardize = Annotated[
    bool | None,
    typer.Option("--standardize/--raw", help="Each feature to mean 0, deviation 1; default: if scales differ."),
]
Intercept = Annotated[
    bool | None, typer.Option("--intercept/--no-intercept", help="A column of ones; default: if there is none.")
]
Kind = Annotated[
    str | None,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="least-squares, or logistic for two classes; default: logistic if they are words.",
    ),
]
Save = Annotated[str | None, typer.Option("--save", metavar="RUN", help="Write the run file to this path.")]

_MOST_FEATURES = 20


def run(
    file: File,
    *,
    target: Target = None,
    client: Client = None,
    feature: Features = None,
    drop: Drop = None,
    standardize: Standardize = None,
    intercept: Intercept = None,
    kind: Kind = None,
    save: Save = None,
    as_json: Json = False,
) -> None:
    """Describe a data file: columns, clients, curvatures, heterogeneity of the clients, and a first run file."""
    from fedtheory.federation.problem.columns import ColumnChoice
    from fedtheory.planner.description import describe, encode_description
    from fedtheory.runfile import run_toml

    choice = ColumnChoice(target, client, tuple(feature) if feature else None, dropped=tuple(drop or ()))
    try:
        found = describe(file, choice, standardize, intercept, kind)
    except InputError as error:
        # In messages, keys of a run file are replaced by the options of this command.
        raise InputError(error.key.removeprefix("problem."), error.message, error.file) from None
    named = None if save is None else _make_relative(save, file)
    written = [] if save is None else [write_text(save, run_toml(found.run_table(named)), "--save")]
    if as_json:
        print_json({**encode_description(found, named), "files": written})
        return
    print_text(found)
    print_lines(*(f"wrote {path}" for path in written))


def _make_relative(save: str, file: str) -> str:
    """Return the path of a data file relative to a run file."""
    return Path(os.path.relpath(file, Path(save).parent)).as_posix() if Path(file).is_file() else file


def print_text(found: DataDescription) -> None:
    """Print a description for a terminal."""
    from fedtheory.runfile import run_toml

    clients, scales = found.clients, found.features
    columns = "1 feature" if len(scales) == 1 else f"{len(scales)} features"
    counted = "1 client" if len(clients) == 1 else f"{len(clients)} clients"
    print_lines(f"[bold]{escape(found.file)}[/bold]: {sum(found.counts)} rows, {counted}, {columns}")
    rows = [
        [escape(s.name), *map(short, (s.mean, s.deviation, s.least, s.largest))]
        for s in [found.target, *scales[:_MOST_FEATURES]]
    ]
    rows[0][0] += f" (target, 1 for {escape(found.classes[1])})" if found.classes else " (target)"
    headings = ["column", "mean", "deviation", "least", "largest"]
    print_table("columns", headings, rows, whole=tuple(headings))
    if len(scales) > _MOST_FEATURES:
        print_lines(f"and {len(scales) - _MOST_FEATURES} more columns; --json has all")
    target = f"rows of {escape(found.classes[1])}" if found.classes else "mean target"
    headings = ["client", "rows", target, "L", "mu", "gradient at x*", "curvature difference"]
    rows = [
        [escape(c.name), str(c.rows), *map(short, numbers)]
        for c in clients
        for numbers in [(c.target_mean, c.smoothness, c.strong_convexity, c.gradient_at_optimum, c.curvature_apart)]
    ]
    if found.classes:
        headings, rows = headings[:-1], [row[:-1] for row in rows]
    print_table("clients, with the columns as in the run file", headings, rows, whole=tuple(headings))
    constants, lowest = found.constants, float(found.problem.optimal_value)
    print_lines(
        "gradient at x*: how strongly a client moves the model away from the common optimum x*, at most "
        f"{short(constants['gradient_dissimilarity_at_optimum'])}",
        *_explain_curvature_difference(constants["curvature_dissimilarity"]),
        f"curvature of the clients: up to L = {short(constants['smoothness'])}, from mu = "
        f"{short(constants['strong_convexity'])}; of the total loss F, with clients weighed by their rows: "
        f"{short(constants['objective_strong_convexity'])} to {short(constants['objective_smoothness'])}",
        f"F falls from {short(float(found.run.initial_gap) + lowest)} at zero to {short(lowest)} at x*",
        *(f"[bold]note[/bold]: {escape(note)}" for note in found.notes),
        "",
        "[bold]a run file to begin with[/bold] (--save RUN writes it)",
        escape(run_toml(found.run_table())),
    )


def _explain_curvature_difference(largest: float | None) -> list[str]:
    """Return a line on how far the clients' Hessians differ; none for losses whose curvature varies."""
    if largest is None:
        return []
    what = "the largest difference between a client's Hessian and that of the total loss"
    return [f"curvature difference: {what}, at most {short(largest)}"]

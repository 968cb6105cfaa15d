"""The page of a sweep: its keys, the verdicts of each claim, and the run file of its worst run."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, islice
from pathlib import Path
from typing import Any

from markupsafe import Markup

from fedtheory.arithmetic import RATIONAL
from fedtheory.language.numbers import format_decimal
from report.figures.style import Figure
from report.figures.sweep import SweepPoint, draw_ratio, draw_ratio_map
from report.figures.sweep_errors import draw_error
from report.mathml import typeset_statement
from verify.sweeps import Results, Summary, read_results
from verify.sweeps.values import Law

_MOST_LABELS = 14
"""Largest number of values of a key that fit under an axis."""
_LONGEST_LABEL = 18
_WORST = 5
"""Number of rows in the table of worst runs."""
_MOST_REASONS = 4
_MOST_MAPS = 3


@dataclass(frozen=True)
class RunRow:
    """A run as a row of a table."""

    number: int
    values: Sequence[str]
    lhs: str
    rhs: str
    ratio: str
    verdict: str


@dataclass(frozen=True)
class ClaimSection:
    """One claim of a sweep."""

    name: str
    anchor: str
    title: str
    statement: Sequence[Markup]
    summary: Summary
    ratio: str
    reasons: Sequence[tuple[str, str, int]]
    """Verdict, reason and number of runs, for runs without a decision."""
    figures: Sequence[Figure]
    worst: Sequence[RunRow]
    run_file: str | None
    command: str


@dataclass(frozen=True)
class RecordedError:
    """Row with the smallest exact error."""

    name: str
    runs: int
    """Number of runs that have an exact error."""
    smallest: str
    row: str
    at: str
    """The swept keys of that run."""
    figures: Sequence[Figure]


@dataclass(frozen=True)
class SweepPage:
    """Everything on a sweep's page."""

    name: str
    runs: int
    arithmetic: str
    keys: Sequence[tuple[str, str]]
    """Each swept key with its values."""
    claims: Sequence[ClaimSection]
    errors: Sequence[RecordedError]


def make_sweep_page(file: Path) -> SweepPage:
    """Return the page of a sweep's table."""
    results = read_results(file)
    design = results.design
    ranges = [(axis.key.text, _format_values(axis.values)) for axis in design.axes]
    ranges += [(drawn.key.text, _describe_law(drawn.law, drawn.shape, design.count)) for drawn in design.draws]
    sections = [_build_section(results, name) for name in results.claims]
    errors = [_build_recorded_error(results, name) for name in results.errors]
    return SweepPage(file.stem, design.runs, results.arithmetic, ranges, sections, errors)


def _build_recorded_error(results: Results, name: str) -> RecordedError:
    found = results.find_smallest(name)
    if found is None:
        return RecordedError(name, 0, "", "", "", [])
    smallest, row, runs = found
    values = results.design.values(row)
    at = ", ".join(f"{key.rpartition('.')[2]} = {_format_value(value)}" for key, value in values.items())
    return RecordedError(name, runs, format_decimal(smallest), str(row), at, _draw_errors(results, name))


def _draw_errors(results: Results, name: str) -> list[Figure]:
    """Draw the error over each key with several values, step sizes first."""
    rows = results.list_error_rows(name)
    keys = sorted(results.kinds, key=lambda key: not key.endswith("step_size"))
    found = []
    for key in keys:
        places = _place_labels(key, rows, results.kinds[key])
        if places is not None:
            labels, of_rows = places
            points = [
                SweepPoint(place, row[name], row["verdict"] or "") for place, row in zip(of_rows, rows, strict=True)
            ]
            found.append(draw_error(key, name, points, labels, f"{_make_slug(name)}-{_make_slug(key)}"))
    return found


def _format_values(values: Sequence[Any]) -> str:
    texts = [_format_value(value) for value in values]
    if len(texts) > _MOST_LABELS:
        texts = [*texts[:3], "...", texts[-1]]
    shown = ("; " if any("," in text for text in texts) else ", ").join(texts)
    return shown if len(values) == 1 else f"{len(values)} values: {shown}"


def _describe_law(law: Law, shape: tuple[int, ...], count: int) -> str:
    size = "" if not shape else f", a list of {' x '.join(map(str, shape))}"
    return f"{count} draws, {law.words}{size}"


def _build_section(results: Results, name: str) -> ClaimSection:
    summary, stated = results.summary(name), results.claims[name]
    rows = sorted((row for row in results.select_claim(name) if row["lhs"] is not None), key=_make_severity_key)[
        :_WORST
    ]
    exactly = " --arithmetic rational" if results.arithmetic == RATIONAL.name else ""
    anchor = _make_slug(name)
    return ClaimSection(
        name=name,
        anchor=anchor,
        title=stated.title,
        statement=[typeset_statement(link) for link in stated.statement],
        summary=summary,
        ratio="" if summary.worst_ratio is None else format_decimal(summary.worst_ratio),
        reasons=_count_reasons(results.select_claim(name)),
        figures=_draw_figures(results, name, anchor),
        worst=[_format_row(results, row) for row in rows],
        run_file=results.run_file(rows[0]["row"]) if rows else None,
        command=f"fedtheory check {name} run.toml{exactly}",
    )


def _make_severity_key(row: dict[str, Any]) -> tuple[int, float]:
    """Return a sort key: violations first, then undecided runs, each by decreasing ratio."""
    order = {"violated": 0, "undecided": 1}
    return order.get(row["verdict"], 2), -(row["ratio"] or 0)


def _format_row(results: Results, row: dict[str, Any]) -> RunRow:
    lhs, rhs, ratio = ("" if row[name] is None else format_decimal(row[name]) for name in ("lhs", "rhs", "ratio"))
    return RunRow(row["row"], [_format_label(row[key]) for key in results.kinds], lhs, rhs, ratio, row["verdict"])


def _format_value(value: object) -> str:
    """Format a value for readers: few digits, and of tables only the values."""
    if isinstance(value, dict):
        return ", ".join(map(_format_value, value.values()))
    return format_decimal(value) if isinstance(value, float) else str(value)


def _format_label(value: object) -> str:
    """Format a value of a column; lists and tables are texts there."""
    text = _format_value(json.loads(value) if isinstance(value, str) and value.startswith("{") else value)
    return text if len(text) <= _LONGEST_LABEL else f"{text[: _LONGEST_LABEL - 1]}…"


def _count_reasons(rows: Sequence[dict[str, Any]]) -> list[tuple[str, str, int]]:
    counted = Counter((row["verdict"], row["reason"]) for row in rows if row["lhs"] is None and row["reason"])
    return [(verdict, reason, count) for (verdict, reason), count in counted.most_common(_MOST_REASONS)]


def _draw_figures(results: Results, name: str, anchor: str) -> list[Figure]:
    """Draw the ratio over each key that has several values, and over each pair of keys of the grid."""
    rows = results.select_claim(name)
    if not any(row["ratio"] is not None and row["ratio"] > 0 for row in rows):
        return []
    figures = [_draw_ratio_over(key, rows, results.kinds[key], anchor) for key in results.kinds]
    axes = [axis for axis in results.design.axes if 1 < len(axis.values) <= _MOST_LABELS]
    pairs = islice(combinations(axes, 2), _MOST_MAPS)
    maps = [_draw_ratio_map((first.key.text, second.key.text), rows, anchor) for first, second in pairs]
    return [figure for figure in figures if figure is not None] + maps


def _draw_ratio_over(key: str, rows: Sequence[dict[str, Any]], kind: str, anchor: str) -> Figure | None:
    """Draw the ratio over a key; None if the key has one value, or too many words."""
    places = _place_labels(key, rows, kind)
    if places is None:
        return None
    labels, of_rows = places
    points = [SweepPoint(place, row["ratio"], row["verdict"]) for place, row in zip(of_rows, rows, strict=True)]
    return draw_ratio(key, points, labels, f"{anchor}-{_make_slug(key)}")


def _place_labels(key: str, rows: Sequence[dict[str, Any]], kind: str) -> tuple[list[str], list[float]] | None:
    """Return labels of a key that is not numeric, and the position of each row; None for one value or too many
    words.
    """
    labels = [] if kind in ("integer", "number") else list(dict.fromkeys(_format_label(row[key]) for row in rows))
    if len(labels) > _MOST_LABELS or len({str(row[key]) for row in rows}) == 1:
        return None
    if labels:
        return labels, [float(labels.index(_format_label(row[key]))) for row in rows]
    return labels, [float(Fraction(row[key])) for row in rows]


def _draw_ratio_map(keys: tuple[str, str], rows: Sequence[dict[str, Any]], anchor: str) -> Figure:
    across, up = (list(dict.fromkeys(_format_label(row[key]) for row in rows)) for key in keys)
    largest: dict[tuple[int, int], float] = {}
    for row in rows:
        if row["ratio"] is not None:
            cell = across.index(_format_label(row[keys[0]])), up.index(_format_label(row[keys[1]]))
            largest[cell] = max(row["ratio"], largest.get(cell, 0.0))
    return draw_ratio_map(keys, (across, up), largest, f"{anchor}-{_make_slug(keys[0])}-{_make_slug(keys[1])}")


def _make_slug(text: str) -> str:
    return re.sub(r"\W+", "-", text).strip("-")

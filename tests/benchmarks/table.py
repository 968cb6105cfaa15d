"""Write the figures of benchmark runs into their page: ``python table.py RESULTS.json [RESULTS.json ...] PAGE``.

Rows without a new measurement are kept.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

BEGIN, END = "<!-- benchmarks: written by make bench -->", "<!-- end of benchmarks -->"


Rows = dict[tuple[str, str], str]
"""The figure of each row, by subject and reference."""


def measured(results: dict[str, list[dict[str, dict[str, list[list[str]]]]]]) -> Rows:
    """Return the rows of all benchmarks of a run."""
    rows = [row for benchmark in results["benchmarks"] for row in benchmark["extra_info"].get("rows", [])]
    return {(what, against): _show(float(figure), kind) for what, against, figure, kind in rows}


def table(rows: Rows) -> str:
    """Return the rows as Markdown."""
    lines = ["| what | against | figure |", "| --- | --- | --- |"]
    lines += [f"| {what} | {against} | {figure} |" for (what, against), figure in rows.items()]
    return "\n".join(lines)


def written_before(page: str) -> Rows:
    """Return the rows between the marks of a page."""
    inside = page.partition(BEGIN)[2].partition(END)[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in inside.splitlines() if line[:1] == "|"]
    return {(what, against): figure for what, against, figure in cells[2:]}


def _show(figure: float, kind: str) -> str:
    return f"{kind} {figure:.2f}" if kind == "exponent" else f"{_round(figure)} {kind}"


def _round(figure: float) -> str:
    """Round to two digits, since further digits depend on the machine."""
    return f"{float(f'{figure:.2g}'):,.10g}"


def written(readme: str, rows: str) -> str:
    """Return a page with these rows between its marks; raises `ValueError` without marks."""
    before, _, rest = readme.partition(BEGIN)
    _, mark, after = rest.partition(END)
    if not mark:
        raise ValueError(f"expected the lines {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n\n{rows}\n\n{END}{after}"


if __name__ == "__main__":
    *sources, target = (Path(argument) for argument in sys.argv[1:])
    page = target.read_text(encoding="utf-8")
    rows = written_before(page)
    for source in sources:
        rows |= measured(json.loads(source.read_text(encoding="utf-8")))
    target.write_text(written(page, table(rows)), encoding="utf-8")
    print(table(rows))

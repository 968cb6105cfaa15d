"""Write the figures of benchmark runs into their page: ``python table.py RESULTS.json [RESULTS.json ...] PAGE``.

Rows that the runs did not measure stay unchanged.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

BEGIN, END = "<!-- benchmarks: written by make bench -->", "<!-- end of benchmarks -->"


Rows = dict[tuple[str, str], str]
"""The figure of each row, by what is measured and against what."""


def measured(results: dict[str, list[dict[str, dict[str, list[list[str]]]]]]) -> Rows:
    """The rows of all benchmarks of a run."""
    rows = [row for benchmark in results["benchmarks"] for row in benchmark["extra_info"].get("rows", [])]
    return {(what, against): _show(float(figure), kind) for what, against, figure, kind in rows}


def table(rows: Rows) -> str:
    """The rows as Markdown."""
    lines = ["| what | against | figure |", "| --- | --- | --- |"]
    lines += [f"| {what} | {against} | {figure} |" for (what, against), figure in rows.items()]
    return "\n".join(lines)


def written_before(page: str) -> Rows:
    """The rows that a page has between its marks."""
    inside = page.partition(BEGIN)[2].partition(END)[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in inside.splitlines() if line[:1] == "|"]
    return {(what, against): figure for what, against, figure in cells[2:]}


def _show(figure: float, kind: str) -> str:
    return f"{kind} {figure:.2f}" if kind == "exponent" else f"{_round(figure)} {kind}"


def _round(figure: float) -> str:
    """Two digits: the rest is the machine's."""
    return f"{float(f'{figure:.2g}'):,.10g}"


def written(readme: str, rows: str) -> str:
    """A page with these rows between its marks; `ValueError` without marks."""
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

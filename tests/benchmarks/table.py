"""Write the figures of a benchmark run into their page: ``python table.py RESULTS.json PAGE``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

BEGIN, END = "<!-- benchmarks: written by make bench -->", "<!-- end of benchmarks -->"


def table(results: dict[str, list[dict[str, dict[str, list[list[str]]]]]]) -> str:
    """The rows of all benchmarks, as Markdown."""
    rows = [row for benchmark in results["benchmarks"] for row in benchmark["extra_info"].get("rows", [])]
    lines = ["| what | against | figure |", "| --- | --- | --- |"]
    lines += [f"| {what} | {against} | {_shown(float(figure), kind)} |" for what, against, figure, kind in rows]
    return "\n".join(lines)


def _shown(figure: float, kind: str) -> str:
    return f"{kind} {figure:.2f}" if kind == "exponent" else f"{_rounded(figure)} {kind}"


def _rounded(figure: float) -> str:
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
    source, target = (Path(argument) for argument in sys.argv[1:])
    found = table(json.loads(source.read_text(encoding="utf-8")))
    target.write_text(written(target.read_text(encoding="utf-8"), found), encoding="utf-8")
    print(found)

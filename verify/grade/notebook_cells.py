"""Read the cells of a submitted notebook, robust to changes by learning platforms."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from verify.grade.code_repair import is_python, leave_out_if_huge, repair_signs, replace_surrogates
from verify.grade.literals import list_bound_names

METADATA = "fedtheory"
"""The key of a notebook's metadata that names its assignment."""
AUTOGRADED, BEFORE_HANDING_IN = "# Autograded cell for ", "# Before you hand in: "
"""First lines of cells that belong to the handout, not to the answers."""
_CHECKED = re.compile(r'\bcheck_answers\("([\w-]+)"')
_STUDENT = re.compile(r'^STUDENT = "([^"\n]+)"', re.MULTILINE)
_HELP = re.compile(r"\s*(?:\?{1,2}\s*[\w.]+|[\w.]+\s*\?{1,2})\s*")


@dataclass(frozen=True)
class NotebookCells:
    """Content of a notebook."""

    units: tuple[str, ...]
    texts: Mapping[str, str]
    """Texts for a person to read, by the name of the question."""
    handout: str
    """The text cells, and the cell that checks answers."""
    assignment: object
    """The assignment, from the metadata or from the cell that checks answers."""
    student: object


def read_cells(text: str) -> NotebookCells:
    """Read the cells of a notebook file; raises `ValueError`, `LookupError`, `TypeError` or `AttributeError` otherwise.

    Invalid cells are ignored. An answer in a cell that was turned into text by mistake counts.
    """
    notebook = json.loads(text)
    about = _read_mapping(notebook.get("metadata")).get(METADATA)
    units: list[str] = []
    texts: dict[str, str] = {}
    handout: list[str] = []
    sources: list[str] = []
    for cell in filter(_is_cell, notebook["cells"]):
        source = _read_source(cell)
        marked = _read_mapping(_read_mapping(cell.get("metadata")).get("nbgrader"))
        sources.append(source)
        if cell["cell_type"] == "markdown" or source.startswith(BEFORE_HANDING_IN):
            handout.append(source)
        if cell["cell_type"] == "code":
            units += _select_code(source, marked)
        elif marked.get("solution"):
            texts[str(marked.get("grade_id"))] = source
            units += [source] if is_python(source) and list_bound_names([source]) else []
    named = _read_mapping(about) or _find_names("\n".join(sources))
    return NotebookCells(tuple(units), texts, "\n".join(handout), named.get("assignment"), named.get("student"))


def _is_cell(cell: object) -> bool:
    return isinstance(cell, Mapping) and isinstance(cell.get("cell_type"), str)


def _read_mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _select_code(source: str, marked: Mapping[str, Any]) -> Iterator[str]:
    is_of_the_handout = marked.get("locked") or source.startswith((AUTOGRADED, BEFORE_HANDING_IN))
    if not is_of_the_handout:
        yield leave_out_if_huge(repair_signs(_remove_magics(source)))


def _find_names(source: str) -> dict[str, str]:
    """Return assignment and student as named in the handout's cells, for notebooks without metadata."""
    assignment, student = _CHECKED.search(source), _STUDENT.search(source)
    if assignment is None:
        return {}
    return {"assignment": assignment[1]} | ({} if student is None else {"student": student[1]})


def _read_source(cell: Mapping[str, Any]) -> str:
    """Return the text of a cell, without lone surrogates, which cannot be written to files."""
    source = cell.get("source")
    lines = source if isinstance(source, list) else [source]
    return replace_surrogates("".join(line for line in lines if isinstance(line, str)))


def _remove_magics(source: str) -> str:
    """Return the code of a cell without lines that only IPython understands."""
    return "\n".join(line for line in source.splitlines() if not _is_magic(line))


def _is_magic(line: str) -> bool:
    return line.lstrip().startswith(("%", "!")) or _HELP.fullmatch(line) is not None

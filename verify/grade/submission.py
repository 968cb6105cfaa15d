"""A submission as it was handed in: a Python file or a notebook, as units of code and texts."""

from __future__ import annotations

import json
import re
import unicodedata
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from fedtheory.language.exercises import is_student
from verify.grade.units import split_code

KINDS = (".py", ".ipynb")
_LARGEST, _LONGEST_CODE = 5_000_000, 200_000
_HEADER = re.compile(r"^#[ \t]*fedtheory assignment:[ \t]*(\S+)(?:[ \t]*\(copy of ([^()\r\n]+)\))?", re.MULTILINE)
METADATA = "fedtheory"
"""The key of a notebook's metadata under which its assignment is named."""


@dataclass(frozen=True)
class Submission:
    """Submission of one student."""

    student: str
    assignment: str | None
    """Assignment that the file names."""
    units: tuple[str, ...]
    """The code, in pieces that are executed one after the other."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Answers for people, by the name of the question."""
    copy_of: str | None = None
    """Student whose copy the file says that it is."""
    trouble: str | None = None
    """Why the file cannot be read."""
    source: str = ""
    """The text of a Python file; empty for a notebook."""
    handout: str = ""
    """Assignment text in the file: a Python file with its comments, or the text cells of a notebook."""


def read_submission(path: Path, student: str) -> Submission:
    """A file as a student's submission; one that cannot be read is a submission in trouble."""
    try:
        text = _text_of(path)
        return (_read_notebook if path.suffix == ".ipynb" else _read_python)(student, text)
    except (ValueError, OSError, LookupError, RecursionError, AttributeError, TypeError) as error:
        return Submission(student, None, (), trouble=f"the file cannot be read: {_reason(error)}"[:300])


def header(assignment: str, student: str) -> str:
    """The line of a Python file that says what it answers."""
    return f"# fedtheory assignment: {assignment} (copy of {student})"


def digest(path: Path, *further: str) -> str:
    """A fingerprint of a file, as far as it can be read, and of what else its grade depends on."""
    try:
        content = path.read_bytes()
    except OSError:
        content = b""
    return sha256(b"\n".join([content, *(part.encode("utf-8", "replace") for part in further)])).hexdigest()


def _reason(error: Exception) -> str:
    """Why a file cannot be read, for somebody who knows no Python."""
    if isinstance(error, json.JSONDecodeError):
        return f"it is no notebook (line {error.lineno}: {error.msg})"
    if isinstance(error, LookupError | AttributeError | TypeError | RecursionError):
        return "it is no notebook, for it lacks the parts that one has"
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def _text_of(path: Path) -> str:
    if path.stat().st_size > _LARGEST:
        raise ValueError(f"it is larger than {_LARGEST // 1_000_000} MB")
    content = path.read_bytes()
    if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return content.decode("utf-16")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Editors of older systems; what counts is ASCII in all of them.
        return content.decode("cp1252", "replace")


def _read_python(student: str, text: str) -> Submission:
    """A Python file, statement by statement."""
    named = _HEADER.search(text)
    assignment, copy_of = named.groups() if named else (None, None)
    units = split_code(_bounded(text))
    return Submission(student, assignment, units, copy_of=_student_of(copy_of), source=text, handout=text)


def _bounded(code: str) -> str:
    """Code that the grader itself may parse without running out of time or memory."""
    if len(code) > _LONGEST_CODE:
        raise ValueError(f"it has more than {_LONGEST_CODE:,} characters of code")
    return code


def _student_of(name: object) -> str | None:
    """The student of a header; None for what cannot be one, for headers can be written by anyone."""
    text = unicodedata.normalize("NFC", name).strip() if isinstance(name, str) else ""
    return text if is_student(text) else None


def _read_notebook(student: str, text: str) -> Submission:
    notebook = json.loads(text)
    about = notebook.get("metadata", {}).get(METADATA, {})
    units, texts, handout = [], {}, []
    for cell in notebook["cells"]:
        source = _source(cell)
        marked = cell.get("metadata", {}).get("nbgrader", {})
        if cell["cell_type"] == "markdown" and marked.get("solution"):
            texts[str(marked["grade_id"])] = source
        if cell["cell_type"] == "markdown":
            handout.append(source)
        if cell["cell_type"] == "code" and not marked.get("locked"):
            units.append(_without_magics(source))
    _bounded("".join(units))
    assignment, copy_of = (about.get(key) for key in ("assignment", "student"))
    named = assignment if isinstance(assignment, str) else None
    shown = "\n".join(handout)
    return Submission(student, named, tuple(units), texts, _student_of(copy_of), handout=shown)


def _source(cell: Mapping[str, Any]) -> str:
    """The text of a cell, without halves of characters, which no file can hold."""
    source = cell["source"]
    text = source if isinstance(source, str) else "".join(source)
    return text.encode("utf-8", "replace").decode()


def _without_magics(source: str) -> str:
    """A cell without the lines that only IPython understands."""
    return "\n".join(line for line in source.splitlines() if not line.lstrip().startswith(("%", "!")))

"""Read a submission: a Python file or a notebook, as units of code and texts."""

from __future__ import annotations

import json
import re
import unicodedata
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from textwrap import dedent

from fedtheory.language.exercises import is_student
from verify.grade.code_repair import LONGEST_CODE
from verify.grade.notebook_cells import read_cells
from verify.grade.units import replace_huge_statements, split_code

KINDS = (".py", ".ipynb")
_LARGEST = {".py": 5_000_000, ".ipynb": 50_000_000}
"""Largest size of a file in bytes; notebooks contain pictures."""
_ZEROS, _CONTROLS = 3, 20
"""Fraction of zero bytes above which a file is UTF-16, and of control characters above which it is not text."""
_BEGINNING = 10_000
_HEADER = re.compile(r"^[ \t]*#[ \t]*fedtheory assignment:[ \t]*(\S+)(?:[ \t]*\(copy of ([^()\r\n]+)\))?", re.MULTILINE)


@dataclass(frozen=True)
class Submission:
    """Submission of one student."""

    student: str
    assignment: str | None
    """Assignment that the file names."""
    units: tuple[str, ...]
    """The code, in units that are executed one after the other."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Answers for a person to read, by the name of the question."""
    copy_of: str | None = None
    """Student whose copy the file is, by its header."""
    trouble: str | None = None
    """Reason why the file cannot be read."""
    source: str = ""
    """The text of a Python file; empty for a notebook."""
    handout: str = ""
    """Assignment text in the file: the comments of a Python file, or a notebook's text cells and its last cell."""


def read_submission(path: Path, student: str) -> Submission:
    """Read a student's file; an unreadable file gives a submission with `trouble`."""
    try:
        text = _read_text(path)
        return (_read_notebook if path.suffix.lower() == ".ipynb" else _read_python)(student, text)
    except (ValueError, OSError, LookupError, RecursionError, AttributeError, TypeError) as error:
        return Submission(student, None, (), trouble=f"the file cannot be read: {_explain_error(error)}"[:300])


def header(assignment: str, student: str) -> str:
    """Return the line of a Python file that names its assignment and copy."""
    return f"# fedtheory assignment: {assignment} (copy of {student})"


def digest(path: Path, *further: str) -> str:
    """Return a digest of a file, as far as it can be read, and of further inputs of its grade."""
    try:
        content = path.read_bytes()
    except OSError:
        content = b""
    return sha256(b"\n".join([content, *(part.encode("utf-8", "replace") for part in further)])).hexdigest()


def _explain_error(error: Exception) -> str:
    """Explain why a file cannot be read, for readers without knowledge of Python."""
    if isinstance(error, json.JSONDecodeError):
        return f"it is not a notebook (line {error.lineno}: {error.msg})"
    if isinstance(error, LookupError | AttributeError | TypeError | RecursionError):
        return "it is not a notebook: parts of the format are missing"
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def _read_text(path: Path) -> str:
    largest = _LARGEST.get(path.suffix.lower(), _LARGEST[".py"])
    if path.stat().st_size > largest:
        raise ValueError(f"it is larger than {largest // 1_000_000} MB")
    text = decode_text(path.read_bytes()).replace("\0", "")
    if not text.strip():
        raise ValueError("it is empty")
    beginning = text[:_BEGINNING]
    controls = sum(unicodedata.category(character) == "Cc" and not character.isspace() for character in beginning)
    if _CONTROLS * controls > len(beginning):
        raise ValueError("it is not a text file")
    return text


def decode_text(content: bytes) -> str:
    """Return the text of a file in any of the encodings that editors and spreadsheets write."""
    if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return content.decode("utf-16")
    zeros = [content[place::2].count(0) for place in (0, 1)]
    if _ZEROS * max(zeros) > len(content) > _ZEROS * min(zeros):
        # In UTF-16 every second byte of an ASCII text is zero; the byte order mark may be missing.
        return content.decode("utf-16-be" if zeros[0] > zeros[1] else "utf-16-le", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Editors of older systems use other encodings; the relevant characters are ASCII in all of them.
        return content.decode("cp1252", "replace")


def _read_python(student: str, text: str) -> Submission:
    """Split a Python file into statements."""
    named = _HEADER.search(text)
    assignment, copy_of = named.groups() if named else (None, None)
    units = split_code(_require_short(replace_huge_statements(dedent(text))))
    return Submission(student, assignment, units, copy_of=_read_student(copy_of), source=text, handout=text)


def _require_short(code: str) -> str:
    """Return code that the grader can parse within its limits of time and memory."""
    if len(code) > LONGEST_CODE:
        raise ValueError(f"it has more than {LONGEST_CODE:,} characters of code")
    return code


def _read_student(name: object) -> str | None:
    """Return the student of a header; None for an invalid name, because anyone can write headers."""
    text = unicodedata.normalize("NFC", name).strip() if isinstance(name, str) else ""
    return text if is_student(text) else None


def _read_notebook(student: str, text: str) -> Submission:
    found = read_cells(text)
    _require_short("".join(found.units))
    assignment = found.assignment if isinstance(found.assignment, str) else None
    copy_of = _read_student(found.student)
    return Submission(student, assignment, found.units, found.texts, copy_of, handout=found.handout)

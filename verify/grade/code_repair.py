"""Repair code from editors and word processors: typographic quotes and signs, and statements too long to be parsed."""

from __future__ import annotations

import ast
import re

LONGEST_CODE, _LONGEST_STATEMENT = 200_000, 50_000
_ASCII = str.maketrans(
    dict.fromkeys("“”„‟″", '"') | dict.fromkeys("‘’‚‛′", "'") | dict.fromkeys("−–", "-") | {"\u00a0": " "}
)
_NAMED = re.compile(r"^(?:def\s+)?(\w+)\s*[=(:]", re.MULTILINE)


def replace_surrogates(text: str) -> str:
    """Return a text with lone surrogates replaced, so that it can be written to any file."""
    return text.encode("utf-8", "replace").decode()


def is_python(text: str) -> bool:
    """Return whether a text can be parsed."""
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def repair_signs(code: str) -> str:
    """Return the code with straight quotes, minus signs and blanks if only that makes it valid Python."""
    plain = code.translate(_ASCII)
    return plain if plain != code and not is_python(code) and is_python(plain) else code


def leave_out_if_huge(statement: str) -> str:
    """Return a statement; one that is too long is replaced by an invalid line that names the answer."""
    named = _NAMED.search(statement) if len(statement) > _LONGEST_STATEMENT else None
    return statement if named is None else f"{named[1]} = <more than {_LONGEST_STATEMENT:,} characters of code>\n"

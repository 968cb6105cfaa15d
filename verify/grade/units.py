"""Split the code of a Python file into units, so that an invalid statement does not affect the others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import accumulate

from verify.grade.code_repair import LONGEST_CODE, is_python, leave_out_if_huge, repair_signs

_MOST_ERRORS, _MOST_STEPS = 10, 5
_BEGINS = re.compile(r"(?!else\b|elif\b|except\b|finally\b)[^\s#)\]}]")
"""Pattern of a line that may begin a statement: it is not indented, and continues nothing."""


def split_code(text: str) -> tuple[str, ...]:
    """Return the statements of a file; an invalid part is a unit up to the next line that may begin a statement."""
    units: list[str] = []
    rest = re.sub("\r\n?", "\n", text)
    for _ in range(_MOST_ERRORS):
        try:
            return (*units, *_list_statements(rest))
        except SyntaxError as error:
            parts = _split_at_error(_list_blocks(rest), error.lineno or 1)
            if parts is None:
                break
            good, broken, rest = parts
            units += [*_list_statements(good), repair_signs(broken)]
        except (RecursionError, MemoryError):
            break
    return (*units, *map(repair_signs, _list_blocks(rest)))


def replace_huge_statements(text: str) -> str:
    """Replace the statements that make a text too long to be parsed by short ones."""
    if len(text) <= LONGEST_CODE:
        return text
    blocks = _list_blocks(re.sub("\r\n?", "\n", text))
    return "".join(map(leave_out_if_huge, blocks))


def _list_statements(text: str) -> Iterator[str]:
    """Yield statements with all their lines; statements on a common line stay together."""
    lines = text.split("\n")
    first, last = 1, 0
    for statement in ast.parse(text).body:
        # A function begins with its decorators, which have their own lines.
        begin = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
        if begin > last >= first:
            yield "\n".join(lines[first - 1 : last])
        first = begin if begin > last else first
        last = statement.end_lineno or begin
    if last >= first:
        yield "\n".join(lines[first - 1 : last])


def _list_blocks(text: str) -> list[str]:
    """Split the text before each line that may begin a statement."""
    blocks: list[str] = [""]
    previous = "@"
    for line in text.split("\n"):
        if _BEGINS.match(line) and not previous.startswith("@"):
            blocks.append("")
        blocks[-1] += f"{line}\n"
        previous = line
    return blocks


def _split_at_error(blocks: list[str], line: int) -> tuple[str, str, str] | None:
    """Split a text into the part before the block with an error, the block, and the part after it."""
    ends = accumulate(block.count("\n") for block in blocks)
    found = next((place for place, end in enumerate(ends) if end >= line), len(blocks) - 1)
    # An open bracket, or a function without a body, is detected only in a later block.
    for place in range(found, max(found - _MOST_STEPS, -1), -1):
        before = "".join(blocks[:place])
        if is_python(before):
            return before, blocks[place], "".join(blocks[place + 1 :])
    return None

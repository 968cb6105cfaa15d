"""The program that executes a submission and reports its names, with one line of JSON per event.

The program reads its job from its input, and has no access to solutions or points. It contains no protection itself;
`confinement` protects from outside.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

_LONGEST, _LONGEST_ANSWER = 200, 4_000
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
"""A memory address, which differs between executions."""


class Reporter:
    """Write records in a way that submitted code cannot replace."""

    def __init__(self) -> None:
        self._write, self._dumps, self._descriptor = os.write, json.dumps, os.dup(1)

    def __call__(self, step: int, values: list[str] | None = None, error: str = "") -> None:
        # Output of libraries may have left an unfinished line.
        line = b"\n" + self._dumps([step, values, error]).encode() + b"\n"
        while line:
            line = line[self._write(self._descriptor, line) :]


class Nowhere(io.TextIOBase):
    """Discard printed output."""

    def write(self, text: str) -> int:
        return len(text)


def execute(job: Mapping[str, Any], report: Reporter) -> None:
    """Execute the units of a submission in one namespace, then read names; a failure affects only its own step."""
    # Questions mention `Fraction`, which few files import.
    space: dict[str, Any] = {"__name__": "__main__", "Fraction": Fraction}
    steps: list[Callable[[list[str]], None]] = [
        *(partial(_run, source, space) for source in job["units"]),
        *(partial(_evaluate_answer, name, cases, space) for name, cases in job["cases"].items()),
    ]
    for number, action in enumerate(steps):
        if number not in job["skipped"]:
            report(number)
            values: list[str] = []
            error = _describe_failure(partial(action, values))
            report(number, values, error)


def _run(source: str, space: dict[str, Any], _values: list[str]) -> None:
    exec(_compile(source), space)


def _compile(source: str) -> Any:
    try:
        return compile(ast.parse(source), "<answers>", "exec")
    except RecursionError:
        raise SyntaxError("the code is nested too deeply") from None


def _evaluate_answer(name: str, cases: list[list[str]] | None, space: Mapping[str, Any], values: list[str]) -> None:
    """Store an answer in `values`, or the value of a function at each of its cases."""
    if name in space:
        value = space[name]
        found = [value] if cases is None else (value(*map(Fraction, case)) for case in cases)
        for item in found:
            values.append(_write_answer(item))


def _index(number: Fraction) -> int:
    """Return an integer as `range` and lists require it."""
    if number.denominator != 1:
        raise TypeError(f"expected a whole number, got {number}")
    return int(number.numerator)


def _describe_failure(action: Callable[[], object]) -> str:
    """Run an action and describe its error; empty without an error."""
    try:
        action()
    except NotImplementedError:
        # By convention, a cell that is not answered yet raises this error.
        return ""
    except BaseException as error:
        return _describe_outcome(error)
    return ""


def _describe_outcome(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "the code needs more memory than a submission may use"
    if isinstance(error, RecursionError):
        return "the code calls itself without end: does the recursion stop?"
    if isinstance(error, EOFError):
        return "the code asks for input, but there is none: write the values into the code"
    if isinstance(error, SyntaxError):
        return f"SyntaxError{_describe_place(error)}: {error.msg}"
    if isinstance(error, OSError):
        # Most code with this error reads the student's own files.
        return f"the code uses files, processes or the network, which submissions may not use ({str(error)[:_LONGEST]})"
    return f"{type(error).__name__}: {str(error)[:_LONGEST]}"


def _describe_place(error: SyntaxError) -> str:
    """Describe the invalid line if it is inside a function or another block."""
    line = error.text or ""
    return f" at `{line.strip()[:60]}`" if line[:1].isspace() and line.strip() else ""


def _write_answer(value: Any) -> str:
    """Return an answer as text: a string as given, a number or a SymPy expression in Python notation."""
    if isinstance(value, list | tuple | set) and len(value) == 1:
        # A comma after an answer makes it a tuple.
        (value,) = value
    text = "" if value is None or value is Ellipsis else _ADDRESS.sub("", str(value))
    return text if len(text) <= _LONGEST_ANSWER else text[:_LONGEST_ANSWER] + "..."


def main() -> None:
    """Do one job and end the process, whatever state the submitted code has left."""
    job = json.load(sys.stdin)
    report, leave = Reporter(), os._exit
    sys.path[:0] = job["import_path"]
    # Arguments are fractions, and functions pass them to range(k).
    Fraction.__index__ = _index  # type: ignore[attr-defined]
    sys.stdin, sys.stdout, sys.stderr = io.StringIO(), Nowhere(), Nowhere()
    with contextlib.suppress(BaseException):
        execute(job, report)
    leave(0)


if __name__ == "__main__":
    main()

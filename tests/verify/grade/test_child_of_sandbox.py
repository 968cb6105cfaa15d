"""The program inside the sandbox, called in this process: answers as text, cases of functions, reports in lines."""

from __future__ import annotations

import io
import json
import os
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from verify.grade import sandbox_child
from verify.grade.sandbox_child import _evaluate_answer, _index, _write_answer


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ((3,), "3"),
        ([3], "3"),
        ({3}, "3"),
        ((3, 4), "(3, 4)"),
        ([], "[]"),
        ({3: 4}, "{3: 4}"),
        (None, ""),
        ((None,), ""),
        (..., ""),
        ("a", "a"),
        (Fraction(1, 3), "1/3"),
        ("x" * 4000, "x" * 4000),
        ("x" * 4001, "x" * 4000 + "..."),
    ],
)
def test_answers_as_text(value: Any, text: str) -> None:
    """A comma behind an answer makes a tuple of it, which is the answer; long ones are cut."""
    assert _write_answer(value) == text


def test_addresses_are_no_part_of_an_answer() -> None:
    assert " at 0x" not in _write_answer(object())


def test_arguments_of_functions() -> None:
    """Fractions, of which whole ones count; a name that is not there has no values."""
    values: list[str] = []
    space = {"f": lambda a, b: a / b, "c": 5}
    _evaluate_answer("f", [["1", "3"], ["2/5", "-1"]], space, values)
    _evaluate_answer("c", None, space, values)
    _evaluate_answer("missing", None, space, values)
    _evaluate_answer("f", [], space, values)
    assert values == ["1/3", "-2/5", "5"]
    assert _index(Fraction(6, 2)) == 3
    with pytest.raises(TypeError, match="expected a whole number, got 1/2"):
        _index(Fraction(1, 2))


def test_a_job_is_reported_step_by_step(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A line before and after each step; what the code prints goes nowhere, and the process ends with 0."""
    job = {
        "import_path": [str(tmp_path)],
        "units": ["a = 1\nprint('noise')", "b = 1/0", "c = a + 1"],
        "cases": {"c": None, "missing": None, "f": [["1"]]},
        "skipped": [5],
    }

    class Left(BaseException):
        """The process ends."""

    def leave(code: int) -> None:
        raise Left(code)

    written: list[bytes] = []

    def write(_descriptor: int, line: bytes) -> int:
        written.append(line)
        return len(line)

    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, io.StringIO(json.dumps(job)))
    monkeypatch.setattr(os, "_exit", leave)
    monkeypatch.setattr(os, "write", write)
    monkeypatch.setattr(Fraction, "__index__", None, raising=False)
    with pytest.raises(Left) as left:
        sandbox_child.main()
    assert left.value.args == (0,)
    assert sys.path[0] == str(tmp_path)
    lines = [json.loads(line) for line in b"".join(written).split(b"\n") if line]
    ended = [([], ""), ([], "ZeroDivisionError: division by zero"), ([], ""), (["2"], ""), ([], "")]
    assert lines == [one for step, end in enumerate(ended) for one in ([step, None, ""], [step, *end])]
    assert not any(b"noise" in line for line in written)

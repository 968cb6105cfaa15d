"""Choices of grading against values by hand: ratios of a battery, columns of a roster, digits and blanks in LaTeX."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp
from claim_symbols import WHERE, L, eta

from fedtheory.language.claim import Claim
from verify.check.joint_checks import CheckResult
from verify.grade import battery, sandbox
from verify.grade.answer_limits import Unreadable
from verify.grade.assignments import read_edition
from verify.grade.battery import Battery, _limit_each_kind
from verify.grade.latex_answer import read_latex
from verify.grade.python_answer import read_python
from verify.grade.roster import _COLUMNS, _find_column, _get_cell

CLAIM = Claim(id="t:one", lhs=eta, rhs=L, where=WHERE)
x, y = sp.symbols("x y", positive=True)


def test_blanks_and_digits_in_latex() -> None:
    """A blank between numbers is refused, and a blank after a fraction ends its denominator; TeX takes single
    digits.
    """
    names = {"x": x, "y": y}
    assert read_latex("x 2", names) == 2 * x
    assert read_latex("x^2/2 y", names) == x**2 * y / 2
    assert read_latex("x^12 y", names) == 2 * x * y
    assert read_latex(r"\frac12 x", names) == x / 2
    assert read_latex(r"\frac123", names) == sp.Rational(3, 2)
    assert read_latex("1/2 x", names) == x / 2
    assert read_latex("|x| y", names) == x * y
    for text in ("2 3", "x 2 3", "1/2x", "1/x y", "x^2/2y"):
        with pytest.raises(Unreadable):
            read_latex(text, names)


def test_columns_of_a_roster() -> None:
    """The first column that names a student in every cell is taken, or else the first column without a head."""
    head = (1, [_COLUMNS[0].upper(), _COLUMNS[1].replace("_", " ")])
    for first, second, place in (("Ada L.!", "ada", 1), ("ada", "a b!", 0), ("ada", "eve", 0), ("a b!", "c d!", 0)):
        rows: Any = [head, (2, [first, second]), (3, ["bob", "bob"])]
        assert _find_column(rows) == (place, rows[1:])
    assert _find_column([(1, ["ada"]), (2, ["bob"])]) == (0, [(1, ["ada"]), (2, ["bob"])])
    assert [_get_cell([" a "], place) for place in (0, 1)] == ["a", ""]


def test_ratios_of_a_battery(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ratio is the largest finite one of runs on which the answer holds, and is confirmed if infinite."""
    answers = {
        "exact": [CheckResult(True, holds=True, ratio=0.25), CheckResult(True, holds=True, ratio=0.5)],
        "short": [CheckResult(True, holds=True, ratio=0.75), CheckResult(True, holds=True)],
    }
    monkeypatch.setattr(battery, "_check_on_runs", lambda runs, _: iter(answers[runs]))
    long = [CheckResult(True, holds=True, ratio=0.6), CheckResult(True, holds=True, ratio=math.inf)]
    long += [CheckResult(True, holds=False, ratio=9.0), CheckResult(False, holds=True, ratio=8.0), CheckResult(True)]
    confirmed: list[Any] = []

    def confirm(_claim: Claim, tables: list[Any]) -> Any:
        confirmed.append(tables)
        return None

    monkeypatch.setattr(battery, "confirm", confirm)
    given: Any = SimpleNamespace(
        _exact="exact",
        _short="short",
        _enclosed=[],
        _rational=[1, 2],
        long=list("abcde"),
        _check_on_ladders=lambda _: long,
    )
    trial = Battery.try_claim(given, CLAIM)
    assert (trial.tried, trial.largest_ratio, trial.violation) == (6, 0.6, None)
    assert confirmed == [["c"]]
    assert Battery.largest_ratio(given, CLAIM) == 0.75
    answers["exact"][1] = CheckResult(True, holds=False, ratio=2.0)
    monkeypatch.setattr(battery, "run_table", lambda run: run)
    assert Battery.try_claim(given, CLAIM).violation == 2
    assert len(confirmed) == 1
    answers.update(exact=[], short=[])
    assert Battery.largest_ratio(given, CLAIM) is None


def test_so_many_runs_of_each_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(battery, "_classify_run", lambda run: run % 2)
    runs: Any = [1, 3, 2, 5, 7, 4, 6, 8]
    assert list(_limit_each_kind(runs, 2)) == [1, 3, 2, 4]


def test_the_part_that_was_begun_first_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The part that began first is stopped, and left out when the others are executed again."""
    records = iter([({0, 1, 2}, {0: (("a",), "")}), ({0, 2}, {0: (("a",), ""), 2: (("c",), "")})])
    skipped: list[Any] = []

    def run(_launch: Any, job: bytes, _limits: Any) -> tuple[bytes, str]:
        skipped.append(json.loads(job)["skipped"])
        return b"", "stopped"

    monkeypatch.setattr(sandbox, "_run", run)
    monkeypatch.setattr(sandbox, "_read_records", lambda _: next(records))
    found = sandbox._execute(["u", "v"], {"f": None}, None, None)  # type: ignore[arg-type]
    assert found == [(("a",), ""), ((), "stopped"), (("c",), "")]
    assert skipped == [[], [1]]


def test_editions_of_files(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The edition of a Python file is its text; a folder, another file or a missing file has none."""
    monkeypatch.chdir(tmp_path)
    for name in ("own.py", "lecture"):
        (tmp_path / name).write_text("text")
    (tmp_path / "folder.py").mkdir()
    assert [read_edition(name) for name in ("own.py", "lecture", "folder.py", "none.py")] == ["text", "", "", ""]


def test_the_line_of_an_answer_that_is_no_python() -> None:
    """The line with the error is shown if an answer has several lines."""
    with pytest.raises(Unreadable, match=r"at `\$ 3`, character 3"):
        read_python("2 $ 3\n+ 4444", {})
    with pytest.raises(Unreadable, match=r"at `\$ 5\)`, character 4"):
        read_python("(2 +\n44 $ 5)", {})

"""Trials of answers on long runs, and what a page says of a run: by hand."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.exercises import BoundQuestion
from fedtheory.language.registry import find
from fedtheory.runfile import parse_run
from verify.check import check
from verify.falsify.run_tables import Table
from verify.grade import battery, folder
from verify.grade.battery import Battery
from verify.grade.feedback import RUN_FILE, _write_run, annotate_run
from verify.grade.marking import AnswerRow
from verify.grade.python_answer import _describe_error
from verify.grade.questions import GivenAnswer, mark_answer

T = sp.Symbol("T", positive=True, integer=True)


def _table(start: str, rounds: int = 2) -> Table:
    problem = {"kind": "quadratic", "hessians": [[["1"]]], "linear": [["0"]], "start": [start]}
    return {"problem": problem, "algorithm": {"local_step_size": "1/2", "rounds": rounds}}


def test_violations_on_long_runs_are_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    """(x / 4)^2 <= 1/4 holds for x = 1 and x = 2, and fails from x = 3: only that run is checked in rationals."""
    claim = Claim(id="t:last", lhs=q.final_distance_sq, rhs=Fraction(1, 4), where={})
    asked = []

    def confirm(_claim: Claim, tables: list[Table]) -> Any:
        asked.extend(tables)
        return next((one for one in tables if check(claim, parse_run(one, RATIONAL)).holds is False), None)

    monkeypatch.setattr(battery, "confirm", confirm)
    large = _table("3")
    tried = Battery([], [_table("1"), large]).try_claim(claim)
    assert (tried.tried, tried.violation, asked) == (2, large, [large])
    assert tried.largest_ratio == pytest.approx(0.25)
    held = Battery([], [_table("1"), _table("3/2")]).try_claim(claim)
    assert (held.violation, asked) == (None, [large])
    small = [parse_run(_table(start), RATIONAL) for start in ("1", "3")]
    exact = Battery(small, [large]).try_claim(claim)
    assert exact.violation is not None
    assert exact.violation["problem"]["start"] == ["3"]
    assert (exact.tried, asked) == (3, [large])


@pytest.mark.parametrize(
    ("bound", "rounds"), [(sp.sqrt(2 - T), 3), (1 / (T - 2) ** 2, 2), (1 + sp.log(2 - T), 2), (sp.sqrt(3 - T), None)]
)
def test_a_run_on_which_an_answer_has_no_value_is_named(bound: sp.Expr, rounds: int | None) -> None:
    """A run on which an answer has no real value is no run on which it holds."""
    claim = Claim(id="t:last", lhs=q.final_distance_sq, rhs=1 + bound, where={T: q.rounds})
    tried = Battery([parse_run(_table("1", rounds=count), RATIONAL) for count in (1, 2, 3)], []).try_claim(claim)
    assert tried.violation is None
    assert (None if tried.without_value is None else tried.without_value["algorithm"]["rounds"]) == rounds


@pytest.mark.parametrize("factor", ["(1 + sqrt(1-tau))", "(1/4 + 1/(tau-1))", "(1 + log(2-tau))"])
def test_a_person_reads_an_answer_without_a_value(factor: str) -> None:
    """An answer that has values for tau = 1 only, or for all others, is not refuted, and earns no points by itself."""
    claim = find("renard2022:lemma-2.3")
    names = {symbol.name: symbol for symbol in claim.rhs.free_symbols}
    question = BoundQuestion(name="drift", title="", text="", points=4, claim=claim, names=names)
    mark = mark_answer(question, GivenAnswer(f"(18*tau**2*eta**2*zeta**2 + 4*tau*eta**2*sigma**2)*{factor}"))
    assert mark.share is None
    assert "has no value on a run with" in mark.comment


def test_runs_to_which_a_claim_does_not_apply_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small runs are described by an exact check, long ones by their table; runs outside the claim are skipped."""
    few = Claim(id="t:few", lhs=q.final_distance_sq, rhs=1, where={T: q.rounds}, conditions=[T <= 3])
    monkeypatch.setattr(battery, "is_allowed", lambda claim, table: claim is few and table == _table("5", rounds=7))
    small = [parse_run(_table("1", rounds=rounds), RATIONAL) for rounds in (2, 4, 3)]
    kept = Battery(small, [_table("5", rounds=7), _table("5", rounds=8)]).select_applicable(few)
    assert [run.algorithm.rounds for run in kept] == [2, 3, 7]


def test_a_battery_is_a_collection_of_runs() -> None:
    """A battery has the stated number of runs, small ones first, and those of the ladders in floats."""
    small = [parse_run(_table(start), RATIONAL) for start in ("1", "3")]
    runs = Battery(small, [_table("5", rounds=7)])
    assert [run.algorithm.rounds for run in runs] == [2, 2, 7]
    assert [run.arithmetic for run in runs] == [RATIONAL, RATIONAL, FLOAT]
    assert len(list(runs)) == len(runs)


def _row(**keys: Any) -> AnswerRow:
    return AnswerRow(name="drift", title="The drift", points=0, of=2, comment="too small", **keys)


def test_a_page_shows_the_run_of_a_refuted_answer() -> None:
    """A page shows the command for both sides if there is a statement, and nothing without a run."""
    assert _write_run(_row()) == ""
    alone = _write_run(_row(run_file="start = 1 & 2"))
    assert "start = 1 &amp; 2" in alone
    assert RUN_FILE not in alone
    both = _write_run(_row(run_file="start = 1", relation="drift <= 1"))
    assert f"<pre>fedtheory check &quot;drift &lt;= 1&quot; {RUN_FILE}</pre>" in both
    assert annotate_run(_row(run_file="start = 1")) == "start = 1"
    assert annotate_run(_row(run_file="start = 1", relation="drift <= 1"), "a.toml") == (
        '# fedtheory check "drift <= 1" a.toml\nstart = 1'
    )


WRONG = [
    ("a b", 1, 3, "at `b`, character 3"),
    ("a b", 9, 3, "at `b`, character 3"),
    ("a\nb c", 2, 3, "at `c`, character 3"),
    ("a\nb c", 1, 1, "at `a`, character 1"),
    ("a b", 1, 99, "at the end, behind `a b`, character 4"),
    ("a b", 1, 0, "at `a b`, character 1"),
    ("a b", None, None, "at `a b`, character 1"),
    ("a +", 1, 1, "at the end, behind `a +`, character 4"),
]


@pytest.mark.parametrize(("text", "line", "offset", "place"), WRONG)
def test_the_first_wrong_symbol(text: str, line: int | None, offset: int | None, place: str) -> None:
    """Python counts lines and symbols from one, and may point past the end of the text."""
    error = SyntaxError("bad")
    error.lineno, error.offset = line, offset
    assert _describe_error(text, error) == f"this is not an expression in Python's notation {place}: bad"


def test_a_folder_is_graded_by_one_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More processes are used on request; code without a sandbox is executed only on request."""
    asked, unsafe = list[int](), list[bool]()
    monkeypatch.setattr(folder, "run_unordered", lambda _call, _tasks, jobs: asked.append(jobs) or ())
    monkeypatch.setattr(folder, "find_launch", unsafe.append)
    monkeypatch.setattr(folder, "find_submissions", lambda *_: [])
    monkeypatch.setattr(folder, "write_all", lambda *_: [])
    assert folder.grade_folder(tmp_path, tmp_path / "out") == []
    folder.grade_folder(tmp_path, tmp_path / "out", jobs=2, unsafe=True)
    assert (asked, unsafe) == ([1, 2], [False, True])

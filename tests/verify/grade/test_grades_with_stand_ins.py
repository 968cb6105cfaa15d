"""Grading of bounds, batteries and solutions with stand-ins for runs and searches, against values by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp
from claim_symbols import WHERE, L, eta

from fedtheory.arithmetic import ENCLOSED, RATIONAL
from fedtheory.errors import InputError
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from verify.check.joint_checks import CheckResult
from verify.falsify.run_tables import CheckedRun
from verify.grade import battery as batteries
from verify.grade import bound, counterexample, exercise_checks, notebook_answers
from verify.grade.answer_limits import Unreadable
from verify.grade.battery import Battery, Trial
from verify.grade.equality import _agree
from verify.grade.looseness import Looseness, _list_slacks
from verify.grade.python_answer import read_python

CLAIM = Claim(id="t:graded", lhs=eta, rhs=L, where=WHERE)
DOUBLED: Any = ((eta, "grows"),)


@pytest.mark.parametrize(
    ("own_bounds", "falls", "shrinks"),
    [
        ([1, 2], {1: DOUBLED, 2: DOUBLED}, True),
        ([1, 2], {1: DOUBLED, 2: ()}, False),
        ([1, 2], {1: (), 2: DOUBLED}, False),
        ([1, 2], {1: None, 2: DOUBLED}, True),
        ([1, 2], {1: None, 2: None}, False),
        ([], {0: DOUBLED}, True),
    ],
)
def test_answers_that_fall_below_every_proved_bound(
    own_bounds: list[int], falls: dict[int, Any], *, shrinks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All that can be compared; without a proved bound the claim itself counts."""

    def claim(number: int) -> Any:
        return SimpleNamespace(relations=[SimpleNamespace(right=number)])

    def measure(_stated: Any, right: int) -> Looseness | None:
        return None if falls[right] is None else Looseness(None, falls[right])

    monkeypatch.setattr(bound, "_list_proved_bounds", lambda _: tuple(map(claim, own_bounds)))
    monkeypatch.setattr(bound, "measure_looseness", measure)
    assert bound._find_shrinking(claim(0), CLAIM) == (DOUBLED if shrinks else ())


@pytest.mark.parametrize(
    ("over_values", "over_runs", "excess", "growth"),
    [
        (Looseness(2.0, DOUBLED), 9.0, 2.0, DOUBLED),
        (Looseness(2.0), 3.0, 3.0, ()),
        (Looseness(4.0), 3.0, 4.0, ()),
        (Looseness(None), 3.0, 3.0, ()),
        (None, 3.0, 3.0, ()),
        (Looseness(2.0), None, 2.0, ()),
        (None, None, None, ()),
    ],
)
def test_the_excess_over_values_and_runs(
    over_values: Any, over_runs: Any, excess: Any, growth: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The larger of both; where it is unbounded over values no run is asked."""
    asked: list[Claim] = []

    def largest_ratio(against: Claim) -> Any:
        asked.append(against)
        return over_runs

    runs = SimpleNamespace(largest_ratio=largest_ratio)
    monkeypatch.setattr(bound, "measure_looseness", lambda *_: over_values)
    monkeypatch.setattr(bound, "build_battery", lambda _: runs)
    found = bound._measure_looseness(CLAIM, 3 * L)
    assert (found.excess, found.growth) == (excess, growth)
    assert [(one.lhs, one.rhs) for one in asked] == ([] if growth else [(3 * L, L)])


def test_proofs_of_answers_in_words() -> None:
    assert bound._explain_proof(("a:b", "c:d")) == "it follows from a:b, c:d"
    assert bound._explain_proof(()).endswith("the conditions of the claim alone")


def test_standings_of_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal, refuted by a run, proved, refuted by a search, or neither, in this order; what is first ends it."""
    trial: Any = Trial(7, 0.25, None)
    grade: Any = bound.grade_bound
    found: dict[str, Any] = {
        "trial": trial,
        "premises": None,
        "search": (None, 3, 0.75),
        "equal": False,
        "smaller": None,
    }
    monkeypatch.setattr(bound, "has_units_of", lambda *_: None)
    monkeypatch.setattr(bound, "are_equal", lambda *_: found["equal"])
    monkeypatch.setattr(bound, "build_battery", lambda _: SimpleNamespace(try_claim=lambda _: found["trial"]))
    monkeypatch.setattr(bound, "_find_smaller_bound", lambda *_: found["smaller"])
    monkeypatch.setattr(bound, "find_premises", lambda _: found["premises"])
    monkeypatch.setattr(bound, "_measure_looseness", lambda *_: Looseness(2.0, ()))
    monkeypatch.setattr(bound, "_find_shrinking", lambda *_: DOUBLED)
    monkeypatch.setattr(bound, "_build_refuted", lambda _, units, table: (units, table))
    looked: list[int] = []

    def search(_claim: Claim, looks: int) -> Any:
        looked.append(looks)
        violation, applicable, largest = found["search"]
        return SimpleNamespace(counterexample=violation, applicable=applicable, largest_ratio=largest)

    monkeypatch.setattr(bound, "search_regimes", search)
    left = grade(CLAIM, 3 * L, budget=1.5)
    assert (left.standing, left.reason) == ("not refuted", "no violation in 10 test runs")
    assert (left.tightness, left.excess, left.shrinking) == (0.75, 2.0, DOUBLED)
    assert looked == [1500]
    found["search"] = (None, 3, None)
    assert grade(CLAIM, 3 * L).tightness == 0.25
    assert looked == [1500, 2000]
    found["search"] = (CheckedRun("table", "check"), 3, None)
    assert grade(CLAIM, 3 * L) == (True, "table")
    found["premises"] = ("a:b",)
    proved = grade(CLAIM, 3 * L)
    assert (proved.standing, proved.follows_from, proved.tightness) == ("proved", ("a:b",), 0.25)
    found["smaller"] = CLAIM
    assert grade(CLAIM, 3 * L).reason == f"it follows from {CLAIM.id}"
    found["trial"] = replace(trial, violation={"a": "run"})
    assert grade(CLAIM, 3 * L) == (True, {"a": "run"})
    found["equal"] = True
    equal = grade(CLAIM, L)
    assert (equal.standing, equal.excess, equal.share) == ("equal", 1.0, 1)
    for other in (replace(CLAIM, relation=">="), replace(CLAIM, lhs=None, rhs=None, chain=(eta, L))):
        with pytest.raises(InputError, match="expected a claim of the form lhs <= rhs"):
            grade(other, L)


def _run(name: str, *, enclosed: bool = False) -> Any:
    return SimpleNamespace(arithmetic=ENCLOSED if enclosed else RATIONAL, name=name)


def test_trials_of_a_claim_on_all_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first exact violation, else a confirmed one of floats; ratios are those of finite sides that hold.

    The run to which the claim does not apply is one on which a side has no value.
    """
    small = [_run("a"), _run("b", enclosed=True), _run("c")]
    tried = Battery(small, ["p", "q", "r"])  # type: ignore[list-item]
    results = {
        "a": CheckResult(True, True, True, 0.5),
        "c": CheckResult(False),
        "b": CheckResult(True, True, True, None),
    }
    floats = [
        CheckResult(True, True, False, 9.0),
        CheckResult(True, True, True, float("inf")),
        CheckResult(True, True, True, 0.75),
    ]
    confirmed: list[Any] = []

    def violation() -> Any:
        return tried.try_claim(CLAIM).violation

    monkeypatch.setattr(batteries, "_check_on_runs", lambda runs, _: [results[run.name] for run in runs])
    monkeypatch.setattr(batteries, "_check_answer", lambda _, run: results[run.name])
    monkeypatch.setattr(batteries, "RunsTogether", lambda runs: runs)
    monkeypatch.setattr(batteries, "run_table", lambda run: run.name)
    monkeypatch.setattr(batteries, "confirm", lambda _, tables: confirmed.append(tables))
    monkeypatch.setattr(Battery, "_check_on_ladders", lambda *_: iter(floats))
    assert len(tried) == 6
    assert tried.try_claim(CLAIM) == Trial(5, 0.75, None, tried.small[2].name)
    assert confirmed == [["p"]]
    violated: Any = CheckResult(True, True, False, 2.0)
    results["b"] = violated
    assert violation() == "b"
    results["c"] = violated
    assert violation() == "c"
    assert len(confirmed) == 1


def test_a_run_without_what_a_quantity_needs_is_not_applicable(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that lacks, for example, a second client is not applicable; other errors are raised."""

    def check(_claim: Any, run: Any) -> Any:
        raise run

    monkeypatch.setattr(batteries, "check", check)
    assert batteries._check_answer(CLAIM, KeyError("client 2")) == CheckResult(False)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="bad"):
        batteries._check_answer(CLAIM, ValueError("bad"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("holds", "ratio", "clear"),
    [
        (False, None, True),
        (False, counterexample._CLEAR, False),
        (False, 2 * counterexample._CLEAR, True),
        (False, -0.5, True),
        (False, 0.0, False),
        (True, 9.0, False),
        (None, 9.0, False),
    ],
)
def test_clear_violations(holds: Any, ratio: Any, *, clear: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ratio well above one, or sides of other signs."""
    monkeypatch.setattr(counterexample, "evaluate_run", lambda *_: SimpleNamespace(holds=holds, ratio=ratio))
    assert counterexample._is_clear(CLAIM, {}) is clear
    monkeypatch.setattr(counterexample, "evaluate_run", lambda *_: None)
    assert counterexample._is_clear(CLAIM, {}) is False


def test_orderings_of_quantities_bound_their_values() -> None:
    """Conditions of the claim, and the initial gap by smoothness and distance where all three are named."""
    gap, distance = sp.symbols("gap D", positive=True)
    where = {L: q.smoothness, gap: q.initial_gap, distance: q.initial_distance}
    claim = Claim(id="t:slacks", lhs=gap, rhs=L, where=where, conditions=[gap <= L])
    assert L - gap in list(_list_slacks(claim, (L, gap, distance)))
    assert L * distance**2 / 2 - gap in list(_list_slacks(claim, (L, gap, distance)))
    assert list(_list_slacks(claim, (L, gap))) == [L - gap]


def test_numbers_agree_relative_to_their_size() -> None:
    """Numbers agree up to the last digits, large and small; two numbers without a value agree."""
    x = sp.Symbol("x", positive=True)
    at = {x: sp.Rational(3)}
    large, small = sp.Integer(10) ** 60 * x, sp.Rational(1, 10**60) * x
    assert _agree(large, large + 1, at)
    assert not _agree(large, 2 * large, at)
    assert _agree(small, small, at)
    assert not _agree(small, 2 * small, at)
    root = sp.sqrt(-x)
    assert _agree(root, root, at)
    assert not _agree(root, x, at)


def _graded(points: float | None, of: float) -> Any:
    return SimpleNamespace(points=points, of=of, name="a", comment="why")


def test_solutions_earn_all_points(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One that earns less is refused with its question; answers that a person reads have no points yet."""
    assignment: Any = SimpleNamespace(id="x", file="mine.py")
    copy: Any = SimpleNamespace(student="ana", questions=[])
    rows: list[Any] = []
    monkeypatch.setattr(exercise_checks, "mark_submission", lambda *_: SimpleNamespace(rows=rows))
    monkeypatch.setattr(exercise_checks, "find_launch", lambda *, unsafe: unsafe)
    rows[:] = [_graded(None, 2.0), _graded(2.0, 2.0)]
    exercise_checks.require_sound(assignment, copy, tmp_path)
    rows[:] = [_graded(1.5, 2.0)]
    with pytest.raises(InputError, match=r"earns 1.5 of 2.0 points: why"):
        exercise_checks.require_sound(assignment, copy, tmp_path)


@pytest.mark.parametrize("relation", ["a <= b", None])
def test_the_run_that_violates_a_solution_is_written(relation: str | None, tmp_path: Path) -> None:
    """With the command that shows both sides, where the claim is a relation between quantities."""
    found: Any = SimpleNamespace(relation=relation, run_file="rounds = 1\n")
    text = exercise_checks._write_counterexample(found, tmp_path / "new")
    file = tmp_path / "new" / exercise_checks.COUNTEREXAMPLE
    written = file.read_text(encoding="utf-8")
    if relation is None:
        assert text == f"; the run is in {file}"
        assert written == "rounds = 1\n"
    else:
        typed = f'fedtheory check "a <= b" {file}'
        assert text == f"; the run is in {file}, and `{typed}` shows both sides"
        assert written == f"# {typed}\nrounds = 1\n"


def test_false_solutions_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A run of the battery, else one of a search; a claim that fits no run is refused as well."""
    question: Any = SimpleNamespace(claim=CLAIM, name="a")
    assignment: Any = SimpleNamespace(file="mine.py")
    known: dict[str, Any] = {"runs": 1, "violation": None, "search": None}

    class Runs:
        """A battery."""

        def __len__(self) -> int:
            return int(known["runs"])

        def try_claim(self, _claim: Claim) -> Any:
            """Return the violation that is known."""
            return SimpleNamespace(violation=known["violation"])

    monkeypatch.setattr(exercise_checks, "build_battery", lambda _: Runs())
    monkeypatch.setattr(exercise_checks, "search_regimes", lambda *_: SimpleNamespace(counterexample=known["search"]))
    sides = {"rhs": 2, "size": "small"}
    monkeypatch.setattr(exercise_checks, "shrink_counterexample", lambda _, table: SimpleNamespace(lhs=table, **sides))
    monkeypatch.setattr(exercise_checks, "_write_counterexample", lambda *_: "; written")
    monkeypatch.setattr(exercise_checks, "explain_no_instance", lambda _: "none")
    exercise_checks._require_unrefuted(assignment, question, tmp_path)
    known["search"] = CheckedRun(7, "check")
    with pytest.raises(InputError, match="the left side is 7, the right side 2, on small; written"):
        exercise_checks._require_unrefuted(assignment, question, tmp_path)
    known["violation"] = 8
    with pytest.raises(InputError, match=r"the left side is 8, the right side 2, on small$"):
        exercise_checks._require_unrefuted(assignment, question, None)
    known["runs"] = 0
    with pytest.raises(InputError, match="satisfies the claim's assumptions and conditions: none"):
        exercise_checks._require_unrefuted(assignment, question, None)


@pytest.mark.parametrize(
    ("answer", "text"),
    [([3], "3"), ((3,), "3"), ({3}, "3"), ([3, 4], "[3, 4]"), ([], "[]"), ("x", "x"), (None, ""), (..., ""), (0, "0")],
)
def test_answers_in_a_notebook(answer: Any, text: str) -> None:
    """A comma behind an answer makes a tuple of it, which is the answer."""
    given = notebook_answers._take_answer(SimpleNamespace(cases=None), answer)  # type: ignore[arg-type]
    assert (given.text or "") == text


@pytest.mark.parametrize(
    "text", ["f(x, k=1)", "sqrt(x, evaluate=False)", "x.subs(x)", "sp.sqrt(x)", "f(*x)", "x % 2", "x @ x"]
)
def test_calls_that_are_no_formulas(text: str) -> None:
    """Keywords, attributes, and operators that no formula has are refused, with the place."""
    x = sp.Symbol("x", positive=True)
    with pytest.raises(Unreadable):
        read_python(text, {"x": x})

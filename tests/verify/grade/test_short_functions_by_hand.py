"""Short functions of checks, searches and grades that others build on, against values by hand."""

from __future__ import annotations

import json
import math
import re
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import fmpq

from fedtheory.errors import InputError
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.exercises import ManualQuestion
from verify import verdict
from verify.check import perturbed_runs, rates, stationary_orders
from verify.check.stationary_orders import find_leading_term
from verify.falsify import starts
from verify.falsify.counts import _find_conditions
from verify.falsify.regimes import algorithm_tables, coverage, factors
from verify.grade import marking, notebook_answers, result_files
from verify.grade.answer_limits import Ambiguous, Guarded, NoValue, UnknownSymbol
from verify.grade.answer_sides import unwrap
from verify.grade.asked_in_file import build_questions
from verify.grade.point_entries import _describe_unknown, _set_points
from verify.grade.sandbox import Answers
from verify.grade.typed_numbers import _require_one_reading, remove_unit

eta, tau, T = sp.symbols("eta tau T", positive=True)

# Checks.


def test_leading_terms_of_stationary_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first coefficient that is not zero, with its power; none where all vanish or there is no expansion."""
    known: dict[Any, Any] = {q.limiting_distance_sq: lambda *_: [0, 0, fmpq(3), fmpq(5)]}
    monkeypatch.setattr(stationary_orders, "_EXPANSIONS", known)
    monkeypatch.setattr(stationary_orders, "expand_moments", lambda *_: [])

    def leading(quantity: Any) -> Any:
        claim: Any = SimpleNamespace(rate=SimpleNamespace(measured=eta), notation={eta: quantity})
        return find_leading_term(claim, None)  # type: ignore[arg-type]

    assert leading(q.limiting_distance_sq) == (3, Fraction(2))
    assert leading(q.smoothness) is None
    known[q.limiting_distance_sq] = lambda *_: [0, 0]
    assert leading(q.limiting_distance_sq) is None


def test_squares_of_series_of_means() -> None:
    """(m0 + m1 s)^2 = |m0|^2 + 2 <m0, m1> s + ..., and traces of second moments."""
    moments: Any = [np.array([[1, 0, 0], [2, 5, 0], [3, 0, 7]]), np.array([[0, 0, 0], [1, 1, 0], [1, 0, 2]])]
    assert stationary_orders._expand_mean_distance_sq(None, moments) == [4 + 9, 2 * (2 + 3)]  # type: ignore[arg-type]
    assert stationary_orders._expand_distance_sq(None, moments) == [12, 3]  # type: ignore[arg-type]
    run: Any = SimpleNamespace(problem=SimpleNamespace(about_optimum=SimpleNamespace(hessian=np.diag([2, 4]))))
    assert stationary_orders._expand_suboptimality(run, moments) == [(10 + 28) / 2, (2 + 8) / 2]


def test_quantities_with_limits_in_rounds() -> None:
    """Constants, and quantities whose limit is known."""
    rate: Any = SimpleNamespace(measured=eta * tau + T)
    known: dict[Any, Any] = {eta: q.local_step_size, tau: q.final_suboptimality, T: q.rounds}
    assert rates._have_limits(rate, known, T) is bool(q.final_suboptimality.limit)
    assert rates._have_limits(rate, {**known, tau: q.smoothness}, T)
    assert not rates._have_limits(rate, {**known, tau: q.server_model}, T)


def test_perturbed_quadratics_keep_their_errors() -> None:
    """Curvatures c and lengths l give linear terms c l and constants c l^2; noise is scaled by itself."""
    oracle = perturbed_runs.AdditiveNoise(np.array([2.0]))
    found = perturbed_runs._perturb_oracle(oracle, None, 3.0)
    assert isinstance(found, perturbed_runs.AdditiveNoise)
    assert found.variances.tolist() == [6.0]


def test_targets_are_ids_or_claims() -> None:
    claim = Claim(id="t:one", lhs=0, rhs=eta, where={eta: q.local_step_size})
    assert verdict._list_targets("a:b") == ["a:b"]
    assert verdict._list_targets(claim) == [claim]
    assert verdict._list_targets(("a:b", claim)) == ["a:b", claim]
    with pytest.raises(InputError, match=r"expected ids, file\.py:NAME or claims, got 3"):
        verdict._list_targets(["a:b", 3])  # type: ignore[list-item]


# Searches.


def test_conditions_on_one_count() -> None:
    """Those in the count alone."""
    claim = Claim(
        id="t:counts",
        lhs=0,
        rhs=tau * T,
        where={tau: q.local_steps, T: q.rounds},
        conditions=[tau <= 4, tau * T <= 9, T >= 2],
    )
    assert _find_conditions(claim, q.local_steps) == [tau <= 4]
    assert _find_conditions(claim, q.rounds) == [T >= 2]
    assert _find_conditions(claim, q.clients) == []


def test_shapes_of_tables() -> None:
    """Tables with other numbers have one shape, with other words or keys another."""
    one = {"problem": {"kind": "quadratic", "start": [1]}, "algorithm": {"rounds": 3}}
    other = {"problem": {"kind": "quadratic", "start": [2, 3]}, "algorithm": {"rounds": 5}}
    assert starts._describe_shape(one) == starts._describe_shape(other)
    assert starts._describe_shape(one) != starts._describe_shape({**one, "problem": {"kind": "logistic", "start": [1]}})
    assert starts._describe_shape(one) != starts._describe_shape({**one, "algorithm": {"rounds": "3"}})


def test_regimes_have_their_largest_ratio() -> None:
    """Violations and infinite scores do not count for the ratio; all runs count for the number."""

    def seen(score: float, holds: Any = True) -> Any:
        return SimpleNamespace(score=score, holds=holds)

    infinite = coverage._LARGEST
    tried = [seen(-1.0), seen(-0.5), seen(2.0, False), seen(infinite), seen(-infinite)]
    found = coverage._build_regime("noise", "none", tried)
    assert (found.factor, found.level, found.runs) == ("noise", "none", 5)
    assert found.largest_ratio == pytest.approx(math.exp(-0.5))
    assert coverage._build_regime("noise", "none", [seen(2.0, False)]).largest_ratio is None
    assert coverage._build_regime("noise", "none", [seen(-3.0, None)]).largest_ratio == pytest.approx(math.exp(-3))


@pytest.mark.parametrize(
    ("level", "words"),
    [
        (("T", 0), "1 round"),
        (("T", 11), "2,048 rounds"),
        (("cycle", 0), "1 cycle"),
        (("cycle", 3), "8 cycles"),
        (("L", -1), "0.5/(eta L) steps"),
        (("mu", 2), "4/(eta mu) steps"),
    ],
)
def test_horizons_in_words(level: Any, words: str) -> None:
    assert factors._describe_horizon(level) == words
    assert factors._describe_sources("snp") == "start + noise + unlike gradients"


def test_times_and_cycles_of_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    """One client may be eight times slower; a cycle ends when all have reported in proportion to their speed."""
    assert algorithm_tables._compute_times("one slow", 3) == [1, 1, 8]
    assert algorithm_tables._compute_times("equal times", 3) == [1, 1, 1]
    longest = algorithm_tables._LONGEST
    assert algorithm_tables._compute_times("other", longest + 1) == [*range(1, longest + 1), 1]
    monkeypatch.setattr(algorithm_tables, "count_clients", lambda _: 3)
    assert algorithm_tables.count_rounds_of_a_cycle({}) == 1
    assert algorithm_tables.count_rounds_of_a_cycle({"clock": "one slow"}) == 8 + 8 + 1
    assert algorithm_tables.count_rounds_of_a_cycle({"clock": "equal times"}) == 3
    for kind in ("long intervals", "buffer"):
        assert algorithm_tables.count_rounds_of_a_cycle({"clock": kind}) == 1
    cycle = math.lcm(*algorithm_tables._compute_times("fixed intervals", 3))
    assert algorithm_tables.count_rounds_of_a_cycle({"clock": "fixed intervals"}) == cycle


# Grades.


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        *(("$eta$", "eta"), (" `$eta$` ", "eta"), ("\\boxed{eta}", "eta")),
        *(("eta", "eta"), ("\teta", "\teta"), ("$a$ $b$", "$a$ $b$")),
    ],
)
def test_wrappings_of_answers(text: str, inside: str) -> None:
    assert unwrap(text) == inside


def test_symbols_of_a_question() -> None:
    """An unknown symbol is named with the known ones, and with a close one of several letters."""
    symbol = Guarded({"sigma": eta, "x": tau})
    assert (symbol.name("sigma"), symbol.has("x"), symbol.has("y")) == (eta, True, False)
    with pytest.raises(UnknownSymbol, match=r"sigm is not a symbol of this question; it has sigma, x; is it sigma\?"):
        symbol.name("sigm")
    with pytest.raises(UnknownSymbol, match=r"y is not a symbol of this question; it has sigma, x$"):
        symbol.name("y")
    with pytest.raises(UnknownSymbol, match=r"it asks for a number$"):
        Guarded({}).name("ab")
    assert symbol.quotient(eta, tau) == eta / tau
    with pytest.raises(NoValue, match="divides by zero"):
        symbol.quotient(eta, sp.S.Zero)


def test_answers_are_found_by_question() -> None:
    """Texts of manual questions come from the file, others from the code, with their errors."""
    manual = ManualQuestion(name="why", title="", text="", points=1, solution="because")
    plain: Any = SimpleNamespace(name="a")
    found = Answers({"a": "1", "b": "2"}, {"a": ("3",)}, (), {"a": "line 3: x"})
    submission: Any = SimpleNamespace(texts={"why": "because"})
    assert marking._find_answer(manual, submission, found).text == "because"
    given = marking._find_answer(plain, submission, found)
    assert (given.text, given.outputs, given.trouble) == ("1", ("3",), "line 3: x")
    other = marking._find_answer(SimpleNamespace(name="c"), submission, found)  # type: ignore[arg-type]
    assert (other.text, other.outputs, other.trouble) == ("", (), None)
    submission.texts = {}
    assert marking._find_answer(manual, submission, found).text == ""


def test_points_of_unknown_students_and_questions() -> None:
    """Known students are listed, then the questions of the student."""
    rows: Any = dict.fromkeys([("ada", "e", "1"), ("ada", "e", "2"), ("bob", "e", "3")])
    entry: Any = SimpleNamespace(student="eve", question="1")
    assert _describe_unknown(entry, rows) == ("student", "expected one of ada, bob, got 'eve'")
    assert _describe_unknown(entry, {}) == ("student", "expected one of no student, got 'eve'")
    entry.student, entry.question = "ada", "3"
    assert _describe_unknown(entry, rows) == ("question", "expected one of 1, 2, got '3'")


@pytest.mark.parametrize(
    ("points", "note", "comment"),
    [
        (None, "", "points given by a person"),
        (None, "well done", "points given by a person: well done"),
        (1.0, "", "right; points given by a person"),
    ],
)
def test_points_given_by_a_person(points: Any, note: str, comment: str) -> None:
    row = marking.AnswerRow("a", "A", points, 3, "right")
    assert _set_points(row, None) is row
    found = _set_points(row, SimpleNamespace(points=2.0, note=note))  # type: ignore[arg-type]
    assert (found.points, found.comment, found.of) == (2.0, comment, 3)


def test_folders_of_grades_that_cannot_be_read(tmp_path: Path) -> None:
    """Missing or damaged files are one error that names the folder."""
    for text in (None, "{", "[]", '{"labels": ["a"]}', '{"other": []}'):
        if text is not None:
            (tmp_path / result_files._GRADED).write_text(text)
        with pytest.raises(InputError, match="expected a folder that `fedtheory course grade` has written"):
            result_files.read_graded(tmp_path)
    (tmp_path / result_files._GRADED).write_text(json.dumps({"labels": []}))
    assert result_files.read_graded(tmp_path) == {}
    assert result_files.read_entered(tmp_path) == []


def test_questions_of_a_missing_exercise() -> None:
    """Each has its symbols, without a solution or points."""
    one, other = build_questions({"a": ["eta", "L"], "b": []})
    assert (one.name, sorted(one.names), one.points, one.solution) == ("a", ["L", "eta"], 0, 0)
    assert all(symbol.is_positive for symbol in one.names.values())
    assert (other.name, dict(other.names)) == ("b", {})


def test_answers_of_notebooks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Manual questions are not read back; symbols of the notebook stand in for a missing exercise."""
    manual = ManualQuestion(name="why", title="", text="", points=1, solution="because")
    plain = SimpleNamespace(name="a")
    copy = SimpleNamespace(questions=[manual, plain])
    monkeypatch.setattr(notebook_answers, "find_assignment", lambda _: SimpleNamespace(copy=lambda _: copy))
    monkeypatch.setattr(notebook_answers, "build_questions", lambda named: [SimpleNamespace(name=n) for n in named])
    monkeypatch.setattr(notebook_answers, "_take_answer", lambda _, answer: answer)
    monkeypatch.setattr(notebook_answers, "read_one", lambda question, given: (question.name, given))
    assert notebook_answers.read_answers("e", "ada", {"a": 3, "why": 4}, None) == [("a", 3)]
    assert notebook_answers.read_answers("e", "ada", {}, {"b": ["x"]}) == [("b", None)]
    assert notebook_answers._find_question("e", "ada", "a") is plain
    with pytest.raises(InputError, match="e has no question 'z'"):
        notebook_answers._find_question("e", "ada", "z")


def test_numbers_with_two_readings_and_units() -> None:
    either = re.compile(r"(\d+),(\d{3})")
    _require_one_reading("1.5", either)
    with pytest.raises(Ambiguous, match=r"1,000 can be 1000 or 1\.000: write one of these"):
        _require_one_reading("x = 1,000", either)
    assert [remove_unit(text) for text in ("7 rounds", "7", "7 apples")] == ["7", "7", "7 apples"]

"""Words and marks of the grader against values by hand: excesses, texts below a heading, formulas, relations."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp

from fedtheory import Claim
from fedtheory.language import quantities as q
from verify.grade import bound as bounds
from verify.grade import counterexample, equality, text_answers
from verify.grade.bound import _measure_looseness
from verify.grade.latex_answer import _LatexReader
from verify.grade.looseness import Looseness
from verify.grade.questions import bound as bound_question
from verify.grade.questions import expression as expression_question
from verify.grade.sandbox_child import Reporter, execute
from verify.grade.typed_relation import write_relation

eta, tau = sp.symbols("eta tau", positive=True)


@pytest.mark.parametrize(
    ("excess", "share", "growth", "words"),
    [
        (None, 1, (), "could not be compared"),
        (1.0, 1, (), "it exceeds the reference nowhere that was tried"),
        (0.5, 1, (), "it exceeds the reference nowhere that was tried"),
        (1.5, 1, (), "it is up to 1.5 times the reference"),
        (1.5, 0.5, (), "it is up to 1.5 times the reference (full marks need at most"),
        (3.0, 0.5, ("grows",), "it becomes arbitrarily larger than the reference while changes (full marks"),
        (3.0, 1, ("grows",), "it becomes arbitrarily larger than the reference while changes"),
    ],
)
def test_excesses_in_words(
    excess: float | None, share: float, growth: tuple[str, ...], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer without full marks shows the condition for full marks."""
    monkeypatch.setattr(bound_question, "_describe_changes", lambda *_: "changes")
    found: Any = SimpleNamespace(excess=excess, share=share, growth=growth)
    said = bound_question._describe_looseness(found, {})
    assert said.startswith(words) or words in said
    assert ("full marks" in said) is (excess is None or share != 1)


def test_the_text_below_a_heading(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text ends at the next heading of any question, in any order; lines of the handout are left out."""
    monkeypatch.setattr(text_answers, "write_comment_heading", lambda question: f"# --- {question}")
    lines = ["# intro", "# --- b", "# first", "#  second", "given", "# --- a", "third", "", "# --- c", "fourth"]

    def below(question: str) -> str:
        return text_answers._find_text(
            question, ["a", "b", "c", "d"], lines, {"given", "# --- a", "# --- b", "# --- c"}
        )  # type: ignore[arg-type, list-item]

    assert below("b") == "first\n second"
    assert below("a") == "third"
    assert below("c") == "fourth"
    assert below("d") == ""


def test_points_at_which_formulas_are_compared() -> None:
    """Formulas are compared at consecutive whole numbers, then at the inverses of these."""
    points = list(expression_question._list_points([eta, tau]))
    assert points == [
        *({eta: sp.Integer(n), tau: sp.Integer(n + 1)} for n in (2, 3, 5)),
        *({eta: sp.Rational(1, n), tau: sp.Rational(1, n + 1)} for n in (2, 3, 5)),
    ]
    assert len(list(equality._list_points([eta]))) == equality._POINTS
    assert list(equality._list_points([eta, tau])) == list(equality._list_points([eta, tau]))


@pytest.mark.parametrize(
    ("answer", "values", "yours", "right"),
    [
        (eta + tau, "eta = 2, tau = 3", "5", "6"),
        (eta * tau + (eta - 2) * (eta - 3) * (eta - 5), "eta = 1/2, tau = 1/3", "-16.7083", "0.166667"),
        (sp.sqrt(-eta), "eta = 2, tau = 3", "no real number", "6"),
    ],
)
def test_the_first_point_at_which_a_formula_differs(answer: sp.Expr, values: str, yours: str, right: str) -> None:
    question: Any = SimpleNamespace(solution=eta * tau, names={"eta": eta, "tau": tau})
    said = expression_question._describe_difference(question, answer)
    assert f"for {values} your" in said
    assert f"your formula gives {yours}" in said
    assert f"it should be {right}" in said


def test_formulas_that_differ_where_the_solution_is_not_positive() -> None:
    """A negative point is shown if no other point differs, and no numbers are shown if no point differs."""
    question: Any = SimpleNamespace(solution=-eta, names={"eta": eta})
    assert "for eta = 2 your formula gives 1, and it should be -2" in expression_question._describe_difference(
        question, sp.S.One
    )
    assert "for some values" in expression_question._describe_difference(question, -eta)
    mixed: Any = SimpleNamespace(solution=4 - eta, names={"eta": eta})
    assert "for eta = 3 your" in expression_question._describe_difference(mixed, (4 - eta) * (3 - eta))


def test_the_larger_of_two_excesses(monkeypatch: pytest.MonkeyPatch) -> None:
    """The larger of two excesses counts, over values of symbols and over runs; unbounded growth is shown alone."""
    reference = Claim(id="t:reference", lhs=q.final_suboptimality, rhs=eta, where={eta: q.local_step_size})
    asked: list[Any] = []
    for over_values, over_runs, excess, growth in (
        (Looseness(2.0), 3.0, 3.0, ()),
        (Looseness(2.0), 1.0, 2.0, ()),
        (None, 1.5, 1.5, ()),
        (None, None, None, ()),
        (Looseness(2.0), None, 2.0, ()),
        (Looseness(9.0, ("eta",)), 3.0, 9.0, ("eta",)),  # type: ignore[arg-type]
    ):

        def measured(claim: Any, answer: Any, found: Any = over_values) -> Any:
            asked.append((claim, answer))
            return found

        def largest_ratio(against: Any, ratio: Any = over_runs) -> Any:
            asked.append(against)
            return ratio

        monkeypatch.setattr(bounds, "measure_looseness", measured)
        battery = SimpleNamespace(largest_ratio=largest_ratio)
        monkeypatch.setattr(bounds, "build_battery", lambda _, battery=battery: battery)
        asked.clear()
        loose = _measure_looseness(reference, 2 * eta)
        assert (loose.excess, tuple(loose.growth)) == (excess, growth)
        assert asked[0] == (reference, 2 * eta)
        for against in asked[1:]:
            (relation,) = against.relations
            assert (relation.left, relation.right, against.verdict) == (2 * eta, eta, None)


def test_violations_are_confirmed_from_the_lightest_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Violations are confirmed from the lightest on, up to a number; a run without an exact violation does not
    count.
    """
    tried: list[int] = []
    monkeypatch.setattr(counterexample, "estimate_exact_cost", lambda table: table)
    monkeypatch.setattr(counterexample, "halve_while_clear", lambda table, *_: table)
    monkeypatch.setattr(counterexample, "write_table", lambda table: table)
    monkeypatch.setattr(counterexample, "parse_run", lambda table, _: table)
    most = counterexample._CONFIRMED

    def confirmed(answers: dict[int, bool | None], violations: list[int]) -> Any:
        tried.clear()

        def checked(_: Any, table: Any) -> Any:
            tried.append(table)
            return SimpleNamespace(holds=answers.get(table, True))

        monkeypatch.setattr(counterexample, "check_rigorously", checked)
        return counterexample.confirm(None, violations)  # type: ignore[arg-type]

    assert confirmed({1: False, 2: False}, [2, 1]) == 1
    assert confirmed({1: None, 2: False}, [2, 1]) == 2
    assert confirmed({}, list(range(most + 5))) is None
    assert tried == list(range(most))
    assert confirmed({}, []) is None


def test_relations_are_written_where_all_symbols_are_quantities() -> None:
    """Quantities of runs in one relation have names; a symbol without a meaning, or for another one, has none."""
    where = {eta: q.local_step_size, tau: q.local_steps}
    plain: dict[str, Any] = {"id": "t:written", "lhs": q.final_suboptimality, "where": where}
    assert write_relation(Claim(rhs=2 * eta, **plain)) == "final_suboptimality <= 2*local_step_size"
    assert write_relation(Claim(rhs=sp.Abs(eta - tau), **plain)) == (
        "final_suboptimality <= abs(local_step_size - local_steps)"
    )
    assert write_relation(Claim(rhs=2 * eta, place="step", **plain)) is None
    assert write_relation(Claim(rhs=2 * eta + sp.Symbol("free"), **plain)) is None
    assert write_relation(Claim(rhs=sp.gamma(eta), **plain)) is None
    model = sp.Symbol("w", real=True)
    assert write_relation(Claim(rhs=model, **plain | {"where": {**where, model: q.server_model}})) is None


def test_errors_in_formulas_quote_what_stands_before() -> None:
    """The message quotes the characters before the error, and the token that was not expected."""
    tokens = [f"x{place}" for place in range(40)]
    for at, behind in ((0, "at the beginning"), (2, "behind `x0 x1`")):
        reader: Any = SimpleNamespace(_tokens=tokens, _at=at, _next=tokens[at])
        assert (
            str(_LatexReader._describe_unexpected(reader, "a sum"))
            == f"expected a sum, got x{at} in the formula, {behind}"
        )
    late: Any = SimpleNamespace(_tokens=tokens, _at=40, _next="")
    said = str(_LatexReader._describe_unexpected(late, "a sum"))
    read = said.split("`")[1]
    assert " ".join(tokens).endswith(read)
    assert 10 < len(read) < 60
    assert "got the end" in said


def test_steps_of_a_submission_are_announced_and_reported() -> None:
    """Each step is reported before and after its execution, unless it is skipped; an error affects its own step
    only.
    """
    reported: list[Any] = []

    def report(step: int, values: Any = None, error: str = "") -> None:
        reported.append((step, values, bool(error)))

    job = {"units": ["x = Fraction(1, 2)", "1 / 0", "y = 3"], "cases": {"x": None, "z": None}, "skipped": [2]}
    execute(job, report)  # type: ignore[arg-type]
    assert [step for step, *_ in reported] == [0, 0, 1, 1, 3, 3, 4, 4]
    assert [one for one in reported if one[1] is None] == [(step, None, False) for step in (0, 1, 3, 4)]
    ends = {step: (values, failed) for step, values, failed in reported if values is not None}
    assert ends[0] == ([], False)
    assert ends[1] == ([], True)
    assert not ends[3][1]
    assert "1/2" in "".join(map(str, ends[3][0])) or "1, 2" in "".join(map(str, ends[3][0]))


def test_records_are_written_in_full() -> None:
    """Records are written completely by partial writes, on a new line after a partial record."""
    taken: list[bytes] = []

    def write(descriptor: int, line: bytes) -> int:
        assert descriptor == 7
        taken.append(line[:3])
        return len(line[:3])

    reporter: Any = SimpleNamespace(_write=write, _dumps=json.dumps, _descriptor=7)
    Reporter.__call__(reporter, 4, ["a"], "late")
    text = b"".join(taken)
    assert text.startswith(b"\n")
    assert text.endswith(b"\n")
    assert json.loads(text) == [4, ["a"], "late"]

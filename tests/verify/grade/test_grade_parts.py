"""Parts of grading against values by hand: units, looseness, ladders, limits of answers."""

from __future__ import annotations

import math
from fractions import Fraction
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp
from claim_symbols import WHERE, D, L, M, T, eta, sigma
from flint import fmpq

from fedtheory.errors import InputError
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.exercises import CodeQuestion
from verify.grade import answer_dimensions, answer_limits, exercise_checks, looseness
from verify.grade import ladders as grade_ladders
from verify.grade.answer_dimensions import _find_exponent, _measure_size
from verify.grade.answer_limits import Guarded, Unreadable
from verify.grade.bound import BoundFinding
from verify.grade.counterexample import Counterexample
from verify.grade.equations import eliminate_equations
from verify.grade.folder import grade_folder
from verify.grade.looseness import Looseness, _find_simplest_unbounded, _Places, measure_looseness
from verify.grade.python_answer import read_python
from verify.grade.questions.bound import _describe_mistake, _format_number
from verify.grade.questions.code import _is_number
from verify.grade.questions.mark import GivenAnswer, mark_answer

x, y = sp.symbols("x y", positive=True)


def test_units_need_values_on_all_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Units are determined by finite non-zero values on all runs, for whole and half powers; a root halves them."""
    loss, length = answer_dimensions._LOSS, answer_dimensions._LENGTH
    monkeypatch.setattr(answer_dimensions, "_build_runs", lambda _: [0, 1, 2])

    def units(values: list[float], *, root: bool = False) -> Any:
        monkeypatch.setattr(answer_dimensions, "_measure_size", lambda _, run: values[run])
        given: Any = SimpleNamespace(root=root)
        return answer_dimensions._find_units_on(given, 0)

    assert units([3.0, 3.0 * loss, 3.0 * length**2]) == (1, 2)
    assert units([3.0, 3.0 * loss, 3.0 * length**2], root=True) == (Fraction(1, 2), 1)
    for place in range(3):
        for nothing in (0, math.inf, math.nan):
            values: list[float] = [3.0, 3.0 * loss, 3.0]
            values[place] = nothing
            assert units(values) is None
    assert units([3.0, 3.0 * loss**0.3, 3.0]) is None
    assert units([3.0, 3.0, 3.0 * length**0.3]) is None
    assert [_find_exponent(2.0**power, 2) for power in (0.5, -1.0, 0.3, 1 + 1e-8)] == [Fraction(1, 2), -1, None, 1]
    quantity: Any = SimpleNamespace(on=lambda _: [fmpq(-3), fmpq(2)])
    assert (_measure_size(quantity, None), _measure_size(quantity, SimpleNamespace())) == (0, 3.0)  # type: ignore[arg-type]
    nothing_there: Any = SimpleNamespace(on=lambda _: [])
    assert _measure_size(nothing_there, SimpleNamespace()) == 0  # type: ignore[arg-type]


def _claim(rhs: sp.Expr, *conditions: Any) -> Claim:
    return Claim(id="t:bound", lhs=q.final_distance_sq, rhs=rhs, where=WHERE, conditions=list(conditions))


def test_an_excess_over_all_values() -> None:
    """The excess is a constant factor, a factor that grows with a symbol, or a factor that a condition keeps small."""
    assert measure_looseness(_claim(eta * sigma**2), 3 * eta * sigma**2) == Looseness(pytest.approx(3.0))  # type: ignore[arg-type]
    grows = measure_looseness(_claim(eta / M), eta)
    assert grows == Looseness(math.inf, ((M, "grows"),))
    steps = measure_looseness(_claim(eta**2), eta)
    assert steps is not None
    assert steps.growth == ((eta, "falls"),)
    bounded = measure_looseness(_claim(L * D**2, eta * L <= 1), L * D**2 * (1 + eta * L))
    assert bounded is not None
    assert bounded.growth == ()
    assert bounded.excess == pytest.approx(1.25, abs=0.5)
    free = sp.Symbol("z")
    claim = Claim(id="t:z", lhs=q.final_distance_sq, rhs=free * eta, where={**WHERE, free: q.max_drift})
    assert measure_looseness(claim, eta) is None


def test_places_that_conditions_allow() -> None:
    """At an allowed place all conditions hold, and both sides are positive and finite."""
    claim = _claim(eta, T <= 2, M <= 2)
    place = _Places(claim, (M, T, eta), eta * T, eta)
    found = dict(place.excesses(256))
    assert {powers[:2] for powers in found} == {(0, 0)}
    assert set(found.values()) == {1.0}
    assert dict(_Places(claim, (M, T, eta), eta - 1, eta).excesses(256)) == {}
    assert dict(_Places(claim, (M, T, eta), eta, eta - 1).excesses(256)) == {}
    assert place.confirm((0, 0, 0), 256) == 1.0
    assert _Places(claim, (M, T, eta), eta, -eta).confirm((0, 0, 0), 256) is None
    assert _Places(claim, (M, T, eta), sp.sqrt(eta - 1), eta).confirm((0, 0, 0), 256) is None
    free = _Places(_claim(eta), (M, eta), sp.sqrt(M), sp.S.One)
    assert [free.is_unbounded(powers) for powers in ((1, 0), (0, 0))] == [True, False]
    assert not _Places(_claim(eta), (M, eta), M, 2 * M + 1).is_unbounded((1, 0))
    assert not _Places(_claim(eta), (M, eta), sp.log(M), sp.S.One).is_unbounded((1, 0))


def test_the_simplest_growth_is_shown() -> None:
    """The place with the fewest changes is shown among those with a growing excess."""
    place: Any = SimpleNamespace(effort=sum, is_unbounded=lambda powers: powers != (1, 0))
    near = {(1, 0): 1.0, (1, 1): 1.0, (2, 1): 1.0, (0, 0): 1.0}
    far = {(1, 0): 9.0, (1, 1): 1.51, (2, 1): 9.0, (0, 0): 1.5, (0, 1): 99.0}
    assert _find_simplest_unbounded(place, near, far) == (1, 1)
    assert _find_simplest_unbounded(place, near, {(0, 0): 1.5}) is None


def test_confirmed_excesses() -> None:
    """The confirmed excess is the largest on which floats and many digits agree, to a thousandth."""
    exact = {(0,): None, (1,): 7.0, (2,): 5.0, (3,): 4.0}
    place: Any = SimpleNamespace(confirm=lambda powers, _: exact[powers])
    assert looseness._confirm(place, {(0,): 9.0, (1,): 7.01, (2,): 5.004, (3,): 4.0}, 2) == 5.0
    assert looseness._confirm(place, {(1,): 6.99}, 2) == 0.0
    assert looseness._confirm(place, {}, 2) == 0.0


def test_equations_are_inserted() -> None:
    assert eliminate_equations([sp.Eq(x, 2 * y), x <= 3], (x * y,)) == ([2 * y <= 3], (2 * y**2,))
    assert eliminate_equations([sp.Ne(x, y), x <= 3], (x,)) == ([x <= 3], (x,))
    assert eliminate_equations([sp.Eq(x**2, 2)], (x,)) is None
    assert eliminate_equations([x <= 3, sp.Symbol("b", bool=True)], (x,)) is None
    assert eliminate_equations([sp.Symbol("b"), x <= 3], (x,)) is None
    assert eliminate_equations([sp.Eq(x, 1), x <= 3], (x,)) == ([], (1,))


def test_corners_of_causes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Corners have one cause, two causes, or all causes."""
    monkeypatch.setattr(grade_ladders, "remove_aspects", lambda _, names: tuple(names))

    def corners(*names: str) -> list[Any]:
        scalings = [SimpleNamespace(name=name) for name in (*names, "rounds")]
        monkeypatch.setattr(grade_ladders, "list_scalings", lambda _: scalings)
        return list(grade_ladders._list_corners({}))

    assert corners() == [((), ())]
    assert corners("noise") == [(("noise",), ())]
    assert corners("noise", "start") == [(("noise",), ("start",)), (("start",), ("noise",)), (("noise", "start"), ())]
    assert [kept for kept, _ in corners("noise", "start", "spread")] == [
        *(("noise",), ("start",), ("spread",)),
        *(("noise", "start"), ("noise", "spread"), ("start", "spread"), ("noise", "start", "spread")),
    ]


def test_settings_of_ladders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ladders have larger server step sizes where these are allowed, and momenta if a run has one."""
    plain = {"algorithm": {"local_step_size": fmpq(1)}, "problem": {}}
    momentum = {"algorithm": {"local_step_size": fmpq(1), "momentum": fmpq(1, 3)}, "problem": {}}
    for allowed, count in ((True, 2), (False, 1)):
        monkeypatch.setattr(grade_ladders, "is_allowed", lambda *_, allowed=allowed: allowed)
        found = list(grade_ladders._list_settings(_claim(eta), plain))
        assert [table["algorithm"].get("server_step_size") for table in found] == [None, 64][:count]
        momenta = [t["algorithm"]["momentum"] for t in grade_ladders._list_settings(_claim(eta), momentum)]
        assert momenta == [0, fmpq(9, 10), fmpq(31, 32)] * count


def test_runs_that_a_claim_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    for run, failures, conditions, allowed in (
        (1, [], True, True),
        (None, [], True, False),
        (1, ["x"], True, False),
        (1, [], False, False),
    ):
        for name, value in (
            ("read", run),
            ("list_failures_among", failures),
            ("check_conditions", conditions),
            ("premises", ()),
        ):
            monkeypatch.setattr(grade_ladders, name, lambda *_, value=value: value)
        assert grade_ladders.is_allowed(_claim(eta), {}) is allowed


def test_levels_that_can_be_computed() -> None:
    """Levels have at most 512 rounds unless rounds are doubled, and one local step if the base has one."""

    def levels(name: str, steps: int, clock: Any = None) -> list[Any]:
        algorithm = {"name": name, "local_steps": steps} | ({} if clock is None else {"clock": clock})
        return list(grade_ladders._list_levels({"algorithm": algorithm}, [(1, 4, 512, 1), (2, 8, 513, 3)]))

    assert levels("fedavg", 2) == [(1, 4, 512, 1), (2, 8, 513, 3)]
    assert levels("fedavg", 1) == [(1, 1, 512, 1), (2, 1, 513, 3)]
    assert levels("scaffold", 2) == levels("fedavg", 2, clock={}) == [(1, 4, 512, 1)]


def test_divisions_by_zero_are_reported() -> None:
    """Divisions by zero are reported, also by terms that cancel to zero; a power of zero needs a positive exponent."""
    build = Guarded({"x": x})
    assert build.quotient(x, y) == x / y
    for read in (
        lambda: build.quotient(x, sp.S.Zero),
        lambda: build.power(sp.S.Zero, sp.Integer(-1)),
        lambda: build.power(sp.S.Zero, sp.S.Zero),
        lambda: read_python("1/(2 - 2)", {}),
        lambda: build.apply("log", [sp.S.Zero]),
    ):
        with pytest.raises(Unreadable, match=r"divides by zero|logarithm of zero"):
            read()
    assert build.power(sp.S.Zero, sp.Integer(2)) == 0


def test_exponents_of_answers() -> None:
    """Exponents are short numbers or sums of symbols to the first power, and are not nested."""
    build = Guarded({"x": x, "y": y})
    largest = answer_limits._LARGEST_EXPONENT
    assert build.power(x, sp.Integer(largest)) == x**largest
    assert build.power(x, sp.Rational(1, largest)) == x ** sp.Rational(1, largest)
    assert build.power(sp.Integer(2), x - 1) == 2 ** (x - 1)
    refused = [
        (x, sp.Integer(largest + 1)),
        (x, sp.Rational(1, largest + 1)),
        (x, y**2),
        (x, x * y),
        (x, (largest + 1) * y),
        (x**y, y),
        (x**y * y**2, y),
        (sp.Integer(2) ** answer_limits._MOST_BITS, sp.Integer(1)),
    ]
    for base, exponent in refused:
        with pytest.raises(Unreadable):
            build.power(base, exponent)
    for function, count in (("sqrt", 0), ("sqrt", 2), ("Max", 1), ("Max", 7)):
        with pytest.raises(Unreadable, match="takes"):
            build.apply(function, [x] * count)
    assert build.apply("Max", [sp.Integer(n) for n in range(6)]) == 5
    assert build.number("0.25") == sp.Rational(1, 4)
    with pytest.raises(Unreadable, match="at most 15 digits"):
        build.number("1" * 16)


def test_numbers_of_functions() -> None:
    """Numbers of functions agree up to the rounding of floats, relative to the expected number."""
    cases = [
        ("0.5", "1/2", True),
        ("1/2", "1/2", True),
        ("0.5000000001", "1/2", False),
        ("0", "0", True),
        ("x", "1", False),
    ]
    cases += [("1e-20", "0", False), ("-0.5", "-1/2", True), ("0.5", "-1/2", False)]
    for text, value, right in cases:
        assert _is_number(text, value) is right


def test_functions_are_marked_case_by_case() -> None:
    """The first wrong case of a function is shown, and values that are not numbers are named."""
    question = CodeQuestion.__new__(CodeQuestion)
    for name, value in (("name", "f"), ("expected", ("1/2", "3")), ("tried", (("1",), ("2", "5")))):
        object.__setattr__(question, name, value)

    def marked(*outputs: str, trouble: str | None = None) -> tuple[Any, str]:
        given = GivenAnswer("", outputs, trouble)
        mark = mark_answer.dispatch(CodeQuestion)(question, given)
        return mark.share, mark.comment

    assert marked("1/2", "3") == (1, "correct on all cases")
    assert marked("1/2", "3.0")[1] == "correct on all cases"
    assert marked("0.4999999999999999", "3")[1] == "correct on all cases up to rounding: keep fractions exact"
    assert marked("1/2", "4") == (Fraction(1, 2), "correct on 1 of 2 cases; f(2, 5) should be 3, yours is 4")
    assert marked("1/2", "x")[1].endswith("f(2, 5) should be 3, your function returned x, which is no number")
    nothing = "your function returned nothing (None): is it still empty, or does it print in place of `return`?"
    assert marked("1/2", "")[1].endswith(f"f(2, 5) should be 3, {nothing}")
    assert marked("1/2", trouble="stopped") == (Fraction(1, 2), "correct on 1 of 2 cases; stopped")
    assert marked() == (0, "f is not defined")
    assert marked(trouble="broken") == (0, "broken")


def _finding(standing: Any, **given: Any) -> BoundFinding:
    usual: dict[str, Any] = {"answer": x, "reason": "why", "right_units": True, "excess": 1.0, **given}
    return BoundFinding(standing, **usual)


def test_mistakes_in_bounds_in_words() -> None:
    run = Counterexample("", "3/2", "1", (1.5, 1.0), "")
    refuted = _finding("refuted", counterexample=run)
    text = "violated on the run below: the true value is 3/2 (about 1.5), your bound gives 1"
    assert _describe_mistake(refuted, {}) == f"{text}; a quarter of the points is for the right units"
    wrong = _finding("refuted", counterexample=run, right_units=False)
    assert _describe_mistake(wrong, {}) == f"{text}; its terms do not all have the units of the left side"
    loose = _describe_mistake(_finding("not refuted", excess=math.inf, growth=((x, "grows"),)), {x: "K"})
    assert "it becomes arbitrarily larger than the reference while K grows (full marks need" in loose
    assert loose.startswith("not refuted, but loose: why (this is not a proof)")
    proved = _describe_mistake(_finding("proved", excess=1.0, tightness=0.5, follows_from=("a", "b")), {})
    assert proved == (
        "correct: it follows from a, b; it exceeds the reference nowhere that was tried; "
        "the left side reaches at most 50 % of it"
    )
    published = _describe_mistake(_finding("proved", excess=1.0, follows_from=("renard2022:thm-2.1", "square")), {})
    assert published.startswith("correct: it follows from renard2022:thm-2.1 (Theorem 2.1, (4)), square; ")
    assert [_format_number("1" * 25, 1.5), _format_number("1" * 24, 1.5), _format_number("2", 2.0)] == [
        *("about 1.5", "1" * 24 + " (about 1.5)", "2"),
    ]


def test_a_folder_is_graded_in_one_process_and_in_a_sandbox(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder is graded in one process unless more are requested, and in a sandbox if there is one."""
    folder = import_module("verify.grade.folder")
    asked: list[Any] = []
    for name, value in (("find_submissions", []), ("list_labels", []), ("read_entered", {}), ("write_all", [])):
        monkeypatch.setattr(folder, name, lambda *_, value=value: value)
    monkeypatch.setattr(folder, "find_launch", asked.append)
    monkeypatch.setattr(folder, "run_unordered", lambda _, __, jobs: asked.append(jobs) or [])
    grade_folder(tmp_path, tmp_path)
    grade_folder(tmp_path, tmp_path, jobs=3, unsafe=True)
    assert asked == [False, 1, True, 3]
    with pytest.raises(InputError, match="expected a number of processes"):
        grade_folder(tmp_path, tmp_path, jobs=0)
    with pytest.raises(InputError, match="expected the id of a copy"):
        grade_folder(tmp_path, tmp_path, copy="a b/c")


def test_an_exercise_whose_claim_no_run_satisfies(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exercise whose claim applies to no run is refused, as is a false one; a true one is accepted."""
    assignment: Any = SimpleNamespace(file="own.py")
    question: Any = SimpleNamespace(name="a", claim=_claim(eta))
    found = SimpleNamespace(lhs="2", rhs="1", size="a run")
    monkeypatch.setattr(exercise_checks, "shrink_counterexample", lambda *_: found)
    for count, violation, counterexample, message in (
        (0, None, None, "none of the small runs"),
        (1, {}, None, "the claim is false"),
        (1, None, SimpleNamespace(table={}), "the claim is false"),
        (1, None, None, None),
    ):
        runs = type("Runs", (list,), {"try_claim": lambda _, __, v=violation: SimpleNamespace(violation=v)})(
            [1] * count
        )
        monkeypatch.setattr(exercise_checks, "build_battery", lambda _, runs=runs: runs)
        monkeypatch.setattr(
            exercise_checks, "search_regimes", lambda *_, c=counterexample: SimpleNamespace(counterexample=c)
        )
        if message is None:
            exercise_checks._require_unrefuted(assignment, question, None)
            continue
        with pytest.raises(InputError, match=message):
            exercise_checks._require_unrefuted(assignment, question, None)


def test_answers_that_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search checks two thousand runs by default, and reports the largest ratio."""
    module = import_module("verify.grade.bound")
    asked: list[int] = []
    trial = SimpleNamespace(without_value=None, violation=None, largest_ratio=0.5, tried=7)
    monkeypatch.setattr(module, "build_battery", lambda _: SimpleNamespace(try_claim=lambda _: trial))
    monkeypatch.setattr(module, "_find_smaller_bound", lambda *_: None)
    monkeypatch.setattr(module, "find_premises", lambda _: None)
    monkeypatch.setattr(
        module,
        "_build_not_refuted",
        lambda standing, _claim, answer, reason, tightness: module.BoundFinding(
            standing, answer, reason, True, tightness=tightness
        ),
    )
    monkeypatch.setattr(module, "_find_shrinking", lambda *_: ())
    for ratio, expected in ((0.25, 0.5), (0.75, 0.75), (None, 0.5)):
        found = SimpleNamespace(counterexample=None, applicable=3, largest_ratio=ratio)
        monkeypatch.setattr(module, "search_regimes", lambda _, count, found=found: asked.append(count) or found)
        graded: Any = module.grade_bound(_claim(eta * sigma**2), 3 * eta * sigma**2)
        assert (graded.standing, graded.reason) == ("not refuted", "no violation in 10 test runs")
        assert graded.tightness == expected
    trial.largest_ratio = None  # type: ignore[assignment]
    assert module.grade_bound(_claim(eta * sigma**2), 3 * eta * sigma**2, 0.5).tightness is None
    assert asked == [2000, 2000, 2000, 500]

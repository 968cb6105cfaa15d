"""Kinds of generated runs, marks of answers and scalings of searches, step by step, against values by hand."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.errors import InputError
from verify.check import joint_checks
from verify.check.decision import FAILS, HOLDS
from verify.falsify import generation, run_tables, scalings
from verify.falsify.regimes import horizon
from verify.grade import folder
from verify.grade.answer_limits import Unreadable
from verify.grade.equality import _compare_units
from verify.grade.latex_answer import read_latex
from verify.grade.questions import code

x, y = sp.symbols("x y", positive=True)
shrink = import_module("verify.falsify.shrink")


def _draws(*numbers: int) -> Any:
    """Return a generator whose integers are given, each below its bound."""
    rest = iter(numbers)

    def draw(low: int, high: int | None = None) -> int:
        number = next(rest)
        assert (0 if high is None else low) <= number < (low if high is None else high)
        return number

    return SimpleNamespace(integers=draw)


def _kind(**changes: Any) -> Any:
    return SimpleNamespace(**{"clients": "one client", "many_steps": False, "noisy": False, **changes})


def _counts(monkeypatch: pytest.MonkeyPatch, **known: list[int]) -> None:
    """Let conditions allow some counts, by the names of quantities."""
    monkeypatch.setattr(generation, "list_allowed_counts", lambda _, quantity: known.get(quantity.name, []))


TABLE: Any = {
    "problem": {"hessians": [[[fmpq(2)]], [[fmpq(-4)]]], "linear": [[fmpq(1)], [fmpq(3)]], "start": [fmpq(1)]},
    "algorithm": {"rounds": 5, "local_steps": 1},
}


@pytest.mark.parametrize(
    ("asked", "given", "many", "draws", "expected"),
    [
        ([], 1, False, (), 1),
        ([], 7, True, (2,), 4),
        ([], [2, 3], True, (), [2, 3]),
        ([], [2, 3], False, (), None),
        ([1, 6, 8], [2, 3], True, (1,), 8),
        ([1, 6], 3, False, (), 1),
        ([6], 3, False, (), None),
    ],
)
def test_local_steps_of_a_kind(
    asked: list[int], given: Any, draws: Any, expected: Any, monkeypatch: pytest.MonkeyPatch, *, many: bool
) -> None:
    """Counts that conditions allow come first; different steps per client stay if the kind has several steps."""
    _counts(monkeypatch, local_steps=asked)
    table = {**TABLE, "algorithm": {"local_steps": given}}
    found = generation._set_local_steps(None, table, _kind(many_steps=many), _draws(*draws))  # type: ignore[arg-type]
    assert (None if found is None else found["algorithm"]["local_steps"]) == expected


@pytest.mark.parametrize(
    ("asked", "size", "clock", "draws", "rounds"),
    [([], 1, None, (), 5), ([], 4, None, (3,), 12), ([], 4, {"policy": "async"}, (), 5), ([2, 9], 4, None, (1,), 9)],
)
def test_rounds_of_a_kind(
    asked: list[int], size: int, clock: Any, draws: Any, monkeypatch: pytest.MonkeyPatch, *, rounds: int
) -> None:
    """Larger runs have one to three times more rounds, unless a condition or a clock decides."""
    _counts(monkeypatch, rounds=asked)
    table = {**TABLE, "algorithm": {"rounds": 5, **({} if clock is None else {"clock": clock})}}
    assert generation._set_rounds(None, table, size, _draws(*draws))["algorithm"]["rounds"] == rounds  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("clients", "draws", "curvatures"),
    [
        ("one client", (1,), [-4]),
        ("clients that are alike", (0,), [2, 2, 2]),
        ("pulls that differ", (1,), [-4, -4, -4]),
        ("curvatures that differ", (), [2, -4, 2]),
    ],
)
def test_clients_of_a_kind(clients: str, draws: Any, curvatures: list[int]) -> None:
    found = generation._set_clients(TABLE, _kind(clients=clients), 3, _draws(*draws))
    assert [hessian[0][0] for hessian in found["problem"]["hessians"]] == curvatures


def test_linear_terms_and_curvatures_of_a_kind() -> None:
    """Linear terms move by multiples of the largest curvature; curvatures are scaled if the kind requires it."""
    assert generation._find_curvature(TABLE) == 4
    assert generation._find_curvature({"problem": {"hessians": [[[fmpq(0)]]]}}) == 1
    pulls = generation._spread_linear_terms(TABLE, _kind(clients="pulls that differ"), _draws(1, 2))["problem"]
    assert pulls["linear"] == [[1 + 4], [3 - 4]]
    assert pulls["hessians"] == TABLE["problem"]["hessians"]
    several = _kind(clients="curvatures that differ")
    scaled = generation._spread_linear_terms(TABLE, several, _draws(0, 3, 2, 4))["problem"]
    assert scaled["linear"] == [[1], [3 + 8]]
    assert scaled["hessians"] == [[[1]], [[-8]]]
    assert generation._spread_linear_terms({"problem": {}}, several, _draws()) == {"problem": {}}


def test_a_table_is_changed_to_a_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps, rounds and clients are set in turn; noise is in units of the squared curvature."""
    _counts(monkeypatch)
    one = generation._change_to_kind(None, TABLE, _kind(noisy=True), 1, _draws(1, 2))  # type: ignore[arg-type]
    assert one is not None
    assert (len(one["problem"]["hessians"]), one["problem"]["noise"]) == (1, [4 * 16])
    kind = _kind(clients="clients that are alike", many_steps=True)
    many = generation._change_to_kind(None, TABLE, kind, 2, _draws(1, 1, 1, 0))  # type: ignore[arg-type]
    assert many is not None
    # Three local steps, 1 * 2 rounds, and 3 * 2 clients like the first.
    assert many["algorithm"] == {"local_steps": 3, "rounds": 2}
    assert many["problem"]["hessians"] == [[[2]]] * 6
    assert many["problem"].get("noise") is None
    _counts(monkeypatch, clients=[1])
    assert generation._change_to_kind(None, TABLE, kind, 1, _draws(0)) is None  # type: ignore[arg-type]
    _counts(monkeypatch, clients=[4], rounds=[7])
    asked = generation._change_to_kind(None, TABLE, kind, 9, _draws(0, 1))  # type: ignore[arg-type]
    assert asked is not None
    assert (len(asked["problem"]["hessians"]), asked["algorithm"]) == (4, {"local_steps": 2, "rounds": 7})


@pytest.mark.parametrize(("extra", "small"), [(0, True), (1, False)])
def test_small_bases(extra: int, monkeypatch: pytest.MonkeyPatch, *, small: bool) -> None:
    """Clients times the most local steps times rounds."""
    monkeypatch.setattr(generation, "_MOST_STEPS", 2 * 3 * 5)
    for steps in (3, [1, 3]):
        table = {**TABLE, "algorithm": {"local_steps": steps, "rounds": 5 + extra}}
        assert generation._is_small(table) is small
    plain = {**TABLE, "algorithm": {"local_steps": 15 + extra}}
    assert generation._is_small(plain) is small


def test_aspects_that_are_scaled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts of steps are not turned; aspects apart from noise may vanish."""
    names = {"local steps": False, "noise": True, "start": True, "unit": False}
    listed = [SimpleNamespace(name=name, may_vanish=vanishes) for name, vanishes in names.items()]
    monkeypatch.setattr(generation, "list_scalings", lambda _: listed)
    monkeypatch.setattr(generation, "apply_scaling", lambda _, scaling, factor: (scaling.name, factor))
    last = len(generation._FACTORS)
    assert generation._scale_one_aspect({}, _draws(1, last)) == ("start", 0)
    for place, name in ((0, "noise"), (2, "unit")):
        with pytest.raises(AssertionError):
            generation._scale_one_aspect({}, _draws(place, last))
        assert generation._scale_one_aspect({}, _draws(place, last - 1)) == (name, 2)


@dataclass(frozen=True)
class _Member:
    """A member of a family."""

    number: int

    def run(self) -> int:
        """Return its number for a run."""
        return self.number


def test_bases_of_generated_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small members to which the claim applies come first; others fill up only if these are few."""
    members = [_Member(number) for number in range(40)]
    plain, rounded = ({"in_floats": in_floats, "instances": members} for in_floats in (False, True))
    monkeypatch.setattr(generation, "FAMILIES", {"a": SimpleNamespace(**plain), "b": SimpleNamespace(**rounded)})
    monkeypatch.setattr(generation, "families_for", lambda _: ["a", "b"])
    monkeypatch.setattr(generation, "make_working_table", lambda number: {"number": number})
    monkeypatch.setattr(generation, "_is_small", lambda table: table["number"] % 2 == 0)
    monkeypatch.setattr(generation, "_BASES", 8)
    monkeypatch.setattr(generation, "Bases", lambda *parts: parts)

    def bases(applies: Any) -> list[list[int]]:
        found: Any = generation.select_bases(None, lambda one: applies(one.number))  # type: ignore[arg-type, attr-defined]
        return [[table["number"] for table in part] for part in found]

    (whole, others) = bases(lambda _: True)
    assert others == []
    assert 0 < len(whole) <= 8
    assert all(number % 2 == 0 for number in whole)
    chosen, left = bases(lambda number: number in whole[:2])
    assert (chosen, left[: len(whole) - 2]) == (whole[:2], whole[2:])
    assert len({*chosen, *left}) == len(chosen) + len(left) <= 16
    (few,) = bases(lambda number: number == whole[1])
    assert few == [whole[1], whole[0], *whole[2:]]


# Scalings and horizons.


def test_units_of_data() -> None:
    """Inputs times f leave all errors if models and step sizes shrink; outputs scale the models."""
    problem = {"inputs": [[[fmpq(2)]]], "outputs": [[fmpq(3)]], "start": [fmpq(8)]}
    table: Any = {"problem": problem, "algorithm": {"local_step_size": fmpq(16)}}
    found = scalings._change_unit("inputs", table, fmpq(2))
    assert found["problem"] == {"inputs": [[[4]]], "outputs": [[3]], "start": [4]}
    assert found["algorithm"]["local_step_size"] == 4
    scaled = scalings._change_unit("outputs", table, fmpq(2))
    assert scaled["problem"] == {"inputs": [[[2]]], "outputs": [[6]], "start": [16]}
    assert scaled["algorithm"]["local_step_size"] == 16


def test_scaled_counts() -> None:
    """Counts are rounded to the nearest one, at least one, and grow by at most a factor of four."""
    assert [scalings._scale_count(count, fmpq(1, 2)) for count in (1, 2, 3, 5)] == [1, 1, 2, 3]
    assert scalings._scale_count(3, fmpq(100)) == 12
    table: Any = {"algorithm": {"local_steps": [1, 4], "rounds": 3}}
    assert scalings._scale_local_steps(table, fmpq(2))["algorithm"] == {"local_steps": [2, 8], "rounds": 3}
    assert scalings._scale_local_steps({"algorithm": {}}, fmpq(3))["algorithm"] == {"local_steps": 3}
    assert scalings._scale_rounds(table, fmpq(1, 3))["algorithm"]["rounds"] == 1


@pytest.mark.parametrize(
    ("unit", "point", "rounds"),
    [
        ("T", {}, 8.0),
        ("L", {}, 64.0),
        ("mu", {}, 256.0),
        ("mu", {"conditioning": None}, 64.0),
        ("mu", {"curvatures": "alike"}, 64.0),
        ("mu", {"curvatures": "rank one", "angle": -1}, 256.0),
        ("L", {"server step size": 1}, 32.0),
        ("L", {"server step size": "M"}, 16.0),
    ],
)
def test_rounds_by_distances_travelled(unit: str, point: Any, rounds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """8 / (eta K L) rounds at eta = 1/16 and K = 2, or with mu = 1/4 for L; faster with larger server steps."""
    monkeypatch.setattr(horizon, "count_clients", lambda _: 4)
    given = {"horizon": (unit, 3), "conditioning": -2, "curvatures": "alternate", **point}
    assert horizon._choose_rounds(given, fmpq(1, 16), 2) == rounds


def test_names_of_aggregation_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights by times, or equal ones, have names that stay right; others have none."""
    times: list[Any] = [fmpq(1, 2), fmpq(2)]

    def weights(_clock: Any, _weights: Any) -> Any:
        if not times:
            raise InputError("clock", "no closed form")
        return times

    monkeypatch.setattr(run_tables, "compute_time_based_weights", weights)

    def name(chosen: Any) -> Any:
        algorithm = SimpleNamespace(aggregation=SimpleNamespace(chosen=chosen), clock=None)
        run: Any = SimpleNamespace(algorithm=algorithm, problem=SimpleNamespace(weights=None))
        return run_tables._name_aggregation(run).get("algorithm.aggregation")

    assert name(None) is None
    assert name((fmpq(1, 2), fmpq(2))) == "time-based"
    assert name((fmpq(1), fmpq(1))) == "identical"
    assert name((fmpq(1), fmpq(2))) is None
    times.clear()
    assert name((fmpq(1), fmpq(1))) == "identical"


def test_a_run_without_a_burden_is_not_shrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shrink, "parse_run", lambda table, arithmetic: (table, arithmetic))
    monkeypatch.setattr(shrink, "make_working_table", lambda run: ("working", *run))
    known: dict[str, Any] = {"burden": None}
    asked: list[Any] = []
    monkeypatch.setattr(shrink, "_measure_effort", lambda *given: asked.append(given) or known["burden"])
    monkeypatch.setattr(shrink, "_limit_time", lambda *_: "ticks")
    monkeypatch.setattr(shrink, "_Shrinking", lambda *given: SimpleNamespace(shrink=lambda: given))
    monkeypatch.setattr(shrink, "write_table", lambda table: ("written", table))
    smallest: Any = shrink._shrink
    assert smallest("claim", "table", 1.0, "keeps", None) == "table"
    known["burden"] = (1,)
    start = ("working", "table", RATIONAL)
    assert smallest("claim", "table", 1.0, "keeps", None) == ("written", ("claim", start, (1,), "keeps", "ticks"))
    assert asked == [("claim", start, "keeps")] * 2


# Checks of many runs.


def test_runs_on_which_a_condition_fails() -> None:
    """The condition that fails is named; undecided runs have no result, and the others are left to be compared."""
    undecided = (FAILS + HOLDS) / 2 if FAILS + HOLDS else 0
    decided = np.array([[HOLDS, FAILS, HOLDS, undecided], [HOLDS, HOLDS, FAILS, HOLDS]])
    claim: Any = SimpleNamespace(run_conditions=("first", "second"), in_words=lambda condition: f"the {condition} one")
    given: Any = SimpleNamespace(_whole=SimpleNamespace(decide_conditions=lambda _claim, _rows: decided))
    found = joint_checks.RunsTogether._check_conditions(given, claim, [(4, 5, 6, 7)], (4, 5, 6, 7, 8))
    assert set(found) == {5, 6, 7, 8}
    assert [found[5].excluded, found[6].excluded] == ["the first one", "the second one"]  # type: ignore[union-attr]
    assert (found[7], found[8]) == (None, None)
    assert found[5].applicable is False  # type: ignore[union-attr]


# Marks.


@pytest.mark.parametrize(
    ("outputs", "share", "words"),
    [
        (("1", "3/2"), 1, "correct on all cases"),
        (("1", "1.5000000000001"), 1, "correct on all cases up to rounding: keep fractions exact"),
        (("1", "1.50001"), Fraction(1, 2), "correct on 1 of 2 cases; f(2, 3) should be 3/2, yours is 1.50001"),
        (("1", ""), Fraction(1, 2), "correct on 1 of 2 cases; f(2, 3) should be 3/2, your function returned nothing"),
        (("no", "3/2"), Fraction(1, 2), "correct on 1 of 2 cases; f(1) should be 1, your function returned no, which"),
        (("1",), Fraction(1, 2), "correct on 1 of 2 cases; it stopped"),
        ((), 0, "it stopped"),
    ],
)
def test_marks_of_functions(outputs: Any, share: Any, words: str) -> None:
    question: Any = SimpleNamespace(name="f", tried=(("1",), ("2", "3")), expected=("1", "3/2"))
    given: Any = SimpleNamespace(outputs=outputs, trouble="it stopped")
    found = code._mark(question, given)
    assert found.share == share
    assert found.comment.startswith(words)
    if share == 1:
        assert found.comment == words


def test_a_function_that_is_missing() -> None:
    question: Any = SimpleNamespace(name="f", tried=(("1",),), expected=("0",))
    given: Any = SimpleNamespace(outputs=(), trouble="")
    assert code._mark(question, given).comment == "f is not defined"
    assert code._is_number("0", "0")
    assert not code._is_number("1/1000000000000000", "0")


@pytest.mark.parametrize(
    ("answer", "alike"),
    [(2 * x / y, True), (x / y + 1, False), (x * y, False), (sp.S.Zero, False), (sp.log(-x), None)],
)
def test_units_of_answers_at_other_scales(answer: Any, *, alike: bool | None) -> None:
    """x has the units of a loss and y those of a length; the reference is x / y."""
    units = {x: (Fraction(1), Fraction(0)), y: (Fraction(0), Fraction(1))}
    point = {x: sp.Integer(2), y: sp.Integer(7)}
    found = [_compare_units(answer, x / y, units, point, scales) for scales in ((3, 1), (1, 5))]  # type: ignore[arg-type]
    assert (None if None in found else all(found)) is alike


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\left|x - 2\right|", sp.Abs(x - 2)),
        (r"|x - 2| + 1", sp.Abs(x - 2) + 1),
        (r"\lfloor x \rfloor", sp.floor(x)),
        (r"\lceil x \rceil", sp.ceiling(x)),
        (r"2 (x + 1)", 2 * x + 2),
        (r"\sqrt[3]{x}", sp.cbrt(x)),
        (r"\sqrt{x}", sp.sqrt(x)),
    ],
)
def test_brackets_in_latex(text: str, expected: Any) -> None:
    assert sp.simplify(read_latex(text, {"x": x}) - expected) == 0


def test_bars_inside_of_bars() -> None:
    """A bar that opens where one is open could close it, and is not read."""
    assert read_latex(r"2\lvert x - 2\rvert", {"x": x}) == 2 * sp.Abs(x - 2)
    for text in (r"|x \lvert y \rvert|", r"|x |y||"):
        with pytest.raises(Unreadable):
            read_latex(text, {"x": x, "y": y})


def test_files_that_are_graded_and_that_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without a header or with an unknown assignment is not graded; an error leaves all answers to a person."""
    known: dict[str, Any] = {}
    question = SimpleNamespace(name="a", title="A", points=3)
    assignment = SimpleNamespace(
        id="mine", title="Mine", copy=lambda name: SimpleNamespace(questions=[question], of=name)
    )

    def find(name: str) -> Any:
        if name == "unknown":
            raise InputError("assignment", "there is none")
        return assignment

    def mark(*given: Any) -> Any:
        known["given"] = given
        if "error" in known:
            raise known["error"]
        return "marked"

    for name, stand_in in (("find_assignment", find), ("assignment_with_id", find), ("mark_submission", mark)):
        monkeypatch.setattr(folder, name, stand_in)

    def grade(given: str | None, own: str | None, trouble: str | None = None) -> Any:
        submission = SimpleNamespace(assignment=own, trouble=trouble)
        handed_in = SimpleNamespace(submission=submission, student="ada")
        return folder._grade(SimpleNamespace(given=given, handed_in=handed_in, copy="c", launch="l"))  # type: ignore[arg-type]

    nothing = grade(None, None)
    assert (nothing.student, nothing.rows, nothing.troubles) == ("ada", (), (folder._NO_HEADER,))
    assert grade(None, None, "it is empty").troubles == ("it is empty",)
    for given, own in ((None, "unknown"), ("unknown", "mine"), ("unknown", None)):
        refused = grade(given, own)
        assert (refused.assignment, refused.rows) == ("unknown", ())
        assert refused.troubles[0].startswith("not graded: ")
    assert grade(None, "mine") == "marked"
    assert grade("mine", "unknown") == "marked"
    assert (known["given"][0], known["given"][1].of, known["given"][3]) == (assignment, "c", "l")
    known["error"] = ZeroDivisionError("x")
    failed = grade("mine", None)
    assert (failed.assignment, failed.title, failed.troubles) == (
        "mine",
        "Mine",
        ("marking failed: ZeroDivisionError",),
    )
    (row,) = failed.rows
    assert (row.name, row.title, row.points, row.of) == ("a", "A", None, 3)

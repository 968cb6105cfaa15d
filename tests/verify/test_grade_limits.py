"""Limits and choices of the grader: the last thing that is read, counted or kept, and the first that is not."""

from __future__ import annotations

import math
import subprocess
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp

from fedtheory import quantities as q
from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.errors import InputError
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.runfile import parse_run
from verify.check.together import CheckResult
from verify.falsify.tables import working_table
from verify.grade.battery import Battery, _quota
from verify.grade.bound import _is_at_least, _is_proved, _proved_bounds
from verify.grade.confinement import Limits
from verify.grade.counterexample import _size_of, work_of
from verify.grade.dimensions import _exponent
from verify.grade.given_points import (
    EnteredPoints,
    matched,
    parted,
    plain,
    points_of,
    read_given,
    with_given,
    write_to_read,
)
from verify.grade.guarded import Guarded, Unreadable
from verify.grade.handed_in import HandedIn, _distinguish_students, labels
from verify.grade.ladders import _corners, _evaluate_rung, _rungs
from verify.grade.literals import bound_names, literal_answers
from verify.grade.looseness import _common_denominator, _Range, measure_looseness
from verify.grade.marking import AnswerRow, Result, result_of
from verify.grade.roster import read_roster
from verify.grade.same import are_equal, has_units_of
from verify.grade.sandbox import _run
from verify.grade.submission import Submission, read_submission

x, y = sp.symbols("x y", positive=True)
eta, tau, L, sigma, M, T, D = sp.symbols("eta tau L sigma M T D", positive=True)


def _power(base: Any, exponent: Any) -> Any:
    return Guarded({"x": x, "y": y}).power(sp.sympify(base), sp.sympify(exponent))


@pytest.mark.parametrize(
    ("base", "inside", "outside"),
    [
        (x, 16, 17),
        (x, -16, -17),
        (x, sp.Rational(1, 16), sp.Rational(1, 17)),
        (x**16, 4, 5),
        (sp.Integer(2**255), 15, 16),
        (y, x - 16, x - 17),
        (y, x, x * y),
        (y, 2 * x + y, x**2),
        (y + 1, x, sp.sqrt(x)),
    ],
    ids=str,
)
def test_powers_of_answers(base: Any, inside: Any, outside: Any) -> None:
    """Exponents to 16, powers of powers to 64, numbers of 4096 bits; symbols in exponents stand there alone."""
    assert _power(base, inside) == base**inside
    with pytest.raises(Unreadable):
        _power(base, outside)


def test_powers_of_zero_and_of_powers_with_symbols() -> None:
    assert _power(0, 2) == 0
    for exponent in (0, -1):
        with pytest.raises(Unreadable, match="divides by zero"):
            _power(0, exponent)
    with pytest.raises(Unreadable, match="inside another one"):
        _power(y**x + 1, x)


def test_depth_and_length_of_answers() -> None:
    deep, long = Guarded({}), Guarded({})
    for _ in range(40):
        deep.enter()
    with pytest.raises(Unreadable, match="nested more than 40"):
        deep.enter()
    for _ in range(400):
        long.enter()
        long.leave()
    with pytest.raises(Unreadable, match="more than 400 parts"):
        long.enter()


def test_numbers_and_functions_of_answers() -> None:
    guarded = Guarded({"e": x})
    assert guarded.number("1.25e-2") == sp.Rational(1, 80)
    assert guarded.number("1" * 15) == 111_111_111_111_111
    for text in ("1" * 16, "1e100", "0x10", ""):
        with pytest.raises(Unreadable, match="at most 15 digits"):
            guarded.number(text)
    assert (guarded.name("e"), guarded.name("pi")) == (x, sp.pi)
    assert guarded.apply("Max", [x, y, x + y]) == sp.Max(x, y, x + y)
    for arguments in ([x], [x] * 7):
        with pytest.raises(Unreadable, match="takes 2 arguments"):
            guarded.apply("Max", arguments)
    with pytest.raises(Unreadable, match="takes 1 argument, got 2"):
        guarded.apply("sqrt", [x, y])
    with pytest.raises(Unreadable, match="logarithm of zero"):
        guarded.apply("log", [sp.S.Zero])
    with pytest.raises(Unreadable, match="inside an exponential"):
        guarded.apply("exp", [sp.exp(x)])


@pytest.mark.parametrize(("text", "points"), [("0", 0.0), (" 2,5 ", 2.5), ("1e1", 10.0)])
def test_points_that_a_person_enters(text: str, points: float) -> None:
    assert points_of(text) == points


@pytest.mark.parametrize("text", ["-1", "-0.5", "inf", "nan", "two", ""])
def test_what_is_no_number_of_points(text: str) -> None:
    with pytest.raises(InputError, match="expected a number, zero or more"):
        points_of(text)


def _row(name: str, points: float | None, of: int = 4) -> AnswerRow:
    return AnswerRow(name, name.title(), points, of, "read")


ROWS = (_row("first", 3.0), _row("second", None), _row("third", None, 5))
RESULTS = [
    Result("ann", "a1", ROWS, ()),
    Result("ann", "a2", (_row("first", None),), ()),
    Result("bob", "a1", ROWS, ()),
]


def test_points_that_are_certain_and_those_to_come() -> None:
    assert (RESULTS[0].points, RESULTS[0].of, RESULTS[0].pending) == (3.0, 13, 9)
    assert result_of(RESULTS[0].document()) == RESULTS[0]


def test_entered_points_find_their_answer() -> None:
    """As many points as there are count, more do not; a name in two assignments needs the assignment."""
    most = EnteredPoints("bob", "second", 4.0)
    assert matched([most], RESULTS) == {("bob", "a1", "second"): most}
    in_second = EnteredPoints("ann", "first", 1.0, assignment="a2")
    assert list(matched([in_second], RESULTS)) == [("ann", "a2", "first")]
    for entry, message in (
        (EnteredPoints("bob", "second", 4.5), "expected at most 4"),
        (EnteredPoints("ann", "first", 1.0), "a1, a2: say which"),
        (EnteredPoints("eve", "first", 1.0), "expected one of ann, bob"),
        (EnteredPoints("bob", "fourth", 1.0), "expected one of first, second, third"),
    ):
        with pytest.raises(InputError, match=message):
            matched([entry], RESULTS)
    known, others = parted([most, EnteredPoints("eve", "first", 1.0)], RESULTS)
    assert (list(known), [entry.student for entry in others]) == ([("bob", "a1", "second")], ["eve"])
    changed = with_given(RESULTS[2], {("bob", "a1", "second"): most})
    assert [row.points for row in changed.rows] == [3.0, 4.0, None]


def test_a_table_of_points_with_semicolons(tmp_path: Path) -> None:
    """Lines without points are skipped; a formula that was made plain is read back."""
    file = tmp_path / "points.csv"
    file.write_text("student;question;points;note\nann;first;2,5;'=well, done\nbob;first; ;\n")
    (entry,) = read_given(file)
    assert (entry.student, entry.points, entry.note) == ("ann", 2.5, "=well, done")
    assert plain("=1+1") == "'=1+1"
    assert plain("1+1") == "1+1"
    assert plain(3) == 3


def test_answers_of_any_length_can_be_read_again(tmp_path: Path) -> None:
    """The csv module reads no more than 131,072 characters of a cell, and a spreadsheet 32,767."""
    row = replace(_row("second", None), answer="n" * 200_000)
    result, file = Result("ann", "a1", (row,), ()), tmp_path / "to_read.csv"
    entry = EnteredPoints("ann", "second", 2.0)
    write_to_read([result], {("ann", "a1", "second"): entry}, [], file)
    (found,) = read_given(file)
    assert (found.student, found.question, found.points) == ("ann", "second", 2.0)
    assert len(file.read_text()) < 32_767


@pytest.mark.parametrize("head", ["", "student,question,points\n"], ids=["head", "row"])
def test_a_cell_that_is_too_long_is_one_line_of_trouble(head: str, tmp_path: Path) -> None:
    file = tmp_path / "points.csv"
    file.write_text(f"{head}ann,second,2,{'n' * 200_000}\n")
    for read, key in ((read_given, "--from"), (read_roster, "--students")):
        with pytest.raises(InputError, match=f"{key}: cannot read"):
            read(file)


def _handed_in(student: str, file: str, called: str, assignment: str | None = "a1") -> HandedIn:
    return HandedIn(Path(file), student, file, called, Submission(called, assignment, ()))


def test_a_copy_of_several_files_stays_with_its_name() -> None:
    """The others go by their own names, or by their files where those are taken."""
    files = [_handed_in("ann", "x/one.py", "x"), _handed_in("ann", "ann.py", "ann"), _handed_in("ann", "x/two.py", "x")]
    assert [file.student for file in _distinguish_students(files)] == ["x/one.py", "ann", "x/two.py"]
    two = [_handed_in("ann", "one.py", "one"), _handed_in("ann", "ann.py", "ann")]
    assert [file.student for file in _distinguish_students(two)] == ["one", "ann"]
    without = [_handed_in("ann", "one.py", "one"), _handed_in("ann", "two.py", "two")]
    assert [file.student for file in _distinguish_students(without)] == ["ann", "two"]
    apart = [_handed_in("ann", "one.py", "one"), _handed_in("ann", "two.py", "two", "a2")]
    assert [file.student for file in _distinguish_students(apart)] == ["ann", "ann"]


def test_labels_of_results() -> None:
    """The student, or the path where that names two; a hundred characters; a number where two are alike."""
    files = [_handed_in("ann", "x/one.py", "x"), _handed_in("ann", "x-one.py", "x"), _handed_in("b:c", "c.py", "c")]
    assert labels(files) == ["x-one.py", "x-one.py-1", "b_c"]
    assert labels([_handed_in("a" * 101, "a.py", "a")]) == ["a" * 100]


def test_the_longest_code_that_is_read(tmp_path: Path) -> None:
    """200,000 characters are, one more is not; nor are more than five megabytes."""
    file = tmp_path / "ann.py"
    for count, is_read in ((200_000, True), (200_001, False)):
        file.write_text("#" * count)
        assert (read_submission(file, "ann").trouble is None) is is_read
    file.write_bytes(b"\n" * 5_000_001)
    assert "larger than 5 MB" in str(read_submission(file, "ann").trouble)


def test_headers_of_submissions(tmp_path: Path) -> None:
    file = tmp_path / "ann.py"
    for text, expected in (
        ("# fedtheory assignment: a1 (copy of bob)\nx = 1\n", ("a1", "bob")),
        ("x = 1\n# fedtheory assignment: a1\n", ("a1", None)),
        ("# fedtheory assignment: a1 (copy of b/b)\n", ("a1", None)),
        ("x = 1\n", (None, None)),
    ):
        file.write_text(text)
        found = read_submission(file, "ann")
        assert (found.assignment, found.copy_of) == expected


def test_literals_of_code() -> None:
    """The last value of a name counts, unless anything else may give it one."""
    assert literal_answers(["a = 1", "a = 2", "b = '3'"]) == {"a": "2", "b": "3"}
    assert literal_answers(["a = 1", "a = f()"]) == {}
    assert literal_answers(["a = b = 1.5", "c = True", "def d(): pass", "e = None"]) == {"a": "1.5", "b": "1.5"}
    assert literal_answers(["a = 1", "from x import a"]) == {}
    assert bound_names(["import a.b as c, d.e", "for f in g: h = 1", "no code ("]) == {"c", "d", "f", "h"}


def test_a_roster_with_and_without_a_head(tmp_path: Path) -> None:
    file = tmp_path / "students.csv"
    for text in ("ann\nbob\n", "Name,Student\nA,ann\n\nB,bob\n", "login\nann\nbob\n"):
        file.write_text(text)
        assert read_roster(file) == ["ann", "bob"]
    file.write_text("student\nann\nbob\nann\n")
    with pytest.raises(InputError, match="line 4: --students: 'ann' is in line 2 already"):
        read_roster(file)


@pytest.mark.parametrize(("ratio", "exponent"), [(9.0, 2), (1 / 3, -1), (math.sqrt(3), Fraction(1, 2)), (1.0, 0)])
def test_exponents_of_units(ratio: float, exponent: Fraction | int) -> None:
    assert _exponent(ratio, 3) == exponent
    assert _exponent(ratio * 1.01, 3) is None


def test_unknown_units_are_no_wrong_units() -> None:
    claim = Claim(id="mine:units", lhs=D, rhs=eta * sigma, where={eta: q.local_step_size, sigma: q.noise_deviation})
    assert has_units_of(2 * eta * sigma, eta * sigma, claim) is True
    assert has_units_of(eta * sigma**2, eta * sigma, claim) is False
    assert has_units_of(x, eta * sigma, claim) is None
    assert has_units_of(sp.S.Zero, eta * sigma, claim) is False


def test_numbers_without_a_value_are_equal_to_none() -> None:
    assert are_equal(x + y, y + x)
    assert not are_equal(sp.sqrt(-x), x)
    assert not are_equal(sp.log(-x), x)


TABLE: dict[str, Any] = {
    "problem": {
        "kind": "quadratic",
        "hessians": [[["2"]], [["1"]]],
        "linear": [["1"], ["-1"]],
        "start": ["3"],
        "noise": "1",
    },
    "algorithm": {"name": "fedavg", "local_step_size": "1/8", "local_steps": 2, "rounds": 3},
}


def _algorithm(**changes: Any) -> dict[str, Any]:
    return {**TABLE, "algorithm": TABLE["algorithm"] | changes}


def _table(table: dict[str, Any]) -> dict[str, Any]:
    """The table of a run as a search has it, in rationals."""
    return working_table(parse_run(table, RATIONAL))


def test_rungs_of_a_ladder() -> None:
    """Doubling reaches any number of rounds; other algorithms have 512 of them, and single steps stay single."""
    rungs = ((1, 4, 512, 1), (2, 8, 513, 16))
    assert list(_rungs(TABLE, rungs)) == list(rungs)
    assert list(_rungs(_algorithm(name="scaffold"), rungs)) == [rungs[0]]
    clock = {"policy": "async", "times": ["1", "2"]}
    assert list(_rungs(_algorithm(clock=clock), rungs)) == [rungs[0]]
    assert list(_rungs(_algorithm(local_steps=1), rungs)) == [(1, 1, 512, 1), (2, 1, 513, 16)]


def test_a_rung_of_a_ladder() -> None:
    """Three times the clients, eight steps, five rounds, a fourth of the step size; own counts of steps stay."""
    found = _evaluate_rung(_table(TABLE), 3, 8, 5, 4)
    assert len(found["problem"]["hessians"]) == 6
    assert [found["algorithm"][key] for key in ("local_steps", "rounds")] == [8, 5]
    assert Fraction(str(found["algorithm"]["local_step_size"])) == Fraction(1, 32)
    own = _evaluate_rung(_table(_algorithm(local_steps=[1, 2])), 1, 8, 5, 4)
    assert own["algorithm"]["local_steps"] == [1, 2]


def test_corners_of_causes() -> None:
    """Each cause alone, each pair, and all of them."""
    kept = [causes for causes, _ in _corners(_table(TABLE))]
    present = max(kept, key=len)
    assert set(present) <= {"noise", "start", "spread", "residuals"}
    assert len(present) >= 3
    count = len(present)
    assert [len(causes) for causes in kept] == [1] * count + [2] * math.comb(count, 2) + [count]
    quiet = next(table for causes, table in _corners(_table(TABLE)) if causes == ("start",))
    assert quiet["problem"]["noise"] == [0, 0]


def test_a_quota_of_each_kind() -> None:
    """In their order, at most so many; runs of one round and of several are of two kinds."""
    runs = [parse_run(_algorithm(rounds=rounds), RATIONAL) for rounds in (2, 3, 1, 4, 5, 1)]
    assert list(_quota(runs, 2)) == [runs[0], runs[1], runs[2], runs[5]]


def test_work_and_size_of_a_counterexample() -> None:
    table = _table(_algorithm(local_steps=1, rounds=1, server_step_size="1/2"))
    assert _size_of(table) == "a run with 2 clients, 1 local step, 1 round, step size 1/8, server step size 1/2"
    assert work_of(_table(_algorithm(rounds=100))) > 100 * work_of(table)


def test_sizes_of_symbols() -> None:
    counts, momentum = _Range((0, 1), sp.Integer(2)), _Range((0, -1), sp.Rational(1, 2), is_complement=True)
    assert [counts.at(power, sp.Integer(256)) for power in (0, 1)] == [2, 512]
    assert [momentum.at(power, sp.Integer(256)) for power in (0, -1)] == [sp.Rational(1, 2), 1 - sp.Rational(1, 512)]
    assert [counts.change(1), counts.change(-1), momentum.change(-1)] == ["grows", "falls", "tends to 1"]
    assert _common_denominator(sp.sqrt(x) + 1, x ** sp.Rational(2, 3)) == 6


def test_looseness_over_values() -> None:
    """sqrt(M) too much grows without bound with M; a factor of three is three; own quantities say nothing."""
    where = {eta: q.local_step_size, sigma: q.noise_deviation, M: q.clients, L: q.smoothness}
    sides = {"lhs": q.final_suboptimality, "rhs": eta * sigma**2 / M}
    claim = Claim(id="mine:loose", where=where, conditions=[eta <= 1 / L], **sides)
    found = measure_looseness(claim, eta * sigma**2 / sp.sqrt(M))
    assert found is not None
    assert (found.excess, found.growth) == (math.inf, ((M, "grows"),))
    thrice = measure_looseness(claim, 3 * eta * sigma**2 / M)
    assert thrice is not None
    assert (thrice.excess, thrice.growth) == (pytest.approx(3.0), ())
    assert measure_looseness(claim, x * eta * sigma**2 / M) is None
    # Of the sizes that are tried eta L is 1/32 at most, where it may be one.
    more = measure_looseness(claim, eta * sigma**2 / M + eta**2 * L * sigma**2 / M)
    assert more is not None
    assert more.excess == pytest.approx(33 / 32)


def test_a_bound_is_proved_by_any_sharper_one_and_by_none_that_is_not_proved() -> None:
    """The growing form of Lemma 2.3 is below the printed one, which no answer between them reaches."""
    claim = find("renard2022:lemma-2.3")
    growing = find("renard2022:lemma-2.3.growing").relations[0].right
    assert _is_proved(claim, growing)
    assert not _is_at_least(claim, growing, claim.relations[0].right)
    assert not _is_proved(claim, growing / 2)
    own = replace(claim, id="mine:drift", is_published=False)
    assert own not in _proved_bounds(own)


@pytest.mark.long
def test_code_that_waits_is_told_from_code_that_computes() -> None:
    """And so is code that answers more than it may."""

    def started(command: str) -> Any:
        def launch(_program: str, _limits: Limits) -> subprocess.Popen[bytes]:
            pipes = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
            return subprocess.Popen(["sh", "-c", command], start_new_session=True, **pipes)

        return launch

    def ending(command: str, limits: Limits) -> str:
        return _run(started(command), b"", limits)[1]

    assert ending("sleep 600", Limits(waiting=1)) == "the code was stopped after 1 seconds of waiting"
    assert ending("yes", Limits(output=100)) == "the code answers more than it may"
    assert ending("exit 3", Limits()) == "the code crashed the process (exit code 3)"
    assert ending("kill -9 $$", Limits(seconds=7)).startswith("the code was stopped after 7 seconds")
    assert ending("exit 0", Limits()) == "the code ended the process"


def test_rungs_that_are_left_open_together_are_checked_alone() -> None:
    """The ladder as a whole decides first; a single rung that takes too long stays undecided."""
    claim = Claim(id="mine:zero", lhs=0, rhs=q.final_distance_sq, where={})
    short, long = _table(TABLE), _table(_algorithm(rounds=100_000))
    tried = Battery([], [short, long])
    runs = [parse_run(TABLE, FLOAT)] * 2
    together = {0: CheckResult(True, ratio=0.25)}
    tried.__dict__["_floats"] = SimpleNamespace(runs=runs, answers=lambda _: {})
    alone, undecided = tried._long_answers(claim)
    assert (alone.holds, undecided.holds) == (True, None)
    tried.__dict__["_floats"] = SimpleNamespace(runs=runs, answers=lambda claims: {claims[0]: together})
    assert next(iter(tried._long_answers(claim))) is together[0]

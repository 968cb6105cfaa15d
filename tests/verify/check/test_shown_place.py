"""Violations of claims about free points are shown at points that a reader can check by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from fedtheory import Claim, assumptions, inner, norm_sq, parse_run
from fedtheory import quantities as q
from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.engine.run import Run
from fedtheory.kernel.expressions import ClientSum, Gradient, Value
from fedtheory.runfile import run_table
from verify.check import check
from verify.falsify import falsify
from verify.shown_place import choose_place, describe_points, has_only_free_vectors, write_points_as_comment
from verify.verdict import verify
from verify.witness import PrintedSides

x, y, z = sp.symbols("x y z", real=True)
F, L, M, alpha = sp.symbols("F L M alpha", positive=True)
WHERE = {x: q.point, y: q.second_point, z: q.third_point, F: q.client_objective, L: q.smoothness, M: q.clients}


def run(dimension: int = 1, step: str = "3/8") -> Run:
    """Return a run whose points are no simple numbers: the start, and its multiple by 1 - 4 times the step size."""
    size = range(dimension)
    problem = {
        "kind": "quadratic",
        "hessians": [[[str(4 * (i == j)) for j in size] for i in size]],
        "linear": [["-1/7"] * dimension],
        "start": ["3/11"] * dimension,
    }
    algorithm = {"name": "fedavg", "local_step_size": step, "local_steps": 1, "rounds": 1}
    return parse_run({"problem": problem, "algorithm": algorithm}, RATIONAL)


def claim(left: Any, right: Any, **stated: Any) -> Claim:
    """Return a claim about free points."""
    return Claim(id="t:points", place="points", lhs=left, rhs=right, where=WHERE, **stated)


YOUNG = claim(norm_sq(x + y), sp.Rational(3, 2) * norm_sq(x) + 2 * norm_sq(y))
SMOOTH = claim(
    Value(F, y) - Value(F, x) - inner(Gradient(F, x), y - x),
    L / 3 * norm_sq(y - x),
    assumptions=[assumptions.convex_and_smooth],
)


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize(
    ("false", "expected", "sides"),
    [
        (YOUNG, {"x": 1, "y": 1}, ("4", "7/2")),
        (claim(norm_sq(x + y + z), 2 * (norm_sq(x) + norm_sq(y) + norm_sq(z))), dict.fromkeys("xyz", 1), ("9", "6")),
        (claim(inner(x, y), 0), {"x": 1, "y": 1}, ("1", "0")),
        (claim(norm_sq(x - y), norm_sq(x) + norm_sq(y)), {"x": 1, "y": -1}, ("4", "2")),
        (SMOOTH, {"x": 1, "y": 2}, ("2", "4/3")),
    ],
    ids=lambda value: str(getattr(value, "rhs", "")),
)
def test_points_are_small_integers(
    false: Claim, expected: dict[str, int], sides: tuple[str, str], dimension: int
) -> None:
    """The first simple points with a clear violation; both sides are those at these points."""
    found = check(false, run(dimension))
    shown = choose_place(found)
    assert shown is not None
    assert shown.holds is False
    first = {name: list(point) for name, point in shown.points.items()}
    assert first == {name: [value] + [0] * (dimension - 1) for name, value in expected.items()}
    assert (str(shown.lhs), str(shown.rhs)) == sides
    printed = PrintedSides.from_check(found)
    assert printed is not None
    assert (printed.lhs, printed.rhs) == sides
    assert printed.points == {name: (str(value), *["0"] * (dimension - 1)) for name, value in expected.items()}


def test_a_small_violation_is_shown_where_no_simple_points_have_a_clear_one() -> None:
    """The exact check decides: 9 is more than 89/10."""
    shown = choose_place(
        check(claim(norm_sq(x + y), sp.Rational(3, 2) * norm_sq(x) + sp.Rational(29, 10) * norm_sq(y)), run(step="1/8"))
    )
    assert shown is not None
    assert (str(shown.lhs), str(shown.rhs)) == ("9", "89/10")
    assert [int(shown.points[name][0]) for name in "xy"] == [2, 1]


def test_other_points_stay() -> None:
    """A claim that holds, one in floats, one that no simple point violates, many dimensions: the worst place."""
    true = claim(norm_sq(x + y), 2 * norm_sq(x) + 2 * norm_sq(y))
    narrow = claim(norm_sq(x + y), norm_sq(x) * sp.Rational(3, 2) + norm_sq(y) * (3 - sp.Rational(1, 10**9)))
    for found in (check(true, run()), check(YOUNG, parse_run(run_table(run()), FLOAT)), check(narrow, run(step="1/5"))):
        assert choose_place(found) is found.worst
    many = check(claim(norm_sq(x), -1), run(4))
    assert choose_place(many) is many.worst
    of_run = Claim(id="t:run", lhs=q.final_suboptimality, rhs=-1)
    assert choose_place(check(of_run, run())) is not None
    assert write_points_as_comment(check(of_run, run())) == ""


def test_quantified_symbols_stay_where_the_claim_fails() -> None:
    """Young's inequality with a wrong side fails for one of the parameters; the points are simple there."""
    false = claim(norm_sq(x + y), (1 + alpha) * norm_sq(x) + norm_sq(y), for_all={alpha: [1, 100]})
    shown = choose_place(check(false, run()))
    assert shown is not None
    assert shown.index == {"alpha": "1"}
    assert (str(shown.lhs), str(shown.rhs)) == ("4", "3")


def test_when_the_run_does_not_matter() -> None:
    """The run does not matter for free vectors without a quantity, an objective, an assumption or a condition."""
    assert has_only_free_vectors(YOUNG)
    assert not has_only_free_vectors(SMOOTH)
    assert not has_only_free_vectors(replace(YOUNG, rhs=M * norm_sq(x)))
    assert not has_only_free_vectors(replace(YOUNG, rhs=ClientSum(norm_sq(x))))
    assert not has_only_free_vectors(replace(YOUNG, conditions=[M >= 2]))
    assert not has_only_free_vectors(Claim(id="t:run", lhs=q.final_suboptimality, rhs=0))


def test_in_words() -> None:
    """Free vectors are what they are; points of objectives are measured from the optimum."""
    flat, wide = check(YOUNG, run()), check(SMOOTH, run(2))
    assert write_points_as_comment(flat) == (
        "# t:points at x = 1, y = 1; for statements about free vectors the run does not matter\n"
    )
    assert write_points_as_comment(wide) == "# t:points at x - x* = (1, 0), y - x* = (2, 0)\n"
    pointless = check(Claim(id="t:run", lhs=q.final_suboptimality, rhs=0), run()).worst
    assert pointless is not None
    assert describe_points(YOUNG, pointless) == ""


@pytest.mark.parametrize(
    ("hessian", "linear", "origin"),
    [
        ([["-1", "0"], ["0", "1"]], ["1", "0"], "minus the stationary point of F"),
        ([["-1", "0"], ["0", "0"]], ["1", "1"], "minus the start"),
        ([["0", "0"], ["0", "1"]], ["0", "1"], "- x*"),
    ],
    ids=["saddle", "no stationary point", "convex"],
)
def test_points_are_measured_from_where_coordinates_begin(
    hessian: list[list[str]], linear: list[str], origin: str
) -> None:
    """If F is unbounded below there is no x*: its stationary point replaces it, else the start."""
    problem = {"kind": "quadratic", "hessians": [hessian], "linear": [linear], "start": ["1", "1"]}
    algorithm = {"local_step_size": "1/8", "local_steps": 1, "rounds": 1}
    about = replace(SMOOTH, rhs=-1 - L * norm_sq(y - x), assumptions=(assumptions.smooth,))
    comment = write_points_as_comment(check(about, parse_run({"problem": problem, "algorithm": algorithm}, RATIONAL)))
    assert comment.startswith(f"# t:points at x {origin} = ")


@pytest.mark.long
def test_searches_and_verdicts_tell_the_points() -> None:
    """Verdicts and cards of searches show the points with the sides."""
    (verdict,) = verify(YOUNG)
    assert verdict.verdict == "refuted"
    assert verdict.sides is not None
    assert verdict.sides.points == {"x": ("1",), "y": ("1",)}
    assert verdict.card().facts["at"] == "x = 1, y = 1"
    finding = falsify(YOUNG, 1)
    assert finding.verdict == "refuted"
    assert finding.card().facts["at"] == "x = 1, y = 1"

"""Ascents and designs of the search by regimes against steps by hand."""

from __future__ import annotations

import math
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from claim_symbols import WHERE, L, T, eta, tau

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from verify.effort import spend_a_try
from verify.falsify.regimes.climb import LevelClimb, _is_number, _is_other, _list_steps
from verify.falsify.regimes.coverage import list_regimes
from verify.falsify.regimes.covering_design import Design
from verify.falsify.regimes.evaluation import Evaluation, Seen, _depends_on_rounds, _limit_looked_at, _order_sides
from verify.falsify.regimes.factors import STANDARD, Factor, list_factors
from verify.falsify.regimes.regime_search import (
    _balance,
    _does_move_without_start,
    _find_unlike,
    _list_tame_bases,
    _list_tame_points,
    _search_one_round,
    _Searching,
)
from verify.falsify.regimes.violations import SETTLED
from verify.falsify.score import NOTHING

NUMBER = Factor("a", (0, 4, 8), steps=(3, 1), low=0, high=8)
WORDS = Factor("b", ("x", "y", "z"))


def _climb(value: Any, **levels: Any) -> tuple[LevelClimb, list[Any]]:
    """Return an ascent of a function of points, and the points that it evaluates."""
    looked: list[Any] = []
    evaluation: Any = SimpleNamespace(factors={"a": NUMBER, "b": WORDS, "horizon": STANDARD["horizon"]}, count=0)

    def look(point: Any) -> Seen:
        evaluation.count += 1
        looked.append(dict(point))
        return Seen(dict(point), float(value(point)))

    all_levels = {"a": NUMBER.levels, "b": WORDS.levels} | levels
    random: Any = SimpleNamespace(shuffle=lambda _: None)
    return LevelClimb(evaluation, all_levels, random, look, lambda seen: seen.score, kept=("sources",)), looked


def test_steps_along_numbers() -> None:
    """Steps go up, then down, within the bounds; words and flags have none, and small scales repeat the last length."""
    assert list(_list_steps(NUMBER, 4, 0)) == [7, 1]
    assert [list(_list_steps(NUMBER, 4, scale)) for scale in (1, 2)] == [[5, 3]] * 2
    assert (list(_list_steps(NUMBER, 8, 0)), list(_list_steps(NUMBER, 0, 1)), list(_list_steps(NUMBER, 7, 0))) == (
        [5],
        [1],
        [8, 4],
    )
    assert (
        list(_list_steps(NUMBER, None, 0)) == list(_list_steps(NUMBER, True, 0)) == list(_list_steps(WORDS, 4, 0)) == []
    )
    assert [_is_number(level) for level in (0, 1.5, True, None, "1")] == [True, True, False, False, False]


def test_levels_that_no_step_reaches() -> None:
    assert [_is_other(NUMBER, level, 4) for level in (4, 8, None, "M")] == [False, False, True, True]
    assert [_is_other(NUMBER, level, None) for level in (4, None)] == [True, False]
    assert [_is_other(WORDS, level, 4) for level in (4, 8)] == [False, True]


def test_a_move_is_repeated_while_it_helps() -> None:
    """A move is repeated while it increases the value enough, at most six times and up to the bound."""
    climb, looked = _climb(lambda point: -abs(point["a"] - 6))
    start = Seen({"a": 0, "b": "x", "horizon": ("T", 0)}, -6.0)
    assert climb._climb_along(start, "a", 1, 99).point["a"] == 6
    assert [point["a"] for point in looked] == [1, 2, 3, 4, 5, 6, 7]
    climb, looked = _climb(lambda point: point["horizon"][1])
    assert climb._climb_along(start, "horizon", 2, 99).point["horizon"] == ("T", 7)
    climb, looked = _climb(lambda point: 1e-5 * point["a"])
    assert climb._climb_along(Seen(start.point, 0.0), "a", 1, 99).point["a"] == 0
    climb, looked = _climb(lambda point: point["a"])
    assert climb._climb_along(Seen(start.point, 0.0), "a", 0, 99).point["a"] == 8
    assert [point["a"] for point in looked] == [3, 6, 8]
    assert climb._climb_along(Seen(start.point, 0.0), "a", 0, climb._evaluation.count).point["a"] == 0


def test_words_are_exchanged_once() -> None:
    climb, looked = _climb(lambda point: "xyz".index(point["b"]))
    start = Seen({"a": 0, "b": "x", "horizon": ("T", 0)}, 0.0)
    assert climb._climb_along(start, "b", 0, 99).point["b"] == "y"
    assert climb._climb_along(start, "b", 1, 99) is start
    climb, looked = _climb(lambda _: 0, b=("x",))
    assert climb._climb_along(start, "b", 0, 99) is start
    assert looked == []


def test_horizons_that_are_tried() -> None:
    """Longer and shorter in the same unit, then all others; these only with large steps."""
    climb, _ = _climb(lambda _: 0)
    others = [("cycle", 0), ("L", 0), ("L", 5), ("mu", 5)]
    assert list(climb._list_horizons({"horizon": ("T", 3)}, 0)) == [("T", 8), ("T", -2), *others]
    assert list(climb._list_horizons({"horizon": ("L", 3)}, 1)) == [("L", 5), ("L", 1)]
    assert list(climb._list_horizons({"horizon": ("L", 3)}, 2)) == [("L", 4), ("L", 2)]
    assert climb._repeat("horizon", ("T", 3), ("T", 8)) == ("T", 13)
    assert climb._repeat("horizon", ("T", 3), ("L", 8)) is None
    assert climb._repeat("b", "x", "y") is None
    assert climb._repeat("a", 8, 5) == 2


def test_an_ascent_ends_when_small_steps_help_no_more() -> None:
    """First the coordinates along which valleys run; as many evaluations as it is given."""
    start = Seen({"a": 0, "b": "x", "horizon": ("T", 0)}, -5.0)
    climb, looked = _climb(lambda point: -abs(point["a"] - 5) + 10 * (point["b"] == "z"))
    end = climb.climb_from(start, 99)
    assert (end.point["a"], end.point["b"], end.score) == (5, "z", 10)
    assert looked[0]["horizon"] != ("T", 0)
    climb, looked = _climb(lambda point: point["a"])
    climb.climb_from(start, 5)
    assert len(looked) == 5


def test_designs_of_two_factors() -> None:
    """Pairs are counted once, whichever comes first; half of the balanced rows are plain, the others in turn."""
    factors = {"a": Factor("a", (0, 1), 0), "b": WORDS, "c": Factor("c", (7,))}
    design = Design(factors, {"a": (0, 1), "b": ("x", "y", "z"), "c": (7,)}, seed=1)
    assert design.all_pairs == {("a", str(one), "b", two) for one in (0, 1) for two in "xyz"}
    for _ in range(2):
        design.count({"b": "x", "a": 1, "c": 7}, applies=False)
    assert (design.given_up, len(design._choose_wanted())) == (0, 6)
    design.count({"b": "x", "a": 1, "c": 7}, applies=False)
    assert (design.given_up, len(design._choose_wanted())) == (1, 5)
    design.count({"b": "x", "a": 1, "c": 7}, applies=True)
    assert (design.given_up, len(design._choose_wanted()), design.covered) == (0, 5, {("a", "1", "b", "x")})
    assert sorted(design._build_column("a", 10)) == [0] * 8 + [1] * 2
    assert sorted(design._build_column("b", 10)) == ["x"] * 4 + ["y"] * 3 + ["z"] * 3
    assert [design._shuffle("a") for _ in range(9)] == [[0, 1]] * 9
    assert len({tuple(design._shuffle("b")) for _ in range(60)}) == 6
    rows = list(Design(factors, {"a": (0, 1), "b": ("x", "y", "z")}, seed=1).rows(3))
    assert len(rows) == 3
    # Nothing is counted, so that the same pairs are asked for time and again, and no balanced row follows.
    assert all(len(row) == 2 for row in rows)


def test_a_row_adds_the_most_pairs() -> None:
    """With one pair of a third factor missing, the row has it."""
    factors = {name: Factor(name, ("x", "y")) for name in "abc"}
    for seed in range(9):
        design = Design(factors, dict.fromkeys("abc", ("x", "y")), seed)
        wanted = {("a", "x", "b", "x"), ("a", "x", "c", "y")}
        design.covered = design.all_pairs - wanted
        (row,) = design.rows(1)
        assert row["a"] == "x"
        assert (row["b"] == "x") or (row["c"] == "y")
        assert (row["b"], row["c"]) == ("x", "y")


def test_regimes_have_their_largest_ratio() -> None:
    """Level by level where there are several; of runs that satisfy the claim and have a ratio."""
    factors = {"a": Factor("a", (0, 1, 2), in_words=lambda level: f"{level} more"), "b": WORDS}
    table: Any = {}
    seen = [
        Seen({"a": 1, "b": "x"}, 0.5, table, True),
        Seen({"a": 0, "b": "x"}, -1.0, table, True),
        Seen({"a": 0, "b": "x"}, -2.0, table, None),
        Seen({"a": 1, "b": "x"}, 0.9, table, False),
        Seen({"a": 0, "b": "x"}, -90.0, table, True),
        Seen({"a": 0, "b": "x"}, 90.0, table, True),
        Seen({"a": 7, "b": "x"}, 1.0, table, True),
        Seen({"a": 0, "b": "x"}, 1.0, None, None),
    ]
    first, second = list_regimes(factors, seen)
    assert (first.name, first.runs, second.name, second.runs) == ("a: 0 more", 4, "a: 1 more", 2)
    assert (first.largest_ratio, second.largest_ratio) == (math.exp(-1.0), math.exp(0.5))
    assert [one.largest_ratio for one in list_regimes(factors, [seen[0], seen[4]])] == [None, math.exp(0.5)]
    assert list_regimes(factors, seen[:1]) == ()


def test_local_steps_that_a_claim_evaluates() -> None:
    """The search counts the local steps that a claim evaluates; none if equal rounds can be doubled."""

    def looked_at(quantity: q.RunQuantity, place: Any = None) -> int | None:
        claim = Claim(id="t:asked", lhs=quantity, rhs=eta, where=WHERE)
        return _limit_looked_at(claim if place is None else SimpleNamespace(place=place, notation=claim.notation))

    for quantity, most in (
        (q.final_distance_sq, None),
        (q.average_suboptimality, None),
        (q.max_drift, 4096),
        (q.visited_second_moment, 4096),
        (q.round_gap, 256),
    ):
        assert looked_at(quantity) == most
    assert looked_at(q.final_distance_sq, "step") == 4096


def test_conditions_that_ask_for_rounds() -> None:
    for condition, asks in ((eta * L <= 1, False), (tau <= 2, False), (eta * T <= 1, True), (eta <= T * L, True)):
        claim = Claim(id="t:rounds", lhs=eta, rhs=1, where=WHERE, conditions=[condition])
        assert _depends_on_rounds(claim) is asks


def test_the_progress_of_a_run() -> None:
    """The promised over the true decrease: of 8, down to 2 where 4 are promised, 4/6."""
    still = Seen({}, 0.0, {}, True, (8.0, 8.0))

    def progress(sides: tuple[float, float] | None, at_first: Seen = still) -> float:
        return Evaluation.progress(Seen({"horizon": ("T", 9)}, 0.0, {}, True, sides), lambda _: at_first)

    assert progress((2.0, 4.0)) == pytest.approx(math.log(4 / 6))
    assert progress(None) == NOTHING
    assert progress((2.0, 4.0), Seen({}, 0.0)) == NOTHING
    assert [progress(sides) for sides in ((8.0, 4.0), (2.0, 8.0), (9.0, 9.0))] == [-100.0] * 3
    asked: list[Any] = []
    Evaluation.progress(Seen({"a": 1}, 0.0, {}, True, (1.0, 1.0)), lambda point: asked.append(point) or still)
    assert asked == [{"a": 1, "horizon": ("T", 0), "step size": -40}]


def test_sides_of_a_check() -> None:
    """The smaller one first, whichever way round they are written; equations have none."""
    for operator, expected in (("<=", (1.0, 2.0)), (">=", (2.0, 1.0)), ("==", None)):
        in_order = lambda one, two, o=operator: (one, two) if o == "<=" else (two, one)  # noqa: E731
        worst = SimpleNamespace(relation=SimpleNamespace(operator=operator, in_order=in_order), lhs=1, rhs=2)
        found: Any = SimpleNamespace(worst=worst)
        assert _order_sides(found) == expected
    none: Any = SimpleNamespace(worst=None)
    assert _order_sides(none) is None


def test_factors_that_a_claim_allows() -> None:
    """Whole cycles where it asks for them, tied steps where the clients and the iterations fix them, own losses."""
    plain, cycles, tied = (
        Claim(id="t:own", lhs=eta, rhs=1, where=WHERE, assumptions=stated)
        for stated in ([a.smooth], [a.whole_cycles], [a.speedup_step])
    )
    assert list_factors(plain) == dict(STANDARD)
    assert list_factors(cycles)["horizon"].levels == (("cycle", 0), ("cycle", 2))
    assert list_factors(tied)["clients"].levels == (0, 2, 4, 10)
    convex = Claim(id="t:own", lhs=q.max_drift, rhs=1, where=WHERE, assumptions=[a.convex_and_smooth])
    found = Evaluation(convex).factors
    assert "negative curvature" not in found
    assert "bounded" not in found["loss"].levels
    assert found["clients"].levels == (0, 1, 3.32, 5, 7)
    assert (found["clients"].high, found["local steps"].levels) == (10, (0, 1, 3, 6, 9))
    assert Evaluation(plain).factors["clients"].levels == (0, 1, 3.32, 5, 9.97)
    for assumption, most in ((a.scaffold, 5), (a.dsgd, 4)):
        claim = Claim(id="t:own", lhs=q.final_distance_sq, rhs=1, assumptions=[assumption])
        factors = Evaluation(claim).factors
        assert max(factors["clients"].levels) == most
        assert ("local steps" in factors) is (assumption is a.scaffold)


def test_runs_that_lead_to_others() -> None:
    """With other curvatures, or of one round, of the same sources and on quadratics."""

    def run(sources: str, curvatures: str, horizon: tuple[str, int], loss: str | None = None) -> Seen:
        point = {"sources": sources, "curvatures": curvatures, "horizon": horizon, "loss": loss}
        return Seen(point, -1.0, {}, True)

    here, short = run("n", "alike", ("T", 2)), run("n", "alike", ("T", 0))
    lossy, other, apart = run("n", "crossed", ("T", 0), "Huber"), run("s", "crossed", ("T", 0)), run("n", "x", ("T", 2))
    pool = [here, lossy, other, apart, short]
    assert _find_unlike(here, pool) is apart
    assert _find_unlike(apart, pool) is here
    assert _search_one_round(here, pool) is short
    assert _search_one_round(short, pool) is None
    assert _search_one_round(here, pool[:4]) is None


def test_runs_without_a_start_that_say_something() -> None:
    """Runs that start at the optimum are used on quadratics while no violation is decided."""
    for sources, loss, score, table, expected in (
        ("n", None, -1.0, {}, True),
        ("sn", None, -1.0, {}, False),
        ("n", "Huber", -1.0, {}, False),
        ("n", None, SETTLED + 1, {}, False),
        ("n", None, -1.0, None, False),
    ):
        assert _does_move_without_start(Seen({"sources": sources, "loss": loss}, score, table, True)) is expected
    assert [_balance(Seen({}, score, {}, True, balanced=3.0)) for score in (-1.0, SETTLED)] == [3.0, SETTLED]


def test_tame_points_come_by_their_distance() -> None:
    """The start, then points with one aspect of the problem less, before any other setting."""
    points = list(_list_tame_points({"sources": "x", "own": 1}, {}))
    assert points[0]["sources"] == "snp"
    assert all(point["own"] == 1 for point in points)
    assert len({str(point) for point in points}) == len(points)
    tame = import_module("verify.falsify.regimes.regime_search")._TAME
    settings = list(tame)[4:]
    changes = [sum(point[name] != tame[name][0] for name in settings) for point in points]
    assert changes == sorted(changes)
    assert changes[0] == 0
    firsts = [sum(list(tame[name]).index(point[name]) for name in tame) for point in points]
    without = [one for one, changed in zip(firsts, changes, strict=True) if changed == 0]
    assert without == sorted(without)
    assert {point["clients"] for point in _list_tame_points({}, {"clients": (5,)})} == {5}


def test_bases_around_a_point() -> None:
    """The bases are the point itself, and the point without noise, with one client, with equal clients, and with one
    step.
    """
    base = {"sources": "snp", "clients": 1, "curvatures": "alternate", "local steps": 1}
    quiet = {"curvatures": "alike", "sources": "sn"}
    assert list(_list_tame_bases(base)) == [
        {**base, **changes}
        for changes in (
            {},
            {"sources": "sp"},
            {"clients": 0},
            quiet,
            {"clients": 1, **quiet},
            {"clients": 2, "local steps": 0},
        )
    ]
    alone = list(_list_tame_bases({**base, "clients": 0, "sources": "p"}))
    assert len(alone) == 7
    assert alone[-1] == {**base, "clients": 1, "curvatures": "diagonal", "sources": "s"}
    assert alone[1]["sources"] == "p"
    assert list(_list_tame_bases({**base, "sources": "n"}))[1]["sources"] == "s"


def test_levels_of_several_clients_are_tried_with_several() -> None:
    """A level applies where it does next to one of the bases; those that say nothing with one client need two."""
    asked: list[Any] = []

    def look(point: Any) -> Any:
        asked.append(point)
        return SimpleNamespace(applies=point["clients"] == 3)

    searching: Any = SimpleNamespace(_look=look)
    around = [{"clients": count} for count in (0, 2, 3, 4)]
    assert _Searching._may_apply(searching, "weights", "one tiny", around)
    assert [point["clients"] for point in asked] == [2, 3]
    asked.clear()
    assert not _Searching._may_apply(searching, "loss", "Huber", around[:2])
    assert [point["clients"] for point in asked] == [0, 2]
    assert not _Searching._may_apply(searching, "weights", "one tiny", around[:1])


def test_a_search_is_over_when_its_evaluations_are() -> None:
    """A search ends after its evaluations or its work, except for the decision of a violation."""
    search = import_module("verify.falsify.regimes.regime_search")
    met: list[str] = []
    reported: list[int] = []
    state = SimpleNamespace(
        is_deciding=False, found=None, meet=lambda _: met.append("clear"), meet_unclear=lambda _: met.append("unclear")
    )
    seen = {True: Seen({}, 0.0, {}, True), False: Seen({}, 0.0, {}, False), None: Seen({}, 0.0, {}, None)}
    searching: Any = SimpleNamespace(
        _evaluation=SimpleNamespace(count=4, score=lambda point: seen[point["holds"]]),
        _most=5,
        _end=math.inf,
        _violations=state,
        _on_tick=lambda: reported.append(searching._evaluation.count),
    )
    searching._end_with_a_violation = lambda: _Searching._end_with_a_violation(searching)
    for holds in (True, False, None):
        assert _Searching._look(searching, {"holds": holds}) is seen[holds]
    assert (met, reported) == (["clear", "unclear"], [4] * 3)
    searching._evaluation.count = 7
    state.is_deciding = True
    _Searching._look(searching, {"holds": True})
    assert reported[-1] == 7
    state.is_deciding = False
    with pytest.raises(search._Over):
        _Searching._look(searching, {"holds": True})
    searching._evaluation.count, searching._end = 4, -1.0
    spend_a_try()
    with pytest.raises(search._Over):
        _Searching._look(searching, {"holds": True})
    searching._end, state.found = math.inf, ({}, None)
    for holds in (False, None):
        with pytest.raises(search._Over):
            _Searching._look(searching, {"holds": holds})
    _Searching._look(searching, {"holds": True})


def test_random_orders_are_those_of_the_seed() -> None:
    """One seed gives one order of the rows."""
    levels = {name: list(STANDARD[name].levels) for name in ("clients", "weights", "loss")}
    rows = [list(Design(STANDARD, levels, seed).rows(9)) for seed in (3, 3, 4)]
    assert rows[0] == rows[1] != rows[2]

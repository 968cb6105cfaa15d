"""Parts of searches in turn, and what is tried and kept on the way, by hand."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

from verify.falsify.regimes import regime_search as regimes
from verify.falsify.regimes.factors import BASE

search: Any = import_module("verify.falsify.instance_search")
shrink: Any = import_module("verify.falsify.shrink")


def test_ascents_in_regimes_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ascents are ordered by kind: balanced score, without a start, progress, then special ones."""
    climbed: list[Any] = []

    class Climb:
        def __init__(self, *given: Any) -> None:
            self.by = given[-1]

        def climb_from(self, start: str, most: int) -> None:
            climbed.append((self.by, start, most))

    monkeypatch.setattr(regimes, "LevelClimb", Climb)
    searching: Any = SimpleNamespace(_evaluation=SimpleNamespace(count=40), _random=None, _look=None, _most=1040)
    searching._progress = "progress"
    searching._list_subtracting = lambda: ["a"]
    searching._list_promising = lambda: ["c"]
    searching._choose_starts = lambda _: (["b"], ["with"], ["special"])
    regimes._Searching._climb(searching, {})
    ascents = [(regimes._balance, "a"), (regimes.rate_run, "b"), ("progress", "c")]  # type: ignore[attr-defined]
    each = max(regimes._SHORTEST, 1000 // min(5, regimes._CLIMBS))
    assert climbed[:3] == [(*one, each) for one in ascents]
    assert {start for _, start, _ in climbed[3:]} == {"special", "with"}
    assert {by for by, *_ in climbed[3:]} == {regimes.rate_run}  # type: ignore[attr-defined]


@pytest.mark.parametrize("applies", [True, False])
def test_parts_of_a_search_in_regimes_in_turn(applies: bool) -> None:
    """Rows of the design, descents of one client, what is open, then climbs; nothing where no claim applies."""
    done: list[Any] = []
    searching: Any = SimpleNamespace(_most=100, _find_base=lambda: {"base": 1} if applies else None)
    searching._find_levels = lambda base: ("levels of", base)
    searching._try_design = lambda base, levels, rows: done.append(("design", base, levels, rows)) or iter(())
    searching._look_at_descent = lambda base, levels: done.append(("descent", base, levels))
    searching._violations = SimpleNamespace(decide_open=lambda count: done.append(("open", count)))
    searching._end_with_a_violation = lambda: done.append("end")
    searching._climb = lambda levels: done.append(("climb", levels))
    regimes._Searching._go(searching)
    base, levels = {"base": 1}, ("levels of", {"base": 1})
    rows = int(regimes._ROWS * 100)
    expected = [("design", base, levels, rows), ("descent", base, levels), ("open", regimes._BEFORE_CLIMBS), "end"]
    assert done == ([*expected, ("climb", levels)] if applies else [])


@pytest.mark.parametrize(("weight", "reached", "kept"), [(2, (1, 1, 0, 2), True), (3, (0,), False), (2, None, False)])
def test_smaller_counterexamples_are_counted_and_kept(
    weight: int, reached: Any, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each table costs a try of its clients, also where there is none; a heavier one is not checked."""
    ticks: list[int] = []
    monkeypatch.setattr(shrink, "count_clients", lambda _: 7)
    monkeypatch.setattr(shrink, "_measure_table", lambda _: (weight,))
    monkeypatch.setattr(shrink, "_measure_effort", lambda *_: reached)
    begin: Any = (1, 1, 0, 3)
    small = shrink._Shrinking(None, "old", begin, None, ticks.append)  # type: ignore[arg-type]
    assert small._tries("new") is kept  # type: ignore[arg-type]
    assert small._tries(None) is False
    assert (small.table, ticks) == ("new" if kept else "old", [7, 7])


def test_levels_that_are_always_kept() -> None:
    """Those of the base, those of factors that are always tried, and those at which the claim may apply."""
    always = next(iter(regimes._ALWAYS))
    searching: Any = SimpleNamespace(
        _evaluation=SimpleNamespace(
            factors={"a": SimpleNamespace(levels=(1, 2, 3)), always: SimpleNamespace(levels=(4, 5))}
        ),
        _may_apply=lambda name, level, _: name == "a" and level == 3,
    )
    base: Any = {**BASE, "a": 1, always: 4}
    assert regimes._Searching._find_levels(searching, base) == {"a": [1, 3], always: [4, 5]}


def test_a_search_goes_on_while_something_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch and a short ascent come first, for each batch of the claim's instances; then half a batch."""
    done: list[Any] = []
    batch = search._BATCH
    ends = iter(["place", None, "place", None])
    monkeypatch.setattr(search, "_begin_at_worst", lambda *_: None)
    monkeypatch.setattr(search, "_begin", lambda *_: done.append("begin"))
    monkeypatch.setattr(search, "_try_kinds", lambda *_: done.append("kinds"))
    monkeypatch.setattr(search, "count_instances", lambda _: batch + 1)
    monkeypatch.setattr(search, "_try", lambda _, some: bool(done.append(count := len(list(some))) or count))
    monkeypatch.setattr(search, "_search_long_horizons", lambda _, left_out, __: done.append(left_out))
    monkeypatch.setattr(search, "polish", lambda _, place, __: done.append(("polish", place)))

    def climb(_: Any, __: Any, looks: int) -> Any:
        done.append(("climb", looks))
        return next(ends) if looks == search._LONG else "short"

    monkeypatch.setattr(search, "_climb", climb)
    state: Any = SimpleNamespace(claim=SimpleNamespace(rate=None))
    search._search_by_turns(state, iter(range(2 * batch + batch // 2 + 1)), None)  # type: ignore[arg-type]
    short, long, half = ("climb", search._SHORT), ("climb", search._LONG), batch // 2
    far = [*search._SUMMING, ("polish", "place")]
    begun = ["begin", "kinds", batch, short, batch, short]
    assert done == [*begun, half, long, *far, 1, long, 0, long, *far, 0, long]
    done.clear()
    state.claim.rate = "rate"
    search._search_by_turns(state, iter(()), None)  # type: ignore[arg-type]
    assert done == ["begin", "kinds"]


def test_rows_of_a_design_are_counted_with_what_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each row once it is looked at, on top of the base, and whether the claim applies there."""
    counted: list[Any] = []
    rows = [{"a": 1}, {"a": 2}]
    design = SimpleNamespace(rows=lambda most: rows[:most], count=lambda row, applies: counted.append((row, applies)))
    monkeypatch.setattr(regimes, "Design", lambda *_: design)
    searching: Any = SimpleNamespace(_evaluation=SimpleNamespace(factors={}), _seed=1)
    searching._look = lambda point: SimpleNamespace(point=point, applies=point["a"] == 2)
    found = list(regimes._Searching._try_design(searching, {"a": 0, "b": 5}, {}, 2))  # type: ignore[arg-type, dict-item]
    assert [seen.point for seen in found] == [{"a": 1, "b": 5}, {"a": 2, "b": 5}]
    assert counted == [({"a": 1}, False), ({"a": 2}, True)]


def test_runs_are_moved_to_the_edge_of_their_conditions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run, with and without what may be left out, until the time is over; one without an edge is passed over."""
    seen: list[Any] = []
    state: Any = SimpleNamespace(claim=None, seconds=0.0, look=seen.append)
    monkeypatch.setattr(search, "_SUMMING", ())
    monkeypatch.setattr(search, "remove_aspects", lambda table, left_out: (table, left_out))
    monkeypatch.setattr(search, "move_to_edge", lambda _, table: None if table[0] == "free" else table)
    search._try_edges(state, ["a", "free"], 1.0)
    assert seen == [("a", ("start",)), ("a", ())]
    state.seconds = 2.0
    search._try_edges(state, ["a"], 1.0)
    assert len(seen) == 2

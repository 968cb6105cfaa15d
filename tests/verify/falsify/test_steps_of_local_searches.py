"""Steps of local searches, of rays and of the simplex method, on runs that are numbers, against values by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from fedtheory.errors import InputError
from verify.falsify import generation, instance_search, local_search, polish, rays, search_state
from verify.falsify.exponents import NOTHING_THERE, Logarithms, Room
from verify.falsify.local_search import LocalClimb
from verify.falsify.rays import Ray, ScaledRun
from verify.falsify.score import NOTHING
from verify.falsify.search_state import FAR, NEAR, SearchPoint
from verify.falsify.structure import list_other_shapes, list_variants
from verify.verdict import verify

Numbers = dict[str, fmpq]


class Scaling:
    """A named number of a run that is a dictionary."""

    def __init__(self, name: str, may_vanish: bool = False) -> None:
        self.name, self.may_vanish = name, may_vanish


def _use_numbers(monkeypatch: pytest.MonkeyPatch, *modules: Any, vanishing: tuple[str, ...] = ()) -> None:
    """Let modules read runs that are dictionaries of numbers."""

    def apply_scaling(table: Numbers, scaling: Scaling, factor: fmpq) -> Numbers:
        return {**table, scaling.name: table[scaling.name] * factor}

    def find_scaling(table: Numbers, name: str) -> Scaling | None:
        return Scaling(name) if name in table else None

    def list_scalings(table: Numbers) -> list[Scaling]:
        return [Scaling(name, name in vanishing) for name in table]

    for module in modules:
        for replacement in (apply_scaling, find_scaling, list_scalings):
            monkeypatch.setattr(module, replacement.__name__, replacement, raising=False)


def _climb(score: Any, start: Numbers, looks: int = 1000) -> LocalClimb:
    claim: Any = SimpleNamespace(run_conditions=[])
    at: Any = SearchPoint(start, score(start))
    return LocalClimb(claim, score, at, looks, lambda _: iter(()))


def test_a_sweep_over_structures_ends_with_a_success_or_without_looks() -> None:
    """Variants in turn: the first that is better ends the sweep, and so does the last look."""
    for scores, looks, tried in (([0, 2, 3], 9, [0, 2]), ([0, 0, 0], 9, [0, 0, 0]), ([0, 0, 0], 2, [0, 0])):
        seen: list[int] = []
        tables: Any = [{"score": fmpq(score)} for score in scores]
        climb = _climb(
            lambda table, seen=seen: seen.append(int(table["score"])) or float(int(table["score"])), tables[0]
        )
        seen.clear()
        climb.left, climb.at = looks, SearchPoint(tables[0], 1.0)
        climb._structure = lambda _, tables=tables: iter(tables)
        climb.sweep_structure()
        assert seen == tried
        assert climb.at.score == (2.0 if scores[1] else 1.0)


def test_factors_after_one_that_fails_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that a factor makes impossible is none to multiply further."""
    tried: list[str] = []

    def turned(table: Numbers, scaling: Scaling, _factor: fmpq) -> Numbers | None:
        tried.append(scaling.name)
        return None if scaling.name == "b" else table

    monkeypatch.setattr(polish, "apply_scaling", turned)
    state: Any = SimpleNamespace(claim=None)
    names: Any = [Scaling(name) for name in "abc"]
    assert polish._apply_all(state, {"a": fmpq(1)}, names, np.array([1.0, 1.0, 1.0])) is None
    assert tried == ["a", "b"]


@pytest.mark.parametrize(
    ("applies", "fits", "near"), [(True, True, True), (False, True, True), (True, False, True), (True, True, False)]
)
def test_runs_of_families_that_a_search_begins_with(
    applies: bool, fits: bool, near: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search begins with runs of families to which the claim applies, within the setting and the reach."""
    found: Any = SimpleNamespace(applicable=applies)
    monkeypatch.setattr(search_state, "check_decided", lambda *_: found)
    monkeypatch.setattr(search_state, "make_working_table", lambda run: {"run": run})
    monkeypatch.setattr(search_state, "list_features", lambda _: {"noise"})
    state: Any = SimpleNamespace(claim=None, setting={"noise"} if fits else set(), fresh=[], tick=lambda: None)
    state._record = lambda _table, _found: 0.5
    state.is_within_reach = lambda _: near
    search_state.SearchState.start_from(state, SimpleNamespace(as_floats=lambda: None), False)  # type: ignore[arg-type]
    kept = [(place.table, place.score) for place in state.fresh]
    assert [score for _, score in kept] == ([0.5] if applies and fits and near else [])


def test_units_change_by_factors_of_sixty_four(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the four units, both ways, where the run has it."""
    _use_numbers(monkeypatch, local_search)
    seen: list[Numbers] = []
    names = ("unit of values", "unit of length", "unit of inputs", "unit of outputs")
    for present in (names, names[1:3]):
        seen.clear()
        start = {name: fmpq(1) for name in (*present, "other")}
        _climb(lambda table: (seen.append(table), 0.0)[1], start).sweep_units()
        changes = [{name: value for name, value in table.items() if value != 1} for table in seen[1:]]
        assert changes == [{name: value} for name in present for value in (fmpq(64), fmpq(1, 64))]


def test_a_scaling_is_turned_while_it_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    """From 1 to 2^6 in steps of 2^2 where the score is largest at 2^6, and then down by 2^1 no further."""
    _use_numbers(monkeypatch, local_search)

    def score(table: Numbers) -> float:
        return -abs(float(table["a"]) - 64.0) - abs(float(table["b"]) - 0.25)

    climb = _climb(score, {"a": fmpq(1), "b": fmpq(1)})
    climb.sweep_scalings((2, 1), np.random.default_rng(0))
    assert climb.at.table == {"a": 64, "b": fmpq(1, 4)}
    spent = _climb(score, {"a": fmpq(1), "b": fmpq(1)}, looks=0)
    spent.sweep_scalings((2, 1), np.random.default_rng(0))
    assert (spent.at.table, spent.left) == ({"a": 1, "b": 1}, 0)


def test_numbers_are_removed_if_the_score_increases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers vanish if this increases the score; numbers that cannot vanish stay."""
    _use_numbers(monkeypatch, local_search, vanishing=("a", "b"))
    climb = _climb(lambda table: float(table["b"] - table["a"] - table["c"]), {n: fmpq(1) for n in "abc"})
    climb.remove_all_aspects()
    assert climb.at.table == {"a": 0, "b": 1, "c": 1}


def test_aspects_that_a_run_lacks_are_no_reason_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    _use_numbers(monkeypatch, local_search)
    assert local_search.remove_aspects({"a": fmpq(1), "b": fmpq(2)}, ["missing", "b"]) == {"a": 1, "b": 0}


@pytest.mark.parametrize("stated", [True, False])
def test_the_simplex_method_finds_the_best_factors(stated: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The score is largest at 2^1.5 and 2^-2; a run outside of the conditions is replaced by one inside of them."""
    _use_numbers(monkeypatch, polish)
    monkeypatch.setattr(
        polish, "reduce_to_conditions", lambda _, table: {**table, "inside": fmpq(1)} if stated else None
    )
    kept: list[SearchPoint] = []

    def look(table: Numbers) -> float:
        a, b = (float(np.log2(float(table[name]))) for name in "ab")
        return NOTHING if a > 3 else -((a - 1.5) ** 2) - (b + 2) ** 2

    state: Any = SimpleNamespace(look=look, keep=kept.append, claim=None)
    start: Any = SearchPoint({"a": fmpq(1), "b": fmpq(1)}, -6.25)
    polish.polish(state, start, np.random.default_rng(1))
    (best,) = kept
    table: Any = best.table
    assert best.score == look(table) > -0.01
    assert ("inside" in table) is stated
    assert np.log2([float(table[name]) for name in "ab"]) == pytest.approx([1.5, -2], abs=0.1)


def test_no_better_point_ends_the_climb(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a better point the search tries at most eight moves, with at most twenty evaluations each."""
    _use_numbers(monkeypatch, polish)
    monkeypatch.setattr(polish, "reduce_to_conditions", lambda *_: None)
    for count, turned in ((2, 2), (8, 8), (10, 8)):
        kept: list[SearchPoint] = []
        seen: list[Numbers] = []
        state: Any = SimpleNamespace(look=lambda t, s=seen: s.append(t) or NOTHING, keep=kept.append, claim=None)
        start: Any = SearchPoint({str(n): fmpq(1) for n in range(count)}, 0.0)
        polish.polish(state, start, np.random.default_rng(1))
        assert kept == [start]
        assert len({name for table in seen for name, value in table.items() if value != 1}) == turned
        assert turned < len(seen) <= 20 * turned


@pytest.mark.parametrize("view", [None, 2])
@pytest.mark.parametrize("reduced", [None, SearchPoint("reduced", 7.0)])  # type: ignore[arg-type]
def test_a_local_search_ends_where_it_has_climbed(
    view: int | None, reduced: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a term moved to the other side the start is evaluated again; a reduced run keeps its structure."""
    climbs: list[LocalClimb] = []
    kept: list[SearchPoint] = []
    monkeypatch.setattr(instance_search, "_choose", lambda *_: SearchPoint("start", 1.0))  # type: ignore[arg-type]
    monkeypatch.setattr(instance_search, "_move_term", lambda *_: view)
    starts: list[SearchPoint] = []
    monkeypatch.setattr(instance_search, "_reduce", lambda _, start, __: (starts.append(start), reduced)[1])
    monkeypatch.setattr(instance_search, "_make_all_moves", lambda climb, _: climbs.append(climb))
    state: Any = SimpleNamespace(claim=None, look=lambda _: 5.0, keep=kept.append, moved="unset")
    end = instance_search._climb(state, None, 60)  # type: ignore[arg-type]
    assert state.moved == view
    assert starts == [SearchPoint("start", 1.0 if view is None else 5.0)]  # type: ignore[arg-type]
    assert kept == [end] == [reduced or starts[0]]
    (climb,) = climbs
    assert climb.left == 60
    assert climb._structure is (list_variants if reduced is None else list_other_shapes)
    monkeypatch.setattr(instance_search, "_choose", lambda *_: None)
    assert instance_search._climb(state, None, 60) is None  # type: ignore[arg-type]
    assert len(kept) == 1


def test_moves_of_a_local_search_in_turn() -> None:
    """All kinds once, then factors, structure and twenty random moves, until the looks are used up."""
    done: list[Any] = []

    class Climb:
        left = 2

        def __getattr__(self, name: str) -> Any:
            def note(*given: Any) -> None:
                if name == "apply_random_scalings" and done[-1][0] != name:
                    self.left -= 1
                done.append((name, *given))

            return note

    instance_search._make_all_moves(Climb(), "random")  # type: ignore[arg-type]
    turn = [
        ("sweep_scalings", (2, 1, 0.5), "random"),
        ("sweep_structure",),
        *[("apply_random_scalings", "random", 2.0)] * 20,
    ]
    first = [("sweep_units",), ("sweep_scalings", (4, 2), "random"), ("remove_all_aspects",), ("move_to_largest_step",)]
    assert done == [*first, ("sweep_structure",), *turn, *turn]


def test_half_of_the_local_searches_leave_something_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each choice of aspects with the same probability, and none where the claim says nothing of the rest."""
    monkeypatch.setattr(instance_search, "remove_aspects", lambda table, names: (table, names))
    count = len(instance_search._ASPECTS)
    for number in range(2 * count):
        for score in (3.0, NOTHING):
            asked: list[int] = []
            generator: Any = SimpleNamespace(integers=lambda most, n=number, a=asked: a.append(most) or n)
            state: Any = SimpleNamespace(look=lambda _, s=score: s)
            found = instance_search._reduce(state, SearchPoint("run", 1.0), generator)  # type: ignore[arg-type]
            assert asked == [2 * count]
            left: Any = ("run", instance_search._ASPECTS[number]) if number < count else None
            expected = SearchPoint(left, 3.0) if number < count and score == 3.0 else None
            assert found == expected


def test_long_horizons_are_searched_with_all_terms_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reach and the moved term are as before afterwards."""
    seen: list[Any] = []
    state: Any = SimpleNamespace(claim=None, reach=NEAR, moved=3)
    state.look = lambda _: 2.0
    monkeypatch.setattr(instance_search, "remove_aspects", lambda table, names: (table, names))
    monkeypatch.setattr(instance_search, "_choose", lambda *_: SearchPoint("run", 1.0))  # type: ignore[arg-type]
    monkeypatch.setattr(
        instance_search,
        "_make_all_moves",
        lambda climb, _: seen.append((climb.at, climb.left, state.reach, state.moved, climb._structure)),
    )
    for may in (False, True):
        monkeypatch.setattr(instance_search, "_may_go_far", lambda _, may=may: may)
        instance_search._search_long_horizons(state, ("noise",), None)  # type: ignore[arg-type]
        assert (state.reach, state.moved) == (NEAR, 3)
        reduced: Any = ("run", ("noise",))
        assert seen == [(SearchPoint(reduced, 2.0), 400, FAR, None, list_other_shapes)] * may


def test_aspects_of_rays_are_scaled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients are only doubled, counts are rounded down to at least one, all else is multiplied."""
    _use_numbers(monkeypatch, rays)
    monkeypatch.setattr(rays, "with_clients", lambda _, chosen: chosen)
    monkeypatch.setattr(rays, "count_clients", lambda _: 3)
    with_power: Any = rays._scale_by_power
    table: Any = {"noise": fmpq(3), "algorithm": {"rounds": 5, "local_steps": [1, 2]}}
    assert with_power(table, "noise", 0) is table
    assert with_power(table, "clients", 2) == [0, 1, 2] * 4
    assert with_power(table, "clients", -1) is None
    assert with_power(table, "noise", -2)["noise"] == fmpq(3, 4)
    assert with_power(table, "start", 1) is None
    rounds = [with_power(table, "rounds", power) for power in (1, -1, -4)]
    assert [found["algorithm"]["rounds"] for found in rounds if found] == [10, 2, 1]
    assert with_power(table, "local steps", 1) is None


def _ray(reader: Any = None, penalties: Any = (0.0,)) -> Any:
    return Ray(reader, ScaledRun({"run": 1}), _reading(0.0), np.array(penalties))


def _reading(smaller: float) -> Logarithms:
    return Logarithms(smaller, np.array([1.0]), np.array([]))


def test_exponents_are_measured_per_power_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts are doubled, other aspects multiplied by four; an aspect without a reading has none."""
    monkeypatch.setattr(rays, "_list_aspects", lambda _: ["noise", "start", "rounds"])
    ray = _ray()
    asked: list[Any] = []

    def read(_: Any, point: ScaledRun) -> Logarithms | None:
        asked.append(dict(point.powers))
        return None if "start" in point.powers else _reading(6.0)

    ray._read = read
    found = ray._measure_exponents(None)
    assert asked == [{"noise": 2}, {"start": 2}, {"rounds": 1}]
    assert {name: one.smaller for name, one in found.items()} == {"noise": 3.0, "rounds": 6.0}


def test_points_ahead_are_tried_once_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """The best step for each largest change is tried, without those that are zero, missing or tried before."""
    asked: list[Any] = []
    monkeypatch.setattr(rays, "_bound_step", lambda *given: given)
    steps = {8: np.array([8, 0]), 4: np.array([8, 0]), 2: None, 1: np.array([0, 0])}

    def best(_: Any, __: Any, exponents: Any, is_equation: Any, room: Any) -> Any:
        asked.append((exponents, is_equation, room[2:]))
        return steps[room[3]]

    monkeypatch.setattr(rays, "find_best_step", best)
    ray = _ray(SimpleNamespace(is_equation="equation"))
    exponents = {"noise": _reading(1.0), "start": _reading(2.0)}
    points = list(ray._list_ahead(exponents, 77))
    assert [dict(point.powers) for point in points] == [{"noise": 8}]
    assert [one[2] for one in asked] == [(["noise", "start"], box, 77) for box in (8, 4, 2, 1)]
    assert asked[0][:2] == ([*exponents.values()], "equation")
    assert list(ray._list_ahead({}, 77)) == []


def test_steps_shrink_where_conditions_ask_for_it() -> None:
    """Steps shrink by 2, by 4 and by 16 in all, and the first allowed run is taken."""
    ray = _ray(SimpleNamespace(allows=lambda reading: reading.smaller == 1.0))
    for allowed, expected in (({}, {}), (-1, -1), (-2, -2), (-4, -4), (-3, None)):
        wanted: dict[str, Any] = {} if allowed == {} else {"local step size": allowed}
        ray._read = lambda _, point, w=wanted: _reading(1.0 if dict(point.powers) == w else 0.0)
        found = ray._shrink_to_allowed(None, ScaledRun({"run": 1}))
        assert (None if found is None else dict(found[0].powers)) == (None if expected is None else wanted)
    ray._read = lambda *_: None
    assert ray._shrink_to_allowed(None, ScaledRun({"run": 1})) is None


def test_points_beside_are_doubled_and_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rays, "_list_aspects", lambda _: ["a", "b", "c"])
    single = [dict(point.powers) for point in _ray()._list_neighbours(1)]
    assert single == [{name: power} for name in "abc" for power in (1, -1)]
    pairs = [dict(point.powers) for point in _ray()._list_neighbours(2)]
    assert len(pairs) == 12
    assert pairs[:4] == [{"a": 1, "b": 1}, {"a": 1, "b": -1}, {"a": -1, "b": 1}, {"a": -1, "b": -1}]


def test_room_of_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts stay at least one, clients fall to their first number at most, and runs do not get too long."""
    monkeypatch.setattr(rays, "count_clients", lambda _: 100)
    monkeypatch.setattr(rays, "count_steps", lambda _: 12)
    monkeypatch.setattr(rays, "MOST_ITERATES", 12 * 100 * 5)
    table: Any = {"algorithm": {"rounds": 3, "local_steps": 4}}
    at = ScaledRun(table, {"clients": 1})
    found: Room = rays._bound_step(at, table, ["noise", "local steps", "rounds", "clients"], 8, 99)
    assert [list(each) for each in (found.low, found.high)] == [[-8, -2, -1, -1], [8, 8, 8, 2]]
    assert [list(row) for row in found.sums] == [[0, 1, 1, 0], [0, 1, 1, 1]]
    assert list(found.most) == [3, 2]


def test_no_processes_are_refused() -> None:
    """A number of processes below one is refused before any claim is tried."""
    with pytest.raises(InputError, match="jobs"):
        verify([], jobs=0)


def test_runs_that_rays_may_not_reach_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs with features outside the setting, or without readings of all terms, are not read either."""
    monkeypatch.setattr(rays, "list_features", lambda _: {"noise"})
    for far, setting, smaller, terms, allowed, expected in (
        (True, {"noise"}, 0.0, 1, True, (False, False)),
        (False, set(), 0.0, 1, True, (False, False)),
        (False, {"noise"}, 0.0, 2, True, (False, False)),
        (False, {"noise"}, 0.0, 1, True, (True, False)),
        (False, {"noise", "more"}, 1.5, 1, True, (True, True)),
        (False, {"noise"}, 1.0, 1, True, (True, False)),
        (False, {"noise"}, 1.5, 1, False, (True, False)),
    ):
        read = Logarithms(smaller, np.ones(terms), np.array([]))
        ray = _ray(SimpleNamespace(read=lambda _, r=read: r, allows=lambda _, a=allowed: a))
        looked: list[Any] = []
        state = SimpleNamespace(
            tick=lambda: None, is_within_reach=lambda _, f=far: not f, setting=setting, look=looked.append
        )
        found = ray._read(state, ScaledRun({"run": 1}))
        assert (found is read, looked == [{"run": 1}]) == expected
        assert found is read or found is None


def test_penalties_are_laid_on_terms_that_are_there() -> None:
    """None first, then on all but one of those that are there; with a single one there is nothing to compare."""
    absent = NOTHING_THERE
    found = [each.tolist() for each in rays._list_penalties(np.array([1.0, absent, 2.0]))]
    assert found == [[0.0, 0.0, 0.0], [0.0, 3.0, 3.0], [3.0, 3.0, 0.0]]
    assert [each.tolist() for each in rays._list_penalties(np.array([1.0, absent]))] == [[0.0, 0.0]]


def test_the_curvature_of_one_client_is_scaled() -> None:
    """Others, and linear terms, stay unchanged."""
    one, other = [[fmpq(2), fmpq(1)], [fmpq(1), fmpq(4)]], [[fmpq(1), fmpq(0)], [fmpq(0), fmpq(1)]]
    table = {"problem": {"hessians": [one, other], "linear": [[1, 2], [3, 4]]}}
    scaled = generation._scale_curvature(table, 0, fmpq(1, 2))
    assert scaled["problem"]["hessians"] == [[[1, fmpq(1, 2)], [fmpq(1, 2), 2]], other]
    assert scaled["problem"]["linear"] == table["problem"]["linear"]

"""Choices of the search for violations against values by hand: orders, budgets, edges, what is tried and kept."""

from __future__ import annotations

from importlib import import_module
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from verify.falsify import exponents, instance_search, local_search, rays, scalings, search_result, search_state
from verify.falsify.local_search import LocalClimb
from verify.falsify.regimes import edge, evaluation
from verify.falsify.regimes import regime_search as regimes
from verify.falsify.regimes.edge import Edge
from verify.falsify.regimes.evaluation import Evaluation
from verify.falsify.score import NOTHING
from verify.falsify.search_result import Finding
from verify.falsify.search_state import FAR, NEAR, SearchPoint, SearchState

shrink: Any = import_module("verify.falsify.shrink")
"""The module `shrink`, whose name the package gives to a function."""


def _along(monkeypatch: pytest.MonkeyPatch, leads: dict[str, float], **given: Any) -> tuple[list[str], list[str], Any]:
    followed, refined, kept = list[str](), list[str](), list[Any]()
    state: Any = SimpleNamespace(claim=None, seconds=0.0, reach="before", keep=kept.append)

    class Ray:
        """A ray whose steps take time."""

        def __init__(self, name: str, lead: float) -> None:
            self.name, self.lead, self.proportions = name, lead, given.get("proportions", {}).get(name, name)

        def follow(self, _: Any, until: float) -> Any:
            followed.append(self.name)
            assert until == pytest.approx(min(10.0, state.seconds + rays._SHARE * 10.0))
            state.seconds += given.get("takes", 1.0)
            return given.get("ends", {}).get(self.name)

        def refine(self, _: Any, until: float) -> None:
            refined.append(self.name)
            assert until <= 10.0
            state.seconds += given.get("takes", 1.0)

    monkeypatch.setattr(rays, "LogarithmReader", lambda _: None)
    monkeypatch.setattr(rays, "_list_rays", lambda *_: [Ray(*one) for one in leads.items()])
    monkeypatch.setattr(rays, "count_clients", lambda table: table)
    rays.follow_rays(state, [], "far", 10.0)  # type: ignore[arg-type]
    assert state.reach is NEAR
    return followed, refined, kept


def test_rays_are_followed_in_turn_and_the_leading_ones_refined(monkeypatch: pytest.MonkeyPatch) -> None:
    """All rays are followed in the first half of the work; then the best ray of each kind is refined."""
    near = -rays._CLOSE / 2
    leads = {"a": near, "b": 1.0, "c": 3.0, "d": -2 * rays._CLOSE, "e": 2.0}
    followed, refined, kept = _along(monkeypatch, leads)
    assert (followed, refined, kept) == (list(leads), ["c", "e", "b", "a"], [])
    followed, refined, _ = _along(monkeypatch, leads, takes=2.5)
    assert (followed, refined) == (["a", "b"], ["b", "a"])
    followed, refined, _ = _along(monkeypatch, leads, takes=3.0)
    assert (followed, refined) == (["a", "b"], ["b", "a"])
    followed, refined, _ = _along(monkeypatch, leads, takes=4.0)
    assert (followed, refined) == (["a", "b"], ["b"])
    _, refined, _ = _along(monkeypatch, leads, proportions={"c": 1, "b": 1, "e": 2})
    assert refined == ["c", "e", "a"]


def test_small_ends_of_rays_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    few = rays._FEW_CLIENTS
    ends = {name: SimpleNamespace(table=count) for name, count in (("a", few), ("b", few + 1), ("c", 1))}
    _, _, kept = _along(monkeypatch, {"a": 0.0, "b": 0.0, "c": 0.0, "d": 0.0}, ends=ends)
    assert kept == [ends["a"], ends["c"]]


def test_residuals_are_those_at_the_optimal_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """y = <x, w> + r becomes <x, w> + r c; a row has as many entries as the model."""
    monkeypatch.setattr(scalings, "_read_problem", lambda _: SimpleNamespace(centre=[fmpq(2), fmpq(-1)]))
    table = {"problem": {"inputs": [[[1, 0], [1, 1]], [[0, 3]]], "outputs": [[fmpq(3), fmpq(1)], [fmpq(0)]]}}
    found = scalings._scale_residuals(table, fmpq(1, 2))["problem"]["outputs"]
    assert found == [[fmpq(5, 2), fmpq(1)], [fmpq(-3, 2)]]
    with pytest.raises(ValueError, match="zip"):
        scalings._scale_residuals({"problem": {"inputs": [[[1, 0, 0]]], "outputs": [[fmpq(1)]]}}, fmpq(1))


def test_a_card_of_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """The card has both sides, and the place if there is one."""
    monkeypatch.setattr(search_result, "describe_points", lambda claim, shown: f"{claim.id} at {shown.lhs}")
    monkeypatch.setattr(search_result, "choose_place", lambda found: found.place)
    given: Any = SimpleNamespace(
        claim=SimpleNamespace(id="t:a", statement=""),
        found=SimpleNamespace(place=SimpleNamespace(lhs=3.0, rhs=2.0)),
        best_ratio=1.5,
        summary=lambda: "summary",
        run_file="code",
    )
    card = Finding.card(given)
    assert dict(card.facts) == {"largest ratio": "1.5", "left side": "3", "right side": "2", "at": "t:a at 3.0"}
    given.found.place = None
    assert dict(Finding.card(given).facts) == {"largest ratio": "1.5"}
    given.found = None
    assert (Finding.card(given).title, Finding.card(given).code) == ("summary", "code")


def test_evaluations_of_a_search_in_regimes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Budgets grow with the evaluations."""
    monkeypatch.setattr(regimes, "Evaluation", lambda _: "evaluation")
    monkeypatch.setattr(regimes, "measure_work", lambda: 100.0)
    monkeypatch.setattr(regimes, "Violations", lambda claim, budget, _: (claim, budget))
    for evaluations in (1, 40, 41):
        made: Any = regimes._Searching("claim", evaluations, 3, lambda *_: None)  # type: ignore[arg-type]
        assert made._violations == ("claim", regimes._DECIDING * evaluations)
        assert made._end == 100.0 + regimes._WORK * evaluations
        assert made._random.random() == Random(3).random()


@pytest.mark.parametrize(
    ("scores", "repaired", "conditions", "expected"),
    [
        ({"new": 2.0}, None, True, ("new", 2.0)),
        ({"new": 1.0}, None, True, None),
        ({"new": 1.0 + 2e-9}, None, True, ("new", 1.0 + 2e-9)),
        ({"new": NOTHING, "repaired": 3.0}, "repaired", True, ("repaired", 3.0)),
        ({"new": NOTHING, "repaired": 3.0}, "repaired", False, None),
        ({"new": NOTHING, "repaired": 0.5}, "repaired", True, None),
        ({"new": NOTHING}, None, True, None),
    ],
)
def test_moves_that_are_better_replace_the_present_run(
    scores: dict[str, float], repaired: str | None, conditions: bool, expected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run outside of the conditions is repaired first, where there are conditions."""
    monkeypatch.setattr(local_search, "reduce_to_conditions", lambda *_: repaired)
    claim: Any = SimpleNamespace(run_conditions=[1] if conditions else [])
    start = SearchPoint("old", 1.0)  # type: ignore[arg-type]
    climb = LocalClimb(claim, scores.__getitem__, start, 2, lambda _: iter(()))  # type: ignore[arg-type]
    assert climb.tries("new") is (expected is not None)  # type: ignore[arg-type]
    assert (climb.at.table, climb.at.score) == (expected or ("old", 1.0))
    assert climb.tries(None) is False
    assert climb.left == 0
    assert climb.tries("new") is False  # type: ignore[arg-type]


@pytest.mark.parametrize(("rate", "mixed", "fresh"), [(None, 1, 0), (None, 0, 1), (None, 0, 0), ("rate", 1, 1)])
def test_starts_of_searches(rate: Any, mixed: int, fresh: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Along rays from mixed runs and the best new one, else local searches; of rates only instances."""
    done: list[Any] = []
    monkeypatch.setattr(instance_search, "_try", lambda _, instances: done.append(len(list(instances))))
    monkeypatch.setattr(instance_search, "list_mixed_runs", lambda *_: ["mixed"] * mixed)
    monkeypatch.setattr(instance_search, "_rank_for_long_horizons", lambda place: place.order)
    monkeypatch.setattr(instance_search, "_try_edges", lambda _, runs, until: done.append(("edge", list(runs), until)))
    monkeypatch.setattr(instance_search, "_may_go_far", lambda _: True)
    monkeypatch.setattr(
        instance_search, "follow_rays", lambda _, runs, __, until: done.append(("rays", list(runs), until))
    )
    monkeypatch.setattr(instance_search, "_climb", lambda *_: done.append("climb"))
    places = [SimpleNamespace(table="second", order=2), SimpleNamespace(table="first", order=1)] * fresh
    state: Any = SimpleNamespace(
        claim=SimpleNamespace(rate=rate, run_conditions=[1]), setting=set(), fresh=places, seconds=5.0, budget=100.0
    )
    instance_search._begin(state, iter(range(999)), None)  # type: ignore[arg-type]
    runs = [] if rate else [*["mixed"] * mixed, *["first"] * fresh]
    expected: list[Any] = [
        999 if rate else instance_search._FIRST,
        ("edge", runs, 5.0 + instance_search._AT_EDGES * 100),
    ]
    climbs = ["climb"] * min(2 * fresh, instance_search._FOLLOWED)
    expected += [("rays", runs, 5.0 + instance_search._ALONG[FAR] * 100)] if runs else climbs
    assert done == expected


@pytest.mark.parametrize("floats", [True, False])
@pytest.mark.parametrize("enclosures", [True, False])
def test_instances_start_in_floats_where_their_family_is_rounded(
    floats: bool, enclosures: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instance_search, "FAMILIES", {"f": SimpleNamespace(in_floats=floats, in_enclosures=enclosures)})
    started: list[Any] = []
    state: Any = SimpleNamespace(looked=0)

    def start_from(run: Any, in_floats: bool) -> None:
        started.append((run, in_floats))
        state.looked += 1

    state.start_from = start_from
    instance: Any = SimpleNamespace(family="f", run=lambda: "run")
    assert instance_search._try(state, iter([instance])) is True
    assert started == [("run", floats or enclosures)]
    assert instance_search._try(state, iter([])) is False


def _edge(excesses: Any, *, equations: bool = False) -> Any:
    """An edge of conditions whose excesses are functions of the power of two of the factor."""
    run: Any = SimpleNamespace(power=0.0)
    run.with_step_factor = lambda factor: SimpleNamespace(power=run.power + np.log2(factor))
    given: Any = SimpleNamespace(_equations=np.array([equations]), _search_by_halving=lambda _: "halved")
    given._excesses = lambda at: np.array([one(at.power) for one in excesses])
    given._allows = lambda at: bool((given._excesses(at) <= 0).all())
    return given, run


@pytest.mark.parametrize(("slope", "excess"), [(1.0, -3.0), (2.0, -3.0), (0.5, 1.0), (2.0, 1.0)])
def test_edges_along_straight_lines(slope: float, excess: float) -> None:
    """An excess e + s p in the power p of two is zero at -e/s: the smallest of them is the edge."""
    given, run = _edge([lambda power: excess + slope * power, lambda power: excess - 1 + slope * power])
    here, twice = given._excesses(run), np.array([excess + slope, excess - 1 + slope])
    found = Edge._solve_linearly(given, run, here, twice - here, np.array([False, False]))
    assert found == pytest.approx(2.0 ** (-excess / slope))


def test_edges_without_straight_lines_are_searched_by_halving() -> None:
    """A step stays where nothing grows, or where larger steps are allowed as well."""
    given, run = _edge([lambda power: -1.0 - power])
    here, halved = given._excesses(run), list[Any]()
    halved.append(Edge._solve_linearly(given, run, here, np.array([-1.0]), np.array([False])))
    halved.append(Edge._solve_linearly(given, run, here, np.array([1.0]), np.array([True])))
    wide, run = _edge([lambda _: -1.0])
    halved.append(Edge._solve_linearly(wide, run, np.array([-1.0]), np.array([1.0]), np.array([False])))
    assert halved == ["halved"] * 3


@pytest.mark.parametrize("fails", [True, False])
@pytest.mark.parametrize("depends", [True, False])
def test_edges_of_claims_without_conditions(fails: bool, depends: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a bound where no assumption was seen to depend on the step size, else by halving."""
    monkeypatch.setattr(edge, "premises", lambda claim: (claim,))
    monkeypatch.setattr(edge, "list_failures_among", lambda asked, run: asked == ("claim",) and run == "run" and fails)
    given: Any = SimpleNamespace(_claim="claim", _links=[], depends_on_step=depends, _search_by_halving=lambda _: 4.0)
    assert Edge._largest(given, "run") == (4.0 if fails or depends else edge.UNBOUNDED)  # type: ignore[arg-type]


@pytest.mark.parametrize(("here", "expected"), [(1.0, None), (-1.0, "along"), (0.0, "along")])
def test_conditions_that_fail_for_every_step_size(here: float, expected: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """No factor helps if a condition without the step size fails; slopes are those of a doubled step size."""
    monkeypatch.setattr(edge, "premises", lambda _: ())
    monkeypatch.setattr(edge, "list_failures_among", lambda *_: [])
    given, run = _edge([lambda _: here, lambda power: 3.0 * power])
    given._claim, given._links = None, ["link"]
    seen: list[Any] = []
    given._solve_linearly = lambda _, *parts: seen.append([part.tolist() for part in parts]) or "along"
    assert Edge._largest(given, run) == expected
    assert seen == ([] if expected is None else [[[here, 0.0], [0.0, 3.0], [True, False]]])


@pytest.mark.parametrize("formula", [None, "1/8"])
def test_step_sizes_that_claims_state(formula: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Are those of the run in rationals; without a value there the point's own stays."""
    monkeypatch.setattr(evaluation, "build_problem", lambda *_: {"kind": "p"})
    parsed: list[Any] = []
    monkeypatch.setattr(evaluation, "parse_run", lambda table, arithmetic: parsed.append((dict(table), arithmetic)))
    subject: Any = SimpleNamespace(
        table=lambda *_: {"local_step_size": "1/4", "rounds": 2},
        is_decreasing=False,
        stated=SimpleNamespace(formula_on=lambda _: formula),
    )
    found = Evaluation._table(SimpleNamespace(subject=subject), {}, fmpq(1, 4), 2)  # type: ignore[arg-type]
    assert found["problem"] == {"kind": "p"}
    assert found["algorithm"] == {"local_step_size": formula or "1/4", "rounds": 2}
    assert [arithmetic for _, arithmetic in parsed] == [RATIONAL]


def test_progress_of_a_search_ends_at_its_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look is reported; one that would last beyond the budget is not begun."""
    shown: list[float] = []
    monkeypatch.setattr(search_state, "spend_a_try", lambda: None)
    for seconds, worked, ends in ((3.7, 1.0, False), (12.2, 1.0, True), (9.5, 1.0, True), (9.5, 0.4, False)):
        monkeypatch.setattr(search_state, "measure_work", lambda worked=worked: worked)
        state: Any = SimpleNamespace(
            looked=4, seconds=seconds, budget=10.0, _last=0.0, _usual_cost=0.0, _on_tick=lambda: shown.append(0)
        )
        if ends:
            with pytest.raises(search_state.SearchDone):
                SearchState.tick(state)
        else:
            SearchState.tick(state)
        assert (state.looked, state._last, state._usual_cost) == (5, worked, worked)
    assert len(shown) == 4


@pytest.mark.parametrize("conditions", [(), ("eta <= 1",)])
def test_the_largest_step_is_tried_where_conditions_bound_it(
    conditions: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_search, "move_to_edge", lambda claim, table: (claim.run_conditions, table))
    tried: list[Any] = []
    climb: Any = SimpleNamespace(
        _claim=SimpleNamespace(run_conditions=conditions), at=SimpleNamespace(table="table"), tries=tried.append
    )
    LocalClimb.move_to_largest_step(climb)
    assert tried == ([(conditions, "table")] if conditions else [])


def test_a_reading_is_at_the_worst_relation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Among the claim's own ones, whatever the scores of its conditions are; none without anything to compare."""

    def comparison(score: float, size: float, operator: str = "<=") -> Any:
        return SimpleNamespace(score=score, size=size, relation=SimpleNamespace(operator=operator))

    def reading(*comparisons: Any, own: int = 2) -> Any:
        monkeypatch.setattr(exponents, "evaluate_run", lambda *_: SimpleNamespace(comparisons=list(comparisons)))
        reader: Any = SimpleNamespace(_claim=None, _own=own)
        return exponents.LogarithmReader._compute_reading(reader, {})

    monkeypatch.setattr(exponents, "_score_comparison", lambda _, one: one.score)
    monkeypatch.setattr(exponents, "_split_by_sign", lambda one: ([one.size], [1.0]))
    monkeypatch.setattr(exponents, "_compute_log_quotient", lambda one: one.size)
    low, high, condition = comparison(1.0, 2.0), comparison(3.0, 8.0), comparison(9.0, 5.0)
    assert reading(low, high, condition).smaller == 3.0
    assert reading(high, low, condition).smaller == 3.0
    assert list(reading(low, high, condition).conditions) == [5.0]
    assert reading(low, comparison(3.0, 8.0, "=="), condition) is None
    assert reading(low, comparison(3.0, 0.0), condition) is None
    assert reading() is None


@pytest.mark.parametrize(("count", "each"), [(1, True), (4 * shrink._MANY, True), (4 * shrink._MANY + 1, False)])
def test_numbers_are_replaced_one_by_one_where_they_are_few(
    count: int, each: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shrink, "list_number_keys", lambda: ["key"])
    monkeypatch.setattr(shrink, "get", lambda *_: [1] * count)
    monkeypatch.setattr(shrink, "iterate_numbers", lambda numbers: numbers)
    monkeypatch.setattr(shrink, "list_simpler", lambda _: [])
    places: list[int] = []

    def simpler_at(_: str, place: int) -> bool:
        places.append(place)
        return place == 0

    given: Any = SimpleNamespace(table={}, _simplify_at=simpler_at)
    assert shrink._Shrinking._simplify_numbers(given) is each
    assert places == (list(range(count)) if each else [])

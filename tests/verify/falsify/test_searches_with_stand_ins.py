"""States of searches, generated and mixed runs, rays and exact decisions, with stand-ins for runs, by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from claim_symbols import WHERE, L, eta
from falsify_tables import _table
from flint import fmpq

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.errors import InputError
from fedtheory.language.claim import Claim
from verify.falsify import generation, mixed_runs, score, search_state
from verify.falsify.equal_sides import solve_equations
from verify.falsify.exponents import NOTHING_THERE
from verify.falsify.instance_search import _rank_for_long_horizons
from verify.falsify.local_search import find_factor_within
from verify.falsify.rays import Ray
from verify.falsify.regimes import confirmation, edge
from verify.falsify.regimes.edge import Edge, _excess
from verify.falsify.regimes.regime_search import Search
from verify.falsify.run_tables import get
from verify.falsify.score import NOTHING
from verify.falsify.search_state import _MARGIN, CheckedPoint, SearchDone, SearchPoint, SearchState

CLAIM = Claim(id="t:stand-ins", lhs=eta, rhs=L, where=WHERE)


def _found(holds: bool | None = True, own: float = 0.5, **more: Any) -> Any:
    known = {"holds": holds, "score": own, "applicable": True, "arithmetic": RATIONAL, "rate": None}
    return SimpleNamespace(**known | more)


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a search over tables that describe themselves."""
    monkeypatch.setattr(search_state, "list_features", lambda table: table.get("features", set()))
    monkeypatch.setattr(search_state, "score", lambda found, *_: found.score)
    monkeypatch.setattr(search_state, "is_moving", lambda table: table.get("lively", True))
    monkeypatch.setattr(search_state, "_is_confirmable", lambda table: table.get("confirmable", True))
    monkeypatch.setattr(search_state, "evaluate_run", lambda _, table, *__: table.get("found"))
    return SearchState(CLAIM, 100.0)


@pytest.mark.parametrize(
    ("table", "clear"),
    [
        ({"found": _found(False, 2 * _MARGIN)}, True),
        ({"found": _found(False, _MARGIN)}, False),
        ({"found": _found(None, 1.0)}, False),
        ({"found": _found(True, 1.0)}, False),
        ({"found": _found(False, 1.0, applicable=False)}, False),
        ({"found": _found(False, 1.0), "features": {"other"}}, False),
        ({}, False),
    ],
)
def test_violations_with_a_margin(table: Any, *, clear: bool, state: Any) -> None:
    assert state._is_clear(table) is clear


def test_violations_that_no_exact_check_decides(state: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that are too long, refused or undecided in rationals are counted; a violation ends the search."""
    written: dict[str, Any] = {"found": _found(None)}

    def write(table: Any) -> Any:
        if "refused" in table:
            raise InputError("rounds", "too long")
        return {"written": table["n"]}

    monkeypatch.setattr(search_state, "write_table", write)
    monkeypatch.setattr(search_state, "parse_run", lambda table, _: table)
    monkeypatch.setattr(search_state, "check", lambda *_: written["found"])
    for count, table in enumerate(({"confirmable": False}, {"refused": True}, {"n": 1}), start=1):
        state._confirm(table)
        assert state.left_open == count
    written["found"] = _found(True)
    state._confirm({"n": 1})
    assert (state.left_open, state.violation) == (3, None)
    written["found"] = _found(False, 0.75)
    with pytest.raises(SearchDone):
        state._confirm({"n": 2})
    assert (state.violation, state.left_open) == (({"written": 2}, written["found"]), 3)


def test_arithmetic_of_a_search(state: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Short runs are checked in rationals; runs of a far search, and rates, are checked in floats."""
    monkeypatch.setattr(search_state, "choose_fast_arithmetic", lambda _: RATIONAL)
    assert state._choose_arithmetic({}) is RATIONAL
    state.reach = search_state.FAR
    assert state._choose_arithmetic({}) is FLOAT
    state.reach, state.claim = search_state.NEAR, SimpleNamespace(rate=1)
    assert state._choose_arithmetic({}) is FLOAT


def test_the_best_run_is_one_that_moves(state: Any) -> None:
    """The claim holds on it; a run that moves comes before one that does not, whatever the scores."""
    for table, found, kept in (
        ({"lively": False, "n": 1}, _found(True, 0.5), 1),
        ({"n": 2}, _found(True, 0.25), 2),
        ({"lively": False, "n": 3}, _found(True, 0.75), 2),
        ({"n": 4}, _found(True, 0.25), 2),
        ({"n": 5}, _found(None, 0.75), 2),
        ({"n": 6}, _found(True, 0.3), 6),
    ):
        assert state._record(table, found) == found.score
        assert state.best.table["n"] == kept
    assert state.applicable == 6
    assert state.left_open == 0


def test_a_better_run_in_floats_is_repeated_exactly(state: Any) -> None:
    exact = _found(True, 0.2)
    assert state._record({"found": exact, "n": 1}, _found(True, 0.5, arithmetic=FLOAT)) == 0.2
    assert isinstance(state.best, CheckedPoint)
    assert state.best.found is exact
    seen = _found(True, 0.9, arithmetic=FLOAT)
    assert state._record({"found": exact, "n": 2, "confirmable": False}, seen) == 0.9
    assert state.best.found is seen


def test_scores_of_rates_and_of_what_does_not_apply() -> None:
    """The score of a rate is the logarithm of its largest constant; runs to which it does not apply have none."""

    def found(**given: Any) -> Any:
        return SimpleNamespace(**{"applicable": True, "rate": None, "comparisons": (), **given})

    assert score.score(found(applicable=False)) == NOTHING
    assert score.score(found()) == NOTHING
    assert score.score(found(rate=SimpleNamespace(constant=4.0))) == pytest.approx(math.log(4))
    assert score.score(found(rate=SimpleNamespace(constant=None))) == -98


@pytest.mark.parametrize(
    ("many", "steps", "asked", "expected"),
    [
        (True, [2, 1], (), [2, 1]),
        (False, [2, 1], (), None),
        (True, [2, 1], (1, 4), 4),
        (False, [2, 1], (1, 4), 1),
        (False, 3, (2, 4), None),
        (True, 3, (1,), None),
    ],
)
def test_local_steps_of_generated_runs(
    many: bool, steps: Any, asked: Any, expected: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generation, "list_allowed_counts", lambda *_: asked)
    kind: Any = SimpleNamespace(many_steps=many)
    found = generation._set_local_steps(CLAIM, _table(2, steps=steps), kind, np.random.default_rng(0))
    assert (None if found is None else get(found, "algorithm.local_steps")) == expected


def test_step_sizes_of_generated_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Step sizes are those that a claim states, or else a factor within the conditions, sometimes at their edge."""
    moves: list[Any] = []
    monkeypatch.setattr(generation, "with_stated_sizes", lambda *_: "stated")
    monkeypatch.setattr(generation, "stated_by", lambda _: [True])
    run: Any = "run"
    draws: Any = SimpleNamespace(integers=lambda _: 0)
    assert generation._choose_step_size(CLAIM, run, draws) == "stated"  # type: ignore[comparison-overlap]
    monkeypatch.setattr(generation, "stated_by", lambda _: [])
    monkeypatch.setattr(generation, "_pick", lambda *_: fmpq(1, 2))
    monkeypatch.setattr(generation, "scale_steps", lambda one, factor: (one, factor))

    def change_by(factor_of: Any, _claim: Any, one: Any) -> Any:
        moves.append(factor_of)
        return one

    monkeypatch.setattr(generation, "_change_by", change_by)
    assert generation._choose_step_size(CLAIM, run, draws) == ("run", fmpq(1, 2))  # type: ignore[comparison-overlap]
    assert moves == []
    bounded: Any = SimpleNamespace(run_conditions=[1], assumptions=())
    order = [solve_equations, find_factor_within]
    for drawn, expected in ((0, [*order, generation._find_largest_factor]), (1, order)):
        moves.clear()
        generation._choose_step_size(bounded, run, SimpleNamespace(integers=lambda _, drawn=drawn: drawn))  # type: ignore[arg-type]
        assert moves == expected


def test_mixed_runs_use_one_step_size() -> None:
    for given, expected in ((fmpq(1, 3), mixed_runs._STEP), ([fmpq(1, 3), fmpq(1, 5)], [mixed_runs._STEP] * 2)):
        assert (
            get(mixed_runs._equalise_steps(_table(2, local_step_size=given)), "algorithm.local_step_size") == expected
        )


@pytest.mark.parametrize(("weights", "kept"), [(2, True), (3, False)])
def test_weights_of_as_many_clients_are_kept(weights: int, *, kept: bool) -> None:
    table = _table(2)
    table["problem"]["weights"] = [fmpq(1, weights)] * weights
    shape: Any = SimpleNamespace(curvatures=[[1, 2], [3, 4]], linear=[1, -1], start=[1, 0], clients=2)
    found = mixed_runs._set_problem(table, shape, None)
    assert ("weights" in found["problem"]) is kept
    assert found["problem"]["linear"] == [[1, 1], [-1, -1]]
    assert "noise" not in found["problem"]
    assert mixed_runs._set_problem(table, shape, fmpq(5))["problem"]["noise"] == [5, 5]


def test_proportions_at_the_end_of_a_ray() -> None:
    """Proportions are the terms over the smaller side, in powers of two; a term that vanishes has its own mark."""
    reading = SimpleNamespace(
        terms=np.array([3.0, NOTHING_THERE]),
        smaller=1.0,
        conditions=np.array([-2.0]),
        lead=lambda penalties: penalties + 7,
    )
    ray: Any = SimpleNamespace(_reading=reading, _penalties=5.0)
    assert Ray.proportions.fget(ray) == (2.0, NOTHING_THERE, -2.0)  # type: ignore[attr-defined]
    assert Ray.lead.fget(ray) == 7.0  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("exact", "enclosed", "decides"),
    [(1.0, 9.0, "exact"), (1.1, 1.0, "enclosed"), (1.1, 1.1, None), (1.1, None, None)],
)
def test_arithmetic_that_decides(exact: float, enclosed: Any, decides: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rationals if these are affordable, else enclosures; a run that cannot be enclosed is left open."""
    monkeypatch.setattr(confirmation, "_MOST", 1.0)
    monkeypatch.setattr(confirmation, "parse_run", lambda *_: "exact")
    monkeypatch.setattr(confirmation, "estimate_simulation", lambda run: exact if run == "exact" else enclosed)
    monkeypatch.setattr(confirmation, "make_decidable", lambda run: run if enclosed is None else "enclosed")
    monkeypatch.setattr(confirmation, "check", lambda _, run: run)
    assert confirmation._decide(CLAIM, {}) == decides
    monkeypatch.setattr(confirmation, "read", lambda _: None)
    assert confirmation.estimate_exact_work({}) == 0.0
    assert confirmation._estimate_work(SimpleNamespace(table=None)) == 0.0  # type: ignore[arg-type]
    monkeypatch.setattr(confirmation, "read", lambda _: "exact")
    assert confirmation.estimate_exact_work({}) == exact
    assert confirmation._estimate_work(SimpleNamespace(table={})) == exact  # type: ignore[arg-type]


def test_step_sizes_that_conditions_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Step sizes are allowed if no assumption and no condition fails; a run without a value is not allowed."""
    compared: list[Any] = []
    failing: list[Any] = []
    monkeypatch.setattr(edge, "premises", lambda _: [])
    monkeypatch.setattr(edge, "list_failures_among", lambda *_: failing)
    found: Any = SimpleNamespace(_claim=None, _compare=lambda _: compared)
    run: Any = None
    for answers, allowed in (([], True), ([True, None], True), ([True, False], False)):
        compared[:] = [SimpleNamespace(holds=holds) for holds in answers]
        assert Edge._allows(found, run) is allowed
    compared.clear()
    failing.append("noise")
    assert Edge._allows(found, run) is False

    def refuse(*_: Any) -> Any:
        raise InputError("rounds", "too long")

    monkeypatch.setattr(edge, "list_failures_among", refuse)
    assert Edge._allows(found, run) is False


@pytest.mark.parametrize(
    ("smaller", "larger", "expected"),
    [(4.0, 1.0, 2.0), (1.0, 8.0, -3.0), (-1.0, 1.0, -math.inf), (1.0, -1.0, math.inf), (0.0, 0.0, math.inf)],
)
def test_excesses_of_conditions(smaller: float, larger: float, expected: float) -> None:
    assert _excess(smaller, larger) == expected


def test_the_largest_ratio_of_all_regimes() -> None:
    def largest(*ratios: float | None) -> float | None:
        regimes: Any = [SimpleNamespace(largest_ratio=ratio) for ratio in ratios]
        found: Any = SimpleNamespace(regimes=regimes)
        return Search.largest_ratio.fget(found)  # type: ignore[attr-defined,no-any-return]

    assert largest(0.5, None, 0.75) == 0.75
    assert largest(None) is largest() is None


def test_runs_that_rays_start_from() -> None:
    """Without batches first, since their long horizons are fast; among these the best run."""
    batches = _table(2)
    batches["problem"]["batch"] = 3
    points = [SearchPoint(batches, 9.0), SearchPoint(_table(2), 1.0), SearchPoint(_table(2), 2.0)]
    assert [_rank_for_long_horizons(point) for point in points] == [(True, -9.0), (False, -1.0), (False, -2.0)]
    assert min(points, key=_rank_for_long_horizons) is points[2]

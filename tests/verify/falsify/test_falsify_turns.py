"""Turns of the search for violations against values by hand: which scalings, numbers and views it takes."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from claim_symbols import WHERE, D, L, eta
from flint import fmpq

from fedtheory.arithmetic import FLOAT
from fedtheory.language.claim import Claim
from verify.falsify import instance_search, local_search, search_state
from verify.falsify.local_search import LocalClimb
from verify.falsify.rays import Ray
from verify.falsify.regimes.edge import Edge
from verify.falsify.regimes.evaluation import Seen
from verify.falsify.regimes.regime_search import _Searching
from verify.falsify.regimes.violations import SETTLED
from verify.falsify.run_tables import Table
from verify.falsify.search_state import SearchPoint
from verify.falsify.shrink import _Shrinking

CLAIM = Claim(id="t:turns", lhs=eta, rhs=L, where=WHERE)


@pytest.mark.parametrize(("count", "drawn", "turned"), [(3, 4, 3), (3, 1, 1), (9, 4, 4)])
def test_a_few_scalings_are_applied_at_once(
    count: int, drawn: int, turned: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No more than there are, each once; one that cannot be turned leaves no run to try."""
    asked: list[Any] = []
    monkeypatch.setattr(local_search, "list_scalings", lambda _: list(range(count)))
    monkeypatch.setattr(local_search, "apply_scaling", lambda table, scaling, _: asked.append(scaling) or table)
    choice = np.random.default_rng(0).choice
    generator: Any = SimpleNamespace(integers=lambda *_: drawn, standard_normal=lambda: 0.0, choice=choice)
    climb = LocalClimb(CLAIM, lambda _: 5.0, SearchPoint({}, 0.0), 9, lambda _: iter(()))
    climb.apply_random_scalings(generator, 2.0)
    assert (len(asked), len(set(asked)), climb.at.score) == (turned, turned, 5.0)
    monkeypatch.setattr(local_search, "apply_scaling", lambda *_: asked.append("never"))
    climb.apply_random_scalings(generator, 2.0)
    assert asked.count("never") == 1
    assert climb.left == 7


def test_all_equal_numbers_are_made_simpler_at_once() -> None:
    """All equal numbers are replaced together until one replacement is accepted; then one by one, if these are few."""
    problem = {"kind": "quadratic", "hessians": [[[fmpq(7, 9)]]] * 2, "linear": [[fmpq(0)]] * 2, "start": [fmpq(0)]}
    table: Table = {"problem": problem, "algorithm": {"local_step_size": fmpq(0), "rounds": 1}}
    tried: list[Any] = []

    def shrinking(accepts: Any) -> Any:
        one: Any = SimpleNamespace(table=table, _simplify_at=lambda *_: False)

        def tries(other: Table) -> bool:
            tried.append([hessian[0][0] for hessian in other["problem"]["hessians"]])
            return bool(accepts(tried[-1][0]))

        one._tries = tries
        return one

    assert _Shrinking._simplify_numbers(shrinking(lambda number: number == 1))
    assert all(one == other for one, other in tried)
    assert tried[-1] == [1, 1]
    tried.clear()
    assert not _Shrinking._simplify_numbers(shrinking(lambda _: False))
    assert len(tried) > 5


def test_directions_are_refined_while_one_improves() -> None:
    """With one aspect, else with two at once; until the time is over."""
    asked: list[int] = []
    state: Any = SimpleNamespace(seconds=0.0)

    def felt(leads: dict[int, int]) -> list[int]:
        asked.clear()

        def moves(_state: Any, count: int) -> bool:
            asked.append(count)
            leads[count] -= 1
            return leads[count] >= 0

        ray: Any = SimpleNamespace(_penalties=np.ones(2), _list_neighbours=lambda count: count, _move_to_best=moves)
        Ray.refine(ray, state, 5.0)
        assert (ray._penalties == 0).all()
        return list(asked)

    assert felt({1: 2, 2: 0}) == [1, 1, 1, 2]
    assert felt({1: 0, 2: 1}) == [1, 2, 1, 2]
    state.seconds = 5.0
    assert felt({1: 9, 2: 9}) == []


def test_terms_that_are_moved_to_the_other_side() -> None:
    """One of the most that a relation has, every other time that there are several."""
    asked: list[int] = []
    for draws, expected in (([1], 0), ([0], None)):
        steps = iter(draws)

        def integers(most: int, steps: Any = steps) -> int:
            asked.append(most)
            return next(steps) if most == 2 else 0

        generator: Any = SimpleNamespace(integers=integers)
        several = Claim(id="t:two", lhs=eta, rhs=L + D + 1, where=WHERE)
        assert instance_search._move_term(several, generator) == expected
    assert set(asked) == {2, 3}
    assert instance_search._move_term(Claim(id="t:one", lhs=eta, rhs=L, where=WHERE), SimpleNamespace()) is None  # type: ignore[arg-type]


def test_evaluations_are_shared_among_ascents(monkeypatch: pytest.MonkeyPatch) -> None:
    """At most fifteen ascents share the evaluations, with at least 160 each, and none begins without evaluations."""
    given: list[int] = []
    state = SimpleNamespace(count=0)

    class Climb:
        """An ascent that uses all its evaluations."""

        def __init__(self, *_: Any, **__: Any) -> None:
            pass

        def climb_from(self, _start: Any, evaluations: int) -> None:
            given.append(evaluations)
            state.count += evaluations

    monkeypatch.setattr("verify.falsify.regimes.regime_search.LevelClimb", Climb)
    for starts, most, expected in ((2, 3000, [1500, 1500]), (30, 3000, [200] * 15), (3, 300, [160, 140]), (1, 0, [])):
        given.clear()
        state.count = 0
        searching: Any = SimpleNamespace(
            _evaluation=state,
            _random=None,
            _look=None,
            _progress=None,
            _most=most,
            _list_subtracting=list,
            _list_promising=list,
        )
        searching._choose_starts = lambda _, starts=starts: (list(range(starts)), [], [])
        _Searching._climb(searching, {})
        assert given == expected


def test_runs_are_made_larger_once_all_kinds_were_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes from one to eight; none for a rate, and no members in floats."""
    families = {"a": SimpleNamespace(in_floats=False), "b": SimpleNamespace(in_floats=True)}
    members = [SimpleNamespace(family=name, run=lambda: "run") for name in "ab" * 9]
    sizes: list[tuple[str, int]] = []
    monkeypatch.setattr(instance_search, "list_starts", lambda *_: iter(members))
    monkeypatch.setattr(instance_search, "count_instances", lambda _: len(members))
    monkeypatch.setattr(instance_search, "FAMILIES", families)
    monkeypatch.setattr(instance_search, "KINDS", ("x", "y"))
    monkeypatch.setattr(instance_search, "find_bases", lambda _: None)
    monkeypatch.setattr(instance_search, "run_table", lambda run: run)
    claim: Any = SimpleNamespace(rate=None)
    monkeypatch.setattr(
        instance_search, "check", lambda given, run: "check" if given is claim and run == "run" else None
    )
    monkeypatch.setattr(instance_search, "generate_run", lambda _, __, kind, size, ___: sizes.append((kind, size)))
    assert list(instance_search._list_small_runs(claim, None)) == [("run", "check")] * 9  # type: ignore[arg-type]
    assert sizes == [(kind, size) for size in range(1, 9) for kind in "xy"]
    sizes.clear()
    claim.rate = 1
    assert len(list(instance_search._list_small_runs(claim, None))) == 9  # type: ignore[arg-type]
    assert sizes == []


def test_only_a_better_run_is_repeated_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rationals are asked where floats see more than the best run so far has."""
    asked: list[Any] = []
    monkeypatch.setattr(search_state, "evaluate_run", lambda _, table: asked.append(table))
    monkeypatch.setattr(search_state, "is_moving", lambda _: True)
    monkeypatch.setattr(search_state, "_is_confirmable", lambda _: True)
    monkeypatch.setattr(search_state, "score", lambda found: found.score)
    state = search_state.SearchState(CLAIM, 1e9)
    for score, count, best in ((-2.0, 1, -2.0), (-3.0, 1, -2.0), (-2.0, 1, -2.0), (-1.0, 2, -1.0)):
        found: Any = SimpleNamespace(arithmetic=FLOAT, holds=True, score=score)
        assert state._record({"score": score}, found) == score
        assert state.best is not None
        assert (len(asked), state.best.score) == (count, best)
    assert state.applicable == 4


def test_ascents_by_what_is_subtracted() -> None:
    """From the best run of each set of sources without a start, where the balanced score is another one."""

    def seen(sources: str, score: float, balanced: float, loss: Any = None, applies: bool = True) -> Any:
        return Seen({"sources": sources, "loss": loss}, score, {} if applies else None, True, balanced=balanced)

    runs = [
        seen("n", -5.0, -3.0),
        seen("n", -6.0, -2.0),
        seen("p", -5.0, -4.995),
        seen("np", -5.0, -1.0, loss="Huber"),
        seen("np", -5.0, -1.0, applies=False),
        seen("s", -5.0, -1.0),
        seen("np", SETTLED + 1, 5.0),
    ]

    def starts() -> list[Any]:
        known = dict(enumerate(runs))
        searching: Any = SimpleNamespace(_evaluation=SimpleNamespace(known=known))
        return list(_Searching._list_subtracting(searching))

    assert starts() == [runs[1]]
    runs.append(seen("np", SETTLED + 1.01, -5.0))
    assert starts() == [runs[1], runs[-1]]
    searching: Any = SimpleNamespace(
        _evaluation=SimpleNamespace(
            known=dict(enumerate([seen("sn", -5.0, 0.0), seen("sn", -7.0, 0.0), seen("n", -1.0, 0.0)]))
        ),
        _progress=lambda one: -one.score,
    )
    assert [one.score for one in _Searching._list_promising(searching)] == [-7.0]
    searching._progress = lambda _: SETTLED
    assert list(_Searching._list_promising(searching)) == []


@pytest.mark.parametrize(
    ("limit", "expected"), [(math.inf, math.inf), (5.0, 5.0), (2.0**-10.5, 2.0**-10.5), (2.0**-12, None)]
)
def test_edges_that_are_found_by_halving(limit: float, expected: float | None) -> None:
    """Infinite where the largest step is allowed, none where the smallest is not, within six halvings else."""
    edge: Any = SimpleNamespace(_allows=lambda factor: factor <= limit, depends_on_step=False)
    run: Any = SimpleNamespace(with_step_factor=lambda factor: factor)
    found = Edge._search_by_halving(edge, run)
    if expected is None or math.isinf(expected):
        assert found == expected
        assert not edge.depends_on_step
        return
    assert found is not None
    assert expected * 2 ** (-3 / 64) <= found <= expected
    assert edge.depends_on_step

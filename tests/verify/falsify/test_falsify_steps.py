"""Steps of the search for violations by hand: halves of runs, other participants, turned scalings, recorded runs."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from claim_symbols import WHERE, D, L, eta
from flint import fmpq

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from verify import verdict as verdicts
from verify.falsify.polish import _apply_all
from verify.falsify.rays import _scale_rounded
from verify.falsify.regimes.evaluation import Seen, rate_run
from verify.falsify.run_tables import Table, count_clients, evaluate_run, get
from verify.falsify.scalings import Scaling
from verify.falsify.search_state import SearchState, list_halves
from verify.falsify.shrink import measure_reading_effort
from verify.falsify.structure import _change_participants


def _table(count: int = 2, steps: Any = 4, rounds: int = 4, **algorithm: Any) -> Table:
    problem = {
        "kind": "quadratic",
        "hessians": [[[fmpq(1)]]] * count,
        "linear": [[fmpq(sign)] for sign in range(count)],
        "start": [fmpq(3)],
    }
    own = {"local_step_size": fmpq(1, 8), "local_steps": steps, "rounds": rounds}
    return {"problem": problem, "algorithm": own | algorithm}


def _work(table: Table) -> tuple[Any, ...]:
    return (
        count_clients(table),
        get(table, "algorithm.rounds"),
        get(table, "algorithm.local_steps"),
        get(table, "algorithm.local_step_size"),
    )


def test_halves_of_a_run() -> None:
    """Halves of a run: of clients; of rounds, with steps no smaller; of local steps, in no fewer rounds."""
    step = fmpq(1, 8)
    of_rounds = [(2, 2, 4, step), (2, 2, 4, 2 * step)]
    of_steps = [(2, 4 * more, 2 // more, longer * step) for more in (1, 2) for longer in (1, 2, 4)]
    assert [_work(half) for half in list_halves(_table())] == [(1, 4, 4, step), *of_rounds, *of_steps]
    assert [_work(half) for half in list_halves(_table(1, steps=1, rounds=1))] == []
    assert [_work(half) for half in list_halves(_table(1, steps=2, rounds=1))] == [
        (1, 1, 1, longer * step) for longer in (1, 2, 4)
    ]
    assert [_work(half) for half in list_halves(_table(3, steps=[4, 2, 2]))] == [(1, 4, [4], step)]


@pytest.mark.parametrize(
    ("selected", "counts"),
    [(2, [1, 3, 1, 4]), (1, [2, 4]), (4, [3, 5, 1]), (None, [("uniform", 1), ("multinomial", 1)])],
)
def test_other_participants(selected: int | None, counts: list[Any]) -> None:
    """Participants become one fewer, one more, a single one, and all, or participation becomes full."""
    law = {} if selected is None else {"participation": {"kind": "uniform", "clients": selected}}
    found = [get(table, "algorithm.participation") for table in _change_participants(_table(4, **law))]
    if selected is None:
        assert [(law["kind"], law["clients"]) for law in found] == counts
    else:
        assert found == [*({"kind": "uniform", "clients": count} for count in counts), None]


def test_counts_times_powers_of_two() -> None:
    """Counts that all clients share are multiplied by powers of two, and stay at least one."""
    key = "algorithm.local_steps"
    for power, expected in ((0, 4), (1, 8), (-1, 2), (-2, 1), (-9, 1)):
        table = _scale_rounded(_table(), key, power)
        assert table is not None
        assert get(table, key) == expected
    assert _scale_rounded(_table(steps=[4, 2]), key, 1) is None


def test_scalings_are_applied_together() -> None:
    """Each by its power of two, those with none not at all; a scaling that cannot be turned leaves no run."""

    def times(key: str) -> Scaling:
        return Scaling(key, lambda table, factor: {**table, key: table[key] * factor})

    state = SearchState(Claim(id="t:free", lhs=eta, rhs=1, where=WHERE), 1e9)
    scalings = [times("a"), times("b"), Scaling("never", lambda *_: None)]
    start: Table = {"a": fmpq(3), "b": fmpq(5), **_table()}
    found = _apply_all(state, start, scalings, np.array([1.0, -2.0, 0.0]))
    assert found is not None
    assert (found["a"], found["b"]) == (6, fmpq(5, 4))
    assert _apply_all(state, start, scalings, np.array([1.0, 0.0, 1.0])) is None
    untouched = _apply_all(state, start, scalings, np.zeros(3))
    assert untouched is not None
    assert (untouched["a"], untouched["b"]) == (3, 5)


@pytest.mark.parametrize(
    ("holds", "score", "expected"), [(True, -3.0, -3.0), (None, -3.0, -90.0), (None, -95.0, -95.0)]
)
def test_the_worth_of_a_point(holds: bool | None, score: float, expected: float) -> None:
    """The worth of a point is its score; ties have none, and runs that hardly move from their start have less."""
    still = _table(steps=1, rounds=1, local_step_size=fmpq(1, 2**20))
    assert rate_run(Seen({"sources": "n"}, score, still, holds)) == expected
    assert rate_run(Seen({"sources": "s"}, score, None, holds)) == expected
    assert rate_run(Seen({"sources": "s"}, score, _table(), holds)) == expected
    if holds:
        moved = rate_run(Seen({"sources": "s"}, score, still, holds))
        assert moved == pytest.approx(score + math.log(16 / 2**20))


def test_the_best_run_is_an_exact_one() -> None:
    """The best run was found in floats, and is recorded in rationals if these are affordable."""
    claim = Claim(id="t:last", lhs=q.final_distance_sq, rhs=D**2, where=WHERE)
    state = SearchState(claim, 1e9)
    found = evaluate_run(claim, _table(), FLOAT)
    assert found is not None
    state._record(_table(), found)
    assert state.applicable == 1
    assert state.best is not None
    assert state.best.found.arithmetic is RATIONAL


def test_constants_on_all_of_space_weigh_less() -> None:
    """A smoothness holds everywhere; a second moment of quadratics on a ball only."""
    large = 10**9 * (1 + L)
    for rhs, on_a_ball in ((eta, False), (eta / (1 + q.second_moment.symbol), True)):
        where = WHERE | {q.second_moment.symbol: q.second_moment}
        found = measure_reading_effort(Claim(id="t:large", lhs=large, rhs=rhs, where=where), _table())
        assert found is not None
        assert found[:4] == (False, 0, on_a_ball, False)


def test_the_lighter_violation_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search shows the smaller of two violating runs; a rate keeps its run."""
    weights = {"small": (1,), "large": (2,)}
    monkeypatch.setattr(verdicts, "search_quickly", lambda *_: SimpleNamespace(counterexample=None))
    monkeypatch.setattr(verdicts, "measure_reading_effort", lambda _, table: weights.get(table["name"]))
    monkeypatch.setattr(verdicts, "_add_witness", lambda _verdict, table, _largest: table["name"])

    def shown(run: str, reached: str, rate: object = None) -> Any:
        monkeypatch.setattr(verdicts, "shrink", lambda *_: {"name": reached})
        given = SimpleNamespace(claim=SimpleNamespace(rate=rate), run={"name": run}, worst_ratio=None)
        found = verdicts._simplify(given, 1.0, None)  # type: ignore[arg-type]
        return run if found is given else found

    assert shown("large", "small") == "small"
    assert shown("small", "large") == "small"
    assert shown("large", "none") == "large"
    assert shown("none", "none") == "none"
    assert shown("large", "small", rate=1) == "large"

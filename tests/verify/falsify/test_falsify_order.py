"""Order of a search by hand: seeds, kinds of clients, short searches, its end, and the refutation it shows."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest
from claim_symbols import WHERE, L, eta
from falsify_tables import EIGHTH, _table
from flint import fmpq

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.language.claim import Claim
from verify.falsify import generation, instance_search, mixed_runs, search_result, starts
from verify.falsify.generation import (
    InstanceKind,
    _classify_clients,
    _find_curvature,
    _is_small,
    _may_become,
    _pick,
    _set_clients,
)
from verify.falsify.mixed_runs import _leave_one_out, _set_problem
from verify.falsify.regimes import NO_PAIRS, Search
from verify.falsify.run_tables import CheckedRun, Table, get
from verify.falsify.search_result import Finding

CLAIM = Claim(id="t:parts", lhs=eta, rhs=L, where=WHERE)


def test_kinds_of_clients() -> None:
    problem = {"hessians": [1, 1, 2], "linear": [3, 3, 3]}
    assert [_classify_clients(problem, count) for count in (1, 2, 3)] == [
        *("one client", "clients that are alike", "curvatures that differ"),
    ]
    assert _classify_clients({"hessians": [1, 1], "linear": [3, 4]}, 2) == "pulls that differ"
    assert _classify_clients({"inputs": [1, 1], "outputs": [3, 4]}, 2) == "pulls that differ"
    for steps, rounds, small in ((2, 12, True), (2, 13, False), ([1, 2], 12, True), ([3, 1], 12, False)):
        assert _is_small(_table(2, steps, rounds)) is small
    loss: Table = {"problem": {"terms": [1], "noise": ["0"]}, "algorithm": {}}
    alike = InstanceKind("clients that are alike", False, False, False)
    assert _may_become(loss, alike)
    assert not _may_become(loss, InstanceKind("clients that are alike", True, False, False))
    assert not _may_become(loss, InstanceKind("pulls that differ", False, False, False))
    assert _may_become(_table(), InstanceKind("pulls that differ", True, True, True))
    quiet = _table()
    quiet["problem"]["hessians"] = [[[fmpq(-3)]], [[fmpq(2)]]]
    assert _find_curvature(quiet) == 3
    quiet["problem"]["hessians"] = [[[fmpq(0)]]] * 2
    assert _find_curvature(quiet) == 1


def test_clients_of_a_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients of a kind are one client, copies of one, or all in turn."""
    generator: Any = SimpleNamespace(integers=lambda count: count - 1)
    monkeypatch.setattr(generation, "with_clients", lambda _, kept: kept)
    for clients, expected in (
        ("one client", [2]),
        ("clients that are alike", [2] * 4),
        ("pulls that differ", [2] * 4),
        ("curvatures that differ", [0, 1, 2, 0]),
    ):
        kind: Any = SimpleNamespace(clients=clients)
        assert _set_clients(_table(3), kind, 4, generator) == expected
    assert (_pick(generator, "abc"), _pick(generator, "a")) == ("c", "a")


def test_runs_in_which_everything_plays_a_part() -> None:
    shape: Any = SimpleNamespace(curvatures=[[64, 1], [8, 0]], linear=(1, -1), clients=3, start=[0, 2])
    found = _set_problem(_table(2), shape, fmpq(1))["problem"]
    assert found["hessians"][:2] == [[[1, 0], [0, fmpq(1, 64)]], [[EIGHTH, 0], [0, 0]]]
    assert found["hessians"][2] == found["hessians"][0]
    assert (found["linear"], found["start"], found["noise"]) == ([[1, 1], [-1, -1], [1, 1]], [0, 2], [1, 1, 1])
    assert len(_set_problem(_table(5), shape, None)["problem"]["hessians"]) == 5
    assert "noise" not in _set_problem(_table(5), shape, None)["problem"]
    shape.clients = 1
    assert len(_set_problem(_table(5), shape, None)["problem"]["hessians"]) == 1
    for kind, drawn, count, left in (
        ("uniform", 3, 3, 2),
        ("uniform", 2, 3, 2),
        ("uniform", 1, 1, 1),
        ("multinomial", 3, 3, 3),
        ("uniform", 5, 3, 2),
    ):
        table = _table(3, participation={"kind": kind, "clients": drawn})
        assert get(_leave_one_out(table, count), "algorithm.participation.clients") == left


def test_searches_begin_with_seed_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches begin with seed zero unless another seed is given."""
    regimes = import_module("verify.falsify.regimes.regime_search")
    seeds: list[int] = []
    monkeypatch.setattr(
        regimes, "_Searching", lambda _, __, seed, ___: seeds.append(seed) or SimpleNamespace(search=list)
    )
    regimes.search_regimes(CLAIM, 1)
    regimes.search_regimes(CLAIM, 1, 3)
    monkeypatch.setattr(instance_search, "_run_search", lambda _, __, seed: seeds.append(seed))
    instance_search.search_briefly(CLAIM, 1.0)

    class Over(Exception):
        """The seed of a search that is over is recorded."""

    def easily(_claim: Claim, _until: float, _end: float, seed: int, _on_tick: Any) -> Any:
        seeds.append(seed)
        raise Over

    monkeypatch.setattr(search_result, "_search_small_runs", easily)
    for more in ({}, {"seed": 3}):
        with pytest.raises(Over):
            search_result.falsify(CLAIM, 1.0, **more)  # type: ignore[arg-type]
    assert seeds == [0, 3, 0, 0, 3]


def test_times_of_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search gets a part of the remaining time, or eight seconds at most; progress never exceeds its end."""
    monkeypatch.setattr(search_result, "measure_work", lambda: 10.0)
    assert [search_result._compute_deadline(end) for end in (12.0, 30.0)] == [12.0, 18.0]
    assert [search_result._compute_end_of_part(deadline, 0.5) for deadline in (14.0, 9.0)] == [12.0, 10.0]
    reported: list[tuple[int, int]] = []
    for begin in (7.0, 0.0):
        search_result._report_progress(lambda done, whole: reported.append((done, whole)), begin, 5)
    assert reported == [(3, 5), (5, 5)]
    assert search_result._search_by_regimes.__defaults__ is None
    monkeypatch.setattr(search_result, "search_regimes", lambda _, count, *__: _regimes(count))
    worst: Any = SimpleNamespace(violation=None, looked=2, applicable=1, left_open=4)
    monkeypatch.setattr(search_result, "search_worst_starts", lambda *_: worst)
    monkeypatch.setattr(search_result, "require_testable", lambda _: None)
    claims: list[Any] = [SimpleNamespace(rate=rate) for rate in (None, 1)]
    found = [search_result._search_by_regimes(claim, 2.0, 0, lambda: None) for claim in claims]
    assert [(each.evaluations, each.applicable) for each in found] == [(2 * search_result.EVALUATIONS + 2, 8), (2, 8)]
    assert [each.left_open for each in found] == [4, 4]
    worst.violation = ("worst run", "its check")
    refuted: Any = search_result._search_by_regimes(claims[0], 2.0, 0, lambda: None)
    assert (refuted.evaluations, refuted.counterexample) == (2, ("worst run", "its check"))


def _regimes(count: int) -> Search:
    return Search(count, 7, None, None, (), 0, NO_PAIRS)


def test_the_refutation_that_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lighter one of the simplest violation and of the one found, which is left out where the first is clear."""
    weights = {"found": (2,), "simple": (1,), "clear": (3,), "none": None}
    monkeypatch.setattr(search_result, "shrink", lambda _, table, *__: table)
    monkeypatch.setattr(search_result, "measure_reading_effort", lambda _, table: weights[table])
    monkeypatch.setattr(search_result, "is_clear", lambda _, table: table == "clear")
    monkeypatch.setattr(search_result, "check_rigorously", lambda _, run: f"check of {run}")
    monkeypatch.setattr(search_result, "parse_run", lambda table, _: table)

    def shown(simplest: str | None) -> Any:
        monkeypatch.setattr(search_result, "find_simplest_violation", lambda *_: SimpleNamespace(table=simplest))
        violation: Any = CheckedRun("found", "its check")
        return search_result._shrink_violation(CLAIM, violation, 1e9, 0, lambda: None)

    assert shown(None) == ("found", "its check")
    assert shown("simple") == ("simple", "check of simple")
    assert shown("clear") == ("clear", "check of clear")
    assert shown("none") == ("found", "its check")
    weights["found"] = None
    assert shown("none") == ("found", "its check")
    assert search_result._shrink_violation(CLAIM, None, 1e9, 0, lambda: None) is None


def test_short_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short searches go by regimes, and along rays if no regime applies; beyond a proof only runs that apply count."""
    monkeypatch.setattr(search_result, "resolve", lambda claim: claim)
    monkeypatch.setattr(
        search_result,
        "_shrink_violation",
        lambda _, violation, *__: None if violation is None else CheckedRun({"n": 1}, None),
    )
    monkeypatch.setattr(
        search_result, "search_briefly", lambda *_: SimpleNamespace(looked=7, applicable=5, violation=(), left_open=2)
    )

    def found(applicable: int) -> Any:
        regimes = SimpleNamespace(
            evaluations=9, applicable=applicable, counterexample=None, left_open=1, regimes=(1,), pairs="pairs"
        )
        monkeypatch.setattr(search_result, "_search_by_regimes", lambda *_: regimes)
        return search_result.search_quickly(CLAIM, 1.0), search_result.search_further(CLAIM, 1.0)

    glance, beyond = found(3)
    assert (glance.looked, glance.applicable, glance.counterexample, glance.left_open) == (9, 3, None, 1)
    assert (beyond.looked, beyond.applicable, beyond.regimes, beyond.left_open) == (3, 3, (1,), 1)
    glance, beyond = found(0)
    assert (glance.looked, glance.applicable, glance.counterexample, glance.left_open) == (16, 5, {"n": 1}, 3)
    assert (beyond.looked, beyond.regimes, beyond.left_open) == (0, (), 0)


def test_findings_that_contradict_what_is_recorded() -> None:
    check: Any = SimpleNamespace(arithmetic=RATIONAL, rate=None, ratio=2.0)
    for recorded, found, contradicts in (
        ("proved", "refuted", True),
        ("refuted", "refuted", False),
        (None, "refuted", False),
        ("proved", "not refuted", False),
    ):
        claim: Any = SimpleNamespace(verdict=recorded)
        assert Finding(claim, found, None, None, 1, 1, 0.0).contradicts is contradicts  # type: ignore[arg-type]
    exact = Finding(CLAIM, "refuted", None, check, 1, 1, 0.0)
    assert (exact.is_exact, exact.best_ratio) == (True, 2.0)
    check.rate = SimpleNamespace(constant=3.0)
    assert exact.best_ratio == 3.0
    check.arithmetic = FLOAT
    assert not exact.is_exact
    assert Finding(CLAIM, "refuted", None, None, 1, 1, 0.0).best_ratio is None


def test_programs_with_full_participation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instances with full participation are added if none of a claim's families has it."""
    drawn, full = _table(2, participation={"kind": "uniform", "clients": 1}), _table(2)
    for known, count in (([drawn], 2), ([drawn, full], 2), ([full], 1), ([full, drawn], 2), ([drawn, drawn], 4)):
        monkeypatch.setattr(mixed_runs, "list_algorithms", lambda _, known=known: known)
        found = mixed_runs._list_algorithms(CLAIM)
        assert len(found) == count
        assert any(get(table, "algorithm.participation") is None for table in found)


def test_families_of_other_claims_start_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """None that are for rates, or meant for an assumption that the claim does not make; a rate has its own alone."""
    family = lambda name, rates, meant: SimpleNamespace(name=name, for_rates=rates, meant_for=meant)  # noqa: E731
    families = {
        f.name: f for f in (family("own", False, None), family("other", False, None), family("rate", True, None))
    }
    families |= {f.name: f for f in (family("meant", False, "x"), family("else", False, "y"))}
    monkeypatch.setattr(starts, "FAMILIES", families)
    monkeypatch.setattr(starts, "families_for", lambda _: ("own",))
    monkeypatch.setattr(starts, "_shuffle", lambda names, _: list(names))
    for rate, names in ((None, ["own", "other", "meant"]), (1, ["own"])):
        claim: Any = SimpleNamespace(rate=rate, assumptions=("x",))
        assert list(starts.list_starts(claim, None)) == names  # type: ignore[arg-type]


def test_a_search_ends_where_nothing_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search ends after all instances and local searches; a run that was reached is improved, from far as well."""
    seen: list[str] = []
    places = iter([None, "place", None, None])
    more = iter([True, True, True, False])
    monkeypatch.setattr(instance_search, "_begin_at_worst", lambda *_: seen.append("worst"))
    monkeypatch.setattr(instance_search, "_begin", lambda *_: seen.append("begin"))
    monkeypatch.setattr(instance_search, "_try_kinds", lambda *_: seen.append("kinds"))
    monkeypatch.setattr(instance_search, "count_instances", lambda _: 33)
    monkeypatch.setattr(instance_search, "_try", lambda *_: next(more, False))
    monkeypatch.setattr(instance_search, "_climb", lambda *_: next(places, None))
    monkeypatch.setattr(instance_search, "_search_long_horizons", lambda *_: seen.append("far"))
    monkeypatch.setattr(instance_search, "polish", lambda *_: seen.append("polish"))
    state: Any = SimpleNamespace(claim=SimpleNamespace(rate=None))
    instance_search._search_by_turns(state, iter(()), None)  # type: ignore[arg-type]
    assert seen == ["worst", "begin", "kinds"]
    seen.clear()
    more, places = iter([True, True, True, True]), iter([None, None, "place", None])
    instance_search._search_by_turns(state, iter(()), None)  # type: ignore[arg-type]
    assert seen == ["worst", "begin", "kinds", "far", "far", "polish"]
    seen.clear()
    state.claim.rate = 1
    instance_search._search_by_turns(state, iter(()), None)  # type: ignore[arg-type]
    assert seen == ["worst", "begin", "kinds"]


def test_the_largest_ratio_of_both_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest ratio counts both searches, also if the second has no budget; undecided runs are ignored."""
    ratios = {"small": 1.0, "large": 2.0, "open": None}

    def of(table: Any, arithmetic: Any = RATIONAL) -> Any:
        return SimpleNamespace(table=table, arithmetic=arithmetic, holds=ratios[table] and True, ratio=ratios[table])

    monkeypatch.setattr(search_result, "parse_run", lambda table, *_: table)
    monkeypatch.setattr(search_result, "make_working_table", lambda run: run)
    monkeypatch.setattr(search_result, "write_table", lambda table, _: table)
    monkeypatch.setattr(search_result, "is_moving", lambda _: True)
    monkeypatch.setattr(search_result, "score", lambda found: found.ratio)
    monkeypatch.setattr(search_result, "simplify", lambda _, table, *__: table)
    monkeypatch.setattr(search_result, "evaluate_rigorously", lambda _, table: of(table))
    monkeypatch.setattr(search_result, "check", lambda _, run: f"check of {run}")

    def largest(hunted: str | None, by_regimes: str | None) -> Any:
        best = None if hunted is None else SimpleNamespace(table=hunted, found=of(hunted))
        state: Any = SimpleNamespace(best=best)
        return search_result._find_closest_run(CLAIM, state, by_regimes, 1e9, lambda: None)  # type: ignore[arg-type]

    assert largest("small", "large") == ("large", "check of large")
    assert largest("large", "small") == ("large", "check of large")
    assert largest(None, "small") == ("small", "check of small")
    assert largest("small", "open") == ("small", "check of small")
    assert largest(None, "open") == largest(None, None) == (None, None)
    monkeypatch.setattr(search_result, "evaluate_rigorously", lambda *_: None)
    monkeypatch.setattr(search_result, "check", lambda _, run: of(run, FLOAT))
    assert largest(None, "small")[1].arithmetic is FLOAT

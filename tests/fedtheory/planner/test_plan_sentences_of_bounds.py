"""Sentences about bounds, other settings and causes, against their numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp
from flint import fmpq
from plan_stand_ins import _answer, _outcome
from planned_runs import THEOREM

from fedtheory.federation.clock import Clock, FedBuff, FedFix, Synchronous
from fedtheory.federation.clock.policy import Asynchronous
from fedtheory.planner import plan_rows, sentences
from fedtheory.planner.admissible import Edge
from fedtheory.planner.divergence import Cause
from fedtheory.planner.other_settings import (
    _describe_result,
    _describe_scaffold,
    _describe_steps,
    describe_other_settings,
)
from fedtheory.planner.setting_in_words import _describe_clock
from fedtheory.planner.target import RoundCost, RoundsToAccuracy

ETA, T = sp.symbols("eta T", positive=True)


def test_long_formulas_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """A formula with more than 120 characters is cut after 117."""
    for length, written in ((120, "x" * 120), (121, "x" * 117 + "...")):
        monkeypatch.setattr(sentences, "write_formula", lambda _, __, length=length: "x" * length)
        assert sentences.abbreviate(THEOREM, ETA) == written


def _setting(rounds: int, *, steps: int = 2, reached: bool = True, rank: int = 0) -> Any:
    outcome = _outcome(rounds, reached=reached)
    return SimpleNamespace(local_steps=steps, outcome=outcome, name="fedavg", rank=lambda _: rank)


def test_other_local_steps_in_words() -> None:
    planned = _setting(9)
    assert _describe_steps(planned, None, None, tried=False).startswith("other values than 2 take long to try")
    assert _describe_steps(planned, None, None, tried=True).startswith("none tried is clearly better than 2 by rounds")
    assert _describe_steps(planned, _setting(5, steps=4), 0.1, tried=True).startswith(
        "more help: 4 at step size 0.25 needs 5 rounds (2: needs 9 rounds); "
    )
    assert _describe_steps(planned, _setting(5, steps=1), None, tried=True).startswith(
        "fewer help: 1 at step size 0.25 reaches"
    )
    assert _describe_result(_setting(5), None) == "reaches 0.5 in 5 rounds"
    assert _describe_result(_setting(5, reached=False), 0.1) == "misses 0.1: reaches 0.5 in 5 rounds"


@pytest.mark.parametrize(
    ("planned", "other", "accuracy", "verdict"),
    [
        (_setting(9, rank=2), _setting(5, rank=1), 0.1, "worth it by rounds and vectors"),
        (_setting(9, rank=2), _setting(5, rank=2), 0.1, "fewer rounds, and more vectors"),
        (_setting(9, rank=2), _setting(9, rank=1), 0.1, "worth it"),
        (_setting(9, rank=2), _setting(5, rank=1), None, "worth it"),
        (_setting(9, rank=2), _setting(9, rank=2), None, "not worth it"),
        (_setting(9, rank=2, reached=False), _setting(5, rank=1), 0.1, "worth it"),
        (_setting(9, rank=1), _setting(5, rank=2, reached=False), 0.1, "not worth it"),
    ],
)
def test_scaffold_in_words(planned: Any, other: Any, accuracy: float | None, verdict: str) -> None:
    assert _describe_scaffold(planned, other, accuracy).partition(": SCAFFOLD at")[0] == verdict


def test_other_settings_have_lines_where_something_is_known() -> None:
    known = SimpleNamespace(planned=_setting(9), better_steps=None, has_tried_steps=True, scaffold=None)
    assert [head for head, _ in describe_other_settings(_answer(others=known))] == ["local steps:"]
    known.scaffold = _setting(5)
    assert [head for head, _ in describe_other_settings(_answer(others=known))] == ["local steps:", "scaffold:"]
    assert describe_other_settings(_answer(others=known, is_hopeless=True)) == []
    assert describe_other_settings(_answer(others=None)) == []
    known.planned = None
    assert describe_other_settings(_answer(others=known)) == []


def test_causes_in_words() -> None:
    """A cause names a client's rows and curvature, and the edge if smaller steps help."""
    cause = Cause("b", 3, 4.0, 1.0, 0.25)
    assert cause.sentence() == "client b (3 rows) has curvature 4, 2/4 = 0.5; this run is stable up to 0.25"
    assert replace(cause, rows=1).sentence().startswith("client b (1 row) has")
    assert replace(cause, rows=None).sentence().startswith("client b has")
    assert replace(cause, curvature=0.0).sentence() == (
        "client b (3 rows) has curvature 0, none; this run is stable up to 0.25"
    )
    assert replace(cause, diverges_from=math.inf).sentence().endswith("stable at all step sizes tried")
    for part, hopeless in ((0.9e-6, True), (1e-6, False)):
        assert replace(cause, diverges_from=part).is_hopeless is hopeless
    assert replace(cause, diverges_from=0.0).sentence().startswith("smaller step sizes diverge as well")


@pytest.mark.parametrize(
    ("policy", "times", "text"),
    [
        (Synchronous(), (1, 2), ""),
        (Asynchronous(), (1, 2), "an update for each report, client times 1 to 2"),
        (Asynchronous(), (2, 2), "an update for each report, client times 2"),
        (FedFix(fmpq(3, 2)), (3, 1), "an update every 3/2 time units, client times 1 to 3"),
        (FedBuff(2), (1, 1), "an update for each 2 reports, client times 1"),
    ],
)
def test_clocks_in_words(policy: Any, times: tuple[int, ...], text: str) -> None:
    assert _describe_clock(Clock(policy, tuple(map(fmpq, times)))) == text


def test_cells_and_lines_of_bounds() -> None:
    """A row has rounds to a target with their cost, or the reason why not, and its limits."""
    assert [
        plan_rows._format_rounds(one)
        for one in (None, RoundsToAccuracy(0.1, None, 0.5, 0.0, "x"), RoundsToAccuracy(0.1, 7, 0.5, 0.0, None))
    ] == [
        *("-", "never", "7"),
    ]
    assert [plan_rows._format_limit(Edge(value)) for value in (math.inf, 0.5)] == ["any", "0.5"]
    reached, missed = RoundsToAccuracy(0.1, 7, 0.5, 0.0, None), RoundsToAccuracy(0.1, None, 0.5, 0.0, "too far")
    plan: Any = SimpleNamespace(target=reached, target_at_best=missed)
    assert plan_rows._list_round_lines(plan, None) == [
        "accuracy 0.1, as planned: 7 rounds at step size 0.5",
        "accuracy 0.1, best step sizes: never, too far",
    ]
    plan.target_at_best = None
    assert plan_rows._list_round_lines(plan, RoundCost(2.0, 3.0)) == [
        "accuracy 0.1, as planned: 7 rounds at step size 0.5, time 14, 21 vectors"
    ]


def test_why_others_do_not_cover_a_run() -> None:
    """Bounds are grouped by reason, those without numbers first, refuted ones last."""

    def plan(name: str, reason: str | None) -> Any:
        return SimpleNamespace(claim=SimpleNamespace(id=name), reason=reason)

    claims = [plan("a", "x"), plan("b", None), plan("c", "x"), plan("d", "not given: L"), plan("e", "y")]
    found: Any = SimpleNamespace(claims=claims, refuted=[SimpleNamespace(id="f"), SimpleNamespace(id="g")])
    assert plan_rows.group_reasons(found) == [
        ("1 bounds", "need numbers that are not given; --json names them"),
        ("a, c", "x"),
        ("e", "y"),
        ("f, g", "not used, because they are refuted"),
    ]
    found.claims, found.refuted = claims[:3], []
    assert plan_rows.group_reasons(found) == [("a, c", "x")]


def test_advice_of_a_bound_in_lines() -> None:
    """Advice comes from the bound only; measured numbers have one of two wordings."""
    usual: dict[str, Any] = dict.fromkeys(
        (
            *("step", "server_step", "local_steps", "optimum", "comparator", "measurements", "exact"),
            *("linear_clients", "useful_local_steps"),
        )
    )
    write = lambda _, formula: str(formula)  # noqa: E731

    def lines(**given: Any) -> list[str]:
        plan: Any = SimpleNamespace(**{**usual, "claim": None, "self_contained": True, **given})
        return plan_rows._describe_limits(plan, write)

    assert lines() == []
    assert lines(step=Edge(0.5), local_steps=Edge(math.inf)) == ["largest step size: 0.5", "largest local steps: any"]
    best = SimpleNamespace(step_size=0.25, value=2.0, formula=None)
    assert lines(optimum=best) == ["best step size: 0.25; bound 2"]
    best.formula = ETA
    assert lines(optimum=best) == ["best step size: 0.25 = eta; bound 2"]
    measured = SimpleNamespace(changed=("L", "mu"), value=3.0)
    assert lines(measurements=measured) == ["at that step size L, mu differ; with them the bound is 3"]
    assert lines(measurements=measured, self_contained=False) == [
        "L, mu: measured at each step size, so the bound is none of a formula in it"
    ]
    assert lines(measurements=SimpleNamespace(changed=(), value=3.0)) == []
    exact = SimpleNamespace(
        exact=SimpleNamespace(step_size=0.5, error=0.125), errors_are="exact", ratio=2.0, error_ratio=4.0
    )
    assert lines(exact=exact, linear_clients=8.0, useful_local_steps=SimpleNamespace(steps=16)) == [
        "exact: best step size 0.5, error 0.125",
        "theory / exact: step size 2, error 4",
        "linear speed-up: up to 8 clients, by this bound",
        "useful number of local steps for the same rounds, by this bound: 16",
    ]
    point = SimpleNamespace(suboptimality=0.5, distance_sq=2.0)
    assert lines(comparator=point) == [
        "compares with the point y of F(y) - F* = 0.5, |x^0 - y|^2 = 2, at its best step size"
    ]

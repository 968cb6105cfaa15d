"""Sentences of plans against what they are written from, by hand: each branch, and what stands at its edge."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp
from flint import fmpq
from planned_runs import THEOREM

from fedtheory.federation.clock import Clock, FedBuff, FedFix, Synchronous
from fedtheory.federation.clock.policy import Asynchronous
from fedtheory.language import quantities as q
from fedtheory.planner import listing, words
from fedtheory.planner.admissible import Edge
from fedtheory.planner.bound import ROUNDS as T_
from fedtheory.planner.bound import STEP, NumericBound
from fedtheory.planner.divergence import Cause
from fedtheory.planner.other_settings import _describe_result, _scaffold, _steps, describe_other_settings
from fedtheory.planner.rounds_needed import ErrorAtStepSize
from fedtheory.planner.setting_in_words import _clock, describe_counts
from fedtheory.planner.target import RoundCost, RoundsToAccuracy

ETA, T = sp.symbols("eta T", positive=True)


def _outcome(rounds: int = 7, error: float = 0.5, *, reached: bool = False, **more: Any) -> ErrorAtStepSize:
    given: dict[str, Any] = {"still_falls": False, **more}
    return ErrorAtStepSize(0.25, rounds, error, reached, **given)


def _answer(**given: Any) -> Any:
    usual: dict[str, Any] = {
        "is_hopeless": False,
        "best": _outcome(),
        "planned": _outcome(),
        "local_steps": (2, 2),
        "time": 7.0,
        "error": q.final_suboptimality,
        "accuracy": None,
        "beside": None,
        "run": SimpleNamespace(
            errors_are="exact", initial_gap=1.0, algorithm=SimpleNamespace(clock=SimpleNamespace(is_synchronous=True))
        ),
        "reached": SimpleNamespace(diverges_from=2.0, margin=0.1, reason="noise"),
    }
    return SimpleNamespace(**{**usual, **given})


def test_counts_have_a_noun() -> None:
    assert [describe_counts(numbers, "step") for numbers in ((1,), (2, 2), (0,), (1, 3), (1, 1))] == [
        *("1 step", "2 steps", "0 steps"),
        *("1 to 3 steps", "1 step"),
    ]


def test_the_run_to_make() -> None:
    """Its settings and its error, the margin, and the run as planned; without a step size why there is none."""
    run = "step size 0.25, 2 local steps, 7 rounds"
    exact = "exact final_suboptimality 0.5 (the last model)"
    rest = "diverges from 2 on, a margin of 10% is kept; as planned (step size 0.25) it is 0.5 after 7 rounds"
    assert words.use(_answer()) == f"{run}: {exact}; {rest}"
    assert words.use(_answer(accuracy=0.1)) == (
        f"no step size tried stays below 0.1: noise; nearest is {run}: {exact}; {rest}"
    )
    assert words.use(_answer(accuracy=0.1, best=_outcome(reached=True))) == f"{run}: {exact}; {rest}"
    hopeless = "no step size: the run diverges at every one tried, down to 2"
    assert words.use(_answer(is_hopeless=True)) == hopeless


def test_the_time_of_the_rounds() -> None:
    """The time is named if a clock says more than the number of rounds."""
    waits = _answer().run
    hurries = SimpleNamespace(algorithm=SimpleNamespace(clock=SimpleNamespace(is_synchronous=False)))
    for run, time, text in (
        (waits, 7.0, ""),
        (waits, 8.0, "8 time units; "),
        (waits, None, ""),
        (hurries, 7.0, "7 time units; "),
        (hurries, None, ""),
    ):
        assert words._time(_answer(run=run, time=time)) == text


def test_errors_of_whole_cycles() -> None:
    """How far a target was followed; the largest error where none is reached, and it is another one."""
    followed = " then, and below the target up to round 28, the last one tried"
    assert words._cycle(_outcome(reached=True, followed=28)) == followed
    assert words._cycle(_outcome(reached=True, highest=0.9)) == ""
    assert words._cycle(_outcome(highest=0.9, followed=28)) == " then, up to 0.9 in the last rounds"
    assert words._cycle(_outcome(highest=0.5)) == ""
    assert words._cycle(_outcome()) == ""


def test_both_errors_are_named() -> None:
    beside = (q.average_suboptimality, 0.75)
    assert words._describe_errors(_answer(beside=beside)) == " (the last model; the average over the path: 0.75)"
    assert words._describe_errors(_answer(error=q.average_suboptimality)) == " (the average over the path)"


def test_margins_and_plans() -> None:
    """A run that reaches its target says when; at the edge of divergence and beyond it diverges."""
    far = SimpleNamespace(diverges_from=math.inf, margin=0.1)
    assert words._margin(_answer(reached=far)) == "no step size tried diverges"
    lead = "as planned (step size 0.25) "
    assert words._as_planned(_answer(accuracy=0.1, planned=_outcome(3, reached=True))) == f"{lead}0.1 takes 3 rounds"
    assert words._as_planned(_answer(planned=_outcome(3, reached=True))) == f"{lead}it is 0.5 after 3 rounds"
    assert words._as_planned(_answer(planned=_outcome(error=math.inf))) == f"{lead}it diverges"
    for edge, text in ((0.25, "it diverges"), (0.3, "it is 0.5 after 7 rounds")):
        reached = SimpleNamespace(diverges_from=edge)
        assert words._as_planned(_answer(reached=reached)) == f"{lead}{text}"


def test_limits_of_exact_errors() -> None:
    """They rise or fall to a limit of two parts, still fall, or have settled."""
    lead = "with ever more rounds the exact error"
    for limit, floor, text in (
        (0.75, 0.5, f"{lead} rises to 0.75 (0.25 by drift, 0.5 by noise)"),
        (0.5, 0.0, f"{lead} falls to 0.5 (0.5 by drift, 0 by noise)"),
        (0.25, None, f"{lead} falls to 0.25"),
    ):
        assert words._exact_limit(_outcome(limit=limit, noise_floor=floor), "exact") == text
    rounding = words._exact_limit(_outcome(error=1e-24, limit=1e-14), "exact", 1e-13)
    assert rounding == f"{lead} falls to zero, up to rounding"
    settled = "the exact error has settled: noise and drift at this step size keep it up, not the rounds"
    for limit in (None, math.inf):
        assert words._exact_limit(_outcome(limit=limit), "exact") == settled
        falls = words._exact_limit(_outcome(limit=limit, still_falls=True), "exact")
        assert falls == "the exact error still falls with the rounds"


def _bound(expression: sp.Expr, **values: float) -> NumericBound:
    names = {ETA: STEP, T: T_}
    return NumericBound(THEOREM, tuple(sp.Add.make_args(expression)), (), names, {STEP: 1.0, T_: 4.0, **values})


def test_limits_of_guarantees() -> None:
    """The share of the largest term, which more rounds may lower; above all of it there is no share."""
    write = lambda _, term: str(term)  # noqa: E731

    def limits(bound: NumericBound, term: sp.Expr, share: float) -> str:
        promise = SimpleNamespace(plan=SimpleNamespace(claim=None), bound=bound, largest_term=(term, share))
        return words._limits(_answer(promise=promise), write).partition("; ")[2]

    bound = _bound(1 / T + ETA)
    assert limits(bound, ETA, 0.8) == "80% of the guarantee is its term eta"
    assert limits(bound, 1 / T, 1.0) == "100% of the guarantee is its term 1/T; more rounds lower it"
    assert limits(bound, 1 / T, 1.5) == (
        "the largest term of the guarantee is 1/T, before others are subtracted; more rounds lower it"
    )
    assert words._limits(_answer(promise=None), write).startswith("the exact error has settled")


def _plan(error: q.RunQuantity = q.final_suboptimality, *, verdict: str | None = "proved", **more: Any) -> Any:
    return SimpleNamespace(claim=SimpleNamespace(id="t:bound", verdict=verdict), error=error, **more)


def test_guarantees_of_bounds() -> None:
    """With the meaning of an error that is not measured, numbers of the run, and who vouches for it."""
    assert words._describe_bound_value(_plan(), 0.5) == "t:bound (proved) guarantees final_suboptimality below 0.5"
    own = words._describe_bound_value(_plan(q.final_distance_sq, verdict=None), 0.5, " there", ["a", "b"])
    meaning = q.final_distance_sq.meaning
    assert own == (
        f"t:bound (of your own) guarantees final_distance_sq below 0.5 there ({meaning}), "
        "with a and b measured on this run"
    )


def _promise(step_size: float, value: float, *, vacuous: bool = False) -> Any:
    return SimpleNamespace(
        plan=_plan(), step_size=step_size, value=value, measured=[], is_vacuous=vacuous, at_start=0.125
    )


def test_promises_there_and_elsewhere() -> None:
    """At the step size to use, or at another one with the largest that is covered; and what promises nothing."""
    kept = "t:bound (proved) guarantees final_suboptimality below 0.5"
    there = _answer(promise=_promise(0.25, 0.5), widest=None, is_covered=True, elsewhere=None)
    assert words._describe_promise(there) == f"{kept} there"
    there.elsewhere = _promise(0.125, 0.5, vacuous=True)
    assert words._describe_promise(there) == (
        f"{kept} there; at step size 0.125 {kept} after the planned rounds, "
        "which promises nothing: the error is 0.125 at the start"
    )
    other = _answer(promise=_promise(0.125, 0.5), widest=None, is_covered=False, elsewhere=None)
    rest = f"at step size 0.125 {kept} after the planned rounds"
    assert words._describe_promise(other) == f"no bound covers step size 0.25; {rest}"
    other.widest = _plan(step=Edge(0.2))
    assert words._describe_promise(other) == (
        f"no bound covers step size 0.25: theory covers step sizes up to 0.2 (t:bound) only; {rest}"
    )
    other.widest = _plan(step=None)
    assert words._describe_promise(other) == f"no bound covers step size 0.25; {rest}"


def test_runs_that_no_bound_covers() -> None:
    """A bound on another error is named, unless it is on a limit or has no value."""
    bound = SimpleNamespace(value=lambda: 3.0)
    lead = "no bound on how far the run gets covers it at any step size tried"
    covers = _plan(q.final_distance_sq, applicable=True, bound=bound, measured=[])
    for plans, text in (
        ([], "; --all says why"),
        ([_plan(applicable=False, bound=bound, measured=[])], "; --all says why"),
        ([_plan(q.limiting_distance_sq, applicable=True, bound=bound, measured=[])], "; --all says why"),
        ([_plan(applicable=True, bound=None, measured=[])], "; --all says why"),
        ([covers], f"; as planned {words._describe_bound_value(covers, 3.0)}"),
    ):
        found: Any = SimpleNamespace(claims=plans)
        assert words._describe_no_promise(found) == lead + text


def test_lines_of_an_answer() -> None:
    """Nothing limits a run that diverges everywhere; a cause has a line of its own."""
    cause = SimpleNamespace(sentence=lambda: "because")
    for hopeless, given, heads in (
        (False, None, ["promised:", "limits:"]),
        (True, cause, ["promised:", "diverges:"]),
        (False, cause, ["promised:", "limits:", "diverges:"]),
    ):
        answer = _answer(promise=None, is_hopeless=hopeless, cause=given, others=None)
        found: Any = SimpleNamespace(claims=[], answer=answer)
        assert [head for head, _ in words.guarantees(found, answer)] == heads


def test_answers_of_constants_alone() -> None:
    """The smallest bound at its best step size, its largest term, and its part; none where there is none."""
    bound = _bound(3 * ETA + 1 / ETA)
    best = _plan(bound=bound, optimum=SimpleNamespace(step_size=1.0, value=4.0))
    write = lambda _, term: str(term)  # noqa: E731
    found: Any = SimpleNamespace(recommended=best)
    assert dict(words.describe_constants_plan(found, write)) == {
        "use:": "step size 1, at which the bound of t:bound is smallest",
        "promised:": "it keeps final_suboptimality below 4 (proved)",
        "limits:": "its term 3*eta, 75% of it",
    }
    best.optimum.value = 2.0
    assert words.describe_constants_plan(found, write)[2][1] == "its term 3*eta, 3 before others are subtracted"
    best.optimum.value = 3.0
    assert words.describe_constants_plan(found, write)[2][1] == "its term 3*eta, 100% of it"
    for missing in ({"bound": None}, {"optimum": None}):
        nothing: Any = SimpleNamespace(recommended=SimpleNamespace(**{**vars(best), **missing}))
        assert [head for head, _ in words.describe_constants_plan(nothing, write)] == ["promised:"]
    none: Any = SimpleNamespace(recommended=None)
    assert len(words.describe_constants_plan(none, write)) == 1


def test_long_formulas_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """After 117 letters, where they have more than 120."""
    for length, written in ((120, "x" * 120), (121, "x" * 117 + "...")):
        monkeypatch.setattr(words, "write_formula", lambda _, __, length=length: "x" * length)
        assert words.abbreviate(THEOREM, ETA) == written


def _setting(rounds: int, *, steps: int = 2, reached: bool = True, rank: int = 0) -> Any:
    outcome = _outcome(rounds, reached=reached)
    return SimpleNamespace(local_steps=steps, outcome=outcome, name="fedavg", rank=lambda _: rank)


def test_other_local_steps_in_words() -> None:
    planned = _setting(9)
    assert _steps(planned, None, None, tried=False).startswith("other values than 2 take long to try")
    assert _steps(planned, None, None, tried=True).startswith("none tried is clearly better than 2 by rounds")
    assert _steps(planned, _setting(5, steps=4), 0.1, tried=True).startswith(
        "more help: 4 at step size 0.25 needs 5 rounds (2: needs 9 rounds); "
    )
    assert _steps(planned, _setting(5, steps=1), None, tried=True).startswith("fewer help: 1 at step size 0.25 reaches")
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
    assert _scaffold(planned, other, accuracy).partition(": SCAFFOLD at")[0] == verdict


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
    """A client's rows and curvature; the edge where it is known, and nothing of it where smaller steps do not help."""
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
    assert _clock(Clock(policy, tuple(map(fmpq, times)))) == text


def test_cells_and_lines_of_bounds() -> None:
    """Rounds to a target with their cost, or why there are none; limits of what has any."""
    assert [
        listing._rounds_cell(one)
        for one in (None, RoundsToAccuracy(0.1, None, 0.5, 0.0, "x"), RoundsToAccuracy(0.1, 7, 0.5, 0.0, None))
    ] == [
        *("-", "never", "7"),
    ]
    assert [listing._limit(Edge(value)) for value in (math.inf, 0.5)] == ["any", "0.5"]
    reached, missed = RoundsToAccuracy(0.1, 7, 0.5, 0.0, None), RoundsToAccuracy(0.1, None, 0.5, 0.0, "too far")
    plan: Any = SimpleNamespace(target=reached, target_at_best=missed)
    assert listing._rounds(plan, None) == [
        "accuracy 0.1, as planned: 7 rounds at step size 0.5",
        "accuracy 0.1, best step sizes: never, too far",
    ]
    plan.target_at_best = None
    assert listing._rounds(plan, RoundCost(2.0, 3.0)) == [
        "accuracy 0.1, as planned: 7 rounds at step size 0.5, time 14, 21 vectors"
    ]


def test_why_others_do_not_cover_a_run() -> None:
    """By their reason; those without numbers first, together, refuted ones last."""

    def plan(name: str, reason: str | None) -> Any:
        return SimpleNamespace(claim=SimpleNamespace(id=name), reason=reason)

    claims = [plan("a", "x"), plan("b", None), plan("c", "x"), plan("d", "not given: L"), plan("e", "y")]
    found: Any = SimpleNamespace(claims=claims, refuted=[SimpleNamespace(id="f"), SimpleNamespace(id="g")])
    assert listing.group_reasons(found) == [
        ("1 bounds", "need numbers that are not given; --json names them"),
        ("a, c", "x"),
        ("e", "y"),
        ("f, g", "not used, because they are refuted"),
    ]
    found.claims, found.refuted = claims[:3], []
    assert listing.group_reasons(found) == [("a, c", "x")]


def test_advice_of_a_bound_in_lines() -> None:
    """Advice from the bound alone; measured numbers in one of two ways."""
    usual: dict[str, Any] = dict.fromkeys(
        (
            *("step", "server_step", "local_steps", "optimum", "comparator", "measurements", "exact"),
            *("linear_clients", "paying_local_steps"),
        )
    )
    write = lambda _, formula: str(formula)  # noqa: E731

    def lines(**given: Any) -> list[str]:
        plan: Any = SimpleNamespace(**{**usual, "claim": None, "self_contained": True, **given})
        return listing._describe_limits(plan, write)

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
    assert lines(exact=exact, linear_clients=8.0, paying_local_steps=SimpleNamespace(steps=16)) == [
        "exact: best step size 0.5, error 0.125",
        "theory / exact: step size 2, error 4",
        "linear speed-up: up to 8 clients, by this bound",
        "local steps that pay at the same rounds, by this bound: 16",
    ]
    point = SimpleNamespace(suboptimality=0.5, distance_sq=2.0)
    assert lines(comparator=point) == [
        "compares with the point y of F(y) - F* = 0.5, |x^0 - y|^2 = 2, at its best step size"
    ]

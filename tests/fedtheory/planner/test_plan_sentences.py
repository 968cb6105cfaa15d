"""Sentences about the planned run against their numbers, for all branches and edge cases."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import sympy as sp
from plan_stand_ins import _answer, _outcome
from planned_runs import THEOREM

from fedtheory.language import quantities as q
from fedtheory.planner import sentences
from fedtheory.planner.admissible import Edge
from fedtheory.planner.bound import ROUNDS as T_
from fedtheory.planner.bound import STEP, NumericBound
from fedtheory.planner.setting_in_words import describe_counts

ETA, T = sp.symbols("eta T", positive=True)


def test_counts_have_a_noun() -> None:
    assert [describe_counts(numbers, "step") for numbers in ((1,), (2, 2), (0,), (1, 3), (1, 1))] == [
        *("1 step", "2 steps", "0 steps"),
        *("1 to 3 steps", "1 step"),
    ]


def test_the_run_to_make() -> None:
    """The sentence has settings, error, margin, and the planned run; or the reason why there is no step size."""
    run = "step size 0.25, 2 local steps, 7 rounds"
    exact = "exact final_suboptimality 0.5 (the last model)"
    rest = "diverges from 2 on, a margin of 10% is kept; as planned (step size 0.25) it is 0.5 after 7 rounds"
    assert sentences.describe_use(_answer()) == f"{run}: {exact}; {rest}"
    assert sentences.describe_use(_answer(accuracy=0.1)) == (
        f"no step size tried stays below 0.1: noise; nearest is {run}: {exact}; {rest}"
    )
    assert sentences.describe_use(_answer(accuracy=0.1, best=_outcome(reached=True))) == f"{run}: {exact}; {rest}"
    hopeless = "no step size: the run diverges at every one tried, down to 2"
    assert sentences.describe_use(_answer(is_hopeless=True)) == hopeless


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
        assert sentences._describe_time(_answer(run=run, time=time)) == text


def test_errors_of_whole_cycles() -> None:
    """The sentence says how far the target was followed; if none is reached, it gives the largest error."""
    followed = " then, and below the target up to round 28, the last one tried"
    assert sentences._describe_cycle(_outcome(reached=True, followed=28)) == followed
    assert sentences._describe_cycle(_outcome(reached=True, highest=0.9)) == ""
    assert sentences._describe_cycle(_outcome(highest=0.9, followed=28)) == " then, up to 0.9 in the last rounds"
    assert sentences._describe_cycle(_outcome(highest=0.5)) == ""
    assert sentences._describe_cycle(_outcome()) == ""


def test_both_errors_are_named() -> None:
    beside = (q.average_suboptimality, 0.75)
    assert sentences._describe_errors(_answer(beside=beside)) == " (the last model; the average over the path: 0.75)"
    assert sentences._describe_errors(_answer(error=q.average_suboptimality)) == " (the average over the path)"


def test_margins_and_plans() -> None:
    """A run that reaches its target says when; at or above the edge it diverges."""
    far = SimpleNamespace(diverges_from=math.inf, margin=0.1)
    assert sentences._describe_margin(_answer(reached=far)) == "no step size tried diverges"
    lead = "as planned (step size 0.25) "
    assert (
        sentences._describe_planned(_answer(accuracy=0.1, planned=_outcome(3, reached=True)))
        == f"{lead}0.1 takes 3 rounds"
    )
    assert sentences._describe_planned(_answer(planned=_outcome(3, reached=True))) == f"{lead}it is 0.5 after 3 rounds"
    assert sentences._describe_planned(_answer(planned=_outcome(error=math.inf))) == f"{lead}it diverges"
    for edge, text in ((0.25, "it diverges"), (0.3, "it is 0.5 after 7 rounds")):
        reached = SimpleNamespace(diverges_from=edge)
        assert sentences._describe_planned(_answer(reached=reached)) == f"{lead}{text}"


def test_limits_of_exact_errors() -> None:
    """Errors tend to a limit of two parts, still decrease, or are stationary."""
    lead = "with ever more rounds the exact error"
    for limit, floor, text in (
        (0.75, 0.5, f"{lead} rises to 0.75 (0.25 by drift, 0.5 by noise)"),
        (0.5, 0.0, f"{lead} falls to 0.5 (0.5 by drift, 0 by noise)"),
        (0.25, None, f"{lead} falls to 0.25"),
    ):
        assert sentences._describe_exact_limit(_outcome(limit=limit, noise_floor=floor), "exact") == text
    rounding = sentences._describe_exact_limit(_outcome(error=1e-24, limit=1e-14), "exact", 1e-13)
    assert rounding == f"{lead} falls to zero, up to rounding"
    settled = "more rounds do not lower the exact error: noise and drift limit it at this step size"
    for limit in (None, math.inf):
        assert sentences._describe_exact_limit(_outcome(limit=limit), "exact") == settled
        falls = sentences._describe_exact_limit(_outcome(limit=limit, still_falls=True), "exact")
        assert falls == "the exact error still falls with the rounds"


def _bound(expression: sp.Expr, **values: float) -> NumericBound:
    names = {ETA: STEP, T: T_}
    return NumericBound(THEOREM, tuple(sp.Add.make_args(expression)), (), names, {STEP: 1.0, T_: 4.0, **values})


def test_limits_of_guarantees() -> None:
    """The largest term has a fraction of the guarantee, which more rounds may lower."""
    write = lambda _, term: str(term)  # noqa: E731

    def limits(bound: NumericBound, term: sp.Expr, share: float) -> str:
        promise = SimpleNamespace(
            plan=SimpleNamespace(claim=None), bound=bound, largest_term=(term, share), is_vacuous=False
        )
        return sentences._describe_limits(_answer(promise=promise), write).partition("; ")[2]

    bound = _bound(1 / T + ETA)
    assert limits(bound, ETA, 0.8) == "80% of the guarantee is its term eta"
    assert limits(bound, 1 / T, 1.0) == "100% of the guarantee is its term 1/T; more rounds lower it"
    assert limits(bound, 1 / T, 1.5) == (
        "the largest term of the guarantee is 1/T, before others are subtracted; more rounds lower it"
    )
    without = sentences._describe_limits(_answer(promise=None), write)
    assert without.startswith("more rounds do not lower the exact error")
    vacuous = SimpleNamespace(is_vacuous=True)
    assert sentences._describe_limits(_answer(promise=vacuous), write) == without


def _plan(error: q.RunQuantity = q.final_suboptimality, *, verdict: str | None = "proved", **more: Any) -> Any:
    return SimpleNamespace(claim=SimpleNamespace(id="t:bound", verdict=verdict), error=error, **more)


def test_guarantees_of_bounds() -> None:
    """A guarantee names an unmeasured error, the numbers of the run, and its kind of evidence."""
    assert sentences._describe_bound_value(_plan(), 0.5) == "t:bound (proved) guarantees final_suboptimality below 0.5"
    own = sentences._describe_bound_value(_plan(q.final_distance_sq, verdict=None), 0.5, " there", ["a", "b"])
    meaning = q.final_distance_sq.meaning
    assert own == (
        f"t:bound (user-defined) guarantees final_distance_sq below 0.5 there ({meaning}), "
        "with a and b measured on this run"
    )


def _promise(step_size: float, value: float, *, vacuous: bool = False, start: float | None = 0.125) -> Any:
    return SimpleNamespace(
        plan=_plan(), step_size=step_size, value=value, measured=[], is_vacuous=vacuous, at_start=start
    )


def test_promises_there_and_elsewhere() -> None:
    """The bound is given at the step size to use, or at the largest covered one; or there is none."""
    kept = "t:bound (proved) guarantees final_suboptimality below 0.5"
    there = _answer(promise=_promise(0.25, 0.5), widest=None, is_covered=True, elsewhere=None)
    assert sentences._describe_promise(there) == f"{kept} there, from 0.125 at the start"
    unknown = _answer(promise=_promise(0.25, 0.5, start=None), widest=None, is_covered=True, elsewhere=None)
    assert sentences._describe_promise(unknown) == f"{kept} there"
    there.elsewhere = _promise(0.125, 0.5, vacuous=True)
    assert sentences._describe_promise(there) == (
        f"{kept} there, from 0.125 at the start; at step size 0.125 {kept} after the planned rounds, "
        "which promises nothing: the error is 0.125 at the start"
    )
    other = _answer(promise=_promise(0.125, 0.5), widest=None, is_covered=False, elsewhere=None)
    rest = f"at step size 0.125 {kept} after the planned rounds, from 0.125 at the start"
    assert sentences._describe_promise(other) == f"no bound covers step size 0.25; {rest}"
    other.widest = _plan(step=Edge(0.2))
    assert sentences._describe_promise(other) == (
        f"no bound covers step size 0.25: theory covers step sizes up to 0.2 (t:bound) only; {rest}"
    )
    other.widest = _plan(step=None)
    assert sentences._describe_promise(other) == f"no bound covers step size 0.25; {rest}"


def test_runs_that_no_bound_covers() -> None:
    """A bound on another error is named, unless it is on a limit or has no value."""
    bound = SimpleNamespace(value=lambda: 3.0)
    lead = "no bound on the error of the run covers it at any step size tried"
    covers = _plan(q.final_distance_sq, applicable=True, bound=bound, measured=[])
    for plans, text in (
        ([], "; --all says why"),
        ([_plan(applicable=False, bound=bound, measured=[])], "; --all says why"),
        ([_plan(q.limiting_distance_sq, applicable=True, bound=bound, measured=[])], "; --all says why"),
        ([_plan(applicable=True, bound=None, measured=[])], "; --all says why"),
        ([covers], f"; as planned {sentences._describe_bound_value(covers, 3.0)}"),
    ):
        found: Any = SimpleNamespace(claims=plans)
        assert sentences._describe_no_promise(found) == lead + text


def test_lines_of_an_answer() -> None:
    """A run that always diverges has no limit; a cause has its own line."""
    cause = SimpleNamespace(sentence=lambda: "because")
    for hopeless, given, heads in (
        (False, None, ["promised:", "limits:"]),
        (True, cause, ["promised:", "diverges:"]),
        (False, cause, ["promised:", "limits:", "diverges:"]),
    ):
        answer = _answer(promise=None, is_hopeless=hopeless, cause=given, others=None)
        found: Any = SimpleNamespace(claims=[], answer=answer)
        assert [head for head, _ in sentences.describe_guarantees(found, answer)] == heads


def test_answers_of_constants_alone() -> None:
    """The answer is the smallest bound at its best step size, with its largest term; or none."""
    bound = _bound(3 * ETA + 1 / ETA)
    best = _plan(bound=bound, optimum=SimpleNamespace(step_size=1.0, value=4.0))
    write = lambda _, term: str(term)  # noqa: E731
    found: Any = SimpleNamespace(recommended=best)
    assert dict(sentences.describe_constants_plan(found, write)) == {
        "use:": "step size 1, at which the bound of t:bound is smallest",
        "promised:": "it keeps final_suboptimality below 4 (proved)",
        "limits:": "its term 3*eta, 75% of it",
    }
    best.optimum.value = 2.0
    assert sentences.describe_constants_plan(found, write)[2][1] == "its term 3*eta, 3 before others are subtracted"
    best.optimum.value = 3.0
    assert sentences.describe_constants_plan(found, write)[2][1] == "its term 3*eta, 100% of it"
    for missing in ({"bound": None}, {"optimum": None}):
        nothing: Any = SimpleNamespace(recommended=SimpleNamespace(**{**vars(best), **missing}))
        assert [head for head, _ in sentences.describe_constants_plan(nothing, write)] == ["promised:"]
    none: Any = SimpleNamespace(recommended=None)
    assert len(sentences.describe_constants_plan(none, write)) == 1

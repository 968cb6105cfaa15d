"""The first lines of a plan: what to run, what the best bound promises there, what limits both."""

from __future__ import annotations

from collections.abc import Callable

from fedtheory.engine.run import Run
from fedtheory.federation.problem.least_squares import note_on_shares
from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from fedtheory.planner.advice import ClaimPlan
from fedtheory.planner.answer import Answer, Plan, Promise
from fedtheory.planner.bound import STEP, with_means
from fedtheory.planner.planning import terms_by_value
from fedtheory.planner.rounds_needed import Outcome
from fedtheory.shown import short

Write = Callable[[Claim, Expr], str]
"""How a formula of a claim stands in a sentence: in letters for a terminal, typeset on a page."""


def in_letters(claim: Claim, expression: Expr) -> str:
    """As people type it."""
    return claim.in_words(with_means(claim, expression))


def as_planned(run: Run) -> list[str]:
    """What is planned, and what a reader of the numbers should know."""
    problem, work = run.problem, run.algorithm.work
    size = max(work.step_sizes)
    note = note_on_shares(problem)
    planned = (
        f"{problem.description}: {_counted((problem.clients,), 'client')}; planned are step size {short(size)}, "
        f"{_counted(work.steps, 'local step')}, {_counted((run.algorithm.rounds,), 'round')}"
    )
    return [planned, *([] if note is None else [f"note: {note}"])]


def _counted(numbers: tuple[int, ...], what: str) -> str:
    least, most = min(numbers), max(numbers)
    count = str(most) if least == most else f"{least} to {most}"
    return f"{count} {what}{'s' * (most != 1)}"


def answer_lines(found: Plan, write: Write = in_letters) -> list[tuple[str, str]]:
    """Three lines, each with its head: by exact errors, by the best bound, and the limits of both."""
    answer = found.answer
    if answer is None:
        return [("use:", "no exact error of this run is known"), *constants_alone(found, write)]
    return [("use:", _use(answer)), ("promised:", _promised(answer, write)), ("limits:", _limits(answer, write))]


def _use(answer: Answer) -> str:
    best, name = answer.best, answer.error.name
    steps, rounds = _counted(answer.local_steps, "local step"), _counted((best.rounds,), "round")
    run = f"step size {short(best.step_size)}, {steps}, {rounds}"
    exact = f"exact {name} {short(best.error)}"
    planned = _as_planned(answer.planned, answer.accuracy)
    if answer.accuracy is None or best.reached:
        return f"{run}: {exact}; {planned}"
    return f"nothing tried reaches {short(answer.accuracy)}; nearest is {run}: {exact}; {planned}"


def _as_planned(planned: Outcome, accuracy: float | None) -> str:
    lead = f"as planned (step size {short(planned.step_size)})"
    if accuracy is None or not planned.reached:
        return f"{lead} it is {short(planned.error)} after {_counted((planned.rounds,), 'round')}"
    return f"{lead} {short(accuracy)} takes {_counted((planned.rounds,), 'round')}"


def _promised(answer: Answer, write: Write) -> str:
    promise, widest = answer.promise, answer.widest
    if promise is None:
        return "no bound covers this run at any step size tried; --all says why"
    if answer.is_covered:
        return f"{_bounded(promise)} there{_nearer(answer.elsewhere)}"
    limit = "" if widest is None or widest.step is None else f", the largest one covered is {_limit(widest, write)}"
    return (
        f"no bound covers step size {short(answer.best.step_size)}{limit}; "
        f"at step size {short(promise.step_size)} {_bounded(promise)} after the planned rounds"
    )


def _nearer(promise: Promise | None) -> str:
    if promise is None:
        return ""
    return f"; at step size {short(promise.step_size)} {_bounded(promise)} after the planned rounds"


def _bounded(promise: Promise) -> str:
    plan = promise.plan
    measured = f", with the run's own {' and '.join(plan.measured)}," if plan.measured else ""
    return f"{plan.claim.id} ({plan.claim.verdict}){measured} keeps {plan.error.name} below {short(promise.value)}"


def _limit(plan: ClaimPlan, write: Write) -> str:
    """A largest step size with its condition, and the numbers in it."""
    edge, bound = plan.step, plan.bound
    assert edge is not None
    assert bound is not None
    if edge.condition is None:
        return f"{short(edge.value)} ({plan.claim.id}, by its assumptions)"
    letters = sorted(edge.condition.free_symbols - set(bound.symbols(STEP)), key=str)
    numbers = "".join(
        f", {write(plan.claim, letter)} = {short(bound.values.get(bound.names[letter]))}" for letter in letters
    )
    return f"{short(edge.value)} ({plan.claim.id}: {write(plan.claim, edge.condition)}{numbers})"


def _limits(answer: Answer, write: Write) -> str:
    exact = (
        "the exact error still falls with the rounds"
        if answer.best.still_falls
        else "the exact error has settled: noise and drift at this step size keep it up, not the rounds"
    )
    if answer.promise is None:
        return exact
    term, share = answer.promise.largest_term
    words = write(answer.promise.plan.claim, term)
    return f"{exact}; the bound is limited by its term {words}, {share:.0%} of it"


def constants_alone(found: Plan, write: Write = in_letters) -> list[tuple[str, str]]:
    """The same where only bounds are known: the smallest one at its best step size, and the term that limits it."""
    best = found.recommended
    if best is None or best.bound is None or best.optimum is None:
        return [("promised:", "no bound has a best step size for these numbers; --all says why")]
    at_best = best.bound.at({"local_step_size": best.optimum.step_size})
    term, value = terms_by_value(at_best)[0]
    share = value / best.optimum.value if best.optimum.value > 0 else 1.0
    return [
        ("use:", f"step size {short(best.optimum.step_size)}, at which the bound of {best.claim.id} is smallest"),
        ("promised:", f"it keeps {best.error.name} below {short(best.optimum.value)} ({best.claim.verdict})"),
        ("limits:", f"its term {write(best.claim, term)}, {share:.0%} of it"),
    ]

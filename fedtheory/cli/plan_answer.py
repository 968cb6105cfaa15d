"""The first lines of a plan: what to run, what the best bound promises there, what limits both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fedtheory.cli.output import short

if TYPE_CHECKING:
    from fedtheory.engine.run import Run
    from fedtheory.planner import Answer, ClaimPlan, Outcome, Plan, Promise


def as_planned(run: Run) -> list[str]:
    """What is planned, and what a reader of the numbers should know."""
    from fedtheory.federation.problem.least_squares import note_on_shares

    problem, work = run.problem, run.algorithm.work
    size = max(work.step_sizes)
    note = note_on_shares(problem)
    planned = (
        f"{problem.description}: {problem.clients} clients; planned are step size {short(size)}, "
        f"{_counted(work.steps)} local steps, {run.algorithm.rounds} rounds"
    )
    return [planned, *([] if note is None else [f"note: {note}"])]


def _counted(steps: tuple[int, ...]) -> str:
    return str(steps[0]) if len(set(steps)) == 1 else f"{min(steps)} to {max(steps)}"


def answer_lines(found: Plan) -> list[tuple[str, str]]:
    """Three lines, each with its head: by exact errors, by the best bound, and the limits of both."""
    answer = found.answer
    if answer is None:
        return [("use:", "no exact error of this run is known"), *constants_alone(found)]
    return [("use:", _use(answer)), ("promised:", _promised(answer)), ("limits:", _limits(answer))]


def _use(answer: Answer) -> str:
    best, name = answer.best, answer.error.name
    run = f"step size {short(best.step_size)}, {_counted(answer.local_steps)} local steps, {best.rounds} rounds"
    exact = f"exact {name} {short(best.error)}"
    planned = _as_planned(answer.planned, answer.accuracy)
    if answer.accuracy is None or best.reached:
        return f"{run}: {exact}; {planned}"
    return f"nothing tried reaches {short(answer.accuracy)}; nearest is {run}: {exact}; {planned}"


def _as_planned(planned: Outcome, accuracy: float | None) -> str:
    lead = f"as planned (step size {short(planned.step_size)})"
    if accuracy is None or not planned.reached:
        return f"{lead} it is {short(planned.error)} after {planned.rounds} rounds"
    return f"{lead} {short(accuracy)} takes {planned.rounds} rounds"


def _promised(answer: Answer) -> str:
    promise, widest = answer.promise, answer.widest
    if promise is None:
        return "no bound covers this run at any step size tried; --all says why"
    if answer.is_covered:
        return f"{_bounded(promise)} there"
    limit = "" if widest is None or widest.step is None else f", the largest one covered is {_limit(widest)}"
    return (
        f"no bound covers step size {short(answer.best.step_size)}{limit}; "
        f"at step size {short(promise.step_size)} {_bounded(promise)} after the planned rounds"
    )


def _bounded(promise: Promise) -> str:
    claim = promise.plan.claim
    return f"{claim.id} ({claim.verdict}) keeps {promise.plan.error.name} below {short(promise.value)}"


def _limit(plan: ClaimPlan) -> str:
    """A largest step size with its condition, and the numbers in it."""
    from fedtheory.planner.bound import STEP

    edge, bound = plan.step, plan.bound
    assert edge is not None
    assert bound is not None
    if edge.condition is None:
        return f"{short(edge.value)} ({plan.claim.id}, by its assumptions)"
    letters = sorted(edge.condition.free_symbols - set(bound.symbols(STEP)), key=str)
    numbers = "".join(f", {letter} = {short(bound.values.get(bound.names[letter]))}" for letter in letters)
    return f"{short(edge.value)} ({plan.claim.id}: {plan.claim.in_words(edge.condition)}{numbers})"


def _limits(answer: Answer) -> str:
    exact = (
        "the exact error still falls with the rounds"
        if answer.best.still_falls
        else "the exact error has settled: noise and drift at this step size keep it up, not the rounds"
    )
    if answer.promise is None:
        return exact
    term, share = answer.promise.largest_term
    words = answer.promise.plan.claim.in_words(term)
    return f"{exact}; the bound is limited by its term {words}, {share:.0%} of it"


def constants_alone(found: Plan) -> list[tuple[str, str]]:
    """The same where only bounds are known: the smallest one at its best step size, and the term that limits it."""
    from fedtheory.planner.planning import terms_by_value

    best = found.recommended
    if best is None or best.bound is None or best.optimum is None:
        return [("promised:", "no bound has a best step size for these numbers; --all says why")]
    at_best = best.bound.at({"local_step_size": best.optimum.step_size})
    term, value = terms_by_value(at_best)[0]
    share = value / best.optimum.value if best.optimum.value > 0 else 1.0
    return [
        ("use:", f"step size {short(best.optimum.step_size)}, at which the bound of {best.claim.id} is smallest"),
        ("promised:", f"it keeps {best.error.name} below {short(best.optimum.value)} ({best.claim.verdict})"),
        ("limits:", f"its term {best.claim.in_words(term)}, {share:.0%} of it"),
    ]

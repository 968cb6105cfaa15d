"""Writes the first lines of a plan: the recommendation, the best bound for it, and what limits both."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from fedtheory.planner.advice import ClaimPlan
from fedtheory.planner.bound import ROUNDS, restore_means
from fedtheory.planner.coverage import LIMITS
from fedtheory.planner.other_settings import describe_other_settings
from fedtheory.planner.outcomes import ErrorAtStepSize
from fedtheory.planner.planning import sort_terms
from fedtheory.planner.recommendation import Answer, Plan, Promise
from fedtheory.planner.rounds_needed import AVERAGE, FINAL
from fedtheory.planner.rounds_needed import ERRORS as EXACT_ERRORS
from fedtheory.planner.setting_in_words import describe_counts, describe_step_size, format_error
from fedtheory.shown import short, short_below

Write = Callable[[Claim, Expr], str]
"""Function that writes a claim's formula in a sentence: as text in a terminal, typeset on a page."""


def write_formula(claim: Claim, expression: Expr) -> str:
    """Write a formula in Python notation."""
    return claim.in_words(restore_means(claim, expression))


def abbreviate(claim: Claim, expression: Expr) -> str:
    """Return the beginning of a long formula in Python notation; the details of a bound have it in full."""
    words = write_formula(claim, expression)
    return words if len(words) <= _BRIEF else f"{words[: _BRIEF - 3]}..."


_BRIEF = 120
"""Largest number of characters of a formula in a sentence."""


def describe_answer(found: Plan, write: Write = abbreviate) -> list[tuple[str, str]]:
    """Return three lines with headings: by exact errors, by the best bound, and the limits of both."""
    answer = found.answer
    if answer is None:
        return [("exact:", "the error of this run is not available"), *describe_constants_plan(found, write)]
    return [
        ("use:", describe_use(answer)),
        *describe_guarantees(found, answer, write),
        *describe_other_settings(answer),
    ]


def describe_guarantees(found: Plan, answer: Answer, write: Write = abbreviate) -> list[tuple[str, str]]:
    """Return the second and third line, and a fourth if the run as planned diverges."""
    promised = _describe_promise(answer) if answer.promise is not None else _describe_no_promise(found)
    limits = [] if answer.is_hopeless else [("limits:", _describe_limits(answer, write))]
    lines = [("promised:", promised), *limits]
    if answer.cause is not None:
        lines.append(("diverges:", f"as planned: {answer.cause.sentence()}"))
    return lines


def describe_use(answer: Answer) -> str:
    """Describe the recommended step size, local steps and rounds, and the resulting error."""
    if answer.is_hopeless:
        return f"no step size: the run diverges at every one tried, down to {short(answer.reached.diverges_from)}"
    best = answer.best
    steps, rounds = describe_counts(answer.local_steps, "local step"), describe_counts((best.rounds,), "round")
    run = f"{describe_step_size(answer.run, best.step_size)}, {steps}, {rounds}"
    further = f"{_describe_cycle(best)}{_describe_errors(answer)}"
    exact = f"{_describe_time(answer)}{answer.run.errors_are} {answer.error.name} {format_error(best)}{further}"
    rest = f"{_describe_margin(answer)}; {_describe_planned(answer)}"
    if answer.accuracy is None or best.reached:
        return f"{run}: {exact}; {rest}"
    why = f"no step size tried stays below {short(answer.accuracy)}: {answer.reached.reason}"
    return f"{why}; nearest is {run}: {exact}; {rest}"


def _describe_time(answer: Answer) -> str:
    """Describe the time of the rounds, if a clock determines it."""
    is_plain = answer.time == answer.best.rounds and answer.run.algorithm.clock.is_synchronous
    known = answer.time is not None and not is_plain
    return f"{short(answer.time)} time units; " if known else ""


def _describe_cycle(best: ErrorAtStepSize) -> str:
    """Describe the largest error in a cycle of a clock, and the round up to which it was simulated."""
    if best.reached and best.followed is not None:
        return f" then, and below the target up to round {best.followed}, the last one tried"
    is_large = best.highest is not None and best.highest > best.error and not best.reached
    return f" then, up to {short(best.highest)} in the last rounds" if is_large and best.highest is not None else ""


def _describe_errors(answer: Answer) -> str:
    """Name the requested error and the other one."""
    names = {FINAL: "the last model", AVERAGE: "the average over the path"}
    named = {error: names[key] for key, error in EXACT_ERRORS.items()}
    if answer.beside is None:
        return f" ({named[answer.error]})"
    other, value = answer.beside
    return f" ({named[answer.error]}; {named[other]}: {short(value)})"


def _describe_margin(answer: Answer) -> str:
    """Return the sentence about the margin to divergence."""
    edge, margin, beyond = answer.reached.diverges_from, answer.reached.margin, answer.best.beyond
    if beyond is not None:
        return _describe_result_beyond(answer, beyond)
    if math.isinf(edge):
        return "no step size tried diverges"
    return f"diverges from {short(edge)} on, a margin of {margin:.0%} is kept"


def _describe_result_beyond(answer: Answer, beyond: ErrorAtStepSize) -> str:
    """Return the sentence about the step size that is larger by the margin, if no divergence is near."""
    lead, margin = f"at step size {short_below(beyond.step_size)}", f"{answer.reached.margin:.0%}"
    if answer.accuracy is None or not answer.best.reached:
        return f"{lead}, a margin of {margin} above, it is {format_error(beyond)}"
    if beyond.reached:
        return f"{lead} the error stays below {short(answer.accuracy)} as well, a margin of {margin} is kept"
    return f"{lead} it does not stay below {short(answer.accuracy)}: no step size tried has a margin of {margin}"


def _describe_planned(answer: Answer) -> str:
    """Return the sentence about the run as planned."""
    planned, accuracy = answer.planned, answer.accuracy
    lead = f"as planned (step size {short(planned.step_size)})"
    if accuracy is not None and planned.reached:
        return f"{lead} {short(accuracy)} takes {describe_counts((planned.rounds,), 'round')}"
    if math.isinf(planned.error) or planned.step_size >= answer.reached.diverges_from:
        return f"{lead} it diverges"
    return f"{lead} it is {format_error(planned)} after {describe_counts((planned.rounds,), 'round')}"


def _describe_promise(answer: Answer) -> str:
    """Describe the smallest bound, or why no bound covers the run."""
    promise, widest = answer.promise, answer.widest
    assert promise is not None
    if answer.is_covered:
        kept = _describe_bound_value(promise.plan, promise.value, " there", promise.measured)
        return f"{kept}{_compare_with_start(promise)}{_describe_closer_promise(answer.elsewhere)}"
    limit = (
        ""
        if widest is None or widest.step is None
        else f": theory covers step sizes up to {_describe_limit(widest)} only"
    )
    return f"no bound covers step size {short_below(answer.best.step_size)}{limit}; {_describe_own_step(promise)}"


def _describe_no_promise(found: Plan) -> str:
    """Report that no bound on the error covers the run, and name bounds on other errors."""
    lead = "no bound on the error of the run covers it at any step size tried"
    covering = (plan for plan in found.claims if plan.applicable and plan.error not in LIMITS)
    beside = next(covering, None)
    if beside is None or beside.bound is None:
        return f"{lead}; --all says why"
    return f"{lead}; as planned {_describe_bound_value(beside, beside.bound.value(), measured_names=beside.measured)}"


def _describe_closer_promise(promise: Promise | None) -> str:
    """Return the clause about a promise closer to the error; empty without one."""
    return "" if promise is None else f"; {_describe_own_step(promise)}"


def _describe_own_step(promise: Promise) -> str:
    """Describe a bound at its own best step size."""
    kept = _describe_bound_value(promise.plan, promise.value, " after the planned rounds", promise.measured)
    return f"at step size {short_below(promise.step_size)} {kept}{_compare_with_start(promise)}"


def _compare_with_start(promise: Promise) -> str:
    """Name the error at the start, which may already satisfy the bound; return nothing if it is unknown."""
    if promise.at_start is None:
        return ""
    if promise.is_vacuous:
        return f", which promises nothing: the error is {short(promise.at_start)} at the start"
    return f", from {short(promise.at_start)} at the start"


_ROUNDING = 1e-14
"""Errors relative to that of the start below which they are rounding error."""


def _describe_bound_value(plan: ClaimPlan, value: float, when: str = "", measured_names: Sequence[str] = ()) -> str:
    """Describe a bound's value: the claim, its verdict, the error that it bounds, and the measured numbers."""
    measured = f", with {' and '.join(measured_names)} measured on this run" if measured_names else ""
    verdict = "user-defined" if plan.claim.verdict is None else plan.claim.verdict
    is_known = plan.error in EXACT_ERRORS.values()
    meaning = "" if is_known else f" ({plan.error.meaning})"
    return f"{plan.claim.id} ({verdict}) guarantees {plan.error.name} below {short(value)}{when}{meaning}{measured}"


def _describe_limit(plan: ClaimPlan) -> str:
    """Return a largest step size, with the claim that it belongs to."""
    assert plan.step is not None
    return f"{short_below(plan.step.value)} ({plan.claim.id})"


def _describe_limits(answer: Answer, write: Write) -> str:
    """Return the sentence about what limits the error."""
    rounding = 0.0 if answer.best.limit is None else _ROUNDING * float(answer.run.initial_gap)
    exact = _describe_exact_limit(answer.best, answer.run.errors_are, rounding)
    if answer.promise is None or answer.promise.is_vacuous:
        return exact
    term, share = answer.promise.largest_term
    words = write(answer.promise.plan.claim, term)
    falls = "; more rounds lower it" if answer.promise.bound.depends_on(term, ROUNDS) else ""
    if share > 1:
        return f"{exact}; the largest term of the guarantee is {words}, before others are subtracted{falls}"
    return f"{exact}; {share:.0%} of the guarantee is its term {words}{falls}"


def _describe_exact_limit(best: ErrorAtStepSize, known: str, rounding: float = 0.0) -> str:
    """Describe the error's limit over the rounds; a limit of at most `rounding` counts as zero."""
    if best.limit is not None and math.isfinite(best.limit):
        if best.limit <= rounding:
            return f"with ever more rounds the {known} error falls to zero, up to rounding"
        parts = ""
        if best.noise_floor is not None:
            parts = f" ({short(best.limit - best.noise_floor)} by drift, {short(best.noise_floor)} by noise)"
        way = "rises" if best.limit > best.error else "falls"
        return f"with ever more rounds the {known} error {way} to {short(best.limit)}{parts}"
    if best.still_falls:
        return f"the {known} error still falls with the rounds"
    return f"more rounds do not lower the {known} error: noise and drift limit it at this step size"


def describe_constants_plan(found: Plan, write: Write = abbreviate) -> list[tuple[str, str]]:
    """Describe the recommendation by bounds alone: the smallest one at its best step size, and its dominating term."""
    best = found.recommended
    if best is None or best.bound is None or best.optimum is None:
        return [("promised:", "no bound has a best step size for these numbers; --all says why")]
    at_best = best.bound.with_numbers({"local_step_size": best.optimum.step_size})
    term, value = sort_terms(at_best)[0]
    share = value / best.optimum.value if best.optimum.value > 0 else 1.0
    part = f"{share:.0%} of it" if share <= 1 else f"{short(value)} before others are subtracted"
    return [
        ("use:", f"step size {short_below(best.optimum.step_size)}, at which the bound of {best.claim.id} is smallest"),
        ("promised:", f"it keeps {best.error.name} below {short(best.optimum.value)} ({best.claim.verdict})"),
        ("limits:", f"its term {write(best.claim, term)}, {part}"),
    ]

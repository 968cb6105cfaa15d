"""Decide in rationals or enclosures the checks that floats leave open."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache

from fedtheory.arithmetic import ENCLOSED, FLOAT, RATIONAL
from fedtheory.arithmetic.enclosures import precise_enclosures
from fedtheory.engine.certified_run import certify_run
from fedtheory.engine.moments import is_too_long_for_rationals, rounds_repeat
from fedtheory.engine.run import Run
from fedtheory.errors import Diverging, InputError, NotApplicable
from fedtheory.language.claim import Claim
from verify.check.applicability import ConditionCheck, check_applicability
from verify.check.one_run import check
from verify.check.outcome import Check, FinalDecision
from verify.check.perturbed_runs import perturb
from verify.check.rates import refine_rate
from verify.effort import estimate_simulation

_BUDGET = 2_000_000
"""Largest number of multiplications of short rationals for which a run is repeated exactly."""
_MOST_PRODUCTS, _MOST_OF_CONSTANTS = 2 * 10**10, 2 * 10**9
"""Largest numbers of float multiplications for which moments are enclosed, and of rational multiplications for the
constants of a problem.

Either takes about a minute.
"""
_OF_DEFINITIONS = 10
"""Cost of enclosing a round of a user-defined algorithm, relative to FedAvg."""
_MANY, _MOST_STEPS = 16, 50_000_000
"""Dimensions, and multiplications as in `_BUDGET`, from which rationals are not tried."""
_FARTHEST = 256
"""Number of rounds of the last level of rational ladders."""
_SILENT: Callable[[int, int], None] = lambda _done, _all: None  # noqa: E731
LONGEST_IN_RATIONALS = 3.0
"""Seconds of work up to which a search decides in rationals, and a run that enclosures leave open is repeated there."""
_LONGER = 16
"""Number of local steps after which the size of rationals has doubled."""


def check_decided(claim: Claim, exact: Run, floats: Run | None) -> Check:
    """Return the check in floats where it decides, else the exact check; the caller must confirm a violation."""
    if floats is not None:
        found = check(claim, floats)
        if not found.applicable or found.holds is not None:
            return found
        # A slope that a float ladder leaves open stays open in exact numbers, unless an exact limit decides.
        if found.rate is not None and claim.rate is not None and claim.rate.constant is None:
            return _check_rate_closer(found, exact)
    return check(claim, exact)


def _check_rate_closer(found: Check, exact: Run) -> Check:
    """Return a rate that float ladders leave open with the results in rationals."""
    assert found.rate is not None
    closer = refine_rate(found.claim, exact, found.rate)
    return found if closer is found.rate else replace(found, rate=closer, arithmetic=exact.arithmetic)


def check_and_escalate(
    claim: Claim, given: Run, exactly: Callable[[], Run], on_progress: Callable[[int, int], None] = _SILENT
) -> Check:
    """Check a claim on a given run so that small changes of the run do not matter, and decide it where affordable.

    `exactly` reads the same run in rationals; `on_progress` receives the finished rounds and all rounds. If rationals
    would take hours, with many dimensions or rounds, the run is enclosed in floats instead.
    """
    if given.arithmetic is RATIONAL and _takes_hours(given):
        given = certify_run(given, on_progress)
    found = check(claim, given, perturb(given))
    return found if given.is_estimated else escalate(found, exactly, on_progress)


def make_decidable(run: Run) -> Run:
    """Return a rational run, or its copy with enclosed moments if its rationals would be too long."""
    is_long = run.arithmetic is RATIONAL and _estimate_cost(run) > _BUDGET and _is_affordable(run)
    return certify_run(run) if is_long else run


def check_rigorously(claim: Claim, exact: Run) -> Check:
    """Check a claim on a rational run as `decidable` has it; in rationals where enclosures answer nothing.

    Vectors of single local steps, for example, are not enclosed. `simulation` limits the length of such a run.
    """
    run = make_decidable(exact)
    found = check(claim, run)
    if run is exact or found.holds is not None or estimate_simulation(exact) > LONGEST_IN_RATIONALS:
        return found
    return check(claim, exact)


def escalate(found: Check, exactly: Callable[[], Run], on_progress: Callable[[int, int], None] = _SILENT) -> Check:
    """Decide a check that floats leave open by repeating the run exactly, where that is affordable.

    Open are near ties, violations, and assumptions that floats cannot decide. Where rationals would be too long, the
    claim's proof decides near ties, and enclosed moments decide all else. Sides keep their float values;
    `final_decision` names the method. `exactly` reads the same run in rationals.
    """
    if found.arithmetic is not FLOAT or found.is_decided:
        return found
    if found.claim.rate is not None:
        return _escalate_rate(found, exactly)
    seen = "floats alone see a violation" if found.holds is False else "floats alone do not decide"
    try:
        run = exactly()
    except InputError as reason:
        return _leave_undecided(found, f"{seen}, and the run is too long to confirm it exactly: {reason.message}")
    if _estimate_cost(run) <= _BUDGET:
        return _merge_decision(found, check(found.claim, run), seen)
    seen += f", and the run is too large to repeat in {run.arithmetic.numbers}"
    enclosed = certify_run(run, on_progress)
    if enclosed is run or not _is_affordable(run):
        return _leave_undecided(found, seen)
    return _decide_by_proof(found, enclosed) or _merge_decision(found, check(found.claim, enclosed), seen)


def _escalate_rate(found: Check, exactly: Callable[[], Run]) -> Check:
    """Decide a rate that floats leave open or refute: by an exact limit, or on rational ladders."""
    if found.rate is None or not found.is_steady:
        return found
    with suppress(InputError, NotApplicable, Diverging):
        exact = exactly()
        closer = _check_rate_closer(found, exact)
        if closer is found and _estimate_cost(exact.with_rounds(_FARTHEST)) <= _BUDGET:
            closer = check(found.claim, exact)
        if closer.is_decided and closer.arithmetic.is_rigorous:
            return replace(closer, arithmetic=FLOAT, final_decision=_adopt_decision(closer))
    return found


def _decide_by_proof(found: Check, run: Run) -> Check | None:
    """Decide a near tie of a proved claim that certainly applies; None otherwise."""
    if not found.comparisons or found.holds is not None or not _is_proved(found.claim):
        return None
    conditions = _check_conditions_exactly(found.claim, run)
    if conditions is None:
        return None
    proof = FinalDecision(True, "both sides agree up to rounding, and the claim is proved", "by its proof")
    return replace(found, conditions=conditions, final_decision=proof)


def _merge_decision(found: Check, exact: Check, seen: str) -> Check:
    if not exact.is_decided:
        return _leave_undecided(found, f"{seen}, and {exact.reason}")
    final_decision = _adopt_decision(exact)
    if exact.applicable and found.comparisons:
        return replace(found, conditions=exact.conditions, final_decision=final_decision, is_steady=True)
    return replace(exact, arithmetic=FLOAT, final_decision=final_decision)


def _adopt_decision(exact: Check) -> FinalDecision:
    numbers = exact.arithmetic.numbers
    return FinalDecision(exact.holds, f"decided in {numbers}", f"in {numbers}")


def _check_conditions_exactly(claim: Claim, run: Run) -> tuple[ConditionCheck, ...] | None:
    """Return the conditions if they and all assumptions certainly hold; floats may take unequal numbers for equal."""
    try:
        with precise_enclosures():
            applicability = check_applicability(claim, run, ())
    except (NotApplicable, Diverging):
        return None
    return (
        None
        if applicability.failures or not all(condition.holds for condition in applicability.conditions)
        else applicability.conditions
    )


@cache
def _is_proved(claim: Claim) -> bool:
    """Return whether the kernel accepts a proof of a claim, so that it holds on every run to which it applies."""
    # Few checks need a proof, and the kernel takes a tenth of a short command to load.
    from fedtheory.proofs import prove

    return prove(claim).verdict == "proved"


def _leave_undecided(found: Check, reason: str) -> Check:
    """Return the check without a verdict; an existing reason is kept."""
    return replace(found, final_decision=FinalDecision(None, reason), reason=found.reason or reason)


def _estimate_cost(run: Run) -> int:
    steps = run.algorithm.rounds * max(run.algorithm.work.steps)
    # The number of bits of enclosures is at most about the number of steps.
    longer = 0 if run.arithmetic is ENCLOSED else steps / _LONGER
    products = run.problem.clients * (run.problem.dimension + 1) ** 3 + run.problem.oracle.sample_products
    return int(steps * (1 + longer) * products)


def is_short(run: Run) -> bool:
    """Return whether reading and repeating a run in rationals takes no noticeable time."""
    data = run.problem.data
    entries = 0 if data is None else sum(inputs.size for inputs in data.inputs)
    return _estimate_cost(run) <= _BUDGET and entries * (run.problem.dimension + 1) <= _BUDGET


def _takes_hours(run: Run) -> bool:
    """Return whether a check in rationals would take hours, while moments can be enclosed in a minute or two."""
    is_wide = run.problem.dimension >= _MANY and _estimate_cost(run) > _MOST_STEPS
    return (is_wide or is_too_long_for_rationals(run.problem, run.algorithm)) and _is_affordable(run)


def _is_affordable(run: Run) -> bool:
    """Return whether moments can be enclosed within a minute or two, with the constants of the problem in rationals."""
    # Identical rounds are enclosed together.
    rounds = 1 if rounds_repeat(run.problem, run.algorithm) else run.algorithm.rounds
    steps, size = rounds * max(run.algorithm.work.steps), run.problem.dimension + 1
    data = run.problem.data
    rows = 0 if data is None else sum(map(len, data.outputs))
    # User-defined algorithms have several vectors, and their round map is evaluated more often.
    vectors = 1 if run.algorithm.defined is None else _OF_DEFINITIONS
    products = vectors * steps * (run.problem.clients * size + rows) * size**2
    return products <= _MOST_PRODUCTS and run.problem.clients * size**4 <= _MOST_OF_CONSTANTS

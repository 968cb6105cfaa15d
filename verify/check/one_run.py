"""Check one claim on one run in the arithmetic of the run: from its links to the outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial

import numpy as np

from fedtheory.arithmetic import ENCLOSED, RATIONAL
from fedtheory.arithmetic.enclosures import precise_enclosures
from fedtheory.engine.certified_run import certify_run
from fedtheory.engine.moments import is_too_long_for_rationals
from fedtheory.engine.run import Run
from fedtheory.errors import Diverging, InputError, Misplaced, NotApplicable, Unresolved
from fedtheory.language.claim import Claim
from fedtheory.language.claim_places import list_stacked_sites
from fedtheory.language.quantities import RunQuantity
from fedtheory.language.quantities.measuring.expectations import measure_several
from verify.check.applicability import check_applicability, explain_exclusion, name_exclusion
from verify.check.comparison import Comparison, compare
from verify.check.dependencies import collect_in_relations
from verify.check.links import CompiledRelation, compile_relations
from verify.check.loose_constants import LooseConstant, list_loose_constants, move_constants
from verify.check.monte_carlo import estimate_sides
from verify.check.outcome import Check, FinalDecision
from verify.check.rates import RateCheck, check_rate
from verify.effort import spend


def check(claim: Claim, run: Run, perturbed: Sequence[Run] = ()) -> Check:
    """Check a claim on a run, in the run's arithmetic.

    A failed assumption or condition makes the claim not applicable, never false. A float check on whose result the
    `perturbed` runs disagree is left undecided. Enclosures that do not decide are repeated with more bits. Runs with
    too many rounds for rationals are enclosed in floats. Raises `InputError` for a claim that cannot be evaluated.
    """
    found = _check_unmerged(claim, run, perturbed)
    if found.applicable or not run.is_in_types or run.clients * run.problem.dimension > _MOST_WRITTEN_OUT:
        return found
    # Statements about single clients need each client separately.
    return check(
        claim,
        run.compute_once(Run.follow_all_clients),
        [near.compute_once(Run.follow_all_clients) for near in perturbed],
    )


_MOST_WRITTEN_OUT = 2_000
"""Largest number of coordinates of all clients for which repeated clients are expanded for a claim."""


def _check_unmerged(claim: Claim, run: Run, perturbed: Sequence[Run]) -> Check:
    """Check a claim on a run without merging equal clients."""
    if run.arithmetic is RATIONAL and is_too_long_for_rationals(run.problem, run.algorithm):
        run = certify_run(run)
    found = _check_in_enclosures(claim, run) if run.arithmetic is ENCLOSED else _check_guarded(claim, run, perturbed)
    spend(run, claim.place)
    return found


def _check_in_enclosures(claim: Claim, run: Run) -> Check:
    for bits in run.precisions:
        with precise_enclosures(bits):
            found = replace(_require_certain_conditions(_check_guarded(claim, run.refine(bits))), bits=bits)
        if found.is_decided or claim.rate is not None:
            return found
    closer = f"the two sides are equal, or closer than enclosures of {bits} bits can tell"
    return replace(found, reason=found.reason or closer)


def _require_certain_conditions(found: Check) -> Check:
    """Return a check in enclosures; it is undecided where a condition is left open."""
    open_ones = [found.claim.in_words(c.expression) for c in found.conditions if c.holds is None]
    if not found.applicable or not open_ones:
        return found
    reason = f"both sides of the condition {open_ones[0]} are equal, or too close for their enclosures"
    return replace(found, is_steady=False, reason=reason)


def _check_guarded(claim: Claim, run: Run, perturbed: Sequence[Run] = ()) -> Check:
    """Check at the present precision, and turn errors into reasons."""
    try:
        # Overflow gives infinity or NaN, which decide nothing.
        with precise_enclosures(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return _drop_loose_decision(_check(claim, run, perturbed), run)
    except Misplaced as reason:
        raise InputError(claim.id, str(reason)) from None
    except (Unresolved, Diverging) as reason:
        diverges = isinstance(reason, Diverging)
        return Check(claim, run.arithmetic, False, str(reason), diverges=diverges, is_steady=False)
    except NotApplicable as reason:
        if not perturbed:
            excluded = (name_exclusion(claim, reason),)
            return Check(claim, run.arithmetic, False, explain_exclusion(claim, excluded), excluded=excluded)
    # The reason may come from a perturbed run.
    found = _check_guarded(claim, run)
    return replace(
        found, is_steady=all(_check_guarded(claim, near).applicable == found.applicable for near in perturbed)
    )


def _check(claim: Claim, run: Run, perturbed: Sequence[Run]) -> Check:
    # An expression outside the language is an error, whether or not the claim applies.
    links = compile_relations(claim)
    applicability = check_applicability(claim, run, perturbed)
    given = partial(
        Check, claim, run.arithmetic, conditions=applicability.conditions, is_steady=applicability.is_steady
    )
    if applicability.failures:
        return given(False, explain_exclusion(claim, applicability.failures), excluded=applicability.failures)
    found = given(True, None, regions=list_regions(claim, run))
    if not found.is_steady:
        return found
    if claim.rate is not None and run.is_estimated:
        return replace(found, reason="a rate needs exact errors, and those of this run are Monte-Carlo averages")
    if claim.rate is not None:
        return replace(found, rate=_check_rate(claim, run, perturbed))
    if not claim.relations:
        return replace(found, reason="there is no relation to check: the claim is a definition")
    for each in (run, *perturbed):
        measure_several(collect_in_relations(claim).quantities, each)
    found = replace(found, comparisons=tuple(compare(links, partial(list_stacked_sites, claim), run, perturbed)))
    return _check_with_interval(found, links, run) if run.is_estimated else found


def _drop_loose_decision(found: Check, run: Run) -> Check:
    """Leave a check undecided if closer values of constants that are bounds would decide it otherwise."""
    if found.holds is None or found.rate is not None:
        return found
    if found.holds:
        return _drop_loose_strictness(found, run)
    loose = list_loose_constants(found.claim, run)
    around = [_compare_again(found.claim, moved) for moved in move_constants(run, loose)]
    if any(_is_violated_alike(links) for links in zip(found.comparisons, *around, strict=False)):
        return found
    return _leave_to_constants(found, loose)


def _drop_loose_strictness(found: Check, run: Run) -> Check:
    """Leave a strict relation undecided if its gap may be due to rounded eigenvalues alone.

    Suprema on balls favour the claims that they are constants of.
    """
    if not any(link.relation.operator in ("<", ">") for link in found.comparisons):
        return found
    rounded = [one for one in list_loose_constants(found.claim, run) if not one.is_supremum]
    around = (_compare_again(found.claim, moved) for moved in move_constants(run, rounded))
    if any(link.holds is False for links in around for link in links):
        return _leave_to_constants(found, rounded)
    return found


def _leave_to_constants(found: Check, loose: Sequence[LooseConstant]) -> Check:
    """Return the check without a decision, because of constants that are bounds."""
    reason = "; ".join(one.reason for one in loose)
    return replace(found, final_decision=FinalDecision(None, reason), reason=reason)


def _compare_again(claim: Claim, run: Run) -> Sequence[Comparison]:
    """Compare the links of a claim on a run; empty where the claim does not apply."""
    try:
        return _check(claim, run, ()).comparisons
    except NotApplicable:
        return ()


def _is_violated_alike(links: Sequence[Comparison]) -> bool:
    """Return whether a link is violated for all values of the suprema, and no side is once larger and once smaller."""
    is_larger, is_smaller = (any(link.lhs > link.rhs for link in links), any(link.lhs < link.rhs for link in links))
    return all(link.holds is False for link in links) and not (is_larger and is_smaller)


def _check_with_interval(found: Check, links: Sequence[CompiledRelation], run: Run) -> Check:
    """Check a claim on a run with Monte-Carlo moments; the interval decides, but never refutes."""
    seen = estimate_sides(links, partial(list_stacked_sites, found.claim), run)
    if seen is None:
        return found
    estimate, final_decision = seen
    return replace(found, final_decision=final_decision, estimate=estimate)


def list_regions(claim: Claim, run: Run) -> dict[str, str]:
    """Return the regions on which the claim's constants hold."""
    found = [(quantity.name, quantity.region_on(run)) for quantity in list_constants_with_regions(claim)]
    return {name: region.description for name, region in found if region is not None}


@cache
def list_constants_with_regions(claim: Claim) -> tuple[RunQuantity, ...]:
    """Return the constants of a claim that hold on some region, by name."""
    used = {n.name: n for n in claim.notation.values() if isinstance(n, RunQuantity) and n.region is not None}
    return tuple(used[name] for name in sorted(used))


def _check_rate(claim: Claim, run: Run, perturbed: Sequence[Run]) -> RateCheck:
    rate = check_rate(claim, run)
    agree = all(check_rate(claim, near).holds == rate.holds for near in perturbed)
    return rate if agree else replace(rate, holds=None)

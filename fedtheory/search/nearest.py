"""Explains why no known bound shows a claim: the nearest one, with its further assumptions or open conditions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from fedtheory.kernel import Rejected
from fedtheory.language.claim import Claim
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.proofs.proof import follows
from fedtheory.proofs.run_conditions import conditions_of_run
from fedtheory.search.premises import KnownClaim, adopt_symbols, list_bounds_on_same, list_lacking_quantities
from fedtheory.search.proof_outcome import NotFound
from fedtheory.search.remainders import make_goal

_MOST_COMPARED = 5
"""Limit on the known bounds whose conditions are compared with those of a claim."""


def explain_assumptions(claim: Claim) -> NotFound:
    """Return the result if no known bound on the quantity holds under the assumptions of a claim."""
    reason = "no proved claim bounds this quantity under these assumptions"
    known = next(iter(list_bounds_on_same(use_plain_symbols(claim))), None)
    if known is None:
        return NotFound(reason)
    names = ", ".join(one.name for one in known.missing)
    return NotFound(f"{reason}; {known.claim.id} also assumes {names}" if names else reason, known.claim.id)


def explain_misfit(claim: Claim, candidates: Sequence[KnownClaim]) -> NotFound:
    """Return the result if none of the known bounds gives a combination, with the open conditions of the nearest."""
    compared = [(known, _list_open_conditions(claim, known)) for known in candidates[:_MOST_COMPARED]]
    nearest, conditions = min(compared, key=lambda one: len(one[1]))
    if not conditions:
        return NotFound("the proved claims about this quantity have another form", nearest.claim.id)
    needed = ", and ".join(conditions)
    return NotFound(f"{nearest.claim.id} needs conditions that your own do not imply: {needed}", nearest.claim.id)


def _list_open_conditions(claim: Claim, known: KnownClaim) -> list[str]:
    """Return the conditions of a known bound that do not follow from those of a claim, in its symbols where it can."""
    goal = make_goal(claim, list_lacking_quantities(claim, [known.claim]), known.missing).claim
    with suppress(Rejected):
        renamed = adopt_symbols(goal, known.claim)
        if renamed is not None:
            given = conditions_of_run(goal)
            return [goal.in_words(one) for one in renamed.conditions if not follows(one, goal, given)]
    return [known.claim.in_words(one) for one in known.claim.conditions]

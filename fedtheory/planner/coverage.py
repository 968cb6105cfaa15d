"""Selects the claims that a plan can use: true bounds on an error of a whole run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import RunQuantity
from fedtheory.language.registry import all_claims, repairs_of

LIMITS: tuple[RunQuantity, ...] = (
    q.limiting_suboptimality,
    q.limiting_model_suboptimality,
    q.limiting_distance_sq,
    q.leading_limiting_distance_sq,
)
"""Stationary errors of runs: bounds on these do not apply to a finite number of rounds."""

ERRORS: tuple[RunQuantity, ...] = (
    q.average_suboptimality,
    q.final_suboptimality,
    q.best_aggregated_suboptimality,
    q.average_gradient_sq,
    q.average_local_gradient_sq,
    q.final_distance_sq,
    q.mean_virtual_suboptimality,
    q.mean_virtual_gradient_sq,
    q.mean_surrogate_suboptimality,
    q.mean_surrogate_gap,
    q.mean_round_gap,
    *LIMITS,
    q.average_round_drift,
    q.max_drift,
)
"""Errors of a run that a bound may have as its left side."""

TRUE = ("proved", "supported")
"""Recorded verdicts of claims that a plan relies on."""


def find_bounded_error(claim: Claim) -> RunQuantity | None:
    """Return the error that a claim bounds; None if it bounds no error of a run.

    The left side must be the error, or a multiple of it.
    """
    if claim.kind not in ("bound", "inequality") or claim.place != "run" or claim.for_all or not claim.relations:
        return None
    main = claim.relations[0]
    if main.operator != "<=":
        return None
    meant = [claim.notation.get(symbol) for symbol in main.left.free_symbols]
    found = [quantity for quantity in meant if isinstance(quantity, RunQuantity) and quantity in ERRORS]
    return found[0] if len(found) == 1 else None


@cache
def covering_claims() -> tuple[Claim, ...]:
    """Return the true bounds on an error of a run, in the order of their sources."""
    return tuple(
        claim for claim in all_claims().values() if claim.verdict in TRUE and find_bounded_error(claim) is not None
    )


def collect_meanings(claims: Iterable[Claim]) -> dict[str, set[str]]:
    """Return the quantities that each symbol of the claims, and each name of a quantity, can denote."""
    found: dict[str, set[str]] = {}
    for claim in claims:
        for symbol, quantity in claim.where.items():
            found.setdefault(str(symbol), set()).add(quantity.name)
            found.setdefault(quantity.name, set()).add(quantity.name)
    return found


def refuted_bounds(asked: Sequence[Claim] | None = None) -> tuple[Claim, ...]:
    """Return refuted bounds on an error of a run, of the selected papers; no plan uses them."""
    sources = None if asked is None else {claim.source for claim in asked if claim.is_published}
    refuted = (claim for claim in all_claims().values() if claim.verdict == "refuted")
    return tuple(c for c in refuted if (sources is None or c.source in sources) and find_bounded_error(c) is not None)


def repair_of(claim: Claim) -> Claim | None:
    """Return a true bound that corrects a refuted one."""
    return next((other for other in repairs_of(claim) if other in covering_claims()), None)

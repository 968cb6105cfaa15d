"""Quantities that are undefined on some runs: minimisers, integer periods, weights without reports.

A claim that names such a quantity does not apply to a run without it.  Hence a statement or fact about the quantity is
used only if the claim names a quantity that is defined on the same runs, or has an assumption that implies this.
"""

from __future__ import annotations

from collections.abc import Iterator

from fedtheory.kernel.expressions import Symbol
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.paper_parts import import_parts
from fedtheory.language.quantities import Quantity
from fedtheory.language.signs import Existing, list_defined_with, list_existing

FROM_OPTIMUM: frozenset[Quantity] = frozenset(
    {
        q.optimum,
        q.limiting_suboptimality,
        q.limiting_model_suboptimality,
        q.limiting_distance_sq,
        q.limiting_mean_distance_sq,
        q.optimum_displacement_sq,
        q.comparator,
    }
)
"""Quantities relative to x* or F*, which need an objective that is bounded below, although no term shows it."""
_COMMON_WORK = frozenset((a.same_local_work, a.aggregation_scheme, a.two_sided_steps))
"""Assumptions under which all clients take the same number of local steps of one size."""


def _add_papers(*kinds: Existing) -> tuple[Existing, ...]:
    """Return the groups of quantities, extended by those of papers and terms that are defined on the same runs."""
    others = [kind for part in import_parts("signs") for kind in part.SIGNS.existing]
    every = {kind.name: kind for kind in (*kinds, *others)}
    for name in every:
        same = [kind for kind in (*kinds, *others) if kind.name == name]
        named = frozenset[Quantity]().union(*(kind.quantities for kind in same))
        every[name] = Existing(name, named | list_defined_with(named), same[0].by)
    return tuple(every.values())


KINDS = _add_papers(
    Existing("a minimiser of F", FROM_OPTIMUM, a.IMPLY_CONVEXITY),
    Existing(
        "smallest curvatures of convex clients",
        frozenset[Quantity]({q.strong_convexity, q.client_strong_convexity}),
        a.IMPLY_CONVEXITY,
    ),
    Existing(
        "the smallest curvature of a convex objective", frozenset[Quantity]({q.smallest_curvature}), a.IMPLY_CONVEXITY
    ),
    list_existing(
        "minimisers of the clients",
        *(q.client_optimum, q.relative_noise, q.absolute_noise),
        by=a.strongly_convex_clients,
    ),
    Existing(
        "a number of local steps that all clients share",
        frozenset[Quantity]({q.local_steps}),
        _COMMON_WORK,
    ),
    Existing(
        "a step size that all clients share",
        frozenset[Quantity]({q.local_step_size}),
        _COMMON_WORK | {a.same_step_size},
    ),
)
"""Groups of quantities that may be undefined on a run."""
OPTIMUM = KINDS[0]


def list_missing(claim: Claim, quantities: frozenset[Quantity]) -> Iterator[str]:
    """Yield the assumptions that a claim lacks for some quantities to be defined."""
    yield from (kind.name for kind in KINDS if kind.quantities & quantities and not is_known(kind, claim))


def is_known(kind: Existing, claim: Claim) -> bool:
    """Whether a claim names a quantity that is defined on the same runs, or has an assumption that implies it."""
    return bool(kind.quantities & frozenset(claim.notation.values()) or kind.by & {*claim.assumptions})


def select_existing_symbols(claim: Claim) -> dict[Symbol, Quantity]:
    """Return the symbols of a claim, without unused ones whose quantities may be undefined."""
    missing = frozenset[Quantity]().union(*(kind.quantities for kind in KINDS if not is_known(kind, claim)))
    return {symbol: quantity for symbol, quantity in claim.where.items() if quantity not in missing}

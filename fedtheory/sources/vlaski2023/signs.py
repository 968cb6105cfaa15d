"""Quantities of the chapter that exist on the same runs; trusted like the kernel."""

from __future__ import annotations

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.quantities import Quantity
from fedtheory.language.signs import Existing, Signs, existing

_LIMITS = frozenset[Quantity]({q.distance_to_small_step_limit})
SIGNS = Signs(
    existing=(
        Existing("a minimiser of F", _LIMITS, a.IMPLY_CONVEXITY),
        existing("the minimiser for small steps", *_LIMITS, by=a.strongly_convex_clients),
    )
)

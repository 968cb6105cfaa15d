"""Quantities of the chapter that exist on the same runs; trusted like the kernel."""

from __future__ import annotations

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.quantities import Quantity
from fedtheory.language.signs import Existing, Signs, list_existing

SIGNS = Signs(
    nonnegative_of_clients=(q.client_optimum_distance,),
    existing=(
        Existing(
            "a minimiser of F",
            frozenset[Quantity]({q.leading_limiting_distance_sq, q.distance_to_small_step_limit}),
            a.IMPLY_CONVEXITY,
        ),
        list_existing(
            "the minimiser for small steps",
            *(q.small_step_optimum, q.distance_to_small_step_limit),
            by=a.strongly_convex_clients,
        ),
    ),
    given=(q.small_step_optimum,),
)

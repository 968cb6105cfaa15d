"""Strongly convex clients with client sampling: the last model is near the optimum.

The proof extends that for full participation: the client drift that remains at the end of a round bounds the cost of
sampling, and contracts with the other terms.
"""

from __future__ import annotations

from sympy import Rational

from fedtheory.language import assumptions as a
from fedtheory.sources.comparator.statements.full_rounds import SHORT_STEP
from fedtheory.sources.comparator.statements.largest_costs import LargestCosts
from fedtheory.sources.comparator.statements.notation import *
from fedtheory.sources.comparator.statements.strong_convexity import factor, state_contraction

COSTS = LargestCosts(Rational(11, 10) * rho * tau / eta)
"""Coefficient 11/10 of the sampling, which is at least the weight 1 + eta mu."""
floor = COSTS.floor(sigma_star, zeta_star)

STRONG = (*SAMPLED_SETTING, a.strongly_convex_clients)
GAPS_SUFFICE = COSTS.gaps_used <= 1
"""Condition that half of the convexity gaps bounds noise and gradients."""
SLOW_CONTRACTION = 40 * tau * eta * mu <= 3
"""Condition that clients contract towards each other more slowly than a round lets them drift."""
SMALL_STEP = 10 * eta * mu <= 1
CONDITIONS = [SHORT_STEP, GAPS_SUFFICE, SLOW_CONTRACTION, SMALL_STEP]

CLAIMS = (
    claim_at_optimum.proved.step(
        "sampled.strongly-convex.one-step",
        "One local step of strongly convex clients, with client sampling",
        "sampled rounds, 4",
    )(
        chain=state_contraction(COSTS.drift_potential, floor),
        place="step",
        assumptions=STRONG,
        conditions=CONDITIONS,
        note="Young's inequality has the weight 5(tau + k)/4: a fifth of the growth is left for the contraction.",
    ),
    claim_at_optimum.proved.bound(
        "sampled.last-model", "The last model, for strongly convex clients with client sampling", "sampled rounds, 5"
    )(
        chain=(final_error, "<=", factor**K * D**2 + 3 * floor / (2 * mu)),
        assumptions=STRONG,
        conditions=CONDITIONS,
        note=(
            "Clients may have unequal weights and curvatures; with full participation rho is zero.  The cost of "
            "sampling depends on the dissimilarity of the clients at the optimum, not on the size of mini-batches."
        ),
    ),
)

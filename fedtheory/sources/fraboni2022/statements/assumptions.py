"""Assumptions of Theorem 1 in addition to Assumptions 1 to 5, and those that it needs to be true."""

from __future__ import annotations

from itertools import combinations

from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.language import assumptions as a
from fedtheory.language.assumptions import Assumption
from fedtheory.sources.fraboni2022.statements.notation import ASSUMPTIONS


def _require_model_free_noise(run: Run) -> None:
    if (run.noise_forms[:, 1:] != 0).any():
        raise NotApplicable("the noise of the gradients depends on the model")


model_free_noise = Assumption(
    "noise that does not depend on the model",
    r"$\nabla\mathcal L_i(x,\xi)-\nabla\mathcal L_i(y,\xi)=\nabla\mathcal L_i(x)-\nabla\mathcal L_i(y)$",
    _require_model_free_noise,
)


def _require_distinct_minimisers(run: Run) -> None:
    a.strongly_convex_clients.require(run)
    rounding = 0 if run.arithmetic.is_rigorous else 1e-12
    optima = [run.problem.centred.client_optima[first] for first in sorted(set(run.surrogate.types))]
    for one, other in combinations(optima, 2):
        if not (one - other) @ (one - other) > rounding:
            raise NotApplicable("two types of clients share a minimiser")


distinct_minimisers = Assumption(
    "different minimisers",
    r"each $F_j$ is strongly convex, and $\theta_j^*\ne\theta_k^*$ for different types j and k",
    _require_distinct_minimisers,
)

THEOREM = (*ASSUMPTIONS, a.theorem_step_size)
"""The assumptions of Theorem 1, including its step size."""
WITHOUT_CHANCE = (a.given_weights, model_free_noise)
"""Assumptions that the proof of Theorem 1 uses without stating them."""

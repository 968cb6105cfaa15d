"""Choose the number of local steps between aggregations from estimates along the run.

Symbols as in lecture27 and Wang et al. 2019: rho, beta and delta are averages over clients, with weights D_i / D, of
their estimates of Lipschitz constant, smoothness and gradient divergence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import Array, plain_float
from fedtheory.errors import InputError
from fedtheory.sources.lecture27.budget.cost import Budget

GROWTH = 10
"""gamma: the largest ratio of the local steps of an interval to those of the previous one (Wang et al. 2019)."""

REACH = 20
"""Assumed ratio of |w(0) - w*|, which a run does not know, to the distance of the model from the start.

With the ratio 1 the estimate is far too small in the first intervals, and the bound then allows no more than one local
step. On digits, breast_cancer and diabetes ratios from 10 to 30 gave about equal losses, and the ratio 1 larger ones.
"""


@dataclass(frozen=True)
class Estimates:
    """Estimates of the problem's constants after one interval, in floats."""

    lipschitz: float
    """rho, the average of |F_i(w_i) - F_i(w)| / |w_i - w|."""
    smoothness: float
    """beta, the average of |grad F_i(w_i) - grad F_i(w)| / |w_i - w|."""
    divergence: float
    """delta, the average of |grad F_i(w) - grad F(w)|."""
    distance_sq: float
    """|w - w(0)|^2, the squared distance from the start."""


def compute_drift_bounds(longest: int, step_size: float, smoothness: float, divergence: float) -> Array:
    """Return h(x) for x = 0 .. longest, (longest + 1,): the distance of averaged local steps from gradient descent on
    F.

    ``h(x) = delta/beta ((eta beta + 1)^x - 1) - eta delta x`` (lecture27:h), here as the sum of lecture27:thm-1.sum,
    ``h(x) = eta delta sum_{y < x} ((eta beta + 1)^y - 1)``, so that h(0) = h(1) = 0 exactly and beta may be zero.
    """
    if divergence == 0:
        return np.zeros(longest + 1)
    with np.errstate(over="ignore"):
        growth = np.expm1(np.arange(longest) * np.log1p(step_size * smoothness))
        bounds: Array = step_size * divergence * np.concatenate([[0.0], np.cumsum(growth)])
    return bounds


@dataclass(frozen=True)
class Controller:
    """Chooses tau: the integer that minimises the explicit bound on F(w^f) - F* (lecture27:tau-choice)."""

    step_size: float
    """eta."""
    budget: Budget
    longest: int = 100
    """Largest allowed tau."""
    control: float | None = None
    """phi, a constant in Wang et al. 2019; by default it is estimated, see `compute_inverse_control`."""

    def __post_init__(self) -> None:
        if self.longest < 1:
            raise InputError("longest", f"expected a positive whole number, got {self.longest}")
        if self.control is not None and not 0 < self.control < np.inf:
            raise InputError("control", f"expected a positive number, got {self.control}")

    def compute_inverse_control(self, estimates: Estimates) -> float:
        """Return 1/phi: as given, or ``(REACH |w - w(0)|)^2 / (1 - eta beta / 2)``.

        phi = omega (1 - eta beta / 2) with 1/omega the largest squared distance to w* at the start of an interval
        (lecture27:lemma-4).  The theory assumes eta beta <= 1; a larger estimate is replaced by 1.
        """
        if self.control is not None:
            return 1 / self.control
        contraction = 1 - min(self.step_size * estimates.smoothness, 1) / 2
        return REACH**2 * estimates.distance_sq / contraction

    def compute_bounds(self, estimates: Estimates, longest: int) -> Array:
        """Return the explicit bound for tau = 1 .. longest, (longest,), with the whole budget used.

        ``1/(2 eta phi T) + sqrt(1/(4 eta^2 phi^2 T^2) + rho h(tau)/(eta phi tau)) + rho h(tau)`` with
        ``1/T = (c tau + b)/(R tau)`` (lecture27:thm-2.explicit, lecture27:tau-choice).
        """
        steps = np.arange(1, longest + 1)
        # The two terms are added separately, so that without an aggregation cost 1/T is exactly equal for all tau.
        per_step = plain_float(self.budget.local_cost / self.budget.total)
        inverse_updates = per_step + plain_float(self.budget.aggregation_cost / self.budget.total) / steps
        scale = self.compute_inverse_control(estimates) / self.step_size
        drift = compute_drift_bounds(longest, self.step_size, estimates.smoothness, estimates.divergence)[1:]
        loss = estimates.lipschitz * drift if estimates.lipschitz > 0 else np.zeros(longest)
        half = scale * inverse_updates / 2
        with np.errstate(over="ignore"):
            bounds: Array = half + np.sqrt(half * half + scale * loss / steps) + loss
        return bounds

    def choose_local_steps(self, estimates: Estimates, before: int) -> int:
        """Return tau of the interval after one of `before` local steps: the smallest minimiser of the bound."""
        longest = min(self.longest, GROWTH * before)
        return int(np.argmin(self.compute_bounds(estimates, longest))) + 1

"""Costs of a local step of strongly convex clients for noise, client drift and sampling."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Rational

from fedtheory.kernel.expressions import Expr
from fedtheory.sources.comparator.statements.notation import *

noise_in_average = p_max * eta * (1 + L * eta) / 2
"""Fraction of the squared noise that remains in the client average."""


@dataclass(frozen=True)
class LargestCosts:
    """Largest costs of a local step over the steps of a round, in units of F.

    Half of the convexity gaps bounds them.
    """

    sampling: Expr
    """Cost of client sampling, per squared gradient and eta^2."""

    @property
    def potential(self) -> Expr:
        """Return the cost of a client's squared distance from the average after k steps of a round."""
        return (Rational(5, 18) * L * (tau - k) * (3 * tau + k - 1) + self.sampling) / (tau + k)

    @property
    def drift_potential(self) -> Expr:
        """Return the cost of a client's squared distance from the average, in units of squared distances."""
        return 2 * eta * self.potential

    @property
    def noise_cost(self) -> Expr:
        """Return the largest coefficient of a step's squared noise."""
        return noise_in_average + eta**2 * (Rational(5, 6) * L * (tau - 1) + self.sampling / (tau + 1))

    @property
    def gradient_cost(self) -> Expr:
        """Return the largest coefficient of a step's squared gradients."""
        return Rational(5, 4) * eta**2 * (Rational(5, 6) * L * tau * (tau - 1) + self.sampling)

    @property
    def gaps_used(self) -> Expr:
        """Return twice the cost of noise and gradients, as a fraction of the convexity gaps."""
        return 20 * ell * self.noise_cost + 8 * L * self.gradient_cost

    def floor(self, sigma: Expr, zeta: Expr) -> Expr:
        """Return the largest sum of noise and dissimilarity terms of a step, for those at a point."""
        return Rational(5, 4) * self.noise_cost * sigma**2 + 2 * self.gradient_cost * zeta**2

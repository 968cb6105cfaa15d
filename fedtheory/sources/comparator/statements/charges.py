"""Costs of a local step of strongly convex clients for noise, client drift and sampling."""

from __future__ import annotations

from dataclasses import dataclass

from sympy import Rational

from fedtheory.kernel.expressions import Expr
from fedtheory.sources.comparator.statements.notation import *

batch_share = p_max * eta * (1 + L * eta) / 2
"""Fraction of the squared noise that remains in the client average."""


@dataclass(frozen=True)
class Charges:
    """Costs of a local step, which half of the gaps pays for."""

    draw: Expr
    """Cost of client sampling, per squared gradient and eta^2."""

    @property
    def potential(self) -> Expr:
        """Return the cost, in units of F, of a client's squared distance from the average after k steps of a round."""
        return (Rational(5, 18) * L * (tau - k) * (3 * tau + k - 1) + self.draw) / (tau + k)

    @property
    def drift_potential(self) -> Expr:
        """Return the cost of a client's squared distance from the average, in units of squared distances."""
        return 2 * eta * self.potential

    @property
    def noise(self) -> Expr:
        """Return the largest coefficient of a step's squared noise."""
        return batch_share + eta**2 * (Rational(5, 6) * L * (tau - 1) + self.draw / (tau + 1))

    @property
    def slope(self) -> Expr:
        """Return the largest coefficient of a step's squared gradients."""
        return Rational(5, 4) * eta**2 * (Rational(5, 6) * L * tau * (tau - 1) + self.draw)

    @property
    def spent(self) -> Expr:
        """Return the fraction of the gaps that is twice the cost of noise and gradients."""
        return 20 * ell * self.noise + 8 * L * self.slope

    def floor(self, sigma: Expr, zeta: Expr) -> Expr:
        """Return the largest loss of a step, in units of F, with noise and dissimilarity of a point."""
        return Rational(5, 4) * self.noise * sigma**2 + 2 * self.slope * zeta**2

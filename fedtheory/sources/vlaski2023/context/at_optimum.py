"""Derives a bound on the stationary error for small step sizes from the variance of the federated gradient.

To first order in mu that error is mu/2 tr(H^-1 R): H the Hessian of F, R the
covariance of the federated gradient at the optimum.  No eigenvalue of H is
smaller than nu, so it is at most mu/(2 nu) tr R, and tr R is the variance of
the federated gradient in a round that starts from the optimum.  This rule is
trusted like the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Expectation, Expr, Gradient, Inner, LocalSum, Selected, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.numbers import SymbolTable
from fedtheory.proofs.paper_contexts import PaperRules


@dataclass(frozen=True)
class AtOptimum(Derived):
    """An upper bound on the variance of the federated gradient, in a round that starts from the optimum."""

    kind = "at the optimum"
    label = "a proved claim, for a round that starts from the optimum"
    needs = (
        a.uniform_sampling,
        a.unit_server_step,
        a.uniform_shares,
        a.normalised_steps,
        a.strongly_convex_clients,
    )
    place = "round"
    keeps_equations = False

    def slack(self, symbol: SymbolTable, slack: Expr) -> Expr:
        """Return the bound at the optimum minus 2 nu/mu times the stationary error to first order."""
        variance = _write_variance(symbol)
        error = symbol(q.leading_limiting_distance_sq)
        level = sp.expand(slack + variance)
        if level.atoms(Expectation):
            raise Rejected("the relation is not an upper bound on the variance of the federated gradient")
        at_optimum = level.xreplace({symbol(q.server_model): symbol(q.optimum)}).replace(
            lambda part: isinstance(part, Inner) and part.args[0] == part.args[1] == 0, lambda _part: sp.S.Zero
        )
        return at_optimum - 2 * symbol(q.smallest_curvature) * error / symbol(q.effective_step_size)


def _write_variance(symbol: SymbolTable) -> Expr:
    """Return E|s|^2 of the federated gradient, the participants' average mini-batch gradient at the model."""
    batch = LocalSum(symbol(q.gradient_at_server_model)) / symbol(q.client_local_steps)
    factor = symbol(q.client_step_size) * symbol(q.client_local_steps) / symbol(q.effective_step_size)
    return Expectation(norm_sq(Selected(factor * batch) - Gradient(symbol(q.objective), symbol(q.server_model))))


CONTEXT = PaperRules(derived=(AtOptimum,))

"""Appendix A.3, Lemma 3: the clients' distances from the virtual iterate, and the norms of their gradients."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language import quantities as q
from fedtheory.language.statements import Notation, Statements
from fedtheory.sources.fraboni2022.statements import inequalities
from fedtheory.sources.fraboni2022.statements.notation import *

OF_SAMPLES = Notation()
L_xi = OF_SAMPLES.add(q.sample_smoothness, positive=True)
kappa = OF_SAMPLES.add(q.spread_factor, positive=True)
"""Constant of the spread of the gradients, from the weights omega_i(n) and eta_g."""
KAPPA = (
    "kappa = 1 + eta_g^2 rho beta + max(0, eta_g rho (alpha eta_g rho - 2)), which is 1 for beta = 0 and eta_g rho <= 2"
)
"""Description of the constant, for the notes of claims."""

"""Further symbols of the corrections for smooth samples and any server step."""
NOTATION = inequalities.NOTATION | OF_SAMPLES
claim = Statements("fraboni2022", NOTATION)

work = eta_l**2 * (K - 1) ** 2
SMALL_D = sp.Le(D, sp.Rational(1, 2))
D_xi = 6 * work * kappa * L_xi**2
"""The D of the corrected lemmas."""
SMALL_D_XI = sp.Le(D_xi, sp.Rational(1, 2))


def substitute_sample_smoothness(expression: Expr) -> Expr:
    """Return the expression with the smoothness of the sampled objectives."""
    return expression.subs(L, L_xi)


CLAIMS = [
    *claim.refuted.bound("lemma-3.phi", "The clients stay near the virtual iterate", "Lemma 3, eq. (61)")(
        chain=(phi, "<=", 4 * q_n * tau * Q_past + 4 * D / L * Z / q_n + 6 * work * sigma_1),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_D],
        printed=(
            rf"\phi(n)\le4q(n)\tau{Q_past}+4D\frac1Lq^{{-1}}(n)Z(n)+6\eta_l^2(K-1)^2\sigma_1(n),\quad "
            r"D\coloneqq6\eta_l^2(K-1)^2L^2\le\frac12"
        ),
        note=(
            "The factor q(n) of the first term should not be there: with it the bound fails for q(n) < 1 and one "
            "local step.  Without it the bound still fails, as the virtual iterate moves by eta_g omega_i(n) and not "
            "by the shares: the counterexample has a large server step."
        ),
    ).with_repair(
        title="The clients stay near the virtual iterate, with the server's step",
        rhs=substitute_sample_smoothness(4 * tau * Q_past + 4 * kappa * D / L * Z / q_n + 12 * kappa * work * sigma_1),
        conditions=[SMALL_D_XI],
        note=(
            f"{KAPPA}; D is kappa times the published one, and the last term doubles when (70) is solved for phi.  L "
            "is the largest curvature of a sampled objective."
        ),
        verdict="proved",
    ),
    claim.refuted.bound("lemma-3.S", "Second moment of the clients' gradients", "Lemma 3, eq. (62)")(
        chain=(S, "<=", 12 * q_n * L**2 * tau * Q_past + 12 * L * Z / q_n + 6 * sigma_1),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_D],
        note=(
            "It fails where q(n) < 1/12 and a stale model is far from the optimum that the server has reached: the "
            "factor q(n) is that of (61).  In the counterexample the first client brings the server to the optimum, "
            "and the second one, with the weight 1/16, still works on the start.  Without q(n), and with L as the "
            "largest curvature of a sampled objective, the published constants hold."
        ),
        printed=rf"S(n)\le12q(n)L^2\tau{Q_past}+12Lq^{{-1}}(n)Z(n)+6\sigma_1(n)",
    ),
    claim.proved.bound(
        "lemma-3.S.server-step",
        "Second moment of the clients' gradients, with the published constants but for q(n), for smooth samples",
        "Lemma 3, eq. (62), with the smoothness of the samples",
    )(
        chain=(S, "<=", substitute_sample_smoothness(12 * L**2 * tau * Q_past + 12 * L * Z / q_n + 6 * sigma_1)),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_D_XI],
        corrects="fraboni2022:lemma-3.S",
    ),
]

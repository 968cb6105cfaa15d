"""Appendix A.3, Lemma 4: the alignment of stale gradients with the direction to a model."""

from __future__ import annotations

from fedtheory.sources.fraboni2022.statements.lemma_3 import (
    KAPPA,
    SMALL_D,
    SMALL_D_XI,
    claim,
    kappa,
    substitute_sample_smoothness,
    work,
)
from fedtheory.sources.fraboni2022.statements.notation import (
    ASSUMPTIONS,
    D,
    D_x,
    L,
    Q_past,
    Xi,
    Z,
    phi,
    q_n,
    sigma_1,
    tau,
)

CLAIMS = [
    claim.refuted.bound("lemma-4", "The alignment of stale gradients", "Lemma 4, eq. (72)")(
        chain=(-2 * D_x, "<=", -2 * Xi + 4 * L * q_n * tau * Q_past + 4 * D * Z + 6 * work * q_n * L * sigma_1),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_D],
        printed=(rf"-2D(x,n)\le-2\Xi(n)+4Lq(n)\tau{Q_past}+4DZ(n)+6\eta_l^2(K-1)^2q(n)L\sigma_1(n)"),
        note=(
            "Tried with x = thetabar.  With one client, two local steps and eta_g = 20 the virtual iterate overshoots, "
            "and the bound fails with (63); it holds for the other server steps that are tried, up to 2."
        ),
    ),
    claim.proved.bound(
        "lemma-4.server-step",
        "The alignment of stale gradients, with the server's step",
        "Lemma 4, eq. (72), from the corrected (61)",
    )(
        lhs=-2 * D_x,
        rhs=-2 * Xi
        + substitute_sample_smoothness(
            4 * L * q_n * tau * Q_past + 4 * D * kappa * Z + 12 * work * kappa * q_n * L * sigma_1
        ),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_D_XI],
        note=f"{KAPPA}, in D and in the last term.",
        corrects="fraboni2022:lemma-4",
    ),
    claim.proved.step("lemma-4.proof", "The alignment and the spread", "proof of Lemma 4")(
        chain=(-2 * D_x, "<=", -2 * Xi + L * q_n * phi),
        assumptions=ASSUMPTIONS,
        printed=r"\text{Follows directly from using Lemma 12 in Khaled et al. (2020) on }D(x,n,k)",
        note=(
            "That lemma uses convexity and smoothness of each client's loss, at theta^{n,k} and x.  "
            "Here $x=\\bar\\theta$; `fraboni2022:thm-1.any-point.spread` is the same for any x."
        ),
    ),
]

"""Appendix A.3, Lemmas 5 and 6: the average stochastic gradient, and the movement of the server."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import ClientSum, Expr
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.language.statements import Notation, Statements
from fedtheory.sources.fraboni2022.statements import lemma_3_proof
from fedtheory.sources.fraboni2022.statements.inequalities import R_nk, Z_nk, noise_sq, phi_nk, virtual_sq
from fedtheory.sources.fraboni2022.statements.lemma_3 import (
    KAPPA,
    SMALL_D,
    SMALL_D_XI,
    D_xi,
    L_xi,
    substitute_sample_smoothness,
)
from fedtheory.sources.fraboni2022.statements.lemma_3_proof import optimum_change, optimum_sq, stale_change
from fedtheory.sources.fraboni2022.statements.notation import *
from fedtheory.sources.fraboni2022.statements.weights_lemmas import largest_share

NOTATION = Notation(lemma_3_proof.NOTATION)
NOTATION[largest_share] = q.largest_share
mixed_change = NOTATION.add(q.mixed_gradient_change, nonnegative=True)
mean_gradient_sq = NOTATION.add(q.mean_gradient_at_virtual_sq, nonnegative=True)

claim = Statements("fraboni2022", NOTATION)

gap_nk = Z_nk / q_n
"""L~^n(theta^{n,k}) - L~^n(thetabar^n)."""
SMALL_MOVES = sp.Le(12 * rho**2 * (alpha + beta) * tilde_eta**2 * K**2 * tau**2 * L**2, sp.Rational(1, 2))
SMALL_MOVES_XI = substitute_sample_smoothness(SMALL_MOVES)
move = tilde_eta**2 * K**2
PAST_FACTOR = 12 * rho**2 * (alpha + beta) * move * tau * L**2
"""A(n)."""


def _write_present(smoothness: Expr, drift: Expr) -> Expr:
    """Return B(n), with `drift` for D."""
    gap = 12 * (2 * alpha + beta) * smoothness * Z
    return rho * move * (gap + 3 * rho * (alpha * drift + 2 * beta) * sigma_1 + 6 * rho * alpha * sigma_2)


def _write_moves(smoothness: Expr, drift: Expr) -> Expr:
    """Return the right side of (82), with `drift` for D."""
    return (
        24 * rho * (2 * alpha + beta) * move * smoothness * Z_bar
        + 6 * rho**2 * (alpha * drift + 2 * beta) * move * Sigma_1
        + 12 * rho**2 * alpha * move * Sigma_2
    )


PRESENT, SERVER_STEP_PRESENT = _write_present(L, D), _write_present(L_xi, D_xi)
mean_moves, SERVER_STEP_MOVES = _write_moves(L, D), _write_moves(L_xi, D_xi)
"""The bound of Lemma 6 as published, and with L_xi for L and kappa D for D."""

_AT = r"[\tilde{\mathcal L}^n(\theta^{n,k})-\tilde{\mathcal L}^n(\bar\theta^n)]"
_SAMPLES = "L is the largest curvature of an objective that is sampled."
_PUBLISHED = (
    "The published constants hold once L is the largest curvature of a sampled objective, which is how the proof uses "
    f"Assumption 1, and D is kappa times the published one: {KAPPA}."
)

CLAIMS = [
    claim.refuted.bound("lemma-5", "Second moment of the mean gradient", "Lemma 5, eq. (73)")(
        chain=(R, "<=", 12 * L**2 * tau * Q_past + 24 * L * Z / q_n + 3 * D * sigma_1 + 6 * sigma_2),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_D],
        printed=rf"R(n)\le12L^2\tau{Q_past}+24Lq^{{-1}}(n)Z(n)+3D\sigma_1(n)+6\sigma_2(n)",
        note=(
            "Assumption 1 bounds the curvature of the clients' objectives only: a sample that is rougher than its "
            "client's objective has noise that L does not bound.  With the smoothness of the samples for L the "
            "published constants hold."
        ),
    ),
    claim.proved.bound(
        "lemma-5.server-step",
        "Second moment of the mean gradient, with the published constants, for smooth samples",
        "Lemma 5, eq. (73), with the smoothness of the samples",
    )(
        chain=(R, "<=", 12 * L_xi**2 * tau * Q_past + 24 * L_xi * Z / q_n + 3 * D_xi * sigma_1 + 6 * sigma_2),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_D_XI],
        note=_PUBLISHED,
        corrects="fraboni2022:lemma-5",
    ),
    claim.proved.step(
        "lemma-5.two-parts",
        "Two parts of the mean gradient, for smooth samples",
        "proof of Lemma 5, eq. (81), tightened",
    )(
        chain=(R, "<=", sp.Rational(3, 2) * L_xi**2 * phi + 18 * L_xi * Z / q_n + 6 * sigma_2),
        assumptions=ASSUMPTIONS,
        note=(
            "$|a+b+c|^2\\le\\frac32|a|^2+3|b+c|^2$, and the fresh noise $b$ is uncorrelated with the gradient $c$: "
            f"half of the first term of (81) suffices.  {_SAMPLES}"
        ),
    ),
    *claim.refuted.step("lemma-5.steps", "Three parts of the mean gradient", "proof of Lemma 5, eqs. (74)-(81)")(
        chain=(R_nk, "<=", 3 * mixed_change + 3 * noise_sq + 3 * mean_gradient_sq),
        also=(
            Relation(3 * mixed_change, "<=", 3 * ClientSum(qt_in * stale_change)),
            Relation(3 * ClientSum(qt_in * stale_change), "<=", 3 * L**2 * phi_nk),
            Relation(3 * noise_sq, "<=", 3 * ClientSum(qt_in**2 * virtual_sq)),
            Relation(
                3 * ClientSum(qt_in**2 * virtual_sq), "<=", 6 * ClientSum(qt_in**2 * (optimum_change + optimum_sq))
            ),
            Relation(
                6 * ClientSum(qt_in**2 * (optimum_change + optimum_sq)),
                "<=",
                12 * L * largest_share * gap_nk + 6 * sigma_2,
            ),
            Relation(3 * mean_gradient_sq, "<=", 6 * L * gap_nk),
            Relation(R, "<=", 3 * L**2 * phi + 18 * L * Z / q_n + 6 * sigma_2),
        ),
        assumptions=ASSUMPTIONS,
        printed=(
            r"R(n,k)\le a(n,k)+b(n,k)+c(n,k),\quad "
            r"a(n,k)\le3\sum_i\tilde q_i(n)\mathbb E\|g_i(\theta_i^{\rho_i(n),k})-\nabla\mathcal L_i(\theta^{n,k},"
            r"\xi_{i,k}^{\rho_i(n)})\|^2\le3L^2\phi(n,k),\quad "
            rf"b(n,k)\le12L\max_i(\tilde q_i(n)){_AT}"
            r"+6\sum_i\tilde q_i^2(n)\mathbb E\|\nabla\mathcal L_i(\bar\theta^n,\xi_i)\|^2,\quad "
            rf"c(n,k)\le6L{_AT},\quad R(n)\le3L^2\phi(n)+18Lq^{{-1}}(n)Z(n)+6\sigma_2(n)"
        ),
        note=(
            "Link by link.  (75) and (79) need the smoothness of single samples, which Assumption 1 does not give.  "
            "(76), the independence of the clients' draws, is how b is measured."
        ),
    ).with_repair(
        title="Three parts of the mean gradient, as published but for smooth samples",
        chain=(3 * mixed_change, "<=", 3 * L_xi**2 * phi_nk),
        also=(
            Relation(
                6 * ClientSum(qt_in**2 * (optimum_change + optimum_sq)),
                "<=",
                12 * L_xi * largest_share * gap_nk + 6 * sigma_2,
            ),
            Relation(R, "<=", 3 * L_xi**2 * phi + 18 * L_xi * Z / q_n + 6 * sigma_2),
        ),
        note=_SAMPLES,
        verdict="proved",
    ),
    claim.refuted.bound("lemma-6", "How far the server moves", "Lemma 6, eq. (82)")(
        chain=(Q_bar, "<=", mean_moves),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_MOVES, SMALL_D],
        printed=(
            r"\bar Q(N)\le24\rho[2\alpha+\beta]\tilde\eta^2K^2L\bar Z(N)"
            r"+6\rho^2[\alpha D+2\beta]\tilde\eta^2K^2\Sigma_1(N)+12\rho^2\alpha\tilde\eta^2K^2\Sigma_2(N),\quad "
            r"12\rho^2[\alpha+\beta]\tilde\eta^2K^2\tau^2L^2\le\frac12"
        ),
        note=(
            "D <= 1/2 is assumed as in Lemmas 3 and 5, which the proof uses.  It fails where Lemma 5 does, on samples "
            "that are rougher than their client's objective."
        ),
    ),
    claim.proved.bound(
        "lemma-6.server-step",
        "How far the server moves, with the published constants, for smooth samples",
        "Lemma 6, eq. (82), with the smoothness of the samples",
    )(
        chain=(Q_bar, "<=", SERVER_STEP_MOVES),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_MOVES_XI, SMALL_D_XI],
        note=_PUBLISHED,
        corrects="fraboni2022:lemma-6",
    ),
    claim.refuted.step("lemma-6.steps", "A recursion for the moves", "proof of Lemma 6, eqs. (83)-(85)")(
        chain=(Q, "<=", q_n**2 * alpha * move * R + q_n * beta * move * S),
        also=(
            Relation(
                Q / (rho * move),
                "<=",
                12 * rho * (alpha + beta) * tau * L**2 * Q_past + PRESENT / (rho * move),
            ),
        ),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_MOVES, SMALL_D],
        printed=(
            r"Q(n)\le q^2(n)\alpha\tilde\eta^2K^2R(n)+q(n)\beta\tilde\eta^2K^2S(n),\quad "
            rf"\frac1{{\rho\tilde\eta^2K^2}}Q(n)\le12\rho[\alpha+\beta]\tau L^2{Q_past}+12[2\alpha+\beta]LZ(n)"
            r"+3\rho[\alpha D+2\beta]\sigma_1(n)+6\rho\alpha\sigma_2(n),\quad "
            rf"Q(n)\le A(n){Q_past}+B(n)\Rightarrow\bar Q(N)\le2\frac1N\sum_{{n=0}}^{{N-1}}B(n)"
        ),
        note=(
            "(83) and (84) on runs.  (85) is a sum: every Q(n) is counted at most tau times, so the mean is at most "
            "tau A times itself plus the mean of B; A does not depend on n, and tau A <= 1/2 is the condition.  (84) "
            "uses Lemma 5 and fails with it."
        ),
    ),
    claim.proved.step("lemma-6.steps.move", "One move of the server", "proof of Lemma 6, eq. (83)")(
        chain=(Q, "<=", q_n**2 * alpha * move * R + q_n * beta * move * S),
        assumptions=ASSUMPTIONS,
        note="The first relation of (83) to (85), which holds as published.",
    ),
    claim.proved.step(
        "lemma-6.steps.server-step",
        "A recursion for the moves, with the published constants, for smooth samples",
        "proof of Lemma 6, eq. (84), with the smoothness of the samples",
    )(
        chain=(Q, "<=", substitute_sample_smoothness(PAST_FACTOR) * Q_past + SERVER_STEP_PRESENT),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_D_XI],
        note=f"Needs D <= 1/2 only.  {_PUBLISHED}",
        corrects="fraboni2022:lemma-6.steps",
    ),
]

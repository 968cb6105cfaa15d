"""Appendix A.4: the proof of Theorem 1 up to (90), the sum over all updates."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.language.statements import Notation, Statements
from fedtheory.sources.fraboni2022.statements import gradient_lemmas
from fedtheory.sources.fraboni2022.statements.convergence import largest_q
from fedtheory.sources.fraboni2022.statements.gradient_lemmas import SMALL_MOVES, SMALL_MOVES_XI
from fedtheory.sources.fraboni2022.statements.lemma_3 import SMALL_D, SMALL_D_XI, D_xi, L_xi, kappa, work
from fedtheory.sources.fraboni2022.statements.notation import *
from fedtheory.sources.fraboni2022.statements.step_size_conditions import bracket, delay, write_small_mix

NOTATION = Notation(gradient_lemmas.NOTATION)
NOTATION[largest_q] = q.largest_expected_weight
final_distance_sq = NOTATION.add(q.final_surrogate_distance_sq, nonnegative=True)
Delta_bar = NOTATION.add(q.mean_progress, real=True)
largest_share = NOTATION.add(q.largest_share_of_all, nonnegative=True)
smallest_sum = NOTATION.add(q.smallest_weight_sum, positive=True)
surrogate_sq = NOTATION.add(q.second_moment_at_surrogate_optimum, nonnegative=True)
optima_change = NOTATION.add(q.change_between_optima, nonnegative=True)

claim = Statements("fraboni2022", NOTATION)

start = theta0_distance**2 / (tilde_eta * K * N)


def _write_86(excess: Expr) -> Expr:
    """Return the right side of (86) with an excess of the weights in place of beta."""
    return -2 * D_x + rho**2 * alpha * tilde_eta * R + rho * excess * tilde_eta * S


def _write_87(excess: Expr, smoothness: Expr, drift: Expr, drift_noise: Expr) -> Expr:
    """Return the right side of (87), with `excess` for beta, `drift` for D and `drift_noise` for 6 eta_l^2 (K-1)^2."""
    return (
        -2 * Xi
        + 8 * rho * tau * smoothness * Q_past
        + 4 * drift * Z
        + rho * drift_noise * smoothness * sigma_1
        + 12 * (2 * alpha + excess) * rho * tilde_eta * smoothness * Z
        + 3 * rho**2 * tilde_eta * (alpha * drift + 2 * excess) * sigma_1
        + 6 * rho**2 * alpha * tilde_eta * sigma_2
    )


def _write_89(excess: Expr, smoothness: Expr, drift: Expr, drift_noise: Expr) -> Expr:
    """Return the right side of (89), with the same replacements as in (87)."""
    return (
        start
        + 8 * rho * smoothness * tau**2 * Q_bar
        + 4 * drift * Z_bar
        + rho * drift_noise * smoothness * Sigma_1
        + 12 * rho * (2 * alpha + excess) * tilde_eta * smoothness * Z_bar
        + 3 * rho**2 * (alpha * drift + 2 * excess) * tilde_eta * Sigma_1
        + 6 * rho**2 * alpha * tilde_eta * Sigma_2
    )


_PUBLISHED, _CORRECTED = (beta, L, D, 6 * work), (K * beta, L_xi, D_xi, 12 * kappa * work)
eq_86, fixed_86 = _write_86(beta), _write_86(K * beta)
eq_87, fixed_87 = _write_87(*_PUBLISHED), _write_87(*_CORRECTED)
eq_89, fixed_89 = _write_89(*_PUBLISHED), _write_89(*_CORRECTED)
noise_90 = (
    6 * rho * work * L * Sigma_1
    + 3 * rho**2 * (alpha * D + 2 * beta) * bracket * Sigma_1
    + 6 * rho**2 * alpha * bracket * Sigma_2
)
eq_90 = start + 4 * D * Z_bar + 12 * rho * (2 * alpha + beta) * bracket * L * Z_bar + noise_90

nu_xi = 16 * rho * L_xi
mixing = (2 * alpha + K * beta) * tilde_eta + (2 * alpha + beta) * nu_xi * delay
"""The corrected [2 alpha + beta] [eta~ + nu eta~^2 K^2 tau^2]: beta has the factor K if the weights are random."""
noise_mixing = (alpha * D_xi + 2 * K * beta) * tilde_eta + (alpha * D_xi + 2 * beta) * nu_xi * delay
fixed_noise = (
    12 * rho * kappa * work * L_xi * Sigma_1
    + 3 * rho**2 * noise_mixing * Sigma_1
    + 6 * rho**2 * alpha * (tilde_eta + nu_xi * delay) * Sigma_2
)
fixed_90 = start + 4 * D_xi * Z_bar + 12 * rho * mixing * L_xi * Z_bar + fixed_noise
SMALL_MIX_FIXED = write_small_mix(K * beta, L_xi)
FIXED = (SMALL_D_XI, SMALL_MIX_FIXED)
MARGIN_FIXED = sp.Ge(2 - 4 * D_xi - 12 * rho * mixing * L_xi, 1)

DISTANCE = r"\frac1{\tilde\eta KN}\mathbb E\|\theta^0-x\|^2"
BRACKET = r"[\tilde\eta+\nu\tilde\eta^2K^2\tau^2]"
_86 = r"\frac1{\tilde\eta}\Delta(n)\le-2D(x,n)+\rho^2\alpha\tilde\eta R(n)+\rho\beta\tilde\eta S(n)"
_87 = (
    rf"\frac1{{\tilde\eta}}\Delta(n)\le-2\Xi(n)+8\rho\tau L{Q_past}+4DZ(n)+6\rho\eta_l^2(K-1)^2L\sigma_1(n)"
    r"+12[2\alpha+\beta]\rho\tilde\eta LZ(n)+3\rho^2\tilde\eta[\alpha D+2\beta]\sigma_1(n)"
    r"+6\rho^2\alpha\tilde\eta\sigma_2(n)"
)
_88 = r"\sum_{n=0}^{N-1}K\Delta(n)=\mathbb E\left[\|\theta^{KN}-x\|^2\right]-\|\theta^0-x\|^2\ge-\|\theta^0-x\|^2"
_89 = (
    rf"2\bar\Xi(N)\le{DISTANCE}+8\rho L\tau^2\bar Q(N)+4D\bar Z(N)+6\rho\eta_l^2(K-1)^2L\Sigma_1(N)"
    r"+12\rho[2\alpha+\beta]\tilde\eta L\bar Z(N)+3\rho^2[\alpha D+2\beta]\tilde\eta\Sigma_1(N)"
    r"+6\rho^2\alpha\tilde\eta\Sigma_2(N)"
)
_90 = (
    rf"2\bar\Xi(N)\le{DISTANCE}+4D\bar Z(N)+6\rho\eta_l^2(K-1)^2L\Sigma_1(N)+12\rho[2\alpha+\beta]{BRACKET}L\bar Z(N)"
    rf"+3\rho^2[\alpha D+2\beta]{BRACKET}\Sigma_1(N)+6\rho^2\alpha{BRACKET}\Sigma_2(N),\quad\nu=16\rho L"
)
REPAIR = (
    "With K beta for beta where Lemma 2 enters, the D of the corrected Lemma 3 and twice the term that its proof loses "
    "when (70) is solved for phi; L is the largest curvature of a sampled objective."
)

CLAIMS = [
    *claim.refuted.step(
        "thm-1.proof-86-90",
        "From the progress of an update to a bound on the gap",
        "proof of Theorem 1, eqs. (86)-(90)",
    )(
        chain=(Delta / tilde_eta, "<=", eq_86),
        also=(Relation(2 * Xi_bar, "<=", eq_90),),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_D, write_small_mix(), SMALL_MOVES],
        printed=rf"{_86},\quad {_87},\quad {_88},\quad {_89},\quad {_90}",
        note=(
            "With x = thetabar: the first step and the last one, the others stand by themselves.  It starts from "
            "Lemma 2, which fails for random weights."
        ),
    ).with_repair(
        rhs=fixed_86,
        also=(Relation(2 * Xi_bar, "<=", fixed_90),),
        conditions=[*FIXED, SMALL_MOVES_XI],
        note=REPAIR,
        verdict="proved",
    ),
    *claim.refuted.step(
        "thm-1.proof-86-90.86", "Lemma 2 with the largest sum of weights", "proof of Theorem 1, eq. (86)"
    )(
        chain=(Delta / tilde_eta, "<=", eq_86),
        assumptions=ASSUMPTIONS,
        printed=_86,
        note="Fails as Lemma 2 does: for random weights and more than one local step.",
    ).with_repair(
        title="The corrected Lemma 2 with the largest sum of weights",
        rhs=fixed_86,
        verdict="proved",
    ),
    *claim.refuted.step("thm-1.proof-86-90.87", "Lemmas 3, 4 and 5 inserted", "proof of Theorem 1, eq. (87)")(
        chain=(Delta / tilde_eta, "<=", eq_87),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_D, write_small_mix()],
        printed=rf"{_87},\quad3\rho[\alpha+\beta]\tilde\eta L\le1",
        note=(
            "The factor q^{-1}(n) of Lemmas 3 and 5 cancels against q(n) of (56), not against the rho^2 of (86): the "
            "step is from (56).  It fails for sampled clients, by the factor K that Lemma 2 lost."
        ),
    ).with_repair(
        rhs=fixed_87,
        conditions=[*FIXED],
        note=REPAIR,
        verdict="proved",
    ),
    claim.proved.step("thm-1.proof-86-90.88", "The progress adds up", "proof of Theorem 1, eq. (88)")(
        chain=(
            K * N * Delta_bar,
            "==",
            final_distance_sq - theta0_distance**2,
            ">=",
            -(theta0_distance**2),
        ),
        assumptions=SCHEME,
        printed=_88,
        note=(
            "theta^{KN}, after KN serial local steps, is the server's model theta^N; x = thetabar.  The progress is "
            "measured at the virtual iterates, the distances at the server's first and last model."
        ),
    ),
    *claim.refuted.step("thm-1.proof-86-90.89", "The mean over the updates", "proof of Theorem 1, eq. (89)")(
        chain=(2 * Xi_bar, "<=", eq_89),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_D, write_small_mix()],
        printed=_89,
        note=("For sampled clients (87) lacks a factor K."),
    ).with_repair(
        rhs=fixed_89,
        conditions=[*FIXED],
        note=REPAIR,
        verdict="proved",
    ),
    *claim.refuted.step("thm-1.proof-86-90.90", "Lemma 6 inserted", "proof of Theorem 1, eq. (90)")(
        chain=(2 * Xi_bar, "<=", eq_90),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_D, write_small_mix(), SMALL_MOVES],
        printed=_90,
        note=("For sampled clients (87) lacks a factor K."),
    ).with_repair(
        rhs=fixed_90,
        conditions=[*FIXED, SMALL_MOVES_XI],
        note=REPAIR,
        verdict="proved",
    ),
]

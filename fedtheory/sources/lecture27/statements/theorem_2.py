"""Theorem 2: convergence of distributed gradient descent, its proof, and the suggested choice of tau."""

from __future__ import annotations

import sympy as sp

from fedtheory.language.claim import Relation
from fedtheory.sources.lecture27.statements.lemmas import progress
from fedtheory.sources.lecture27.statements.notation import *
from fedtheory.sources.lecture27.statements.setting import COSTS

phi = omega * (1 - beta * eta / 2)
loss = rho * h(tau)
"""Bound on the increase of the loss by the drift of one interval."""
rate = eta * phi - loss / (tau * epsilon**2)

_PROGRESS = r"\omega\eta\left(1-\frac{\beta\eta}2\right)"
_LOSS = r"\frac{\rho h(\tau)}{\varepsilon^2}"
_RATE = r"\eta\varphi-\frac{\rho h(\tau)}{\tau\varepsilon^2}"
_END, _NEXT = r"\theta_{[k]}(k\tau)", r"\theta_{[k+1]}(k\tau)"
_FINAL = r"F(w(T))-F(w^*)"
_FACTORED = (
    "The comparison with epsilon has its common factor rho h(tau) taken out, because equality occurs with irrational "
    "numbers."
)

CLAIMS = [
    claim.proved.bound("thm-2", "Convergence of distributed gradient descent", "Theorem 2, statement reconstructed")(
        chain=(final_gap, "<=", 1 / (T * rate)),
        assumptions=WITH_DIVERGENCE,
        conditions=[SMALL_STEP, rate > 0],
        note=(
            "The notes have the proof only; the statement is reconstructed from the proof and from Wang et al. "
            "2019.  With phi = omega (1 - beta eta/2) and some epsilon > 0 its conditions are (1) eta <= 1/beta, (2) "
            "eta phi - rho h(tau)/(tau epsilon^2) > 0, (3) F(v_[k](k tau)) - F(w^*) >= epsilon for all k, and (4) "
            "F(w(T)) - F(w^*) >= epsilon.  Here epsilon is the largest that (3) and (4) allow, for which the bound is "
            "smallest.  T counts local updates."
        ),
    ),
    claim.proved.step("thm-2.interval", "Progress of one interval, and of all intervals", "proof of Theorem 2")(
        chain=(1 / theta_end - 1 / theta_start, ">=", tau * progress),
        also=(
            Relation(summed_progress, ">=", K * tau * progress),
            Relation(K * tau * progress, "==", T * progress),
        ),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_STEP],
        printed=(
            r"\frac1{\theta_{[k]}(k\tau)}-\frac1{\theta_{[k]}((k-1)\tau)}\ge\tau" + _PROGRESS + r",\quad "
            r"\sum_{k=1}^K\left(\frac1{\theta_{[k]}(k\tau)}-\frac1{\theta_{[k]}((k-1)\tau)}\right)"
            rf"\ge K\tau{_PROGRESS}=T{_PROGRESS}"
        ),
    ),
    claim.proved.inequality("thm-2.each-interval", "Progress of each interval", "proof of Theorem 2, first line")(
        chain=(1 / theta_end - 1 / theta_start, ">=", tau * progress),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_STEP],
        note="Lemma 4, summed over the local steps of an interval.",
    ),
    claim.proved.inequality(
        "thm-2.gaps", "No interval starts below epsilon", "proof of Theorem 2, from conditions (3) and (4)"
    )(
        chain=(theta_start, ">=", epsilon),
        assumptions=ASSUMPTIONS,
        conditions=[SMALL_STEP],
        note="(3) and (4) are about the ends of the intervals and of the run, and within an interval gaps do not grow.",
    ),
    claim.proved.step("thm-2.jump", "The increase of the gap by an aggregation", "proof of Theorem 2")(
        chain=(
            1 / theta_next_start - 1 / theta_end,
            "==",
            (theta_end - theta_next_start) / (theta_end * theta_next_start),
            ">=",
            -loss / (theta_end * theta_next_start),
        ),
        also=(Relation(loss * (1 / epsilon**2 - 1 / (theta_end * theta_next_start)), ">=", 0),),
        assumptions=WITH_DIVERGENCE,
        conditions=[SMALL_STEP],
        printed=(
            rf"\frac1{{{_NEXT}}}-\frac1{{{_END}}}=\frac{{{_END}-{_NEXT}}}{{{_END}{_NEXT}}}"
            rf"=\frac{{F(v_{{[k]}}(k\tau))-F(v_{{[k+1]}}(k\tau))}}{{{_END}{_NEXT}}}"
            rf"\ge\frac{{-\rho h(\tau)}}{{{_END}{_NEXT}}}\ge-{_LOSS}"
        ),
        note=(
            "Reconstructed; the transcription is broken here.  theta_[k+1](k tau) is the gap of the aggregated model "
            "w(k tau), so that the last interval is included.  " + _FACTORED
        ),
    ),
    claim.proved.inequality(
        "thm-2.round", "One interval and the aggregation after it", "proof of Theorem 2, both parts together"
    )(
        chain=(1 / theta_next_start - 1 / theta_start, ">=", tau * progress - loss / epsilon**2),
        assumptions=WITH_DIVERGENCE,
        conditions=[SMALL_STEP],
        note="The sum over all intervals telescopes: each interval starts where the previous one ends.",
    ),
    claim.proved.step("thm-2.last", "The last interval, and the sum of all", "proof of Theorem 2, end")(
        chain=(
            1 / final_gap,
            ">=",
            1 / final_gap - 1 / theta_first,
            ">=",
            T * progress - K * loss / epsilon**2,
        ),
        also=(
            Relation(loss * (1 / epsilon**2 - 1 / (final_gap * theta_last)), ">=", 0),
            Relation(loss * (K - T / tau) / epsilon**2, "==", 0),
        ),
        assumptions=WITH_DIVERGENCE,
        conditions=[SMALL_STEP],
        printed=(
            rf"\frac{{-\rho h(\tau)}}{{({_FINAL})\theta_{{[K]}}(T)}}\ge-{_LOSS},\quad "
            rf"\frac1{{{_FINAL}}}\ge\frac1{{{_FINAL}}}-\frac1{{\theta_{{[1]}}(0)}}\ge T{_PROGRESS}-K{_LOSS}"
            rf"=T\left({_RATE}\right)"
        ),
        note=(
            "Reconstructed.  The equation is checked as K = T / tau under its factor.  "
            + _FACTORED
            + "  Condition (2) "
            "is needed only to take reciprocals of the inequality."
        ),
    ),
    claim.supported.bound(
        "thm-2.explicit",
        "A bound without epsilon, on the best aggregated model",
        "consequence of Theorem 2 (Wang et al. 2019)",
    )(
        lhs=best_gap,
        rhs=1 / (2 * eta * phi * T) + sp.sqrt(1 / (4 * eta**2 * phi**2 * T**2) + loss / (eta * phi * tau)) + loss,
        assumptions=WITH_DIVERGENCE,
        conditions=[SMALL_STEP],
        note=(
            "Not in the notes; from the paper that they follow.  w^f is the best of w(tau), ..., w(K tau).  The start "
            "is not among them, which makes the statement stronger."
        ),
    ),
    claim.algorithm("tau-choice", "Choosing tau during the run", "the notes' goal (Wang et al. 2019)")(
        chain=(1 / T, "==", (c * tau + b) / (T * (c + b / tau) * tau)),
        for_all=COSTS,
        assumptions=DISTRIBUTED_GD,
        note=(
            "The notes have the goal only; this is from the paper that they follow.  There tau is the integer that "
            "minimises the explicit bound with 1/T = (c tau + b)/(R tau), where rho, beta and delta are estimated "
            "during the run until R is used.  Checked here: this 1/T is exact for a run that uses its whole budget, "
            "R = T (c + b/tau)."
        ),
        implemented_by="fedtheory.sources.lecture27.budget:descend_adaptively",
    ),
]

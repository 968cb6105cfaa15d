"""Section 2.2: Theorem 2.1, its two lemmas, and the proof of the theorem from the lemmas."""

from __future__ import annotations

import sympy as sp

from fedtheory.language.assumptions import full_gradients
from fedtheory.language.claim import Rate
from fedtheory.sources.renard2022.statements.notation import *

drift_bound = 18 * tau**2 * eta**2 * zeta**2 + 4 * tau * eta**2 * sigma**2
start_term = D**2 / (2 * eta * tau * T)
noise_term = eta * sigma**2 / M
theorem_bound = start_term + noise_term + 4 * tau * eta**2 * L * sigma**2 + 18 * tau**2 * eta**2 * L * zeta**2
round_progress = (distance_before - distance_after) / (2 * eta * tau)
total_progress = progress / (2 * eta * tau * T)

tightened_mean_drift = sp.Rational(5, 6) * (tau - 1) * eta**2 * ((tau + 1) * zeta**2 + (1 - 1 / M) * sigma**2)
noiseless_mean_drift = (tau - 1) * (2 * tau - 1) * eta**2 * zeta**2 / 6

TUNED_STEP = 1 / (4 * L * sp.sqrt(T))
tuned_constant = theorem_bound.subs(eta, TUNED_STEP).subs(T, 1)
"""Constant such that the bound at the tuned step size is at most this constant over sqrt(T)."""

_AVERAGE = r"\mathbb E\left[\frac{1}{\tau T}\sum_{t=0}^{T-1}\sum_{k=1}^{\tau}F(\bar x^{(t,k)})-F(x^*)\right]"
_TOTAL = r"\frac{D^2}{2\eta\tau T}+\frac{\eta\sigma^2}{M}+4\tau\eta^2L\sigma^2+18\tau^2\eta^2L\zeta^2"
_DRIFT_SUM = (
    r"\frac{1}{M\tau}\sum_{i=1}^M\sum_{k=1}^{\tau-1}"
    r"\mathbb E\left[\|x_i^{(t,k)}-\bar x^{(t,k)}\|^2\mid\mathcal F^{(0,t)}\right]"
)
_PROGRESS = r"\|\bar x^{(t,0)}-x^*\|^2-\mathbb E\left[\|\bar x^{(t,\tau)}-x^*\|^2\mid\mathcal F^{(t,0)}\right]"

CLAIMS = [
    claim.proved.bound("thm-2.1", "Convergence of FedAvg on convex functions", "Theorem 2.1, (4)")(
        chain=(average_error, "<=", theorem_bound),
        assumptions=ALL_ASSUMPTIONS,
        conditions=[SMALL_STEP],
        printed=rf"{_AVERAGE}\le{_TOTAL},\qquad D=\|x^{{(0)}}-x^*\|",
    ),
    *claim.refuted.rate("thm-2.1.rate", "The bound is O(1/(tau T))", "Theorem 2.1, (4), second line")(
        rate=Rate(measured=theorem_bound, order=1 / (tau * T), variable=T),
        assumptions=ALL_ASSUMPTIONS,
        conditions=[SMALL_STEP],
        printed=rf"{_TOTAL}=O\left(\frac{{1}}{{\tau T}}\right)",
        note="Read at a constant step size (assumption 1): all terms but the first do not depend on T.",
    ).with_repair(
        title="The first term of the bound is O(1/(tau T)), the others are its floor",
        locator="Theorem 2.1, (4), corrected",
        rate=Rate(measured=theorem_bound - theorem_bound.subs(D, 0), order=1 / (tau * T), variable=T),
        verdict="asymptotic",
    ),
    claim.asymptotic.rate(
        "thm-2.1.rate.tuned", "The bound, with a step size that shrinks with the horizon", "Theorem 2.1, (4), corrected"
    )(
        rate=Rate(theorem_bound, 1 / sp.sqrt(T), T, step_size=TUNED_STEP, constant=tuned_constant),
        assumptions=ALL_ASSUMPTIONS,
        conditions=[SMALL_STEP],
        note="The constant is the bound's value at T = 1: no term decays more slowly than 1/sqrt(T).",
        corrects="renard2022:thm-2.1.rate",
    ),
    *claim.refuted.bound("lemma-2.2", "Progress of one round", "Lemma 2.2, (5)")(
        chain=(round_error, "<=", round_progress + noise_term + round_drift),
        assumptions=NOISE_ASSUMPTIONS,
        conditions=[SMALL_STEP],
        printed=(
            r"\mathbb E\left[\frac1\tau\sum_{k=1}^\tau F(\bar x^{(t,k)})-F(x^*)\right]\le"
            rf"\frac{{1}}{{2\eta\tau}}\left({_PROGRESS}\right)+\frac{{\eta\sigma^2}}{{M}}+{_DRIFT_SUM}"
        ),
        note=(
            "The drift term lacks the factor L, so that the two sides have different units.  The proof of the lemma "
            "has the factor, and so has (4).  Dissimilarity does not occur, so assumption 7 is not required.  "
            "Conditional expectations are averaged over the past; in round 0 the past is the given start."
        ),
        fault="misprint",
    ).with_repair(
        title="Progress of one round, with the factor L",
        rhs=round_progress + noise_term + L * round_drift,
        note="The corrected inequalities of the proof give this bound, and Theorem 2.1 uses it.",
        verdict="proved",
    ),
    claim.proved.bound(
        "lemma-2.2.goal",
        "Progress is O(1/tau) in each round, up to noise and drift",
        "proof of Lemma 2.2, first sentence",
    )(
        chain=(average_error, "<=", start_term + noise_term + L * mean_drift),
        assumptions=NOISE_ASSUMPTIONS,
        conditions=[SMALL_STEP],
        note=(
            "The notes announce a bound of order 1/tau on the error of a round.  At a constant step size it holds only "
            "up to noise and drift: for one round, T = 1, the first term is $D^2/(2\\eta\\tau)$."
        ),
    ),
    claim.proved.bound("lemma-2.3", "Bounded client drift", "Lemma 2.3, (6)")(
        chain=(drift, "<=", drift_bound),
        assumptions=ALL_ASSUMPTIONS,
        conditions=[SMALL_STEP],
        printed=(
            r"\mathbb E\left[\|x_i^{(t,k)}-\bar x^{(t,k)}\|^2\mid\mathcal F^{(0,t)}\right]"
            r"\le18\tau^2\eta^2\zeta^2+4\tau\eta^2\sigma^2"
        ),
        note="Stated without proof.  The left side is the largest over all rounds, local steps and clients.",
    ),
    claim.proved.bound("lemma-2.3.sharp", "Bounded client drift, with smaller constants", "Lemma 2.3, (6), sharpened")(
        chain=(drift, "<=", (1 - 1 / M) ** 2 * (8 * tau * (tau + 1) * eta**2 * zeta**2 + 4 * tau * eta**2 * sigma**2)),
        assumptions=ALL_ASSUMPTIONS,
        conditions=[DOUBLE_STEP],
        note="From the squared distance of two clients, which grows by a factor 1 + 1/tau and an offset in each step.",
        sharpens="renard2022:lemma-2.3",
    ),
    claim.proved.bound(
        "lemma-2.3.quiet", "Bounded client drift without noise", "Lemma 2.3, (6), sharpened for full gradients"
    )(
        chain=(drift, "<=", 4 * (1 - 1 / M) ** 2 * tau**2 * eta**2 * zeta**2),
        assumptions=(*ALL_ASSUMPTIONS, full_gradients),
        conditions=[DOUBLE_STEP],
        note=(
            "For two clients this is tau^2 eta^2 zeta^2.  It is attained by two linear functions with opposite "
            "gradients: the distance of the clients increases by 2 eta zeta in each step."
        ),
        sharpens="renard2022:lemma-2.3",
    ),
    claim.proved.bound(
        "lemma-2.3.mean", "Mean client drift", "Lemma 2.3, (6), sharpened for the mean over clients and steps"
    )(
        chain=(mean_drift, "<=", tightened_mean_drift),
        assumptions=ALL_ASSUMPTIONS,
        conditions=[DOUBLE_STEP],
        note=(
            "Theorem 2.1 needs the mean drift only.  The bound vanishes for one client, whose dissimilarity is zero, "
            "and for one local step, as the drift does.  Its factors are at most 5/6 in place of 18 and of 4."
        ),
        sharpens="renard2022:lemma-2.3",
    ),
    claim.proved.bound(
        "lemma-2.3.mean.quiet",
        "Mean client drift without noise",
        "Lemma 2.3, (6), sharpened for the mean and full gradients",
    )(
        chain=(mean_drift, "<=", noiseless_mean_drift),
        assumptions=(*ALL_ASSUMPTIONS, full_gradients),
        conditions=[DOUBLE_STEP],
        note=(
            "After k steps the mean squared distance from the average is at most k^2 eta^2 zeta^2.  It is attained by "
            "two linear functions with opposite gradients."
        ),
        sharpens="renard2022:lemma-2.3",
    ),
    claim.proved.bound(
        "thm-2.1.quiet",
        "Convergence of FedAvg on convex functions without noise",
        "Theorem 2.1, (4), sharpened for full gradients",
    )(
        chain=(average_error, "<=", start_term + L * noiseless_mean_drift),
        assumptions=(*ALL_ASSUMPTIONS, full_gradients),
        conditions=[HALF_STEP],
        note="The factor of the drift term is at most 1/3 in place of 18.",
        sharpens="renard2022:thm-2.1",
    ),
    claim.proved.bound(
        "thm-2.1.sharp",
        "Convergence of FedAvg on convex functions, with a drift term that vanishes for one client or one step",
        "Theorem 2.1, (4), sharpened",
    )(
        chain=(average_error, "<=", start_term + noise_term + L * tightened_mean_drift),
        assumptions=ALL_ASSUMPTIONS,
        conditions=[HALF_STEP],
        note=(
            "For twice the step size of the published theorem; the factors of the drift terms are at most 5/6 in place "
            "of 18 and of 4.  For tau = 1 it is the bound of SGD with M gradients per step, for M = 1 that of SGD."
        ),
        sharpens="renard2022:thm-2.1",
    ),
    *claim.refuted.step(
        "thm-2.1.proof.split", "Averaging Lemma 2.2 over the rounds", "proof of Theorem 2.1, first display"
    )(
        chain=(average_error, "<=", total_progress + noise_term + round_drift),
        assumptions=NOISE_ASSUMPTIONS,
        conditions=[SMALL_STEP],
        printed=(
            rf"{_AVERAGE}\le\mathbb E\left[\frac1T\sum_{{t=0}}^{{T-1}}"
            rf"\frac{{1}}{{2\eta\tau}}\left({_PROGRESS}\right)\right]"
            rf"+\frac{{\eta\sigma^2}}{{M}}+{_DRIFT_SUM}"
        ),
        note=(
            "Inherits the missing factor L of (5), which (4) has.  The round t is free in the drift term, so the step "
            "is read for every t; the counterexample has one round only, where all readings agree."
        ),
        fault="misprint",
    ).with_repair(
        title="Averaging the corrected Lemma 2.2 over the rounds",
        rhs=total_progress + noise_term + L * mean_drift,
        verdict="proved",
    ),
    claim.proved.bound(
        "thm-2.1.proof.star", "The progress term is at most of order 1/(tau T)", "proof of Theorem 2.1, before item 1"
    )(
        chain=(total_progress, "<=", start_term),
        assumptions=SETTING,
        printed=r"(\star)\text{ goes to }0\text{ with }T\cdot\tau",
        note=(
            "Read as an upper bound, the one that item 3 gives.  The term itself may stay below zero: on a flat loss "
            "with noise it tends to $-\\eta\\sigma^2/(2M)$."
        ),
    ),
    claim.proved.step(
        "thm-2.1.proof.drift-term", "The averaged drift is bounded by Lemma 2.3", "proof of Theorem 2.1, item 2"
    )(
        chain=(round_drift, "<=", drift_bound),
        assumptions=ALL_ASSUMPTIONS,
        conditions=[SMALL_STEP],
        printed=rf"(\dagger)={_DRIFT_SUM}\le18\tau^2\eta^2\zeta^2+4\tau\eta^2\sigma^2",
    ),
    claim.proved.identity("thm-2.1.proof.telescope", "The progress telescopes", "proof of Theorem 2.1, item 3")(
        chain=(total_progress, "==", (D**2 - final_distance) / (2 * eta * tau * T), "<=", start_term),
        assumptions=SETTING,
        printed=(
            r"\sum_{t=0}^{T-1}\left(d(x^{(t)})-d(x^{(t+1)})\right)=d(x^{(0)})-d(x^{(T)}),\quad"
            r"(\star)\le\frac{d(x^{(0)})}{2\eta\tau T}=\frac{D^2}{2\eta\tau T},\quad d(x)=\mathbb E\|x-x^*\|^2"
        ),
        note="The left side is summed from the local steps of each round, the right side is from the server's models.",
    ),
    *claim.refuted.step("thm-2.1.proof.assemble", "Putting the three bounds together", "proof of Theorem 2.1, end")(
        chain=(start_term + noise_term + drift_bound, "==", theorem_bound),
        assumptions=ALL_ASSUMPTIONS,
        conditions=[SMALL_STEP],
        printed=rf"(\star)+(\diamond)+(\dagger)={_TOTAL}",
        note="The bound on the drift term has lost its factor L; the total, and (4), have it.",
        fault="misprint",
    ).with_repair(
        title="Putting the three bounds together, the drift with its factor L",
        lhs=start_term + noise_term + L * drift_bound,
        verdict="proved",
    ),
]

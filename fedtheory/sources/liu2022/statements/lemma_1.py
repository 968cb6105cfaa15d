"""Lemma 1, which bounds the drift of the clients, with its handwritten proof and tightened forms."""

from __future__ import annotations

from fedtheory.kernel.expressions import Average, Expectation, PastSum, norm_sq
from fedtheory.language import quantities as q
from fedtheory.sources.liu2022.statements.notation import *

drift = Expectation(Average(norm_sq(xbar - x_i)))
next_drift = Expectation(norm_sq(xbar_next - x_i_next))
_MEAN = r"\frac1N\sum_{i=1}^N"
_SUM = r"\sum_{\tau=t_0+1}^t"
_DRIFT = r"\mathbb E[\|\bar x^t-x_i^t\|^2]"

CLAIMS = [
    claim.proved.bound("lemma-1", "Lemma 1: client drift", "Lemma 1")(
        chain=(q.max_drift, "<=", drift_bound),
        assumptions=ASSUMPTIONS,
        printed=rf"{_DRIFT}\le4s^2K^2G^2",
    ),
    claim.proved.bound(
        "lemma-1.run", "Lemma 1 with the second moment of the run", "Lemma 1, with a constant of the run"
    )(
        chain=(q.max_drift, "<=", drift_bound.subs(G, G_run)),
        assumptions=ASSUMPTIONS,
        note="The proof uses G at the iterates of the run only.",
    ),
    claim.proved.bound("lemma-1.sharp", "Lemma 1: client drift, for few clients", "Lemma 1, sharpened")(
        chain=(q.max_drift, "<=", (1 - 1 / N) ** 2 * drift_bound),
        assumptions=ASSUMPTIONS,
        note="A client is (1 - 1/N) times as far from the average as from the mean of the others.",
        sharpens="liu2022:lemma-1",
    ),
    claim.proved.bound(
        "lemma-1.mean", "Lemma 1 for the mean drift", "Lemma 1, sharpened for the mean over clients and steps"
    )(
        chain=(mean_drift, "<=", s**2 * (K - 1) * (2 * K - 1) * G**2 / 6),
        assumptions=ASSUMPTIONS,
        note=(
            "The mean squared distance from the average is at most that from the model of the round's start, which "
            "grows like $k^2s^2G^2$; the mean over k has a third of the largest."
        ),
        sharpens="liu2022:lemma-1",
    ),
    claim.proved.identity("eq-5", "A client's iterate since the last update", "proof of Lemma 1, (5)")(
        chain=(norm_sq(x_i_next - (ybar - s * PastSum(g_i))), "==", 0),
        place="round",
        assumptions=ASSUMPTIONS,
        printed=rf"x_i^t=\bar y-s{_SUM}g_i^\tau",
    ),
    claim.proved.identity("eq-6", "The average since the last update", "proof of Lemma 1, (6)")(
        chain=(norm_sq(xbar_next - (ybar - s * PastSum(Average(g_i)))), "==", 0),
        place="round",
        assumptions=ASSUMPTIONS,
        printed=rf"\bar x^t={_MEAN}\left(\bar y-s{_SUM}g_i^\tau\right)=\bar y-s{_SUM}{_MEAN}g_i^\tau",
    ),
    claim.proved.step("lemma-1.proof", "Proof of Lemma 1", "proof of Lemma 1")(
        chain=(
            next_drift,
            "==",
            s**2 * Expectation(norm_sq(PastSum(Average(g_i)) - PastSum(g_i))),
            "<=",
            2 * s**2 * Expectation(norm_sq(PastSum(Average(g_i))) + norm_sq(PastSum(g_i))),
            "<=",
            2 * s**2 * T_0 * Expectation(PastSum(norm_sq(Average(g_i))) + PastSum(norm_sq(g_i))),
            "<=",
            2 * s**2 * T_0 * Expectation(PastSum(Average(norm_sq(g_i))) + PastSum(norm_sq(g_i))),
            "<=",
            drift_bound,
        ),
        place="round",
        assumptions=ASSUMPTIONS,
        printed=(
            rf"{_DRIFT}=s^2\mathbb E\left[\left\|{_SUM}{_MEAN}g_i^\tau-{_SUM}g_i^\tau\right\|^2\right]"
            rf"\le2s^2\mathbb E\left[\left\|{_SUM}{_MEAN}G_i^\tau\right\|^2+\left\|{_SUM}G_i^\tau\right\|^2\right]"
            rf"\le2s^2(t-t_0)\mathbb E\left[{_SUM}\left\|{_MEAN}G_i^\tau\right\|^2+{_SUM}\|G_i^\tau\|^2\right]"
            rf"\le2s^2(t-t_0)\mathbb E\left[{_SUM}{_MEAN}\|G_i^\tau\|^2+{_SUM}\|G_i^\tau\|^2\right]\le4s^2K^2G^2"
        ),
        note="Expectations over all outcomes of a round, given the model that it starts from.",
    ),
]

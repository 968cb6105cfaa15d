"""Sentences of Sections 3.4 and 4: constants of the schedules, comparisons of the bounds, FedBuff."""

from __future__ import annotations

import sympy as sp

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.language.statements import Notation, Statements
from fedtheory.sources.fraboni2022.statements.asynchronous import NOTATION, async_epsilon, others, ratio, sync_epsilon
from fedtheory.sources.fraboni2022.statements.hardware import (
    COUNTED,
    CYCLES,
    FEDFIX,
    FEDFIX_CYCLES,
    FREE,
    Delta_t,
    longest,
    sigma,
    tau_M,
)
from fedtheory.sources.fraboni2022.statements.notation import *
from fedtheory.sources.fraboni2022.statements.relaxed import start

REMARKS = Notation(NOTATION)
REMARKS[start] = q.initial_distance
m = REMARKS.add(q.buffer, positive=True)
claim = Statements("fraboni2022", REMARKS)
numbers_claim = Statements("fraboni2022", REMARKS.without(FREE), for_all=FREE)
"""Function that states a claim about the constants of a run, at any numbers of local steps and updates."""
_ANY_INTERVAL = REMARKS.without([Delta_t])

_CONSTANT = (
    r"\text{all the considered optimization schemes satisfy }\tau=\mathcal O(1)\text{ and }W=\mathcal O(1),\text{ and "
    r"also depend of the clients hardware capabilities and amount of participating clients }M"
)
FEWER = M / tau_M
"""Lower bound on N/T of asynchronous updates: M times that of synchronous FedAvg."""

HARDWARE = [
    claim.proved.identity(
        "constants.sync", "Staleness and window of synchronous rounds do not grow with N", "below Corollary 2"
    )(
        chain=(tau, "==", 0),
        also=(Relation(W, "==", 1),),
        assumptions=(a.synchronous,),
        printed=_CONSTANT,
        note="For full participation and for sampled clients.",
    ),
    claim.proved.inequality(
        "constants.async", "Staleness and window of asynchronous FedAvg do not grow with N", "below Corollary 2"
    )(
        chain=(tau, "<=", 2 * ratio * (M - 1)),
        also=(Relation(W, "<=", M * tau_M ** (M - 1)),),
        assumptions=(*CYCLES, *COUNTED, a.whole_times),
        printed=_CONSTANT,
        note="Both right sides depend on the update times and M only.  The window needs whole update times.",
    ),
    claim.proved.inequality(
        "constants.fedfix", "Staleness and window of FedFix do not grow with N", "below Corollary 2"
    )(
        chain=(tau, "<=", longest - 1),
        also=(Relation(W, "<=", longest**M),),
        assumptions=(*FEDFIX_CYCLES, *COUNTED),
        printed=_CONSTANT,
        note="Only the bound on W depends on M.",
    ),
    claim.supported.identity("eq-32.identical", "The optimum residual of identical clients", "after (32)")(
        chain=(Sigma_star, "<=", sigma**2),
        assumptions=(a.one_type, a.unbiased_bounded_variance),
        printed=(
            r"\text{When clients have identical data distributions, }\Sigma\text{ can be simplified as "
            r"}\Sigma=\mathbb E_\xi\left[\|\nabla\mathcal L(\theta^*,\xi)\|^2\right],\text{ and }\Sigma=0\text{ when "
            r"clients perform GD}"
        ),
        note=(
            "The full gradient of every client vanishes at $\\theta^*$, so that the second moment there is a variance: "
            "at most $\\sigma^2$, and zero for full gradients, where $\\sigma=0$."
        ),
    ),
]

ASYNCHRONOUS = [
    numbers_claim.proved.inequality(
        "eq-38.ordering", "The bound of synchronous FedAvg is the smaller one at equal N", "after (38)"
    )(
        chain=(sync_epsilon, "<=", async_epsilon),
        assumptions=CYCLES,
        printed=(
            r"\text{The first and second asymptotic terms are identical for the two learning algorithms, while the "
            r"third asymptotic term is scaled by the hardware characteristics }\tau_M/\tau_0\text{ instead of "
            r"}1/M\text{ in FedAvg}\dots\text{ for a given optimization round, synchronous FedAvg outperforms its "
            r"asynchronous counterpart}"
        ),
        note=(
            "(33) against (38), as published, all hidden constants one.  The order is one of bounds, not of errors: "
            "two clients $x^2/2$ with equal times, $\\eta_l=1/4$ and the weights of (36) are at 1/2 of the start after "
            "two asynchronous updates, and at 9/16 after two synchronous ones."
        ),
    ),
    claim.proved.inequality(
        "eq-39.start", "The first two terms of (38) at equal time are smaller than those of (33)", "after (39)"
    )(
        chain=(start**4 / (K * N), "<=", start**4 / (K * T * FEWER)),
        also=(Relation((K - 1) * Sigma_star / N, "<=", (K - 1) * Sigma_star / (T * FEWER)),),
        assumptions=CYCLES,
        printed=(
            r"\text{at least }M\text{ times more aggregations than with synchronous FedAvg. As a result, the first two "
            r"terms of equation (38)}\dots\text{ decrease faster with asynchronous FedAvg at the detriment of an "
            r"higher convergence residual}"
        ),
        note=(
            "In the time T synchronous FedAvg makes $T/\\tau_M$ updates.  The first relation is the first term, "
            "squared.  It is smaller by a factor of $1/\\sqrt M$ or less, the second term by $1/M$ or less."
        ),
    ),
]

FEDFIX_REMARKS = [
    *claim.refuted.inequality(
        "fedfix.aggregations", "Aggregations of asynchronous and synchronous FedAvg, with an interval", "after (42)"
    )(
        chain=(N * tau_M / T, ">=", tau_M / Delta_t),
        where=_ANY_INTERVAL,
        for_all={Delta_t: (sp.Rational(1, 4), sp.S.One)},
        assumptions=CYCLES,
        printed=(
            r"\text{With asynchronous FedAvg, the server thus performs at least }\tau_M/\Delta t\text{ times more "
            r"aggregations than with synchronous FedAvg}"
        ),
        note=(
            "The sentence before speaks of $N=T/\\Delta t$ with FedFix, so that FedFix is meant.  Asynchronous FedAvg "
            "has no interval, and makes fewer updates than FedFix with a short one."
        ),
        fault="misprint",
    ).with_repair(
        kind="identity",
        title="Aggregations of FedFix and synchronous FedAvg",
        relation="==",
        where=REMARKS,
        for_all={},
        assumptions=FEDFIX,
        note="In the time T synchronous FedAvg makes at most $T/\\tau_M$ updates, FedFix $T/\\Delta t$.",
        verdict="proved",
    ),
    claim.supported.inequality("fedbuff.staleness", "Staleness of FedBuff", "Section 4.5")(
        chain=(m * tau, "<=", others + M - 1),
        assumptions=SCHEME,
        printed=(
            r"\text{Theorem 3 can be applied to other distributed optimization schemes using different waiting time "
            r"policy }\Delta t^n.\text{ With FedBuff, the server waits for }m\text{ client updates}"
        ),
        note=(
            "For every buffer; asynchronous FedAvg has m = 1, synchronous FedAvg m = M.  While client i computes, "
            "client j contributes at most $\\lceil\\tau_i/\\tau_j\\rceil$ times, and once more where a tie left its "
            "contribution waiting; an update takes m contributions.  Without $M-1$ it fails for m = 2 and the times "
            "(4, 2, 2, 4, 2).  Theorem 3 and its steps hold for every clock, and so for FedBuff."
        ),
    ),
    claim.supported.identity(
        "assumption-5.schedules", "Asynchronous FL, FedFix and FedBuff satisfy Assumption 5", "Section 6"
    )(
        chain=(alpha * (1 - alpha), "==", 0),
        also=(Relation(alpha * beta_S, "==", 0),),
        assumptions=(*SCHEME, a.given_weights, a.weight_covariance),
        printed=r"\text{aggregation scheme (6) and Assumption 5 are satisfied by asynchronous FL, FedFix, and FedBuff}",
        note=(
            "With fixed update times the weights are not random: $\\alpha=1$ where some update has two reports, and "
            "$\\alpha=0$ otherwise, outside the open interval of Assumption 5.  With $\\alpha=1$ the excess $\\beta$, "
            "over the clients that participate, is zero."
        ),
    ),
]

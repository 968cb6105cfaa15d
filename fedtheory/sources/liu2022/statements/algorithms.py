"""Slides 3 to 16: mini-batch SGD, communication, FedAvg and its two-sided form."""

from __future__ import annotations

from fedtheory.kernel.expressions import Average, LocalSum, Selected, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language.claim import Relation
from fedtheory.sources.liu2022.statements.notation import *

TWO_SIDED = (a.two_sided_steps, a.uniform_sampling, a.uniform_shares)
increment = -s * LocalSum(g_i)
"""A client's change in a round, which includes the local step size s_L."""

CLAIMS = [
    claim.algorithm("sgd", "Mini-batch SGD as workers that average", "p. 3")(
        chain=(norm_sq(xbar_next - (xbar - s * Average(g_i))), "==", 0),
        place="path",
        assumptions=ASSUMPTIONS,
        printed=(
            r"\min_xf(x)=\min_x\mathbb E_{\xi\sim\mathcal D}[f(x,\xi)],\quad "
            r"x_{k+1}=x_k-\frac{s_k}{B_k}\sum_{i=1}^{B_k}\nabla f(x_k,\xi_i)"
        ),
        note=(
            "With B_k workers and one stochastic gradient each, their average makes the mini-batch step.  Checked at "
            "every local step; SGD has one in a round."
        ),
        implemented_by="fedtheory.federation.settings:sgd",
    ),
    claim.proved.cost("architecture.ps", "Messages through a parameter server", "Parameter server")(
        chain=(server_load, "==", 2 * N * b),
        assumptions=ASSUMPTIONS,
        printed=r"2Nb,\ \text{linearly increasing w.r.t. }N",
        note="Counted message by message: in one aggregation the server receives N models of b numbers and sends N.",
    ),
    claim.proved.cost("architecture.rar", "Messages around a ring", "Ring all-reduce")(
        chain=(ring_load, "==", 2 * (N - 1) * b / N),
        assumptions=ASSUMPTIONS,
        note=(
            "The slide has a figure and no formula.  This is the usual cost, 2(N-1)b/N numbers sent by each worker, "
            "counted message by message.  Unlike the parameter server's, it stays below 2b for every N."
        ),
    ),
    claim.algorithm("fedavg", "FedAvg with client sampling", "FedAvg")(
        chain=(norm_sq(x_i_next - (x_i - s * g_i)), "==", 0),
        also=(Relation(norm_sq(y_next - Selected(ybar - s * LocalSum(g_i))), "==", 0),),
        place="round",
        assumptions=(*TWO_SIDED, a.unit_server_step),
        printed=(
            r"\text{Server: }S_t\leftarrow\text{random set of }M\text{ clients};\ "
            r"x_i^{t+1}\leftarrow\mathrm{ClientUpdate}(i,\bar x^t);\ "
            r"\bar x^{t+1}\leftarrow\frac1M\sum_{i=1}^Mx_i^{t+1}.\quad "
            r"\text{Client: }x_{k+1}\leftarrow x_k-s_k\nabla f(x_k,\xi),\ k=0,\dots,K-1;\ \text{return }x_K"
        ),
        note=(
            "Two relations: each local step, and the aggregation.  A participant returns the server's model less s "
            "times the sum of its K gradients, and the next model is the average of what the participants return.  The "
            "random set is drawn uniformly without replacement; its sum runs over i in S_t, which the print numbers 1 "
            "to M.  Step sizes are constant within a run."
        ),
        implemented_by="fedtheory.federation:fedavg",
    ),
    claim.algorithm(
        "two-sided",
        "Generalised FedAvg with two-sided learning rates",
        "G-FedAvg with two-sided learning rates (Yang, Fang, Liu, ICLR 2021)",
    )(
        chain=(norm_sq(y_next - (ybar + server_step * Selected(increment))), "==", 0),
        place="round",
        assumptions=TWO_SIDED,
        printed=(
            r"\Delta_i^t=-\sum_{k=0}^{K-1}g_{i,k}^t,\quad \Delta^t=\frac1{|S|}\sum_{i\in S}\Delta_i^t,\quad "
            r"\bar x^{t+1}=\bar x^t+s\Delta^t,\quad "
            r"\bar x^{t+1}=\bar x^t+\underbrace{ss_L}_{\text{effective LR}}(\dots)"
        ),
        note=(
            "The first lines leave the local rate s_L out of the increment, the last one puts it into the effective "
            "rate s s_L; the server step of the engine is that s, and increments contain s_L."
        ),
        implemented_by="fedtheory.federation.settings:two_sided_fedavg",
    ),
    claim.proved.identity(
        "two-sided.special-case", "FedAvg is the case s = 1", "G-FedAvg with two-sided learning rates"
    )(
        chain=(norm_sq(y_next - (ybar + Selected(increment))), "==", 0),
        place="round",
        assumptions=(*TWO_SIDED, a.unit_server_step),
        printed=(
            r"\bar x^{t+1}=\frac1{|S|}\sum_{i\in S}x_i^{t+1}=\bar x^t+\frac1{|S|}\sum_{i\in S}\Delta_i^t,\quad "
            r"\text{special case of G-FedAvg-TSLR with }s=1"
        ),
        note=(
            "Here the increments contain the local rate, $\\Delta_i^t=-s_L\\sum_kg_{i,k}^t$.  The transcription goes "
            "on with $\\bar x^t+|S|\\cdot\\Delta^t$, where the special case has the factor $s=1$."
        ),
    ),
]

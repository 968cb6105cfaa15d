"""Section 2.2, first half of the proof of Lemma 2.2: bounds on the gap after a local step by smoothness."""

from __future__ import annotations

from fedtheory.kernel.expressions import Average, Gradient, Value, inner, norm_sq
from fedtheory.language.statements import Statements
from fedtheory.sources.renard2022.statements.notation import (
    NOTATION,
    SETTING,
    F,
    F_i,
    L,
    x,
    x_i,
    x_star,
    xbar,
    xbar_next,
)

true_gradient = Gradient(F_i, x_i)
gap = Value(F, xbar_next) - Value(F, x_star)
move_sq = norm_sq(xbar_next - xbar)
client_distance_sq = norm_sq(xbar - x_i)

GAP = r"F(\bar x^{(t,k+1)})-F(x^*)"
MOVE = r"\|\bar x^{(t,k+1)}-\bar x^{(t,k)}\|^2"
"""`gap` and `move_sq` as published."""

claim_on_path = Statements("renard2022", NOTATION, place="path", assumptions=SETTING)

CLAIMS = [
    claim_on_path.proved.identity("eq-8", "The gap, client by client", "(8)")(
        chain=(gap, "==", Average(Value(F_i, xbar_next) - Value(F, x_star))),
        printed=rf"{GAP}=\frac1M\sum_{{i=1}}^M\left(F_i(\bar x^{{(t,k+1)}})-F(x^*)\right)",
    ),
    claim_on_path.proved.inequality("lemma-2.2.proof.smooth", "Smoothness at the next average", "proof of Lemma 2.2")(
        lhs=Value(F_i, xbar_next),
        rhs=Value(F_i, x) + inner(Gradient(F_i, x), xbar_next - x) + L / 2 * norm_sq(xbar_next - x),
        printed=(
            r"F_i(\bar x^{(t,k+1)})\le F_i(x)+\langle\nabla F_i(x),\ \bar x^{(t,k+1)}-x\rangle"
            r"+\frac L2\|\bar x^{(t,k+1)}-x\|^2\quad\forall x"
        ),
    ),
    claim_on_path.proved.inequality(
        "lemma-2.2.proof.to-optimum", "From the client's iterate to the optimum", "proof of Lemma 2.2"
    )(
        lhs=Value(F_i, xbar_next),
        rhs=Value(F_i, x_star) + inner(true_gradient, xbar_next - x_star) + L / 2 * norm_sq(xbar_next - x_i),
        printed=(
            r"F_i(\bar x^{(t,k+1)})\le F_i(x^*)+\langle\nabla F_i(x_i^{(t,k)}),\ \bar x^{(t,k+1)}-x^*\rangle"
            r"+\frac L2\|\bar x^{(t,k+1)}-x_i^{(t,k)}\|^2"
        ),
        note="True, although it cites Observation 2.1, whose sign is reversed in print.",
    ),
    *claim_on_path.refuted.step(
        "lemma-2.2.proof.triangle", "Splitting the distance to the client", "proof of Lemma 2.2"
    )(
        chain=(
            L / 2 * norm_sq(xbar_next - x_i),
            "<=",
            L / 2 * move_sq + L / 2 * client_distance_sq,
            "<=",
            L * move_sq + L * client_distance_sq,
        ),
        printed=(
            rf"\frac L2\|\bar x^{{(t,k+1)}}-x_i^{{(t,k)}}\|^2\le\frac L2{MOVE}"
            rf"+\frac L2\|\bar x^{{(t,k)}}-x_i^{{(t,k)}}\|^2\le L{MOVE}+L\|\bar x^{{(t,k)}}-x_i^{{(t,k)}}\|^2"
        ),
        note=(
            "The triangle inequality does not hold for squares; the last member has the factor two that it needs.  The "
            "counterexample has the lemma's step size, eta = 1/(4L)."
        ),
    ).with_repair(
        title="Splitting the distance to the client, from end to end",
        chain=(L / 2 * norm_sq(xbar_next - x_i), "<=", L * move_sq + L * client_distance_sq),
        note="From |a + b|^2 <= 2|a|^2 + 2|b|^2.  The first and the last member of the chain compare as published.",
        verdict="proved",
    ),
    claim_on_path.proved.inequality("lemma-2.2.proof.heart", "The gap after one local step", "proof of Lemma 2.2")(
        lhs=gap,
        rhs=Average(inner(true_gradient, xbar_next - x_star)) + L * move_sq + L * Average(client_distance_sq),
        printed=(
            rf"{GAP}\le\frac1M\sum_{{i=1}}^M\langle\nabla F_i(x_i^{{(t,k)}}),\ \bar x^{{(t,k+1)}}-x^*\rangle"
            rf"+L{MOVE}+L\frac1M\sum_{{i=1}}^M\|\bar x^{{(t,k)}}-x_i^{{(t,k)}}\|^2"
        ),
    ),
]

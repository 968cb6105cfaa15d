"""Theorem 2, first part: the gap theta, and the two lemmas about centralised gradient descent."""

from __future__ import annotations

from fedtheory.kernel.expressions import Gradient, Value, inner, norm_sq
from fedtheory.language.claim import Relation
from fedtheory.language.statements import Statements
from fedtheory.sources.lecture27.statements.notation import *

theta, theta_after = Value(F, v) - Value(F, w_star), Value(F, v_next) - Value(F, w_star)
gradient = Gradient(F, v)
distance_sq, distance_after_sq = norm_sq(v - w_star), norm_sq(v_next - w_star)
progress = omega * eta * (1 - beta * eta / 2)

_NABLA = r"\nabla F(v_{[k]}(t))"
_PROGRESS = r"\omega\eta\left(1-\frac{\beta\eta}2\right)"
_BEFORE, _AFTER = r"\|v_{[k]}(t)-w^*\|^2", r"\|v_{[k]}(t+1)-w^*\|^2"

claim_on_path = Statements("lecture27", NOTATION, place="path", assumptions=ASSUMPTIONS, conditions=[SMALL_STEP])

CLAIMS = [
    claim.definition("theta", "The gap of the auxiliary sequence", "proof of Theorem 2")(
        chain=(theta, ">=", 0),
        also=(Relation(restrict_to_start(theta - theta_start), "==", 0),),
        place="path",
        assumptions=ASSUMPTIONS,
        printed=(
            r"\theta_{[k]}(t)=F(v_{[k]}(t))-F(w^*),\quad(k-1)\tau\le t\le k\tau,\quad\text{assumed }\theta_{[k]}(t)>0"
        ),
        note=(
            "theta is not negative, and zero on runs that reach the optimum; the notes question the assumption, "
            "but 1/theta needs it.  By the equation theta at the start of an interval is its first gap in Theorem 2."
        ),
        implemented_by="fedtheory.language.quantities:centralised_model",
    ),
    claim_on_path.proved.inequality(
        "lemma-3", "Centralised gradient descent does not move away from the optimum", "Lemma 3"
    )(
        chain=(distance_after_sq, "<=", distance_sq),
        printed=(
            r"\text{When }\eta\le\frac1\beta,\ \forall k,\ t\in[k]=[(k-1)\tau,k\tau]:\ "
            r"\|v_{[k]}(t)-w^*\|^2\text{ is non-increasing w.r.t. }t"
        ),
        note=(
            "The condition is transcribed as eta = beta; the proof uses 1/beta - eta >= 0, so eta <= 1/beta is read."
        ),
    ),
    claim_on_path.proved.inequality(
        "lemma-3.any-point",
        "One step of centralised gradient descent, against any point",
        "Lemma 3, with any point in the place of w^*",
    )(
        lhs=norm_sq(v_next - w),
        rhs=norm_sq(v - w) - 2 * eta * (Value(F, v_next) - Value(F, w)),
        note=(
            "Not in the notes.  For w = w^* it is stronger than the lemma.  It also shows that descent approaches "
            "every point with a smaller value than the next iterate, whether there is an optimum or not."
        ),
    ),
    claim_on_path.proved.step("lemma-3.proof", "One step of centralised gradient descent", "proof of Lemma 3")(
        chain=(distance_after_sq, "<=", distance_sq + eta * (eta - 1 / beta) * norm_sq(gradient)),
        also=(
            Relation(theta, ">=", 0),
            Relation((inner(gradient, v - w_star) - norm_sq(gradient) / (2 * beta)) / theta, ">=", 1),
            Relation(-2 * eta * inner(gradient, v - w_star), "<=", -eta / beta * norm_sq(gradient)),
            Relation(
                distance_after_sq,
                "==",
                distance_sq - 2 * eta * inner(gradient, v - w_star) + eta**2 * norm_sq(gradient),
            ),
            Relation((distance_after_sq - distance_sq) / theta, "<=", -2 * eta),
            Relation(-2 * eta, "<", 0),
        ),
        printed=(
            rf"{_AFTER}={_BEFORE}-2\eta{_NABLA}^T(v_{{[k]}}(t)-w^*)+\eta^2\|{_NABLA}\|^2"
            rf"\le{_BEFORE}+\eta\left(\eta-\frac1\beta\right)\|{_NABLA}\|^2,\quad "
            rf"0<\theta_{{[k]}}(t)\le{_NABLA}^T(v_{{[k]}}(t)-w^*)-\frac1{{2\beta}}\|{_NABLA}\|^2"
            rf"\Rightarrow-2\eta{_NABLA}^T(v_{{[k]}}(t)-w^*)\le-\frac\eta\beta\|{_NABLA}\|^2,\quad "
            rf"\text{{as long as }}\frac1\beta-\eta>0\ (\eta\le\frac1\beta):\ {_AFTER}<{_BEFORE}"
        ),
        note=(
            "The notes assume theta > 0.  The relations that need it are divided by theta, so runs with theta = 0 are "
            "not covered.  The last factor is that of the line before it; as transcribed it has another sign, see the "
            "next claim.  The strict inequality at the end holds for all eta <= 1/beta, with equality included: the "
            "squared distance decreases by at least 2 eta theta.  For the condition the transcription has both > 0 "
            "and, in brackets, eta <= 1/beta; the weaker one is encoded."
        ),
    ),
    *claim_on_path.refuted.identity(
        "lemma-3.proof.factor", "Collecting the squared gradient", "proof of Lemma 3, last line"
    )(
        lhs=-eta / beta * norm_sq(gradient) + eta**2 * norm_sq(gradient),
        relation="==",
        rhs=eta * (1 / beta - eta) * norm_sq(gradient),
        printed=(
            rf"-\frac\eta\beta\|{_NABLA}\|^2+\eta^2\|{_NABLA}\|^2=\eta\left(\frac1\beta-\eta\right)\|{_NABLA}\|^2"
        ),
        note="As transcribed; the sign is lost.  With this sign the bound would let the distance grow.",
        fault="misprint",
    ).with_repair(
        title="Collecting the squared gradient, with its sign",
        rhs=eta * (eta - 1 / beta) * norm_sq(gradient),
        note="Not positive for eta <= 1/beta, as the lemma needs.",
        verdict="proved",
    ),
    claim_on_path.proved.inequality("lemma-4", "The reciprocal of the gap grows at every step", "Lemma 4")(
        chain=(1 / theta_after - 1 / theta, ">=", progress, ">", 0),
        printed=(
            r"\text{For any }k,\ \eta\le\frac1\beta,\ t\in[(k-1)\tau,k\tau):\ "
            rf"\frac1{{\theta_{{[k]}}(t+1)}}-\frac1{{\theta_{{[k]}}(t)}}\ge{_PROGRESS}>0,\quad "
            r"\omega=\min_k\frac1{\|v_{[k]}((k-1)\tau)-w^*\|^2}"
        ),
        note=(
            "The notes omit the proof.  Runs on which a theta is zero are not covered, as 1/theta is undefined there."
        ),
    ),
    claim_on_path.proved.inequality(
        "lemma-4.distance",
        "The distance from the optimum within an interval",
        "Lemma 4, from Lemma 3 and the definition of omega",
    )(
        chain=(distance_sq, "<=", 1 / omega),
        also=(Relation(distance_after_sq, "<=", 1 / omega),),
        note="The part of Lemma 3 that the proof of Lemma 4 uses; the notes omit that proof.",
    ),
    claim_on_path.proved.inequality(
        "lemma-4.descent",
        "The loss of the auxiliary sequence does not increase",
        "Lemma 4, remark, without its strictness",
    )(
        chain=(Value(F, v_next), "<=", Value(F, v)),
        note="The proof of Theorem 2 uses it; it also holds on runs that reach the optimum.",
    ),
    claim_on_path.proved.inequality(
        "lemma-4.consequence", "The loss of the auxiliary sequence decreases", "Lemma 4, remark"
    )(
        chain=((Value(F, v_next) - Value(F, v)) / theta**2, "<=", -progress, "<", 0),
        printed=(
            r"\theta_{[k]}(t+1)<\theta_{[k]}(t)\Rightarrow F(v_{[k]}(t+1))-F(w^*)<F(v_{[k]}(t))-F(w^*),"
            r"\text{ i.e., }F(v_{[k]}(t))\text{ is decreasing}"
        ),
        note=(
            "The decrease is strict, and at least omega eta (1 - beta eta/2) theta^2.  The relation is divided by "
            "theta^2, which is undefined where theta is zero; the notes assume that theta is positive."
        ),
    ),
]

"""Section 2.3: the properties used for the proof; section 3: the toy problem."""

from __future__ import annotations

from fedtheory.kernel.expressions import Expr, Gradient, Value, inner, norm_sq
from fedtheory.language.assumptions import convex_and_smooth, least_squares_loss
from fedtheory.language.claim import Relation
from fedtheory.sources.renard2022.statements.notation import F, F_i, L, claim, lam, lambda_min, x, y, z

_CONVEX = (convex_and_smooth,)
between = lam * x + (1 - lam) * y


def tangent(at: Expr, to: Expr) -> Expr:
    """Return F_i's tangent at one point, evaluated at another."""
    return Value(F_i, at) + inner(Gradient(F_i, at), to - at)


CLAIMS = [
    claim.definition("property-2.1", "Convexity", "Property 2.1")(
        chain=(Value(F_i, between), "<=", lam * Value(F_i, x) + (1 - lam) * Value(F_i, y)),
        for_all={lam: (0, "1/3", "1/2", 1)},
        place="points",
        assumptions=_CONVEX,
        printed=r"f(\lambda x+(1-\lambda)y)\le\lambda f(x)+(1-\lambda)f(y)",
        implemented_by="fedtheory.language.assumptions:convex_and_smooth",
    ),
    claim.proved.inequality(
        "property-2.2", "A convex function lies above its tangents (Property 2.2, from left to right)", "Property 2.2"
    )(
        chain=(Value(F_i, y), ">=", tangent(x, y)),
        place="points",
        assumptions=_CONVEX,
        printed=r"f\text{ is convex}\iff f(y)\ge f(x)+\langle\nabla f(x),\ y-x\rangle\quad\forall x,y",
        note="The direction from right to left is the next claim.",
    ),
    claim.proved.identity(
        "property-2.2.converse",
        "A function above its tangents is convex (Property 2.2, from right to left)",
        "Property 2.2, converse",
    )(
        chain=(
            lam * (Value(F_i, x) - tangent(between, x)) + (1 - lam) * (Value(F_i, y) - tangent(between, y)),
            "==",
            lam * Value(F_i, x) + (1 - lam) * Value(F_i, y) - Value(F_i, between),
        ),
        for_all={lam: (0, "1/3", "1/2", 1)},
        place="points",
        note=(
            "Convexity is not assumed.  The left side is a weighted average of two distances from the tangent at z = "
            "lambda x + (1 - lambda) y.  If neither is negative, f(z) <= lambda f(x) + (1 - lambda) f(y), which is "
            "Property 2.1.  The instances are convex, but the certificate uses no inequality."
        ),
    ),
    *claim.refuted.inequality("observation-2.1", "Hyperplanes parallel to a tangent", "Observation 2.1")(
        chain=(tangent(x, y), ">=", Value(F_i, z) + inner(Gradient(F_i, x), y - z)),
        place="points",
        assumptions=_CONVEX,
        printed=r"f(x)+\langle\nabla f(x),\ y-x\rangle\ge f(z)+\langle\nabla f(x),\ y-z\rangle",
        note="The sign is reversed: by the text beside it the hyperplane through z lies above.",
        fault="misprint",
    ).with_repair(
        title="Hyperplanes parallel to a tangent lie above it",
        verdict="proved",
        relation="<=",
    ),
    claim.proved.inequality("property-2.3", "Smoothness", "Property 2.3")(
        chain=(Value(F_i, y), "<=", tangent(x, y) + L / 2 * norm_sq(y - x)),
        place="points",
        assumptions=_CONVEX,
        printed=r"f(y)\le f(x)+\langle\nabla f(x),\ y-x\rangle+\frac L2\|y-x\|^2",
    ),
    *claim.refuted.identity("property-2.4", "Polarisation identity", "Property 2.4")(
        chain=(
            inner(x, y),
            "==",
            norm_sq(x + y) / 2 - norm_sq(x) - norm_sq(y),
            "==",
            norm_sq(x) / 2 + norm_sq(y) - norm_sq(x - y),
        ),
        place="points",
        printed=(r"\langle a,b\rangle=\frac12\|a+b\|^2-\|a\|^2-\|b\|^2=\frac12\|a\|^2+\|b\|^2-\|a-b\|^2"),
        note="The brackets after the factor 1/2 are missing.  The proof of Lemma 2.2 uses the identity with them.",
        fault="misprint",
    ).with_repair(
        title="Polarisation identity, with its brackets",
        chain=(
            inner(x, y),
            "==",
            (norm_sq(x + y) - norm_sq(x) - norm_sq(y)) / 2,
            "==",
            (norm_sq(x) + norm_sq(y) - norm_sq(x - y)) / 2,
        ),
        verdict="proved",
    ),
    claim.proved.inequality("property-2.5", "Young's inequality", "Property 2.5")(
        chain=(inner(x, y), "<=", lam**2 / 2 * norm_sq(x) + norm_sq(y) / (2 * lam**2)),
        for_all={lam: ("1/3", 1, 2)},
        place="points",
        printed=r"\langle a,b\rangle\le\frac{\lambda^2}{2}\|a\|^2+\frac{1}{2\lambda^2}\|b\|^2,\ \lambda\in\mathbb R^+",
    ),
    claim.definition("toy-problem", "Single-layer linear network with squared loss", "section 3.1")(
        printed=(r"\hat y(x,(w))=w^Tx,\qquad L_D(w)=\frac{1}{|D|}\sum_{x_i,y_i}^{D}\left(\hat y(x_i,(w))-y_i\right)^2"),
        implemented_by="fedtheory.federation.problem:least_squares",
    ),
    claim.supported.condition("toy-problem.class", "The toy loss is convex and smooth", "section 3.1")(
        chain=(lambda_min, ">=", 0),
        also=(Relation(Value(F, y), "<=", Value(F, x) + inner(Gradient(F, x), y - x) + L / 2 * norm_sq(y - x)),),
        place="points",
        assumptions=(least_squares_loss,),
        printed=r"L_D\text{ is convex and }L\text{-smooth}",
    ),
]

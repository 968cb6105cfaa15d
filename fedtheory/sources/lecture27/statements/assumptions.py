"""Page 2: the three assumptions, consequences of smoothness, the gradient divergence."""

from __future__ import annotations

from fedtheory.kernel.expressions import Expr, Gradient, Value, inner, norm_sq
from fedtheory.language.claim import Relation
from fedtheory.language.statements import Statements
from fedtheory.sources.lecture27.statements.notation import *

points_distance_sq = norm_sq(w - w_other)


def gap_above_tangent(objective: Expr) -> Expr:
    """Return f(w) - f(w') - <grad f(w'), w - w'>."""
    difference = Value(objective, w) - Value(objective, w_other)
    return difference - inner(Gradient(objective, w_other), w - w_other)


def change_sq(objective: Expr) -> Expr:
    """Return (f(w) - f(w'))^2."""
    return (Value(objective, w) - Value(objective, w_other)) ** 2


def gradient_change_sq(objective: Expr) -> Expr:
    """Return |grad f(w) - grad f(w')|^2."""
    return norm_sq(Gradient(objective, w) - Gradient(objective, w_other))


def gap_below_tangent(objective: Expr) -> Relation:
    """Return property (1), the smoothness of a convex f, as a relation."""
    left = Value(objective, w) - Value(objective, w_other)
    right = inner(Gradient(objective, w), w - w_other) - gradient_change_sq(objective) / (2 * beta)
    return Relation(left, "<=", right)


_SQUARED = "Both sides are squared, so that they are rational numbers.  "

claim_at_points = Statements("lecture27", NOTATION, place="points", assumptions=ASSUMPTIONS)

CLAIMS = [
    claim_at_points.assumption("assumption-1", "Convexity", "p. 2, assumption 1)")(
        chain=(gap_above_tangent(F_i), ">=", 0),
        printed=r"F_i(w)\text{ is convex}",
        implemented_by="fedtheory.language.assumptions:convex_and_smooth",
    ),
    claim_at_points.assumption("assumption-2", "Lipschitz losses", "p. 2, assumption 2)")(
        chain=(change_sq(F_i), "<=", rho**2 * points_distance_sq),
        printed=r"F_i(w)\text{ is }\rho\text{-Lipschitz: }\|F_i(w)-F_i(w')\|\le\rho\|w-w'\|",
        note=(
            _SQUARED + "No quadratic is Lipschitz on all of space: rho is the smallest constant on a ball that contains"
            " the run and the auxiliary sequence."
        ),
        implemented_by="fedtheory.language.assumptions:lipschitz_losses",
    ),
    claim_at_points.assumption("assumption-3", "Smoothness", "p. 2, assumption 3)")(
        chain=(gradient_change_sq(F_i), "<=", beta**2 * points_distance_sq),
        printed=(
            r"F_i(w)\text{ is }\beta\text{-smooth: }\|\nabla F_i(w)-\nabla F_i(w')\|\le\beta\|w-w'\|,\ \forall w,w'"
        ),
        note=_SQUARED + "beta is the largest eigenvalue of the clients' Hessians.",
        implemented_by="fedtheory.language.assumptions:convex_and_smooth",
    ),
    claim_at_points.proved.inequality(
        "smooth-property-1", "Smoothness of a convex function, at the other end", "p. 2, property (1)"
    )(
        chain=(gap_below_tangent(F_i).left, "<=", gap_below_tangent(F_i).right),
        also=(gap_below_tangent(F),),
        printed=r"f(w)-f(w')\le\nabla f(w)^T(w-w')-\frac{1}{2\beta}\|\nabla f(w)-\nabla f(w')\|^2",
        note="Checked for f = F_i and for f = F.",
    ),
    claim_at_points.proved.inequality("smooth-property-2", "The error of a linear approximation", "p. 2, property (2)")(
        chain=(gap_above_tangent(F_i) ** 2, "<=", (beta / 2 * points_distance_sq) ** 2),
        also=(
            Relation(gap_above_tangent(F_i), ">=", 0),
            Relation(gap_above_tangent(F_i), "<=", beta / 2 * points_distance_sq),
            Relation(gap_above_tangent(F) ** 2, "<=", (beta / 2 * points_distance_sq) ** 2),
            Relation(gap_above_tangent(F), ">=", 0),
            Relation(gap_above_tangent(F), "<=", beta / 2 * points_distance_sq),
        ),
        printed=(
            r"|f(w)-f(w')-\nabla f(w')^T(w-w')|\le\frac\beta2\|w-w'\|^2;\quad \text{plus convexity: }"
            r"f(w)-f(w')-\nabla f(w')^T(w-w')\in\left[0,\tfrac\beta2\|w-w'\|^2\right]"
        ),
        note=(
            "The absolute values are squared.  The factor beta/2 is reconstructed: the transcription is broken there.  "
            "Checked for f = F_i and for f = F."
        ),
    ),
    claim_at_points.supported.condition("inherit", "F inherits the three properties", "p. 2, remark (2)")(
        chain=(lambda_min, ">=", 0),
        also=(
            Relation(rho_mean**2, "<=", rho**2),
            Relation(beta_mean, "<=", beta),
            Relation(change_sq(F), "<=", rho**2 * points_distance_sq),
            Relation(gradient_change_sq(F), "<=", beta**2 * points_distance_sq),
        ),
        printed=r"F(w)\text{ is convex, }\rho\text{-Lipschitz, }\beta\text{-smooth, due to }F(w)=\sum_iP_iF_i(w)",
        note="F's own constants are at most those of the F_i: its curvatures, and its Lipschitz constant on the ball.",
    ),
    claim.definition("divergence", "Gradient divergence", "p. 2")(
        chain=(norm_sq(Gradient(F_i, w) - Gradient(F, w)), "<=", delta_i**2),
        place="points",
        assumptions=WITH_DIVERGENCE,
        printed=r"\|\nabla F_i(w)-\nabla F(w)\|\le\delta_i,\quad\delta\triangleq\frac{\sum_{i=1}^ND_i\delta_i}{D}",
        note=(
            "Both sides are squared, so that they are rational numbers.  For clients with different Hessians no "
            "delta_i exists on all of space; there it is the smallest constant on a ball that contains the run."
        ),
        implemented_by="fedtheory.language.assumptions:bounded_dissimilarity",
    ),
]

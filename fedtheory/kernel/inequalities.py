"""Inequalities that certificates may use: scalars that are non-negative in every context.

A certificate refers to an inequality by its name and its arguments.  This module
alone defines the names, and the non-negative scalar of each in a context.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Concatenate, ParamSpec

from fedtheory.kernel.context import Context
from fedtheory.kernel.expressions import (
    ONE,
    ZERO,
    Average,
    Expr,
    Gradient,
    Inner,
    LocalSum,
    Selected,
    Symbol,
    Value,
    total,
)
from fedtheory.kernel.forms import difference, length, scalar, vector
from fedtheory.kernel.quotients import Rejected


@dataclass(frozen=True)
class Inequality:
    """A scalar that is non-negative in a context."""

    name: str
    expression: Expr
    requires: Expr = ZERO
    """A number that must be non-negative for the inequality to hold."""


@dataclass(frozen=True)
class InequalityRef:
    """An inequality by its name, with its arguments: vectors, objectives, numbers and names."""

    kind: str
    about: tuple[Expr | str, ...] = ()

    def instantiate(self, context: Context) -> Inequality:
        """Return the inequality in a context; raise `Rejected` if the context lacks what it needs."""
        if self.kind not in INEQUALITIES:
            raise Rejected(f"there is no inequality called {self.kind!r}")
        return INEQUALITIES[self.kind](context, *self.about)


INEQUALITIES: dict[str, Callable[..., Inequality]] = {}
"""Inequalities by name."""
_P = ParamSpec("_P")


def _register(says: Callable[Concatenate[Context, _P], Inequality]) -> Callable[_P, InequalityRef]:
    """Register a function that builds an inequality, and return a function that refers to it by name."""
    INEQUALITIES[says.__name__] = says

    def refer(*about: _P.args, **_named: _P.kwargs) -> InequalityRef:
        """Refer to the inequality with these arguments."""
        return InequalityRef(says.__name__, about)

    # Editors and `help` show the parameters without the context.
    refer.__doc__, refer.__name__ = says.__doc__, says.__name__
    of_says = signature(says)
    shown = of_says.replace(parameters=[*of_says.parameters.values()][1:], return_annotation=InequalityRef)
    refer.__signature__ = shown  # type: ignore[attr-defined]
    return refer


def subjects(kind: str) -> list[Parameter]:
    """Return the parameters of an inequality after the context, in order; raise `Rejected` if the name is unknown."""
    if kind not in INEQUALITIES:
        raise Rejected(f"there is no inequality called {kind!r}")
    return list(signature(INEQUALITIES[kind]).parameters.values())[1:]


@_register
def square(_context: Context, of: Expr) -> Inequality:
    """``|of|^2``."""
    return Inequality("square", Inner(of, of))


@_register
def steps(context: Context, of: Expr) -> Inequality:
    """``K sum_k |v_k|^2 - |sum_k v_k|^2`` over K local steps, K >= 0."""
    whole, squares = LocalSum(of), context.number_of_steps * LocalSum(Inner(of, of))
    return Inequality("Cauchy-Schwarz over steps", squares - Inner(whole, whole))


@_register
def weighted(_context: Context, weight: Expr, number: Expr, of: Expr) -> Inequality:
    """``mean(w c^2) mean(w |v|^2) - |mean(w c v)|^2`` over clients, for numbers w >= 0 of the clients."""
    together = Average(weight * number * of)
    squares = Average(weight * number**2) * Average(weight * Inner(of, of))
    return Inequality("Cauchy-Schwarz over clients", squares - Inner(together, together), requires=weight)


@_register
def unweighted(context: Context, of: Expr) -> Inequality:
    """``M mean(p_i |v_i|^2) - |mean(v_i)|^2`` for a mean with client weights p_i over M clients."""
    if context.clients is None or context.share is None:
        raise Rejected("the context does not state the number of clients and their weights")
    squares = context.clients * Average(context.share * Inner(of, of))
    return Inequality("Cauchy-Schwarz over clients", squares - Inner(Average(of), Average(of)))


@_register
def one(_context: Context) -> Inequality:
    """Return the number one; its coefficient is the part of the right side that no other term uses."""
    return Inequality("a number", ONE)


@_register
def convexity(context: Context, objective: Symbol, at: Expr, around: Expr) -> Inequality:
    """``f(at) - f(around) - <grad f(around), at - around>`` of a convex f."""
    _require(objective, context.convex, "convex")
    return Inequality("convexity gap", _measure_gap(objective, at, around))


@_register
def strong_convexity(context: Context, objective: Symbol, at: Expr, around: Expr) -> Inequality:
    """``f(at) - f(around) - <grad f(around), at - around> - mu/2 |at - around|^2`` of a mu-strongly convex f."""
    quadratic_term = (
        _find_constant(objective, context.strongly_convex, "strongly convex") / 2 * Inner(at - around, at - around)
    )
    return Inequality("strong convexity", _measure_gap(objective, at, around) - quadratic_term)


@_register
def smoothness(context: Context, objective: Symbol, at: Expr, around: Expr) -> Inequality:
    """``f(around) + <grad f(around), at - around> + L/2 |at - around|^2 - f(at)`` of an L-smooth f."""
    bound = _find_constant(objective, context.smooth, "smooth") / 2 * Inner(at - around, at - around)
    return Inequality("smoothness gap", bound - _measure_gap(objective, at, around))


@_register
def cocoercivity(context: Context, objective: Symbol, at: Expr, around: Expr) -> Inequality:
    """``f(at) - f(around) - <grad f(around), at - around> - |grad f(at) - grad f(around)|^2/(2 L)`` of a convex f."""
    _require(objective, context.convex, "convex")
    change = Gradient(objective, at) - Gradient(objective, around)
    lost = Inner(change, change) / (2 * _find_constant(objective, context.smooth, "smooth"))
    return Inequality("co-coercivity", _measure_gap(objective, at, around) - lost)


@_register
def interpolation(context: Context, objective: Symbol, at: Expr, around: Expr) -> Inequality:
    """``(L - mu) (gap - mu/2 |at - around|^2) - |change - mu (at - around)|^2 / 2`` of an L-smooth, mu-convex f.

    The gap is that of `convexity`, the change that of the gradient.  mu is the constant of strong convexity, 0 if f
    is only convex, and -L if it is not known to be convex.  The function f - mu/2 |x|^2 is convex and (L - mu)-smooth,
    hence co-coercive; multiplying by L - mu avoids a division, and for L = mu its gradient is constant.
    """
    smooth = _find_constant(objective, context.smooth, "smooth")
    curvature = context.strongly_convex.get(objective, ZERO if objective in context.convex else -smooth)
    change = Gradient(objective, at) - Gradient(objective, around) - curvature * (at - around)
    gap = _measure_gap(objective, at, around) - curvature / 2 * Inner(at - around, at - around)
    return Inequality("interpolation", (smooth - curvature) * gap - Inner(change, change) / 2)


@_register
def lipschitz_gradient(context: Context, objective: Symbol, at: Expr, around: Expr) -> Inequality:
    """``L^2 |at - around|^2 - |grad f(at) - grad f(around)|^2`` of an L-smooth f."""
    change = Gradient(objective, at) - Gradient(objective, around)
    bound = _find_constant(objective, context.smooth, "smooth") ** 2 * Inner(at - around, at - around)
    return Inequality("Lipschitz gradient", bound - Inner(change, change))


@_register
def triangle(_context: Context, *vectors: Expr) -> Inequality:
    """``|u| + |v| + ... - |u + v + ...|``."""
    return Inequality("triangle inequality", total(map(length, vectors)) - length(total(vectors)))


@_register
def cauchy_schwarz(_context: Context, left: Expr, right: Expr) -> Inequality:
    """``|u| |v| - <u, v>``."""
    return Inequality("Cauchy-Schwarz inequality", length(left) * length(right) - Inner(left, right))


@_register
def square_of_lengths(_context: Context, left: Expr, right: Expr) -> Inequality:
    """``(|u| - |v|)^2``."""
    squares = Inner(left, left) + Inner(right, right)
    return Inequality("square of a difference of norms", squares - 2 * length(left) * length(right))


@_register
def length_of_mean(_context: Context, of: Expr) -> Inequality:
    """``mean(|v_i|) - |mean(v_i)|`` over clients."""
    excess = Average(length(of)) - length(Average(of))
    return Inequality("the norm of an average is at most the average norm", excess)


@_register
def mean_of_drawn(context: Context, of: Expr) -> Inequality:
    """``mean(|v_i|^2) - E|v|^2`` for the average v over the participants of a round."""
    if not context.of_a_round or context.participants is None:
        raise Rejected("no participants are sampled, or their number is not stated")
    if any(basis.atoms(Selected) for basis in vector(of, context)):
        raise Rejected(f"{of} depends on the participants")
    drawn = Selected(of)
    return Inequality("Jensen's inequality for participants", Average(Inner(of, of)) - Inner(drawn, drawn))


@_register
def lipschitz_gradient_length(context: Context, objective: Symbol, at: Expr, around: Expr) -> Inequality:
    """``L |at - around| - |grad f(at) - grad f(around)|`` of an L-smooth f."""
    change = Gradient(objective, at) - Gradient(objective, around)
    bound = _find_constant(objective, context.smooth, "smooth") * length(at - around)
    return Inequality("Lipschitz gradient", bound - length(change))


@_register
def lipschitz(context: Context, objective: Symbol, at: Expr, around: Expr) -> Inequality:
    """``rho |at - around| - (f(at) - f(around))`` of an f that is rho-Lipschitz in the region of the iterates."""
    bound = _find_constant(objective, context.lipschitz, "Lipschitz") * length(at - around)
    for point in (at, around):
        if point not in context.visited:
            raise Rejected(f"{point} may lie where the constant of {objective} does not hold")
    change = Value(objective, at) - Value(objective, around)
    return Inequality("Lipschitz objective", bound - change)


@_register
def root(context: Context, name: str, bound: Expr, of: Expr) -> Inequality:
    """``c - |v|`` for a number c >= 0, if ``c^2 - |v|^2`` is the slack of an assumption."""
    slack = _find_assumed(name, context)
    if difference(scalar(slack + Inner(of, of), context), scalar(context.numbers.known(bound) ** 2, context)):
        raise Rejected(f"{name!r} does not bound the length of {of} by {bound}")
    return Inequality(f"the root of: {name}", bound - length(of), requires=bound)


@_register
def optimality(context: Context, objective: Symbol, at: Expr) -> Inequality:
    """``f(at) - f(x*)`` for a minimiser x* of f."""
    least = Value(objective, _find_constant(objective, context.minimisers, "minimised somewhere"))
    return Inequality("optimality", Value(objective, at) - least)


@_register
def assumption(context: Context, name: str) -> Inequality:
    """Return the slack of an assumption of the claim, by its name."""
    return Inequality(name, _find_assumed(name, context))


def _find_assumed(name: str, context: Context) -> Expr:
    """Return the slack of an assumed bound; raise Rejected if the claim does not assume it."""
    if name not in context.assumed:
        known = ", ".join(map(repr, context.assumed)) or "no bound on noise or gradients"
        hint = "; a proved claim is named in lemmas=(ID,) of the certificate" if ":" in name else ""
        raise Rejected(f"the claim does not assume {name!r}: it assumes {known}{hint}")
    return context.assumed[name]


def _measure_gap(objective: Symbol, at: Expr, around: Expr) -> Expr:
    """Return f(at) - f(around) - <grad f(around), at - around>."""
    return Value(objective, at) - Value(objective, around) - Inner(Gradient(objective, around), at - around)


def _find_constant(objective: Symbol, known: Mapping[Symbol, Expr], what: str) -> Expr:
    """Return the constant of an objective's property."""
    _require(objective, known, what)
    return known[objective]


def _require(objective: Symbol, known: Container[Symbol], what: str) -> None:
    if objective not in known:
        raise Rejected(f"{objective} is not known to be {what}")

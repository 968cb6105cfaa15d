"""Reasons: what is not negative, and why.

A reason is a name and what it is about.  Which names there are, and what each
of them says in a theory, stands in this module and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Concatenate, ParamSpec

from fedtheory.kernel.expressions import (
    ONE,
    ZERO,
    Average,
    Expr,
    Gradient,
    Inner,
    Letter,
    LocalSum,
    Selected,
    Value,
    total,
)
from fedtheory.kernel.forms import difference, length, scalar, vector
from fedtheory.kernel.quotients import Rejected
from fedtheory.kernel.theory import Theory


@dataclass(frozen=True)
class Reason:
    """A scalar that is not negative in the theory."""

    name: str
    expression: Expr
    requires: Expr = ZERO
    """A number for which this holds only if it is not negative."""


@dataclass(frozen=True)
class Because:
    """A reason by its name, with the vectors, objectives, numbers and names that it is about."""

    kind: str
    about: tuple[Expr | str, ...] = ()

    def in_theory(self, theory: Theory) -> Reason:
        """Return the slack of an inequality in a theory; raises `Rejected` where either has none of that name."""
        if self.kind not in REASONS:
            raise Rejected(f"there is no reason called {self.kind!r}")
        return REASONS[self.kind](theory, *self.about)


REASONS: dict[str, Callable[..., Reason]] = {}
"""What each reason says, by its name."""
_P = ParamSpec("_P")


def _reason(says: Callable[Concatenate[Theory, _P], Reason]) -> Callable[_P, Because]:
    """A reason that goes by the name of the function that says what it is."""
    REASONS[says.__name__] = says

    def because(*about: _P.args, **_named: _P.kwargs) -> Because:
        return Because(says.__name__, about)

    # Editors and `help` show the name and the arguments in their order.
    because.__doc__, because.__name__ = says.__doc__, says.__name__
    of_says = signature(says)
    because.__signature__ = of_says.replace(parameters=[*of_says.parameters.values()][1:], return_annotation=Because)  # type: ignore[attr-defined]
    return because


def subjects(kind: str) -> list[Parameter]:
    """Return the subjects of an inequality in order, the parameters behind the theory; raises `Rejected` if unknown."""
    if kind not in REASONS:
        raise Rejected(f"there is no reason called {kind!r}")
    return list(signature(REASONS[kind]).parameters.values())[1:]


@_reason
def square(_theory: Theory, of: Expr) -> Reason:
    """``|of|^2``."""
    return Reason("square", Inner(of, of))


@_reason
def steps(theory: Theory, of: Expr) -> Reason:
    """``K sum_k |v_k|^2 - |sum_k v_k|^2`` over K local steps, none or more."""
    total = LocalSum(of)
    return Reason("Cauchy-Schwarz over steps", theory.number_of_steps * LocalSum(Inner(of, of)) - Inner(total, total))


@_reason
def weighted(_theory: Theory, weight: Expr, number: Expr, of: Expr) -> Reason:
    """``mean(w c^2) mean(w |v|^2) - |mean(w c v)|^2`` over clients, for numbers w of theirs that are not negative."""
    together = Average(weight * number * of)
    squares = Average(weight * number**2) * Average(weight * Inner(of, of))
    return Reason("Cauchy-Schwarz over clients", squares - Inner(together, together), requires=weight)


@_reason
def unweighted(theory: Theory, of: Expr) -> Reason:
    """``M mean(p_i |v_i|^2) - |mean(v_i)|^2`` for a mean with shares p_i over M clients."""
    if theory.clients is None or theory.share is None:
        raise Rejected("the theory does not say how many clients there are, and with what shares")
    squares = theory.clients * Average(theory.share * Inner(of, of))
    return Reason("Cauchy-Schwarz over clients", squares - Inner(Average(of), Average(of)))


@_reason
def one(_theory: Theory) -> Reason:
    """The number one: its coefficient is what is left of the right side."""
    return Reason("a number", ONE)


@_reason
def convexity(theory: Theory, objective: Letter, at: Expr, around: Expr) -> Reason:
    """``f(at) - f(around) - <grad f(around), at - around>`` of a convex f."""
    _require(objective, theory.convex, "convex")
    return Reason("convexity gap", _linearisation_gap(objective, at, around))


@_reason
def strong_convexity(theory: Theory, objective: Letter, at: Expr, around: Expr) -> Reason:
    """``f(at) - f(around) - <grad f(around), at - around> - mu/2 |at - around|^2`` of a mu-strongly convex f."""
    bend = _constant(objective, theory.strongly_convex, "strongly convex") / 2 * Inner(at - around, at - around)
    return Reason("strong convexity", _linearisation_gap(objective, at, around) - bend)


@_reason
def smoothness(theory: Theory, objective: Letter, at: Expr, around: Expr) -> Reason:
    """``f(around) + <grad f(around), at - around> + L/2 |at - around|^2 - f(at)`` of an L-smooth f."""
    bound = _constant(objective, theory.smooth, "smooth") / 2 * Inner(at - around, at - around)
    return Reason("smoothness gap", bound - _linearisation_gap(objective, at, around))


@_reason
def cocoercivity(theory: Theory, objective: Letter, at: Expr, around: Expr) -> Reason:
    """``f(at) - f(around) - <grad f(around), at - around> - |grad f(at) - grad f(around)|^2/(2 L)`` of a convex f."""
    _require(objective, theory.convex, "convex")
    apart = Gradient(objective, at) - Gradient(objective, around)
    lost = Inner(apart, apart) / (2 * _constant(objective, theory.smooth, "smooth"))
    return Reason("co-coercivity", _linearisation_gap(objective, at, around) - lost)


@_reason
def lipschitz_gradient(theory: Theory, objective: Letter, at: Expr, around: Expr) -> Reason:
    """``L^2 |at - around|^2 - |grad f(at) - grad f(around)|^2`` of an L-smooth f."""
    apart = Gradient(objective, at) - Gradient(objective, around)
    bound = _constant(objective, theory.smooth, "smooth") ** 2 * Inner(at - around, at - around)
    return Reason("Lipschitz gradient", bound - Inner(apart, apart))


@_reason
def triangle(_theory: Theory, *vectors: Expr) -> Reason:
    """``|u| + |v| + ... - |u + v + ...|``."""
    return Reason("triangle inequality", total(map(length, vectors)) - length(total(vectors)))


@_reason
def length_of_mean(_theory: Theory, of: Expr) -> Reason:
    """The mean of ``|v_i|`` over the clients, minus the length of the mean of ``v_i``."""
    apart = Average(length(of)) - length(Average(of))
    return Reason("a mean is not longer than its members in the mean", apart)


@_reason
def mean_of_drawn(theory: Theory, of: Expr) -> Reason:
    """The mean of ``|v_i|^2`` over the clients, minus ``|v|^2`` for the mean v over those that are drawn in a round."""
    if not theory.of_a_round or theory.participants is None:
        raise Rejected("nobody is drawn, or it is not said how many are")
    if any(basis.atoms(Selected) for basis in vector(of, theory)):
        raise Rejected(f"{of} depends on who is drawn")
    drawn = Selected(of)
    return Reason("Jensen's inequality for those that are drawn", Average(Inner(of, of)) - Inner(drawn, drawn))


@_reason
def lipschitz_gradient_length(theory: Theory, objective: Letter, at: Expr, around: Expr) -> Reason:
    """``L |at - around| - |grad f(at) - grad f(around)|`` of an L-smooth f."""
    apart = Gradient(objective, at) - Gradient(objective, around)
    bound = _constant(objective, theory.smooth, "smooth") * length(at - around)
    return Reason("Lipschitz gradient", bound - length(apart))


@_reason
def lipschitz(theory: Theory, objective: Letter, at: Expr, around: Expr) -> Reason:
    """``rho |at - around| - (f(at) - f(around))`` of an f that is rho-Lipschitz where the run is."""
    bound = _constant(objective, theory.lipschitz, "Lipschitz") * length(at - around)
    for point in (at, around):
        if point not in theory.visited:
            raise Rejected(f"{point} may lie where the constant of {objective} does not hold")
    apart = Value(objective, at) - Value(objective, around)
    return Reason("Lipschitz objective", bound - apart)


@_reason
def root(theory: Theory, name: str, bound: Expr, of: Expr) -> Reason:
    """``c - |v|`` for a number c that is not negative, where ``c^2 - |v|^2`` is the slack of an assumption."""
    slack = _assumed(name, theory)
    if difference(scalar(slack + Inner(of, of), theory), scalar(theory.numbers.known(bound) ** 2, theory)):
        raise Rejected(f"{name!r} does not bound the length of {of} by {bound}")
    return Reason(f"the root of: {name}", bound - length(of), requires=bound)


@_reason
def optimality(theory: Theory, objective: Letter, at: Expr) -> Reason:
    """``f(at) - f(x*)`` for a minimiser x* of f."""
    least = Value(objective, _constant(objective, theory.minimisers, "minimised somewhere"))
    return Reason("optimality", Value(objective, at) - least)


@_reason
def assumption(theory: Theory, name: str) -> Reason:
    """The slack of an assumption of the claim, by its name."""
    return Reason(name, _assumed(name, theory))


def _assumed(name: str, theory: Theory) -> Expr:
    if name not in theory.assumed:
        known = ", ".join(map(repr, theory.assumed)) or "no bound on noise or gradients"
        raise Rejected(f"the theory does not assume {name!r}: it assumes {known}")
    return theory.assumed[name]


def _linearisation_gap(objective: Letter, at: Expr, around: Expr) -> Expr:
    return Value(objective, at) - Value(objective, around) - Inner(Gradient(objective, around), at - around)


def _constant(objective: Letter, known: Mapping[Letter, Expr], what: str) -> Expr:
    """Return the constant of an objective's property."""
    _require(objective, known, what)
    return known[objective]


def _require(objective: Letter, known: Container[Letter], what: str) -> None:
    if objective not in known:
        raise Rejected(f"{objective} is not known to be {what}")

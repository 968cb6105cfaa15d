"""Reasons: what is not negative, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp

from fedtheory.kernel.expressions import Average, Expr, Gradient, Inner, LocalSum, Selected, Value
from fedtheory.kernel.forms import length, vector
from fedtheory.kernel.numbers import Rejected
from fedtheory.kernel.theory import Theory


@dataclass(frozen=True)
class Reason:
    """A scalar that is not negative in the theory."""

    name: str
    expression: Expr
    requires: Expr = sp.S.Zero
    """A number for which this holds only if it is not negative."""


@dataclass(frozen=True)
class Because:
    """One of the reasons of this module, for its vectors; a theory makes a scalar of it, or rejects it."""

    in_theory: Callable[[Theory], Reason]


def square(of: Expr) -> Because:
    """``|v|^2``."""
    return Because(lambda _theory: Reason("square", Inner(of, of)))


def steps(of: Expr) -> Because:
    """``K sum_k |v_k|^2 - |sum_k v_k|^2`` over K local steps, none or more."""

    def reason(theory: Theory) -> Reason:
        if theory.local_steps is None:
            raise Rejected("the theory does not say how many local steps there are")
        total = LocalSum(of)
        return Reason("Cauchy-Schwarz over steps", theory.local_steps * LocalSum(Inner(of, of)) - Inner(total, total))

    return Because(reason)


def weighted(weight: Expr, number: Expr, of: Expr) -> Because:
    """``mean(w c^2) mean(w |v|^2) - |mean(w c v)|^2`` over clients, for numbers w of theirs that are not negative."""

    def reason(_theory: Theory) -> Reason:
        together = Average(weight * number * of)
        squares = Average(weight * number**2) * Average(weight * Inner(of, of))
        return Reason("Cauchy-Schwarz over clients", squares - Inner(together, together), requires=weight)

    return Because(reason)


def unweighted(of: Expr) -> Because:
    """``M mean(p_i |v_i|^2) - |mean(v_i)|^2`` for a mean with shares p_i over M clients."""

    def reason(theory: Theory) -> Reason:
        if theory.clients is None or theory.share is None:
            raise Rejected("the theory does not say how many clients there are, and with what shares")
        squares = theory.clients * Average(theory.share * Inner(of, of))
        return Reason("Cauchy-Schwarz over clients", squares - Inner(Average(of), Average(of)))

    return Because(reason)


def one() -> Because:
    """The number one: its coefficient is what is left of the right side."""
    return Because(lambda _theory: Reason("a number", sp.S.One))


def convexity(objective: sp.Symbol, at: Expr, around: Expr) -> Because:
    """``f(y) - f(x) - <grad f(x), y - x>`` of a convex f."""

    def reason(theory: Theory) -> Reason:
        if objective not in theory.convex:
            raise Rejected(f"{objective} is not known to be convex")
        return Reason("convexity gap", _linearisation_gap(objective, at, around))

    return Because(reason)


def strong_convexity(objective: sp.Symbol, at: Expr, around: Expr) -> Because:
    """``f(y) - f(x) - <grad f(x), y - x> - nu/2 |y - x|^2`` of a nu-strongly convex f."""

    def reason(theory: Theory) -> Reason:
        if objective not in theory.strongly_convex:
            raise Rejected(f"{objective} is not known to be strongly convex")
        bend = theory.strongly_convex[objective] / 2 * Inner(at - around, at - around)
        return Reason("strong convexity", _linearisation_gap(objective, at, around) - bend)

    return Because(reason)


def smoothness(objective: sp.Symbol, at: Expr, around: Expr) -> Because:
    """``f(x) + <grad f(x), y - x> + L/2 |y - x|^2 - f(y)`` of an L-smooth f."""

    def reason(theory: Theory) -> Reason:
        bound = _smoothness(objective, theory) / 2 * Inner(at - around, at - around)
        return Reason("smoothness gap", bound - _linearisation_gap(objective, at, around))

    return Because(reason)


def cocoercivity(objective: sp.Symbol, at: Expr, around: Expr) -> Because:
    """``f(y) - f(x) - <grad f(x), y - x> - |grad f(y) - grad f(x)|^2 / (2 L)`` of a convex L-smooth f."""

    def reason(theory: Theory) -> Reason:
        if objective not in theory.convex:
            raise Rejected(f"{objective} is not known to be convex")
        apart = Gradient(objective, at) - Gradient(objective, around)
        lost = Inner(apart, apart) / (2 * _smoothness(objective, theory))
        return Reason("co-coercivity", _linearisation_gap(objective, at, around) - lost)

    return Because(reason)


def lipschitz_gradient(objective: sp.Symbol, at: Expr, around: Expr) -> Because:
    """``L^2 |y - x|^2 - |grad f(y) - grad f(x)|^2`` of an L-smooth f."""

    def reason(theory: Theory) -> Reason:
        apart = Gradient(objective, at) - Gradient(objective, around)
        bound = _smoothness(objective, theory) ** 2 * Inner(at - around, at - around)
        return Reason("Lipschitz gradient", bound - Inner(apart, apart))

    return Because(reason)


def triangle(*vectors: Expr) -> Because:
    """``|u| + |v| + ... - |u + v + ...|``."""
    lengths = sp.Add(*map(length, vectors))
    return Because(lambda _theory: Reason("triangle inequality", lengths - length(sp.Add(*vectors))))


def length_of_mean(of: Expr) -> Because:
    """The mean of ``|v_i|`` over the clients, minus the length of the mean of ``v_i``."""
    apart = Average(length(of)) - length(Average(of))
    return Because(lambda _theory: Reason("a mean is not longer than its members in the mean", apart))


def mean_of_drawn(of: Expr) -> Because:
    """The mean of ``|v_i|^2`` over the clients, minus ``|v|^2`` for the mean v over those that are drawn in a round."""

    def reason(theory: Theory) -> Reason:
        if not theory.of_a_round or theory.participants is None:
            raise Rejected("nobody is drawn, or it is not said how many are")
        if any(basis.atoms(Selected) for basis in vector(of, theory)):
            raise Rejected(f"{of} depends on who is drawn")
        drawn = Selected(of)
        return Reason("Jensen's inequality for those that are drawn", Average(Inner(of, of)) - Inner(drawn, drawn))

    return Because(reason)


def lipschitz_gradient_length(objective: sp.Symbol, at: Expr, around: Expr) -> Because:
    """``L |y - x| - |grad f(y) - grad f(x)|`` of an L-smooth f."""

    def reason(theory: Theory) -> Reason:
        apart = Gradient(objective, at) - Gradient(objective, around)
        return Reason("Lipschitz gradient", _smoothness(objective, theory) * length(at - around) - length(apart))

    return Because(reason)


def lipschitz(objective: sp.Symbol, at: Expr, around: Expr) -> Because:
    """``rho |y - x| - (f(y) - f(x))`` of a rho-Lipschitz f."""

    def reason(theory: Theory) -> Reason:
        if objective not in theory.lipschitz:
            raise Rejected(f"{objective} is not known to be Lipschitz")
        apart = Value(objective, at) - Value(objective, around)
        return Reason("Lipschitz objective", theory.lipschitz[objective] * length(at - around) - apart)

    return Because(reason)


def root(name: str, bound: Expr, of: Expr) -> Because:
    """``c - |v|`` for a number c that is not negative, where ``c^2 - |v|^2`` is the slack of an assumption."""

    def reason(theory: Theory) -> Reason:
        slack = assumption(name).in_theory(theory).expression
        if sp.expand(theory.numbers.known(sp.expand(slack + Inner(of, of))) - theory.numbers.known(bound) ** 2) != 0:
            raise Rejected(f"{name!r} does not bound the length of {of} by {bound}")
        return Reason(f"the root of: {name}", bound - length(of), requires=bound)

    return Because(reason)


def optimality(objective: sp.Symbol, at: Expr) -> Because:
    """``f(x) - f(x*)`` for a minimiser x*."""

    def reason(theory: Theory) -> Reason:
        if objective not in theory.minimisers:
            raise Rejected(f"{objective} is not known to have a minimiser")
        return Reason("optimality", Value(objective, at) - Value(objective, theory.minimisers[objective]))

    return Because(reason)


def assumption(name: str) -> Because:
    """The slack of a stated assumption."""

    def reason(theory: Theory) -> Reason:
        if name not in theory.assumed:
            raise Rejected(f"the theory does not assume {name!r}")
        return Reason(name, theory.assumed[name])

    return Because(reason)


def _linearisation_gap(objective: sp.Symbol, at: Expr, around: Expr) -> Expr:
    return Value(objective, at) - Value(objective, around) - Inner(Gradient(objective, around), at - around)


def _smoothness(objective: sp.Symbol, theory: Theory) -> Expr:
    if objective not in theory.smooth:
        raise Rejected(f"{objective} is not known to be smooth")
    return theory.smooth[objective]

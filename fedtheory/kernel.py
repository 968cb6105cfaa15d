"""The proof kernel: everything that a certificate is trusted for is in this module.

A lemma ``lhs <= rhs`` is proved by an identity

    rhs - lhs  =  sum_j  c_j * N_j,       c_j >= 0 under its conditions, N_j >= 0 for a named reason.

The kernel knows vectors and objectives, means over clients and expectations,
and no claims.  It brings both sides of the identity into a normal form, where
the residual must vanish, and decides the sign of each coefficient.

All scalars are in expectation.  A vector that is declared as noise has mean
zero given all vectors that do not contain it, and different clients' noises
are independent.  Means over clients have equal weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import sympy as sp

from fedtheory.expressions import Average, Expectation, Expr, Gradient, Inner, Value

Form = dict[Expr, Expr]
"""Coefficients of basis vectors, or of monomials: inner products of basis vectors, function values, and one."""


class Rejected(Exception):
    """An expression outside the kernel's language, or a reason outside the theory."""


@dataclass(frozen=True, kw_only=True)
class Theory:
    """What the letters of a proof are, and what is known of them."""

    scalars: frozenset[sp.Symbol] = frozenset()
    """Numbers that all clients share; the signs of coefficients are decided with what SymPy is told of them."""
    vectors: frozenset[sp.Symbol] = frozenset()
    """Vectors that all clients share."""
    client_vectors: frozenset[sp.Symbol] = frozenset()
    """Vectors that each client has one of."""
    noise: frozenset[sp.Symbol] = frozenset()
    """Which of the vectors are fresh zero-mean noise."""
    clients: sp.Symbol | None = None
    """M, needed where noises are averaged over clients."""
    means: Mapping[sp.Symbol, sp.Symbol] = field(default_factory=dict)
    """Objectives that are means over clients: F is the mean of F_i."""
    client_objectives: frozenset[sp.Symbol] = frozenset()
    """Objectives that each client has one of."""
    convex: frozenset[sp.Symbol] = frozenset()
    """Objectives that are convex."""
    smooth: Mapping[sp.Symbol, Expr] = field(default_factory=dict)
    """Objectives with Lipschitz gradients, and the constants."""
    minimisers: Mapping[sp.Symbol, sp.Symbol] = field(default_factory=dict)
    """Objectives with a minimiser, where the gradient vanishes."""
    definitions: Mapping[sp.Symbol, Expr] = field(default_factory=dict)
    """Vectors that stand for an expression in others."""
    assumed: Mapping[str, Expr] = field(default_factory=dict)
    """Scalars that an assumption says are not negative, by its name."""


# Normal forms of vectors and of scalars.


def vector(expression: Expr, theory: Theory) -> Form:
    """A vector as a linear combination of basis vectors."""
    rules: dict[type, Callable[[], Form]] = {
        sp.Add: lambda: _sum(vector(part, theory) for part in expression.args),
        sp.Mul: lambda: _multiple(expression, theory, vector, _is_vector),
        Average: lambda: _mean(expression, theory),
        Gradient: lambda: _gradient(expression, theory),
        sp.Symbol: lambda: _letter(expression, theory),
    }
    rule = next((rules[kind] for kind in rules if isinstance(expression, kind)), None)
    if rule is None and expression != 0:
        raise Rejected(f"{expression} is not a vector of the theory")
    return rule() if rule is not None else {}


def _mean(expression: Expr, theory: Theory) -> Form:
    means = _sum({_mean_vector(b, theory): c} for b, c in vector(expression.args[0], theory).items())
    return {basis: c for basis, c in means.items() if not _is_mean_gradient_at_minimiser(basis, theory)}


def _is_mean_gradient_at_minimiser(basis: Expr, theory: Theory) -> bool:
    known = [(theory.means[f], at) for f, at in theory.minimisers.items() if f in theory.means]
    return any(basis == Average(Gradient(client, at)) for client, at in known)


def _letter(symbol: sp.Symbol, theory: Theory) -> Form:
    if symbol in theory.definitions:
        return vector(theory.definitions[symbol], theory)
    if symbol not in theory.vectors | theory.client_vectors:
        raise Rejected(f"{symbol} is not a vector of the theory")
    return {symbol: sp.S.One}


def scalar(expression: Expr, theory: Theory) -> Form:
    """A scalar as a linear combination of monomials."""
    rules: dict[type, Callable[[], Form]] = {
        sp.Add: lambda: _sum(scalar(part, theory) for part in expression.args),
        Expectation: lambda: scalar(expression.args[0], theory),
        Average: lambda: _sum(
            _scaled(_mean_scalar(m, theory), c) for m, c in scalar(expression.args[0], theory).items()
        ),
        Inner: lambda: _inner_product(expression, theory),
        Value: lambda: _value(expression, theory),
    }
    rule = next((rules[kind] for kind in rules if isinstance(expression, kind)), None)
    if rule is not None:
        return rule()
    if not _is_random(expression, theory):
        return {sp.S.One: _plain(expression, theory)} if expression != 0 else {}
    if not isinstance(expression, sp.Mul):
        raise Rejected(f"{expression} is not linear in inner products and function values")
    return _multiple(expression, theory, scalar, _is_random)


def _multiple(expression: Expr, theory: Theory, form: Callable[..., Form], belongs: Callable[..., bool]) -> Form:
    """A factor that has a form, times plain numbers."""
    inside = [factor for factor in expression.args if belongs(factor, theory)]
    if len(inside) != 1:
        raise Rejected(f"expected one vector or random factor in {expression}, got {len(inside)}")
    factor = sp.Mul(*(f for f in expression.args if f is not inside[0]))
    return _scaled(form(inside[0], theory), _plain(factor, theory))


def _plain(number: Expr, theory: Theory) -> Expr:
    """A number that is the same for all clients, so that it may leave a mean over them."""
    unknown = number.free_symbols - theory.scalars
    if unknown:
        raise Rejected(f"{', '.join(sorted(map(str, unknown)))} is no number that all clients share")
    return number


def _inner_product(expression: Expr, theory: Theory) -> Form:
    left, right = (vector(side, theory) for side in expression.args)
    pairs = product(left.items(), right.items())
    return _sum(_scaled(_inner(a, b, theory), c * d) for (a, c), (b, d) in pairs)


def _is_vector(expression: Expr, theory: Theory) -> bool:
    known = theory.vectors | theory.client_vectors | theory.definitions.keys()
    if isinstance(expression, Inner | Value):
        return False
    return (
        isinstance(expression, Gradient) or expression in known or any(_is_vector(a, theory) for a in expression.args)
    )


def _is_random(expression: Expr, theory: Theory) -> bool:
    return bool(expression.atoms(Inner, Value)) or _is_vector(expression, theory)


def _sum(forms: Iterable[Form]) -> Form:
    total: Form = {}
    for form in forms:
        for monomial, coefficient in form.items():
            total[monomial] = total.get(monomial, sp.S.Zero) + coefficient
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient != 0}


def _scaled(form: Form, factor: Expr) -> Form:
    return {monomial: factor * coefficient for monomial, coefficient in form.items()}


def _composed(form: Form) -> Expr:
    """A vector's normal form as an expression: points of gradients and values are compared as such."""
    return sp.Add(*(sp.cancel(coefficient) * basis for basis, coefficient in form.items()))


def _has_index(expression: Expr, theory: Theory) -> bool:
    """Whether something differs from client to client."""
    if isinstance(expression, Average):
        return False
    if expression in theory.client_vectors | theory.client_objectives:
        return True
    return any(_has_index(argument, theory) for argument in expression.args)


def _gradient(expression: Expr, theory: Theory) -> Form:
    objective, point = expression.args
    at = _composed(vector(point, theory))
    if theory.minimisers.get(objective) == at:
        return {}
    if objective in theory.means and not _has_index(at, theory):
        return vector(Average(Gradient(theory.means[objective], at)), theory)
    return {Gradient(objective, at): sp.S.One}


def _mean_vector(basis: Expr, theory: Theory) -> Expr:
    return Average(basis) if _has_index(basis, theory) else basis


def _value(expression: Expr, theory: Theory) -> Form:
    objective, point = expression.args
    at = _composed(vector(point, theory))
    if objective in theory.means and not _has_index(at, theory):
        return {Average(Value(theory.means[objective], at)): sp.S.One}
    return {Value(objective, at): sp.S.One}


def _mean_scalar(monomial: Expr, theory: Theory) -> Form:
    if isinstance(monomial, Inner):
        left, right = monomial.args
        if not (_has_index(left, theory) and _has_index(right, theory)):
            means = [_mean_vector(side, theory) for side in (left, right)]
            vanishes = any(_is_mean_gradient_at_minimiser(mean, theory) for mean in means)
            return {} if vanishes else {_sorted_inner(*means): sp.S.One}
    return {Average(monomial) if _has_index(monomial, theory) else monomial: sp.S.One}


def _sorted_inner(left: Expr, right: Expr) -> Expr:
    return Inner(*sorted((left, right), key=sp.default_sort_key))


def _inner(left: Expr, right: Expr, theory: Theory) -> Form:
    """The expected inner product of two basis vectors; that of fresh noise with the past vanishes."""
    noisy = [bool(side.free_symbols & theory.noise) for side in (left, right)]
    fresh = [_is_noise(side, theory) for side in (left, right)]
    if (fresh[0] and not noisy[1]) or (fresh[1] and not noisy[0]):
        return {}
    if fresh[0] and fresh[1]:
        return _noise_product(left, right, theory)
    return {_sorted_inner(left, right): sp.S.One}


def _is_noise(basis: Expr, theory: Theory) -> bool:
    """Whether a basis vector is fresh noise, or its mean over clients."""
    return basis in theory.noise or (isinstance(basis, Average) and basis.args[0] in theory.noise)


def _noise_product(left: Expr, right: Expr, theory: Theory) -> Form:
    """Noises of different names or clients are independent: a mean over M of them has 1/M of the variance."""
    names = [side.args[0] if isinstance(side, Average) else side for side in (left, right)]
    if names[0] != names[1]:
        return {}
    square, averaged = Inner(names[0], names[0]), [isinstance(side, Average) for side in (left, right)]
    if not any(averaged):
        return {square: sp.S.One}
    if theory.clients is None:
        raise Rejected("noise is averaged over clients, but the theory does not say how many there are")
    return {Average(square) if all(averaged) else square: 1 / theory.clients}


# Reasons: what is not negative, and why.


@dataclass(frozen=True)
class Reason:
    """A scalar that is not negative in the theory."""

    name: str
    expression: Expr


def square(of: Expr) -> Callable[[Theory], Reason]:
    """``|v|^2``."""
    return lambda _theory: Reason("square", Inner(of, of))


def convexity(objective: sp.Symbol, at: Expr, around: Expr) -> Callable[[Theory], Reason]:
    """``f(y) - f(x) - <grad f(x), y - x>`` of a convex f."""

    def reason(theory: Theory) -> Reason:
        if objective not in theory.convex:
            raise Rejected(f"{objective} is not known to be convex")
        return Reason("convexity gap", _linearisation_gap(objective, at, around))

    return reason


def smoothness(objective: sp.Symbol, at: Expr, around: Expr) -> Callable[[Theory], Reason]:
    """``f(x) + <grad f(x), y - x> + L/2 |y - x|^2 - f(y)`` of an L-smooth f."""

    def reason(theory: Theory) -> Reason:
        bound = _smoothness(objective, theory) / 2 * Inner(at - around, at - around)
        return Reason("smoothness gap", bound - _linearisation_gap(objective, at, around))

    return reason


def cocoercivity(objective: sp.Symbol, at: Expr, around: Expr) -> Callable[[Theory], Reason]:
    """``f(y) - f(x) - <grad f(x), y - x> - |grad f(y) - grad f(x)|^2 / (2 L)`` of a convex L-smooth f."""

    def reason(theory: Theory) -> Reason:
        if objective not in theory.convex:
            raise Rejected(f"{objective} is not known to be convex")
        apart = Gradient(objective, at) - Gradient(objective, around)
        lost = Inner(apart, apart) / (2 * _smoothness(objective, theory))
        return Reason("co-coercivity", _linearisation_gap(objective, at, around) - lost)

    return reason


def lipschitz_gradient(objective: sp.Symbol, at: Expr, around: Expr) -> Callable[[Theory], Reason]:
    """``L^2 |y - x|^2 - |grad f(y) - grad f(x)|^2`` of an L-smooth f."""

    def reason(theory: Theory) -> Reason:
        apart = Gradient(objective, at) - Gradient(objective, around)
        bound = _smoothness(objective, theory) ** 2 * Inner(at - around, at - around)
        return Reason("Lipschitz gradient", bound - Inner(apart, apart))

    return reason


def optimality(objective: sp.Symbol, at: Expr) -> Callable[[Theory], Reason]:
    """``f(x) - f(x*)`` for a minimiser x*."""

    def reason(theory: Theory) -> Reason:
        if objective not in theory.minimisers:
            raise Rejected(f"{objective} is not known to have a minimiser")
        return Reason("optimality", Value(objective, at) - Value(objective, theory.minimisers[objective]))

    return reason


def assumption(name: str) -> Callable[[Theory], Reason]:
    """The slack of a stated assumption."""

    def reason(theory: Theory) -> Reason:
        if name not in theory.assumed:
            raise Rejected(f"the theory does not assume {name!r}")
        return Reason(name, theory.assumed[name])

    return reason


def _linearisation_gap(objective: sp.Symbol, at: Expr, around: Expr) -> Expr:
    return Value(objective, at) - Value(objective, around) - Inner(Gradient(objective, around), at - around)


def _smoothness(objective: sp.Symbol, theory: Theory) -> Expr:
    if objective not in theory.smooth:
        raise Rejected(f"{objective} is not known to be smooth")
    return theory.smooth[objective]


# Signs: coefficients under conditions on positive symbols.


def is_nonnegative(coefficient: Expr, conditions: Sequence[Expr]) -> bool:
    """Whether a rational function of positive symbols is shown to be non-negative under the conditions.

    Integers at least one are written as 1 + s, and under ``x <= a`` x is written
    as a/(1 + s) with s >= 0, which is the same; then all coefficients of
    numerator and denominator must be non-negative.
    """
    if _has_nonnegative_coefficients(coefficient):
        return True
    return any(_has_nonnegative_coefficients(coefficient.xreplace(known)) for known in _parametrisations(conditions))


def _parametrisations(conditions: Sequence[Expr]) -> list[dict[Expr, Expr]]:
    found = []
    for number, condition in enumerate(conditions):
        slack = sp.Symbol(f"s_{number}", positive=True)
        ascending = condition.rel_op in ("<=", "<")
        smaller, larger = (condition.lhs, condition.rhs) if ascending else (condition.rhs, condition.lhs)
        if smaller.is_Symbol and smaller.is_positive and smaller not in larger.free_symbols:
            found.append({smaller: larger / (1 + slack)})
        if larger.is_Symbol and smaller.is_number:
            found.append({larger: smaller + slack})
    return found


def _has_nonnegative_coefficients(coefficient: Expr) -> bool:
    shifted = {s: 1 + sp.Symbol(f"{s.name}_more", positive=True) for s in coefficient.free_symbols if s.is_integer}
    if not all(symbol.is_positive or symbol.is_nonnegative for symbol in coefficient.free_symbols):
        return False
    numerator, denominator = sp.fraction(sp.cancel(sp.together(coefficient.xreplace(shifted))))
    signs = [_common_sign(part) for part in (numerator, denominator)]
    return None not in signs and (signs[0] == 0 or signs[0] == signs[1])


def _common_sign(part: Expr) -> int | None:
    """1 or -1 where all coefficients of a polynomial have this sign, 0 for the zero polynomial; None where mixed."""
    if part == 0:
        return 0
    symbols = sorted(part.free_symbols, key=str)
    coefficients = sp.Poly(part, *symbols).coeffs() if symbols else [part]
    if all(c > 0 for c in coefficients):
        return 1
    return -1 if all(c < 0 for c in coefficients) else None


# The check.


@dataclass(frozen=True)
class Term:
    """One term ``c * N`` of a certificate; with `averaged`, N is a mean over clients."""

    coefficient: Expr
    reason: Callable[[Theory], Reason]
    averaged: bool = False


@dataclass(frozen=True)
class Step:
    """One thing that the kernel has checked."""

    text: str
    holds: bool


def check(lhs: Expr, rhs: Expr, terms: Sequence[Term], theory: Theory, conditions: Sequence[Expr]) -> list[Step]:
    """Check that ``lhs <= rhs`` follows: every sign, then the identity."""
    residual, steps = _sum([scalar(rhs, theory), _scaled(scalar(lhs, theory), sp.S.NegativeOne)]), []
    for term in terms:
        _plain(term.coefficient, theory)
        reason = term.reason(theory)
        slack = Average(reason.expression) if term.averaged else reason.expression
        residual = _sum([residual, _scaled(scalar(slack, theory), -term.coefficient)])
        steps.append(
            Step(f"({term.coefficient}) >= 0, for: {reason.name}", is_nonnegative(term.coefficient, conditions))
        )
    left = {monomial: simple for monomial, c in residual.items() if (simple := sp.simplify(c)) != 0}
    text = "the identity" if not left else f"the identity; what is left over is {_composed(left)}"
    return [*steps, Step(text, not left)]

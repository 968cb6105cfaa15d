"""Normal forms: vectors in basis vectors, scalars in inner products, function values and one.

All scalars are in expectation.  A vector that is declared as noise has mean
zero given all vectors that do not contain it, and different clients' noises
are independent.  Means over clients have equal weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product

import sympy as sp

from fedtheory.expressions import Average, Expectation, Expr, Gradient, Inner, Value
from fedtheory.kernel.numbers import Rejected
from fedtheory.kernel.theory import Theory

Form = dict[Expr, Expr]
"""Coefficients of basis vectors, or of monomials: inner products of basis vectors, function values, and one."""


def vector(expression: Expr, theory: Theory) -> Form:
    """A vector as a linear combination of basis vectors."""
    rules: dict[type, Callable[[], Form]] = {
        sp.Add: lambda: added(vector(part, theory) for part in expression.args),
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
    means = added({_mean_vector(b, theory): c} for b, c in vector(expression.args[0], theory).items())
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
        sp.Add: lambda: added(scalar(part, theory) for part in expression.args),
        Expectation: lambda: scalar(expression.args[0], theory),
        Average: lambda: added(
            scaled(_mean_scalar(m, theory), c) for m, c in scalar(expression.args[0], theory).items()
        ),
        Inner: lambda: _inner_product(expression, theory),
        Value: lambda: _value(expression, theory),
    }
    rule = next((rules[kind] for kind in rules if isinstance(expression, kind)), None)
    if rule is not None:
        return rule()
    if not _is_random(expression, theory):
        return {sp.S.One: theory.numbers.plain(expression)} if expression != 0 else {}
    if not isinstance(expression, sp.Mul):
        raise Rejected(f"{expression} is not linear in inner products and function values")
    return _multiple(expression, theory, scalar, _is_random)


def _multiple(expression: Expr, theory: Theory, form: Callable[..., Form], belongs: Callable[..., bool]) -> Form:
    """A factor that has a form, times plain numbers."""
    inside = [factor for factor in expression.args if belongs(factor, theory)]
    if len(inside) != 1:
        raise Rejected(f"expected one vector or random factor in {expression}, got {len(inside)}")
    factor = sp.Mul(*(f for f in expression.args if f is not inside[0]))
    return scaled(form(inside[0], theory), theory.numbers.plain(factor))


def _inner_product(expression: Expr, theory: Theory) -> Form:
    left, right = (vector(side, theory) for side in expression.args)
    pairs = product(left.items(), right.items())
    return added(scaled(_inner(a, b, theory), c * d) for (a, c), (b, d) in pairs)


def _is_vector(expression: Expr, theory: Theory) -> bool:
    known = theory.vectors | theory.client_vectors | theory.definitions.keys()
    if isinstance(expression, Inner | Value):
        return False
    return (
        isinstance(expression, Gradient) or expression in known or any(_is_vector(a, theory) for a in expression.args)
    )


def _is_random(expression: Expr, theory: Theory) -> bool:
    return bool(expression.atoms(Inner, Value)) or _is_vector(expression, theory)


def added(forms: Iterable[Form]) -> Form:
    """The sum of normal forms."""
    total: Form = {}
    for form in forms:
        for monomial, coefficient in form.items():
            total[monomial] = total.get(monomial, sp.S.Zero) + coefficient
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient != 0}


def scaled(form: Form, factor: Expr) -> Form:
    """A multiple of a normal form."""
    return {monomial: factor * coefficient for monomial, coefficient in form.items()}


def composed(form: Form) -> Expr:
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
    theory.require_objective(objective)
    at = composed(vector(point, theory))
    if theory.minimisers.get(objective) == at:
        return {}
    if objective in theory.means and not _has_index(at, theory):
        return vector(Average(Gradient(theory.means[objective], at)), theory)
    return {Gradient(objective, at): sp.S.One}


def _mean_vector(basis: Expr, theory: Theory) -> Expr:
    return Average(basis) if _has_index(basis, theory) else basis


def _value(expression: Expr, theory: Theory) -> Form:
    objective, point = expression.args
    theory.require_objective(objective)
    at = composed(vector(point, theory))
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

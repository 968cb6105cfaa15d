"""Dependence of expressions on the client and on the local step."""

from __future__ import annotations

from fedtheory.kernel.context import Context
from fedtheory.kernel.expressions import ONE, Average, Expr, Gradient, LocalSum, Selected, factors, product_of


def differs(expression: Expr, context: Context) -> bool:
    """Return whether an expression depends on the client."""
    if isinstance(expression, Average | Selected):
        return False
    own = context.client_vectors | context.client_objectives | context.numbers.of_clients
    return expression in own or any(differs(argument, context) for argument in expression.args)


def changes(expression: Expr, context: Context) -> bool:
    """Return whether an expression depends on the local step."""
    if isinstance(expression, LocalSum):
        return False
    if expression in context.step_vectors or (context.step_number is not None and expression == context.step_number):
        return True
    return any(changes(argument, context) for argument in expression.args)


def is_mean_gradient_at_minimiser(basis: Expr, context: Context) -> bool:
    """Return whether a basis vector is an average of the clients' gradients that vanishes at a minimiser."""
    known = [(context.means[f], at) for f, at in context.minimisers.items() if f in context.means]
    vanishing = context.weighted_minimisers | {Gradient(client, at) for client, at in known}
    return isinstance(basis, Average) and basis.args[0] in vanishing


def split_average(basis: Expr, context: Context) -> tuple[Expr, Expr]:
    """Split an average over clients into a number and the vector or scalar inside.

    Elsewhere return one and the input.
    """
    if not isinstance(basis, Average):
        return ONE, basis
    numbers = context.numbers.symbols | context.numbers.of_clients
    own: list[Expr] = []
    inside: list[Expr] = []
    for factor in factors(basis.args[0]):
        (own if factor.free_symbols <= numbers else inside).append(factor)
    return product_of(own), product_of(inside)

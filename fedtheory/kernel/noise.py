"""Inner products of noise: they vanish with vectors of the past, and between independent noises."""

from __future__ import annotations

from fedtheory.kernel.context import Context
from fedtheory.kernel.expressions import Average, Expr, LocalSum, inner
from fedtheory.kernel.indices import split_average
from fedtheory.kernel.quotients import Quotient, Rejected, quotient


def is_noise(basis: Expr, context: Context) -> bool:
    """Return whether a basis vector is noise: of one step, summed over steps, or averaged over clients."""
    return _select_summand(split_average(basis, context)[1]) in context.noise


def expect_random_inner(left: Expr, right: Expr, context: Context) -> dict[Expr, Quotient] | None:
    """Return the expected inner product of two basis vectors if noise determines it, in normal form; else None."""
    noises = [is_noise(side, context) for side in (left, right)]
    if all(noises):
        return _multiply_noises(left, right, context)
    if any(noises):
        noise, other = (left, right) if noises[0] else (right, left)
        return {} if _is_past(other, noise, context) else None
    return None


def _select_summand(inside: Expr) -> Expr:
    """Return the symbol itself, or the summand of a sum over steps."""
    return inside.args[0] if isinstance(inside, LocalSum) else inside


def _is_past(other: Expr, noise: Expr, context: Context) -> bool:
    """Return whether a vector is independent of a noise: it contains no noise, or only noise of earlier steps."""
    symbols = other.free_symbols
    if symbols & (context.noise | context.depends_on_current_noise):
        return False
    of_one_step = not noise.atoms(LocalSum) and not other.atoms(LocalSum)
    return of_one_step or not symbols & context.random


def _multiply_noises(left: Expr, right: Expr, context: Context) -> dict[Expr, Quotient]:
    """Multiply two noises.

    Different symbols, clients or steps are independent, so only squares with squared weights remain.
    """
    sides = [split_average(side, context) for side in (left, right)]
    symbols = frozenset(_select_summand(inside) for _, inside in sides)
    if len(symbols) == 2 and symbols not in context.common_random_numbers:
        return {}
    square = inner(*(_select_summand(inside) for _, inside in sides))
    if all(isinstance(inside, LocalSum) for _, inside in sides):
        square = LocalSum(square)
    averaged, own = [isinstance(side, Average) for side in (left, right)], sides[0][0] * sides[1][0]
    if not any(averaged):
        return {square: quotient(own)}
    if context.share is None:
        raise Rejected("noise is averaged over clients, but the context does not state their weights")
    if not all(averaged):
        return {square: quotient(own * context.share)}
    return {Average(part * square): shared for shared, part in context.numbers.parts(quotient(own * context.share))}

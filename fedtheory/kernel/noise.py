"""Inner products of noise: with the past they vanish, and so do those of independent noises."""

from __future__ import annotations

from fedtheory.kernel.expressions import Average, Expr, LocalSum, inner
from fedtheory.kernel.indices import taken_apart
from fedtheory.kernel.quotients import Quotient, Rejected, quotient
from fedtheory.kernel.theory import Theory


def is_noise(basis: Expr, theory: Theory) -> bool:
    """Whether a basis vector is noise: of a client's step, summed over steps, or a mean of it over clients."""
    return _letter(taken_apart(basis, theory)[1]) in theory.noise


def inner_of_random(left: Expr, right: Expr, theory: Theory) -> dict[Expr, Quotient] | None:
    """The expected inner product of two basis vectors where noise decides it, in normal form; None elsewhere."""
    noises = [is_noise(side, theory) for side in (left, right)]
    if all(noises):
        return _product(left, right, theory)
    if any(noises):
        noise, other = (left, right) if noises[0] else (right, left)
        return {} if _is_past(other, noise, theory) else None
    return None


def _letter(inside: Expr) -> Expr:
    return inside.args[0] if isinstance(inside, LocalSum) else inside


def _is_past(other: Expr, noise: Expr, theory: Theory) -> bool:
    """Whether a vector does not depend on a noise: it has none, or only that of earlier steps than this one."""
    letters = other.free_symbols
    if letters & (theory.noise | theory.depends_on_current_noise):
        return False
    of_one_step = not noise.atoms(LocalSum) and not other.atoms(LocalSum)
    return of_one_step or not letters & theory.random


def _product(left: Expr, right: Expr, theory: Theory) -> dict[Expr, Quotient]:
    """Noises of other letters, clients or steps are independent: each counts with the square of its share."""
    sides = [taken_apart(side, theory) for side in (left, right)]
    letters = frozenset(_letter(inside) for _, inside in sides)
    if len(letters) == 2 and letters not in theory.common_random_numbers:
        return {}
    square = inner(*(_letter(inside) for _, inside in sides))
    if all(isinstance(inside, LocalSum) for _, inside in sides):
        square = LocalSum(square)
    averaged, own = [isinstance(side, Average) for side in (left, right)], sides[0][0] * sides[1][0]
    if not any(averaged):
        return {square: quotient(own)}
    if theory.share is None:
        raise Rejected("noise is averaged over clients, but the theory does not say with what shares")
    if not all(averaged):
        return {square: quotient(own * theory.share)}
    return {Average(part * square): shared for shared, part in theory.numbers.parts(quotient(own * theory.share))}

"""Numbers at random, which show quickly that a sign is not what it would have to be."""

from __future__ import annotations

import random
from collections.abc import Sequence

import sympy as sp

from fedtheory.kernel.conditions import ends
from fedtheory.kernel.expressions import Average, Expr
from fedtheory.kernel.numbers import Numbers

Point = dict[sp.Symbol, sp.Rational]

_WHOLE = (0, 1, 2, 4)
_POSITIVE = tuple(map(sp.Rational, ("1/50", "1/7", "1/2", "1", "9/5", "6", "40")))
_MORE = tuple(map(sp.Rational, ("1", "101/100", "3/2", "10")))
_SMALL = tuple(map(sp.Rational, ("1/2000", "1/50", "1/7", "1/3", "1/2", "1")))
"""Conditions ask more often for small numbers than for large ones."""


def is_negative_somewhere(
    coefficient: Expr, numbers: Numbers, conditions: Sequence[Expr] = (), trials: int = 60
) -> bool:
    """Whether a number is negative for some values of its letters that satisfy the conditions.

    It only ever saves the search for a proof of the sign: nothing is believed because of it.
    """
    means = {mean: sp.Dummy("mean", nonnegative=True) for mean in coefficient.atoms(Average)}
    coefficient = coefficient.xreplace(means)
    conditions = _about(coefficient.free_symbols, [condition.xreplace(means) for condition in conditions])
    letters = coefficient.free_symbols.union(*(condition.free_symbols for condition in conditions))
    if not all(letter.is_nonnegative for letter in letters):
        return False
    generator, ordered = random.Random(0), sorted(letters, key=sp.default_sort_key)
    for trial in range(trials):
        scale = _SMALL if trial % 2 else _POSITIVE
        point = {letter: _drawn(letter, numbers, generator, scale) for letter in ordered}
        _mend(point, conditions, numbers, generator)
        if all(condition.xreplace(point) == sp.true for condition in conditions):
            value = coefficient.xreplace(point)
            if value.is_finite and value.is_negative:
                return True
    return False


def _mend(point: Point, conditions: Sequence[Expr], numbers: Numbers, generator: random.Random) -> None:
    """Move a point towards where the conditions hold, one letter for each that fails."""
    for condition in conditions:
        if condition.xreplace(point) != sp.true:
            smaller, larger = ends(condition)
            least, most = smaller.xreplace(point), larger.xreplace(point)
            if _is_free(larger, numbers) and least.is_nonnegative:
                point[larger] = least * generator.choice(_MORE)
            elif _is_free(smaller, numbers) and most.is_positive:
                point[smaller] = most / generator.choice(_MORE)


def _is_free(side: Expr, numbers: Numbers) -> bool:
    return bool(side.is_Symbol) and not side.is_integer and side not in numbers.at_least


def is_nonzero_somewhere(expression: Expr) -> bool:
    """Whether an expression has a rational value that is not zero where its letters are different primes.

    It only ever saves the attempt to cancel what does not cancel.
    """
    means = {mean: sp.Dummy("mean") for mean in sorted(expression.atoms(Average), key=sp.default_sort_key)}
    expression = expression.xreplace(means)
    letters = sorted(expression.free_symbols, key=sp.default_sort_key)
    value = expression.xreplace({letter: sp.Integer(sp.prime(n + 3)) for n, letter in enumerate(letters)})
    return bool(value.is_Rational and value != 0)


def _about(letters: set[sp.Symbol], conditions: Sequence[Expr]) -> list[Expr]:
    """The conditions that say something of some letters, directly or by way of others."""
    near = [condition for condition in conditions if condition.free_symbols & letters]
    reached = letters.union(*(condition.free_symbols for condition in near))
    return near if reached == letters else _about(reached, conditions)


def _drawn(letter: sp.Symbol, numbers: Numbers, generator: random.Random, scale: Sequence[sp.Rational]) -> sp.Rational:
    least = numbers.at_least.get(letter, 0)
    if letter.is_integer or letter in numbers.at_least:
        first = max(least, int(bool(letter.is_positive)))
        return sp.Integer(first + generator.choice(_WHOLE))
    return generator.choice(scale)

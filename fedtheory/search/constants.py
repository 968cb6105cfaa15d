"""Constant terms by monomials: a bound on the noise pays for no dissimilarity.

A statement holds for every value of a symbol that occurs in constant terms only, and its proofs rarely depend on it.
Hence the powers of such symbols are separate rows of the linear equations, and coefficients are free of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import sympy as sp

from fedtheory.kernel import Term, is_ordering, one, slack
from fedtheory.kernel.expressions import Expr
from fedtheory.kernel.quotients import ONE, Quotient, quotient
from fedtheory.search.blocks import Blocks
from fedtheory.search.candidates import CandidateInequality
from fedtheory.search.positivity import SignFacts


def split_constants(
    goal: Blocks, candidates: Sequence[CandidateInequality], signs: SignFacts
) -> tuple[Blocks, list[CandidateInequality]] | None:
    """Return a goal and candidates with a row for each monomial of the symbols that only constant terms have.

    Symbols in denominators and counts stay in coefficients.  The slacks of conditions on the others are candidates as
    well.  Returns None if there are no such symbols.
    """
    every = [goal, *(each.blocks for each in candidates)]
    constants = _list_constants(every)
    below = set().union(*(number.written(number.denominator).free_symbols for number in constants))
    others = below | signs.numbers.at_least.keys() | signs.numbers.integer
    scales = _list_symbols(constants) - _list_symbols(_list_others(every)) - others
    if not scales:
        return None
    split = _Split(scales)
    moved = [replace(each, blocks=split.blocks(each.blocks)) for each in candidates if each.pattern.reason != one()]
    parts = split.blocks(goal)
    rows = dict.fromkeys(row for blocks in (parts, *(each.blocks for each in moved)) for row in blocks.rows)
    monomials = [row for row in rows if row.free_symbols <= scales]
    slacks = [slack(each) for each in signs.conditions if is_ordering(each) and each.free_symbols <= scales]
    moved += [
        CandidateInequality(Term(number, one()), split.blocks(Blocks({sp.S.One: quotient(number)}, {})))
        for number in slacks
        if number != 0 and number.is_polynomial(*scales)
    ]
    return parts, [*moved, *(CandidateInequality(Term(row, one()), Blocks({row: ONE}, {})) for row in monomials)]


class _Split:
    """Constant terms as sums over the monomials of some symbols."""

    def __init__(self, scales: Iterable[sp.Symbol]) -> None:
        self._scales = frozenset(scales)

    def blocks(self, blocks: Blocks) -> Blocks:
        """Return the scalar with its constant term split."""
        number = blocks.rows.get(sp.S.One)
        rest = {row: each for row, each in blocks.rows.items() if row != 1}
        return blocks if number is None else Blocks({**rest, **self._split_rows(number)}, blocks.matrices)

    def _split_rows(self, number: Quotient) -> Mapping[Expr, Quotient]:
        """Return the coefficients of a number by monomials of the symbols."""
        found: dict[Expr, list[Expr]] = {}
        own = [symbol in self._scales for symbol in number.symbols]
        for powers, factor in number.numerator.terms():
            scale, rest = (
                [power if mine is wanted else 0 for power, mine in zip(powers, own, strict=True)]
                for wanted in (True, False)
            )
            row = sp.Mul(*(symbol**power for symbol, power in zip(number.symbols, scale, strict=True)))
            found.setdefault(row, []).append(number.monomial(rest, factor))
        below = number.written(number.denominator)
        return {row: quotient(sp.Add(*parts) / below) for row, parts in found.items()}


def _list_constants(every: Iterable[Blocks]) -> list[Quotient]:
    """Return the constant terms of scalars."""
    return [blocks.rows[sp.S.One] for blocks in every if sp.S.One in blocks.rows]


def _list_others(every: Iterable[Blocks]) -> list[Quotient]:
    """Return the coefficients of scalars that are no constant terms."""
    return [
        number
        for blocks in every
        for number in (*(each for row, each in blocks.rows.items() if row != 1), *blocks.matrices.values())
    ]


def _list_symbols(numbers: Iterable[Quotient]) -> set[sp.Symbol]:
    """Return the symbols in some numbers."""
    return set().union(*(symbol.free_symbols for number in numbers for symbol in number.symbols))

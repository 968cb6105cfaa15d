"""Splits constant terms by their monomials in symbols that occur nowhere else, such as the noise level.

A statement holds for every value of such a symbol, and the coefficients of its proof rarely depend on it.  Hence each
monomial of these symbols gets its own linear equation, and coefficients are free of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
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
    """Return a goal and candidates with a row for each monomial of the symbols that occur in constant terms only.

    Counts and symbols in denominators are left out.  Each monomial, and the slack of each condition on these symbols,
    becomes a candidate.  Returns None if there are no such symbols.
    """
    scalars = [goal, *(each.blocks for each in candidates)]
    constants = _list_constants(scalars)
    denominators = set().union(*(number.written(number.denominator).free_symbols for number in constants))
    left_out = denominators | signs.numbers.at_least.keys() | signs.numbers.integer
    scales = _list_symbols(constants) - _list_symbols(_list_coefficients(scalars)) - left_out
    if not scales:
        return None
    split = [
        replace(each, blocks=_split_constant(each.blocks, scales))
        for each in candidates
        if each.pattern.reason != one()
    ]
    split_goal = _split_constant(goal, scales)
    rows = dict.fromkeys(row for blocks in (split_goal, *(each.blocks for each in split)) for row in blocks.rows)
    monomials = [row for row in rows if row.free_symbols <= scales]
    slacks = [slack(each) for each in signs.conditions if is_ordering(each) and each.free_symbols <= scales]
    split += [
        CandidateInequality(Term(number, one()), _split_constant(Blocks({sp.S.One: quotient(number)}, {}), scales))
        for number in slacks
        if number != 0 and number.is_polynomial(*scales)
    ]
    split += [CandidateInequality(Term(row, one()), Blocks({row: ONE}, {})) for row in monomials]
    return split_goal, split


def _split_constant(blocks: Blocks, scales: Set[sp.Symbol]) -> Blocks:
    """Return a scalar with a row for each monomial of some symbols in place of its constant term."""
    constant = blocks.rows.get(sp.S.One)
    rest = {row: number for row, number in blocks.rows.items() if row != 1}
    return blocks if constant is None else Blocks({**rest, **_split_number(constant, scales)}, blocks.matrices)


def _split_number(number: Quotient, scales: Set[sp.Symbol]) -> Mapping[Expr, Quotient]:
    """Return the coefficients of a number by its monomials in some symbols."""
    found: dict[Expr, list[Expr]] = {}
    for powers, factor in number.numerator.terms():
        named = list(zip(number.symbols, powers, strict=True))
        row = sp.Mul(*(symbol**power for symbol, power in named if symbol in scales))
        rest = [0 if symbol in scales else power for symbol, power in named]
        found.setdefault(row, []).append(number.monomial(rest, factor))
    denominator = number.written(number.denominator)
    return {row: quotient(sp.Add(*parts) / denominator) for row, parts in found.items()}


def _list_constants(scalars: Iterable[Blocks]) -> list[Quotient]:
    """Return the constant terms of scalars."""
    return [blocks.rows[sp.S.One] for blocks in scalars if sp.S.One in blocks.rows]


def _list_coefficients(scalars: Iterable[Blocks]) -> list[Quotient]:
    """Return the coefficients of scalars that are not constant terms."""
    return [
        number
        for blocks in scalars
        for number in (*(each for row, each in blocks.rows.items() if row != 1), *blocks.matrices.values())
    ]


def _list_symbols(numbers: Iterable[Quotient]) -> set[sp.Symbol]:
    """Return the symbols in some numbers."""
    return set().union(*(symbol.free_symbols for number in numbers for symbol in number.symbols))

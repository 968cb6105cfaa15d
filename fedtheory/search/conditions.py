"""Derives conditions that follow from those of a claim, in forms from which the kernel decides signs."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import sympy as sp

from fedtheory.kernel import Rejected, is_ordering, is_positive, slack
from fedtheory.kernel.expressions import Expr
from fedtheory.kernel.quotients import reduce_fraction
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs.numbers import numbers_of
from fedtheory.proofs.proof import follows


def derive_conditions(claim: Claim) -> list[Expr]:
    """Return bounds on the step size and conditions without counts that follow from the conditions of a claim."""
    return [*solve_for_step_size(claim), *weaken_to_counts(claim)]


def solve_for_step_size(claim: Claim) -> list[Expr]:
    """Return conditions on a product, such as 4 L eta <= 1, as bounds on one factor: eta <= 1/(4 L).

    The factor is the step size if the condition contains it.
    """
    found = []
    for condition in claim.conditions:
        if not is_ordering(condition) or any(side.is_Symbol for side in condition.args):
            continue
        symbols = sorted(
            condition.free_symbols, key=lambda one: (claim.notation.get(one) is not q.local_step_size, str(one))
        )
        numerator = sp.expand(sp.numer(sp.together(slack(condition))))
        symbol = next(iter(symbols), None)
        if symbol is None or not numerator.is_polynomial(symbol) or sp.degree(numerator, symbol) != 1:
            continue
        constant, factor = numerator.coeff(symbol, 0), -numerator.coeff(symbol, 1)
        upper = sp.Le(symbol, constant / factor, evaluate=False)
        lower = sp.Ge(symbol, -constant / (-factor), evaluate=False)
        found += [bound for bound in (upper, lower) if follows(bound, claim)][:1]
    return found


def weaken_to_counts(claim: Claim) -> list[Expr]:
    """Return conditions with the smallest values of their counts: 8 tau L eta <= 1 gives 8 L eta <= 1."""
    least, found = numbers_of(claim).at_least, list[Expr]()
    for condition in claim.conditions:
        counts = {one: least[one] for one in condition.free_symbols if one in least}
        if not is_ordering(condition) or not counts or counts.keys() == condition.free_symbols:
            continue
        weaker = condition.func(*(side.xreplace(counts) for side in condition.args), evaluate=False)
        # If a bound divides by a possibly zero number, it may follow only without the denominator.
        cleared = sp.Ge(sp.numer(sp.together(slack(weaker))), 0, evaluate=False)
        new = (one for one in (weaker, cleared) if one.free_symbols and one not in claim.conditions)
        found += [one for one in new if follows(one, claim)][:1]
    return found


def find_contradiction(claim: Claim) -> Expr | None:
    """Return a condition that no run can satisfy together with the others; None if none is found."""
    numbers = numbers_of(claim)
    for condition in claim.conditions:
        others = [other for other in claim.conditions if other is not condition]
        with suppress(Rejected):
            others += solve_for_step_size(replace(claim, conditions=others))
            if is_ordering(condition) and is_positive(reduce_fraction(-slack(condition)), numbers, others):
                return condition
    return None

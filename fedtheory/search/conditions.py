"""Conditions that follow from those of a claim, in the forms in which the kernel decides signs by them."""

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
    """Return bounds on the step size, and bounds without counts, that follow from the conditions of a claim."""
    return [*solve_for_step_size(claim), *weaken_to_counts(claim)]


def solve_for_step_size(claim: Claim) -> list[Expr]:
    """Rewrite conditions on a product, such as 4 L eta <= 1, as bounds on the step size: eta <= 1/(4 L)."""
    found = []
    for condition in claim.conditions:
        if not is_ordering(condition) or any(side.is_Symbol for side in condition.args):
            continue
        used = sorted(
            condition.free_symbols, key=lambda one: (claim.notation.get(one) is not q.local_step_size, str(one))
        )
        for symbol in used[:1]:
            gap = sp.expand(sp.numer(sp.together(slack(condition))))
            if gap.is_polynomial(symbol) and sp.degree(gap, symbol) == 1:
                above, below = gap.coeff(symbol, 0), -gap.coeff(symbol, 1)
                bounds = (
                    sp.Le(symbol, above / below, evaluate=False),
                    sp.Ge(symbol, -above / (-below), evaluate=False),
                )
                found += [bound for bound in bounds if follows(bound, claim)][:1]
    return found


def weaken_to_counts(claim: Claim) -> list[Expr]:
    """Weaken conditions to the smallest counts in them: 8 tau L eta <= 1 gives 8 L eta <= 1."""
    least, found = numbers_of(claim).at_least, list[Expr]()
    for condition in claim.conditions:
        counts = {one: least[one] for one in condition.free_symbols if one in least}
        if not is_ordering(condition) or not counts or counts.keys() == condition.free_symbols:
            continue
        weaker = condition.func(*(side.xreplace(counts) for side in condition.args), evaluate=False)
        # Where a bound divides by what may be zero, the bound without the denominator follows.
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

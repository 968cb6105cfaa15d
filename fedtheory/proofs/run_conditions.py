"""Facts on the numbers of claims about runs: their conditions, and the known orderings of their quantities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import sympy as sp

from fedtheory.kernel import Numbers, is_nonnegative
from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from fedtheory.proofs.numbers import list_known_conditions, numbers_of
from fedtheory.proofs.paper_contexts import list_paper_conditions


def conditions_of_run(claim: Claim) -> list[Expr]:
    """Return the facts on the numbers of a claim about a run: its conditions, and known orderings of its quantities."""
    own = split_minima(claim.conditions, numbers_of(claim))
    return [*own, *list_known_conditions(claim), *list_paper_conditions(claim)]


def split_minima(conditions: Sequence[Expr], numbers: Numbers) -> Iterator[Expr]:
    """Yield conditions, and for one of the form x <= c min(u, v, ...) with c >= 0 those for each argument."""
    for condition in conditions:
        yield condition
        least = condition.rhs.atoms(sp.Min) if isinstance(condition, sp.Le) else set()
        if len(least) == 1:
            (minimum,) = least
            factor = condition.rhs / minimum
            if not factor.has(sp.Min) and is_nonnegative(factor, numbers):
                yield from (sp.Le(condition.lhs, factor * bound, evaluate=False) for bound in minimum.args)

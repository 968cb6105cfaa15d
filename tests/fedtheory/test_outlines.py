"""What people are shown of a certificate is what was checked."""

from __future__ import annotations

import pytest
import sympy as sp

from fedtheory.kernel.expressions import ClientSum, Expr
from fedtheory.kernel.quotients import is_zero
from fedtheory.language.registry import find
from fedtheory.proofs import Combination, certificates
from fedtheory.proofs.outline import outline
from fedtheory.proofs.plain_symbols import use_plain_symbols


def _is_rational(expression: Expr) -> bool:
    """Whether an expression is a rational function of its symbols."""
    return not expression.has(ClientSum) and all(power.exp.is_integer for power in expression.atoms(sp.Pow))


def _sums(claim_id: str) -> list[tuple[Expr, Expr]]:
    """The slack of each relation, and the sum that is shown for it."""
    claim, shown = find(claim_id), outline(find(claim_id))
    assert shown is not None
    by_statement = {group.statement: group for group in shown.groups}
    plain = use_plain_symbols(claim)
    with claim.typesetting():
        groups = [by_statement[relation.latex] for relation in plain.relations]
    totals = [sp.Add(*(entry.coefficient * entry.factor for entry in group.entries)) for group in groups]
    return list(zip((relation.slack for relation in plain.relations), totals, strict=True))


COMBINATIONS = [claim_id for claim_id, found in certificates().items() if isinstance(found, Combination)]


@pytest.mark.long
@pytest.mark.parametrize("claim_id", COMBINATIONS)
def test_the_entries_of_a_sum_add_up(claim_id: str) -> None:
    """Coefficients times what stands beside them are the slack of each relation."""
    for slack, total in _sums(claim_id):
        if _is_rational(slack) and _is_rational(total):
            assert is_zero(slack - total)

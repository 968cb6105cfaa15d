"""Relations that are identities are found, and SymPy is called only if numbers do not decide already."""

from __future__ import annotations

import pytest
import sympy as sp

from fedtheory import Claim
from fedtheory.kernel.expressions import ClientSum, Expr
from fedtheory.language import quantities as q
from verify.check import links
from verify.check.links import compile_relations

eta, L = sp.symbols("eta L", positive=True)
p = sp.Symbol("p", nonnegative=True)


def _is_identity(left: Expr, right: Expr) -> bool:
    where = {eta: q.local_step_size, L: q.smoothness, p: q.importance}
    return compile_relations(Claim(id="mine:sides", lhs=left, rhs=right, where=where))[0].is_identity


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((1 + eta) ** 2, 1 + 2 * eta + eta**2),
        (sp.sqrt(eta**2 * L), eta * sp.sqrt(L)),
        (1 / (sp.sqrt(eta) + sp.sqrt(L)), (sp.sqrt(eta) - sp.sqrt(L)) / (eta - L)),
        (ClientSum(p * (1 + L)), ClientSum(p + p * L)),
    ],
)
def test_sides_that_are_the_same_number(left: Expr, right: Expr) -> None:
    """Equal polynomials, roots and sums over clients are recognised."""
    assert _is_identity(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (eta * L, 2 * eta * L),
        (sp.sqrt(eta) * L, sp.sqrt(eta * L)),
        (ClientSum(p * L), ClientSum(p * eta)),
        (sp.sqrt(eta) * ClientSum(p), sp.sqrt(L) * ClientSum(p)),
    ],
)
def test_sides_that_differ_at_numbers_are_not_simplified(monkeypatch, left: Expr, right: Expr) -> None:
    """Expanding these sides would take a thousand times as long."""
    monkeypatch.setattr(links.sp, "simplify", lambda _expression: pytest.fail("simplified"))
    assert not _is_identity(left, right)

"""False bounds on square roots: only non-negativity is known."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from fedtheory import Claim
from fedtheory.errors import FedtheoryError
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.quantities import RunQuantity
from fedtheory.language.signs import iterate_run_quantities
from fedtheory.proofs import Combination, Part, check_certificate, numbers
from verify.instances import Instance

ROOTS = [quantity for quantity in iterate_run_quantities() if quantity.root and quantity in numbers.NUMBERS]
root, tau = sp.Symbol("r", real=True), sp.Symbol("tau", positive=True)
ENOUGH = sp.Ge(tau, 2, evaluate=False)
SETTING = (a.strongly_convex_clients, a.same_local_work, a.full_participation, a.unit_server_step, a.uniform_shares)


def _verdict(quantity: RunQuantity, difference: sp.Expr) -> str:
    """Return the verdict on ``0 <= difference (tau - 2)`` for tau >= 2."""
    claim = Claim(
        id="t:root",
        lhs=sp.S.Zero,
        rhs=difference * (tau - 2),
        where={root: quantity, tau: q.local_steps},
        assumptions=SETTING,
        conditions=[ENOUGH],
    )
    return check_certificate(claim, Combination(claim=claim.id, links=[[Part(difference, ENOUGH)]])).verdict


@pytest.mark.parametrize("quantity", ROOTS, ids=lambda quantity: quantity.name)
def test_roots_are_neither_positive_nor_bounded(quantity: RunQuantity) -> None:
    """Other signs than that of the root, and bounds by one, are not proved."""
    for false in (-root, root - 1, 1 - root, root - root**2, root**2 - root, root - sp.Rational(1, 10**9)):
        assert _verdict(quantity, false) == "broken", false


def test_roots_are_nonnegative_where_they_exist() -> None:
    """Each root is proved to be non-negative, and is so on runs of five families."""
    assert all(_verdict(quantity, root) == "proved" for quantity in ROOTS)
    measured = set()
    for family in ("short rounds", "sampled clients", "asynchronous cycles", "full gradients", "one local step"):
        for number in range(6):
            run = Instance(family, number).run()
            for quantity in ROOTS:
                try:
                    values = quantity.on(run)
                except FedtheoryError:
                    continue
                assert all(value >= 0 for value in np.asarray(values).ravel()), quantity.name
                measured.add(quantity)
    assert set(ROOTS) - measured == {q.mixing_contraction}

"""Lower bounds of the numbers of a claim, and which of them are integers."""

from __future__ import annotations

import sympy as sp

from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.targets import resolve
from fedtheory.proofs.numbers import numbers_of
from fedtheory.sources.fraboni2022.statements.notation import rho

M, tau, T, eta, n = sp.symbols("M tau T eta n", positive=True)
k = sp.Symbol("k", integer=True, positive=True)
WHERE = {M: q.clients, tau: q.local_steps, T: q.rounds, eta: q.local_step_size, rho: q.largest_weight_sum}


def test_least_values() -> None:
    """Counts are at least one, sampled clients at least two if there are several; a sum of weights is no integer."""
    claim = Claim(id="t:least", lhs=eta, rhs=M * tau * T * rho, where=WHERE)
    numbers = numbers_of(resolve(claim))
    assert numbers.at_least == {M: 1, tau: 1, T: 1, rho: 1}
    assert numbers.integer == {M, tau, T}
    several = Claim(id="t:least", lhs=eta, rhs=M * tau * T * rho, where=WHERE, assumptions=(a.several_clients,))
    assert numbers_of(resolve(several)).at_least == {M: 2, tau: 1, T: 1, rho: 1}
    of_values = Claim(id="t:least", lhs=eta, rhs=k * eta, where={eta: WHERE[eta]}, for_all={k: (3, 2, 5)})
    assert numbers_of(resolve(of_values)).at_least == {k: 2}
    assert numbers_of(resolve(of_values)).integer == {k}

"""Numbers of a run are not random: their expectations are the numbers, also in user-defined quantities."""

from __future__ import annotations

import pytest
import sympy as sp

from fedtheory import RATIONAL, Claim, Expectation, parse_run, quantity
from fedtheory import quantities as q
from fedtheory.kernel.expressions import Average, Expr
from verify.check import check

L, L_i, eta = sp.symbols("L L_i eta", positive=True)
MEANINGS = {L: q.smoothness, L_i: q.client_smoothness, eta: q.local_step_size}
RUN = {
    "problem": {"kind": "quadratic", "hessians": [[["1"]], [["2"]]], "linear": [["1"], ["0"]], "start": ["1"]},
    "algorithm": {"local_step_size": "1/8", "local_steps": 2, "rounds": 2},
}


@pytest.mark.parametrize(
    ("term", "value"),
    [
        (Expectation(L), sp.Integer(2)),
        (eta * Expectation(L) ** 2, sp.Rational(1, 2)),
        (Expectation(Average(L_i)), sp.Rational(3, 2)),
    ],
)
def test_a_quantity_in_numbers_may_have_an_expectation(term: Expr, value: sp.Rational) -> None:
    where = {symbol: MEANINGS[symbol] for symbol in term.free_symbols}
    own = quantity("own_number", term, where, over="run")
    run = parse_run(RUN, RATIONAL)
    assert check(Claim(id="mine:number", lhs=own, relation="==", rhs=value), run).holds is True
    assert check(Claim(id="mine:number", lhs=own, rhs=value - sp.Rational(1, 10**20)), run).holds is False

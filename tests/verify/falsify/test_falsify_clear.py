"""Counterexamples that convince: a clear margin first, then small numbers; and ratios away from trivial ends."""

from __future__ import annotations

import pytest
import sympy as sp
from claim_symbols import WHERE, D, L, M, T, eta, sigma, tau

from fedtheory import RATIONAL, Claim, parse_run
from fedtheory import quantities as q
from verify.check import check
from verify.check.outcome import CLEAR, rank_unclearness
from verify.effort import measure_work
from verify.falsify import falsify, search_result, shrink
from verify.falsify.run_tables import make_working_table
from verify.falsify.search_state import is_moving
from verify.falsify.shrink import measure_reading_effort

pytestmark = pytest.mark.long

mu = sp.Symbol("mu", positive=True)
CONTRACTS = Claim(
    id="mine:contracts",
    lhs=q.final_distance_sq,
    rhs=(1 - eta * mu) ** (tau * T) * D**2 + eta * sigma**2 / (mu * M),
    where={**WHERE, mu: q.strong_convexity},
    conditions=[eta <= 1 / (4 * L), mu > 0],
)
"""A claim that is false if clients have different curvatures and make several steps."""
HARDLY = {
    "problem": {
        "kind": "quadratic",
        "hessians": [[["1"]], [["1/2"]]],
        "linear": [["1/1000"], ["0"]],
        "start": ["1/1500"],
    },
    "algorithm": {"name": "fedavg", "local_step_size": "1/64", "local_steps": 2, "rounds": 1},
}
"""A claim that is violated at the optimum, with a tiny left side against zero."""


def test_a_side_that_vanishes_becomes_a_clear_margin() -> None:
    """From 1e-13 against 0 to sides that both are there, one clearly above the other, in small numbers."""
    begin = check(CONTRACTS, parse_run(HARDLY, RATIONAL))
    assert begin.holds is False
    assert begin.ratio is None
    table = shrink(CONTRACTS, HARDLY, measure_work() + 20)
    found = check(CONTRACTS, parse_run(table, RATIONAL))
    assert found.holds is False
    assert found.ratio is not None
    assert found.ratio >= CLEAR
    asked = measure_reading_effort(CONTRACTS, table)
    assert asked is not None
    assert asked[1] == 0


@pytest.mark.parametrize(("ratio", "expected"), [(None, 2), (1.0001, 1), (CLEAR, 0), (7.0, 0)])
def test_order_of_counterexamples(ratio: float | None, expected: int) -> None:
    """A clear margin comes before a small one, and any ratio before a side that is zero."""
    assert rank_unclearness(ratio) == expected


@pytest.mark.parametrize(("budget", "left"), [(0.0, 0.0), (4.0, 4.0), (100.0, 8.0)])
def test_shrinking_ends_with_the_budget(monkeypatch: pytest.MonkeyPatch, budget: float, left: float) -> None:
    """Shrinking ends with the budget; where much is left it has some seconds."""
    monkeypatch.setattr(search_result, "measure_work", lambda: 1000.0)
    assert search_result._compute_deadline(1000.0 + budget) - 1000.0 == left


def test_the_largest_ratio_is_not_that_of_a_run_that_stands_still() -> None:
    """With step sizes towards zero every contraction has the ratio 1; the run that is shown moves."""
    true = Claim(
        id="mine:true",
        lhs=q.final_distance_sq,
        rhs=(1 - eta * mu) ** T * D**2 + eta * sigma**2 / (mu * M),
        where={**WHERE, mu: q.strong_convexity},
        conditions=[eta <= 1 / L, sp.Eq(tau, 1)],
    )
    found = falsify(true, 3)
    assert found.verdict == "not refuted"
    assert found.run is not None
    assert is_moving(make_working_table(parse_run(found.run, RATIONAL)))

"""Step sizes at which conditions hold with equality, solved in rationals."""

from __future__ import annotations

import pytest
import sympy as sp
from claim_symbols import WHERE, D, L, T, eta, tau
from flint import fmpq

from fedtheory import RATIONAL, Claim, parse_run
from fedtheory import quantities as q
from verify.check.applicability import check_conditions
from verify.falsify.equal_sides import solve_equations, solve_for_largest_steps, solve_for_noise
from verify.falsify.local_search import scale_steps
from verify.falsify.run_tables import make_working_table, read
from verify.instances import Instance

mu = sp.Symbol("mu", positive=True)
CURVED = {**WHERE, mu: q.strong_convexity}
RUN = Instance("small quadratics", 4).run()


def claim(*conditions: sp.Basic) -> Claim:
    """Return a claim with these conditions."""
    return Claim(id="t:conditions", lhs=q.final_distance_sq, rhs=D**2, where=CURVED, conditions=list(conditions))


@pytest.mark.parametrize(
    "equation",
    [
        sp.Eq(eta, 2 / (mu + L)),
        sp.Eq(2 / (mu + L), eta),
        sp.Eq(4 * eta * L * tau, 1),
        sp.Eq(1 / eta, 4 * L),
        sp.Eq(16 * eta**2 * L**2, 1),
        sp.Eq(1 / (9 * eta**2), L**2),
        sp.Eq(eta * L, 1 - eta * mu / 3),
    ],
    ids=str,
)
def test_equations_are_solved_for_the_step_size(equation: sp.Basic) -> None:
    """The condition holds exactly with the step sizes times the factor, and did not before."""
    claimed = claim(sp.Ge(T, 1), equation)
    for number in range(4, 8):
        run = scale_steps(Instance("small quadratics", number).run(), fmpq(17, 16))
        factor = solve_equations(claimed, run)
        assert factor is not None
        assert check_conditions(claimed, scale_steps(run, factor))
        assert not check_conditions(claimed, scale_steps(run, factor * fmpq(10**40 + 1, 10**40)))


@pytest.mark.parametrize("equation", [sp.Eq(eta**2 * L**2, 2), sp.Eq(L, mu), sp.Ge(eta, 0)], ids=str)
def test_no_rational_step_size(equation: sp.Basic) -> None:
    """Irrational solutions, equations of other quantities and inequalities give none."""
    assert solve_equations(claim(equation), RUN) is None


def test_the_largest_step_size_is_exact() -> None:
    """The largest step size is exactly at the edge of the tightest condition."""
    claimed = claim(eta <= 2 / (mu + L), 7 * eta * L <= 3)
    factor = solve_for_largest_steps(claimed, RUN)
    assert factor is not None
    at_edge = scale_steps(RUN, factor)
    assert 7 * at_edge.algorithm.work.step_sizes[0] * at_edge.smoothness == 3
    assert solve_for_largest_steps(claim(sp.Ge(T, 1)), RUN) is None
    assert solve_for_largest_steps(claim(eta * L < 2), RUN) is None


sigma = sp.Symbol("sigma", positive=True)
NOISY = {"kind": "quadratic", "hessians": [[["2"]], [["1"]]], "linear": [["1"], ["-1"]], "start": ["3"], "noise": "2/3"}
TABLE = make_working_table(
    parse_run({"problem": NOISY, "algorithm": {"local_step_size": "1/7", "rounds": 3, "local_steps": 2}}, RATIONAL)
)


@pytest.mark.parametrize(
    "equation",
    [
        sp.Eq(eta, D / (sigma * sp.sqrt(tau * T))),
        sp.Eq(eta * sigma * sp.sqrt(tau), D),
        sp.Eq(sigma**2, 5 * L),
        sp.Eq(1 / eta**2, L * sigma**2 / 3),
    ],
    ids=str,
)
def test_equations_are_solved_for_the_noise(equation: sp.Basic) -> None:
    """The condition holds exactly with the other noise, and the step size is kept."""
    claimed = Claim(
        id="t:noise",
        lhs=q.final_distance_sq,
        rhs=D**2,
        where={**CURVED, sigma: q.noise_deviation},
        conditions=[sp.Ge(T, 1), equation],
    )
    before, balanced = read(TABLE), solve_for_noise(claimed, TABLE)
    assert balanced is not None
    after = read(balanced)
    assert before is not None
    assert after is not None
    assert not check_conditions(claimed, before)
    assert check_conditions(claimed, after)
    assert after.algorithm.work.step_sizes[0] == before.algorithm.work.step_sizes[0]


@pytest.mark.parametrize("equation", [sp.Eq(eta, L), sp.Eq(sigma + L, 5 * tau), sp.Ge(sigma, 0)], ids=str)
def test_no_noise_satisfies_other_equations(equation: sp.Basic) -> None:
    """Equations without noise, sums with it, and inequalities give no run."""
    claimed = Claim(
        id="t:noise",
        lhs=q.final_distance_sq,
        rhs=D**2,
        where={**CURVED, sigma: q.noise_deviation},
        conditions=[equation],
    )
    assert solve_for_noise(claimed, TABLE) is None

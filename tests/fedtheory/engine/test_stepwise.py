"""Functions with jumps, piecewise choices and finite sums have the values of SymPy."""

from __future__ import annotations

import pytest
import sympy as sp
from flint import arb, fmpq

from fedtheory import Claim
from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable, Unresolved
from fedtheory.language import quantities as q
from fedtheory.language.evaluation import SiteOfRuns, compile_expression, whole_run
from fedtheory.language.evaluation.stepwise import MOST_TERMS, round_down, round_up
from fedtheory.runfile import parse_run

eta, T, M = sp.symbols("eta T M", positive=True)
t = sp.Symbol("t", integer=True)
WHERE = {eta: q.local_step_size, T: q.rounds, M: q.clients}
CLOSED = sp.Sum((T + t) ** 2 * eta, (t, 0, T - 1))
ONE_BY_ONE = sp.Sum(eta**t, (t, 1, T))
NESTED = sp.Sum(
    t * sp.Symbol("s", integer=True), (t, 1, sp.Symbol("s", integer=True)), (sp.Symbol("s", integer=True), 1, T)
)
EMPTY = 1 + sp.Sum(t**2, (t, T + 5, T))
CASES = [
    sp.Abs(eta - 1),
    sp.floor(T / 2) + eta,
    sp.ceiling(T / 2) - eta,
    sp.floor(-eta * T),
    sp.Piecewise((eta, T < 3), (1 / (T - 2), True)),
    sp.Piecewise((eta, (T < 3) | (T > 6)), (T, T >= 3)),
    CLOSED,
    ONE_BY_ONE,
    NESTED,
]


def run_of(rounds: int, step_size: str = "1/3", arithmetic=RATIONAL) -> Run:
    """Return a run of one client with a number of rounds."""
    problem = {"kind": "quadratic", "hessians": [[["1/2"]]], "linear": [["1"]], "start": ["0"]}
    algorithm = {"name": "fedavg", "local_step_size": step_size, "local_steps": 1, "rounds": rounds}
    return parse_run({"problem": problem, "algorithm": algorithm}, arithmetic)


def value_on(expression: sp.Expr, run: Run):
    """Return the value of an expression on a run."""
    return compile_expression(expression, WHERE)(whole_run(run)).item()


@pytest.mark.parametrize("expression", CASES, ids=str)
@pytest.mark.parametrize("rounds", [1, 4, 7])
def test_values(expression: sp.Expr, rounds: int) -> None:
    """Values are exact in rationals, and close in floats."""
    expected = sp.nsimplify(expression.subs({eta: sp.Rational(1, 3), T: rounds, M: 1}).doit())
    assert value_on(expression, run_of(rounds)) == fmpq(int(expected.p), int(expected.q))
    assert float(value_on(expression, run_of(rounds, arithmetic=FLOAT))) == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize("expression", [*CASES, EMPTY], ids=str)
def test_runs_together_have_the_values_of_each(expression: sp.Expr) -> None:
    """Joint values agree for sums of several lengths and conditions that hold on some runs only."""
    runs = [run_of(rounds) for rounds in (1, 4, 7)]
    together = compile_expression(expression, WHERE)(SiteOfRuns.from_runs(runs, [(1, 1)] * 3))
    assert together.ravel().tolist() == [value_on(expression, run) for run in runs]


def test_an_empty_sum_is_zero() -> None:
    """An empty sum is zero, unlike SymPy's convention for reversed bounds."""
    assert value_on(EMPTY, run_of(2)) == 1
    assert value_on(1 + sp.Sum(eta**t, (t, T + 5, T)), run_of(2)) == 1


def test_a_sum_has_whole_bounds_and_not_too_many_terms() -> None:
    """A sum without integer bounds is refused, with the reason; a polynomial has a closed form for any length."""
    with pytest.raises(NotApplicable, match="not a whole number"):
        value_on(sp.Sum(eta**t, (t, 0, T / 2)), run_of(3))
    with pytest.raises(NotApplicable, match=f"more than {MOST_TERMS} terms"):
        value_on(sp.Sum(1 / t, (t, 1, 10**6 * T)), run_of(1))
    assert value_on(sp.Sum(t, (t, 1, 10**6 * T)), run_of(1)) == fmpq(10**6 * (10**6 + 1), 2)


def test_an_index_is_no_quantity() -> None:
    """A symbol that is both index and quantity is rejected."""
    with pytest.raises(ValueError, match="index of a sum and a quantity"):
        value_on(sp.Sum(1 / T, (T, 1, 3)), run_of(2))


def test_pieces_without_a_condition_have_no_value() -> None:
    """Without a satisfied condition there is no value, and unselected pieces may divide by zero."""
    some = sp.Piecewise((eta, T < 3))
    assert value_on(some, run_of(2)) == fmpq(1, 3)
    with pytest.raises(NotApplicable, match="no condition of"):
        value_on(some, run_of(5))
    assert value_on(sp.Piecewise((1 / (T - 2), T > 2), (eta, True)), run_of(2)) == fmpq(1, 3)


def test_jumps_are_not_guessed() -> None:
    """If rounding may hide the side of a jump, floats and enclosures are undecided; rationals are not."""
    tenth = sp.floor(3 * eta * 10)
    assert value_on(tenth, run_of(1, "1/10")) == 3
    near = FLOAT.array([[[2.9999999999999996]]])
    with pytest.raises(Unresolved):
        round_down(near)
    wide = RATIONAL.array([[[0]]])
    wide[0, 0, 0] = arb("2 +/- 0.1")
    with pytest.raises(Unresolved):
        round_up(wide)
    wide[0, 0, 0] = arb("2.5 +/- 0.1")
    assert round_up(wide).item() == 3
    with pytest.raises(Unresolved):
        value_on(sp.Piecewise((1, T * eta < sp.Rational(3, 10)), (2, True)), run_of(3, "1/10", FLOAT))
    assert value_on(sp.Piecewise((1, T * eta < sp.Rational(3, 10)), (2, True)), run_of(3, "1/10")) == 2


def test_claims_may_be_made_of_them() -> None:
    """A true bound with a finite sum holds on a run."""
    from verify.check import check

    claim = Claim(id="t:sum", lhs=eta * T, rhs=sp.Sum(eta, (t, 1, T)), where=WHERE)
    outcome = check(claim, run_of(5))
    assert outcome.holds is True

"""Step sizes that a claim states: which runs have them, and what is measured along runs with changing sizes."""

from __future__ import annotations

import pytest
import sympy as sp
from flint import fmpq

import fedtheory as ft
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory import step_sizes
from fedtheory.arithmetic import FLOAT, RATIONAL, Arithmetic
from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.federation.step_sizes import StepSchedule

n, k, mu, L, tau = sp.symbols("n k mu L tau", positive=True)
_WHERE = {mu: q.strong_convexity, L: q.smoothness, tau: q.local_steps}
_SIZES = step_sizes(2 / (mu * (sp.Max(8 * L / mu, tau) + tau * n + k)), _WHERE)
_PROBLEM = {
    "kind": "quadratic",
    "hessians": [[["1"]], [["1/5"]], [["2"]]],
    "linear": [["1"], ["-1/2"], ["3"]],
    "start": ["3"],
    "noise": "1/10",
}


def _run(size: str, arithmetic: Arithmetic = RATIONAL, **keys: object) -> Run:
    algorithm = {"local_step_size": size, "local_steps": 5, "rounds": 4, **keys}
    return ft.parse_run({"problem": _PROBLEM, "algorithm": algorithm}, arithmetic)


@pytest.mark.parametrize("arithmetic", [FLOAT, RATIONAL], ids=["floats", "rationals"])
def test_a_run_with_the_stated_sizes(arithmetic: Arithmetic) -> None:
    assert _SIZES.failure(_run("2/(1/5*(80 + 5*n + k))", arithmetic)) is None


@pytest.mark.parametrize(
    ("size", "reason"),
    [
        ("2/(1/5*(80 + 5*n))", "local step 1 of round 0"),
        ("2/(1/5*(81 + 5*n + k))", "local step 0 of round 0"),
        ("1/8", "local step 1 of round 0"),
    ],
    ids=["constant in a round", "shifted", "constant"],
)
def test_a_run_with_other_sizes(size: str, reason: str) -> None:
    found = _SIZES.failure(_run(size))
    assert reason in str(found)


def test_the_formula_of_a_problem_is_that_of_run_files() -> None:
    formula = _SIZES.formula_on(_run("1"))
    assert formula is not None
    assert all(
        StepSchedule(formula).evaluate_exactly(i, j) == 10 / sp.Integer(80 + 5 * i + j)
        for i in range(3)
        for j in range(5)
    )


def test_the_formula_needs_numbers() -> None:
    flat = ft.parse_run(
        {
            "problem": {**_PROBLEM, "hessians": [[["0"]], [["1"]], [["1"]]]},
            "algorithm": {"local_step_size": 1, "rounds": 1},
        },
        RATIONAL,
    )
    assert _SIZES.formula_on(flat) is None


def test_unknown_symbols_are_named() -> None:
    with pytest.raises(InputError, match="got gamma"):
        step_sizes(1 / (sp.Symbol("gamma") + n), _WHERE)
    with pytest.raises(InputError, match="one value for the whole run"):
        step_sizes(1 / (mu + n), {mu: q.server_distance_sq})


def test_constant_sizes_written_as_a_formula_change_nothing() -> None:
    constant, formula = _run("1/20"), _run("1/20 + 0*n")
    for quantity in (q.visited_second_moment, q.suboptimality_at_step, q.final_suboptimality):
        values = (quantity.on(run) for run in (constant, formula))
        one, other = values
        assert (one == other) if quantity.place == "run" else (one == other).all()
    for assumption in (a.unit_server_step, a.full_participation, a.uniform_shares):
        assert assumption.failure(formula) is None
    assert constant.ball.radius == formula.ball.radius


def test_mini_batch_noise_at_the_points_that_are_visited() -> None:
    data = {"kind": "least-squares", "inputs": [[["1"], ["2"]], [["1"], ["-1"]]], "outputs": [["1", "0"], ["2", "1"]]}
    tables = [
        {
            "problem": {**data, "start": ["1"], "batch": 1},
            "algorithm": {"local_step_size": s, "local_steps": 3, "rounds": 2},
        }
        for s in ("1/20", "1/20 + 0*n")
    ]
    one, other = (ft.parse_run(table, RATIONAL) for table in tables)
    assert q.visited_second_moment.on(one) == q.visited_second_moment.on(other)


def test_the_ball_is_made_for_the_largest_step() -> None:
    growing = _run("(1 + n)/100")
    assert growing.algorithm.largest_step_size == fmpq(4, 100)
    assert growing.ball.radius == _run("1/25").ball.radius


def test_the_server_step_of_changing_sizes_is_looked_at() -> None:
    assert a.unit_server_step.failure(_run("1/(20 + n)", server_step_size="2")) is not None


@pytest.mark.parametrize(
    ("formula", "place", "value"),
    [
        ("min(n + 1, 10)/100", (3, 0), fmpq(4, 100)),
        ("(1/10)*(1/2)**(n // 30)", (65, 2), fmpq(1, 40)),
        ("1/(1 + n % 3)", (5, 0), fmpq(1, 3)),
        ("max(1/(1 + n), 1/10)", (50, 0), fmpq(1, 10)),
    ],
    ids=["warm-up", "step decay", "cyclic", "floor"],
)
def test_schedules_of_practice_are_exact(formula: str, place: tuple[int, int], value: fmpq) -> None:
    found = StepSchedule(formula).evaluate_exactly(*place)
    assert (found.numerator, found.denominator) == (value.p, value.q)


def test_a_cosine_has_floats_only() -> None:
    schedule = StepSchedule("(1 + cos(pi*n/50))/20")
    assert schedule.evaluate_exactly(25, 0) == pytest.approx(0.05)
    with pytest.raises(InputError, match="irrational"):
        schedule.relative(1, 0, RATIONAL)
    with pytest.raises(InputError, match="expected positive numbers"):
        schedule.evaluate_exactly(50, 0)
    with pytest.raises(InputError, match="sqrt, cos and exp, got 'sin"):
        StepSchedule("sin(n)")

"""Badly scaled problems have correct printed digits, or are rejected."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fedtheory import planner
from fedtheory.arithmetic import FLOAT, RATIONAL, Array, plain_float, plain_floats
from fedtheory.engine.run import Run
from fedtheory.errors import InputError, Unresolved
from fedtheory.federation import fedavg
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.problem import Problem, least_squares
from fedtheory.federation.problem.matrices import quadratic
from fedtheory.federation.problem.rows import WeightedRows
from fedtheory.runfile import parse_run

PRINTED = 5e-7
LONGLEY = (
    (60323, 83.0, 234289, 2356, 1590, 107608, 1947),
    (61122, 88.5, 259426, 2325, 1456, 108632, 1948),
    (60171, 88.2, 258054, 3682, 1616, 109773, 1949),
    (61187, 89.5, 284599, 3351, 1650, 110929, 1950),
    (63221, 96.2, 328975, 2099, 3099, 112075, 1951),
    (63639, 98.1, 346999, 1932, 3594, 113270, 1952),
    (64989, 99.0, 365385, 1870, 3547, 115094, 1953),
    (63761, 100.0, 363112, 3578, 3350, 116219, 1954),
    (66019, 101.2, 397469, 2904, 3048, 117388, 1955),
    (67857, 104.6, 419180, 2822, 2857, 118734, 1956),
    (68169, 108.4, 442769, 2936, 2798, 120445, 1957),
    (66513, 110.8, 444546, 4681, 2637, 121950, 1958),
    (68655, 112.6, 482704, 3813, 2552, 123366, 1959),
    (69564, 114.2, 502601, 3931, 2514, 125368, 1960),
    (69331, 115.7, 518173, 4806, 2572, 127852, 1961),
    (70551, 116.9, 554894, 4007, 2827, 130081, 1962),
)
"""NIST's data set: total employment, then six features."""
CERTIFIED = (-3482258.63459582, 15.0618722713733, -0.0358191792925910, -2.02022980381683)
CERTIFIED_RESIDUAL = 836424.055505915
"""NIST's certified intercept, first coefficients and sum of squared residuals."""


REFUSED_FROM = {"columns": 99, "rotated": 8, "consistent": 8}
"""Number of digits of the condition number above which floats are rejected, after scaling of columns."""


def longley() -> Problem:
    """Return the Longley problem: two clients of eight rows each, with an intercept first."""
    rows = np.array(LONGLEY, dtype=float)
    inputs = np.column_stack([np.ones(16), rows[:, 1:]])
    data = ClientData((inputs[:8], inputs[8:]), (rows[:8, 0], rows[8:, 0]))
    return least_squares(data, FLOAT.zeros(7))


def test_longley_is_solved_as_certified() -> None:
    """x*, F*, the gap and the distance of the start agree with NIST to all printed digits."""
    problem = longley()
    run = Run(problem, fedavg(problem, rounds=3, local_steps=5, local_step_size=5.2e-13))
    assert problem.optimum[:4] == pytest.approx(CERTIFIED, rel=PRINTED)
    assert problem.optimal_value == pytest.approx(CERTIFIED_RESIDUAL / 16, rel=1e-9)
    assert run.initial_distance_sq == pytest.approx(float(problem.optimum @ problem.optimum), rel=PRINTED)
    start = float(np.mean(np.array(LONGLEY)[:, 0].astype(float) ** 2))
    assert run.initial_gap == pytest.approx(start - CERTIFIED_RESIDUAL / 16, rel=PRINTED)


def test_longley_s_errors_are_refused_in_floats() -> None:
    """Second moments of size 1e13 and curvatures of size 1e11 leave no digits of an error of size 1e9."""
    problem = longley()
    run = Run(problem, fedavg(problem, rounds=3, local_steps=5, local_step_size=5.2e-13))
    with pytest.raises(Unresolved, match="standardize = true, or --arithmetic rational"):
        _ = run.trajectory.server_suboptimality
    with pytest.raises(Unresolved, match="smallest curvature is lost"):
        _ = run.strong_convexity


def rows_of(condition: float, kind: str) -> tuple[Array, Array]:
    """Return rows (24, 4) with a condition number, by the scales of columns or in all directions, and outputs."""
    generator = np.random.default_rng(3)
    left = np.linalg.qr(generator.normal(size=(24, 4)))[0]
    right = np.eye(4) if kind == "columns" else np.linalg.qr(generator.normal(size=(4, 4)))[0]
    inputs = left @ np.diag(np.geomspace(1, 1 / condition, 4)) @ right
    exact = inputs @ generator.normal(size=4)
    return inputs, exact if kind == "consistent" else exact + generator.normal(size=24)


@pytest.mark.parametrize("kind", ["columns", "rotated", "consistent"])
@pytest.mark.parametrize("digits", range(13))
def test_a_ladder_of_condition_numbers(digits: int, kind: str) -> None:
    """x*, F* and |x*|^2 agree with rationals to all printed digits, or the rows are rejected with a suggestion."""
    inputs, outputs = rows_of(10.0**digits, kind)
    parts = ((inputs[:9], inputs[9:]), (outputs[:9], outputs[9:]))
    exact = ClientData(*(tuple(RATIONAL.array(part.astype(object)) for part in given) for given in parts))
    truth = least_squares(exact, RATIONAL.zeros(4))
    if digits >= REFUSED_FROM[kind]:
        with pytest.raises(InputError, match="standardize = true, or --arithmetic rational"):
            least_squares(ClientData(*parts), FLOAT.zeros(4))
        return
    found = least_squares(ClientData(*parts), FLOAT.zeros(4))
    assert found.optimum == pytest.approx(plain_floats(truth.optimum), rel=PRINTED)
    assert found.optimum @ found.optimum == pytest.approx(plain_float(truth.optimum @ truth.optimum), rel=PRINTED)
    assert found.optimal_value == pytest.approx(plain_float(truth.optimal_value), rel=PRINTED, abs=1e-24)


@pytest.mark.parametrize("digits", range(0, 13, 2))
def test_errors_of_runs_on_the_ladder(digits: int) -> None:
    """Errors after some rounds agree with rationals to all printed digits, or floats reject them."""
    inputs, outputs = rows_of(10.0**digits, "columns")
    parts = ((inputs[:9], inputs[9:]), (outputs[:9], outputs[9:]))
    exact = ClientData(*(tuple(RATIONAL.array(part.astype(object)) for part in given) for given in parts))
    errors = []
    for problem in (least_squares(ClientData(*parts), FLOAT.zeros(4)), least_squares(exact, RATIONAL.zeros(4))):
        size = problem.arithmetic.number("1/2", "step")
        run = Run(problem, fedavg(problem, rounds=12, local_steps=2, local_step_size=size))
        try:
            errors.append(plain_floats(run.trajectory.server_suboptimality))
        except Unresolved:
            assert digits >= 4
            return
    assert errors[0] == pytest.approx(errors[1], rel=PRINTED)


def test_columns_that_depend_on_each_other_are_flat() -> None:
    """With indicator columns that add up to the intercept, the minimiser closest to the start is returned."""
    inputs = np.array([[1.0, 1, 0], [1, 1, 0], [1, 0, 1], [1, 0, 1]])
    problem = least_squares(ClientData((inputs,), (np.array([1.0, 3, 5, 7]),)), FLOAT.zeros(3))
    assert problem.optimum == pytest.approx([8 / 3, -2 / 3, 10 / 3])
    assert problem.curvatures[-1] == 0


def test_quadratics_without_digits_are_refused() -> None:
    """A Hessian with a condition number of 1e11 is rejected, unless scales of the unknowns explain it."""
    turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    faint = turn @ np.diag([1.0, 1e-11]) @ turn.T
    hessians = np.stack([(faint + faint.T) / 2])
    with pytest.raises(InputError, match="too ill-conditioned for floats"):
        quadratic(hessians, np.array([[1.0, 0.0]]), np.zeros(2))
    scaled = quadratic(np.array([[[1.0, 0.0], [0.0, 1e-11]]]), np.array([[1.0, 1.0]]), np.zeros(2))
    assert scaled.optimum.tolist() == pytest.approx([1.0, 1e11])


def test_the_refusal_of_a_run_file_names_its_way_out(tmp_path: Path) -> None:
    """The message names the key, and a suggestion."""
    inputs, outputs = rows_of(1e10, "rotated")
    rows = "a,b,c,d,y,client\n" + "\n".join(
        ",".join(map(repr, [*map(float, x), float(y), 0])) for x, y in zip(inputs, outputs, strict=True)
    )
    (tmp_path / "rows.csv").write_text(rows, encoding="utf-8")
    table = {"problem": {"kind": "least-squares", "data": "rows.csv"}, "algorithm": {"local_step_size": 1, "rounds": 1}}
    with pytest.raises(InputError, match=r"problem\.data: too ill-conditioned .* standardize = true"):
        parse_run(table, FLOAT, tmp_path)


def test_a_plan_without_digits_is_refused() -> None:
    """A plan whose errors would be rounding is rejected with a suggestion."""
    problem = longley()
    run = Run(problem, fedavg(problem, rounds=100, local_steps=5, local_step_size=5.2e-13))
    with pytest.raises(InputError, match="standardize = true"):
        planner.plan(run, claims=[])


def test_a_start_at_the_optimum_is_one_in_floats() -> None:
    """A start at the optimum has distance exactly zero in floats, although x* is rounded."""
    rows = [[["0", "-2"], ["-2", "2"], ["-2", "1"]]]
    problem = {"kind": "least-squares", "inputs": rows, "outputs": [["0", "1", "-1"]], "start": ["1/6", "2/9"]}
    algorithm = {"name": "fedavg", "local_step_size": "1/64", "local_steps": 1, "rounds": 2}
    run = parse_run({"problem": problem, "algorithm": algorithm}, FLOAT)
    assert run.initial_gap == 0
    assert run.trajectory.server_suboptimality.tolist() == [0, 0, 0]


def test_rows_factorised_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tall data are factorised in parts, with the same Gram matrix and minimiser."""
    generator = np.random.default_rng(5)
    data = ClientData(*(tuple(generator.normal(size=(n, *d)) for n in (50, 7, 90)) for d in ((3,), ())), ridge=0.1)
    weights, origin = np.array([0.5, 0.2, 0.3]), np.array([1.0, -1.0, 2.0])
    whole = WeightedRows.from_data(data, weights, origin)
    monkeypatch.setattr("fedtheory.federation.problem.rows._MOST_ENTRIES", 16)
    parts = WeightedRows.from_data(data, weights, origin)
    assert parts.triangle.shape == whole.triangle.shape
    assert parts.triangle.T @ parts.triangle == pytest.approx(whole.triangle.T @ whole.triangle)
    assert parts.nearest_minimiser() == pytest.approx(whole.nearest_minimiser())

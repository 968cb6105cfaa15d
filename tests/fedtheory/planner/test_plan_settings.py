"""Settings of plans against values by hand: step sizes, numbers of local steps, batches, edges of losses."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from planned_runs import THEOREM, a_run

from fedtheory import FLOAT
from fedtheory.errors import NotApplicable
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.planner import alternatives, measurements, model_edges, stability
from fedtheory.planner.admissible import Edge
from fedtheory.planner.alternatives import Alternative, Alternatives, Costs, Objective, _list_doubled, _list_halved
from fedtheory.planner.bound import ROUNDS, STEP, NumericBound, bound_of_numbers
from fedtheory.planner.description import _round_down
from fedtheory.planner.exact_optimum import ExactErrors
from fedtheory.planner.measurements import compare_numbers, find_covered_edge
from fedtheory.planner.outcomes import ErrorAtStepSize
from fedtheory.planner.planning import _find_contradiction, _set_rounds
from fedtheory.planner.rounds_needed import FINAL, RoundsNeeded, find_planned_and_best
from fedtheory.runfile import parse_run

ETA, T, A = sp.symbols("eta T A", positive=True)


def _bound(expression: sp.Expr, *conditions: Any, **values: float) -> NumericBound:
    names = {ETA: STEP, T: ROUNDS, A: "a"}
    return NumericBound(
        THEOREM, tuple(sp.Add.make_args(sp.sympify(expression))), conditions, names, {STEP: 1.0, **values}
    )


def test_numbers_against_assumptions() -> None:
    """Noise contradicts full gradients, and another server step contradicts a server step of one."""
    sigma = sp.Symbol("sigma", positive=True)
    quiet: Any = SimpleNamespace(where={sigma: q.noise_deviation}, assumptions=(a.full_gradients,))
    assert _find_contradiction(quiet, {"sigma": 0.5}) == f"{a.full_gradients.name}: the gradients are noisy"
    assert _find_contradiction(quiet, {"noise_deviation": 0.5}) is not None
    for numbers in ({}, {"sigma": 0.0}, {"server_step_size": 2.0}):
        assert _find_contradiction(quiet, numbers) is None
    plain: Any = SimpleNamespace(where={sigma: q.noise_deviation}, assumptions=(a.unit_server_step,))
    assert _find_contradiction(plain, {"sigma": 0.5}) is None
    assert _find_contradiction(plain, {"server_step_size": 2.0}) == (
        f"{a.unit_server_step.name}: the server step size is 2, not 1"
    )
    assert _find_contradiction(plain, {"server_step_size": 1.0}) is None


def test_rounds_of_numbers() -> None:
    """Given rounds are kept; otherwise they follow from the accuracy, or there are none."""
    bound = replace(_bound(8 / T + ETA), values={STEP: 1.0})
    assert _set_rounds(replace(bound, values={STEP: 1.0, ROUNDS: 3.0}), None).values[ROUNDS] == 3
    assert _set_rounds(bound, 3.0).values[ROUNDS] == 4
    assert _set_rounds(_bound(ETA), None).values == {STEP: 1.0}
    with pytest.raises(NotApplicable, match="not given: the rounds"):
        _set_rounds(bound, None)
    with pytest.raises(NotApplicable, match="out of reach"):
        _set_rounds(bound, 0.5)


def test_numbers_of_bounds_are_possible() -> None:
    """Counts are positive integers; missing numbers are named."""
    for given, text in (
        ({"local_steps": 0.5}, "expected at least 1"),
        ({"local_steps": 1.5}, "expected a whole number"),
        ({"local_steps": 2}, "not given"),
    ):
        with pytest.raises(NotApplicable, match=text):
            bound_of_numbers(THEOREM, given)


def test_differences_beyond_rounding() -> None:
    expected = {"a": 1.0, "b": 1.0, "c": 0.0}
    assert compare_numbers(expected, {"a": 1.0 + 1e-15, "b": 1.1, "c": 0.0}) == ["b"]
    assert compare_numbers(expected, {"c": 1e-300, "a": -1.0}) == ["c", "a"]


@pytest.mark.parametrize(
    ("edge", "true_edge", "smoothness", "expected"),
    [
        (3.0, 9.0, 1.0, 3.0),
        (0.0, 9.0, 1.0, 0.0),
        (3.0, 2.0, 1.0, 2.0),
        (math.inf, 2.0, 1.0, 2.0),
        (3.0, 1e-9, 1.0, 0.0),
        (1.0, 0.3, 1.0, 0.3),
    ],
)
def test_step_sizes_that_assumptions_allow(
    edge: float, true_edge: float, smoothness: float, expected: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Step sizes are limited by conditions, by two over the smoothness, or by bisection, down to 2^-15."""
    monkeypatch.setattr(measurements, "list_failures", lambda _, step: step > true_edge)
    errors: Any = SimpleNamespace(
        planned=1.0, run_with=lambda step: step, run=SimpleNamespace(sample_smoothness=smoothness)
    )
    found = find_covered_edge(THEOREM, Edge(edge), errors).value
    assert found == pytest.approx(expected, rel=3e-3)
    assert found <= true_edge


def test_costs_of_rounds() -> None:
    """Local steps cost their rows, messages their vectors."""
    run, other = a_run(local_steps=3), a_run(local_steps=5)
    assert Costs(2.0, 7.0).cost_round(run, other) == 13
    assert Costs().cost_round(run, other) == 1


def test_ranks_of_settings() -> None:
    """Without a target settings are ranked by errors; otherwise by the cost of reaching the target."""

    def setting(error: float, cost: float, *, reached: bool) -> Alternative:
        return Alternative("fedavg", 1, None, ErrorAtStepSize(0.5, 3, error, reached, False), cost, False)

    near, cheap, missed = (
        setting(1.0, 9.0, reached=True),
        setting(2.0, 5.0, reached=True),
        setting(0.5, 1.0, reached=False),
    )
    assert sorted([near, cheap, missed], key=lambda one: one.rank(1.0)) == [cheap, near, missed]
    assert sorted([near, cheap, missed], key=lambda one: one.rank(None)) == [missed, near, cheap]
    asked: Any = SimpleNamespace(accuracy=1.0)
    for one, other, better in (
        (setting(1.0, 95.0, reached=True), setting(1.0, 100.0, reached=True), True),
        (setting(1.0, 96.0, reached=True), setting(1.0, 100.0, reached=True), False),
        (setting(1.0, 500.0, reached=True), setting(0.1, 1.0, reached=False), True),
        (setting(0.1, 1.0, reached=False), setting(1.0, 500.0, reached=True), False),
    ):
        assert Alternatives._is_better(asked, one, other) is better


def test_counts_of_local_steps() -> None:
    assert list(_list_doubled(3)) == [6, 12, 24, 48, 96, 192]
    assert [list(_list_halved(steps)) for steps in (1, 2, 7)] == [[], [1], [3, 1]]


def test_other_settings_cost_as_much_as_planned() -> None:
    """Without a target other settings have the planned cost; the planned one is named."""
    run = a_run(local_steps=2, rounds=10)
    asked = Objective("final", None, 0.1, Costs(1.0, 4.0))
    best = ErrorAtStepSize(0.25, 10, 0.5, False, False)
    known = Alternatives(run, asked, best)
    assert known.planned is not None
    assert (known.planned.cost, known.planned.is_planned, known.planned.outcome) == (60, True, best)
    other = known.find_setting(5, None)
    assert other is not None
    assert (other.outcome.rounds, other.cost, other.is_planned) == (6, 54, False)
    again = Alternatives(run, asked).find_setting(2, None)
    assert again is not None
    assert (again.outcome.rounds, again.is_planned) == (10, True)


def test_batches_to_try(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches are a quarter, four and sixteen times the planned one, limited by clients, and full gradients."""
    monkeypatch.setattr(alternatives, "Problem", SimpleNamespace)

    def batches(planned: int | None, *rows: int) -> list[int | None]:
        monkeypatch.setattr(alternatives, "_get_batch_size", lambda _: planned)
        data = SimpleNamespace(outputs=[[0] * count for count in rows])
        run: Any = SimpleNamespace(problem=SimpleNamespace(data=data))
        return list(alternatives._list_batch_sizes(run))

    assert batches(8, 40, 90) == [2, 8, 32, None]
    assert batches(8, 32, 90) == [2, 8, 32, None]
    assert batches(8, 31, 90) == [2, 8, None]
    assert batches(2, 100, 100) == [1, 2, 8, 32, None]
    assert batches(50, 40) == [12, 50, None]
    assert batches(None, 64, 128) == [1, 4, 16, 64, None]
    assert batches(None, 8) == [1, 4, None]


def test_edges_of_losses_with_a_ridge() -> None:
    """Far away a step multiplies a model by 1 - eta ridge, so that the edge is two over the ridge."""

    def edge(ridge: float, steps: tuple[int, ...], sizes: tuple[float, ...], server: float = 1.0) -> float:
        moments = SimpleNamespace(mean=np.full(len(steps), 1 / len(steps)))
        aggregation = SimpleNamespace(moments=lambda _: moments, server_step_size=server)
        algorithm = SimpleNamespace(
            defined=None,
            work=SimpleNamespace(step_sizes=np.array(sizes), steps=steps),
            aggregation=aggregation,
            clock=SimpleNamespace(is_synchronous=True),
        )
        problem = SimpleNamespace(model=SimpleNamespace(ridge=ridge), weights=None)
        run: Any = SimpleNamespace(algorithm=algorithm, problem=problem)
        return model_edges.find_model_edge(run)

    assert edge(0.0, (1,), (1.0,)) == math.inf
    assert edge(0.5, (1,), (1.0,)) == pytest.approx(4.0)
    assert edge(0.5, (1,), (1.0,), server=2.0) == pytest.approx(2.0)
    assert edge(0.5, (3,), (1.0,)) == pytest.approx(4.0)
    assert edge(1.0, (1, 1), (1.0, 0.5)) == pytest.approx(8 / 3)
    assert edge(1.0, (1,), (1.0,), server=0.0) == math.inf
    assert edge(1.0, (1,), (1.0,), server=1e5) == pytest.approx(2e-5, rel=1e-3)


def test_growth_of_errors_decides_where_no_map_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Growth up to a million times the first error is allowed; non-finite errors are not."""
    monkeypatch.setattr(stability, "is_deterministic", lambda _: True)
    run: Any = SimpleNamespace(algorithm=SimpleNamespace(rounds=5, rounds_are_alike=True))
    asked = []
    for last, settles in ((1e6, True), (1.1e6, False), (math.inf, False), (0.0, True)):
        monkeypatch.setattr(
            stability, "compute_path_errors", lambda _, rounds, last=last: asked.append(rounds) or np.array([1.0, last])
        )
        assert stability._stays_bounded(run) is settles
    assert set(asked) == {200}


def test_the_margin_of_step_sizes() -> None:
    """The margin is a fraction of the edge of divergence, or of the largest tried step size."""
    edges = ((2.0, True, 1.8), (math.inf, True, 4.0), (1e9, False, 64.0), (2.0, False, 1.8), (math.inf, False, 64.0))
    for edge, quadratic, largest in edges:
        problem = SimpleNamespace(is_quadratic=quadratic)
        found: Any = SimpleNamespace(
            diverges_from=edge,
            margin=0.1,
            errors=SimpleNamespace(planned=0.5, grid=[1.0, 4.0], run=SimpleNamespace(problem=problem)),
            _farthest=64.0,
        )
        assert RoundsNeeded.largest.fget(found) == pytest.approx(largest)  # type: ignore[attr-defined]
    far: Any = SimpleNamespace(errors=SimpleNamespace(planned=0.5, run=SimpleNamespace(objective_smoothness=2.0)))
    assert RoundsNeeded._farthest.fget(far) == 32  # type: ignore[attr-defined]


def test_a_client_of_one_row_does_not_hide_large_step_sizes() -> None:
    """A client with curvature 400 and a thousandth of the weight adds 0.4 to that of F: large steps are tried."""
    rows = {"inputs": [[[1.0]] * 999, [[20.0]]], "outputs": [[3.0] * 999, [0.0]]}
    problem = {"kind": "huber", **rows, "width": 1, "shares": "samples", "start": [9.0]}
    run = parse_run({"problem": problem, "algorithm": {"local_step_size": 0.001, "rounds": 40}}, FLOAT)
    found = find_planned_and_best(ExactErrors(run), FINAL, 0.1)
    assert found is not None
    assert found.best.step_size > 0.1
    assert found.best.rounds < 20


def test_two_digits_rounded_down() -> None:
    for number, expected in ((0.2599, 0.25), (1.0, 1.0), (99.9, 99.0), (0.0039, 0.0039), (123.0, 120.0), (0.3, 0.3)):
        assert _round_down(number) == pytest.approx(expected, rel=1e-12)

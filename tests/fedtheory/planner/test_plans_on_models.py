"""Plans of algorithms given by definitions on linear models: edges, step sizes, and other settings."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student

from fedtheory.arithmetic import FLOAT
from fedtheory.engine.linear_models import LinearModelRun
from fedtheory.errors import NotApplicable
from fedtheory.language import quantities as q
from fedtheory.planner import plan
from fedtheory.planner.alternatives import Alternatives, Costs, Objective
from fedtheory.planner.error_curves import measure_curve
from fedtheory.planner.model_edges import find_model_edge
from fedtheory.planner.setting_in_words import describe_planned_run
from fedtheory.runfile import parse_run

CLIENTS, ROWS, RIDGE = 3, 6, 0.2
GENERATOR = np.random.default_rng(7)
INPUTS = GENERATOR.standard_normal((CLIENTS, ROWS, 2)).tolist()
CLASSES = [[0, 1, 0, 1, 1, 0], [1, 1, 0, 1, 0, 0], [0, 0, 0, 1, 1, 0]]
ALGORITHMS: dict[str, dict[str, Any]] = {
    "scaffold": {},
    "fednova": {"local_steps": [1, 2, 3]},
    "fedprox": {"proximal": 0.5},
    "fedavgm": {"momentum": 0.6},
    "dsgd": {"mixing": [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]], "local_steps": 1},
    "scaffnew": {"probability": 0.4, "local_steps": 1},
    "compressed": {"coordinates": 2},
    "fedavg": {"local_step_size": "1/(10 + 2*n)"},
}


def _run(name: str, **problem: Any) -> LinearModelRun:
    keys = {"name": name, "local_step_size": 0.08, "local_steps": 2, "rounds": 6, **ALGORITHMS.get(name, {})}
    data = {"kind": "logistic", "inputs": INPUTS, "outputs": CLASSES, "start": [1.0, -2.0], "ridge": RIDGE}
    run = parse_run({"problem": {**data, **problem}, "algorithm": keys}, FLOAT)
    assert isinstance(run, LinearModelRun)
    return run


def _plain(batch: int | None = None) -> LinearModelRun:
    """Return FedAvg with steps of one size."""
    keys = {"name": "fedavg", "local_step_size": 0.08, "local_steps": 2, "rounds": 6}
    return replace(_run("fedprox", **({} if batch is None else {"batch": batch})), algorithm=_algorithm(keys))


def _algorithm(keys: dict[str, Any]) -> Any:
    data = {"kind": "logistic", "inputs": INPUTS, "outputs": CLASSES, "start": [1.0, -2.0], "ridge": RIDGE}
    return parse_run({"problem": data, "algorithm": keys}, FLOAT).algorithm


@pytest.mark.long
@pytest.mark.parametrize("name", ALGORITHMS)
def test_plans_recommend_what_the_run_itself_reaches(name: str) -> None:
    answer = plan(_run(name), claims=[]).answer
    assert answer is not None
    best = answer.best
    at_best = _run(name).with_many_rounds().with_step_factor(best.step_size / _plan(name))
    assert best.error == pytest.approx(at_best.trajectory.server_suboptimality[-1], rel=1e-9)
    assert best.error <= answer.planned.error
    assert answer.planned.step_size == pytest.approx(_plan(name))


def _plan(name: str) -> float:
    return float(max(_run(name).algorithm.work.step_sizes))


@pytest.mark.parametrize("name", ["scaffold", "fedavgm", "fednova"])
def test_steps_of_clients_at_the_ridge_alone_diverge_from_two_over_it(name: str) -> None:
    """With server momentum the edge is (2 + 2 beta) / ridge, by the eigenvalues of [[1-s+b, -b], [1, 0]]."""
    run = _run(name).with_work((1,) * CLIENTS, 0.08)
    edge = (2 + 2 * 0.6) / RIDGE if name == "fedavgm" else 2 / RIDGE
    assert find_model_edge(run) == pytest.approx(edge, rel=1e-5)


def test_the_proximal_weight_limits_steps_without_a_ridge() -> None:
    """Two steps from x: x (1 - eta r), and back towards x by eta rho; without curvature the model stays."""
    edge, rho = find_model_edge(_run("fedprox")), 0.5
    for factor, grows in ((0.999, False), (1.001, True)):
        eta = factor * edge
        first = 1 - eta * RIDGE
        second = first - eta * (RIDGE * first + rho * (first - 1))
        assert (abs(second) > 1) == grows
    assert math.isinf(find_model_edge(_run("fedprox", ridge=0)))
    many = _run("fedprox", ridge=0).with_work((50,) * CLIENTS, 0.08)
    assert math.isinf(find_model_edge(many))


def test_edges_of_changing_steps_are_not_known() -> None:
    assert math.isinf(find_model_edge(_run("fedavg")))


def test_limits_of_moments_are_not_known_on_models() -> None:
    run = _run("scaffnew")
    for quantity in (q.limiting_distance_sq, q.limiting_mean_distance_sq, q.consensus_distance_sq):
        with pytest.raises(NotApplicable, match="logistic"):
            quantity.on(run)


@pytest.mark.long
def test_settings_beside_the_planned_one_are_runs_of_the_same_kind() -> None:
    """Other local steps, batches and SCAFFOLD have the errors of their own runs."""
    run = _plain().with_many_rounds()
    others = Alternatives(run, Objective("final", None, 0.1, Costs()))
    table = others.list_settings(("batch", "algorithm"))
    assert {one.name for one in table} == {"fedavg", "scaffold"}
    assert {one.batch for one in table} == {None, 1, 4}
    found = others.find_setting(4, None)
    assert found is not None
    assert found.name == "fedavg"
    same = run.with_work((4,) * CLIENTS, found.outcome.step_size).with_rounds(found.outcome.rounds)
    assert found.outcome.error == pytest.approx(same.trajectory.server_suboptimality[-1], rel=1e-9)
    beside = others.find_cheap_alternatives()
    assert beside.has_tried_steps
    assert beside.scaffold is not None
    assert beside.planned is not None


def test_batches_are_named() -> None:
    assert "batches of 3 rows drawn with replacement" in describe_planned_run(_plain(3))[0]
    assert "batches" not in describe_planned_run(_plain())[0]


def test_average_errors_of_replicas_have_intervals() -> None:
    """Their half width is that of Student's interval for the averages of independent groups; of one path it is zero."""
    run = _plain(batch=2)
    curve = measure_curve(run, q.average_suboptimality)
    assert curve.errors[-1] == pytest.approx(float(q.average_suboptimality.on(run)), rel=1e-12)
    gaps = run.trajectory.replicas.local.gaps[:, 1:].mean(axis=(0, 1))
    reach = student.ppf(0.975, len(gaps) - 1) * gaps.std(ddof=1) / np.sqrt(len(gaps))
    assert len(gaps) > 1
    assert curve.half_widths[-1] == pytest.approx(reach, rel=1e-9)
    assert reach > 0
    assert not measure_curve(_plain(), q.average_suboptimality).half_widths.any()

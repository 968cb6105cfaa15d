"""Sentences of a plan: the planned run, the meaning of F*, causes of divergence, and vacuous bounds."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedtheory import FLOAT, Run, planner
from fedtheory.language import quantities as q
from fedtheory.planner.coverage import ERRORS, LIMITS
from fedtheory.planner.divergence import describe_divergence, explain_divergence
from fedtheory.planner.measurements import DRIFTS
from fedtheory.planner.outcomes import ErrorAtStepSize
from fedtheory.planner.recommendation import compute_error_at_start
from fedtheory.planner.sentences import describe_answer
from fedtheory.planner.setting_in_words import describe_planned_run, format_error, list_notes
from fedtheory.planner.target import count_vectors_of_client
from fedtheory.runfile import parse_run

ROWS = ([[[1.0], [3.0]], [[10.0]]], [[1.0, 2.0], [4.0]])
PLAIN: dict[str, Any] = {"local_step_size": 0.01, "local_steps": 5, "rounds": 20}


def run_of(problem: dict[str, Any] | None = None, **algorithm: Any) -> Run:
    """Return least squares on three rows of two clients; the second has one row and the curvature 200."""
    given = {"kind": "least-squares", "inputs": ROWS[0], "outputs": ROWS[1]} | (problem or {})
    return parse_run({"problem": given, "algorithm": PLAIN | algorithm}, FLOAT, Path())


def test_the_first_line_names_everything_that_is_planned() -> None:
    """The first line names algorithm, batches, participation, and clock."""
    words = describe_planned_run(run_of({"batch": 1}, participation={"kind": "uniform", "clients": 1}))[0]
    assert "2 clients; planned: fedavg, step size 0.01, 5 local steps, 20 rounds" in words
    assert "batches of 1 rows drawn with replacement" in words
    assert "1 of 2 clients a round, drawn uniformly" in words
    clocked = describe_planned_run(run_of(clock={"policy": "fedbuff", "buffer": 2, "times": [1, 3]}))[0]
    assert "an update for each 2 reports, client times 1 to 3" in clocked


def test_weights_that_trainers_would_normalise_are_noted() -> None:
    """Weights whose sum varies are noted; those of equal clients sum to one in every round."""
    unequal = {"weights": [0.2, 0.8]}
    for problem, weights, is_noted in (
        (unequal, "unbiased", True),
        (unequal, "normalised", False),
        ({}, "unbiased", False),
    ):
        law = {"kind": "uniform", "clients": 1, "weights": weights}
        assert any("normalised" in note for note in list_notes(run_of(problem, participation=law))) == is_noted


def test_the_smallest_error_has_a_meaning() -> None:
    """F* is the mean squared error of the best model, by hand, and its root has the target's unit."""
    # F(w) = ((w - 1)^2 + (3 w - 2)^2)/4 + (10 w - 4)^2/2, smallest at w = 87/210.
    best = 87 / 210
    lowest = ((best - 1) ** 2 + (3 * best - 2) ** 2) / 4 + (10 * best - 4) ** 2 / 2
    line = describe_planned_run(run_of())[1]
    assert line.startswith(f"F* = {lowest:.6g} (smallest mean squared error, RMSE {np.sqrt(lowest):.6g})")
    assert "RMSE" not in describe_planned_run(run_of({"ridge": 0.1}))[1]


def test_a_diverging_run_names_the_client_and_the_largest_stable_step_size() -> None:
    """One row of length 10 has curvature 200; with one local step the run is stable up to 2/105."""
    cause = explain_divergence(run_of(local_step_size=0.1, local_steps=1))
    assert cause is not None
    assert (cause.client, cause.rows, cause.curvature) == ("1", 1, pytest.approx(200))
    assert cause.alone == pytest.approx(0.01)
    assert cause.diverges_from == pytest.approx(2 / 105, rel=1e-5)
    assert "client 1 (1 row) has curvature 200, 2/200 = 0.01; this run is stable up to 0.019047" in cause.sentence()
    found = planner.plan(run_of(local_step_size=0.1, local_steps=1), claims=[])
    assert ("diverges:", f"as planned: {cause.sentence()}") in describe_answer(found)
    assert planner.plan(run_of(), claims=[]).answer.cause is None


def test_a_run_may_diverge_though_no_client_does() -> None:
    """Stale models, weights above one and mini-batch noise are named as causes for small local steps."""
    stale = {"clock": {"policy": "async", "times": [1, 5]}, "aggregation": "time-based"}
    cause = explain_divergence(run_of(local_step_size=0.009, **stale), edge=0.001)
    assert cause is not None
    # d_i = (1/1 + 1/5) tau_i / 2, largest at tau_i = 5.
    assert cause.others == (
        "an update multiplies the change of a client by up to 3",
        "clients report changes of stale models",
    )
    assert cause.sentence() == (
        "no client diverges alone (client 1 (1 row) has curvature 200, 2/200 = 0.01), but an update multiplies the "
        "change of a client by up to 3, and clients report changes of stale models; this run is stable up to 0.001"
    )
    one_of_two = {"participation": {"kind": "uniform", "clients": 1}}
    sampled = explain_divergence(run_of({"batch": 1}, local_step_size=0.009, server_step_size=2, **one_of_two), 0.001)
    assert sampled is not None
    assert sampled.others == (
        "an update multiplies the change of a client by up to 2",
        "the noise of mini-batches grows with the distance from x*",
    )
    alone = explain_divergence(run_of({"batch": 1}, local_step_size=0.011, **stale), edge=0.001)
    assert alone is not None
    assert alone.others == ()


def test_a_divergence_is_described_where_there_is_one() -> None:
    """The growth of a round and its cause are described; for a stable run there is no description."""
    growth, cause = describe_divergence(run_of(local_step_size=0.1, local_steps=1, rounds=500))
    assert growth.startswith("each round multiplies distances by up to 9.5")
    assert "client 1 (1 row) has curvature 200" in cause
    assert describe_divergence(run_of()) == []


def test_smaller_steps_do_not_help_updates_that_grow(tmp_path: Path) -> None:
    """A server that doubles its model diverges at all step sizes."""
    (tmp_path / "own.py").write_text(
        "import sympy as sp\n"
        "from fedtheory.federation.definition import FederatedAlgorithm, Gradient, Local, Weighted, eta, start\n"
        "x, y = sp.symbols('x y_i', real=True)\n"
        "algorithm = FederatedAlgorithm('doubling', server={x: start}, local=Local(y, start=x,"
        " step=y - eta * Gradient(y)), server_update={x: 2 * Weighted(y)}, model=x)\n"
    )
    table = {"problem": {"kind": "least-squares", "inputs": ROWS[0], "outputs": ROWS[1]}}
    run = parse_run(table | {"algorithm": PLAIN | {"name": "own.py:algorithm"}}, FLOAT, tmp_path)
    cause = explain_divergence(run)
    assert cause is not None
    assert cause.is_hopeless
    assert "smaller step sizes diverge as well" in cause.sentence()
    found = planner.plan(run, claims=[])
    lines = dict(describe_answer(found))
    assert lines["use:"].startswith("no step size: the run diverges at every one tried")
    assert not {"limits:", "local steps:"} & lines.keys()


@pytest.mark.parametrize(("name", "vectors"), [("fedavg", 2), ("fedprox", 2), ("fednova", 2), ("scaffold", 4)])
def test_messages_are_counted_by_vectors(name: str, vectors: int) -> None:
    """SCAFFOLD sends a control variate next to the model, each way."""
    extra = {"proximal": 1} if name == "fedprox" else {}
    run = run_of(name=name, **extra)
    assert count_vectors_of_client(run.algorithm) == vectors
    assert planner.target.compute_round_cost(run).messages == 2 * vectors


@pytest.mark.parametrize("error", [e for e in ERRORS if e not in LIMITS and e.name not in DRIFTS], ids=lambda e: e.name)
def test_the_error_at_the_start_is_known_for_every_measure(error: q.RunQuantity) -> None:
    """Without noise no error grows at small step sizes, so the error of a run is below that at the start."""
    run = run_of(local_step_size=1e-4, local_steps=2, clock={"policy": "async", "times": [1, 2]})
    start = compute_error_at_start(error, run)
    assert start is not None
    assert start >= 0
    gap = {q.average_suboptimality, q.final_suboptimality, q.best_aggregated_suboptimality}
    if error in gap or error is q.mean_virtual_suboptimality:
        assert start == pytest.approx(run.initial_gap, rel=1e-6)


def test_measured_bounds_give_no_advice_on_local_steps() -> None:
    """A bound with measured drift gives no advice on local steps or clients, and no map."""
    found = planner.plan(run_of(local_step_size=0.001), claims=[planner.covering_claims()[0], *_measure()])
    for plan in found.claims:
        if plan.bound is not None and plan.measures_the_run:
            assert plan.useful_local_steps is None
            assert plan.linear_clients is None
            assert plan.measurements is None or plan.measurements.value == plan.measurements.value_at_step


def _measure() -> list[Any]:
    return [claim for claim in planner.covering_claims() if claim.id == "comparator:curvatures.average-error"]


def test_clients_keep_the_labels_of_their_file(tmp_path: Path) -> None:
    """Rows that are distributed by the split have no labels."""
    (tmp_path / "rows.csv").write_text("x,y,who\n1,2,north\n2,1,south\n3,1,south\n10,4,north\n")
    problem = {"kind": "least-squares", "data": "rows.csv"}
    named = {"target": "y", "client": "who", "features": ["x"]}
    for keys, label in ((named, "south"), ({"target": "y", "features": ["x"], "clients": 2}, "1")):
        run = parse_run({"problem": problem | keys, "algorithm": PLAIN}, FLOAT, tmp_path)
        assert run.problem.data is not None
        assert run.problem.data.name_of(1) == label


@pytest.mark.parametrize(
    ("error", "half_width", "expected"),
    [
        (0.00699847, 0.0, "0.00699847"),
        (0.00699847, 0.0027, "0.0070 ± 0.0027"),
        (12.3456, 0.51, "12.35 ± 0.51"),
        (1234.56, 51.0, "1235 ± 51"),
        (1.23456e-9, 2.1e-10, "1.2e-09 ± 2.1e-10"),
        (math.inf, 1.0, "inf"),
    ],
)
def test_errors_with_intervals_have_the_digits_that_they_leave(error: float, half_width: float, expected: str) -> None:
    outcome = ErrorAtStepSize(0.1, 5, error, reached=True, still_falls=False, half_width=half_width)
    assert format_error(outcome) == expected

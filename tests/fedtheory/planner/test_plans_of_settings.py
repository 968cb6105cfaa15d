"""Other settings than the planned one: local steps, batches and SCAFFOLD, by costs of rounds and local steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedtheory import FLOAT, InputError, Run, planner
from fedtheory.arithmetic import plain_floats
from fedtheory.planner.alternatives import Alternatives, Costs, Objective
from fedtheory.planner.deterministic_runs import compute_path_errors, is_deterministic
from fedtheory.planner.sentences import describe_answer
from fedtheory.runfile import parse_run

TRIPLE: dict[str, Any] = {
    "kind": "quadratic",
    "hessians": [[["1", "0"], ["0", "1/10"]], [["1/5", "0"], ["0", "1"]], [["2", "1/2"], ["1/2", "1"]]],
    "linear": [["1", "0"], ["-1/2", "1"], ["3", "0"]],
    "start": ["3", "-2"],
}
PLAIN: dict[str, Any] = {"local_step_size": "1/10", "local_steps": 5, "rounds": 50}
ROWS: dict[str, Any] = {
    "kind": "least-squares",
    "inputs": [[[1.0], [2.0], [0.5], [1.5]], [[1.0], [1.0], [2.0], [3.0]]],
    "outputs": [[1.0, 2.0, 0.0, 1.0], [2.0, 1.0, 3.0, 2.0]],
    "batch": 1,
}


def run_of(problem: dict[str, Any] = TRIPLE, **algorithm: Any) -> Run:
    """Return three different clients in a plane."""
    return parse_run({"problem": problem, "algorithm": PLAIN | algorithm}, FLOAT, Path())


def alternatives(run: Run, accuracy: float | None = None, costs: Costs | None = None) -> Alternatives:
    """Return settings of a run for its final error."""
    return Alternatives(run, Objective("final", accuracy, 0.1, costs or Costs()))


@pytest.mark.parametrize("name", ["scaffold", "fedprox", "fedavgm"])
def test_a_run_without_chance_is_followed_by_its_mean(name: str) -> None:
    """The errors of a deterministic run are those of second moments, round by round."""
    extra = {"fedprox": {"proximal": "1/2"}, "fedavgm": {"momentum": "1/2"}}.get(name, {})
    run = run_of(name=name, **extra)
    assert is_deterministic(run)
    exact = plain_floats(run.trajectory.server_suboptimality[1:])
    assert compute_path_errors(run, 50) == pytest.approx(exact, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("keys", [{}, {"local_steps": [1, 2, 4]}, {"server_step_size": "3/4"}])
def test_a_run_with_changing_step_sizes_is_followed_by_its_mean(keys: dict[str, Any]) -> None:
    """The errors of second moments, and those of the followed models, are equal round by round."""
    run = run_of(local_step_size="1/(20 + 4*n + k)", **keys)
    assert is_deterministic(run)
    exact = plain_floats(run.trajectory.server_suboptimality[1:])
    assert compute_path_errors(run, len(exact)) == pytest.approx(exact, rel=1e-9, abs=1e-12)
    assert not is_deterministic(run_of(TRIPLE | {"noise": "1"}, local_step_size="1/(20 + 4*n + k)"))
    drawn = {"participation": {"kind": "uniform", "clients": 1}}
    assert not is_deterministic(run_of(local_step_size="1/(20 + 4*n + k)", **drawn))


def test_noise_and_drawn_clients_are_no_single_path() -> None:
    """Noise and sampled clients are no single path; nor is the update rule, which has closed forms."""
    for keys in ({}, {"name": "scaffold", "participation": {"kind": "uniform", "clients": 1}}):
        assert not is_deterministic(run_of(**keys))
    assert not is_deterministic(run_of(TRIPLE | {"noise": "1"}, name="scaffold"))


def test_fewer_local_steps_help_unlike_clients() -> None:
    """With one local step there is no drift; each setting is at its own best step size."""
    found = alternatives(run_of())
    better = found.find_better_local_steps()
    assert better is not None
    assert better.local_steps == 1
    alone = planner.plan(run_of(local_steps=1), claims=[])
    assert alone.answer is not None
    assert better.outcome.error == pytest.approx(alone.answer.best.error, rel=1e-3, abs=1e-15)


def test_more_local_steps_help_clients_that_agree() -> None:
    """For clients with one objective more local steps give smaller errors at the same rounds."""
    alike = TRIPLE | {"hessians": [TRIPLE["hessians"][2]] * 3, "linear": [["1", "0"]] * 3}
    better = alternatives(run_of(alike, local_steps=1), 1e-6).find_better_local_steps()
    assert better is not None
    assert better.local_steps > 1
    assert better.outcome.reached


def test_costs_decide_how_many_rounds_a_setting_has() -> None:
    """If a local step costs as much as a round's messages, 5 local steps of 50 rounds cost 300."""
    found = {one.local_steps: one for one in alternatives(run_of(), costs=Costs(1, 1)).list_settings(["steps"])}
    assert found[5].cost == 300
    assert found[1].outcome.rounds == 150
    assert found[20].outcome.rounds == 14
    assert all(one.cost <= 300 for one in found.values() if one.outcome.rounds > 1)
    free = {one.local_steps: one for one in alternatives(run_of()).list_settings(["steps"])}
    assert {one.outcome.rounds for one in free.values()} == {50}


def test_scaffold_stands_beside_federated_averaging() -> None:
    """SCAFFOLD reaches a target that drift prevents for FedAvg, and sends twice the vectors."""
    found = planner.plan(run_of(), 1e-10, claims=[])
    assert found.answer is not None
    assert found.answer.others is not None
    scaffold, plain = found.answer.others.scaffold, found.answer.best
    assert scaffold is not None
    assert scaffold.outcome.reached
    assert not plain.reached or scaffold.outcome.rounds < plain.rounds
    assert scaffold.cost == 2 * scaffold.outcome.rounds
    own = planner.plan(run_of(name="scaffold"), 1e-10, claims=[])
    assert own.answer is not None
    assert own.answer.best.rounds == scaffold.outcome.rounds
    heads = [head for head, _ in describe_answer(found)]
    assert heads == ["use:", "promised:", "limits:", "local steps:", "scaffold:"]


def test_batches_are_varied_with_their_cost() -> None:
    """A quarter of the rows, all rows, and full gradients are tried; more rows cost more."""
    found = {one.batch: one for one in alternatives(run_of(ROWS), costs=Costs(1, 0)).list_settings(["batch"])}
    assert set(found) == {1, 4, None}
    assert found[1].outcome.rounds == 50
    assert found[4].outcome.rounds == found[None].outcome.rounds == 12
    assert found[1].is_planned
    assert not found[4].is_planned


def test_settings_that_are_unknown_are_refused() -> None:
    """Unknown settings, and tables over local steps for different work, are rejected."""
    with pytest.raises(InputError, match="steps, batch, algorithm"):
        planner.plan(run_of(), claims=[], vary=["speed"])
    with pytest.raises(InputError, match="same number of local steps"):
        planner.plan(run_of(local_steps=[1, 2, 3]), claims=[], vary=["steps"])


@pytest.mark.long
def test_the_table_holds_the_planned_setting() -> None:
    """The table contains the planned setting at the step size of the answer."""
    found = planner.plan(run_of(), claims=[], vary=["steps", "algorithm"])
    (own,) = (one for one in found.varied if one.is_planned)
    assert found.answer is not None
    assert own.outcome == found.answer.best
    assert {one.name for one in found.varied} == {"fedavg", "scaffold"}
    assert np.isfinite([one.outcome.error for one in found.varied]).all()

"""Runs of definitions that are computed jointly equal those computed alone, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fedtheory.arithmetic import FLOAT
from fedtheory.engine.batches import compute_trajectories
from fedtheory.engine.run import Run
from fedtheory.errors import Diverging
from fedtheory.runfile import parse_run

MIXING = [[0.75, 0.25], [0.25, 0.75]]
DRAWN = {"participation": {"kind": "uniform", "clients": 1}}
SETTINGS: dict[str, dict[str, Any]] = {
    "momentum": {"name": "fedavgm", "momentum": 0.5},
    "normalised": {"name": "fednova"},
    "control variates": {"name": "scaffold"},
    "drawn": {"name": "scaffold"} | DRAWN,
    "graph": {"name": "dsgd", "mixing": MIXING, "local_steps": 1},
    "coins": {"name": "scaffnew", "probability": 0.5, "local_steps": 1},
    "compressed": {"name": "compressed", "coordinates": 1},
    "steps that shrink": {"name": "fedprox", "proximal": 1, "local_step_size": "1/(10 + n)"},
}


def _runs(keys: dict[str, Any]) -> list[Run]:
    def table(shift: float, rounds: int, size: float) -> dict[str, Any]:
        problem = {
            "kind": "quadratic",
            "hessians": [[[1.0 + shift, 0.2], [0.2, 1.0]], [[2.0, 0.0], [0.0, 1.0 - shift]]],
            "linear": [[1.0, 0.0], [-1.0, shift]],
            "start": [1.0, -2.0],
            "noise": [0.5, shift],
        }
        return {
            "problem": problem,
            "algorithm": {"local_step_size": size, "local_steps": 3, "rounds": rounds} | keys,
        }

    settings = [(0.1, 5, 0.05), (0.2, 5, 0.1), (0.3, 4, 0.05), (0.4, 5, 0.02)]
    return [parse_run(table(*setting), FLOAT) for setting in settings]


@pytest.mark.parametrize("name", SETTINGS)
def test_together_as_alone(name: str) -> None:
    alone, together = _runs(SETTINGS[name]), _runs(SETTINGS[name])
    compute_trajectories(together)
    for one, other in zip(alone, together, strict=True):
        assert "attempted_trajectory" in vars(other)
        assert (one.trajectory.server_suboptimality == other.trajectory.server_suboptimality).all()
        assert np.array_equal(one.trajectory.server_mean, other.trajectory.server_mean)


def test_a_run_that_diverges_does_so_beside_others() -> None:
    problem = {"kind": "quadratic", "hessians": [[[1.0]], [[2.0]]], "linear": [[1.0], [-1.0]], "start": [1.0]}
    runs = [
        parse_run(
            {"problem": problem, "algorithm": {"name": "scaffold", "local_step_size": size, "rounds": 1500}}, FLOAT
        )
        for size in (0.1, 9.0)
    ]
    compute_trajectories(runs)
    assert runs[0].trajectory.server_suboptimality[-1] < 1e-9
    with pytest.raises(Diverging):
        _ = runs[1].trajectory

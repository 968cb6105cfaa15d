"""Definitions with a clock: stateless clients report on stale models, as under the update rule."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from fedtheory import quantities as q
from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.errors import InputError, NotApplicable
from fedtheory.runfile import parse_run

PLANE = {
    "kind": "quadratic",
    "hessians": [[["2", "1/2"], ["1/2", "1"]], [["1", "0"], ["0", "3"]], [["1", "0"], ["0", "3"]]],
    "linear": [["1", "0"], ["-1", "2"], ["-1", "2"]],
    "weights": ["1/2", "1/4", "1/4"],
    "start": ["3", "-2"],
    "noise": "1",
}
ROWS = {
    "kind": "least-squares",
    "inputs": [[["1"], ["2"]], [["3"], ["1"]], [["1"], ["1/2"]]],
    "outputs": [["1", "2"], ["0", "1"], ["1", "1"]],
    "batch": 1,
    "start": ["1"],
}
CLOCKS: dict[str, dict[str, Any]] = {
    "async": {"policy": "async", "times": [1, 2, 5]},
    "one by one": {"policy": "async", "times": [1, 2, 2], "ties": "one-by-one"},
    "fedfix": {"policy": "fedfix", "interval": "3/2", "times": [1, 2, 5]},
    "fedbuff": {"policy": "fedbuff", "buffer": 2, "times": [1, 2, 5]},
}
PLAIN: dict[str, dict[str, Any]] = {
    "fedprox": {"proximal": 0},
    "fedavgm": {"momentum": 0},
    "compressed": {"coordinates": 2},
}
"""Parameters with which these algorithms are FedAvg."""


def _run(problem: dict[str, Any], keys: dict[str, Any]) -> Run:
    return parse_run({"problem": problem, "algorithm": {"local_step_size": "1/8", "rounds": 5} | keys}, RATIONAL)


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize(
    ("problem", "name"), [(PLANE, name) for name in PLAIN] + [(ROWS, "fedprox")], ids=[*PLAIN, "mini-batches"]
)
def test_settings_equal_to_fedavg_have_its_moments(problem: dict[str, Any], name: str, clock: str) -> None:
    """First and second moments are those of FedAvg, as equal rationals."""
    keys = {"clock": CLOCKS[clock], "local_steps": [1, 2, 3], "server_step_size": "1/2"}
    rule, found = (_run(problem, keys | more) for more in ({}, PLAIN[name] | {"name": name}))
    assert (found.trajectory.server_mean == rule.trajectory.server_mean).all()
    assert (found.trajectory.server_suboptimality == rule.trajectory.server_suboptimality).all()
    assert (found.trajectory.server_distance_sq == rule.trajectory.server_distance_sq).all()
    weights = found.problem.weights
    assert found.algorithm.times(weights) == rule.algorithm.times(weights)


LINE = {"kind": "quadratic", "hessians": [[["2"]], [["1"]]], "linear": [["1"], ["-3"]], "start": ["3"]}
REPORTS = [(0,), (0, 1), (0,), (0, 1), (0,)]
"""Reporting clients at the times 1, 2, ..., for client times 1 and 2."""


def _by_hand(momentum: Fraction, nesterov: bool, proximal: Fraction) -> list[Fraction]:
    """Return the models of a run without noise, by an independent program."""
    eta, hessians, linear = Fraction(1, 8), (Fraction(2), Fraction(1)), (Fraction(1), Fraction(-3))
    x, v, held = Fraction(3), Fraction(0), [Fraction(3), Fraction(3)]
    models = [x]
    for reports in REPORTS:
        change = Fraction(0)
        for i in reports:
            y = held[i]
            for _ in range(2):
                y -= eta * (hessians[i] * y - linear[i] + proximal * (y - held[i]))
            change += (y - held[i]) / 2
        v = momentum * v + change
        x += change + momentum * v if nesterov else v
        for i in reports:
            held[i] = x
        models.append(x)
    return models


@pytest.mark.parametrize(
    ("keys", "momentum", "nesterov", "proximal"),
    [
        ({"name": "fedprox", "proximal": "3/2"}, 0, False, Fraction(3, 2)),
        ({"name": "fedavgm", "momentum": "2/5"}, Fraction(2, 5), False, 0),
        ({"name": "fedavgm", "momentum": "2/5", "nesterov": True}, Fraction(2, 5), True, 0),
    ],
    ids=["fedprox", "momentum", "nesterov"],
)
def test_against_a_program_of_its_own(keys: dict[str, Any], momentum: Any, nesterov: bool, proximal: Any) -> None:
    run = _run(LINE, keys | {"clock": {"policy": "async", "times": [1, 2]}, "local_steps": 2})
    expected = _by_hand(Fraction(momentum), nesterov, Fraction(proximal))
    assert [str(model) for (model,) in run.trajectory.server_mean] == [str(model) for model in expected]
    assert len({str(model) for model in expected}) > 1


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "clients that keep vectors": (
        {"name": "scaffold"},
        "algorithm.clock: expected the synchronous clock with scaffold: its clients keep vectors between rounds",
    ),
    "clients that keep models": (
        {"name": "scaffnew", "probability": "1/2"},
        "algorithm.clock: expected the synchronous clock with scaffnew: its clients keep vectors between rounds",
    ),
    "random times": (
        {"name": "fedprox", "proximal": 1, "clock": {"policy": "async", "times": [1, 2], "law": "exponential"}},
        "algorithm.clock: expected update times that are not random with fedprox",
    ),
    "formulas of step sizes": (
        {"name": "fedavg", "local_step_size": "1/(8 + n)"},
        "algorithm.local_step_size: expected numbers with this clock: local work can begin and end in different rounds",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_algorithms_without_clocks_name_the_reason(what: str) -> None:
    keys, line = REFUSED[what]
    with pytest.raises(InputError) as refusal:
        _run(LINE, {"clock": {"policy": "async", "times": [1, 2]}} | keys)
    assert str(refusal.value) == line


@pytest.mark.parametrize("quantity", [q.max_drift, q.limiting_mean_distance_sq, q.limiting_distance_sq])
def test_unequal_rounds_have_no_limit(quantity: Any) -> None:
    run = _run(LINE, {"name": "fedprox", "proximal": 1, "clock": {"policy": "async", "times": [1, 2]}})
    with pytest.raises(NotApplicable, match="with this clock"):
        quantity.on(run)

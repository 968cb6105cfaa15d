"""Runs of clients in types: all numbers are those of the run in which every client is written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.engine.typed_run import TypedRun, clients_of, of_each_client
from fedtheory.errors import InputError
from fedtheory.runfile import parse_run
from fedtheory.runfile.types import parse_run_in_types

LAWS: dict[str, dict[str, Any]] = {
    "full": {"kind": "full"},
    "uniform": {"kind": "uniform", "clients": 2},
    "bernoulli": {"kind": "bernoulli", "probability": "2/3"},
    "multinomial": {"kind": "multinomial", "clients": 2},
    "normalised": {"kind": "uniform", "clients": 2, "weights": "normalised"},
}
PROBLEMS: dict[str, dict[str, Any]] = {
    "quadratic": {
        "kind": "quadratic",
        "hessians": [[["2", "1"], ["1", "1"]], [["1", "0"], ["0", "0"]]],
        "linear": [["1", "0"], ["-3", "0"]],
        "noise": ["1/2", "2"],
        "start": ["3", "-1"],
    },
    "full gradients": {
        "kind": "quadratic",
        "hessians": [[["2"]], [["1"]]],
        "linear": [["1"], ["-3"]],
        "start": ["3"],
    },
    "batches": {
        "kind": "least-squares",
        "inputs": [[["1", "0"], ["1/2", "1"], ["0", "-1"]], [["1", "1"], ["2", "0"]]],
        "outputs": [["1", "0", "2"], ["-1", "1"]],
        "batch": 1,
        "ridge": "1/5",
    },
}
ALGORITHM: dict[str, Any] = {"local_step_size": "1/8", "local_steps": 2, "rounds": 3, "server_step_size": "3/2"}
MEASURED = ("server_suboptimality", "server_distance_sq", "server_gradient_sq", "local_suboptimality", "drift")
CONSTANTS = ("smoothness", "strong_convexity", "initial_gap", "initial_distance_sq")


def _content(problem: str, law: str, counts: list[int], **keys: Any) -> dict[str, Any]:
    algorithm = {**ALGORITHM, "participation": LAWS[law]}
    return {"problem": {**PROBLEMS[problem], "count": counts, **keys}, "algorithm": algorithm}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_exact_numbers_are_equal(problem: str, law: str) -> None:
    """In rationals, for every law of participation and every kind of noise."""
    content = _content(problem, law, [3, 2])
    found, expected = parse_run_in_types(content, RATIONAL), parse_run(content, RATIONAL)
    assert isinstance(found, TypedRun)
    assert found.problem.clients == 2
    assert expected.problem.clients == 5
    for name in MEASURED:
        one, other = (getattr(run.trajectory, name) for run in (found, expected))
        each = of_each_client(found, one) if name == "drift" else one
        assert each.tolist() == other.tolist(), name
    for name in CONSTANTS:
        assert getattr(found, name) == getattr(expected, name), name
    assert found.problem.optimal_value == expected.problem.optimal_value
    assert found.algorithm.times(found.problem.weights) == expected.algorithm.times(expected.problem.weights)


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from(sorted(PROBLEMS)),
    st.sampled_from(["full", "uniform", "bernoulli", "multinomial"]),
    st.lists(st.integers(1, 40), min_size=2, max_size=2),
    st.integers(1, 7),
)
def test_floats_are_close(problem: str, law: str, counts: list[int], share: int) -> None:
    """To 1e-9 relative, with weights of the types that their clients share evenly."""
    weights = [share / 8, 1 - share / 8]
    content = _content(problem, law, [1 + counts[0], counts[1]], weights=weights)
    found, expected = parse_run_in_types(content, FLOAT), parse_run(content, FLOAT)
    assert isinstance(found, TypedRun)
    for name in MEASURED:
        one, other = (getattr(run.trajectory, name) for run in (found, expected))
        each = of_each_client(found, one) if name == "drift" else one
        np.testing.assert_allclose(each, other, rtol=1e-9, atol=1e-12, err_msg=name)


def test_constants_on_a_ball_are_equal() -> None:
    content = _content("batches", "full", [30, 20])
    content["algorithm"] |= {"server_step_size": 1, "local_step_size": 0.05}
    found, expected = parse_run_in_types(content, FLOAT), parse_run(content, FLOAT)
    for name in ("noise_variance", "dissimilarity_sq", "mean_dissimilarity_sq"):
        assert getattr(found, name).value == pytest.approx(getattr(expected, name).value, rel=1e-7), name
        assert getattr(found, name).region.description == getattr(expected, name).region.description


def test_ten_million_clients_cost_what_their_types_cost() -> None:
    """The error is that of few clients whose mean has as little noise."""
    content = _content("quadratic", "full", [6_000_000, 4_000_000])
    run = parse_run_in_types(content, FLOAT)
    assert clients_of(run) == 10_000_000
    assert run.problem.hessians.shape == (2, 2, 2)
    noise = [0.5 / 6e6, 2 / 4e6]
    few = parse_run(
        {
            "problem": {**PROBLEMS["quadratic"], "weights": [0.6, 0.4], "noise": noise},
            "algorithm": content["algorithm"],
        },
        FLOAT,
    )
    np.testing.assert_allclose(run.trajectory.server_suboptimality, few.trajectory.server_suboptimality, rtol=1e-9)


@pytest.mark.parametrize(
    ("keys", "algorithm"),
    [
        ({}, {"name": "scaffold"}),
        ({}, {"clock": {"policy": "async"}}),
        ({}, {"local_steps": [1, 2, 1, 2, 1]}),
        ({}, {"participation": {"kind": "fixed", "clients": [0, 3]}}),
        ({"weights": [0.1, 0.2, 0.3, 0.2, 0.2]}, {}),
    ],
    ids=["scaffold", "clock", "steps of each client", "some of a type", "weights of each client"],
)
def test_other_runs_are_written_out(keys: dict[str, Any], algorithm: dict[str, Any]) -> None:
    content = _content("quadratic", "full", [3, 2], **keys)
    content["algorithm"] |= {"server_step_size": 1, **algorithm}
    run = parse_run_in_types(content, FLOAT)
    assert not isinstance(run, TypedRun)
    assert run.problem.clients == 5


def test_clients_that_are_too_many_to_write_out_are_refused() -> None:
    """With one line that says what goes by types."""
    content = _content("quadratic", "full", [6_000_000, 4_000_000])
    content["algorithm"] |= {"name": "scaffold"}
    with pytest.raises(InputError, match="fedtheory simulate goes by types"):
        parse_run_in_types(content, FLOAT)


@pytest.mark.parametrize("kind", ["least-squares", "logistic"])
def test_data_clients_have_counts(kind: str) -> None:
    """A file with counts is the file with the clients' rows written again and again; shares go by all rows."""
    inputs = [[[1.0, 0.5], [0.3, -1.0], [1.2, 0.1]], [[-0.4, 1.0], [0.8, 0.8]]]
    outputs = [[0, 1, 1], [0, 1]]
    algorithm = {"local_step_size": 0.1, "local_steps": 2, "rounds": 4}
    common = {"kind": kind, "ridge": 0.1, "shares": "samples"}
    given_counts = {"inputs": inputs, "outputs": outputs, "count": [2, 3]}
    places = [0, 0, 1, 1, 1]
    written = {"inputs": [inputs[n] for n in places], "outputs": [outputs[n] for n in places]}
    found, expected = (
        parse_run({"problem": {**common, **keys}, "algorithm": algorithm}, FLOAT) for keys in (given_counts, written)
    )
    assert found.problem.clients == 5
    np.testing.assert_allclose(found.problem.weights, expected.problem.weights, rtol=1e-12)
    np.testing.assert_allclose(
        found.trajectory.server_suboptimality, expected.trajectory.server_suboptimality, rtol=1e-9
    )

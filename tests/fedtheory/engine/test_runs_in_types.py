"""Runs of clients in types equal runs in which every client is written out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.engine.run import Run
from fedtheory.errors import FedtheoryError, InputError
from fedtheory.language import assumptions as a
from fedtheory.language.quantities import RunQuantity
from fedtheory.language.vocabulary import vocabulary
from fedtheory.runfile import parse_run, run_table

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
LOSSES: dict[str, Any] = {
    "kind": "huber",
    "terms": [[{"centre": "0", "width": "1"}], [{"centre": "2", "width": "1"}]],
    "start": ["4"],
}
DEFINITIONS: dict[str, dict[str, Any]] = {
    "scaffold": {},
    "fedprox": {"proximal": "1/2"},
    "fednova": {},
    "fedavgm": {"momentum": "1/2"},
    "scaffnew": {"probability": "1/2", "local_steps": 1},
}
MEASURED = ("server_suboptimality", "server_distance_sq", "server_gradient_sq", "local_suboptimality", "drift")
CONSTANTS = ("smoothness", "strong_convexity", "initial_gap", "initial_distance_sq")


def _content(problem: str, law: str, counts: list[int], **keys: Any) -> dict[str, Any]:
    algorithm = {**ALGORITHM, "participation": LAWS[law]}
    return {"problem": {**PROBLEMS[problem], "count": counts, **keys}, "algorithm": algorithm}


def _each(values: Any, run: Run) -> list[Any]:
    """Expand the values of types to all clients."""
    found = np.asarray(values)
    is_of_clients = found.ndim and found.shape[-1] == run.problem.clients
    return np.asarray(run.repeat_for_clients(found) if is_of_clients else found).tolist()


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_exact_numbers_are_equal(problem: str, law: str) -> None:
    """Values are equal in rationals, for every law of participation and every kind of noise."""
    found = parse_run(_content(problem, law, [3, 2]), RATIONAL)
    expected = found.follow_all_clients()
    assert (found.problem.clients, found.clients) == (2, 5)
    assert (expected.problem.clients, expected.clients) == (5, 5)
    for name in MEASURED:
        one, other = (getattr(run.trajectory, name) for run in (found, expected))
        each = found.repeat_for_clients(one) if name == "drift" else one
        assert each.tolist() == other.tolist(), name
    for name in CONSTANTS:
        assert getattr(found, name) == getattr(expected, name), name
    assert found.problem.optimal_value == expected.problem.optimal_value
    assert found.algorithm.times(found.problem.weights) == expected.algorithm.times(expected.problem.weights)


@pytest.mark.parametrize("weights", [None, ["1/4", "3/4"]], ids=["equal weights", "weights of types"])
@pytest.mark.parametrize("name", DEFINITIONS)
def test_definitions_go_by_types(name: str, weights: list[str] | None) -> None:
    """Algorithms whose clients keep vectors, such as SCAFFOLD, agree as well."""
    content = _content("batches", "full", [3, 2], **({} if weights is None else {"weights": weights}))
    content["algorithm"] |= {"server_step_size": 1, "name": name, **DEFINITIONS[name]}
    found = parse_run(content, RATIONAL)
    expected = found.follow_all_clients()
    assert (found.problem.clients, expected.problem.clients) == (2, 5)
    for measured in ("server_suboptimality", "server_distance_sq", "server_gradient_sq"):
        one, other = (getattr(run.trajectory, measured) for run in (found, expected))
        assert one.tolist() == other.tolist(), measured


def test_losses_go_by_types_without_noise() -> None:
    content = {"problem": LOSSES | {"count": [2, 3]}, "algorithm": {"local_step_size": "1/4", "rounds": 3}}
    found = parse_run(content, RATIONAL)
    expected = found.follow_all_clients()
    assert (found.problem.clients, expected.problem.clients) == (2, 5)
    assert found.problem.optimum.tolist() == expected.problem.optimum.tolist() == [fmpq(4, 3)]
    assert found.trajectory.server_suboptimality.tolist() == expected.trajectory.server_suboptimality.tolist()
    noisy = parse_run(content | {"problem": LOSSES | {"count": [2, 3], "noise": "1"}}, RATIONAL)
    assert (noisy.problem.clients, noisy.problem.weights.tolist()) == (5, [fmpq(1, 5)] * 5)


CASES: list[tuple[str, str, list[int], list[str] | None]] = [
    ("quadratic", "full", [3, 2], None),
    ("batches", "uniform", [1, 3], None),
    ("batches", "full", [3, 2], ["1/4", "3/4"]),
    ("quadratic", "multinomial", [3, 2], ["1/4", "3/4"]),
    ("full gradients", "full", [3, 2], ["1/5", "4/5"]),
    ("quadratic", "bernoulli", [2, 1], None),
]
SINGLE = "one of each type is followed"


def _case(problem: str, law: str, counts: list[int], weights: list[str] | None) -> Run:
    content = _content(problem, law, counts, **({} if weights is None else {"weights": weights}))
    content["algorithm"] |= {"server_step_size": 1, "local_step_size": "1/40", "rounds": 2}
    run = parse_run(content, RATIONAL)
    assert run.is_in_types
    return run


def _answer(ask: Callable[[], Any]) -> Any:
    """Return the answer, or the reason for its absence."""
    try:
        return ask()
    except FedtheoryError as reason:
        return f"{type(reason).__name__}: {reason}"


@pytest.mark.parametrize(("problem", "law", "counts", "weights"), CASES)
def test_every_quantity_is_that_of_single_clients(
    problem: str, law: str, counts: list[int], weights: list[str] | None
) -> None:
    """All quantities agree exactly; those of single clients have a reason for their absence."""
    run = _case(problem, law, counts, weights)
    single, compared = run.follow_all_clients(), 0
    for quantity in (entry.quantity for entry in vocabulary()):
        if not isinstance(quantity, RunQuantity):
            continue
        found, expected = (_answer(lambda q=quantity, r=one: q.on(r)) for one in (run, single))  # type: ignore[misc]
        if isinstance(found, str) and SINGLE in found:
            continue
        compared += 1
        if isinstance(found, str):
            assert found == expected, quantity.name
            continue
        assert found is not None
        equal = np.asarray(found).tolist() == np.asarray(expected).tolist() or _each(found, run) == _each(
            expected, single
        )
        assert equal, quantity.name
    assert compared > 150


@pytest.mark.parametrize(("problem", "law", "counts", "weights"), CASES)
def test_assumptions_hold_where_they_hold_for_single_clients(
    problem: str, law: str, counts: list[int], weights: list[str] | None
) -> None:
    run = _case(problem, law, counts, weights)
    single = run.follow_all_clients()
    for assumption in (one for one in vars(a).values() if isinstance(one, a.Assumption)):
        found, expected = (_answer(lambda q=assumption, r=one: q.require(r) and None) for one in (run, single))  # type: ignore[misc]
        assert (found is None) == (expected is None), assumption.name


@settings(max_examples=20, deadline=None)
@given(
    st.sampled_from(sorted(PROBLEMS)),
    st.sampled_from(["full", "uniform", "bernoulli", "multinomial"]),
    st.lists(st.integers(1, 40), min_size=2, max_size=2),
    st.integers(1, 7),
)
def test_floats_are_close(problem: str, law: str, counts: list[int], share: int) -> None:
    """Floats agree to 1e-9 relative, with type weights divided evenly."""
    weights = [share / 8, 1 - share / 8]
    found = parse_run(_content(problem, law, [1 + counts[0], counts[1]], weights=weights), FLOAT)
    expected = found.follow_all_clients()
    assert found.is_in_types
    for name in MEASURED:
        one, other = (getattr(run.trajectory, name) for run in (found, expected))
        each = found.repeat_for_clients(one) if name == "drift" else one
        np.testing.assert_allclose(each, other, rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("counts", [[5, 3], [49, 3], [333_333, 666_667]])
def test_rounding_hides_no_equal_weights(counts: list[int]) -> None:
    """Weights that differ only by rounding after division count as equal."""
    run = parse_run(_content("quadratic", "full", counts), FLOAT)
    a.uniform_shares.require(run)
    a.full_participation.require(run)
    assert set(run.client_weights.tolist()) == {1 / sum(counts)}


def test_constants_on_a_ball_are_equal() -> None:
    content = _content("batches", "full", [30, 20])
    content["algorithm"] |= {"server_step_size": 1, "local_step_size": 0.05}
    found = parse_run(content, FLOAT)
    expected = found.follow_all_clients()
    for name in ("noise_variance", "dissimilarity_sq", "mean_dissimilarity_sq"):
        assert getattr(found, name).value == pytest.approx(getattr(expected, name).value, rel=1e-7), name
        assert getattr(found, name).region.description == getattr(expected, name).region.description


def test_ten_million_clients_cost_what_their_types_cost() -> None:
    """Ten million clients have the error of few clients with the same noise on average."""
    content = _content("quadratic", "full", [6_000_000, 4_000_000])
    run = parse_run(content, FLOAT)
    assert run.clients == 10_000_000
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


@pytest.mark.parametrize(("weights", "expected"), [(None, ["3/5", "2/5"]), (["1/5", "4/5"], ["1/5", "4/5"])])
def test_a_run_in_types_is_written_as_one(weights: list[str] | None, expected: list[str]) -> None:
    run = _case("batches", "uniform", [3, 2], weights)
    table = run_table(run)
    assert table["problem"]["count"] == [3, 2]
    assert table["problem"]["weights"] == expected
    again = parse_run(table, RATIONAL)
    assert run_table(again) == table
    assert again.trajectory.server_suboptimality.tolist() == run.trajectory.server_suboptimality.tolist()


@pytest.mark.parametrize(
    ("keys", "algorithm"),
    [
        ({}, {"clock": {"policy": "async"}}),
        ({}, {"participation": {"kind": "cyclic", "clients": 1}}),
        ({}, {"local_steps": [1, 2, 1, 2, 1]}),
        ({}, {"participation": {"kind": "fixed", "clients": [0, 3]}}),
        ({"weights": [0.1, 0.2, 0.3, 0.2, 0.2]}, {}),
        ({}, {"name": "dsgd", "local_steps": 1, "mixing": [[0.2] * 5] * 5}),
    ],
    ids=["clock", "cycle", "steps of each client", "some of a type", "weights of each client", "graph"],
)
def test_other_runs_are_written_out(keys: dict[str, Any], algorithm: dict[str, Any]) -> None:
    content = _content("quadratic", "full", [3, 2], **keys)
    content["algorithm"] |= {"server_step_size": 1, **algorithm}
    run = parse_run(content, FLOAT)
    assert not run.is_in_types
    assert run.problem.clients == 5


def test_clients_that_are_too_many_to_write_out_are_refused() -> None:
    """Too many clients to write out are rejected with one line."""
    content = _content("quadratic", "full", [6_000_000, 4_000_000])
    content["algorithm"] |= {"server_step_size": 1, "clock": {"policy": "async"}}
    with pytest.raises(InputError, match="expected at most 20000000 entries in all Hessians of single clients"):
        parse_run(content, FLOAT)


@pytest.mark.parametrize("kind", ["least-squares", "logistic"])
def test_data_clients_have_counts(kind: str) -> None:
    """A data file with counts equals the file with repeated rows; weights count all rows."""
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
    assert found.clients == 5
    np.testing.assert_allclose(found.follow_all_clients().problem.weights, expected.problem.weights, rtol=1e-12)
    np.testing.assert_allclose(
        found.trajectory.server_suboptimality, expected.trajectory.server_suboptimality, rtol=1e-9
    )

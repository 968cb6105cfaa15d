"""`fedtheory simulate` reports runs that diverge, with numbers up to the overflow."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from cli_support import ROWS, Changes, results, shape

STEEP: Changes = {"algorithm.local_step_size": "100", "algorithm.rounds": "60"}


def assert_all_finite(document: dict[str, Any]) -> None:
    """Assert that all lists contain finite numbers only."""
    for name, leaves in results(document).items():
        assert all(type(leaf) is float and math.isfinite(leaf) for leaf in leaves), name


@pytest.mark.parametrize(
    "changes",
    [
        STEEP,
        {**STEEP, "problem.noise": "0"},
        {**STEEP, "problem.noise": "0", "problem.start": '"zeros"', "problem.weights": '["3/4", "1/4"]'},
        {**STEEP, "algorithm.local_steps": "[1, 4]"},
        {**STEEP, "algorithm.participation": '{ kind = "uniform", clients = 1 }'},
        {"algorithm.local_step_size": "1e6", "algorithm.rounds": "50"},
        {"algorithm.local_step_size": "1e30", "algorithm.rounds": "50"},
        {"algorithm.local_step_size": "1e45", "algorithm.rounds": "50"},
        {"algorithm.local_step_size": "1e60", "algorithm.rounds": "50"},
        {"algorithm.server_step_size": "1e60", "algorithm.rounds": "50"},
        {
            "problem.hessians": "[[[1e60,0],[0,1]], [[1e60,0],[0,1]]]",
            "algorithm.local_step_size": "1e-59",
            "algorithm.rounds": "300",
        },
    ],
    ids=[
        "steep",
        "no-noise",
        "from-zeros",
        "own-steps",
        "uniform",
        "1e6",
        "1e30",
        "1e45",
        "1e60",
        "server-step",
        "large-curvature",
    ],
)
def test_overflow_is_reported(changes: Changes, command, write_run) -> None:
    """A run that leaves double precision is cut before that round, and the reason is given."""
    outcome = command("simulate", write_run(changes), "--json")
    assert (outcome.code, outcome.err) == (0, "")
    document = outcome.document
    diverges = document["diverges"]
    assert "step size" in diverges["reason"]
    assert 1 <= diverges["round"] <= int(str(changes["algorithm.rounds"]))
    server = document["server"]
    assert {len(values) for values in server.values()} == {diverges["round"]}
    assert_all_finite(document)
    if document["local"] is not None:
        assert {len(values) for values in document["local"].values()} == {diverges["round"] - 1}


def test_a_sampled_path_that_overflows(command, write_run) -> None:
    """On a path beyond double precision, a claim about every path is followed in rationals if the path is short."""
    short = {"algorithm.local_step_size": "3", "algorithm.local_steps": "300", "algorithm.rounds": "1"}
    outcome = command("check", "renard2022:lemma-2.2.proof.triangle", write_run(short), "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.document["holds"] is False
    exact = command(
        "check", "renard2022:lemma-2.2.proof.triangle", write_run(short), "--json", "--arithmetic", "rational"
    )
    assert exact.document["holds"] is False
    long = write_run({**short, "algorithm.rounds": "20"})
    outcome = command("check", "renard2022:lemma-2.2.proof.triangle", long, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.document["applicable"] is False
    assert "the sampled path diverges" in outcome.document["reason"]


@pytest.mark.parametrize("arithmetic", ["float", "rational"])
def test_mild_divergence_is_flagged(arithmetic: str, command, write_run) -> None:
    """A run without overflow but with an expanding mean round map is flagged, with all rounds."""
    path = write_run({"algorithm.local_step_size": '"11/10"', "algorithm.rounds": "6"})
    document = command("simulate", path, "--json", "--arithmetic", arithmetic).document
    assert document["diverges"]["round"] is None
    assert "spectral radius" in document["diverges"]["reason"]
    assert shape(document["server"]["mean"]) == (7, 2)
    assert shape(document["local"]["drift"]) == (6, 6, 2)


def test_stable_edge_is_not_flagged(command, write_run) -> None:
    """Steps of size 2/L neither grow nor shrink."""
    path = write_run({"algorithm.local_step_size": "1", "problem.noise": "0"})
    assert command("simulate", path, "--json").document["diverges"] is None


def test_flat_direction_with_noise_is_not_flagged(command, write_run) -> None:
    """A random walk in a flat direction grows, but is not reported as divergence by the step size."""
    path = write_run({"problem.hessians": '[[["2",0],[0,0]], [["2",0],[0,0]]]', "problem.linear": "[[1,0],[-1,0]]"})
    assert command("simulate", path, "--json").document["diverges"] is None


NOISY: Changes = {
    "problem.data": None,
    "problem.inputs": "[[[1], [0], [0], [0], [0], [0], [0], [0]]]",
    "problem.outputs": "[[1, 0, 0, 0, 0, 0, 0, 0]]",
    "problem.start": "[5]",
    "problem.batch": "1",
    "algorithm.local_steps": "1",
    "algorithm.local_step_size": "2",
}
"""Mini-batches of one row: the mean contracts by 1/2 in each round, the second moment doubles."""


def test_growing_noise_overflows(command, write_run) -> None:
    """Growing mini-batch noise overflows although the mean contracts, and is reported with its own reason."""
    document = command("simulate", write_run({**NOISY, "algorithm.rounds": "990"}, ROWS), "--json").document
    assert 900 < document["diverges"]["round"] < 990
    assert "noise" in document["diverges"]["reason"]
    assert_all_finite(document)


@pytest.mark.parametrize("arithmetic", ["float", "rational"])
def test_growing_noise_is_flagged(arithmetic: str, command, write_run) -> None:
    """A run whose expected error doubles in each round is flagged, although forty rounds do not overflow."""
    path = write_run({**NOISY, "algorithm.rounds": "40"}, ROWS)
    document = command("simulate", path, "--json", "--arithmetic", arithmetic).document
    assert float(Fraction(document["server"]["distance_sq"][-1])) > 1e10
    assert document["diverges"] is not None


@pytest.mark.parametrize(
    "changes", [{"problem.start": "[1e120, 0]"}, {"problem.noise": "1e300"}], ids=["start", "noise"]
)
def test_huge_inputs_are_not_blamed_on_the_step_size(changes: Changes, command, write_run) -> None:
    """If a run contracts and only its numbers are too large for floats, the message does not name the step size."""
    outcome = command("simulate", write_run(changes), "--json")
    if outcome.code:
        outcome.complaint()
    else:
        assert "step size is too large" not in str(outcome.document["diverges"])


@pytest.mark.parametrize(
    "changes",
    [
        {"problem.start": "[1e308, 1e308]"},
        {"problem.linear": "[[1e308, 1e308], [1e308, 0]]"},
        {"problem.hessians": "[[[1e308,1e308],[1e308,1e308]], [[1e308,0],[0,1e308]]]"},
    ],
    ids=["start", "linear", "hessians"],
)
def test_numbers_at_the_edge_of_floats(changes: Changes, command, write_run) -> None:
    """Numbers whose product overflows are rejected in one line, or the run is cut before them."""
    path = write_run(changes)
    outcome = command("simulate", path, "--json")
    if outcome.code:
        assert str(path) in outcome.complaint()
    else:
        assert_all_finite(outcome.document)


def test_long_rationals_for_people(command, write_run) -> None:
    """A stable exact run whose numbers have more than 4300 digits is shown as a table of short numbers."""
    outcome = command("simulate", write_run({"algorithm.rounds": "600"}), "--arithmetic", "rational")
    assert (outcome.code, outcome.err) == (0, "")
    assert "600" in outcome.out


@pytest.mark.parametrize("as_json", [(), ("--json",)], ids=["people", "json"])
def test_diverging_rationals(as_json: tuple[str, ...], command, write_run) -> None:
    """Exact numbers beyond the range of floats are printed."""
    path = write_run({**STEEP, "algorithm.rounds": "20"})
    outcome = command("simulate", path, "--arithmetic", "rational", *as_json)
    assert (outcome.code, outcome.err) == (0, "")
    assert "step size" in outcome.out


def test_people_see_the_divergence(command, write_run) -> None:
    """The table for people says that the run diverges."""
    outcome = command("simulate", write_run(STEEP))
    assert (outcome.code, outcome.err) == (0, "")
    assert "diverges" in outcome.out

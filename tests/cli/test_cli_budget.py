"""`fedtheory budget`: the document, the table, and invalid input."""

from __future__ import annotations

from fractions import Fraction

import pytest
from cli_support import DIGITS, ROWS, Changes

NOISELESS: Changes = {"problem.noise": None}
COSTS = ("--local-cost", "1/2", "--aggregation-cost", "3", "--budget", "40.5")
FIXED = [1, 2, 3, 5, 10, 20, 50, 100]


def test_document(command, write_run) -> None:
    """The document has its keys and lengths, and the budget is respected exactly."""
    outcome = command("budget", write_run(NOISELESS), *COSTS, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    document = outcome.document
    assert (document["local_cost"], document["aggregation_cost"], document["budget"]) == ("1/2", "3", "81/2")
    assert [run["local_steps"] for run in document["fixed"]] == FIXED
    assert document["best_fixed"] in FIXED
    for run in (*document["fixed"], document["adaptive"]):
        schedule = run["schedule"]
        assert len(schedule) == run["intervals"]
        assert sum(interval["local_steps"] for interval in schedule) == run["local_updates"]
        assert Fraction(run["spent"]) == Fraction(run["local_updates"], 2) + 3 * run["intervals"]
        assert Fraction(run["spent"]) <= Fraction(81, 2) < Fraction(run["spent"]) + Fraction(7, 2)
        assert schedule[-1]["spent"] == run["spent"]
        assert run["final"] == schedule[-1]["suboptimality"]
        assert run["best"] == min(interval["suboptimality"] for interval in schedule)
        assert all(
            abs(interval["value"] - document["optimal_value"] - interval["suboptimality"]) < 1e-12
            for interval in schedule
        )
    assert all({"lipschitz", "smoothness", "divergence"} <= shown.keys() for shown in document["adaptive"]["schedule"])
    assert min(document["fixed"], key=lambda run: run["final"])["local_steps"] == document["best_fixed"]


def test_rounds_and_local_steps_do_not_matter(command, write_run) -> None:
    """Only the problem and the step size of the run file matter."""
    changed = {**NOISELESS, "algorithm.rounds": "3", "algorithm.local_steps": "[2, 7]"}
    first, second = (command("budget", write_run(c), *COSTS, "--json").document for c in (NOISELESS, changed))
    assert first == second


def test_real_data(command, write_run) -> None:
    """On data the adaptive run is no worse than the worst fixed number of local steps."""
    changes = {"problem.split": '"dirichlet"', "algorithm.local_step_size": "0.05"}
    costs = ("--local-cost", 1, "--aggregation-cost", 10, "--budget", 1000)
    document = command("budget", write_run(changes, DIGITS), *costs, "--json").document
    assert document["adaptive"]["final"] < max(run["final"] for run in document["fixed"])


def test_for_people(command, write_run) -> None:
    """The output for people is a table with a row for each run, and a sentence."""
    outcome = command("budget", write_run(NOISELESS), *COSTS)
    assert (outcome.code, outcome.err) == (0, "")
    assert "adaptive, 1" in outcome.out
    assert "of 8 fixed numbers of local steps end lower than the adaptive run" in outcome.out
    assert "diverges" not in outcome.out


def test_mini_batches_do_not_matter(command, data_folder, write_run) -> None:
    """A run file with mini-batches, such as that of the README, is run with full gradients and a note."""
    quiet, noisy = (data_folder / f"{name}.toml" for name in ("quiet", "noisy"))
    quiet.write_text(write_run(base=ROWS).read_text())
    noisy.write_text(write_run({"problem.batch": "2"}, base=ROWS).read_text())
    first, second = (command("budget", path, *COSTS, "--json").document for path in (quiet, noisy))
    assert first.pop("notes") == []
    assert "full gradients are used" in second.pop("notes")[0]
    assert first == second


def test_the_best_row_is_marked(command, write_run) -> None:
    """One row has a star: the smallest final loss, fixed or adaptive."""
    document = command("budget", write_run(NOISELESS), *COSTS, "--json").document
    marked = [line for line in command("budget", write_run(NOISELESS), *COSTS).out.splitlines() if " * " in line]
    assert len(marked) == 1
    best = min(document["fixed"], key=lambda run: run["final"])
    adaptive = document["adaptive"]["final"] < best["final"]
    assert ("adaptive" if adaptive else f" {best['local_steps']} *") in marked[0]


def test_divergence(command, write_run) -> None:
    """Divergence by a large step size is reported in words, and as null in JSON."""
    path = write_run({**NOISELESS, "algorithm.local_step_size": "100"})
    costs = ("--local-cost", 1, "--aggregation-cost", 1, "--budget", 3000)
    assert command("budget", path, *costs, "--json").document["adaptive"]["final"] is None
    assert "diverges" in command("budget", path, *costs).out


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({**NOISELESS, "algorithm.local_step_size": '["1/20", "1/30"]'}, "local_step_size"),
        ({**NOISELESS, "algorithm.server_step_size": '"1/2"'}, "server_step_size"),
        ({**NOISELESS, "algorithm.participation": '{ kind = "uniform", clients = 1 }'}, "participation"),
    ],
)
def test_bad_run_files(command, write_run, changes: Changes, complaint: str) -> None:
    """Runs that are not distributed gradient descent are rejected with the file and the key."""
    path = write_run(changes)
    line = command("budget", path, *COSTS).complaint()
    assert str(path) in line
    assert complaint in line


@pytest.mark.parametrize(
    ("option", "value", "complaint"),
    [
        ("--local-cost", "-1", "local_cost"),
        ("--local-cost", "one", "local_cost"),
        ("--aggregation-cost", "1/0", "aggregation_cost"),
        ("--budget", "3", "expected at least 7/2"),
        ("--budget", "nan", "budget"),
        ("--budget", "1e9", "100000 times"),
    ],
)
def test_bad_costs(command, write_run, option: str, value: str, complaint: str) -> None:
    """A cost that is not a number or negative, or a budget that is too small, gives one line."""
    given = dict(zip(COSTS[::2], COSTS[1::2], strict=True)) | {option: value}
    arguments = [part for pair in given.items() for part in pair]
    assert complaint in command("budget", write_run(NOISELESS), *arguments).complaint()


def test_missing_option(command, write_run) -> None:
    """All three costs must be given."""
    assert "budget" in command("budget", write_run(NOISELESS), *COSTS[:4]).complaint()

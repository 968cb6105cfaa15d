"""Run files of nonconvex objectives: output of the commands, and omitted values."""

from __future__ import annotations

from pathlib import Path

from cli_support import Changes

BENT: Changes = {
    "problem.hessians": '[[["1"]], [["-1/2"]]]',
    "problem.linear": '[["1"], ["0"]]',
    "problem.start": '["3"]',
    "algorithm.local_step_size": '"1/8"',
    "algorithm.local_steps": "2",
    "algorithm.rounds": "2",
}
"""F = x^2/8 - x/2."""
SADDLE: Changes = {**BENT, "problem.hessians": '[[["1"]], [["-2"]]]'}
"""F = -x^2/4 - x/2."""


CLAIM = """
from fedtheory import Claim, quantities as q
gap = Claim(id="mine:gap", lhs=q.final_suboptimality, rhs=100)
"""


def test_simulate_with_a_minimiser(command, write_run) -> None:
    """The optimum of a nonconvex client sum is that of F; there is no strong convexity."""
    document = command("simulate", write_run(BENT), "--arithmetic", "rational", "--json").document
    assert document["optimum"] == ["2"]
    assert document["optimal_value"] == "-1/2"
    assert document["constants"]["smoothness"] == "1"
    assert document["constants"]["strong_convexity"] is None
    assert document["constants"]["initial_gap"] == "1/8"
    assert "not convex" in document["constants"]["regions"]["gradient_dissimilarity"]
    assert document["server"]["suboptimality"][0] == "1/8"
    assert document["notes"] == []


def test_simulate_without_a_minimiser(command, write_run) -> None:
    """Without a minimiser distances to x* are null, with a note; gradients and drift have values."""
    document = command("simulate", write_run(SADDLE), "--arithmetic", "rational", "--json").document
    for missing in ("optimum", "optimal_value"):
        assert document[missing] is None
    for missing in ("initial_gap", "initial_distance", "initial_distance_sq", "strong_convexity"):
        assert document["constants"][missing] is None
    assert (document["server"]["suboptimality"], document["server"]["distance_sq"]) == (None, None)
    assert document["server"]["gradient_sq"][0] == "4"
    assert document["local"]["suboptimality"] is None
    assert len(document["local"]["drift"]) == 2
    assert "F is unbounded below" in document["notes"][0]
    assert "F is unbounded below" in document["diverges"]["reason"]
    text = command("simulate", write_run(SADDLE)).out
    assert "gradient_sq" in text
    assert "distance_sq" not in text


def test_check_names_the_client_that_is_not_convex(command, write_run) -> None:
    """A theorem on convex functions does not apply to the run; one on smooth functions does."""
    run = write_run(BENT)
    convex = command("check", "renard2022:thm-2.1", run, "--json").document
    assert convex["applicable"] is False
    assert "convex and smooth: the objective of client 1 is not convex" in convex["reason"]
    smooth = command("check", "liu2022:thm-1.step", run, "--json").document
    assert smooth["applicable"] is True
    assert smooth["holds"] is True


def test_check_names_the_quantity_that_does_not_exist(command, write_run, tmp_path: Path) -> None:
    """A claim on the suboptimality does not apply if F is unbounded below; one on the descent does."""
    run, own = write_run(SADDLE), tmp_path / "mine.py"
    own.write_text(CLAIM)
    found = command("check", f"{own}:gap", run, "--json").document
    assert found["applicable"] is False
    assert found["reason"].startswith("final_suboptimality has no value: F is unbounded below")
    assert command("check", "liu2022:thm-1.mean", run, "--json").document["applicable"] is True


def test_hampel_losses_in_a_run_file(command, write_run) -> None:
    """Bounded losses have a minimiser, and their constants hold on the whole space."""
    changes: Changes = {
        "problem.kind": '"hampel"',
        "problem.terms": '[[{ width = "1" }], [{ width = "2", centre = "1" }]]',
        "problem.hessians": None,
        "problem.linear": None,
        "problem.constants": None,
        "problem.noise": None,
        "problem.start": '["4"]',
    }
    document = command("simulate", write_run(changes), "--arithmetic", "rational", "--json").document
    assert document["optimum"] == ["1/2"]
    assert document["constants"]["smoothness"] == "1"
    assert document["constants"]["strong_convexity"] is None
    assert set(document["constants"]["regions"].values()) == {"on all of space"}

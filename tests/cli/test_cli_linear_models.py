"""Logistic regression from the command line: estimates are labelled, have intervals, and give no verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from fedtheory.arithmetic import FLOAT
from fedtheory.cli import run as run_command
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.runfile import read_run
from verify.check import check

ROWS = """[problem]
kind = "logistic"
inputs = [[[1, 2], [-1, 1], [2, -1]], [[1, 1], [-2, -1]]]
outputs = [[1, 0, 0], [1, 1]]
ridge = "1/10"
"""
STEP = """[algorithm]
local_step_size = "1/10"
local_steps = 2
rounds = 4
"""


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Return a run with full gradients, and one with batches of one row."""
    texts = {"full": ROWS + STEP, "batches": ROWS + "batch = 1\n" + STEP, "open": ROWS.replace('"1/10"', "0") + STEP}
    texts["open"] = texts["open"].replace("[[1, 0, 0], [1, 1]]", "[[1, 1, 1], [1, 0]]")
    for name, text in texts.items():
        (tmp_path / f"{name}.toml").write_text(text)
    return {name: str(tmp_path / f"{name}.toml") for name in texts}


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """Return the JSON document of a command."""
    assert run_command([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_full_gradients_have_no_interval(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """With full gradients, loss and accuracy are printed with the errors, without intervals."""
    server = printed(capsys, "simulate", files["full"])["server"]
    assert server["interval"] is None
    assert len(server["loss"]) == len(server["accuracy"]) == 5
    assert server["accuracy"][0] == 0.5
    assert printed(capsys, "check", "renard2022:thm-2.1", files["full"])["interval"] is None


def test_batches_have_intervals(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """With batches, averages have intervals, and the check names its method."""
    server = printed(capsys, "simulate", files["batches"])["server"]
    interval = server["interval"]
    assert (interval["replicas"], interval["confidence"]) == (200, 0.95)
    ends = interval["suboptimality"]
    assert all(a <= b <= c for a, b, c in zip(ends["low"], server["suboptimality"], ends["high"], strict=True))
    found = printed(capsys, "check", "renard2022:thm-2.1", files["batches"])
    assert found["holds"] is True
    assert found["settled_by"] == "by Monte-Carlo: 95% interval over 200 replicas"
    assert found["interval"]["low"] < found["lhs"] < found["interval"]["high"]


def test_an_estimate_refutes_nothing(files: dict[str, str]) -> None:
    """An estimate far above a false bound is reported as "looks violated", without a verdict."""
    gap = sp.Symbol("G", positive=True)
    claim = Claim(id="mine:false", lhs=q.average_suboptimality, rhs=gap / 10**6, where={gap: q.initial_gap})
    found = check(claim, read_run(files["batches"], FLOAT))
    assert found.applicable
    assert found.holds is None
    assert found.final_decision is not None
    assert found.final_decision.reason.startswith("looks violated; Monte-Carlo, no verdict")


def test_a_bound_does_not_apply_where_no_minimiser_exists(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The claim does not apply without a minimiser, and the reason suggests a change."""
    found = printed(capsys, "check", "renard2022:thm-2.1", files["open"])
    assert found["applicable"] is False
    assert "a hyperplane separates the two classes: add a ridge" in found["reason"]
    simulated = printed(capsys, "simulate", files["open"])
    assert simulated["server"]["suboptimality"] is None
    assert simulated["server"]["loss"][-1] < simulated["server"]["loss"][0]


@pytest.mark.long
def test_a_plan_says_estimated(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """A plan from averaged replicas says "estimated", never "exact", and is reproducible."""
    assert run_command(["plan", files["batches"], "--claim", "renard2022:thm-2.1"]) == 0
    text = capsys.readouterr().out
    assert "estimated final_suboptimality" in text
    assert "exact" not in text.replace("--arithmetic", "")
    found = [
        printed(capsys, "plan", files["batches"], "--claim", "renard2022:thm-2.1")["use"]["step_size"] for _ in range(2)
    ]
    assert found[0] == found[1]


def test_rationals_are_refused(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    """Rationals are rejected in one line that names the key."""
    assert run_command(["simulate", files["full"], "--arithmetic", "rational"]) == 2
    assert "problem.kind: 'logistic' has no rational values on data" in capsys.readouterr().err

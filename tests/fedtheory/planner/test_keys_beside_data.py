"""Messages about keys that a plan does not accept beside a data file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fedtheory.arithmetic import FLOAT
from fedtheory.cli.plan import _Accuracy
from fedtheory.errors import InputError
from fedtheory.planner.data import build_run_from_data
from fedtheory.runfile import parse_run


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (
            "participation",
            "it is a key of run files: `fedtheory data mine.csv --save run.toml` writes one",
        ),
        ("clients_per_round", "clients_per_round is called participation here"),
        ("clients_per_round", "add participation to its [algorithm], and plan run.toml"),
        ("beta", "beta is called momentum here, and is a key of run files"),
        ("lr", "lr is called local_step_size here"),
        ("colour", "expected one of rounds, local_steps"),
    ],
)
def test_keys_of_run_files(tmp_path: Path, key: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        build_run_from_data(str(tmp_path / "mine.csv"), {key: 3})


def test_a_percentage_of_zero_names_a_number() -> None:
    """F = x^2/2 has F* = 0, and F = 8 at the start 4."""
    problem = {"kind": "quadratic", "hessians": [[[1]]], "linear": [[0]], "start": [4]}
    run = parse_run({"problem": problem, "algorithm": {"local_step_size": 0.1, "local_steps": 1, "rounds": 1}}, FLOAT)
    with pytest.raises(InputError, match=r"0\.08 is 1% of F - F\* at the start"):
        _Accuracy(0.01, is_part=True).evaluate(run)

"""Labels in npz files, and notes on rows of linear models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fedtheory.arithmetic import FLOAT
from fedtheory.errors import InputError
from fedtheory.planner import plan
from fedtheory.planner.setting_in_words import list_notes
from fedtheory.runfile import parse_run

GENERATOR = np.random.default_rng(3)
INPUTS = GENERATOR.standard_normal((12, 2))
TRUE = GENERATOR.random(12) < 0.5
CLIENT = np.arange(12) % 2
SCALES = "the columns have very different scales: standardize = true equalises them"
ONES = "no column of ones: intercept = true adds one; without it the model has no constant term"


def _run(folder: Path, labels: Any, inputs: Any = INPUTS, **keys: Any) -> Any:
    np.savez(folder / "mine.npz", X=inputs, y=labels, client=CLIENT)
    problem = {"kind": "logistic", "data": "mine.npz", "start": "zeros", "ridge": 0.1, **keys}
    return parse_run({"problem": problem, "algorithm": {"local_step_size": 0.1, "rounds": 3}}, FLOAT, folder)


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (np.where(TRUE, "yes", "no"), ("no", "yes")),
        (np.where(TRUE, b"yes", b"no"), ("no", "yes")),
        (np.where(TRUE, "1", "0"), ("0", "1")),
        (TRUE, ("0", "1")),
        (np.where(TRUE, 1, -1), ("-1", "1")),
    ],
    ids=["text", "bytes", "digits", "booleans", "signs"],
)
def test_two_labels_of_any_type_are_one_problem(labels: Any, classes: tuple[str, str], tmp_path: Path) -> None:
    found, expected = _run(tmp_path, labels), _run(tmp_path, TRUE.astype(int))
    assert found.problem.classes == classes
    np.testing.assert_array_equal(found.trajectory.server_loss, expected.trajectory.server_loss)


@pytest.mark.parametrize(
    ("labels", "inputs", "message"),
    [
        (np.where(np.arange(12) == 7, "", np.where(TRUE, "a", "b")), INPUTS, r"row 7, column 'y': missing value"),
        (TRUE, INPUTS.astype(str), r"expected numbers in X, got values of type <U32$"),
        (TRUE, np.where(np.arange(24).reshape(12, 2) == 9, np.nan, INPUTS), r"X\[4, 1\] = nan \(such entries: 1\)"),
    ],
    ids=["missing label", "text inputs", "missing input"],
)
def test_mistakes_are_located(labels: Any, inputs: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        _run(tmp_path, labels, inputs)


def test_text_labels_of_a_regression_name_the_other_kind(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r'expected numbers in y, got values of type <U3 .*kind = "logistic"'):
        _run(tmp_path, np.where(TRUE, "yes", "no"), kind="least-squares")


def test_notes_on_rows_of_models(tmp_path: Path) -> None:
    """Notes mention different scales, a missing constant column, and batches larger than a client's data."""
    notes = _run(tmp_path, TRUE).problem.notes
    assert ONES in notes
    assert SCALES not in notes
    uneven = _run(tmp_path, TRUE, INPUTS * [1.0, 1e3], batch=9).problem.notes
    assert SCALES in uneven
    assert any(note.startswith("2 clients have fewer rows (6) than a batch of 9") for note in uneven)
    assert ONES not in _run(tmp_path, TRUE, np.column_stack([INPUTS, np.ones(12)])).problem.notes


def test_plans_say_why_errors_are_not_defined(tmp_path: Path) -> None:
    """The plan says that a hyperplane separates the classes and nothing penalises large models."""
    separable = _run(tmp_path, INPUTS[:, 0] > 0, ridge=0)
    assert plan(separable, claims=[]).answer is None
    assert any("errors are not defined: " in note and "add a ridge" in note for note in list_notes(separable))
    assert not any("errors are not defined" in note for note in list_notes(_run(tmp_path, TRUE)))


def test_step_sizes_far_below_the_planned_one_are_found(tmp_path: Path) -> None:
    """For inputs of size 1e6 the best step size, close to 1/L, is found far below the planned one."""
    run = _run(tmp_path, TRUE, INPUTS * [1e6, 1e-6])
    answer = plan(run, claims=[]).answer
    assert answer is not None
    assert 1e-3 < answer.best.step_size * run.smoothness < 1e3
    assert answer.best.error < run.initial_gap < answer.planned.error

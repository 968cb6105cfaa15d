"""Problems from arrays, data frames and tensors have the values of the documented formula."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fedtheory as ft
from fedtheory.federation.linear_models import LinearModelProblem
from fedtheory.federation.problem.columns import ColumnChoice
from fedtheory.federation.problem.least_squares import list_notes_on_columns
from fedtheory.planner.data import build_run_from_data
from fedtheory.planner.description import describe

X = np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 1.0], [1.0, 3.0]])
Y = np.array([1.0, 0.0, 2.0, -1.0])
CLIENT = np.array(["b", "a", "b", "a"])


def value(point: np.ndarray) -> float:
    """The mean over clients of their mean squared residuals."""
    squares = (X @ point - Y) ** 2
    return float(np.mean([squares[name == CLIENT].mean() for name in ("a", "b")]))


def table() -> pd.DataFrame:
    """Return the same table as a data frame."""
    return pd.DataFrame({"u": X[:, 0], "y": Y, "who": CLIENT, "v": X[:, 1]})


def test_arrays() -> None:
    """Arrays give the documented objective."""
    problem = ft.problem_from(X, Y, client=CLIENT)
    for point in (np.zeros(2), np.array([0.3, -1.2])):
        assert problem.value(point) == pytest.approx(value(point), rel=1e-12)


def test_data_frames_name_their_columns() -> None:
    """The columns of outputs and clients are removed from the inputs; a column of ones is added at the end."""
    problem = ft.problem_from(table(), "y", client="who")
    assert problem.value(np.array([1.0, 1.0, 0.0])) == pytest.approx(value(np.ones(2)), rel=1e-12)
    raw = ft.problem_from(table(), "y", client="who", intercept=False, features=["v", "u"])
    assert raw.value(np.array([2.0, 1.0])) == pytest.approx(value(np.array([1.0, 2.0])), rel=1e-12)


def test_frames_are_prepared_as_files_are(tmp_path: Path) -> None:
    """A frame, a file in a plan and a run file give one problem, by equal defaults and keys."""
    frame = table().assign(u=lambda rows: 1000 * rows.u)
    frame.to_csv(tmp_path / "mine.csv", index=False)
    columns = {"target": "y", "client": "who"}
    planned = build_run_from_data(str(tmp_path / "mine.csv"), columns).problem
    described = describe(str(tmp_path / "mine.csv"), ColumnChoice(**columns))
    assert described.standardize
    assert described.intercept
    given = ft.problem_from(frame, "y", client="who")
    for problem in (planned, ft.problem_from(frame, "y", client="who", standardize=True, intercept=True)):
        assert (problem.hessians == given.hessians).all()
        assert (problem.linear == given.linear).all()
    keys = {"standardize": False, "ridge": "1/3", "features": ["v"], "shares": "samples", "batch": 1}
    run = {"kind": "least-squares", "data": str(tmp_path / "mine.csv"), "intercept": True, **columns, **keys}
    read = ft.parse_run({"problem": run, "algorithm": {"local_step_size": 1, "rounds": 1}}, ft.FLOAT).problem
    made = ft.problem_from(frame, "y", client="who", **keys)
    assert (read.hessians == made.hessians).all()
    assert type(read.oracle) is type(made.oracle)


def test_classes_of_a_frame(tmp_path: Path) -> None:
    """Words are classes with `kind="logistic"`: the same problem as from the file, without a run file as well."""
    frame = pd.DataFrame({"a": [1.0, 2, 3, 4], "ill": ["no", "yes", "no", "yes"], "site": ["u", "u", "v", "v"]})
    file = tmp_path / "ill.csv"
    frame.to_csv(file, index=False)
    found = ft.problem_from(frame, "ill", client="site", kind="logistic", ridge="1/10")
    by_file = build_run_from_data(
        str(file), {"target": "ill", "client": "site", "kind": "logistic", "ridge": "1/10"}
    ).problem
    assert isinstance(found, LinearModelProblem)
    assert isinstance(by_file, LinearModelProblem)
    assert found.classes == by_file.classes == ("no", "yes")
    assert found.optimum == pytest.approx(by_file.optimum)
    with pytest.raises(ft.InputError, match="kind = \"logistic\" classifies 'no' and 'yes'"):
        ft.problem_from(frame, "ill", client="site")
    with pytest.raises(ft.InputError, match="expected one of least-squares, logistic"):
        ft.problem_from(X, Y, client=CLIENT, kind="svm")


def test_raw_columns_are_noted() -> None:
    """Columns with very different scales, and a model without intercept, are noted for data from any source."""
    far = ft.problem_from(table().assign(u=lambda rows: 1000 * rows.u), "y", client="who", standardize=False)
    assert [note.partition(":")[0] for note in list_notes_on_columns(far)] == ["the columns have very different scales"]
    bare = ft.problem_from(X, Y, client=CLIENT)
    assert [note.partition(":")[0] for note in list_notes_on_columns(bare)] == ["no column of ones"]
    assert list_notes_on_columns(ft.problem_from(table(), "y", client="who")) == []


def test_columns_of_any_kind() -> None:
    """Booleans and integers are converted; a missing value is an error that names its row."""
    frame = pd.DataFrame({"u": [True, False], "v": pd.array([1, 2], dtype="Int64"), "y": [1.0, 2.0], "who": ["a", "b"]})
    problem = ft.problem_from(frame, "y", client="who", intercept=False, standardize=False)
    assert [rows.tolist() for rows in problem.data.inputs] == [[[1, 1]], [[0, 2]]]
    frame["v"] = pd.array([1, None], dtype="Int64")
    with pytest.raises(ft.InputError, match="row 1, column 'v': missing value"):
        ft.problem_from(frame, "y", client="who")


def test_the_index_of_a_frame_that_was_read() -> None:
    """The index of a data frame from a csv file is not a feature."""
    frame = table()
    frame.insert(0, "Unnamed: 0", range(4))
    assert ft.problem_from(frame, "y", client="who").dimension == 3


FRAMES = {
    "missing client": (lambda frame: frame.assign(who=["a", None, "b", "b"]), "row 1, column 'who': missing client"),
    "missing value": (lambda frame: frame.assign(u=[1, 2, np.nan, 4]), "row 2, column 'u': missing value"),
    "text": (lambda frame: frame.assign(v=["1", "two", "3", "4"]), "row 1, column 'v': expected a number, got 'two'"),
    "infinity": (lambda frame: frame.assign(v=[1, 2, 3, np.inf]), "row 3, column 'v': expected a finite number"),
    "empty": (lambda frame: frame.iloc[:0], "expected at least one row, got none"),
    "no column": (lambda frame: frame.drop(columns="who"), "client: expected one of the columns u, y, v, got 'who'"),
    "twice": (lambda frame: frame.rename(columns={"v": "u"}), "different names for the columns, got 'u' twice"),
    "labels of rows": (
        lambda frame: frame.assign(u=[1, 2, np.nan, 4]).set_axis([*"pqrs"], axis=0),
        "row r, column 'u': missing value",
    ),
}


@pytest.mark.parametrize(("change", "message"), FRAMES.values(), ids=[name.replace(" ", "-") for name in FRAMES])
def test_mistakes_in_frames(change: Callable[[Any], Any], message: str) -> None:
    """An error in a frame is one line with the row and the column."""
    with pytest.raises(ft.InputError, match=message) as caught:
        ft.problem_from(change(table()), "y", client="who")
    assert "\n" not in str(caught.value)


def test_objects_without_an_algorithm_are_refused() -> None:
    """A problem without an algorithm, or a frame, is no run; the message says how to build one."""
    for given in (ft.problem_from(X, Y, client=CLIENT), table(), None):
        for command in (ft.plan, ft.simulate):
            with pytest.raises(ft.InputError, match=r"run: expected a run, .* ft\.run_on"):
                command(given)


def test_objects_of_loaders_provide_the_outputs() -> None:
    """An object with data and target, as loaders return it, provides the outputs."""
    problem = ft.problem_from(SimpleNamespace(data=X, target=Y), client=CLIENT)
    assert problem.value(np.ones(2)) == pytest.approx(value(np.ones(2)), rel=1e-12)


def test_tensors() -> None:
    """Tensors are detached first; an object with their methods is treated as a tensor."""

    class Tensor:
        def detach(self) -> Tensor:
            return self

        def cpu(self) -> np.ndarray:
            return X

    assert ft.problem_from(Tensor(), Y, client=CLIENT).dimension == 2


def test_splits() -> None:
    """Every row goes to one client; the seed decides."""
    for split in ("iid", "dirichlet"):
        rows = np.repeat(X, 5, axis=0)
        problem = ft.problem_from(rows, np.repeat(Y, 5), clients=2, split=split, seed=1)
        assert sum(len(outputs) for outputs in problem.data.outputs) == 20


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X,), "outputs: expected numbers"),
        ((X, Y[:2]), "expected one number for each of 4 rows"),
        ((X, Y), "expected the client of each row"),
        ((X[0], Y), "expected rows and columns"),
        ((X, "y"), "a data frame"),
        ((X * np.nan, Y, CLIENT), "row 0, column 'x0': missing value"),
        ((X, Y, [*"ab", None, "a"]), "row 2, column 'client': missing client"),
        (([[1.0], ["x"]], [1.0, 2.0], [*"ab"]), "row 1, column 'x0': expected a number, got 'x'"),
        (([[1.0], [2.0, 3.0]], [1.0, 2.0], [*"ab"]), "inputs: expected numbers"),
    ],
)
def test_mistakes(arguments: tuple[object, ...], message: str) -> None:
    """An error is one sentence with the name of the argument."""
    with pytest.raises(ft.InputError, match=message):
        ft.problem_from(*arguments[:2], client=arguments[2] if len(arguments) > 2 else None)

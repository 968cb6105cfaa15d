"""Problems from what people have: the same numbers as from the formula."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import fedtheory as ft

X = np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 1.0], [1.0, 3.0]])
Y = np.array([1.0, 0.0, 2.0, -1.0])
CLIENT = np.array(["b", "a", "b", "a"])


def value(point: np.ndarray) -> float:
    """The mean over clients of their mean squared residuals."""
    squares = (X @ point - Y) ** 2
    return float(np.mean([squares[name == CLIENT].mean() for name in ("a", "b")]))


def test_arrays() -> None:
    """The objective is the one that is documented."""
    problem = ft.problem_from(X, Y, client=CLIENT)
    for point in (np.zeros(2), np.array([0.3, -1.2])):
        assert problem.value(point) == pytest.approx(value(point), rel=1e-12)


def test_data_frames_name_their_columns() -> None:
    """Outputs and clients are taken out of the inputs."""
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"u": X[:, 0], "y": Y, "who": CLIENT, "v": X[:, 1]})
    problem = ft.problem_from(table, "y", client="who")
    assert problem.value(np.ones(2)) == pytest.approx(value(np.ones(2)), rel=1e-12)


def test_what_loaders_return() -> None:
    """Something with data and target brings its outputs."""
    problem = ft.problem_from(SimpleNamespace(data=X, target=Y), client=CLIENT)
    assert problem.value(np.ones(2)) == pytest.approx(value(np.ones(2)), rel=1e-12)


def test_tensors() -> None:
    """They are detached first; what has these methods counts as one."""

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
        ((X, Y), "expected whose each row is"),
        ((X[0], Y), "expected rows and columns"),
        ((X, "y"), "a data frame"),
        ((X * np.nan, Y), "missing or infinite"),
    ],
)
def test_mistakes(arguments: tuple[object, ...], message: str) -> None:
    """One sentence with the name of the argument."""
    with pytest.raises(ft.InputError, match=message):
        ft.problem_from(*arguments)

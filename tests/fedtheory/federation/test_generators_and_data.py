"""Random rational problems, splits over clients, and the data sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.federation import fedavg
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.problem import datasets, least_squares
from fedtheory.federation.problem.datasets import load
from fedtheory.federation.problem.generators import (
    build_cayley_rotation,
    draw_hessian,
    draw_quadratics,
    draw_rotation,
    draw_vector,
)
from fedtheory.federation.problem.split import split_by_dirichlet, split_iid

few = settings(max_examples=30, deadline=None, derandomize=True)
seeds = st.integers(0, 10**6)


@given(seeds, st.integers(1, 5))
@few
def test_rotations_are_orthogonal(seed: int, size: int) -> None:
    """Q Q' = I exactly, with determinant one; and the Cayley transform of any skew matrix."""
    generator = np.random.default_rng(seed)
    entries = np.triu(RATIONAL.array(generator.integers(-9, 10, (size, size))), 1) + RATIONAL.zeros(size, size)
    for rotation in (draw_rotation(generator, size), build_cayley_rotation((entries - entries.T) / fmpq(7))):
        assert rotation.shape == (size, size)
        assert all(isinstance(entry, fmpq) for entry in rotation.ravel())
        assert (rotation @ rotation.T == RATIONAL.identity(size)).all()
        assert fmpq_mat(rotation.tolist()).det() == 1


def test_the_cayley_transform_in_the_plane() -> None:
    """A = [[0, t], [-t, 0]] turns by the angle with cosine (1 - t^2)/(1 + t^2)."""
    turned = build_cayley_rotation(RATIONAL.array([[0, "1/2"], ["-1/2", 0]]))
    assert turned.tolist() == [[fmpq(3, 5), fmpq(-4, 5)], [fmpq(4, 5), fmpq(3, 5)]]


@given(seeds, st.lists(st.fractions(0, 5, max_denominator=6), min_size=1, max_size=4))
@few
def test_prescribed_spectra(seed: int, spectrum: list[object]) -> None:
    """The characteristic polynomial is exactly the product of (x - lambda_j), and the matrix is symmetric."""
    values = [RATIONAL.number(v, "v") for v in spectrum]
    hessian = draw_hessian(np.random.default_rng(seed), values)
    diagonal = np.diag(RATIONAL.array(values)) + RATIONAL.zeros(len(values), len(values))
    assert fmpq_mat(hessian.tolist()).charpoly() == fmpq_mat(diagonal.tolist()).charpoly()
    assert (hessian == hessian.T).all()


@given(seeds, st.integers(1, 3), st.integers(1, 3), st.booleans())
@few
def test_random_quadratics(seed: int, clients: int, dimension: int, shared: bool) -> None:
    """Random quadratics have shared or own Hessians, one noise variance, equal weights, and a minimiser."""
    spectra = [[fmpq(j * (i + 1), 3) for j in range(dimension)] for i in range(clients)]
    problem = draw_quadratics(
        np.random.default_rng(seed), spectra, shared=shared, heterogeneity=fmpq(1), noise=fmpq(2, 3)
    )
    run = Run(problem, fedavg(problem, rounds=1, local_step_size="1/10"))
    assert run.noise_variance.value == fmpq(2, 3)
    assert (problem.weights == fmpq(1, clients)).all()
    assert (problem.hessian @ problem.optimum == problem.mean_linear).all()
    expected = [fmpq(dimension - 1, 3) * (1 if shared else i + 1) for i in range(clients)]
    assert [RATIONAL.largest_eigenvalue(h) for h in problem.hessians] == expected
    if shared:
        assert (problem.hessians == problem.hessians[0]).all()


def test_no_heterogeneity_means_one_minimiser() -> None:
    """With heterogeneity zero every client's gradient vanishes at x*; with a positive one it does not."""
    spectra = [[fmpq(1), fmpq(2)], [fmpq(3), fmpq(1)]]
    for spread, same in ((fmpq(0), True), (fmpq(1), False)):
        problem = draw_quadratics(np.random.default_rng(0), spectra, shared=False, heterogeneity=spread, noise=fmpq(0))
        assert bool((problem.centred.linear == 0).all()) is same


def test_random_vectors() -> None:
    """Entries are multiples of a quarter in the given range, both ends included."""
    drawn = draw_vector(np.random.default_rng(0), 500, reach=1)
    assert {fmpq(j, 4) for j in range(-4, 5)} == set(drawn.tolist())


def _is_partition(parts: list[np.ndarray], count: int) -> bool:  # type: ignore[type-arg]
    return sorted(np.concatenate(parts).tolist()) == list(range(count)) and all(len(part) > 0 for part in parts)


@given(st.integers(1, 60), st.integers(1, 60), seeds)
@few
def test_iid_splits(count: int, clients: int, seed: int) -> None:
    """An IID split is a partition into nearly equal parts, determined by the seed."""
    if clients > count:
        with pytest.raises(InputError, match=r"problem\.clients"):
            split_iid(count, clients, seed)
        return
    parts = split_iid(count, clients, seed)
    assert len(parts) == clients
    assert _is_partition(parts, count)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    assert all((a == b).all() for a, b in zip(parts, split_iid(count, clients, seed), strict=True))


@given(st.integers(1, 80), st.integers(1, 20), st.sampled_from([0.01, 0.1, 1.0, 100.0]), seeds)
@few
def test_dirichlet_splits(count: int, clients: int, concentration: float, seed: int) -> None:
    """A Dirichlet split is a partition without empty clients, determined by the seed."""
    clients = min(clients, count)
    labels = np.random.default_rng(seed).integers(0, 3, count)
    parts = split_by_dirichlet(labels, clients, concentration, seed)
    assert len(parts) == clients
    assert _is_partition(parts, count)
    again = split_by_dirichlet(labels, clients, concentration, seed)
    assert all((a == b).all() for a, b in zip(parts, again, strict=True))


def test_concentration_decides_the_skew() -> None:
    """A small concentration gives clients of nearly one label, a large one clients like the whole data."""
    labels = np.repeat([-1.0, 1.0], 500)

    def skew(concentration: float) -> float:
        parts = split_by_dirichlet(labels, 5, concentration, 0)
        return float(np.average([abs(labels[part].mean()) for part in parts], weights=[len(part) for part in parts]))

    assert skew(1000.0) < 0.1
    assert skew(0.05) > 0.5


def test_impossible_splits_are_errors() -> None:
    """No clients, more clients than rows, and a concentration that is not positive."""
    for clients in (0, 4):
        with pytest.raises(InputError, match=r"problem\.clients"):
            split_by_dirichlet(np.zeros(3), clients, 1.0, 0)
    with pytest.raises(InputError, match=r"problem\.concentration"):
        split_by_dirichlet(np.zeros(3), 2, 0.0, 0)


@pytest.mark.parametrize(
    ("name", "rows", "columns", "two_classes"),
    [
        ("digits:3-8", 357, 65, True),
        ("digits:8-3", 357, 65, True),
        ("breast_cancer", 569, 31, True),
        ("diabetes", 442, 11, False),
    ],
)
def test_data_sets(name: str, rows: int, columns: int, two_classes: bool) -> None:
    """Shipped data sets have the documented shapes, constant column, scaling and outputs."""
    table = load(name)
    assert table.inputs.shape == (rows, columns)
    assert table.outputs.shape == (rows,)
    assert (table.inputs[:, -1] == 1).all()
    assert table.two_classes is two_classes
    if name.startswith("digits"):
        assert table.inputs[:, :-1].min() == 0
        assert table.inputs[:, :-1].max() == 0.5
    else:
        assert table.inputs[:, :-1].mean(axis=0) == pytest.approx(np.zeros(columns - 1), abs=1e-9)
        assert table.inputs[:, :-1].std(axis=0) == pytest.approx(np.ones(columns - 1))
    if not two_classes:
        assert (table.outputs.mean(), table.outputs.std()) == pytest.approx((0, 1), abs=1e-9)


def test_the_order_of_digits_decides_the_sign() -> None:
    """The second digit is +1."""
    assert (load("digits:3-8").outputs == -load("digits:8-3").outputs).all()
    assert (load("digits:3-8").outputs == 1).sum() == 174


@pytest.mark.parametrize(
    "name",
    [
        "digits",
        "digits:3",
        "digits:3-3",
        "digits:3-x",
        "digits:3-11",
        "diabetes:1",
        "breast_cancer:a",
        "iris",
        "none.csv",
    ],
)
def test_unknown_data_sets(name: str) -> None:
    """Unknown names, invalid classes, and missing files are errors."""
    with pytest.raises(InputError, match=r"problem\.data"):
        load(name)


def test_files(tmp_path: Path) -> None:
    """npz and csv files are read without changes, with the client of each row."""
    inputs, outputs, client = (
        np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
        np.array([1.0, 0.0, -1.0]),
        np.array([0, 1, 1]),
    )
    np.savez(tmp_path / "a.npz", X=inputs, y=outputs, client=client)
    (tmp_path / "a.csv").write_text("x1,x2,y,client\n1,2,1,0\n3,4,0,1\n5,6,-1,1\n")
    for name in ("a.npz", "a.csv"):
        table = load(str(tmp_path / name))
        assert (table.inputs == inputs).all()
        assert (table.outputs == outputs).all()
        assert table.clients is not None
        assert table.clients.labels == ("0", "1")
        assert (table.clients.codes == client).all()
    np.savez(tmp_path / "b.npz", X=inputs, y=outputs)
    assert load(str(tmp_path / "b.npz")).clients is None


def test_broken_files(tmp_path: Path) -> None:
    """Missing arrays, inconsistent shapes, non-finite numbers, text, and too few columns are errors."""
    inputs, outputs = np.ones((3, 2)), np.ones(3)
    np.savez(tmp_path / "missing.npz", X=inputs)
    np.savez(tmp_path / "shape.npz", X=inputs, y=np.ones(2))
    np.savez(tmp_path / "client.npz", X=inputs, y=outputs, client=np.ones(2))
    np.savez(tmp_path / "nan.npz", X=inputs * np.nan, y=outputs)
    np.savez(tmp_path / "text.npz", X=np.array([["a", "b"]] * 3), y=outputs)
    (tmp_path / "garbage.npz").write_text("this is no archive")
    (tmp_path / "narrow.csv").write_text("y,client\n1,0\n2,0\n")
    (tmp_path / "words.csv").write_text("x,y,client\none,2,3\n")
    (tmp_path / "nan.csv").write_text("x,y,client\nnan,2,3\n")
    for path in sorted(tmp_path.iterdir()):
        with pytest.raises(InputError, match=r"problem\.data"):
            load(str(path))


def test_least_squares_is_the_mean_of_squared_residuals() -> None:
    """Values and gradients of F_i agree with sums over rows, on real data."""
    table = load("diabetes")
    rows = split_iid(len(table.outputs), 3, 0)
    split = ClientData(tuple(table.inputs[r] for r in rows), tuple(table.outputs[r] for r in rows))
    problem = least_squares(split, FLOAT.zeros(11))
    at = np.random.default_rng(0).standard_normal(11)
    residuals = [x @ at - y for x, y in split]
    values = [(r**2).mean() for r in residuals]
    assert problem.value(at) == pytest.approx(np.mean(values))
    gradients = np.stack([2 * r @ x / len(r) for r, (x, _) in zip(residuals, split, strict=True)])
    assert problem.gradients(np.tile(at, (3, 1))) == pytest.approx(gradients)
    assert np.abs(problem.gradients(np.tile(problem.optimum, (3, 1))).mean(axis=0)).max() < 1e-9


def test_data_that_does_not_fit_is_an_error() -> None:
    """No clients, empty clients, rows without outputs, and batches of invalid size are errors."""

    def table(*sizes: tuple[int, int]) -> ClientData:
        return ClientData(tuple(np.ones((n, 1)) for n, _ in sizes), tuple(np.ones(n) for _, n in sizes))

    start = FLOAT.zeros(1)
    for data, batch, replacement in (
        (table(), None, True),
        (table((2, 2), (0, 0)), None, True),
        (table((2, 3)), None, True),
        (table((2, 2)), 0, True),
        (table((3, 3), (2, 2)), 3, False),
    ):
        with pytest.raises(InputError, match=r"problem\."):
            least_squares(data, start, batch=batch, replacement=replacement)
    assert least_squares(table((3, 3), (2, 2)), start, batch=3, replacement=True).clients == 2


@pytest.mark.parametrize(
    ("name", "skiprows", "loader"),
    [("digits.csv.gz", 0, "load_digits"), ("breast_cancer.csv", 1, "load_breast_cancer")],
)
def test_shipped_files_are_what_the_library_loads(name: str, skiprows: int, loader: str) -> None:
    """Files of scikit-learn are read with the numbers of its loader; a missing file gives None."""
    shipped = datasets._load_shipped(name, skiprows)
    assert shipped is not None
    for own, loaded in zip(shipped, datasets._load_from_library(loader), strict=True):
        assert (own == loaded).all()
    assert datasets._load_shipped("no_such_file.csv") is None


def test_diabetes_is_read_from_the_files_that_the_library_loads() -> None:
    """Columns and progression of the diabetes data are those of scikit-learn's loader to the last bit."""
    shipped = datasets._load_shipped_diabetes()
    assert shipped is not None
    for own, loaded in zip(shipped, datasets._load_from_library("load_diabetes"), strict=True):
        assert (own == loaded).all()

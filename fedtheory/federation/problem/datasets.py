"""Real data for least squares: scikit-learn's data sets, and the user's own npz or csv files."""

from __future__ import annotations

import csv
import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.lib.npyio import NpzFile

from fedtheory.arithmetic import Array
from fedtheory.errors import InputError, MissingExtra

KEY = "problem.data"
LARGEST = 1e30
"""Largest number in a data file: curvatures are squares."""
NAMES = ("digits:A-B", "breast_cancer", "diabetes")


@dataclass(frozen=True, eq=False)
class DataSet:
    """Inputs scaled and with a constant column, and outputs, ready for least squares."""

    name: str
    inputs: Array
    """(n, d): columns scaled as the loader says, the last column is constant one."""
    outputs: Array
    """(n,): -1 and 1 for two classes, standardised for a regression."""
    client: Array | None = None
    """(n,): the client of each row where the file says so."""

    @property
    def two_classes(self) -> bool:
        """Whether the outputs are the labels -1 and 1."""
        return set(np.unique(self.outputs)) == {-1.0, 1.0}


def load(name: str) -> DataSet:
    """The data set of that name, or of that file; `InputError` where there is none."""
    if name.endswith((".npz", ".csv")):
        path = Path(name)
        if not path.is_file():
            raise InputError(KEY, f"no such file: {name}")
        return _read_npz(path) if name.endswith(".npz") else _read_csv(path)
    loader, _, classes = name.partition(":")
    if loader not in _LOADERS:
        raise InputError(KEY, f"expected one of {', '.join(NAMES)}, or a .npz or .csv file, got {name!r}")
    try:
        return _LOADERS[loader](classes)
    except ImportError:
        raise MissingExtra("data", f"the data set {loader!r}") from None


def _digits(classes: str) -> DataSet:
    """Handwritten digits of two classes (UCI; 8 x 8 pixels of 0..16, scaled to 0..1/2: then L is about ten)."""
    low, _, high = classes.partition("-")
    if not (low.isdecimal() and high.isdecimal() and low != high and max(int(low), int(high)) <= 9):
        raise InputError(KEY, f"expected two different digits as in 'digits:3-8', got 'digits:{classes}'")
    pixels, labels = _shipped("digits.csv.gz") or _loaded("load_digits")
    chosen = (labels == int(low)) | (labels == int(high))
    return DataSet(
        f"digits {low} against {high}",
        _with_constant(pixels[chosen] / 32),
        np.where(labels[chosen] == int(high), 1.0, -1.0),
    )


def _breast_cancer(classes: str) -> DataSet:
    """Wisconsin breast cancer, malignant (-1) against benign (1), standardised columns."""
    _expect_no_classes("breast_cancer", classes)
    measurements, labels = _shipped("breast_cancer.csv", skiprows=1) or _loaded("load_breast_cancer")
    return DataSet("breast cancer", _with_constant(_standardised(measurements)), np.where(labels == 1, 1.0, -1.0))


def _diabetes(classes: str) -> DataSet:
    """Diabetes progression (Efron et al., 2004), standardised columns and target."""
    _expect_no_classes("diabetes", classes)
    measurements, progression = _loaded("load_diabetes")
    return DataSet("diabetes", _with_constant(_standardised(measurements)), _standardised(progression))


_LOADERS: dict[str, Callable[[str], DataSet]] = {
    "digits": _digits,
    "breast_cancer": _breast_cancer,
    "diabetes": _diabetes,
}


def _shipped(name: str, skiprows: int = 0) -> tuple[Array, Array] | None:
    """Columns and labels of a file that scikit-learn ships, without its import of seconds; None where it is not there.

    Raises `ImportError` without scikit-learn.
    """
    package = importlib.util.find_spec("sklearn")
    if package is None or package.origin is None:
        raise ImportError("scikit-learn")
    file = Path(package.origin).parent / "datasets" / "data" / name
    if not file.is_file():
        return None
    table = np.loadtxt(file, delimiter=",", skiprows=skiprows)
    return table[:, :-1], table[:, -1].astype(int)


def _loaded(loader: str) -> tuple[Array, Array]:
    """Columns and labels from one of scikit-learn's own loaders."""
    columns, labels = getattr(importlib.import_module("sklearn.datasets"), loader)(return_X_y=True)
    return columns, labels


def _expect_no_classes(name: str, classes: str) -> None:
    if classes:
        raise InputError(KEY, f"expected {name!r} without classes, got '{name}:{classes}'")


def _standardised(columns: Array) -> Array:
    spread = columns.std(axis=0)
    centred: Array = columns - columns.mean(axis=0)
    return centred / np.where(spread == 0, 1, spread)


def _with_constant(columns: Array) -> Array:
    return np.column_stack([columns, np.ones(len(columns))])


def _read_npz(path: Path) -> DataSet:
    """Arrays X (n, d), y (n,) and optionally client (n,), taken as they are."""
    try:
        with path.open("rb") as file, NpzFile(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except Exception as error:
        # Broken archives raise whatever the layers below come across; objects (pickles) are never loaded.
        reason = str(error) or type(error).__name__
        raise InputError(KEY, f"{path} is not a readable npz file ({reason[:200]})") from None
    missing = {"X", "y"} - arrays.keys()
    if missing:
        raise InputError(KEY, f"{path}: expected arrays X and y, missing {', '.join(sorted(missing))}")
    return _checked(path, arrays["X"], arrays["y"], arrays.get("client"))


def _read_csv(path: Path) -> DataSet:
    """Comma-separated rows below a header line; the last two columns are y and client, a client is any label."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header, *rows = [row for row in csv.reader(file) if row] or [[]]
    except (OSError, ValueError, csv.Error) as error:
        raise InputError(KEY, f"{path} is not a readable csv file ({error})") from None
    if len(header) < 3:
        raise InputError(KEY, f"{path}: expected at least three columns (inputs, y, client), got {len(header)}")
    if all(_is_number(cell) for cell in header):
        raise InputError(KEY, f"{path}: expected a header line with names, got numbers in the first line")
    named = {"y", "client"} & {cell.strip() for cell in header}
    if len(named) == 2 and [cell.strip() for cell in header[-2:]] != ["y", "client"]:
        raise InputError(KEY, f"{path}: expected y and client as the last two columns, in this order")
    for line, row in enumerate(rows, start=2):
        if len(row) != len(header) or not all(_is_number(cell) for cell in row[:-1]) or not row[-1].strip():
            raise InputError(KEY, f"{path}, row {line}: expected {len(header) - 1} numbers and a client, got {row}")
    numbers = np.array([[float(cell) for cell in row[:-1]] for row in rows]).reshape(len(rows), len(header) - 1)
    return _checked(path, numbers[:, :-1], numbers[:, -1], _labels([row[-1].strip() for row in rows]))


def _labels(cells: list[str]) -> Array:
    """Client labels: as numbers where all are, so that 2 comes before 10."""
    return np.array([float(cell) for cell in cells] if all(_is_number(cell) for cell in cells) else cells)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _checked(path: Path, features: Array, targets: Array, client: Array | None) -> DataSet:
    if features.ndim != 2 or targets.shape != features.shape[:1]:
        raise InputError(KEY, f"{path}: expected X of n x d and y of n, got {features.shape} and {targets.shape}")
    if features.dtype.kind not in "fiu" or targets.dtype.kind not in "fiu":
        raise InputError(KEY, f"{path}: expected numbers in X and y")
    if client is not None:
        _check_clients(path, client, targets)
    if len(targets) == 0:
        raise InputError(KEY, f"{path}: expected at least one row, got none")
    features, targets = features.astype(float), targets.astype(float)
    if not (np.isfinite(features).all() and np.isfinite(targets).all()):
        raise InputError(KEY, f"{path}: expected finite numbers, found NaN or infinity")
    if max(np.abs(features).max(initial=0), np.abs(targets).max()) > LARGEST:
        raise InputError(KEY, f"{path}: expected numbers of at most {LARGEST:g} in size: use other units")
    return DataSet(path.name, features, targets, client)


def _check_clients(path: Path, client: Array, targets: Array) -> None:
    if client.shape != targets.shape:
        raise InputError(KEY, f"{path}: expected one client for each row, got {client.shape} for {len(targets)} rows")
    if client.dtype.kind not in "biufUS":
        raise InputError(KEY, f"{path}: expected numbers or words in client")
    if client.dtype.kind == "f" and not np.isfinite(client).all():
        raise InputError(KEY, f"{path}: expected a number in every row's client, found NaN or infinity")

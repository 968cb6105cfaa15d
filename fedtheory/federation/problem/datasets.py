"""Real data for least squares: scikit-learn's data sets, and the user's own csv, Parquet or npz files."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.lib.npyio import NpzFile

from fedtheory.arithmetic import Array
from fedtheory.errors import InputError, MissingExtra
from fedtheory.federation.problem.cells import ClassColumn
from fedtheory.federation.problem.clients import Clients
from fedtheory.federation.problem.column_chunks import NamedColumns, read_rows
from fedtheory.federation.problem.columns import KEY, ColumnChoice
from fedtheory.federation.problem.delimited import SUFFIXES, Delimited
from fedtheory.federation.problem.parquet import SUFFIX, ParquetSource
from fedtheory.federation.problem.scales import are_uneven, measure_columns, measure_scaling

WITH_NAMES = (*SUFFIXES, SUFFIX)
"""Suffixes of data files with named columns."""
FILES = (*WITH_NAMES, ".npz")
"""Suffixes of data files."""
LARGEST = 1e30
"""Largest number in a data file, so that its square, a curvature, is in range."""
NAMES = ("digits:A-B", "breast_cancer", "diabetes")


@dataclass(frozen=True, eq=False)
class DataSet:
    """Features and outputs, ready for least squares."""

    name: str
    features: Array
    """Features (n, d), in the units of the file, or scaled by the loader."""
    outputs: Array
    """Outputs (n,): -1 and 1 for the two classes of a named data set, standardised for a regression."""
    clients: Clients | None = None
    """Clients of the rows, if a column names them."""
    target: str = "y"
    """The name of the output."""
    classes: tuple[str, ...] = ()
    """The names of text labels; outputs are their indices."""
    columns: tuple[str, ...] = ()
    """The names of the features, if the file has them."""
    intercept: bool = False
    """Whether a column of ones follows the features."""
    scaling: tuple[Array, Array] | None = None
    """Offset and scale of each feature, (d,) each, applied on access, so that large data are stored once."""
    notes: tuple[str, ...] = ()
    """Notes of the reader on the file."""

    @cached_property
    def inputs(self) -> Array:
        """The inputs (n, d), or (n, d+1) with the column of ones."""
        return self.inputs_of(slice(None))

    def inputs_of(self, rows: Array | slice) -> Array:
        """Return the inputs of the rows with the given numbers."""
        chosen = self.features[rows]
        if self.scaling is not None:
            centre, spread = self.scaling
            chosen = (chosen - centre) / spread
        return np.column_stack([chosen, np.ones(len(chosen))]) if self.intercept else chosen

    @property
    def two_classes(self) -> bool:
        """Whether the outputs are two labels."""
        return len(np.unique(self.outputs)) == 2

    def prepare(self, standardize: bool | None = None, intercept: bool | None = None) -> DataSet:
        """Return the data with the features of a run.

        Standardised features have mean zero and deviation one; a constant feature becomes zero.  With None, features
        are standardised if their sizes, and that of a column of ones, are far apart, and a column of ones is added
        unless a feature is constant.
        """
        with_ones = np.append(measure_columns(self.features), [] if intercept is False else [1.0])
        scaled = are_uneven(with_ones) if standardize is None else standardize
        has_ones = not scaled and bool((self.features == 1).all(axis=0).any())
        ones = self.intercept or not has_ones if intercept is None else intercept
        return replace(self, scaling=measure_scaling(self.features) if scaled else self.scaling, intercept=ones)


DataFiles = dict[tuple[str, ColumnChoice], DataSet]
"""Data sets that have been read, by their names and columns."""
_MOST_KEPT = 4
_KEPT: ContextVar[DataFiles | None] = ContextVar("kept", default=None)


@contextmanager
def cache_files(kept: DataFiles) -> Iterator[None]:
    """Cache the columns of each file in `kept` while the block runs; an inner block uses the cache of the outer one."""
    token = _KEPT.set(kept if _KEPT.get() is None else _KEPT.get())
    try:
        yield
    finally:
        _KEPT.reset(token)


def load(name: str, choice: ColumnChoice | None = None) -> DataSet:
    """Return the data set of that name, or of that file with the columns of a choice.

    Raises `InputError` if there is none.
    """
    chosen, kept = choice or ColumnChoice(), _KEPT.get()
    if kept is None:
        return _load(name, chosen)
    if (name, chosen) not in kept:
        if len(kept) == _MOST_KEPT:
            kept.clear()
        kept[name, chosen] = _load(name, chosen)
    return kept[name, chosen]


def _load(name: str, chosen: ColumnChoice) -> DataSet:
    if chosen.is_made and not name.endswith(WITH_NAMES):
        raise InputError(KEY, f"columns have names in files that end in {' or '.join(WITH_NAMES)}, got {name!r}")
    if name.endswith(FILES):
        path = Path(name)
        if not path.is_file():
            raise InputError(KEY, f"no such file: {name}")
        return _read_npz(path, chosen) if name.endswith(".npz") else _read_columns(path, chosen)
    loader, _, classes = name.partition(":")
    if loader not in _LOADERS:
        raise InputError(KEY, f"expected one of {', '.join(NAMES)}, or a file ({', '.join(FILES)}), got {name!r}")
    if classes and loader != "digits":
        raise InputError(KEY, f"expected {loader!r} without classes, got {name!r}")
    try:
        return _LOADERS[loader](classes)
    except ImportError:
        raise MissingExtra("data", f"the data set {loader!r}") from None


def _load_digits(classes: str) -> DataSet:
    """Return handwritten digits of two classes (UCI, 8 x 8 pixels of 0..16).

    Pixels are scaled to 0..1/2, so that L is about ten.
    """
    low, _, high = classes.partition("-")
    if not (low.isdecimal() and high.isdecimal() and low != high and max(int(low), int(high)) <= 9):
        raise InputError(KEY, f"expected two different digits as in 'digits:3-8', got 'digits:{classes}'")
    pixels, labels = _load_shipped("digits.csv.gz") or _load_from_library("load_digits")
    chosen = (labels == int(low)) | (labels == int(high))
    return DataSet(
        f"digits {low} against {high}",
        pixels[chosen] / 32,
        np.where(labels[chosen] == int(high), 1.0, -1.0),
        intercept=True,
    )


def _load_breast_cancer(_classes: str) -> DataSet:
    """Return Wisconsin breast cancer data, malignant (-1) against benign (1), standardised columns."""
    measurements, labels = _load_shipped("breast_cancer.csv", skiprows=1) or _load_from_library("load_breast_cancer")
    outputs = np.where(labels == 1, 1.0, -1.0)
    return DataSet("breast cancer", _standardise(measurements), outputs, intercept=True)


def _load_diabetes_data(_classes: str) -> DataSet:
    """Return diabetes progression (Efron et al., 2004), standardised columns and target."""
    measurements, progression = _load_shipped_diabetes() or _load_from_library("load_diabetes")
    return DataSet("diabetes", _standardise(measurements), _standardise(progression), intercept=True)


_LOADERS: dict[str, Callable[[str], DataSet]] = {
    "digits": _load_digits,
    "breast_cancer": _load_breast_cancer,
    "diabetes": _load_diabetes_data,
}


def _load_shipped(name: str, skiprows: int = 0) -> tuple[Array, Array] | None:
    """Return columns and labels of a file that scikit-learn ships; None if it is not there."""
    table = _load_table(name, ",", skiprows)
    return None if table is None else (table[:, :-1], table[:, -1].astype(int))


def _load_shipped_diabetes() -> tuple[Array, Array] | None:
    """Return columns and labels of the two diabetes files, scaled to norm one as by scikit-learn's loader."""
    columns, progression = _load_table("diabetes_data_raw.csv.gz"), _load_table("diabetes_target.csv.gz")
    if columns is None or progression is None:
        return None
    return _standardise(columns) / np.sqrt(len(columns)), progression


def _load_table(name: str, delimiter: str | None = None, skiprows: int = 0) -> Array | None:
    """Return the numbers of a file that scikit-learn ships, without its slow import; None if it is not there.

    Raises `ImportError` without scikit-learn.
    """
    package = importlib.util.find_spec("sklearn")
    if package is None or package.origin is None:
        raise ImportError("scikit-learn")
    file = Path(package.origin).parent / "datasets" / "data" / name
    if not file.is_file():
        return None
    return np.loadtxt(file, delimiter=delimiter, skiprows=skiprows)


def _load_from_library(loader: str) -> tuple[Array, Array]:
    """Return columns and labels from one of scikit-learn's own loaders."""
    columns, labels = getattr(importlib.import_module("sklearn.datasets"), loader)(return_X_y=True)
    return columns, labels


def _standardise(columns: Array) -> Array:
    """Scale each column to mean zero and standard deviation one."""
    centre, spread = measure_scaling(columns)
    scaled: Array = (columns - centre) / spread
    return scaled


def _read_npz(path: Path, choice: ColumnChoice) -> DataSet:
    """Read arrays X (n, d), y (n,) and optionally client (n,)."""
    try:
        with path.open("rb") as file, NpzFile(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except Exception as error:
        # Broken archives raise various errors of the libraries below; objects (pickles) are never loaded.
        reason = str(error) or type(error).__name__
        raise InputError(KEY, f"{path} is not a readable npz file ({reason[:200]})") from None
    missing = {"X", "y"} - arrays.keys()
    if missing:
        raise InputError(KEY, f"{path}: expected arrays X and y, missing {', '.join(sorted(missing))}")
    return _build_data_set(path, arrays["X"], arrays["y"], arrays.get("client"), choice)


def _read_columns(path: Path, choice: ColumnChoice) -> DataSet:
    source = ParquetSource(path) if path.suffix == SUFFIX else Delimited(path)
    return read_data_set(source, choice, path.name)


def read_data_set(source: NamedColumns, choice: ColumnChoice, name: str) -> DataSet:
    """Return the rows of a table with named columns."""
    rows = read_rows(source, choice)
    _require_sizes(source.header.source, rows.features, rows.outputs)
    return DataSet(
        name,
        rows.features,
        rows.outputs,
        rows.clients,
        target=rows.roles.target,
        classes=rows.classes,
        columns=rows.roles.features,
        notes=rows.notes,
    )


def _build_data_set(path: Path, features: Array, targets: Array, client: Array | None, choice: ColumnChoice) -> DataSet:
    if features.ndim != 2 or targets.shape != features.shape[:1]:
        raise InputError(KEY, f"{path}: expected X of n x d and y of n, got {features.shape} and {targets.shape}")
    if client is not None:
        _require_clients(path, client, targets)
    features = _require_numbers(path, "X", features)
    is_text = choice.has_classes and targets.dtype.kind in "US"
    outputs, classes = _read_labels(path, targets) if is_text else (_require_numbers(path, "y", targets), ())
    _require_sizes(str(path), features, outputs)
    clients = None if client is None else Clients.from_values(client)
    return DataSet(path.name, features, outputs, clients, classes=classes)


def _require_numbers(path: Path, name: str, values: Array) -> Array:
    """Return an array of finite numbers in floats; an `InputError` names the first invalid entry."""
    if values.dtype.kind not in "biuf":
        hint = ' (labels that are text are read with kind = "logistic")' if name == "y" else ""
        raise InputError(KEY, f"{path}: expected numbers in {name}, got values of type {values.dtype}{hint}")
    numbers: Array = values.astype(float, copy=False)
    bad = np.argwhere(~np.isfinite(numbers))
    if len(bad):
        first = ", ".join(map(str, bad[0]))
        found = f"expected finite numbers, got {name}[{first}] = {numbers[tuple(bad[0])]} (such entries: {len(bad)})"
        raise InputError(KEY, f"{path}: {found}: correct them, or leave out their rows")
    return numbers


def _read_labels(path: Path, texts: Array) -> tuple[Array, tuple[str, ...]]:
    """Return labels as numbers, with the names of text labels; raise `InputError` for missing ones."""
    column = ClassColumn("y")
    places = column.numbers(np.char.decode(texts, "utf-8") if texts.dtype.kind == "S" else texts, range(len(texts)))
    if column.trouble is not None:
        raise InputError(KEY, f"{path}: {column.trouble}")
    return column.labels(places)


def _require_sizes(source: str, features: Array, targets: Array) -> None:
    """Raise `InputError` if there are no rows, or numbers whose squares overflow."""
    if len(targets) == 0:
        raise InputError(KEY, f"{source}: expected at least one row, got none")
    if max(max(part.max(initial=0), -part.min(initial=0)) for part in (features, targets)) > LARGEST:
        raise InputError(KEY, f"{source}: expected numbers of at most {LARGEST:g} in size: use other units")


def _require_clients(path: Path, client: Array, targets: Array) -> None:
    if client.shape != targets.shape:
        raise InputError(KEY, f"{path}: expected one client for each row, got {client.shape} for {len(targets)} rows")
    if client.dtype.kind not in "biufUS":
        raise InputError(KEY, f"{path}: expected numbers or words in client")
    if client.dtype.kind == "f" and not np.isfinite(client).all():
        raise InputError(KEY, f"{path}: expected a number in every row's client, found NaN or infinity")

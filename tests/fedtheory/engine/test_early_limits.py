"""Limits that follow from keys and the header of a data file are checked without reading its numbers."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fedtheory import FLOAT, RATIONAL, InputError, parse_run, read_run
from fedtheory.errors import TooLarge
from fedtheory.federation.problem import datasets
from fedtheory.federation.problem.file_sizes import bound_file_size
from fedtheory.runfile import limits, model_limits

NAMES = ("a", "b", "c", "d", "y", "client")
TABLE = np.arange(30.0).reshape(5, 6) % 7


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Write the same five rows in each format."""
    text = "\n".join([",".join(NAMES), *(",".join(map(str, row)) for row in TABLE)]) + "\n"
    (tmp_path / "d.csv").write_text(text)
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(text.encode()))
    pq.write_table(pa.table(dict(zip(NAMES, TABLE.T, strict=True))), tmp_path / "d.parquet")
    np.savez(tmp_path / "d.npz", X=TABLE[:, :4], y=TABLE[:, 4], client=TABLE[:, 5])
    np.savez(tmp_path / "no_x.npz", y=TABLE[:, 4])
    (tmp_path / "broken.npz").write_bytes(b"PK")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("d.npz", (5, 4)),
        ("d.parquet", (5, 3)),
        ("d.csv", (0, 3)),
        ("d.csv.gz", (0, 3)),
        ("no_x.npz", (0, 0)),
        ("broken.npz", (0, 0)),
        ("missing.csv", (0, 0)),
        ("d.txt", (0, 0)),
    ],
)
def test_sizes_are_no_larger_than_the_files(files: Path, name: str, size: tuple[int, int]) -> None:
    """A table may have output, client and row number in addition to features; text does not tell its number of rows."""
    assert bound_file_size(files / name) == size


def _refuse(files: Path, problem: dict[str, Any], algorithm: dict[str, Any], arithmetic: Any = FLOAT) -> str:
    content = {
        "problem": {"kind": "least-squares", "data": "d.npz", **problem},
        "algorithm": {"local_step_size": 0.01, "local_steps": 2, "rounds": 3, **algorithm},
    }
    with pytest.raises(TooLarge) as error:
        parse_run(content, arithmetic, files)
    return str(error.value)


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make reading of data files fail."""

    def fail(*_: Any) -> None:
        raise AssertionError("the file was read")

    monkeypatch.setattr(datasets, "load", fail)
    monkeypatch.setattr("fedtheory.runfile.problems.load", fail)


@pytest.mark.usefixtures("unread")
@pytest.mark.parametrize("name", ["d.npz", "d.parquet", "d.csv"])
@pytest.mark.parametrize(
    ("problem", "algorithm", "message"),
    [
        ({}, {"rounds": 10**7 + 1}, "expected at most 10000000, got 10000001"),
        ({}, {"local_steps": [1, 10**5 + 1]}, "expected at most 100000, got 100001"),
        ({"batch": 2}, {"rounds": 500_001}, "rounds times local steps where rounds differ, got 1000002"),
        (
            {"kind": "huber", "features": ["a", "b", "c", "d"]},
            {"rounds": 10**7},
            "numbers (rounds x (dimension + 1)), got",
        ),
        ({"kind": "logistic", "batch": 1}, {"rounds": 10**6}, "x 20 groups of replicas), got"),
    ],
)
def test_keys_that_no_file_allows(
    files: Path, name: str, problem: dict[str, Any], algorithm: dict[str, Any], message: str
) -> None:
    """Keys that exceed a limit are rejected for every format."""
    assert message in _refuse(files, {"data": name, **problem}, algorithm)


@pytest.mark.usefixtures("unread")
def test_headers_that_no_key_allows(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two clients in four dimensions, 20 numbers in rationals, and losses of five rows in three rounds are rejected."""
    monkeypatch.setattr(limits, "MOST_ENTRIES", 31)
    assert "got 2 x 4 x 4: use fewer" in _refuse(files, {"clients": 2}, {})
    assert "got 2 x 1 x 1" not in str(_readable(files, {"clients": 2, "features": ["a"], "data": "d.parquet"}))
    monkeypatch.setattr(limits, "MOST_EXACT_NUMBERS", 19)
    assert "got 5 x 4: use fewer rows" in _refuse(files, {}, {}, RATIONAL)
    monkeypatch.setattr(model_limits, "MOST_MULTIPLICATIONS", 2 * (4 + 60) * 5 * 3 - 1)
    assert "got at least 1.9e+03" in _refuse(files, {"kind": "softplus"}, {})


def _readable(files: Path, problem: dict[str, Any]) -> Exception:
    content = {
        "problem": {"kind": "least-squares", **problem},
        "algorithm": {"local_step_size": 0.01, "rounds": 3},
    }
    with pytest.raises(AssertionError, match="the file was read") as error:
        parse_run(content, FLOAT, files)
    return error.value


def test_files_at_the_limits_are_read(files: Path) -> None:
    """Files exactly at the limits are read."""
    for kind in ("least-squares", "huber"):
        content = {
            "problem": {"kind": kind, "data": "d.npz"},
            "algorithm": {"local_step_size": 0.01, "rounds": 10, "local_steps": 1},
        }
        assert parse_run(content, FLOAT, files).problem.dimension == 4


def test_a_limit_is_named_alone(files: Path) -> None:
    """Other mistakes are not searched, because that would read the file."""
    run = files / "run.toml"
    run.write_text(
        '[problem]\nkind = "least-squares"\ndata = "d.csv"\n[algorithm]\nrounds = 100000000\nlocal_step_siz = 1\n'
    )
    with pytest.raises(InputError) as error:
        read_run(run, FLOAT)
    assert str(error.value) == (f"{run}: algorithm.rounds: expected at most 10000000, got 100000000: use fewer rounds")

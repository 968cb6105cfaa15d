"""Data files of many forms: without header, with row numbers, compressed, with booleans, with similar labels."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from fedtheory.errors import InputError
from fedtheory.federation.problem.clients import Clients
from fedtheory.federation.problem.columns import ColumnChoice
from fedtheory.federation.problem.datasets import DataSet, load

NAMED = ColumnChoice("y", "client")


def _load(folder: Path, text: str, name: str = "mine.csv", choice: ColumnChoice | None = None) -> DataSet:
    (folder / name).write_text(text)
    return load(str(folder / name), choice)


@pytest.mark.parametrize(
    ("first", "found"),
    [
        ("59.0,32.1,101,north", r"got mostly numbers \(59\.0, 32\.1, 101\) in the first line"),
        ("59.0,,101,north", r"got mostly numbers \(59\.0, 101\)"),
        ("1,2,3,4", "got numbers in the first line: put a line with the names of the columns in front"),
        ("true,2,3,north", r"got mostly numbers \(true, 2, 3\)"),
    ],
)
def test_a_file_without_a_header_is_noticed(first: str, found: str, tmp_path: Path) -> None:
    """A file without a header is recognised if most cells of the first line are numbers."""
    with pytest.raises(InputError, match=found):
        _load(tmp_path, f"{first}\n48.0,21.6,87,south\n")


@pytest.mark.parametrize("header", ["0,1,2,y,client", "2001,2002,2003,y,client", "a,1,2,client"])
def test_names_may_be_numbers(header: str, tmp_path: Path) -> None:
    """Consecutive numbers are pandas' names of unnamed columns; few other numbers are names."""
    cells = ",".join(map(str, range(header.count(","))))
    data = _load(tmp_path, f"{header}\n{cells},u\n")
    assert data.columns == tuple(header.split(",")[:-2])
    assert data.features.tolist() == [[float(n) for n in range(header.count(",") - 1)]]


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
@pytest.mark.parametrize("numbers", [(0, 1, 2), (1, 2, 3), (7, 3, 12)])
def test_a_column_that_counts_the_rows_is_no_feature(name: str, numbers: tuple[int, ...], tmp_path: Path) -> None:
    """A column of row numbers, as pandas writes its index, is dropped with a note, unless it is named."""
    rows = "".join(f"{n},{a},{a + 1},u\n" for n, a in zip(numbers, (5, 6, 8), strict=True))
    text = f"{name},a,y,client\n{rows}"
    data = _load(tmp_path, text)
    assert data.columns == ("a",)
    assert data.features.tolist() == [[5], [6], [8]]
    assert data.notes[0].startswith(f"column {name!r} counts the rows")
    kept = _load(tmp_path, text, choice=ColumnChoice("y", "client", (name, "a")))
    assert kept.features[:, 0].tolist() == list(numbers)
    assert not kept.notes


@pytest.mark.parametrize("values", ["1.5,2,3", "2,2,3", "-1,2,3"])
def test_other_columns_without_a_name_are_features(values: str, tmp_path: Path) -> None:
    """An unnamed column of other numbers, or a named one, is a feature."""
    first, second, third = values.split(",")
    data = _load(tmp_path, f",a,y,client\n{first},1,2,u\n{second},2,3,u\n{third},3,4,v\n")
    assert data.columns == ("", "a")
    named = _load(tmp_path, "n,a,y,client\n0,1,2,u\n1,2,3,u\n")
    assert named.columns == ("n", "a")


def test_the_index_of_a_parquet_file(tmp_path: Path) -> None:
    """The index of a Parquet file has a name that pandas gives."""
    table = {"a": [1.5, 2.5], "y": [1, 2], "client": ["u", "v"], "__index_level_0__": [4, 9]}
    parquet.write_table(pa.table(table), tmp_path / "mine.parquet")
    data = load(str(tmp_path / "mine.parquet"), NAMED)
    assert data.columns == ("a",)
    assert len(data.notes) == 1


def test_labels_of_clients_are_text(tmp_path: Path) -> None:
    """Labels that denote one number may be several clients; they are sorted by number, then as text."""
    labels = ["03", "10", "3", " 3 ", "3.0", "003", "007", "1E5", "100000"]
    data = _load(tmp_path, "a,y,client\n" + "".join(f"1,{n},{label}\n" for n, label in enumerate(labels)))
    assert data.clients is not None
    assert data.clients.labels == ("003", "03", "3", "3.0", "007", "10", "100000", "1E5")
    assert [rows.tolist() for rows in data.clients.rows] == [[5], [0], [2, 3], [4], [6], [1], [8], [7]]


def test_labels_that_are_numbers_in_the_file(tmp_path: Path) -> None:
    """Labels that are numbers are printed without decimal point, and sorted numerically."""
    table = {"a": [1, 2, 3], "y": [1, 2, 3], "client": [10.0, 2.0, 10.0]}
    parquet.write_table(pa.table(table), tmp_path / "mine.parquet")
    np.savez(tmp_path / "mine.npz", X=np.ones((3, 1)), y=np.ones(3), client=np.array([10.0, 2.0, 10.0]))
    for name in ("mine.parquet", "mine.npz"):
        clients = load(str(tmp_path / name)).clients
        assert clients is not None
        assert clients.labels == ("2", "10")
        assert [rows.tolist() for rows in clients.rows] == [[1], [0, 2]]
    assert Clients.from_values(np.array([0.5, 1e300, 0.25])).labels == ("0.25", "0.5", "1e+300")


@pytest.mark.parametrize("name", ["mine.csv.gz", "mine.tsv", "mine.tsv.gz"])
def test_compressed_files_and_tabs(name: str, tmp_path: Path) -> None:
    """Compressed files give the same rows; in a tsv file commas belong to names and labels."""
    text = "a,y,client\n1,2,u\n3,4,v\n"
    if ".tsv" in name:
        text = text.replace(",", "\t").replace("u", "u,v,w,x")
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    data = load(str(path))
    assert data.features.tolist() == [[1], [3]]
    assert data.clients is not None
    assert data.clients.labels == (("u,v,w,x", "v") if ".tsv" in name else ("u", "v"))


def test_files_that_are_not_compressed_after_all(tmp_path: Path) -> None:
    """A file that is not compressed, or truncated, gives one sentence."""
    (tmp_path / "plain.csv.gz").write_text("a,y,client\n1,2,u\n")
    (tmp_path / "torn.csv.gz").write_bytes(gzip.compress(b"a,y,client\n" + b"1,2,u\n" * 999)[:40])
    for name in ("plain.csv.gz", "torn.csv.gz"):
        with pytest.raises(InputError, match="is not a readable csv file"):
            load(str(tmp_path / name))


def test_booleans_are_numbers(tmp_path: Path) -> None:
    """Booleans in a csv file are read in every spelling of pandas and R, as in Parquet."""
    text = "a,b,y,client\nTrue,FALSE,1,u\nfalse,true,0,v\n"
    parquet.write_table(
        pa.table({"a": [True, False], "b": [False, True], "y": [1, 0], "client": ["u", "v"]}), tmp_path / "m.parquet"
    )
    for data in (_load(tmp_path, text), load(str(tmp_path / "m.parquet"))):
        assert data.features.tolist() == [[1, 0], [0, 1]]


def test_all_bad_columns_are_named_at_once(tmp_path: Path) -> None:
    """The first bad cell of each column is named with its row, and the number of bad cells."""
    with pytest.raises(InputError) as caught:
        _load(tmp_path, "a,b,y,client\n1,,2,u\n2,x,3,\nnan,4,inf,v\n,5,6,v\n")
    for part in (
        r"row 4, column 'a': missing value ('nan'): fill it in, leave out the row, or leave out the column by "
        r"drop (2 such cells in this column)",
        "row 2, column 'b': missing value ('')",
        "row 3, column 'client': missing client ('')",
        "row 4, column 'y': expected a finite number, got 'inf'",
    ):
        assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_last_two_columns_are_named_where_they_do_not_fit(tmp_path: Path) -> None:
    """The message for reordered columns says which two were used as output and client, and what to do."""
    with pytest.raises(InputError, match="'price' is read as target and 'age' as client, the last two columns: name"):
        _load(tmp_path, "hospital,price,age\nA,1,2\nB,2,3\n")
    with pytest.raises(InputError) as caught:
        _load(tmp_path, "a,y,client\nx,1,2\n", choice=NAMED)
    assert "last two" not in str(caught.value)


@pytest.mark.parametrize("sign", [",", ";"])
def test_chunks_make_one_table(sign: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows read in chunks of three are those of the file; errors have the line number of an editor."""
    monkeypatch.setattr("fedtheory.federation.problem.delimited.CHUNK", 3)
    numbers = np.arange(30).reshape(10, 3) / 4
    lines = ["a,b,y,client", *(f"{a},{b},{y},{'vu'[n % 2]}" for n, (a, b, y) in enumerate(numbers.tolist()))]
    text = "\n".join(lines).replace(",", sign)
    data = _load(tmp_path, text)
    assert (data.features == numbers[:, :2]).all()
    assert (data.outputs == numbers[:, 2]).all()
    assert data.clients is not None
    assert data.clients.codes.tolist() == [1, 0] * 5
    with pytest.raises(InputError, match="row 12, column 'b': expected a number, got 'x': correct it"):
        _load(tmp_path, f"{text}\n1{sign}x{sign}2{sign}u\n")
    with pytest.raises(InputError, match="row 12: expected 4 cells, as in the header, got 3"):
        _load(tmp_path, f"{text}\n1{sign}2{sign}3\n")

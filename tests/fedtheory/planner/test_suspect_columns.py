"""Columns with a doubtful role are named in a note, or an error asks for column names."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from fedtheory.arithmetic import FLOAT
from fedtheory.errors import InputError
from fedtheory.federation.problem import Problem
from fedtheory.federation.problem.suspects import describe_combinations
from fedtheory.runfile import parse_run

ROWS = [(20 + n * n % 17, n % 5, n % 7 - 3) for n in range(12)]


def _read(tmp_path: Path, header: str, rows: list[str], **more: object) -> Problem:
    (tmp_path / "rows.csv").write_text("\n".join([header, *rows]) + "\n")
    problem = {"kind": "least-squares", "data": "rows.csv", **more}
    return parse_run({"problem": problem, "algorithm": {"local_step_size": 0.1, "rounds": 1}}, FLOAT, tmp_path).problem


def _notes(problem: Problem) -> tuple[str, ...]:
    assert problem.data is not None
    return tuple(problem.data.notes)


def test_repeated_and_counting_columns_are_named(tmp_path) -> None:
    rows = [f"{100 + n},{a},{b},{a},{y},{n % 3}" for n, (a, b, y) in enumerate(ROWS)]
    notes = _notes(_read(tmp_path, "id,a,b,c,y,client", rows))
    assert any(note.startswith("column 'c' repeats column 'a'") for note in notes)
    assert any(note.startswith("column 'id' rises by one") for note in notes)
    assert len(notes) == 2


def test_ordinary_and_constant_columns_have_no_note(tmp_path) -> None:
    rows = [f"7,{a},7,{b},{y},{n % 3}" for n, (a, b, y) in enumerate(ROWS)]
    assert _notes(_read(tmp_path, "k,a,l,b,y,client", rows)) == ()


def test_a_client_in_most_rows_is_questioned(tmp_path) -> None:
    rows = [f"{a},{b},{y},{n}.5" for n, (a, b, y) in enumerate(ROWS)]
    (note,) = _notes(_read(tmp_path, "a,b,c,d", rows))
    assert note.startswith("column 'd', the last one, is read as client and has 12 different values in 12 rows")
    assert _notes(_read(tmp_path, "a,b,c,d", rows, target="c", client="d")) == ()


@pytest.mark.parametrize(
    ("header", "advice"),
    [
        ("a,b,y", "without one target = 'y' and the number of clients"),
        ("client,y,a,b", "name target and client by target = 'y' and client = 'client'"),
    ],
)
def test_misplaced_columns_are_to_be_named(tmp_path, header: str, advice: str) -> None:
    with pytest.raises(InputError, match=advice):
        _read(tmp_path, header, [",".join(["1"] * (header.count(",") + 1))])


@pytest.mark.parametrize(
    ("labels", "advice"),
    [
        (("sick", "well"), "kind = \"logistic\" classifies 'sick' and 'well'"),
        (("low", "mid", "high"), 'kind = "logistic" takes two classes, here are more'),
        (("low",), 'kind = "logistic" takes two classes, here is one alone'),
    ],
)
def test_text_targets_are_classes(tmp_path, labels: tuple[str, ...], advice: str) -> None:
    rows = [f"{a},{labels[n % len(labels)]},{n % 3}" for n, (a, _, _) in enumerate(ROWS)]
    with pytest.raises(InputError, match=advice):
        _read(tmp_path, "a,y,client", rows)
    mixed = [*rows, "1,2.5,0"]
    with pytest.raises(InputError, match="correct it, leave out the row"):
        _read(tmp_path, "a,y,client", mixed)


@pytest.mark.parametrize(("count", "values", "is_noted"), [(60, 60, True), (49, 49, False), (60, 59, False)])
def test_columns_that_may_name_the_rows(tmp_path: Path, count: int, values: int, is_noted: bool) -> None:
    """Different whole numbers in no order have a note if there are many rows; halves have none."""
    names = [1000 + 7 * n % values for n in range(count)]
    rows = [f"{name},{name + 0.5},{n % 5},{n % 4}" for n, name in enumerate(names)]
    notes = _notes(_read(tmp_path, "patient,size,y,client", rows))
    expected = "column 'patient' has a different whole number in each row: if it names the rows, leave it out by drop"
    assert notes == ((expected,) if is_noted else ())


def test_dropped_columns_are_no_features(tmp_path: Path) -> None:
    """Columns in `drop` may hold text; all others remain features."""
    rows = [f"id{n},{a},2020-01-{n + 1},{b},{y},{n % 3}" for n, (a, b, y) in enumerate(ROWS)]
    keys = {"target": "y", "client": "client"}
    problem = _read(tmp_path, "id,a,day,b,y,client", rows, **keys, drop=["day", "id"])
    same = _read(tmp_path, "id,a,day,b,y,client", rows, **keys, features=["a", "b"])
    assert isinstance(problem, Problem)
    assert (problem.hessians == same.hessians).all()
    assert _read(tmp_path, "id,a,day,b,y,client", rows, drop=["day", "id"]).dimension == 2


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"drop": ["z"]}, r"problem\.drop: .*rows\.csv has no column 'z'"),
        ({"drop": ["a"], "features": ["b"]}, r"problem\.drop: expected either features"),
        ({"drop": ["client"]}, r"problem\.drop: expected columns beside target and client, got 'client'"),
        ({"drop": ["a", "b"]}, r"problem\.features: .*expected at least one column"),
        ({"drop": "a"}, r"problem\.drop: expected a list of column names, got 'a'"),
        ({"exclude": ["a"]}, "exclude is called drop here"),
    ],
)
def test_columns_that_cannot_be_dropped(tmp_path: Path, keys: dict[str, object], message: str) -> None:
    rows = [f"{a},{b},{y},{n % 3}" for n, (a, b, y) in enumerate(ROWS)]
    with pytest.raises(InputError, match=message):
        _read(tmp_path, "a,b,y,client", rows, **keys)


@pytest.mark.parametrize(
    ("cell", "advice"),
    [
        ("2020-01-31", "its dates as numbers"),
        ("31/1/2020", "its dates as numbers"),
        ('"63,533"', "its numbers without separators of thousands"),
        ("1.234.567", "its numbers without separators of thousands"),
        ("79'243.7", "its numbers without separators of thousands"),
        ("$77", "its numbers without signs of currency or percent"),
        ("7.5 %", "its numbers without signs of currency or percent"),
        ("blue", r"its words as columns of 0 and 1, one for each word but one \(pandas.get_dummies does\)"),
        ("12-34", "its words as columns of 0 and 1"),
    ],
)
def test_text_in_a_feature_is_answered_by_its_kind(tmp_path: Path, cell: str, advice: str) -> None:
    """The message says how to write such a column as numbers, and that drop leaves it out."""
    rows = [f"{a},{cell},{y},{n % 3}" for n, (a, _, y) in enumerate(ROWS)]
    with pytest.raises(InputError, match=f"leave the column out by drop, name it as client, or write {advice}"):
        _read(tmp_path, "a,b,y,client", rows)


@pytest.mark.parametrize("header", ["a|b|y|client", "# exported", "sep=;"])
def test_a_first_line_without_names_is_shown(tmp_path: Path, header: str) -> None:
    """Other separators, comments and the first line of spreadsheets are no header."""
    message = f"separated by commas, semicolons or tabs, got '{re.escape(header.rstrip(';'))}"
    with pytest.raises(InputError, match=message):
        _read(tmp_path, header, ["a,b,y,client"], target="y", client="client")


def test_combinations_of_columns_are_named() -> None:
    """A column in the span of others is named with them; a constant counts only beside an intercept."""
    rows = np.array(ROWS, dtype=float)
    a, b, c = rows.T
    names = ["a", "k", "b", "sum", "shifted", "c", "all"]
    features = np.stack([a, np.full_like(a, 7.0), b, 2 * a - b / 3, a + b + 5, c, a + b + c], axis=1)
    found = describe_combinations(names, features, intercept=True)
    assert found == [
        "column 'sum' is a combination of 'a', 'b': leave one of them out by drop",
        "column 'shifted' is a combination of 'a', 'b': leave one of them out by drop",
        "column 'all' is a combination of 'a', 'b', 'c': leave one of them out by drop",
    ]
    features = np.delete(features, 1, axis=1)
    without = describe_combinations(["a", "b", "sum", "shifted", "c", "all"], features, intercept=False)
    assert [note.split("'")[1] for note in without] == ["sum", "all"]
    assert describe_combinations(names[:1], 1e9 + features[:, :1], intercept=True) == []
    assert describe_combinations(["a", "b", "sum"], features[:4, :3], intercept=True) == []


def test_close_columns_are_no_combinations() -> None:
    """Columns that differ by far more than rounding are independent, whatever their scales."""
    rows = np.array(ROWS, dtype=float)
    a, b, c = rows.T
    features = np.stack([1e6 * a, 1e-6 * b, 1e6 * a - b / 3 + c], axis=1)
    assert describe_combinations(["a", "b", "d"], features, intercept=True) == []

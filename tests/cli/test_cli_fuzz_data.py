"""Arbitrary data files are read, or rejected in one line with the file; they are never unpickled."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzzing import answer, fuzz
from hypothesis import given
from hypothesis import strategies as st

ALGORITHM = "[algorithm]\nlocal_step_size = 0.01\nlocal_steps = 2\nrounds = 2\n"

numbers = st.sampled_from(["0", "1", "-2", "0.5", "1e3", " 3 ", "1e-5"])
cells = numbers | st.sampled_from(
    ["", " ", "nan", "inf", "-inf", "1e400", "1e300", "1e31", "three", "1/2", "1_0", "٣", "x\ny", '"', "'", "0x10",
     "\x00", "1,5", "None", "true", "é", "💥", "9" * 400, "-0", "1e-400", "\ufeff1", "+1", ".", "1e"]
)  # fmt: skip
labels = st.sampled_from(["0", "1", "2", "north", "1.5", "-1", "1e400", "nan", "", " 0", "0.0", "é", "inf"])
names = st.sampled_from(["a", "y", "client", "x 1", "", "1", "é", '"b"', "\ufeffa"])


@st.composite
def csv_files(draw: st.DrawFn) -> bytes:
    """Generate rows of inputs, output and client, sometimes with an error in a cell, the header or the whole text."""
    columns = draw(st.integers(1, 3))
    header = [f"x{n}" for n in range(columns)] + ["y", "client"]
    rows = [[*draw(st.lists(numbers, min_size=columns + 1, max_size=columns + 1)), draw(labels)] for _ in range(4)]
    for _ in range(draw(st.integers(0, 2))):
        row = draw(st.sampled_from([header, *rows]))
        place, kind = draw(st.integers(0, columns + 1)), draw(st.integers(0, 3))
        if kind == 0:
            row[place:] = draw(st.lists(cells, max_size=3))
        elif row:
            row[min(place, len(row) - 1)] = draw(names if row is header else cells)
    rows = rows[: draw(st.integers(0, 4))]
    separator, end = (
        draw(st.sampled_from([",", ",", ",", ";", "\t"])),
        draw(st.sampled_from(["\n", "\r\n", "\r", "\n\n"])),
    )
    encoding = draw(st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1"]))
    return torn_bytes(draw, end.join(separator.join(row) for row in [header, *rows]).encode(encoding, errors="replace"))


def torn_bytes(draw: st.DrawFn, content: bytes) -> bytes:
    """Cut off or replace some of the bytes in one file out of five."""
    if draw(st.integers(0, 4)):
        return content
    first = draw(st.integers(0, len(content)))
    return (
        content[:first] + draw(st.binary(max_size=4)) + content[first + draw(st.integers(0, 8)) :] * draw(st.booleans())
    )


shapes = st.sampled_from([(4, 2), (4,), (0, 2), (4, 0), (), (3, 2), (4, 2, 1), (1, 1), (5,)])
kinds = st.sampled_from(
    ["float64", "int64", "uint8", "float16", "complex128", "bool", "U3", "S2", "object", "datetime64[s]"]
)


@st.composite
def npz_files(draw: st.DrawFn) -> bytes:
    """Generate an archive of X, y and client, sometimes with a missing array, or a wrong type or shape."""
    arrays: dict[str, Any] = {
        "X": np.array(draw(st.lists(st.integers(-2, 2), min_size=8, max_size=8)), dtype=float).reshape(4, 2),
        "y": np.array(draw(st.lists(st.integers(-2, 2), min_size=4, max_size=4)), dtype=float),
        "client": np.array(draw(st.lists(st.integers(0, 2), min_size=4, max_size=4))),
    }
    for name in draw(st.lists(st.sampled_from([*arrays, "other"]), max_size=2)):
        change = draw(st.integers(0, 3))
        if change == 0:
            arrays.pop(name, None)
        elif change == 1:
            arrays[name] = np.ones(draw(shapes)).astype(draw(kinds))
        elif name in arrays and arrays[name].size:
            worst = draw(st.sampled_from([np.nan, np.inf, 1e300, -1e200, 1e31, 5e-324, 0.5, 2.0**63]))
            arrays[name] = np.where(np.arange(arrays[name].size).reshape(arrays[name].shape) == 0, worst, 1.0)
    archive = io.BytesIO()
    np.savez(archive, **arrays)
    return torn_bytes(draw, archive.getvalue())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with run files for both kinds of data, rewritten for each case."""
    made = tmp_path_factory.mktemp("data")
    for kind in ("csv", "npz"):
        for name, keys in RUNS.items():
            text = f'[problem]\nkind = "least-squares"\ndata = "mine.{kind}"\n{keys}\n{ALGORITHM}'
            (made / f"{kind}-{name}.toml").write_text(text)
    return made


RUNS = {"own": "", "batch": "batch = 1", "split": "clients = 2", "skewed": 'clients = 2\nsplit = "dirichlet"'}
"""Keys of the problem in addition to the file."""


def assert_answered(folder: Path, kind: str, content: bytes, run: str) -> None:
    """Assert that the data are read, or that one line names the file or the key."""
    (folder / f"mine.{kind}").write_bytes(content)
    outcome = answer("simulate", folder / f"{kind}-{run}.toml", "--json")
    assert outcome.code == 0 or "problem." in outcome.err


@pytest.mark.long
@fuzz(max_examples=300)
@given(csv_files(), st.sampled_from(sorted(RUNS)))
def test_csv(folder: Path, content: bytes, run: str) -> None:
    """Csv files may have text, missing cells, byte-order marks, other separators and encodings, or huge numbers."""
    assert_answered(folder, "csv", content, run)


@pytest.mark.long
@fuzz(max_examples=250)
@given(npz_files(), st.sampled_from(sorted(RUNS)))
def test_npz(folder: Path, content: bytes, run: str) -> None:
    """Archives may have wrong names, types and shapes, or be cut off."""
    assert_answered(folder, "npz", content, run)


@pytest.mark.long
@fuzz(max_examples=40)
@given(csv_files())
def test_plan_from_data(folder: Path, content: bytes) -> None:
    """A plan from data alone gives an answer or one line."""
    (folder / "mine.csv").write_bytes(content)
    answer("plan", folder / "mine.csv", "rounds=5", "--claim", "renard2022:thm-2.1", "--json")


def test_a_byte_order_mark_is_no_part_of_the_first_name(folder: Path) -> None:
    """A byte order mark, as spreadsheets write it, does not change the first column name."""
    text = "y,client\n1,0\n".replace("y,", "x,y,").replace("\n1,", "\n1,2,")
    outcomes = []
    for encoding in ("utf-8", "utf-8-sig"):
        (folder / "mine.csv").write_bytes(text.encode(encoding))
        outcomes.append(answer("simulate", folder / "csv-own.toml", "--json"))
    assert outcomes[0].code == 0
    assert outcomes[0].out == outcomes[1].out


def test_inputs_of_zeros_suggest_no_step_size(folder: Path) -> None:
    """For zero inputs 1/(4L) is undefined, and the message names the missing key."""
    (folder / "mine.csv").write_text("x,y,client\n0,1,0\n0,2,1\n")
    complaint = answer("plan", folder / "mine.csv", "rounds=5", "intercept=false").complaint()
    assert "local_step_size: expected a number" in complaint


class Trap:
    """An object that writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_pickles_are_never_loaded(folder: Path) -> None:
    """An archive of objects, and a plain pickle, are rejected without loading."""
    touched = folder / "touched"
    trap = np.array([Trap(touched)], dtype=object)
    archive = io.BytesIO()
    np.savez(archive, X=trap, y=np.ones(1), client=trap)
    for content in (archive.getvalue(), pickle.dumps(Trap(touched))):
        (folder / "mine.npz").write_bytes(content)
        assert answer("simulate", folder / "npz-own.toml", "--json").code == 2
    assert not touched.exists()
    pickle.loads(pickle.dumps(Trap(touched)))
    assert touched.exists()

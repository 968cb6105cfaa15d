"""Tables at every width contain all cells, and omitted columns are mentioned."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from fedtheory.cli import tables
from fedtheory.cli.output import print_lines
from fedtheory.cli.tables import print_table

WIDTHS = (60, 80, 200)
RULES = re.compile("[│┃━─┏┓┗┛┡┩└┘┳┴╇┻╈┬]")

words = st.text("abcxyz012.:-", min_size=1, max_size=10)
phrases = st.lists(words, min_size=1, max_size=3).map(" ".join)


def printed(width: int, *arguments: Any, **options: Any) -> str:
    """Return the text that `print_table` writes to a terminal of a given width."""
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out):
        patch.setenv("COLUMNS", str(width))
        print_table(*arguments, **options)
    return out.getvalue()


def test_names_are_no_emoji(capsys: pytest.CaptureFixture[str]) -> None:
    """Names such as ok, star or key are not converted to emoji."""
    print_lines("mine.py:ok: few instances", "mine.py:star:")
    assert capsys.readouterr().out == "mine.py:ok: few instances\nmine.py:star:\n"


@given(st.data(), st.sampled_from(WIDTHS), st.integers(1, 9), st.integers(0, 4))
def test_every_cell_is_there(data: st.DataObject, width: int, columns: int, rows: int) -> None:
    """Every cell is printed completely, numbers and words unbroken, and no line is too long."""
    headings = [f"{n} {data.draw(words)} {data.draw(words)}" for n in range(columns)]
    cells = [[data.draw(phrases) for _ in headings] for _ in range(rows)]
    whole = tuple(data.draw(st.lists(st.sampled_from(headings), unique=True)))
    text = printed(width, "title", headings, cells, whole=whole)
    assert all(cell_len(line) <= width for line in text.splitlines())
    known = RULES.sub(" ", text)
    for row in cells:
        for heading, cell in zip(headings, row, strict=True):
            assert all(word in known.split() for word in cell.split())
            assert heading not in whole or cell in known
    assert all(word in known.split() for heading in headings for word in heading.split()) or not rows


def test_columns_that_are_left_out_are_named() -> None:
    """A remark names the columns that were left out so that the others fit; else all become lines of key and value."""
    rows = [["renard2022:thm-2.1", "a title of many words", "11/13"]]
    options: dict[str, Any] = {"whole": ("id", "number"), "roomy": ("number",)}
    assert "11/13" in printed(60, "t", ["id", "title", "number"], rows, **options)
    narrow = printed(36, "t", ["id", "title", "number"], rows, **options)
    assert "11/13" not in narrow
    assert "left out here: number" in narrow
    records = printed(24, "t", ["id", "title", "number"], rows, **options)
    assert "│" not in records
    assert "11/13" in records


COMMANDS: dict[str, tuple[str, ...]] = {
    "claims": ("claims", "--source", "liu2022"),
    "quantities": ("quantities", "drift"),
    "assumptions": ("assumptions", "step"),
    "simulate": ("simulate", "RUN"),
    "check": ("check", "renard2022:thm-2.1", "RUN"),
    "check a rate": ("check", "liu2022:thm-1.rate", "RUN"),
    "plan": ("plan", "RUN", "--source", "renard2022", "--target", "1/2"),
    "budget": ("budget", "QUIET", "--local-cost", "10", "--aggregation-cost", "100", "--budget", "123456"),
    "verify": ("verify", "fraboni2022:eq-32.variance", "--jobs", "1"),
    "prove": ("prove", "lecture27"),
    "course": ("course", "list"),
    "data": ("data", "DATA"),
}


@pytest.fixture
def handed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the headings and cells that are passed to the printing function."""
    found: list[str] = []
    records, ruled = tables._create_records, tables._create_ruled_table

    def noted_records(columns: list[str], rows: list[list[str]]) -> Any:
        found.extend([*columns, *(cell for row in rows for cell in row)])
        return records(columns, rows)

    def noted_ruled(title: str, columns: Any, widths: list[int], rows: list[list[str]]) -> Any:
        found.extend([*(column.heading for column in columns), *(cell for row in rows for cell in row)])
        return ruled(title, columns, widths, rows)

    monkeypatch.setattr(tables, "_create_records", noted_records)
    monkeypatch.setattr(tables, "_create_ruled_table", noted_ruled)
    return found


@pytest.fixture
def places(write_run, data_folder: Path) -> dict[str, Path]:
    """Return the files for the commands."""
    quiet = write_run({"problem.noise": None}, name="quiet.toml")
    return {"RUN": write_run(), "QUIET": quiet, "DATA": data_folder / "good.csv"}


@pytest.mark.long
@pytest.mark.parametrize("width", [60, 80, 200, None], ids=["60", "80", "200", "piped"])
@pytest.mark.parametrize("name", COMMANDS, ids=[name.replace(" ", "-") for name in COMMANDS])
def test_commands(name: str, width: int | None, command, handed, places, monkeypatch) -> None:  # noqa: PLR0917
    """Each cell and heading of a command's tables is on the terminal, single words unbroken."""
    if width is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", str(width))
    outcome = command(*(places.get(argument, argument) for argument in COMMANDS[name]))
    assert outcome.code in (0, 1)
    assert handed
    # Prose is folded by the terminal, lines of tables are not.
    ruled = [line for line in outcome.out.splitlines() if RULES.search(line)]
    assert all(cell_len(line) <= (width or 80) for line in ruled)
    known = RULES.sub(" ", outcome.out).split()
    joined = "".join(known)
    for word in (word for text in handed for word in Text.from_markup(text, emoji=False).plain.split()):
        # Only words that are longer than the terminal are folded.
        assert word in known or (len(word) > (width or 80) // 2 and word[:20] in joined), word


@pytest.mark.long
@pytest.mark.parametrize("width", WIDTHS)
def test_numbers_of_a_plan_are_whole(width: int, command, write_run, monkeypatch) -> None:
    """A number is printed with all digits, or rounded with its exponent: 1e15 rounds are not shown as 1e12."""
    monkeypatch.setenv("COLUMNS", str(width))
    path = write_run()
    arguments = ("plan", path, "--claim", "renard2022:thm-2.1", "--target", "0.00001")
    rounds = [plan["target_at_best"]["rounds"] for plan in command(*arguments, "--json").document["claims"]]
    assert rounds[0] > 10**8
    shown = f"{rounds[0]:.6g}" if len(str(rounds[0])) > 12 else str(rounds[0])
    assert shown in RULES.sub(" ", command(*arguments).out).split()

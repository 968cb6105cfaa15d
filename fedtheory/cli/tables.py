"""Tables for terminals of any width: no cell is cut, and omitted columns are named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

_PADDING, _EDGE = 3, 1
"""Characters that a table needs besides its cells: per column, and once."""


def print_table(
    title: str, columns: list[str], rows: list[list[str]], *, whole: tuple[str, ...], roomy: tuple[str, ...] = ()
) -> None:
    """Print a table on standard output; cells of columns in `whole` are never wrapped, others between words.

    If the table is too wide, the columns in `roomy` are omitted one by one, and the omission is reported; if that is
    not enough, each row is printed as lines of key and value.
    """
    from rich.console import Console

    console = Console(highlight=False, emoji=False)
    room = console.width - _EDGE
    known = [_Column.from_cells(column, [row[n] for row in rows], column in whole) for n, column in enumerate(columns)]
    left_out = next(
        (roomy[:n] for n in range(len(roomy)) if _compute_least_width(_leave_out(roomy[:n], known)) <= room), roomy
    )
    kept = _leave_out(left_out, known)
    if _compute_least_width(kept) > room:
        console.print(title, style="italic")
        console.print(_create_records(columns, rows))
        return
    shown = [n for n, column in enumerate(columns) if column not in left_out]
    console.print(
        _create_ruled_table(title, kept, _distribute_widths(kept, room), [[row[n] for n in shown] for row in rows])
    )
    if left_out:
        console.print(f"left out here: {', '.join(left_out)}; wider terminals and --json show them")


@dataclass(frozen=True)
class _Column:
    """A heading, and the widths that its column may have."""

    heading: str
    least: int
    """Least width: that of the longest word, or of the widest cell if cells are not wrapped."""
    most: int
    """Largest width: that of the widest line."""

    @classmethod
    def from_cells(cls, heading: str, cells: list[str], whole: bool) -> _Column:
        """Return the column of some cells, which may have Rich markup."""
        from rich.cells import cell_len
        from rich.text import Text

        lines = [line for cell in cells for line in Text.from_markup(cell, emoji=False).plain.split("\n")]
        words = lines if whole else [word for line in lines for word in line.split()]
        least = max(map(cell_len, [*words, *heading.split()]), default=0)
        return cls(heading, least, max(map(cell_len, [*lines, heading])))


def _leave_out(left_out: tuple[str, ...], columns: list[_Column]) -> list[_Column]:
    """Return the columns whose headings are not left out."""
    return [column for column in columns if column.heading not in left_out]


def _compute_least_width(columns: list[_Column]) -> int:
    """Return the least width of a table with these columns, in characters."""
    return sum(column.least + _PADDING for column in columns)


def _distribute_widths(columns: list[_Column], room: int) -> list[int]:
    """Return the width of each column: spare room goes to the columns that need least first."""
    widths, left = [column.least for column in columns], room - _compute_least_width(columns)
    wanting = sorted(range(len(columns)), key=lambda n: columns[n].most - columns[n].least)
    for done, n in enumerate(wanting):
        more = min(columns[n].most - columns[n].least, left // (len(wanting) - done))
        widths[n], left = widths[n] + more, left - more
    return widths


def _create_ruled_table(title: str, columns: list[_Column], widths: list[int], rows: list[list[str]]) -> Table:
    """Return a table with a line of headings."""
    from rich.table import Table

    table = Table(title=title, title_justify="left", header_style="bold")
    for column, width in zip(columns, widths, strict=True):
        table.add_column(column.heading, overflow="fold", width=width)
    for row in rows:
        table.add_row(*row)
    return table


def _create_records(columns: list[str], rows: list[list[str]]) -> Table:
    """Return each row as lines of key and value, with an empty line after it."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for row in rows:
        for column, cell in zip(columns, row, strict=True):
            table.add_row(column, cell)
        table.add_row()
    return table

"""A page that a paper has besides those of its claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fedtheory.engine.run import Run
from fedtheory.language.exhibits.charts import Chart


@dataclass(frozen=True)
class Table:
    """Numbers, ready to be read."""

    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[str]]]
    """The name of each row and its value in each column."""


@dataclass(frozen=True)
class Coverage:
    """Runs that a claim may cover; whether it does, and what it promises there, is checked for the page."""

    heading: str
    claim: str
    """Id of the claim."""
    runs: Mapping[str, Mapping[str, Run]]
    """By their names on the page; each unchanged, or changed, by words such as "With equal shares"."""
    measured: str
    """The bounded quantity, in words."""
    remark: str = ""
    """Remark on the promise."""


@dataclass(frozen=True)
class RunFile:
    """A run file for readers."""

    name: str
    words: str
    """Note on the parts of the page that it has, and on those that it lacks."""
    text: str


@dataclass(frozen=True)
class Page:
    """A page of a paper: charts, a table, what theory says of it, and how to reproduce it."""

    name: str
    """Name of the file, without its ending."""
    title: str
    occasion: str
    """Text of the link to the page."""
    contents: str
    """Description of the page's contents, next to the link."""
    locator: str
    """Place in the paper to which the page belongs."""
    introduction: str
    charts: Sequence[Chart]
    table: Table
    formulas: Sequence[tuple[str, str]] = ()
    """Displayed formulas: words, and LaTeX."""
    claims: Sequence[str] = ()
    """Ids of the claims that are about what the page shows."""
    coverage: Sequence[Coverage] = ()
    program: str = ""
    """Lines of Python that compute the numbers of the page."""
    run_file: RunFile | None = None

"""A separate page of a paper, besides those of its claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fedtheory.engine.run import Run
from fedtheory.language.exhibits.charts import Chart


@dataclass(frozen=True)
class Table:
    """A table of formatted numbers."""

    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[str]]]
    """The name of each row and its value in each column."""


@dataclass(frozen=True)
class Coverage:
    """Runs that a claim may cover; the page shows whether it does, and its bound there."""

    heading: str
    claim: str
    """Id of the claim."""
    runs: Mapping[str, Mapping[str, Run]]
    """Runs by their names on the page, each with a description of its change, such as "With equal shares"."""
    measured: str
    """The bounded quantity, in words."""
    remark: str = ""
    """Remark on the bound."""


@dataclass(frozen=True)
class RunFile:
    """A run file for readers."""

    name: str
    words: str
    """Note on the parts of the page that the run file reproduces, and on those that it does not."""
    text: str


@dataclass(frozen=True)
class Page:
    """A page of a paper: charts, a table, the bounds of claims, and instructions to reproduce it."""

    name: str
    """Name of the file, without its suffix."""
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
    """Ids of the claims that concern the page's content."""
    coverage: Sequence[Coverage] = ()
    program: str = ""
    """Lines of Python that compute the numbers of the page."""
    run_file: RunFile | None = None

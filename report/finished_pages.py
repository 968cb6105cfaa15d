"""Finished pages, as plain data that can be sent between processes and cached."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from report.figures.style import Figure
from report.user_runs import RunSummary

Files = dict[str, str]
"""Texts by file name."""
PageFiles = tuple[tuple[str, str], ...]
"""Names of page files by ids of claims, keys of sources, and ``errata``."""


@dataclass(frozen=True)
class FinishedPages:
    """Finished files, and the data that other pages show of them."""

    files: Files
    has_explorer: bool = False
    target: str | None = None
    """The claim of the page."""
    runs: Sequence[RunSummary] = ()
    listed: Sequence[ListedPage] = ()
    """Further pages of the paper, for the index."""
    miniature: Figure | None = None
    """Figure of a main theorem, for the front page."""


@dataclass(frozen=True)
class ListedPage:
    """A page of a paper, as listed in the index."""

    source: str
    occasion: str
    contents: str
    file: str

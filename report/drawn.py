"""Finished pages, as plain data: they travel between processes and last in files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from report.figures.style import Figure
from report.own_runs import OnRun

Files = dict[str, str]
"""Texts by the names of their files."""
Written = tuple[tuple[str, str], ...]
"""Ids of claims, keys of sources and ``errata``, and the files of their pages."""


@dataclass(frozen=True)
class Drawn:
    """Finished files, and what other pages say of them."""

    files: Files
    has_explorer: bool = False
    target: str | None = None
    """The claim whose page this is."""
    runs: Sequence[OnRun] = ()
    own: Sequence[OwnPage] = ()
    miniature: Figure | None = None
    """Figure of a main theorem, for the front page."""


@dataclass(frozen=True)
class OwnPage:
    """A page of a paper, as the index names it."""

    source: str
    occasion: str
    contents: str
    file: str

"""Additional material of a paper: charts as data, exhibits on the pages of its claims, and separate pages.

A paper's module ``exhibits`` has a tuple `EXHIBITS` of `Exhibit`, and a tuple `PAGES` of functions that return a
`Page`; either may be missing.  Everything is computed on demand; `report` draws it.
"""

from fedtheory.language.exhibits.charts import (
    BLACK,
    BLUE,
    DASH_DOTTED,
    DASHED,
    DOTTED,
    GREEN,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    SOLID,
    Axis,
    Band,
    Chart,
    Legend,
    Level,
    Line,
    Mark,
    Part,
    Span,
)
from fedtheory.language.exhibits.exhibit import Display, Exhibit, Finding
from fedtheory.language.exhibits.page import Coverage, Page, RunFile, Table

__all__ = [
    "BLACK",
    "BLUE",
    "DASHED",
    "DASH_DOTTED",
    "DOTTED",
    "GREEN",
    "ORANGE",
    "PURPLE",
    "RED",
    "SKY",
    "SOLID",
    "Axis",
    "Band",
    "Chart",
    "Coverage",
    "Display",
    "Exhibit",
    "Finding",
    "Legend",
    "Level",
    "Line",
    "Mark",
    "Page",
    "Part",
    "RunFile",
    "Span",
    "Table",
]

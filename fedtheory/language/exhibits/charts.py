"""A chart as data, independent of the drawing library.

Labels and captions are prose with formulas between dollar signs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from fedtheory.arithmetic import Array

Values = Sequence[float] | Array
Scale = Literal["linear", "log"]
Marker = Literal["o", "s", "^", "D", "*", "x"]
"""Disc, square, triangle, diamond, star, cross."""
Place = Literal["best", "upper left", "upper right", "lower left", "lower right"]
"""Position of a legend; with "best" it covers the fewest points."""

BLUE, ORANGE, GREEN, PURPLE, SKY, RED = range(6)
"""Indices into the palette, taken modulo its length."""
BLACK = -1
"""The colour of the reference to which the coloured parts are compared."""
SOLID, DASHED, DASH_DOTTED, DOTTED = range(4)
"""Indices into the dash styles, taken modulo their number."""


@dataclass(frozen=True)
class Axis:
    """One of the two axes."""

    label: str
    scale: Scale = "linear"
    ticks: Sequence[float] = ()
    """Positions of ticks; None leaves them to the drawing."""
    low: float | None = None
    high: float | None = None
    """Limits; None leaves them to the drawing."""


@dataclass(frozen=True, eq=False)
class Line:
    """A curve through points, or the points alone."""

    x: Values
    y: Values
    label: str = ""
    colour: int = BLUE
    dash: int | None = SOLID
    """Dash style of the line; None does not connect the points."""
    width: float = 1.8
    marker: Marker | None = None
    size: float = 6
    """Size of the markers."""
    hollow: bool = False
    """Whether the markers are filled."""
    steps: bool = False
    """Whether each value holds until the next point."""


@dataclass(frozen=True, eq=False)
class Band:
    """The area between two curves."""

    x: Values
    low: Values
    high: Values
    label: str = ""
    colour: int = BLUE
    opacity: float = 0.3


@dataclass(frozen=True)
class Level:
    """A horizontal line over the whole width."""

    value: float
    label: str = ""
    colour: int = BLACK
    dash: int = DOTTED
    width: float = 1.8


@dataclass(frozen=True)
class Span:
    """A thick horizontal bar over a part of the first axis."""

    first: float
    last: float
    value: float
    colour: int = BLUE


@dataclass(frozen=True)
class Mark:
    """A single point, with a note next to it."""

    x: float
    y: float
    label: str = ""
    colour: int = BLUE
    marker: Marker = "o"
    size: float = 6
    note: str = ""


Part = Line | Band | Level | Span | Mark


@dataclass(frozen=True)
class Legend:
    """Place and size of the legend."""

    place: Place = "best"
    size: float = 9
    """Font size in points."""


@dataclass(frozen=True)
class Chart:
    """Parts between two axes, with title and captions."""

    name: str
    """Name that is unique among the charts of the page."""
    x: Axis
    y: Axis
    parts: Sequence[Part]
    """Parts in the order of drawing: later ones cover earlier ones."""
    caption: str
    legend: Legend = field(default_factory=Legend)
    equal_units: bool = False
    """Whether a unit has equal length on both axes."""

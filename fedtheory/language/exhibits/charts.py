"""A chart as data: what is to be seen, and nothing of how it is drawn.

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
"""A disc, a square, a triangle, a diamond, a star, a cross."""
Place = Literal["best", "upper left", "upper right", "lower left", "lower right"]
"""Place of a legend; "best" hides the least."""

BLUE, ORANGE, GREEN, PURPLE, SKY, RED = range(6)
"""Indices into the palette; larger ones start again."""
BLACK = -1
"""The colour of what the coloured parts are compared with."""
SOLID, DASHED, DASH_DOTTED, DOTTED = range(4)
"""Indices into the dashes, which a few more follow; larger ones start again."""


@dataclass(frozen=True)
class Axis:
    """One of the two axes."""

    label: str
    scale: Scale = "linear"
    ticks: Sequence[float] = ()
    """Positions of ticks that the drawing does not choose itself."""
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
    """None does not connect the points."""
    width: float = 1.8
    marker: Marker | None = None
    size: float = 6
    """Size of the markers."""
    hollow: bool = False
    """Whether the markers are."""
    steps: bool = False
    """Whether each value lasts until the next point."""


@dataclass(frozen=True, eq=False)
class Band:
    """Everything between two curves."""

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
    """In points."""


@dataclass(frozen=True)
class Chart:
    """Parts between two axes, and the words that go with them."""

    name: str
    """Tells it apart from the other charts of its page."""
    x: Axis
    y: Axis
    parts: Sequence[Part]
    """In the order of drawing: later ones cover earlier ones."""
    caption: str
    legend: Legend = field(default_factory=Legend)
    equal_units: bool = False
    """Whether a unit is as long on one axis as on the other."""

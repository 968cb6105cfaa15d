"""Draw the dependencies of statements in layers from left to right, as an SVG with links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_WIDTH, _HEIGHT = 168.0, 26.0
"""Width and height of a box in pixels."""
_ACROSS, _DOWN = 52.0, 10.0
"""Horizontal and vertical gap between boxes in pixels."""
_WIDEST = 1060.0
"""Largest width of a row of connected components; a single component may be wider."""
_LONGEST = 22
"""Largest number of characters of a name in a box."""

Point = tuple[float, float]


@dataclass(frozen=True)
class Node:
    """A statement in the graph."""

    name: str
    title: str
    verdict: str
    file: str

    @property
    def label(self) -> str:
        """Return the name, shortened to the width of the box."""
        return self.name if len(self.name) <= _LONGEST else f"{self.name[: _LONGEST - 1]}…"


@dataclass(frozen=True)
class _Part:
    """A connected component of the graph: centres of boxes, and the ends of pieces of arrows."""

    places: Mapping[int, Point]
    pieces: Sequence[tuple[int, int]]

    @property
    def size(self) -> Point:
        """Return its width and height."""
        across, down = zip(*self.places.values(), strict=True)
        return max(across) + _WIDTH, max(down) + _HEIGHT


@dataclass(frozen=True)
class DependencyGraph:
    """A picture with its size, and as text: each statement with its premises."""

    width: float
    height: float
    boxes: Sequence[tuple[Node, Point]]
    arrows: Sequence[tuple[str, bool]]
    """SVG paths, and whether they end at a box."""
    words: Sequence[tuple[Node, Sequence[Node]]]
    box: Point = (_WIDTH, _HEIGHT)


def draw_dependency_graph(nodes: Sequence[Node], arrows: Sequence[tuple[int, int]]) -> DependencyGraph:
    """Return the graph of the nodes with arrows, which lead from a premise to a statement that rests on it."""
    offsets, width, height = _arrange_parts(parts := _arrange_in_layers(arrows))
    boxes, paths = [], []
    for part, (across, down) in zip(parts, offsets, strict=True):
        places = {n: (x + across, y + down) for n, (x, y) in part.places.items()}
        boxes += [(nodes[n], place) for n, place in places.items() if n >= 0]
        paths += [(_draw_curve(places[a], places[b], a >= 0, b >= 0), b >= 0) for a, b in part.pieces]
    premises: dict[int, list[Node]] = {}
    for premise, result in arrows:
        premises.setdefault(result, []).append(nodes[premise])
    words = [(nodes[result], found) for result, found in sorted(premises.items())]
    return DependencyGraph(width, height, sorted(boxes, key=lambda box: box[1]), sorted(paths), words)


def _arrange_in_layers(arrows: Sequence[tuple[int, int]]) -> list[_Part]:
    """Return the connected components in layers, the largest first; arrows over several layers bend at points without a
    box.
    """
    from fast_sugiyama import from_edges

    # The library's order depends on the order of a set, so the nodes are numbered 0, 1, 2, ...
    used = sorted({node for arrow in arrows for node in arrow})
    number = {node: n for n, node in enumerate(used)}
    spacing = _HEIGHT + _DOWN
    layouts = from_edges([(number[a], number[b]) for a, b in arrows], vertex_spacing=spacing)

    def number_box(given: int | str) -> int:
        """Return the number of a box, and a negative number for a bend of an arrow."""
        # An arrow bends where there is no box; such points have negative numbers.
        n = int(given)
        return used[n] if n < len(used) else -n

    return sorted(
        (
            _arrange_part(
                {number_box(n): place for n, place in places},
                [(number_box(a), number_box(b)) for a, b in pieces or ()],
                spacing,
            )
            for places, _, _, pieces in layouts
        ),
        key=lambda part: (-len(part.places), max(part.places)),
    )


def _arrange_part(places: Mapping[int, Point], pieces: Sequence[tuple[int, int]], spacing: float) -> _Part:
    """Convert the library's layers from top to bottom into layers from left to right."""
    top, left = max(y for _, y in places.values()), min(x for x, _ in places.values())
    step = (_WIDTH + _ACROSS) / spacing
    return _Part({n: ((top - y) * step, x - left) for n, (x, y) in places.items()}, pieces)


def _arrange_parts(parts: Sequence[_Part]) -> tuple[list[Point], float, float]:
    """Arrange the components so that small ones share a row; return their positions, and the total width and height."""
    offsets, across, down, row, widest = [], 0.0, 0.0, 0.0, 0.0
    for part in parts:
        width, height = part.size
        if across and across + width > _WIDEST:
            across, down, row = 0.0, down + row + 2 * _DOWN, 0.0
        offsets.append((across, down))
        row, widest = max(row, height), max(widest, across + width)
        across += width + _ACROSS
    return offsets, widest, down + row


def _draw_curve(start: Point, end: Point, from_box: bool, to_box: bool) -> str:
    """Return a path from the right side of a box to the left side of another, horizontal at both ends."""
    x, y = start[0] + (_WIDTH if from_box else _WIDTH / 2), start[1] + _HEIGHT / 2
    to_x, to_y = end[0] + (0 if to_box else _WIDTH / 2), end[1] + _HEIGHT / 2
    middle = (x + to_x) / 2
    return f"M{x:g} {y:g}C{middle:g} {y:g} {middle:g} {to_y:g} {to_x:g} {to_y:g}"

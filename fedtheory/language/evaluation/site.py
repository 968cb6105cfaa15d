"""Sites: the places of a run at which a claim speaks."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import sympy as sp

from fedtheory.arithmetic import Array, Number
from fedtheory.engine.frames import Frame, Index, StackedFrame, frames_at, probes, stacks_at
from fedtheory.engine.run import Run
from fedtheory.language.claim import Claim
from fedtheory.language.quantities.notion import PointNotion, Quantity


@dataclass(frozen=True, eq=False)
class Site:
    """Where an expression is evaluated."""

    run: Run
    frame: Frame | None
    index: Index
    points: Mapping[sp.Symbol, Array]
    parameters: Mapping[sp.Symbol, Number]
    members: tuple[Site, ...] = ()
    """The single choices of points and parameters, where several are taken together."""

    def member(self, number: int) -> Site:
        """The single site of an entry of the leading axis of values here; the site itself where it is no stack."""
        if self.members:
            return self.members[number]
        if isinstance(self.frame, StackedFrame):
            frame = self.frame.members[number]
            return Site(self.run, frame, frame.index, {}, {})
        return self

    def measured(self, quantity: Quantity) -> Array:
        """A quantity of the run here."""
        return self.place(quantity.on(self.run))

    @property
    def constants(self) -> dict[object, Any]:
        """What is known of expressions in constants of the run alone."""
        return self.run.known

    @property
    def importances(self) -> Array:
        """p_i on the axis of clients."""
        return self.run.problem.weights

    def each(self, compute: Callable[..., Any], *values: Array) -> Array:
        """A function of values that some runs may refuse."""
        return np.asarray(compute(*values))

    def place(self, value: Number | Array) -> Array:
        """A measured quantity as an array over (rounds, steps, clients), cut to the frame's step."""
        if not isinstance(value, np.ndarray):
            filled: Array = np.empty((1, 1, 1), dtype=self.run.arithmetic.dtype)
            filled[0, 0, 0] = value
            return filled
        return value if self.frame is None else self.frame.cut(value)

    @property
    def axes(self) -> tuple[str, str, str]:
        """Axes of every scalar, each of full length or one."""
        return Frame.axes if self.frame is None else self.frame.axes

    @property
    def step(self) -> Frame:
        """The frame; statements about a whole run have none, and `require_meaning` keeps vectors out of them."""
        assert self.frame is not None
        return self.frame


def whole_run(run: Run) -> Site:
    """The site of statements about a run as a whole."""
    return Site(run, None, {}, {}, {})


@cache
def _points_of(claim: Claim) -> tuple[sp.Symbol, ...]:
    return tuple(symbol for symbol, notion in claim.notation.items() if isinstance(notion, PointNotion))


def sites(claim: Claim, run: Run) -> Iterator[Site]:
    """All places of a run at which a claim speaks."""
    frames: Iterable[Frame | None] = [None] if claim.place == "run" else frames_at(claim.place, run)
    for frame in frames:
        yield from _tried(claim, run, frame)


def stacked_sites(claim: Claim, run: Run) -> Iterator[Site]:
    """The same places in the same order, several together where that is quicker; see `Site.member`."""
    if claim.place == "points":
        for frame in frames_at(claim.place, run):
            yield _together(tuple(_tried(claim, run, frame)))
    elif claim.place == "run" or claim.for_all or _points_of(claim):
        yield from sites(claim, run)
    else:
        for frame in stacks_at(claim.place, run):
            yield Site(run, frame, frame.index, {}, {})


def _tried(claim: Claim, run: Run, frame: Frame | None) -> Iterator[Site]:
    """A place with each choice of its free points and of the symbols under a universal quantifier."""
    points = _points_of(claim)
    candidates = list(probes(run).items()) if points else []
    placed = itertools.product(candidates, repeat=len(points))
    chosen = itertools.product(*claim.for_all.values())
    for at, values in itertools.product(placed, chosen):
        labels = {symbol.name: name for symbol, (name, _) in zip(points, at, strict=True)}
        tried = {symbol.name: str(value) for symbol, value in zip(claim.for_all, values, strict=True)}
        yield Site(
            run,
            frame,
            {**(frame.index if frame else {}), **labels, **tried},
            {symbol: point for symbol, (_, point) in zip(points, at, strict=True)},
            {s: run.arithmetic.number(str(v), s.name) for s, v in zip(claim.for_all, values, strict=True)},
        )


def _together(members: tuple[Site, ...]) -> Site:
    """Choices of points and symbols as one site: an axis over them leads."""
    first = members[0]
    if len(members) == 1:
        return first
    points = {symbol: np.stack([member.points[symbol] for member in members])[:, None] for symbol in first.points}
    numbers = {s: first.run.arithmetic.array([m.parameters[s] for m in members]) for s in first.parameters}
    parameters = {symbol: values[:, None, None] for symbol, values in numbers.items()}
    return Site(first.run, first.frame, {}, points, parameters, members)

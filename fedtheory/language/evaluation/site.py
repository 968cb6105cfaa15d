"""Sites: the places of a run at which a claim speaks."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import sympy as sp

from fedtheory.arithmetic import Arithmetic, Array, Number
from fedtheory.engine.frames import Frame, Index, StackedFrame, frames_at, probes, stacks_at
from fedtheory.engine.run import Run
from fedtheory.language.claim import Claim
from fedtheory.language.quantities.quantity import PointQuantity, RunQuantity


@dataclass(frozen=True, eq=False)
class Choice:
    """One choice of the free points of a claim, and of its symbols under a universal quantifier."""

    labels: Mapping[str, int | str]
    points: Mapping[sp.Symbol, Array]
    parameters: Mapping[sp.Symbol, Number]


@dataclass(frozen=True, eq=False)
class Site:
    """Site at which an expression is evaluated."""

    run: Run
    frame: Frame | None
    index: Index
    points: Mapping[sp.Symbol, Array]
    parameters: Mapping[sp.Symbol, Number]
    choices: Sequence[Choice] = ()
    """The single choices of points and parameters, where several are taken together: at each place all of them."""

    def member(self, number: int) -> Site:
        """The single site of an entry of the leading axis of values here; the site itself where it is no stack."""
        frame = self.frame.members[number] if isinstance(self.frame, StackedFrame) else self.frame
        if self.choices:
            return _chosen(self.run, frame, self.choices[number % len(self.choices)])
        return self if frame is None or frame is self.frame else Site(self.run, frame, frame.index, {}, {})

    def measured(self, quantity: RunQuantity) -> Array:
        """A quantity of the run here."""
        return self.place(quantity.on(self.run))

    @property
    def arithmetic(self) -> Arithmetic:
        """Floats or rationals."""
        return self.run.arithmetic

    def parameter(self, symbol: sp.Symbol) -> Array:
        """A symbol under a universal quantifier, on the axes of scalars."""
        value = self.parameters[symbol]
        return value if isinstance(value, np.ndarray) else filled(value, self.arithmetic)

    @property
    def constants(self) -> dict[object, Any]:
        """Cached values of expressions in constants of the run alone."""
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
            return filled(value, self.arithmetic)
        return value if self.frame is None else self.frame.cut(value)

    @property
    def axes(self) -> tuple[str, ...]:
        """Axes of every scalar, each of full length or one."""
        return Frame.axes if self.frame is None else self.frame.axes

    @property
    def step(self) -> Frame:
        """The frame; statements about a whole run have none, and `require_meaning` keeps vectors out of them."""
        assert self.frame is not None
        return self.frame


def filled(value: Number, arithmetic: Arithmetic) -> Array:
    """A number on the axes (rounds, steps, clients)."""
    found: Array = np.empty((1, 1, 1), dtype=arithmetic.dtype)
    found[0, 0, 0] = value
    return found


def whole_run(run: Run) -> Site:
    """The site of statements about a run as a whole."""
    return Site(run, None, {}, {}, {})


@cache
def points_of(claim: Claim) -> tuple[sp.Symbol, ...]:
    """The symbols of a claim that stand for free points."""
    return tuple(symbol for symbol, quantity in claim.notation.items() if isinstance(quantity, PointQuantity))


def sites(claim: Claim, run: Run) -> Iterator[Site]:
    """All places of a run at which a claim speaks."""
    frames: Iterable[Frame | None] = [None] if claim.place == "run" else frames_at(claim.place, run)
    choices = choices_of(claim, run)
    return (_chosen(run, frame, choice) for frame in frames for choice in choices)


def stacked_sites(claim: Claim, run: Run) -> Iterator[Site]:
    """The same places in the same order, several together where that is quicker; see `Site.member`."""
    if claim.place == "run":
        yield from sites(claim, run)
        return
    choices = choices_of(claim, run)
    for frame in stacks_at(claim.place, run, len(choices)):
        if isinstance(frame, StackedFrame):
            yield _together(run, frame, choices)
        else:
            yield from (_chosen(run, frame, choice) for choice in choices)


def choices_of(claim: Claim, run: Run) -> Sequence[Choice]:
    """All choices of the free points and quantified symbols of a claim on a run."""
    points = points_of(claim)
    candidates = list(probes(run).items()) if points else []
    placed = itertools.product(candidates, repeat=len(points))
    return [
        Choice(
            {symbol.name: name for symbol, (name, _) in zip(points, at, strict=True)}
            | {symbol.name: str(value) for symbol, value in zip(claim.for_all, values, strict=True)},
            {symbol: point for symbol, (_, point) in zip(points, at, strict=True)},
            {s: run.arithmetic.number(str(v), s.name) for s, v in zip(claim.for_all, values, strict=True)},
        )
        for at, values in itertools.product(placed, itertools.product(*claim.for_all.values()))
    ]


def _chosen(run: Run, frame: Frame | None, choice: Choice) -> Site:
    index = {} if frame is None else frame.index
    return Site(run, frame, {**index, **choice.labels}, choice.points, choice.parameters)


def _together(run: Run, frame: StackedFrame, choices: Sequence[Choice]) -> Site:
    """All choices at each place of a stack as one site."""
    if len(choices) == 1 and not choices[0].labels:
        return Site(run, frame, frame.index, {}, {})
    each = [choice for _ in range(len(frame.members) // len(choices)) for choice in choices]
    return Site(run, frame, {}, *taken_together(frame, each), choices)


def taken_together(
    frame: StackedFrame, each: Sequence[Choice]
) -> tuple[dict[sp.Symbol, Array], dict[sp.Symbol, Array]]:
    """The points and parameters that are chosen at each place of a stack."""
    points = {symbol: np.stack([one.points[symbol] for one in each]) for symbol in each[0].points}
    numbers = {s: frame.arithmetic.array([[one.parameters[s]] for one in each]) for s in each[0].parameters}
    return {s: frame.led(at) for s, at in points.items()}, {s: frame.led(values) for s, values in numbers.items()}

"""Sites: the places of a run at which a claim is evaluated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from fedtheory.arithmetic import Arithmetic, Array, Number
from fedtheory.engine.frames import Frame, Index, StackedFrame
from fedtheory.engine.memo import Memo
from fedtheory.engine.run import Run
from fedtheory.language.quantities.quantity import RunQuantity


@dataclass(frozen=True, eq=False)
class Choice:
    """One choice of the free points of a claim, and of its symbols under a universal quantifier."""

    labels: Mapping[str, int | str]
    points: Mapping[sp.Symbol, Array]
    parameters: Mapping[sp.Symbol, Number]


@dataclass(frozen=True, eq=False)
class Site:
    """A place at which an expression is evaluated."""

    run: Run
    frame: Frame | None
    index: Index
    points: Mapping[sp.Symbol, Array]
    parameters: Mapping[sp.Symbol, Number]
    choices: Sequence[Choice] = ()
    """The single choices of points and parameters, if several are evaluated together; each place has all of them."""

    def member(self, number: int) -> Site:
        """Return the single site of an entry of the leading axis; a site that is no stack returns itself."""
        frame = self.frame.members[number] if isinstance(self.frame, StackedFrame) else self.frame
        if self.choices:
            return make_chosen_site(self.run, frame, self.choices[number % len(self.choices)])
        return self if frame is None or frame is self.frame else Site(self.run, frame, frame.index, {}, {})

    def measure(self, quantity: RunQuantity) -> Array:
        """Return a quantity of the run at this site."""
        return self.place(quantity.on(self.run))

    @property
    def arithmetic(self) -> Arithmetic:
        """The arithmetic of the run."""
        return self.run.arithmetic

    def parameter(self, symbol: sp.Symbol) -> Array:
        """Return the values of a symbol under a universal quantifier, on the axes of scalars."""
        value = self.parameters[symbol]
        return value if isinstance(value, np.ndarray) else fill_axes(value, self.arithmetic)

    @property
    def constants(self) -> Memo:
        """Cached values of expressions in constants of the run alone."""
        return self.run.memo

    @property
    def importances(self) -> Array:
        """p_i on the client axis."""
        return self.run.problem.weights

    @property
    def multiplicities(self) -> Array:
        """Number of clients that each entry on the client axis stands for."""
        return self.run.multiplicities

    def each(self, compute: Callable[..., Any], *values: Array) -> Array:
        """Return a function of values, which may fail for some runs of a batch."""
        return np.asarray(compute(*values))

    def place(self, value: Number | Array) -> Array:
        """Return a measured quantity as an array over (rounds, steps, clients), restricted to the frame's step."""
        if not isinstance(value, np.ndarray):
            return fill_axes(value, self.arithmetic)
        return value if self.frame is None else self.frame.select(value)

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the axes of every scalar, each of full length or one."""
        return Frame.axes if self.frame is None else self.frame.axes

    @property
    def step(self) -> Frame:
        """The frame; statements about a whole run have none, and `require_meaning` excludes vectors from them."""
        assert self.frame is not None
        return self.frame


def fill_axes(value: Number, arithmetic: Arithmetic) -> Array:
    """Return a number on the axes (rounds, steps, clients)."""
    found: Array = np.empty((1, 1, 1), dtype=arithmetic.dtype)
    found[0, 0, 0] = value
    return found


def whole_run(run: Run) -> Site:
    """Return the site of statements about a run as a whole."""
    return Site(run, None, {}, {}, {})


def make_chosen_site(run: Run, frame: Frame | None, choice: Choice) -> Site:
    """Return the site of one choice of points and parameters."""
    index = {} if frame is None else frame.index
    return Site(run, frame, {**index, **choice.labels}, choice.points, choice.parameters)

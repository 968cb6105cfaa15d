"""What a symbol of a claim can stand for: a number of a run, a vector of a local step, or an objective."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import sympy as sp

if TYPE_CHECKING:
    from fedtheory.engine.frames import Frame, RoundFrame
    from fedtheory.engine.objectives import Objectives
    from fedtheory.engine.region import Region
    from fedtheory.engine.run import Run


@dataclass(frozen=True)
class Quantity:
    """A number of a run, or an array of them over (rounds, steps, clients).

    `measure` returns a number, or an array with those three axes, each of full
    length or one.  With `root`, it returns the square of the quantity, so that
    even powers stay rational.
    """

    name: str
    latex: str
    meaning: str
    measure: Callable[[Run], Any]
    root: bool = False
    is_constant: bool = False
    """Whether it is a constant of the problem and the step size, the same for every number of rounds."""
    limit: Callable[[Run], Any] | None = None
    """Limit for ever more rounds at constant step sizes, where there is a closed form."""
    per_round: bool = False
    """Whether it has one value for each round, which a place without rounds does not know."""
    region: Callable[[Run], Region] | None = None
    """For a constant of an assumption: where it holds."""

    @cached_property
    def _key(self) -> object:
        """Quicker to look up than the quantity itself."""
        return object()

    def on(self, run: Run) -> Any:
        """The quantity of a run, measured once."""
        if self._key not in run.known:
            run.known[self._key] = self.measure(run)
        return run.known[self._key]

    @cached_property
    def symbol(self) -> sp.Symbol:
        """The SymPy symbol of the quantity, for expressions that use it directly."""
        return sp.Symbol(self.latex, real=True)


constant = partial(Quantity, is_constant=True)
"""A quantity that no number of rounds changes."""
per_round = partial(Quantity, per_round=True)
"""A quantity with one value for each round."""


@dataclass(frozen=True)
class VectorNotion:
    """A random vector of one local step; `build` asks a frame for it."""

    name: str
    latex: str
    meaning: str
    build: Callable[[Frame], Any]


@dataclass(frozen=True)
class ScalarNotion:
    """A random number of one round, (outcomes, steps, clients), each axis of full length or one."""

    name: str
    latex: str
    meaning: str
    build: Callable[[RoundFrame], Any]


@dataclass(frozen=True)
class PointNotion:
    """A free point, for statements "for all x": tried at the run's probes."""

    name: str
    latex: str
    meaning: str


@dataclass(frozen=True)
class ObjectiveNotion:
    """An objective: F, or F_i for each client; `select` gives it as a function in coordinates centred at x*."""

    name: str
    latex: str
    meaning: str
    select: Callable[[Run], Objectives]


Notion = Quantity | VectorNotion | ScalarNotion | PointNotion | ObjectiveNotion

"""Quantities for the symbols of a claim: a number of a run, a vector of a local step, or an objective."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import sympy as sp

from fedtheory.arithmetic import MidpointRadius
from fedtheory.errors import NotApplicable
from fedtheory.language.quantities.measuring.axes import place_on_clients
from fedtheory.runfile.loading import report_mistakes

if TYPE_CHECKING:
    from fedtheory.engine.constants import Bound
    from fedtheory.engine.frames import Frame, RoundFrame
    from fedtheory.engine.objectives import Objectives
    from fedtheory.engine.region import Region
    from fedtheory.engine.run import Run
    from fedtheory.kernel.expressions import Expr
    from fedtheory.language.assumptions import Assumption, Boundedness

Place = Literal["run", "round", "step", "points"]
"""Place at which a quantity has values: the whole run, or each round, local step, or point."""

Primitive = Literal["setting", "constant", "minimiser", "limit", "clock", "window", "process"]
"""Kind of a number without a term, which is defined by its assumption or its description.

A `setting` is read from the run, including its participation law and moments of the weights.  A `constant` is
the smallest or largest number for which an inequality holds at all points of a region.  A `minimiser` depends on a
point that minimises a function, a `limit` is taken as rounds tend to infinity or steps to zero.  A `clock` counts
times and reports, a `window` sums over a number of updates.  A `process` needs the simulation of steps
that the run itself does not take.
"""


@dataclass(frozen=True)
class Weights:
    """Weights of the entries t = 0, 1, ... of an average or a sum."""

    expression: Expr
    index: sp.Symbol
    """The symbol of t."""
    where: tuple[tuple[sp.Symbol, RunQuantity], ...] = ()
    """Quantities that the other symbols stand for."""


@dataclass(frozen=True)
class Over:
    """A reduction over clients, types of clients, local steps of a round, rounds, or steps of all rounds.

    Clients with the same objective are of one type; the number of a type is stored at its first client.  A window is
    the smallest number of updates in which each client has the same total weight; its sums replace its updates.
    """

    index: Literal["clients", "types", "steps", "rounds", "windows", "iterations"]
    by: Literal["mean", "sum", "largest", "smallest", "first", "last", "before", "each", "own"]
    """Reduction of the entries; `before` has, for each entry, the sum of the previous ones.

    For types: `each` has the sum over the clients of a type at its first client and zero at the others, `own` has it at
    each client of the type, and `sum` adds the numbers of all types.
    """
    begin: int = 0
    """The first entry that is included."""
    weights: Weights | None = None


@dataclass(frozen=True)
class Term:
    """Definition of a quantity by an expression at a local step: its value on a run and its meaning in proofs.

    Inner products and objective values are inside an `Expectation`.  For a quantity with `root`, the term is its
    square.
    """

    expression: Expr
    where: tuple[tuple[sp.Symbol, Quantity], ...]
    """Quantities that the symbols of the expression stand for."""
    over: tuple[Over, ...] = ()
    """Reductions of its values at all steps, in order; without any, the values are the quantity."""


@dataclass(frozen=True)
class _Named:
    """Name, notation and meaning of a quantity."""

    name: str
    latex: str
    meaning: str


@dataclass(frozen=True)
class RunQuantity(_Named):
    """A number of a run, or an array of them over (rounds, steps, clients).

    `measure` returns a number, or an array with those three axes, each of full
    length or one.  With `root`, it returns the square of the quantity, so that
    even powers stay rational.
    """

    measure: Callable[[Run], Any]
    root: bool = False
    is_constant: bool = False
    """Whether it is a constant of the problem and the step size, independent of the number of rounds."""
    limit: Callable[[Run], Any] | None = None
    """Limit as the number of rounds tends to infinity at constant step sizes, if it has a closed form."""
    per_round: bool = False
    """Whether it has one value for each round, so that it is undefined at places without rounds."""
    per_step: bool = False
    """Whether it has one value for each local step."""
    of_types: bool = False
    """Whether it has values for types of clients, so that a sum over clients is one over types."""
    region: Callable[[Run], Region] | None = None
    """Region on which the constant of an assumption holds."""
    assumption: Assumption | None = None
    """The assumption of which it is the constant."""
    term: Term | None = None
    """Definition by an expression at a local step, if there is one."""
    primitive: Primitive | None = None
    """Kind of a number without a term."""

    def __hash__(self) -> int:
        # Equal quantities have one name, which is quicker to hash than a term and those of its quantities.
        return hash(self.name)

    @property
    def place(self) -> Place:
        """Return the place where the quantity has a value."""
        if self.per_step:
            return "step"
        return "round" if self.per_round else "run"

    @cached_property
    def _key(self) -> object:
        """Key for caches, faster to compare than the quantity itself."""
        return object()

    def on(self, run: Run) -> Any:
        """Return the quantity of a run, cached."""

        def measure() -> Any:
            measured = self._evaluate(self.measure, run)
            # Float intervals are converted to single numbers here, because sides are compared one by one.
            return measured.enclosures() if isinstance(measured, MidpointRadius) else measured

        return run.memo.compute_once(self._key, measure)

    def _evaluate(self, function: Callable[[Run], Any], run: Run) -> Any:
        """Evaluate a function on a run; if the value is undefined, the error names the quantity."""
        try:
            if self.of_types:
                run.require_single_clients("a type has one value for all its clients")
            with report_mistakes(function):
                return function(run)
        except NotApplicable as reason:
            raise reason.about(self.name) from None

    def store(self, run: Run, value: Any) -> None:
        """Cache a value for a run, in place of a measurement."""
        run.memo.store(self._key, value)

    def is_cached_for(self, run: Run) -> bool:
        """Return whether the quantity is cached for a run."""
        return self._key in run.memo

    def region_on(self, run: Run) -> Region | None:
        """Return the region on which an assumption's constant holds for a run; None for all of space."""
        found: Region | None = None if self.region is None else self._evaluate(self.region, run)
        return found

    @cached_property
    def symbol(self) -> sp.Symbol:
        """The SymPy symbol of the quantity, for expressions that use it directly."""
        return get_symbol(self)


def get_symbol(quantity: Quantity) -> sp.Symbol:
    """Return the symbol of a number, a vector or an objective in terms."""
    return sp.Symbol(quantity.latex, real=True)


constant = partial(RunQuantity, is_constant=True)
"""A quantity that does not depend on the number of rounds."""
setting = partial(constant, primitive="setting")
"""A constant that is read from the run."""
extremal_constant = partial(constant, primitive="constant")
"""The smallest or largest number for which an inequality holds at all points of a region."""
per_round = partial(RunQuantity, per_round=True)
"""A quantity with one value for each round."""
per_step = partial(RunQuantity, per_round=True, per_step=True)
"""A quantity with one value for each local step of each round."""


def supremum(
    name: str,
    latex: str,
    meaning: str,
    bound: Callable[[Run], Bound],
    assumption: Assumption | None = None,
    *,
    term: Term | None = None,
) -> RunQuantity:
    """Return a constant whose square is a supremum over a region."""
    return RunQuantity(
        name,
        latex,
        meaning,
        lambda run: place_on_clients(run.compute_once(bound).value),
        root=True,
        is_constant=True,
        region=lambda run: run.compute_once(bound).region,
        assumption=assumption,
        term=term,
        primitive=None if term else "constant",
    )


def assumed(name: str, latex: str, meaning: str, assumption: Boundedness) -> RunQuantity:
    """Return the constant of an assumption, whose square is the assumed bound."""
    return supremum(name, latex, meaning, assumption.require, assumption)


@dataclass(frozen=True)
class MeanOverRounds:
    """Computes the time average of a quantity that has one value for each update."""

    of: RunQuantity

    def __call__(self, run: Run) -> Any:
        """Compute the time average on a run."""
        values = self.of.on(run)
        return values.sum() / len(values)


def mean_over_rounds(quantity: RunQuantity, latex: str) -> RunQuantity:
    """Return the time average over all updates of a quantity that has one value for each."""
    term = quantity.term or Term(quantity.symbol, ((quantity.symbol, quantity),))
    return RunQuantity(
        f"mean_{quantity.name}",
        latex,
        f"mean over the updates of {quantity.name}",
        MeanOverRounds(quantity),
        term=replace(term, over=(*term.over, Over("rounds", "mean"))),
    )


@dataclass(frozen=True)
class QuantityFamily(_Named):
    """Quantities with an integer parameter, given as ``family(number)``."""

    member: Callable[[int], RunQuantity]
    place: Place = "run"

    def __call__(self, number: int) -> RunQuantity:
        """Return the quantity of that number."""
        return self.member(number)


@dataclass(frozen=True)
class VectorQuantity(_Named):
    """A random vector of one local step; `build` computes it from a frame."""

    build: Callable[[Frame], Any]
    place: Place = "step"


@dataclass(frozen=True)
class ScalarQuantity(_Named):
    """A random number of one round, (outcomes, steps, clients), each axis of full length or one."""

    build: Callable[[RoundFrame], Any]
    place: Place = "round"


@dataclass(frozen=True)
class PointQuantity(_Named):
    """A free point, for statements "for all x": checked at the run's probe points."""

    place: Place = "points"


@dataclass(frozen=True)
class ObjectiveQuantity(_Named):
    """An objective: F, or F_i for each client; `select` returns it as a function in coordinates relative to x*."""

    select: Callable[[Run], Objectives]
    place: Place = "points"


Quantity = RunQuantity | VectorQuantity | ScalarQuantity | PointQuantity | ObjectiveQuantity

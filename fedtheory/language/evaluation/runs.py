"""Several runs as one site: a leading axis over runs, so that an expression is evaluated once for all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import arb

from fedtheory.arithmetic import FLOAT, Array
from fedtheory.engine.frames import PlaceLayout
from fedtheory.engine.memo import Memo
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.language.evaluation.site import Site, fill_axes
from fedtheory.language.quantities.quantity import RunQuantity


@dataclass(frozen=True, eq=False)
class SiteOfRuns(Site):
    """Places of R runs in one arithmetic, with equal shapes on the client axis; arrays have a leading axis over places.

    An error at one place, such as a division by zero, gives NaN in its row, with which no comparison holds,
    and leaves the other rows unchanged.
    """

    runs: tuple[Run, ...] = ()
    layout: PlaceLayout | None = None
    memo: Memo = field(default_factory=Memo)
    """Cached values of expressions in constants, for these runs together."""

    @classmethod
    def from_runs(cls, runs: Sequence[Run], sizes: Sequence[tuple[int, int]]) -> SiteOfRuns:
        """Return the site of statements about each of the runs, with the given numbers of rounds and steps."""
        return cls(runs[0], None, {}, {}, {}, runs=tuple(runs), layout=PlaceLayout.from_sizes(sizes))

    def measure(self, quantity: RunQuantity) -> Array:
        """Return the quantity of every run at its places, on the axes of scalars."""
        return self.constants.compute_once(quantity, lambda: self._gather(self._values(quantity)))

    def _values(self, quantity: RunQuantity) -> list[Array]:
        """Return the quantity on each run as an array."""
        values = [quantity.on(run) for run in self.runs]
        return [value if isinstance(value, np.ndarray) else fill_axes(value, self.arithmetic) for value in values]

    @property
    def owners(self) -> Array:
        """Index of each place's run, (places,)."""
        return self._layout.owners

    def _gather(self, values: Sequence[Array]) -> Array:
        """Return the values of all runs at their places."""
        return self._layout.gather(values)[:, None]

    @property
    def _layout(self) -> PlaceLayout:
        """Return the layout of the places, which must be known."""
        assert self.layout is not None
        return self.layout

    @property
    def constants(self) -> Memo:
        return self.memo

    @property
    def importances(self) -> Array:
        """p_i of each place's run, (places, 1, M)."""
        return self._layout.select_each([run.problem.weights for run in self.runs])[:, None]

    @property
    def multiplicities(self) -> Array:
        """Number of clients that each entry of each place's run stands for, (places, 1, M)."""
        return self._layout.select_each([run.multiplicities for run in self.runs])[:, None]

    def each(self, compute: Callable[..., Any], *values: Array) -> Array:
        """Return a function of values; if it fails for some row, apply it row by row."""
        try:
            return np.asarray(compute(*values))
        except NotApplicable:
            return np.concatenate(list(self._rows(compute, np.broadcast_arrays(*values))))

    def _rows(self, compute: Callable[..., Any], values: Sequence[Array]) -> Iterable[Array]:
        """Yield the function's value at each place; NaN where it is not defined."""
        for row in range(len(values[0])):
            own = [value[row : row + 1] for value in values]
            try:
                yield np.asarray(compute(*own))
            except NotApplicable:
                yield np.full_like(own[0], np.nan if self.arithmetic is FLOAT else arb("nan"))

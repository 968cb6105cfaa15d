"""Several runs as one site: an axis over them leads every number, so that an expression is evaluated once for all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from flint import arb

from fedtheory.arithmetic import FLOAT, Array, Number
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.language.evaluation.site import Site
from fedtheory.language.quantities.notion import Quantity


@dataclass(frozen=True, eq=False)
class SiteOfRuns(Site):
    """R runs of one arithmetic, each as a whole; numbers have the axes (runs, rounds, steps, clients).

    Every quantity that is asked for has one shape on all of them.  What a run refuses, such as a division by zero, is
    no number in its row (NaN, which no comparison holds for), and leaves the other rows as they are.
    """

    runs: tuple[Run, ...] = ()

    @classmethod
    def of(cls, runs: Sequence[Run]) -> SiteOfRuns:
        """The site of statements about each of the runs as a whole."""
        return cls(runs[0], None, {}, {}, {}, runs=tuple(runs))

    def measured(self, quantity: Quantity) -> Array:
        """The quantity of every run."""
        if quantity not in self._columns:
            self._columns[quantity] = self._column([quantity.on(run) for run in self.runs])
        return self._columns[quantity]

    @cached_property
    def _columns(self) -> dict[Quantity, Array]:
        return {}

    def _column(self, values: Sequence[Number | Array]) -> Array:
        if isinstance(values[0], np.ndarray):
            return np.stack(values)
        column: Array = np.empty((len(values), 1, 1, 1), dtype=self.arithmetic.dtype)
        column[:, 0, 0, 0] = values
        return column

    @property
    def constants(self) -> dict[object, Any]:
        """What is known of expressions in constants, for these runs together."""
        return self._constants

    @cached_property
    def _constants(self) -> dict[object, Any]:
        return {}

    @property
    def importances(self) -> Array:
        """p_i of every run, (R, 1, 1, M)."""
        return np.stack([run.problem.weights for run in self.runs])[:, None, None]

    def each(self, compute: Callable[..., Any], *values: Array) -> Array:
        """A function of values, row by row where some row refuses it."""
        try:
            return np.asarray(compute(*values))
        except NotApplicable:
            return np.concatenate(list(self._rows(compute, np.broadcast_arrays(*values))))

    def _rows(self, compute: Callable[..., Any], values: Sequence[Array]) -> Iterable[Array]:
        for row in range(len(values[0])):
            own = [value[row : row + 1] for value in values]
            try:
                yield np.asarray(compute(*own))
            except NotApplicable:
                yield np.full_like(own[0], self._no_number)

    @property
    def _no_number(self) -> Number:
        return np.nan if self.arithmetic is FLOAT else arb("nan")


def shapes(quantities: Iterable[Quantity], run: Run) -> tuple[tuple[int, ...], ...]:
    """The shapes of what quantities are on a run: what runs of one site have in common."""
    return tuple(np.shape(quantity.on(run)) for quantity in quantities)

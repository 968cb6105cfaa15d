"""Assumptions: named conditions on a run that can be checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fedtheory.errors import NotApplicable, Unresolved
from fedtheory.runfile.loading import report_mistakes

if TYPE_CHECKING:
    from fedtheory.engine.constants import Bound
    from fedtheory.engine.run import Run


@dataclass(frozen=True)
class Assumption:
    """A named condition on a run; if it fails, `require` raises `NotApplicable` with the reason, or returns False."""

    name: str
    statement: str
    """Statement in words, with LaTeX between dollar signs."""
    require: Callable[[Run], object]

    def failure(self, run: Run) -> str | None:
        """Return the reason why the assumption fails on a run, or None, cached.

        Raises `Unresolved` if floats cannot decide.
        """
        return run.memo.compute_once(self._key, lambda: self._find_failure(run))

    def _find_failure(self, run: Run) -> str | None:
        """Return the reason of `NotApplicable`, a default reason if `require` returns False, and None otherwise."""
        try:
            with report_mistakes(self.require):
                found = run.compute_once(self.require)
        except Unresolved:
            raise
        except NotApplicable as reason:
            return str(reason)
        fails = isinstance(found, bool | np.bool_) and not found
        return f"the assumption {self.name!r} does not hold" if fails else None

    @cached_property
    def _key(self) -> object:
        """Key for caches, faster to compare than the assumption itself."""
        return object()


@dataclass(frozen=True)
class Setting(Assumption):
    """An assumption on the setting: algorithm, participation, weights, local work, server step or clock.

    A claim without any of these is assumed to be about plain FedAvg; assumptions on objectives and gradients do not
    count.
    """


@dataclass(frozen=True)
class Boundedness(Assumption):
    """Assumption that a constant is finite: `require` returns the smallest valid constant and its region."""

    require: Callable[[Run], Bound]


def expect(holds: object, otherwise: str) -> None:
    """Raise `NotApplicable`, with the reason, unless a condition holds."""
    if not holds:
        raise NotApplicable(otherwise)

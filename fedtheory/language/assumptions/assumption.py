"""Assumptions: named conditions on a run, which are checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from fedtheory.errors import NotApplicable, Unresolved
from fedtheory.runfile.loading import mistakes_of

if TYPE_CHECKING:
    from fedtheory.engine.constants import Bound
    from fedtheory.engine.run import Run


@dataclass(frozen=True)
class Assumption:
    """A named condition on a run; where it fails, `require` raises `NotApplicable` (the reason) or returns False."""

    name: str
    statement: str
    """In words, with LaTeX between dollar signs."""
    require: Callable[[Run], object]

    def failure(self, run: Run) -> str | None:
        """Why the assumption fails on a run, or None."""
        try:
            return self._describe_failure(run)
        except NotApplicable as reason:
            return str(reason)

    def settled_failure(self, run: Run) -> str | None:
        """Why the assumption fails on a run, or None, computed once; raise `Unresolved` if floats cannot tell."""
        return run.memo.compute_once(self._key, lambda: self._find_failure(run))

    def _find_failure(self, run: Run) -> str | None:
        """Find why the assumption fails; a value that does not exist is a reason as well."""
        try:
            return self._describe_failure(run)
        except Unresolved:
            raise
        except NotApplicable as reason:
            return str(reason)

    def _describe_failure(self, run: Run) -> str | None:
        """Return the reason where `require` returns False instead of raising one.

        None if it returns anything else.
        """
        with mistakes_of(self.require):
            found = run.compute_once(self.require)
        return (
            f"the assumption {self.name!r} does not hold" if isinstance(found, bool | np.bool_) and not found else None
        )

    @cached_property
    def _key(self) -> object:
        """Quicker to look up than the assumption itself."""
        return object()


@dataclass(frozen=True)
class Setting(Assumption):
    """An assumption about the setting: algorithm, participation, weights, local work, server step or clock.

    A claim that makes none of these is about plain FedAvg; assumptions about objectives and gradients are no setting.
    """


@dataclass(frozen=True)
class Boundedness(Assumption):
    """Assumption that a constant is finite: `require` returns the smallest valid constant and its region."""

    require: Callable[[Run], Bound]


def expect(holds: object, otherwise: str) -> None:
    """Raise `NotApplicable`, with the reason, unless a condition holds."""
    if not holds:
        raise NotApplicable(otherwise)

"""What an assumption is: a named condition on a run, which is checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fedtheory.errors import NotApplicable, Unresolved

if TYPE_CHECKING:
    from fedtheory.engine.run import Bound, Run


@dataclass(frozen=True)
class Assumption:
    """A named condition on a run; `require` raises `NotApplicable`, with the reason, where it fails."""

    name: str
    statement: str
    """In words, with LaTeX between dollar signs."""
    require: Callable[[Run], object]

    def failure(self, run: Run) -> str | None:
        """Why the assumption fails on a run, or None."""
        try:
            run.once(self.require)
        except NotApplicable as reason:
            return str(reason)
        return None

    def settled_failure(self, run: Run) -> str | None:
        """The same, asked of a run once however many claims ask; raises `Unresolved` where floats cannot tell."""
        if self._key not in run.known:
            run.known[self._key] = self._settled_failure(run)
        found: str | None = run.known[self._key]
        return found

    def _settled_failure(self, run: Run) -> str | None:
        try:
            run.once(self.require)
        except Unresolved:
            raise
        except NotApplicable as reason:
            return str(reason)
        return None

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
    """That a constant is finite: `require` gives the smallest one for which the assumption holds, and where it does."""

    require: Callable[[Run], Bound]


def expect(holds: object, otherwise: str) -> None:
    """Raise `NotApplicable`, with the reason, unless a condition holds."""
    if not holds:
        raise NotApplicable(otherwise)

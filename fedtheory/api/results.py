"""A sequence of verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, overload

from fedtheory.shown import Card, Shown, frame, number
from verify.claim_verdict import ClaimVerdict


class Verdicts(Shown, Sequence[ClaimVerdict]):
    """Verdicts in the order of their claims; a single verdict is displayed like a `ClaimVerdict`."""

    def __init__(self, verdicts: Iterable[ClaimVerdict]) -> None:
        self._verdicts = tuple(verdicts)

    @overload
    def __getitem__(self, key: int) -> ClaimVerdict: ...
    @overload
    def __getitem__(self, key: slice) -> Verdicts: ...
    def __getitem__(self, key: int | slice) -> ClaimVerdict | Verdicts:
        return self._verdicts[key] if isinstance(key, int) else Verdicts(self._verdicts[key])

    def __len__(self) -> int:
        return len(self._verdicts)

    def summary(self) -> str:
        """Return each claim with its verdict."""
        return "; ".join(f"{found.claim.id}: {found.verdict}" for found in self[:8]) + ("; ..." if self[8:] else "")

    def card(self) -> Card:
        """Return a table of the verdicts; a single verdict has its own card."""
        if len(self) == 1:
            return self[0].card()
        rows = [[v.claim.id, v.verdict, str(v.instances), number(v.worst_ratio)] for v in self]
        return Card("verdicts", columns=("claim", "verdict", "instances", "largest ratio"), rows=rows)

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each claim."""
        columns = ("verdict", "instances", "violations", "undecided", "worst_ratio", "seconds")
        table = {name: [getattr(found, name) for found in self] for name in columns}
        return frame({"id": [found.claim.id for found in self]} | table, "id")

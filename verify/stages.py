"""Progress through stages whose sizes are known one after the other."""

from __future__ import annotations

from collections.abc import Callable


class Stages:
    """Tells of work that is done, and of all work: what was, what is under way, and what is expected after it."""

    def __init__(self, tell: Callable[[int, int], None]) -> None:
        self._tell, self._before, self._whole, self._ahead = tell, 0, 0, 0

    def begin(self, ahead: int) -> None:
        """The next stage begins; so much is expected after it."""
        self._before, self._whole, self._ahead = self._before + self._whole, 0, ahead

    def __call__(self, done: int, whole: int) -> None:
        """Report how much of the present stage is done."""
        self._whole = whole
        self._tell(self._before + done, self._before + whole + self._ahead)

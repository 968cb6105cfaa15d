"""Report progress through stages whose sizes become known one after the other."""

from __future__ import annotations

from collections.abc import Callable


class Stages:
    """Report the finished work and all work: past stages, the present stage, and the expected size of later stages."""

    def __init__(self, tell: Callable[[int, int], None]) -> None:
        self._tell, self._before, self._whole, self._ahead = tell, 0, 0, 0

    def begin(self, ahead: int) -> None:
        """Begin the next stage; `ahead` is the expected size of the stages after it."""
        self._before, self._whole, self._ahead = self._before + self._whole, 0, ahead

    def __call__(self, done: int, whole: int) -> None:
        """Report how much of the present stage is done."""
        self._whole = whole
        self._tell(self._before + done, self._before + whole + self._ahead)

"""Random choices of a copy, seeded by the student's id and reproducible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import TypeVar

_T = TypeVar("_T")


@dataclass(frozen=True)
class Draw:
    """The random choices of one student's copy; each has a name, so that they do not depend on their order."""

    assignment: str
    student: str

    def integer(self, name: str, low: int, high: int) -> int:
        """Return a whole number from `low` to `high`, both included."""
        seen = sha256("\n".join((self.assignment, self.student, name)).encode()).digest()
        return low + int.from_bytes(seen[:8], "big") % (high - low + 1)

    def choice(self, name: str, options: Sequence[_T]) -> _T:
        """Return one of some options."""
        return options[self.integer(name, 0, len(options) - 1)]

    def shuffled(self, name: str, options: Sequence[_T]) -> tuple[_T, ...]:
        """Return the options in a random order."""
        keys = [self.integer(f"{name}:{place}", 0, 10**9) for place in range(len(options))]
        return tuple(option for _, _, option in sorted(zip(keys, range(len(options)), options, strict=True)))

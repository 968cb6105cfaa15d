"""Garbage among Python's objects, looked for less often than Python does by itself."""

from __future__ import annotations

import gc

_ALLOCATIONS = 100_000
"""Objects that are made before Python looks for garbage among them."""


def look_rarely() -> None:
    """Loading modules and compiling claims make objects by the hundred thousand, which stay."""
    gc.set_threshold(_ALLOCATIONS)

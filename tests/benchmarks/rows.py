"""A row of the table in the documentation: subject, reference, figure, and its unit."""

from __future__ import annotations

from collections.abc import Callable

Row = Callable[[str, str, float, str], None]

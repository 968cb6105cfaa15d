"""A row of the table that the documentation shows: what is measured, against what, the figure, and what it is."""

from __future__ import annotations

from collections.abc import Callable

Row = Callable[[str, str, float, str], None]

"""Cells of the tightness map show the largest ratio of their runs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fedtheory.language.registry import find
from report.figures import bounds


def test_cells_show_the_largest_ratio_of_their_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs without a ratio are ignored; a cell with only such runs is empty."""
    cells = len(bounds.LOCAL_STEPS) * len(bounds.FRACTIONS)
    given: list[Any] = [None, 0.25, 0.5, None] * (cells - 1) + [None] * 4
    drawn: list[Any] = []
    monkeypatch.setattr(bounds, "_build_grid", lambda *_given: [])
    monkeypatch.setattr(bounds, "compute_ratios", lambda *_given: given)
    monkeypatch.setattr(bounds, "draw_heat_map", lambda _canvas, _axes, values, **_keys: drawn.append(values))
    bounds.draw_tightness_map(find("renard2022:thm-2.1"), [], Fraction(1, 4))
    expected = np.full(cells, 0.5)
    expected[-1] = np.nan
    np.testing.assert_array_equal(drawn[0].ravel(), expected)

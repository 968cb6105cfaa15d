"""Symbols of points in the published loop."""

from __future__ import annotations

import sympy as sp

common, start_i, start_j = sp.symbols("y y_i y_j", real=True, cls=sp.Dummy)
"""A point from which all clients step, and the points from which two of them step."""

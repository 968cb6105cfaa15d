"""Symbols for the copies of an assignment that differ from those of the notes."""

from __future__ import annotations

SYMBOLS = (("eta", "tau"), ("gamma", "K"), ("s", "E"), ("alpha", "H"))
"""The symbols of copies for the step size and the number of local steps."""

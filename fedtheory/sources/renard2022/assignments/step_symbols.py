"""Symbols of the assignments' copies, in place of those of the notes."""

from __future__ import annotations

SYMBOLS = (("eta", "tau"), ("gamma", "K"), ("s", "E"), ("alpha", "H"))
"""Symbols for the step size and the number of local steps, of which each copy has one pair."""

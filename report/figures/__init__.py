"""Figures: thin layers on results; nothing is computed here that a test does not compute elsewhere."""

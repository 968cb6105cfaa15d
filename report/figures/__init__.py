"""Figures: thin layers on computed results."""

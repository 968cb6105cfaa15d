"""Compute moments, errors, constants on regions and sampled checks of a run, exactly.

Uses `federation`, `arithmetic`, and the `kernel`'s expressions.
"""

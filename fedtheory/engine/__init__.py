"""Computes moments, errors, constants on regions and sampled checks of a run.

Uses `federation`, `arithmetic`, and the `kernel`'s expressions.
"""

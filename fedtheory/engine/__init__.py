"""What is computed of a run, exactly: moments, errors, constants on regions, sampled checks.

Uses `federation`, `arithmetic`, and the `kernel`'s expressions.
"""

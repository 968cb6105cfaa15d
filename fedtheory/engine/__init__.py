"""What is computed of a run, exactly: moments, errors, constants on regions, sampled checks, runs under a budget.

Uses `federation`, `arithmetic`, and the `kernel`'s expressions.
"""

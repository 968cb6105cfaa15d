"""What can be said: expressions, quantities, assumptions, claims, their values on a run, and where claims are found.

Uses `runfile`, `engine`, `federation`, `arithmetic`, and the `kernel`'s expressions.
"""

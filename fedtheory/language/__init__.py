"""The language of claims: expressions, quantities, assumptions, their values on a run, and the registry of claims.

Uses `runfile`, `engine`, `federation`, `arithmetic`, and the `kernel`'s expressions.
"""

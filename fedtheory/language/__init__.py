"""Expressions, quantities, assumptions and claims, their values on a run, and the registry of claims.

Uses `runfile`, `engine`, `federation`, `arithmetic`, and the `kernel`'s expressions.
"""

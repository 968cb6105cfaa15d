"""Exports of claims about algorithms given by definitions to Rocq: fixed points, and Lyapunov functions."""

"""Evaluation of quantities: exact expectations at local steps, clock times, and the axes of their values."""

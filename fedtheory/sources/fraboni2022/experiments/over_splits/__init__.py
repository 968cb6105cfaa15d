"""The experiments on several splits of the digits, stored as tables.

The searches take more than ten minutes, too long for a report.  `results` holds their tables, and
``python -m fedtheory.sources.fraboni2022.experiments.over_splits [TABLE...]`` recomputes them.
"""

"""Recompute the stored tables: ``python -m fedtheory.sources.fraboni2022.experiments.over_splits [TABLE...]``."""

from __future__ import annotations

import sys

from fedtheory.sources.fraboni2022.experiments.over_splits.stored import TABLES, recompute
from fedtheory.sources.fraboni2022.experiments.over_splits.tables import RESULTS, write_table

if __name__ == "__main__":
    for name in sys.argv[1:] or TABLES:
        write_table(recompute(name), RESULTS / f"{name}.csv")

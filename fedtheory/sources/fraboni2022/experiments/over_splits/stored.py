"""Stored tables of the experiments over several splits, and the functions that recompute them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from typing import Any, Generic

from fedtheory.sources.fraboni2022.experiments.digits import SPLITS, Split
from fedtheory.sources.fraboni2022.experiments.figure_2 import compute_figure_2
from fedtheory.sources.fraboni2022.experiments.over_splits.local_work import (
    LocalWorkOnSplit,
    Mitigation,
    TunedLocalWork,
    compute_local_work,
    compute_mitigations,
    tune_local_work,
)
from fedtheory.sources.fraboni2022.experiments.over_splits.rises import Rises, count_rises
from fedtheory.sources.fraboni2022.experiments.over_splits.schemes import BestScheme, compute_best_schemes
from fedtheory.sources.fraboni2022.experiments.over_splits.tables import RESULTS, Record, read_table
from fedtheory.sources.fraboni2022.experiments.over_splits.weightings import WeightingOnSplit, compute_weightings

SEEDS = range(5)
FEWER_SEEDS = range(3)
"""Seeds of the runs with 50 clients."""
TIMES = (10, 20, 50, 100)
"""Time budgets of the runs with 20 clients."""
SHORTER_TIMES = (10, 20, 50)
"""Time budgets of the runs with 50 clients."""
LOCAL_STEPS = (*range(1, 17), 20, 25)
"""Numbers K of local steps of Figure 3 at one step size."""
TUNED_LOCAL_STEPS = (1, 5, 25)
"""Numbers K of local steps for which each weighting has its best step size."""
MITIGATED_LOCAL_STEPS = (4, 8)
"""Numbers K of local steps that are run with each mitigating change."""
ROUNDS = 100
"""Number of rounds of the sampled synchronous runs."""


def _use_figure_2_step_size(
    compute: Callable[..., Iterable[Any]], split: Split, seed: int, steps: Any
) -> Iterable[Any]:
    """Compute the records at the step size that is best for identical weights and one local step on the split."""
    return compute(split, seed, compute_figure_2(split, seed=seed).step_size, steps)


@dataclass(frozen=True)
class Table(Generic[Record]):
    """A stored table: the class of its records, and the functions that compute them, one for each split."""

    kind: type[Record]
    parts: tuple[Callable[[], Iterable[Record]], ...]


_SPLITS = tuple(product(SPLITS, SEEDS))
TABLES: dict[str, Table[Any]] = {
    "schemes": Table(
        BestScheme,
        tuple(
            partial(compute_best_schemes, split, seed, clients=clients, times=times)
            for clients, seeds, times in ((20, SEEDS, TIMES), (50, FEWER_SEEDS, SHORTER_TIMES))
            for seed, split in product(seeds, SPLITS)
        ),
    ),
    "weightings": Table(WeightingOnSplit, tuple(partial(compute_weightings, *split) for split in _SPLITS)),
    "local-work": Table(
        LocalWorkOnSplit,
        tuple(partial(_use_figure_2_step_size, compute_local_work, *split, LOCAL_STEPS) for split in _SPLITS),
    ),
    "tuned-local-work": Table(
        TunedLocalWork,
        tuple(partial(tune_local_work, split, seed, TUNED_LOCAL_STEPS) for seed, split in product(SEEDS, SPLITS)),
    ),
    "mitigations": Table(
        Mitigation,
        tuple(
            partial(_use_figure_2_step_size, compute_mitigations, *split, steps)
            for split, steps in product(_SPLITS, MITIGATED_LOCAL_STEPS)
        ),
    ),
    "rises": Table(Rises, tuple(partial(count_rises, *split, ROUNDS) for split in _SPLITS)),
}


def recompute(table: str) -> list[Any]:
    """Return the records of a table, computed split by split; reports each split on standard error."""
    records: list[Any] = []
    for part in TABLES[table].parts:
        records += part()
        print(f"{table}: {len(records)} records", file=sys.stderr)
    return records


@cache
def read_records(table: str) -> tuple[Any, ...]:
    """Return the stored records of a table."""
    return read_table(TABLES[table].kind, RESULTS / f"{table}.csv")

"""Stored tables of the experiments over several splits, and the functions that recompute them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
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


LOCAL_STEPS = (*range(1, 17), 20, 25)
"""Numbers K of local steps of Figure 3 at one step size."""
TUNED_LOCAL_STEPS = (1, 5, 25)
"""Numbers K of local steps of the grid search."""
MITIGATED_LOCAL_STEPS = (4, 8)
ROUNDS = 100
"""Number of rounds of the sampled synchronous runs."""

Part = Callable[[], Iterable[Any]]
"""Function that computes the records of one split."""


def _compute_schemes() -> Iterator[Part]:
    for seed, split in product(SEEDS, SPLITS):
        yield partial(compute_best_schemes, split, seed, clients=20, times=TIMES)
    for seed, split in product(FEWER_SEEDS, SPLITS):
        yield partial(compute_best_schemes, split, seed, clients=50, times=SHORTER_TIMES)


def _compute_weightings() -> Iterator[Part]:
    for split, seed in product(SPLITS, SEEDS):
        yield partial(compute_weightings, split, seed)


def _compute_local_work() -> Iterator[Part]:
    for split, seed in product(SPLITS, SEEDS):
        yield partial(_select_figure_2_step_size, compute_local_work, split, seed, LOCAL_STEPS)


def _tune_local_work() -> Iterator[Part]:
    for seed, split in product(SEEDS, SPLITS):
        yield partial(tune_local_work, split, seed, TUNED_LOCAL_STEPS)


def _compute_mitigations() -> Iterator[Part]:
    for split, seed, steps in product(SPLITS, SEEDS, MITIGATED_LOCAL_STEPS):
        yield partial(_select_figure_2_step_size, compute_mitigations, split, seed, steps)


def _compute_rises() -> Iterator[Part]:
    for split, seed in product(SPLITS, SEEDS):
        yield partial(count_rises, split, seed, ROUNDS)


def _select_figure_2_step_size(
    compute: Callable[..., Iterable[Any]], split: Split, seed: int, steps: Any
) -> Iterable[Any]:
    """Compute the records at the step size that is best for identical weights and one local step on the split."""
    return compute(split, seed, compute_figure_2(split, seed=seed).step_size, steps)


@dataclass(frozen=True)
class Table(Generic[Record]):
    """A stored table: the class of its records, and the functions that compute them, split by split."""

    kind: type[Record]
    parts: Callable[[], Iterator[Part]]


TABLES: dict[str, Table[Any]] = {
    "schemes": Table(BestScheme, _compute_schemes),
    "weightings": Table(WeightingOnSplit, _compute_weightings),
    "local-work": Table(LocalWorkOnSplit, _compute_local_work),
    "tuned-local-work": Table(TunedLocalWork, _tune_local_work),
    "mitigations": Table(Mitigation, _compute_mitigations),
    "rises": Table(Rises, _compute_rises),
}


def recompute(table: str) -> list[Any]:
    """Compute the records of a table, and report each split on standard error."""
    records: list[Any] = []
    for part in TABLES[table].parts():
        records += part()
        print(f"{table}: {len(records)} records", file=sys.stderr)
    return records


@cache
def read_records(table: str) -> tuple[Any, ...]:
    """Return the stored records of a table."""
    return read_table(TABLES[table].kind, RESULTS / f"{table}.csv")

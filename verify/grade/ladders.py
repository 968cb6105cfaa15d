"""Ladders of runs with few sources of error: clients, local steps and rounds increase while step sizes decrease.

A missing factor such as 1/M is visible where its term stands alone, and at the end of such a ladder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from flint import fmpq

from fedtheory.errors import FedtheoryError
from fedtheory.language.claim import Claim
from fedtheory.language.premises import list_failures_among, premises
from verify.check.applicability import check_conditions
from verify.falsify.local_search import move_to_edge, remove_aspects
from verify.falsify.mixed_runs import list_mixed_runs
from verify.falsify.run_tables import (
    STEP_SIZE,
    Table,
    change,
    count_clients,
    find_most_steps,
    get,
    read,
    scale,
    with_clients,
)
from verify.falsify.scalings import list_scalings
from verify.falsify.starts import find_features

LevelSizes = tuple[int, int, int, int]
"""A factor for the clients, counts of local steps and rounds, and a divisor of the largest step size."""

_CAUSES = ("noise", "start", "spread", "residuals")
"""Sources of error, by the names of scalings; they act alone and in pairs."""
_LEVELS: tuple[LevelSizes, ...] = (
    (1, 1, 1, 1),
    (1, 4, 8, 1),
    (8, 4, 8, 1),
    (32, 1, 128, 1),
    (32, 1, 512, 16),
    (8, 32, 32, 16),
    (1, 32, 8, 1),
    (1, 256, 8, 1),
    (1, 32, 32, 32),
    (1, 256, 32, 256),
    (1, 256, 32, 2_048),
    (1, 1, 128, 1),
    (1, 1, 512, 16),
    (1, 4, 512, 256),
)
_OF_ONE_CAUSE: tuple[LevelSizes, ...] = ((1, 1, 2_048, 16), (8, 1, 4_096, 256))
"""Levels for runs with one source of error, where a missing factor of clients or rounds is visible."""
_OF_SPREAD: tuple[LevelSizes, ...] = ((1, 32_768, 1, 8_192),)
"""Levels for runs with different clients and nothing else, where a missing factor of local steps is visible."""
_INSIDE = fmpq(15, 16)
"""Fraction of the largest step size that is used, because floats cannot decide equality in a condition."""
_MOST_ROUNDS = 512
"""Largest number of rounds for algorithms that are computed round by round; FedAvg uses repeated squaring."""
_MOMENTA = (fmpq(0), fmpq(9, 10), fmpq(31, 32))
_SERVER_STEPS = (None, fmpq(64))


def list_ladder_runs(claim: Claim) -> Iterator[Table]:
    """Yield the runs on all levels as tables; a claim may not apply to some of them."""
    shapes = list_mixed_runs(claim, find_features(claim))
    for base in (table for shape in shapes for table in _list_settings(claim, shape)):
        for causes, corner in _list_corners(base):
            edge = scale(move_to_edge(claim, corner) or corner, {STEP_SIZE: _INSIDE})
            levels = (
                _LEVELS + (_OF_ONE_CAUSE if len(causes) == 1 else ()) + (_OF_SPREAD if causes == ("spread",) else ())
            )
            for level in dict.fromkeys(_list_levels(base, levels)):
                yield _build_level(edge, *level)


def is_allowed(claim: Claim, table: Table) -> bool:
    """Return whether assumptions and conditions hold in exact arithmetic, without simulation."""
    run = read(table)
    try:
        return run is not None and not list_failures_among(premises(claim), run) and check_conditions(claim, run)
    except (FedtheoryError, LookupError):
        # A quantity may need a feature that a run lacks, such as a second client.
        return False


def _list_settings(claim: Claim, table: Table) -> Iterator[Table]:
    """Yield the run with several momenta if it has one, and with larger server steps if the claim allows them."""
    for step in _SERVER_STEPS:
        chosen = table if step is None else change(table, {"algorithm.server_step_size": step})
        if step is not None and not is_allowed(claim, scale(chosen, {STEP_SIZE: 1 / step})):
            continue
        has_momentum = get(table, "algorithm.momentum") is not None
        for momentum in _MOMENTA if has_momentum else ():
            yield change(chosen, {"algorithm.momentum": momentum})
        if not has_momentum:
            yield chosen


def _list_corners(table: Table) -> Iterator[tuple[tuple[str, ...], Table]]:
    """Yield one, two, or all sources of error of a run, and the run with only these."""
    present = [scaling.name for scaling in list_scalings(table) if scaling.name in _CAUSES]
    for count in sorted({1, 2, len(present)} & set(range(len(present) + 1))):
        for kept in combinations(present, count):
            yield kept, remove_aspects(table, [name for name in present if name not in kept])


def _list_levels(base: Table, levels: Sequence[LevelSizes]) -> Iterator[LevelSizes]:
    """Yield the levels; with one local step if the conditions allow no other count."""
    doubles = get(base, "algorithm.name") == "fedavg" and get(base, "algorithm.clock") is None
    for more_clients, steps, rounds, divisor in levels:
        if doubles or rounds <= _MOST_ROUNDS:
            yield more_clients, steps if find_most_steps(base) > 1 else 1, rounds, divisor


def _build_level(table: Table, more_clients: int, local_steps: int, rounds: int, divisor: int) -> Table:
    table = with_clients(table, list(range(count_clients(table))) * more_clients)
    has_own_steps = isinstance(get(table, "algorithm.local_steps"), list)
    counts = {"algorithm.rounds": rounds} | ({} if has_own_steps else {"algorithm.local_steps": local_steps})
    return scale(change(table, counts), {STEP_SIZE: fmpq(1, divisor)})

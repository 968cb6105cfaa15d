"""A clock of work: what has been spent on checks, the same on every machine and at every load.

Each check counts with what runs of its size take on an ordinary machine, so that a budget in these seconds is about as
long on the clock; what is found within it does not depend on the clock.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fedtheory.arithmetic import ENCLOSED, FLOAT, RATIONAL
from fedtheory.engine.frames import count_numbers

if TYPE_CHECKING:
    from fedtheory.engine.run import Run

_CHECK = 0.003
"""Seconds of any check: reading the run, its constants, the sides."""
_TRY = 2e-4
"""Seconds of a changed run file."""
_IN_FLOATS, _EXACT = 2e-8, 4e-7
"""Seconds of a multiplication in floats, and of one of short rationals."""
_PER_ROUND = 1e-4
"""Seconds of a round that is simulated by itself in floats."""
_PER_STEP, _PER_CLIENT = 1e-5, 1e-5
"""Seconds of a local step of all clients in floats, and of reading a client."""
_PER_PLACE, _STALE, _STALE_CLIENT = 2.5e-5, 5e-5, 1e-5
"""Seconds of what a claim asks for at each local step, and of a local step from models of several ages, in floats.

Each client adds the last to the latter.
"""
_PER_FRAME, _IN_FRAMES, _IN_EXACT_FRAMES = 1e-4, 2e-8, 4e-7
"""Seconds of a local step at which a claim mentions vectors, and of each number of a vector there.

The latter in floats, and in short rationals.
"""
_WITH_COINS, _EXACT_WITH_COINS = 2.5e-4, 8e-4
"""Seconds of a round whose coins are tossed for all clients at once, in floats and in rationals."""
_ENCLOSED = 30
"""Times as much that enclosures take as floats."""
_LONGER = 32
"""Local steps after which rationals have become twice as long."""


class _Work:
    """Work of this process since its beginning."""

    def __init__(self) -> None:
        self.total = 0.0


_WORK = _Work()


def measure_work() -> float:
    """Return the seconds of work so far: only differences mean something."""
    return _WORK.total


def spend_a_try() -> None:
    """Count a change of a run that may turn out to be none, so that every search ends."""
    _WORK.total += _TRY


def spend(run: Run, place: str = "run") -> None:
    """Count a check of a run that is done, at the places of a claim; constants alone have simulated nothing."""
    simulated = simulation(run) + _estimate_step_work(run) + _in_frames(run, place) if _is_simulated(run) else 0.0
    _WORK.total += _CHECK + _PER_CLIENT * run.problem.clients + simulated


def _estimate_step_work(run: Run) -> float:
    """Seconds of work that values at each local step took, where a check in floats asked for them."""
    if run.arithmetic is not FLOAT:
        return 0.0
    places = run.algorithm.rounds, max(run.algorithm.work.steps)
    is_asked = any(isinstance(value, np.ndarray) and value.shape[:2] == places for value in run.memo.values())
    trajectory = vars(run).get("attempted_trajectory")
    is_stale = trajectory is not None and "stale" in vars(trajectory)
    stale = _STALE + _STALE_CLIENT * run.problem.clients if is_stale else 0.0
    return math.prod(places) * (_PER_PLACE * is_asked + stale)


def _in_frames(run: Run, place: str) -> float:
    """Seconds of work that vectors at each local step took, of a check in floats or in rationals."""
    if run.arithmetic is ENCLOSED or place not in ("step", "path"):
        return 0.0
    places = run.algorithm.rounds * max(run.algorithm.work.steps)
    of_a_number = _IN_FRAMES if run.arithmetic is FLOAT else _IN_EXACT_FRAMES
    return places * (_PER_FRAME + of_a_number * count_numbers(run))


def _is_simulated(run: Run) -> bool:
    """Return whether the expectations of a run are known; enclosures are computed on refined copies of it."""
    return run.arithmetic is ENCLOSED or not vars(run).keys().isdisjoint(("attempted_trajectory", "trajectory"))


def simulation(run: Run) -> float:
    """Seconds of work that the expectations of a run take, about."""
    steps, rounds = max(run.algorithm.work.steps), run.algorithm.rounds
    of_a_step, has_coins = _multiplications(run), _has_coins(run)
    if run.arithmetic is RATIONAL:
        of_coins = _EXACT_WITH_COINS * rounds if has_coins else 0.0
        return of_coins + _EXACT * steps * rounds * (1 + steps * rounds / _LONGER) * of_a_step
    slower = 1 if run.arithmetic is FLOAT else _ENCLOSED
    of_a_round = steps * (_PER_STEP + _IN_FLOATS * of_a_step)
    each = _WITH_COINS if has_coins else _PER_ROUND
    return slower * (of_a_round if are_doubled(run) else rounds * (each + of_a_round))


def _has_coins(run: Run) -> bool:
    """Return whether a definition tosses coins, so that joint moments of all outcomes are added up."""
    defined = run.algorithm.defined
    return defined is not None and bool(defined.algorithm.coins)


def _multiplications(run: Run) -> int:
    """Count the multiplications of a local step of all clients; on a graph all models have joint moments."""
    clients, dimension, defined = run.problem.clients, run.problem.dimension, run.algorithm.defined
    if defined is not None and defined.mixing is not None:
        return int((clients * dimension + 1) ** 3)
    return int(clients * (dimension + 1) ** 3)


def are_doubled(run: Run) -> bool:
    """Return whether equal rounds are done many at once."""
    algorithm = run.algorithm
    return algorithm.defined is None and algorithm.clock.is_synchronous and not algorithm.clock.is_random

"""A clock that counts work: the cost of checks, equal on every machine and at every load.

Each check costs the seconds that a run of its size takes on an ordinary machine. A budget in these seconds lasts about
as long in real time, but the results do not depend on real time.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from fedtheory.arithmetic import ENCLOSED, FLOAT, RATIONAL
from fedtheory.engine.frames import count_numbers, count_outcomes

if TYPE_CHECKING:
    from fedtheory.engine.run import Run

_CHECK = 0.003
"""Seconds of every check: reading the run, its constants and both sides."""
_TRY, _CLIENT_OF_TRY = 2e-4, 4e-5
"""Seconds of a changed run file, and of changing and reading each client in it."""
_UNIT = 1e-7
"""Seconds of a unit of work of the kernel and of searches for proofs."""
_IN_FLOATS, _EXACT = 2e-8, 4e-7
"""Seconds of one multiplication in floats, and of one of short rationals."""
_PER_ROUND = 1e-4
"""Seconds of a simulated round in floats."""
_PER_STEP, _PER_CLIENT = 1e-5, 1e-5
"""Seconds of a local step of all clients in floats, and of reading a client."""
_PER_STEP_TOGETHER = 1e-6
"""Seconds of a local step of all clients in floats if the steps of a round are computed together."""
_PER_STEP_OF_LOSSES, _PER_CLIENT_OF_LOSSES = 4e-5, 8e-6
"""Seconds of a local step on losses that are not quadratic, and of each client in it, in floats."""
_SCHEDULED = 2.5e-4
"""Seconds of a local step whose size a formula states, besides its multiplications."""
_PER_PLACE, _STALE, _STALE_CLIENT = 2.5e-5, 5e-5, 1e-5
"""Seconds of the quantities that a claim uses at each local step, of a local step with stale models, and the
additional seconds of such a step per client, in floats and for short rationals.
"""
_PER_OUTCOME = 2e-7
"""Seconds of the quantities that a claim uses at each local step, per client and outcome of the round's weights."""
_PER_FRAME, _IN_FRAMES, _IN_EXACT_FRAMES = 1e-4, 2e-8, 4e-7
"""Seconds of a local step with vectors, and of each of their entries in floats and in rationals."""
_WITH_COINS, _EXACT_WITH_COINS = 2.5e-4, 8e-4
"""Seconds of a round with randomised decisions of all clients, in floats and in rationals."""
_ENCLOSED, _ENCLOSED_TOGETHER = 30, 8
"""Cost of enclosures relative to floats: of rounds, and of local steps that are computed together."""
_LONGER = 32
"""Number of local steps after which the size of rationals has doubled."""


class _Work:
    """Total work of this process."""

    def __init__(self) -> None:
        self.total = 0.0


_WORK = _Work()


def measure_work() -> float:
    """Return the seconds of work so far; only differences have a meaning."""
    return _WORK.total


def spend_units(units: int) -> None:
    """Count units of work of a search for proofs, each a tenth of a microsecond."""
    _WORK.total += _UNIT * units


def spend_a_try(clients: int = 0) -> None:
    """Count a changed run of so many clients that may be invalid, so that every search ends."""
    _WORK.total += _TRY + _CLIENT_OF_TRY * clients


def spend(run: Run, place: str = "run") -> None:
    """Count a check of a run at the positions that a claim uses; a claim about constants needs no simulation."""
    simulated = (
        estimate_simulation(run) + _estimate_step_work(run) + _estimate_vectors(run, place)
        if _is_simulated(run)
        else 0.0
    )
    _WORK.total += _CHECK + _PER_CLIENT * run.problem.clients + simulated


def _estimate_step_work(run: Run) -> float:
    """Estimate the seconds of work for values at each local step in a check in floats or rationals."""
    if run.arithmetic is ENCLOSED:
        return 0.0
    places = run.algorithm.rounds, max(run.algorithm.work.steps)
    is_asked = any(isinstance(value, np.ndarray) and value.shape[:2] == places for value in run.memo.values())
    trajectory = vars(run).get("attempted_trajectory")
    is_stale = trajectory is not None and "stale" in vars(trajectory)
    stale = _STALE + _STALE_CLIENT * run.problem.clients if is_stale else 0.0
    asked = is_asked * (_PER_PLACE + _PER_OUTCOME * run.problem.clients * (count_outcomes(run) - 1))
    return math.prod(places) * _grow_numbers(run) * (asked + stale)


def _grow_numbers(run: Run) -> float:
    """Return the factor by which longer rationals increase the work of a local step; 1 for floats."""
    steps = max(run.algorithm.work.steps) * run.algorithm.rounds
    return 1 + steps / _LONGER if run.arithmetic is RATIONAL else 1.0


def _estimate_vectors(run: Run, place: str) -> float:
    """Estimate the seconds of work for vectors at each local step, in floats or in rationals."""
    if run.arithmetic is ENCLOSED or place not in ("step", "path"):
        return 0.0
    places = run.algorithm.rounds * max(run.algorithm.work.steps)
    of_a_number = _IN_FRAMES if run.arithmetic is FLOAT else _IN_EXACT_FRAMES
    return places * (_PER_FRAME + of_a_number * count_numbers(run))


def _is_simulated(run: Run) -> bool:
    """Return whether the moments of a run are known; enclosures compute them on refined copies of it."""
    return run.arithmetic is ENCLOSED or not vars(run).keys().isdisjoint(("attempted_trajectory", "trajectory"))


def estimate_simulation(run: Run) -> float:
    """Estimate the seconds of work for the moments of a run."""
    steps, rounds = max(run.algorithm.work.steps), run.algorithm.rounds
    of_a_step, has_coins = _count_multiplications(run), _has_coins(run)
    of_sizes = 0.0 if run.algorithm.work.schedule is None else _SCHEDULED
    if run.arithmetic is RATIONAL:
        of_coins = _EXACT_WITH_COINS * rounds if has_coins else 0.0
        return of_coins + steps * rounds * (of_sizes + _EXACT * _grow_numbers(run) * of_a_step)
    if run.arithmetic is FLOAT and not run.problem.is_quadratic:
        return steps * rounds * (of_sizes + _PER_STEP_OF_LOSSES + _PER_CLIENT_OF_LOSSES * run.problem.clients)
    of_a_round = _estimate_round(run, steps, of_a_step)
    each = (_WITH_COINS if has_coins else _PER_ROUND) * (1 if run.arithmetic is FLOAT else _ENCLOSED)
    # A formula's values are rationals in all arithmetics.
    simulated = of_a_round if are_doubled(run) else rounds * (each + of_a_round)
    return simulated + steps * rounds * of_sizes


def _estimate_round(run: Run, steps: int, of_a_step: int) -> float:
    """Estimate the seconds of work for the local steps of a round in floats or enclosures."""
    together = run.algorithm.defined is None and run.algorithm.work.schedule is None
    slower = 1 if run.arithmetic is FLOAT else _ENCLOSED_TOGETHER if together else _ENCLOSED
    return slower * steps * ((_PER_STEP_TOGETHER if together else _PER_STEP) + _IN_FLOATS * of_a_step)


def _has_coins(run: Run) -> bool:
    """Return whether an algorithm has randomised decisions, so that joint moments of all outcomes are added."""
    defined = run.algorithm.defined
    return defined is not None and bool(defined.algorithm.coins)


def _count_multiplications(run: Run) -> int:
    """Count the multiplications of a local step of all clients, whose moments are joint on a graph."""
    clients, dimension, defined = run.problem.clients, run.problem.dimension, run.algorithm.defined
    if defined is not None and defined.mixing is not None:
        return int((clients * dimension + 1) ** 3)
    return int(clients * (dimension + 1) ** 3)


def are_doubled(run: Run) -> bool:
    """Return whether equal rounds are computed by repeated squaring."""
    algorithm = run.algorithm
    if algorithm.work.schedule is not None:
        return False
    return algorithm.defined is None and algorithm.clock.is_synchronous and not algorithm.clock.is_random

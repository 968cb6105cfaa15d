"""Number of rounds for which a bound guarantees an accuracy, and their cost."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sympy as sp

from fedtheory.arithmetic import plain_float
from fedtheory.engine.run import Run
from fedtheory.federation import Algorithm
from fedtheory.federation.definition.language import OVER_CLIENTS
from fedtheory.planner.bound import ROUNDS, STEP, NumericBound
from fedtheory.planner.optimum import StepSizes

MOST_ROUNDS = 10**15
_FOREVER = 1e60
_NOTHING = 1e-12
"""Fraction of the bound after one round below which a limit counts as zero."""


@dataclass(frozen=True)
class RoundCost:
    """Average cost of a server update."""

    time: float
    """Time on the clock of the run."""
    messages: float
    """Number of model-sized vectors that are sent to clients and back."""


@dataclass(frozen=True)
class RoundsToAccuracy:
    """Rounds to an accuracy, at one step size, or at the best one for each number of rounds."""

    accuracy: float
    rounds: int | None
    """The smallest number with bound <= accuracy; None if there is none."""
    step_size: float | None
    """The step size of these rounds."""
    floor: float
    """Limit of the bound as the number of rounds tends to infinity."""
    reason: str | None
    """The reason why there is no such number."""


def compute_round_cost(run: Run) -> RoundCost:
    """Return time and messages of a server update, averaged over the run if clients do not wait for each other."""
    algorithm, rounds = run.algorithm, run.algorithm.rounds
    time, vectors = (
        plain_float(algorithm.times(run.problem.weights)[-1]) / rounds,
        float(count_vectors_of_client(algorithm)),
    )
    if algorithm.clock.is_synchronous:
        return RoundCost(time, vectors * algorithm.aggregation.participation.participants(run.problem.clients))
    return RoundCost(time, vectors * float(np.sum(algorithm.schedule.participates)) / rounds)


def count_vectors_of_client(algorithm: Algorithm) -> int:
    """Return the number of vectors that a participant receives and sends in a round: models and control variates."""
    if algorithm.defined is None:
        return 2
    definition = algorithm.defined.algorithm
    own = [part for step in definition.steps for part in (step.start, step.step)]
    read = [sp.sympify(part) for part in (*own, *definition.client_update.values())]
    received = [vector for vector in definition.server if any(part.has(vector) for part in read)]
    updates = [sp.sympify(part) for part in (*definition.server_update.values(), *definition.client_update.values())]
    sent = {node for part in updates for node in part.atoms(*OVER_CLIENTS)}
    return max(len(received), 1) + max(len(sent), 1)


def find_rounds_at_step(bound: NumericBound, accuracy: float) -> RoundsToAccuracy:
    """Return the rounds to an accuracy at the step size of the bound's numbers."""
    step = bound.values.get(STEP)

    def evaluate(rounds: float) -> tuple[float | None, float]:
        """Return the step size, None for the given one, and the value of the bound after `rounds` rounds."""
        return step, bound.value({ROUNDS: rounds})

    return _find_rounds(bound, accuracy, evaluate, "at this step size")


def find_rounds_at_best_step(sizes: StepSizes, accuracy: float) -> RoundsToAccuracy:
    """Return the rounds to an accuracy at the best step size for each number of rounds.

    There are none if no step size is best.
    """

    def evaluate(rounds: float) -> tuple[float | None, float]:
        """Return the step size, None if none is best, and the value of the bound after `rounds` rounds."""
        return sizes.best(sizes.bound.with_numbers({ROUNDS: rounds})) or (None, math.inf)

    return _find_rounds(sizes.bound, accuracy, evaluate, "at its best step size")


def _find_rounds(
    bound: NumericBound, accuracy: float, evaluate: Callable[[float], tuple[float | None, float]], where: str
) -> RoundsToAccuracy:
    """Return the smallest number of rounds by doubling and bisection: bounds decrease with the rounds."""
    floor = evaluate(_FOREVER)[1]
    floor = 0.0 if floor <= _NOTHING * evaluate(1)[1] else floor
    if not bound.depends_on(bound.expression, ROUNDS):
        reason = None if floor <= accuracy else f"the bound does not depend on the rounds, and is {floor:.6g} {where}"
        return RoundsToAccuracy(accuracy, 1 if reason is None else None, evaluate(1)[0], floor, reason)
    rounds = (
        None if floor >= accuracy else find_smallest_count(lambda count: evaluate(count)[1] <= accuracy, MOST_ROUNDS)
    )
    if rounds is not None:
        return RoundsToAccuracy(accuracy, rounds, evaluate(rounds)[0], floor, None)
    reason = (
        f"{where} the bound stays above {floor:.6g}, however many rounds there are"
        if floor >= accuracy
        else f"more than {MOST_ROUNDS:.0e} rounds {where}"
    )
    return RoundsToAccuracy(accuracy, None, None, floor, reason)


def find_smallest_count(holds: Callable[[int], bool], most: int) -> int | None:
    """Return the smallest positive count from which `holds` is true.

    Returns None if it is above `most`.
    """
    high = 1
    while not holds(high):
        if high >= most:
            return None
        high = min(2 * high, most)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def find_largest_count(holds: Callable[[int], bool], most: int) -> float:
    """Return the largest count up to which `holds` is true; zero if never, infinity if it is above `most`."""
    first = find_smallest_count(lambda count: not holds(count), most)
    return math.inf if first is None else float(first - 1)

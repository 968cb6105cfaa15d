"""Gain from more clients and more local steps, by a bound at its best step sizes."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.planner.bound import CLIENTS, STEPS
from fedtheory.planner.optimum import StepSizes
from fedtheory.planner.target import find_largest_count

HALF_OF_LINEAR = 2.0**-0.25
"""The square root of 1/sqrt(2), by which linear speed-up multiplies the error if the clients are doubled."""
MOST_CLIENTS = 10**9
MOST_LOCAL_STEPS = 1024
NEAR = 1.1


@dataclass(frozen=True)
class UsefulLocalSteps:
    """The smallest number of local steps (a power of two) whose bound is close to the smallest one."""

    steps: int
    value: float
    """The bound for this number."""
    smallest: float
    """The smallest bound over all numbers of local steps that are tried."""


def compute_best_value(sizes: StepSizes, name: str, number: float) -> float:
    """Return the bound with another number, at its best step size, or at the planned one if no step size is best."""
    at = sizes.bound.with_numbers({name: number})
    found = sizes.best(at)
    return at.value() if found is None else found[1]


def find_linear_clients(sizes: StepSizes) -> float | None:
    """Return the number of clients up to which the speed-up is linear; None if the bound does not depend on it.

    Linear speed-up is an error proportional to ``1/sqrt(M T)``.  Up to the returned number, doubling the clients gives
    at least half of this: the bound at its best step size is divided by at least ``2^(1/4)``, with all other numbers
    fixed.
    """
    if not sizes.bound.depends_on(sizes.bound.expression, CLIENTS) or sizes.best(sizes.bound) is None:
        return None

    def pays(clients: int) -> bool:
        return compute_best_value(sizes, CLIENTS, 2 * clients) <= HALF_OF_LINEAR * compute_best_value(
            sizes, CLIENTS, clients
        )

    return max(1.0, find_largest_count(pays, MOST_CLIENTS))


def find_useful_local_steps(sizes: StepSizes) -> UsefulLocalSteps | None:
    """Return the smallest number of local steps whose bound is within a tenth of the smallest, at the same rounds.

    The numbers are powers of two up to `MOST_LOCAL_STEPS`, each at its own best step size;
    the result is None if the bound does not depend on them, or if no step size is best.
    """
    bound = sizes.bound
    if not bound.depends_on(bound.expression, STEPS) or sizes.best(bound) is None:
        return None
    tried = [2**power for power in range(MOST_LOCAL_STEPS.bit_length())]
    values = [compute_best_value(sizes, STEPS, steps) for steps in tried]
    smallest = min(values)
    found = next(n for n, value in enumerate(values) if value <= NEAR * smallest)
    return UsefulLocalSteps(tried[found], values[found], smallest)

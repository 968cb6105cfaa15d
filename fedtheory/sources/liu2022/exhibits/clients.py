"""Federations whose objective is the same for every number of clients."""

from __future__ import annotations

from fedtheory.arithmetic import RATIONAL
from fedtheory.federation.problem import Problem, quadratic

_ALONE = ([["3/4", "0"], ["0", "3/4"]], ["1/2", "-1/2"])
_PAIR = (
    ([["1", "0"], ["0", "1/2"]], ["1", "0"]),
    ([["1/2", "0"], ["0", "1"]], ["0", "-1"]),
)
"""Hessian and linear term of the only client, and of every other one; the averages of a pair are those of the only."""


def federation(clients: int) -> Problem:
    """One client, or an even number of them of two kinds; gradient noise of variance one in each client."""
    array = RATIONAL.array
    kinds = [_ALONE] if clients == 1 else [_PAIR[client % 2] for client in range(clients)]
    return quadratic(
        array([hessian for hessian, _ in kinds]),
        array([linear for _, linear in kinds]),
        array(["2", "2"]),
        noise=array([1] * clients),
    ).as_floats()

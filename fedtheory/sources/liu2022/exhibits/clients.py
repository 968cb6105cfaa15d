"""Federations whose objective does not depend on the number of clients."""

from __future__ import annotations

from fedtheory.arithmetic import RATIONAL
from fedtheory.federation.problem import Problem, quadratic

_ALONE = ([["3/4", "0"], ["0", "3/4"]], ["1/2", "-1/2"])
_PAIR = (
    ([["1", "0"], ["0", "1/2"]], ["1", "0"]),
    ([["1/2", "0"], ["0", "1"]], ["0", "-1"]),
)
"""Hessian and linear term of a single client, and of every second one; a pair has the averages of the single client."""


def make_clients(clients: int) -> Problem:
    """Return one client, or an even number of clients of two kinds, each with gradient noise of variance one."""
    array = RATIONAL.array
    kinds = [_ALONE] if clients == 1 else [_PAIR[client % 2] for client in range(clients)]
    return quadratic(
        array([hessian for hessian, _ in kinds]),
        array([linear for _, linear in kinds]),
        array(["2", "2"]),
        noise=array([1] * clients),
    ).as_floats()

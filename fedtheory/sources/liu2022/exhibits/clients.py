"""Clients of two kinds, and exact errors over their number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fedtheory.arithmetic import RATIONAL
from fedtheory.federation.problem import Problem, quadratic
from fedtheory.language.exhibits import Line

Kind = tuple[list[list[str]], list[str]]
"""Hessian and linear term of a client."""
_ALONE: Kind = ([["3/4", "0"], ["0", "3/4"]], ["1/2", "-1/2"])
_PAIR: Sequence[Kind] = (
    ([["1", "0"], ["0", "1/2"]], ["1", "0"]),
    ([["1/2", "0"], ["0", "1"]], ["0", "-1"]),
)
"""The single client, and every second one of several; a pair has the averages of the single client."""


def make_clients(clients: int) -> Problem:
    """Return one client, or an even number of clients of two kinds, of which the objective does not depend."""
    return alternate_kinds([_ALONE] if clients == 1 else _PAIR, clients, ["2", "2"], noise=1)


def alternate_kinds(kinds: Sequence[Kind], clients: int, start: list[str], *, noise: int) -> Problem:
    """Return clients whose kinds take turns, each with gradient noise of the given variance, in floats."""
    array = RATIONAL.array
    chosen = [kinds[client % len(kinds)] for client in range(clients)]
    hessians, linear = (array([kind[part] for kind in chosen]) for part in range(2))
    return quadratic(hessians, linear, array(start), noise=array([noise] * clients)).as_floats()


@dataclass(frozen=True)
class Curve:
    """The exact error over the number of clients N, for one number of local steps."""

    local_steps: int
    clients: tuple[int, ...]
    """Values of N."""
    errors: tuple[float, ...]
    """Average of E|grad f|^2 over the run, for each N."""
    limit: float
    """Largest N for which the theorem admits this number of local steps."""

    @property
    def inside(self) -> int:
        """Count the values of N within the limit."""
        return sum(clients <= self.limit for clients in self.clients)

    def draw(self, label: str, number: int) -> Iterator[Line]:
        """Yield the curve, then its marks: hollow beyond the limit, filled within it."""
        yield Line(self.clients, self.errors, label, number, number)
        for chosen, hollow in ((slice(self.inside, None), True), (slice(self.inside), False)):
            clients, errors = self.clients[chosen], self.errors[chosen]
            yield Line(clients, errors, colour=number, dash=None, marker="o", size=5, hollow=hollow)

    def scale_first_error(self) -> list[float]:
        """Return the first error times 1/sqrt(N), relative to the first N: linear speed-up."""
        return [self.errors[0] * (self.clients[0] / clients) ** 0.5 for clients in self.clients]

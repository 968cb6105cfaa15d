"""Budget of a run, in exact rationals."""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from fedtheory.arithmetic import RATIONAL, Number
from fedtheory.errors import InputError

_MOST_INTERVALS = 100_000


@dataclass(frozen=True)
class Budget:
    """Costs c of a local update and b of an aggregation, and the total budget R (lecture27:resource).

    Numbers as `RATIONAL.number` reads them: rationals, integers, floats by their
    shortest decimal, or strings such as ``"1/20"``.  Raises `InputError` where a
    cost is negative, both costs are zero, R does not pay for one local update
    and one aggregation, or R pays for more than 100000 of these.
    """

    local_cost: Number
    """Cost c of one local update at all clients; not negative."""
    aggregation_cost: Number
    """Cost b of one aggregation; not negative."""
    total: Number
    """The total budget R."""

    def __post_init__(self) -> None:
        keys = {"local_cost": "local_cost", "aggregation_cost": "aggregation_cost", "total": "budget"}
        for field, key in keys.items():
            object.__setattr__(self, field, RATIONAL.number(getattr(self, field), key))
        for key in ("local_cost", "aggregation_cost"):
            if getattr(self, key) < 0:
                raise InputError(key, f"expected a number that is not negative, got {getattr(self, key)}")
        self._check_total()

    def _check_total(self) -> None:
        """Raise `InputError` if R pays for no interval, or for too many."""
        shortest = self.compute_cost(1)
        if shortest == 0:
            raise InputError(
                "local_cost", "expected a positive cost of local updates or of aggregations, got zero for both"
            )
        if self.total < shortest:
            needed = f"expected at least {shortest}, the cost of one local update and one aggregation"
            raise InputError("budget", f"{needed}, got {self.total}")
        if self.total > _MOST_INTERVALS * shortest:
            most = f"expected at most {_MOST_INTERVALS} times the cost of one local update and one aggregation"
            raise InputError("budget", f"{most}, got {self.total}")

    def compute_cost(self, local_steps: int) -> fmpq:
        """Return c tau + b, the cost of an interval of tau local updates and its aggregation."""
        cost: fmpq = self.local_cost * local_steps + self.aggregation_cost
        return cost

    def limit_local_steps(self, wanted: int, spent: fmpq) -> int:
        """Return the largest affordable number of local updates up to `wanted`, with an aggregation; 0 if none."""
        left = self.total - spent - self.aggregation_cost
        if left < 0:
            return 0
        return wanted if self.local_cost * wanted <= left else int((left / self.local_cost).floor())

"""The one update rule, as three policies.

    theta^{n+1} = theta^n + eta_g * sum_i w_i(n) * Delta_i(rho_i(n)),
    Delta_i(r)  = (K_i local SGD steps from theta^r) - theta^r

(fraboni2022, eq. 6).  `LocalWork` says what a client does, `Aggregation` how the
server combines, a clock (`Synchronous`) when clients report and which model they started from.
Every algorithm is a setting of these three; see `settings`.
"""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.arithmetic import FLOAT, Array, Number, arithmetic_of
from fedtheory.errors import InputError
from fedtheory.federation.participation import Participation


@dataclass(frozen=True, eq=False)
class LocalWork:
    """K_i local steps of size eta_i for each client."""

    steps: tuple[int, ...]
    """K_i, positive."""
    step_sizes: Array
    """eta_i, (M,), positive."""

    @property
    def common_steps(self) -> int | None:
        """tau where all clients take the same number of steps, else None."""
        return self.steps[0] if len(set(self.steps)) == 1 else None

    @property
    def common_step_size(self) -> Number | None:
        """eta where all clients use the same one, else None."""
        return self.step_sizes[0] if (self.step_sizes == self.step_sizes[0]).all() else None

    @property
    def common_effective_step(self) -> Number | None:
        """eta_i K_i where it is the same for all clients, in floats up to rounding, else None."""
        products = self.step_sizes * arithmetic_of(self.step_sizes).array(list(self.steps))
        rounding = 0 if products.dtype == object else 1e-12 * products[0]
        return products[0] if (abs(products - products[0]) <= rounding).all() else None


@dataclass(frozen=True)
class Aggregation:
    """The server's step: eta_g and the law of the weights."""

    server_step_size: Number
    participation: Participation


@dataclass(frozen=True)
class Synchronous:
    """The server waits for every participant; all start from its newest model, ``rho_i(n) = n``."""

    round_time: Number = 1

    def times(self, rounds: int) -> list[Number]:
        """Clock time of each server update."""
        return [self.round_time * (n + 1) for n in range(rounds)]


@dataclass(frozen=True, eq=False)
class Algorithm:
    """A named setting of the update rule, run for a number of server updates."""

    name: str
    work: LocalWork
    aggregation: Aggregation
    clock: Synchronous
    rounds: int
    """T, server updates; positive."""

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise InputError("algorithm.rounds", f"expected a positive whole number, got {self.rounds}")
        if any(steps < 1 for steps in self.work.steps):
            raise InputError("algorithm.local_steps", f"expected positive whole numbers, got {min(self.work.steps)}")
        if any(size <= 0 for size in self.work.step_sizes):
            raise InputError("algorithm.local_step_size", f"expected positive numbers, got {min(self.work.step_sizes)}")
        if self.aggregation.server_step_size <= 0:
            given = self.aggregation.server_step_size
            raise InputError("algorithm.server_step_size", f"expected a positive number, got {given}")

    def as_floats(self) -> Algorithm:
        """The same setting in double precision."""
        return Algorithm(
            self.name,
            LocalWork(self.work.steps, FLOAT.array(self.work.step_sizes)),
            Aggregation(FLOAT.number(self.aggregation.server_step_size, "eta_g"), self.aggregation.participation),
            Synchronous(FLOAT.number(self.clock.round_time, "time")),
            self.rounds,
        )


def local_work(steps: int | tuple[int, ...], step_sizes: Array) -> LocalWork:
    """Work of M clients from one step count or one for each, and step sizes (M,)."""
    clients = len(step_sizes)
    counts = (steps,) * clients if isinstance(steps, int) else steps
    if len(counts) != clients:
        raise InputError("algorithm.local_steps", f"expected one number or {clients}, got {len(counts)}")
    return LocalWork(counts, step_sizes)


def same_for_all(value: Number, like: Array) -> Array:
    """(M,) copies of a number, in the arithmetic and for the clients of `like`."""
    return arithmetic_of(like).array([value] * len(like))

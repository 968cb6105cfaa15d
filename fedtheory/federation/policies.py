"""Two of the three policies of the update rule: the local work of clients, and the step of the server."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from fedtheory.arithmetic import Array, Number, arithmetic_of
from fedtheory.errors import InputError
from fedtheory.federation.participation import Participation, WeightMoments
from fedtheory.federation.step_sizes import StepSchedule


@dataclass(frozen=True, eq=False)
class LocalWork:
    """K_i local steps of size eta_i for each client."""

    steps: tuple[int, ...]
    """K_i, positive."""
    step_sizes: Array
    """eta_i, (M,), positive; the first ones if they change."""
    schedule: StepSchedule | None = None
    """Schedule of step sizes over rounds and local steps; None if they are constant."""

    def sizes_at(self, n: int, k: int) -> Array:
        """Return eta_i at round n and local step k, (M,)."""
        if self.schedule is None:
            return self.step_sizes
        sizes: Array = self.step_sizes * self.schedule.relative(n, k, arithmetic_of(self.step_sizes))
        return sizes

    def has_sizes_until(self, rounds: int) -> bool:
        """Return whether the step sizes are positive in all rounds before this one: a cosine ends at zero."""
        if self.schedule is None or not self.schedule.changes_with_rounds:
            return True
        try:
            for n, k in itertools.product(range(rounds), range(max(self.steps))):
                self.schedule.evaluate_exactly(n, k)
        except InputError:
            return False
        return True

    @property
    def common_steps(self) -> int | None:
        """tau if all clients take the same number of steps, else None."""
        return self.steps[0] if len(set(self.steps)) == 1 else None

    @property
    def common_step_size(self) -> Number | None:
        """eta if all step sizes are equal, else None."""
        is_one = self.schedule is None and (self.step_sizes == self.step_sizes[0]).all()
        return self.step_sizes[0] if is_one else None

    @property
    def common_effective_step(self) -> Number | None:
        """eta_i K_i if it is the same for all clients, in floats up to rounding, else None."""
        if self.schedule is not None:
            return None
        products = self.step_sizes * arithmetic_of(self.step_sizes).array(list(self.steps))
        rounding = 0 if products.dtype == object else 1e-12 * products[0]
        return products[0] if (abs(products - products[0]) <= rounding).all() else None


@dataclass(frozen=True)
class Aggregation:
    """The server's step: eta_g, the clients' weights d_i, and the law of participation."""

    server_step_size: Number
    participation: Participation
    chosen: tuple[Number, ...] | None = None
    """The weights d_i if they differ from the client weights p_i."""

    def weights(self, importance: Array) -> Array:
        """Return d_i, (M,), for the client weights p_i, (M,)."""
        return importance if self.chosen is None else arithmetic_of(importance).array(list(self.chosen))

    def moments(self, importance: Array) -> WeightMoments:
        """Return moments of the random weights of a round in which the server waits for its participants."""
        return self.participation.moments(self.weights(importance))

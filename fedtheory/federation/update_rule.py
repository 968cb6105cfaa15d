"""The update rule, as three policies.

    theta^{n+1} = theta^n + eta_g * sum_i w_i(n) * Delta_i(rho_i(n)),
    Delta_i(r)  = (K_i local SGD steps from theta^r) - theta^r

(fraboni2022, eq. 6).  `LocalWork` defines the clients' steps, `Aggregation` the
server's step, and a `Clock` the reports and the models that they started from.
Most algorithms are settings of these three; see `settings`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING

from fedtheory.arithmetic import FLOAT, Array, Number, arithmetic_of
from fedtheory.errors import InputError, NotApplicable
from fedtheory.federation.clock import Clock, Cyclic, Schedule, Update
from fedtheory.federation.participation import Fixed, Full, Multinomial
from fedtheory.federation.policies import Aggregation, LocalWork

if TYPE_CHECKING:
    from fedtheory.federation.definition.run import Defined
    from fedtheory.federation.problem import Problem


@dataclass(frozen=True, eq=False)
class Algorithm:
    """A named setting of the update rule, run for a number of server updates."""

    name: str
    work: LocalWork
    aggregation: Aggregation
    clock: Clock
    rounds: int
    """T, server updates; positive."""
    drawn: Schedule | None = None
    """The sampled schedule of a clock with random times."""
    defined: Defined | None = None
    """The definition, if the algorithm is not given by the three policies alone."""

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise InputError("algorithm.rounds", f"expected a positive whole number, got {self.rounds}")
        if any(steps < 1 for steps in self.work.steps):
            raise InputError("algorithm.local_steps", f"expected positive whole numbers, got {min(self.work.steps)}")
        if any(size <= 0 for size in self.work.step_sizes):
            raise InputError("algorithm.local_step_size", f"expected positive numbers, got {min(self.work.step_sizes)}")
        self._require_weights()
        if self.aggregation.server_step_size <= 0:
            given = self.aggregation.server_step_size
            raise InputError("algorithm.server_step_size", f"expected a positive number, got {given}")
        self._check_clock()
        self._check_definition()

    def _check_definition(self) -> None:
        if self.defined is not None:
            from fedtheory.federation.definition.requirements import require_setting

            require_setting(self.defined.algorithm, self.work, self.aggregation, self.clock)
        elif self.work.schedule is not None:
            expected = "expected numbers, or a formula of an algorithm that is a definition"
            raise InputError("algorithm.local_step_size", f"{expected}, got {self.work.schedule.formula}")

    def _check_clock(self) -> None:
        if len(self.clock.times) != len(self.work.steps):
            expected = f"expected {len(self.work.steps)} numbers, got {len(self.clock.times)}"
            raise InputError("algorithm.clock.times", expected)
        is_full = isinstance(self.aggregation.participation.of_clients, Full)
        if isinstance(self.clock.policy, Cyclic) and not is_full:
            raise InputError(
                "algorithm.participation", "expected full participation: the cycle already selects the participants"
            )
        if not (self.clock.is_synchronous or is_full):
            raise InputError("algorithm.participation", "expected full participation: the clock decides who reports")
        if self.drawn is not None and len(self.drawn.updates) != self.rounds:
            raise InputError("algorithm.rounds", f"expected {len(self.drawn.updates)}, as sampled, got {self.rounds}")
        if self.clock.is_random and not is_full:
            raise InputError("algorithm.participation", "expected full participation with random update times")

    def _require_weights(self) -> None:
        """Raise `InputError` for negative aggregation weights, or for any if clients are sampled by their weights."""
        chosen, law = self.aggregation.chosen, self.aggregation.participation
        if chosen is not None and min(chosen) < 0:
            raise InputError("algorithm.aggregation", f"expected numbers that are not negative, got {min(chosen)}")
        if chosen is not None and isinstance(law, Fixed | Multinomial):
            name = type(law).__name__.lower()
            raise InputError("algorithm.aggregation", f'expected "importance" with {name} participation')

    def require_fitting(self, problem: Problem) -> None:
        """Raise `InputError` unless the algorithm fits the problem's number of clients and its properties."""
        numbers = {
            "local_steps": self.work.steps,
            "local_step_size": self.work.step_sizes,
            "aggregation": self.aggregation.chosen,
        }
        for key, given in numbers.items():
            if given is not None and len(given) != problem.clients:
                raise InputError(f"algorithm.{key}", f"expected {problem.clients} numbers, got {len(given)}")
        if self.defined is not None:
            from fedtheory.federation.definition.requirements import require_problem

            require_problem(self.defined.algorithm, self.defined.values, self.defined.mixing, problem)

    @cached_property
    def schedule(self) -> Schedule:
        """The schedule of reports; raises `NotApplicable` if it is random and has not been sampled."""
        return self.drawn or self.clock.schedule(self.rounds)

    @property
    def largest_staleness(self) -> int:
        """The largest number of updates between the start and the report of a client's work.

        Raises `NotApplicable` if the schedule is random and has not been sampled.
        """
        # Synchronous rounds need no schedule, which would list millions of equal ones.
        is_known = self.clock.is_synchronous and not self.clock.is_random
        return 0 if is_known else self.schedule.largest_staleness

    @property
    def has_one_size_a_step(self) -> bool:
        """Whether the step sizes of all rounds are the same."""
        return self.work.schedule is None or not self.work.schedule.changes_with_rounds

    @property
    def rounds_are_alike(self) -> bool:
        """Whether all rounds have the same step sizes and the same law of participation."""
        return self.clock.is_synchronous and self.has_one_size_a_step

    def updates(self) -> Iterator[Update]:
        """Yield the server updates n = 0 .. T-1 one after the other."""
        # In synchronous rounds no model is stale, and the law of participation is constant: one update serves all.
        is_synchronous = self.clock.is_synchronous
        yield from repeat(self.clock.round, self.rounds) if is_synchronous else self.schedule.updates

    def expected_weights(self, update: Update, importance: Array) -> Array:
        """Return q_i(n) = E[w_i(n)], (M,), for the client weights p_i, (M,)."""
        if self.clock.is_synchronous:
            return self.aggregation.moments(importance).mean
        weights, reports = self.clock.policy.weights(update, self.aggregation.weights(importance)), list(update.reports)
        expected: Array = weights - weights
        expected[reports] = weights[reports]
        return expected

    def require_synchronous(self, purpose: str) -> None:
        """Raise `NotApplicable`, with the purpose, if clients work on stale models."""
        if isinstance(self.clock.policy, Cyclic):
            raise NotApplicable(f"{purpose}, but participation is cyclic")
        if not self.clock.is_synchronous:
            raise NotApplicable(f"{purpose}, but with this clock clients report on models that are not the newest")

    @property
    def is_fedavg_of_changing_steps(self) -> bool:
        """Whether the algorithm is the update rule except for step sizes that change from step to step."""
        return self.defined is not None and self.name == "fedavg" and self.work.schedule is not None

    @cached_property
    def largest_step_size(self) -> Number:
        """The largest step size of all clients in all rounds."""
        if self.work.schedule is None:
            return max(self.work.step_sizes)
        steps = ((n, k) for n in range(self.rounds) for k in range(max(self.work.steps)))
        return max(max(self.work.sizes_at(n, k)) for n, k in steps)

    def require_update_rule(self, purpose: str) -> None:
        """Raise `NotApplicable`, with the purpose, if the algorithm is not given by work, aggregation and clock."""
        if self.defined is not None:
            raise self.explain_definition(purpose)

    def explain_definition(self, purpose: str) -> NotApplicable:
        """Return the error for a quantity that is unknown for algorithms given as definitions."""
        changing = " with changing step sizes" if self.work.schedule is not None else ""
        return NotApplicable(f"{purpose}, and {self.name}{changing} is not a setting of it")

    def times(self, importance: Array) -> list[Number]:
        """Return the clock time of each server update, in expectation if the participants are sampled."""
        if self.clock.is_random or not self.clock.is_synchronous:
            return self.schedule.times[1:]
        duration = self.aggregation.participation.round_time(self.clock.times, importance)
        return [duration * (n + 1) for n in range(self.rounds)]

    def as_floats(self) -> Algorithm:
        """Return the setting in double precision."""
        return replace(
            self,
            work=replace(self.work, step_sizes=FLOAT.array(self.work.step_sizes)),
            aggregation=replace(
                self.aggregation, server_step_size=FLOAT.number(self.aggregation.server_step_size, "eta_g")
            ),
            defined=None if self.defined is None else self.defined.as_floats(),
        )


def repeat_for_clients(value: Number, like: Array) -> Array:
    """Return (M,) copies of a number, in the arithmetic and for the clients of `like`."""
    return arithmetic_of(like).array([value] * len(like))

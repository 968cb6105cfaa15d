"""The values of a definition's symbols in one round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fedtheory.arithmetic import Arithmetic, Array, arithmetic_of
from fedtheory.engine.joint.client_classes import Kinds
from fedtheory.engine.memo import Memo
from fedtheory.federation import Algorithm
from fedtheory.federation.definition.algorithm import FederatedAlgorithm
from fedtheory.federation.definition.language import eta, eta_g, eta_sum, importance, mean_tau, tau
from fedtheory.federation.definition.linear import evaluate_number
from fedtheory.federation.definition.stale_vectors import with_held_vectors
from fedtheory.federation.problem import Problem
from fedtheory.kernel.expressions import Expr


@dataclass(frozen=True, eq=False)
class RoundParameters:
    """Symbols of a run with G classes of clients; symbols of clients have one value for each class, (G,)."""

    problem: Problem
    algorithm: Algorithm
    kinds: Kinds

    @cached_property
    def definition(self) -> FederatedAlgorithm:
        """The algorithm as a definition; without waiting rounds, clients store the models that they received."""
        assert self.algorithm.defined is not None
        found = self.algorithm.defined.algorithm
        return found if self.algorithm.clock.starts_from_newest else with_held_vectors(found)

    @property
    def arithmetic(self) -> Arithmetic:
        """The arithmetic of the run."""
        return self.problem.arithmetic

    @property
    def steps(self) -> list[int]:
        """Local steps of each class."""
        return [self.algorithm.work.steps[client] for client in self.kinds.representatives]

    @cached_property
    def shares(self) -> Array:
        """p_i of each class, (G,)."""
        each = self.algorithm.aggregation.participation.select_single_weights(self.problem.weights)
        shares: Array = each[self.kinds.representatives]
        return shares

    def step_sizes(self, n: int, k: int) -> Array:
        """eta_i at round n and local step k, (G,)."""
        return self.algorithm.work.sizes_at(n, k)[self.kinds.representatives]

    def evaluate(self, n: int, k: int, coins: Mapping[Expr, int]) -> dict[Expr, Any]:
        """Return all symbols at round n and local step k, for one outcome of the coins."""
        assert self.algorithm.defined is not None
        number = self.arithmetic.number
        return {
            **self._fixed,
            **self.algorithm.defined.values,
            **{coin: number(side, str(coin)) for coin, side in coins.items()},
            eta: self.step_sizes(n, k),
            eta_sum: self._sums.compute_once(n, lambda: self._add_sizes(n)),
        }

    @cached_property
    def _fixed(self) -> dict[Expr, Any]:
        """Return the values of the symbols that do not change in a run."""
        # Values have the arithmetic of the weights: rational even if vectors are in intervals.
        steps = arithmetic_of(self.problem.weights).array(list(self.algorithm.work.steps))
        return {
            tau: steps[self.kinds.representatives],
            importance: self.shares,
            eta_g: self.algorithm.aggregation.server_step_size,
            mean_tau: self.problem.weights @ steps,
        }

    @cached_property
    def _sums(self) -> Memo:
        """The sums of the step sizes of the rounds so far."""
        return Memo()

    def _add_sizes(self, n: int) -> Array:
        """Return h_i, the sum of the step sizes of round n, (G,)."""
        work, counts = self.algorithm.work, self.steps
        if work.schedule is None:
            total: Array = self.step_sizes(n, 0) * self._fixed[tau]
            return total
        total = self.step_sizes(n, 0)
        for k in range(1, max(counts)):
            inside = [k < count for count in counts]
            total[inside] = total[inside] + self.step_sizes(n, k)[inside]
        return total

    def value(self, expression: Expr, parameters: Mapping[Expr, Any]) -> Any:
        """Return the value of an expression in symbols, or one value for each class."""
        return evaluate_number(expression, parameters, self.arithmetic, f"algorithm {self.definition.name}")

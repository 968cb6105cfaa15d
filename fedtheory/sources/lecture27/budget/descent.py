"""Distributed gradient descent (lecture27:algorithm.dgd) until a budget is used: each interval is one round of it.

The tau local steps of an interval are, in coordinates centred at the optimum,
the tau-th power of the affine map of one local step: an interval costs no more
for a large tau.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import Array, Number, plain_float, plain_floats, sum_with_weights
from fedtheory.engine.moments.local import step_maps
from fedtheory.errors import InputError
from fedtheory.federation import distributed_gd
from fedtheory.federation.problem import Problem
from fedtheory.sources.lecture27.budget.controller import Controller, Estimates, Interval
from fedtheory.sources.lecture27.budget.cost import Budget

FIXED_STEPS = (1, 2, 3, 5, 10, 20, 50, 100)
"""Numbers of local steps with which the adaptive run is compared."""

_OVERFLOW = 1e290


@dataclass(frozen=True, eq=False)
class BudgetedRun:
    """Distributed gradient descent until the budget is used, K intervals.

    If the models leave double precision, the run ends with an infinite loss.
    """

    budget: Budget
    local_steps: tuple[int, ...]
    """tau of each interval, (K,); the last one is limited by the rest of the budget."""
    spent: tuple[fmpq, ...]
    """Total cost after each aggregation, exact, (K,)."""
    suboptimality: Array
    """F(w) - F* after each aggregation, (K,)."""
    optimal_value: Number
    """F*."""
    estimates: tuple[Estimates, ...] = ()
    """Estimates of each interval, (K,), if local steps are adaptive."""

    @property
    def values(self) -> Array:
        """Return F(w) after each aggregation, (K,)."""
        values: Array = self.suboptimality + self.optimal_value
        return values

    @property
    def final(self) -> Number:
        """Return F(w(T)) - F* of the last aggregated model."""
        return self.suboptimality[-1]

    @property
    def best(self) -> Number:
        """Return F(w^f) - F* for the best aggregated model w^f."""
        return min(self.suboptimality)

    @property
    def diverges(self) -> bool:
        """Return whether the models leave double precision."""
        return not np.isfinite(plain_float(self.final))


@dataclass(frozen=True, eq=False)
class BudgetComparison:
    """Runs with the same problem, step size and budget."""

    fixed: dict[int, BudgetedRun]
    """Runs by their fixed number of local steps."""
    adaptive: BudgetedRun

    @property
    def best_fixed(self) -> int:
        """Return the fixed number of local steps with the smallest final loss."""
        return min(self.fixed, key=lambda local_steps: plain_float(self.fixed[local_steps].final))


class _Schedule(Protocol):
    """Interface that determines the number of local steps of the next interval."""

    @property
    def local_steps(self) -> int:
        """Return tau of the next interval, before the limit by the budget."""

    @property
    def estimates(self) -> tuple[Estimates, ...]:
        """Return the estimates after each interval."""

    def learn(self, local: Array, model: Array) -> None:
        """Record an interval that ended with the clients' models (M, d) and their average (d,)."""


class _Constant:
    """A schedule with the same number of local steps in every interval."""

    estimates: tuple[Estimates, ...] = ()

    def __init__(self, local_steps: int) -> None:
        if local_steps < 1:
            raise InputError("local_steps", f"expected a positive whole number, got {local_steps}")
        self.local_steps = local_steps

    def learn(self, local: Array, model: Array) -> None:
        """Record nothing."""


class _Chosen:
    """The schedule of the controller; the first intervals have one local step, until there are estimates."""

    def __init__(self, descent: _Descent, controller: Controller) -> None:
        self._descent, self._controller = descent, controller
        self.local_steps = 1
        self._shown: list[Estimates] = []

    @property
    def estimates(self) -> tuple[Estimates, ...]:
        """Return the estimates after each interval."""
        return tuple(self._shown)

    def learn(self, local: Array, model: Array) -> None:
        """Record estimates; clients evaluate the new average, and send the values with their next models."""
        if self._shown:
            self.local_steps = self._controller.local_steps(self._shown[-1], self.local_steps)
        self._shown.append(self._descent.interval(local, model).estimates())


class _Descent:
    """The algorithm on a problem, in coordinates centred at the optimum; the maps of intervals are cached."""

    def __init__(self, problem: Problem, step_size: Number) -> None:
        self.problem = problem
        self.step_size = problem.arithmetic.number(step_size, "algorithm.local_step_size")
        self._centred = problem.centred
        work = distributed_gd(problem, rounds=1, local_step_size=self.step_size).work
        self._one_step = step_maps(self._centred, work)
        self._maps: dict[int, Array] = {}

    def run(self, budget: Budget, schedule: _Schedule) -> BudgetedRun:
        """Run intervals while the budget pays for one more."""
        model, taken, spent = self._centred.start, list[int](), [fmpq(0)]
        gaps: list[Number] = []
        # Overflow is detected and reported as divergence, without a warning for each operation.
        with np.errstate(over="ignore", invalid="ignore"):
            while steps := budget.affordable(schedule.local_steps, spent[-1]):
                local = self._move_locally(model, steps)
                model = sum_with_weights(self.problem.weights, local)
                taken.append(steps)
                spent.append(spent[-1] + budget.cost(steps))
                gaps.append(model @ self.problem.about_optimum.hessian @ model / 2)
                if _overflows(local, gaps[-1]):
                    gaps[-1] = np.inf
                    break
                schedule.learn(local, model)
        suboptimality: Array = np.array(gaps, dtype=self.problem.arithmetic.dtype)
        return BudgetedRun(
            budget, tuple(taken), tuple(spent[1:]), suboptimality, self.problem.optimal_value, schedule.estimates
        )

    def _move_locally(self, model: Array, steps: int) -> Array:
        """Return w_i after `steps` local steps from a model (d,), (M, d)."""
        if steps not in self._maps:
            self._maps[steps] = _raise_to_power(self._one_step, steps)
        point = np.concatenate([self.problem.arithmetic.identity(1)[0], model])
        moved: Array = self._maps[steps] @ point
        return moved[:, 1:]

    def interval(self, local: Array, model: Array) -> Interval:
        """Compute the values known after an aggregation, from the clients' models (M, d) and their average (d,)."""
        centred, changes = self._centred, local - model
        gradients = centred.gradients(np.broadcast_to(model, local.shape))
        gradient_changes = (centred.hessians @ changes[:, :, None])[:, :, 0]
        # F_i(w + u) - F_i(w) = <grad F_i(w) + H_i u / 2, u>, without the cancellation.
        loss_changes = ((gradients + gradient_changes / 2) * changes).sum(axis=1)
        known = (self.problem.weights, changes, loss_changes, gradient_changes, gradients, model, centred.start)
        return Interval(*map(plain_floats, known))


def _raise_to_power(maps: Array, exponent: int) -> Array:
    """Return powers of matrices (M, n, n) of either arithmetic, by squaring; the exponent is positive."""
    power, square = None, maps
    while True:
        if exponent & 1:
            power = square if power is None else power @ square
        exponent >>= 1
        if not exponent:
            return maps if power is None else power
        square = square @ square


def _overflows(local: Array, gap: Number) -> bool:
    if local.dtype == object:
        return False
    # Comparisons with NaN are false.
    return not (np.abs(local).max() < _OVERFLOW**0.5 and gap < _OVERFLOW)


def descend_fixed(problem: Problem, step_size: Number, budget: Budget, local_steps: int) -> BudgetedRun:
    """Run distributed gradient descent with equal numbers of local steps in every interval except the last.

    Raises `InputError` where the problem's gradients are not full ones.
    """
    return _Descent(problem, step_size).run(budget, _Constant(local_steps))


def descend_adaptively(
    problem: Problem, step_size: Number, budget: Budget, *, longest: int = 100, control: float | None = None
) -> BudgetedRun:
    """Run distributed gradient descent with adaptive local steps (Wang et al. 2019, Algorithm 2).

    `longest` limits the local steps of an interval; `control` is phi, estimated from the run by default (see
    `Controller`). The paper's cost of evaluating the loss of the final model is not charged (lecture27:resource).
    Raises `InputError` where the problem's gradients are not full ones.
    """
    descent = _Descent(problem, step_size)
    controller = Controller(plain_float(descent.step_size), budget, longest, control)
    return descent.run(budget, _Chosen(descent, controller))


def compare(
    problem: Problem, step_size: Number, budget: Budget, fixed: Sequence[int] = FIXED_STEPS
) -> BudgetComparison:
    """Compare the adaptive run with runs with fixed numbers of local steps, all with the same budget."""
    descent = _Descent(problem, step_size)
    runs = {local_steps: descent.run(budget, _Constant(local_steps)) for local_steps in fixed}
    controller = Controller(plain_float(descent.step_size), budget)
    return BudgetComparison(runs, descent.run(budget, _Chosen(descent, controller)))

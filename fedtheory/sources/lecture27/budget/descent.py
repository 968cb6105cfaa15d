"""Distributed gradient descent (lecture27:algorithm.dgd) until a budget is used: each interval is one round of it.

The tau local steps of an interval are, in coordinates centred at the optimum,
the tau-th power of the affine map of one local step: an interval costs no more
for a large tau.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import Array, Number, plain_float, plain_floats, sum_with_weights
from fedtheory.engine.moments.local import compute_step_maps
from fedtheory.errors import InputError
from fedtheory.federation import distributed_gd
from fedtheory.federation.problem import Problem
from fedtheory.sources.lecture27.budget.controller import Controller, Estimates
from fedtheory.sources.lecture27.budget.cost import Budget

FIXED_STEPS = (1, 2, 3, 5, 10, 20, 50, 100)
"""Numbers of local steps with which the adaptive run is compared."""

_OVERFLOW = 1e290
_ROUNDING = 1e-12
"""Relative distance below which a client's model equals the average up to rounding."""


@dataclass(frozen=True, eq=False)
class BudgetedRun:
    """Distributed gradient descent until the budget is used, K intervals.

    If the models leave double precision, the run ends with an infinite loss.
    """

    budget: Budget
    local_steps: tuple[int, ...]
    """tau of each interval, (K,); the rest of the budget limits the last one."""
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
    """The adaptive run and runs with fixed numbers of local steps, with the same problem, step size and budget."""

    fixed: dict[int, BudgetedRun]
    """Runs by their fixed number of local steps."""
    adaptive: BudgetedRun

    @property
    def best_fixed(self) -> int:
        """Return the fixed number of local steps with the smallest final loss."""
        return min(self.fixed, key=lambda local_steps: plain_float(self.fixed[local_steps].final))


class _Descent:
    """Distributed gradient descent on a problem, in coordinates centred at the optimum, with cached maps."""

    def __init__(self, problem: Problem, step_size: Number) -> None:
        self.problem = problem
        self.step_size = problem.arithmetic.number(step_size, "algorithm.local_step_size")
        self._centred = problem.centred
        work = distributed_gd(problem, rounds=1, local_step_size=self.step_size).work
        self._one_step = compute_step_maps(self._centred, work)
        self._maps: dict[int, Array] = {}

    def run(self, budget: Budget, local_steps: int, controller: Controller | None = None) -> BudgetedRun:
        """Run intervals while the budget pays for one more, with a fixed number of local steps.

        A controller changes this number after the second interval: the clients evaluate the new average, and send
        the values with their next models.
        """
        if local_steps < 1:
            raise InputError("local_steps", f"expected a positive whole number, got {local_steps}")
        model, steps_of_intervals, spent = self._centred.start, list[int](), [fmpq(0)]
        gaps, estimates = list[Number](), list[Estimates]()
        # Overflow is detected and reported as divergence, without a warning for each operation.
        with np.errstate(over="ignore", invalid="ignore"):
            while steps := budget.limit_local_steps(local_steps, spent[-1]):
                local = self._move_locally(model, steps)
                model = sum_with_weights(self.problem.weights, local)
                steps_of_intervals.append(steps)
                spent.append(spent[-1] + budget.compute_cost(steps))
                gaps.append(model @ self.problem.about_optimum.hessian @ model / 2)
                if _overflows(local, gaps[-1]):
                    gaps[-1] = np.inf
                    break
                if controller is not None:
                    if estimates:
                        local_steps = controller.choose_local_steps(estimates[-1], local_steps)
                    estimates.append(self._estimate_constants(local, model))
        suboptimality: Array = np.array(gaps, dtype=self.problem.arithmetic.dtype)
        return BudgetedRun(
            budget,
            tuple(steps_of_intervals),
            tuple(spent[1:]),
            suboptimality,
            self.problem.optimal_value,
            tuple(estimates),
        )

    def run_adaptively(self, budget: Budget, longest: int = 100, control: float | None = None) -> BudgetedRun:
        """Run intervals with the numbers of local steps that a controller chooses, one at first."""
        return self.run(budget, 1, Controller(plain_float(self.step_size), budget, longest, control))

    def _move_locally(self, model: Array, steps: int) -> Array:
        """Return w_i after `steps` local steps from a model (d,), (M, d)."""
        if steps not in self._maps:
            self._maps[steps] = _raise_to_power(self._one_step, steps)
        point = np.concatenate([self.problem.arithmetic.identity(1)[0], model])
        moved: Array = self._maps[steps] @ point
        return moved[:, 1:]

    def _estimate_constants(self, local: Array, model: Array) -> Estimates:
        """Return rho, beta and delta of Wang et al. 2019, Algorithm 2, from clients' models (M, d) and their average.

        A client whose model equals the average gives no estimate of rho and beta (0/0) and is left out of their
        averages; they are zero without any estimate.
        """
        centred, changes = self._centred, local - model
        gradients = centred.gradients(np.broadcast_to(model, local.shape))
        gradient_changes = (centred.hessians @ changes[:, :, None])[:, :, 0]
        # F_i(w + u) - F_i(w) = <grad F_i(w) + H_i u / 2, u>, without the cancellation.
        loss_changes = plain_floats(((gradients + gradient_changes / 2) * changes).sum(axis=1))
        weights, gradients, moved = map(plain_floats, (self.problem.weights, gradients, model - centred.start))
        distances = np.linalg.norm(plain_floats(changes), axis=1)
        used = distances > _ROUNDING * np.linalg.norm(plain_floats(model))
        factors = weights[used] / weights[used].sum() / distances[used]
        deviations = gradients - weights @ gradients
        return Estimates(
            lipschitz=float(factors @ np.abs(loss_changes[used])),
            smoothness=float(factors @ np.linalg.norm(plain_floats(gradient_changes)[used], axis=1)),
            divergence=float(weights @ np.linalg.norm(deviations, axis=1)),
            distance_sq=float(moved @ moved),
        )


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
    return _Descent(problem, step_size).run(budget, local_steps)


def descend_adaptively(
    problem: Problem, step_size: Number, budget: Budget, *, longest: int = 100, control: float | None = None
) -> BudgetedRun:
    """Run distributed gradient descent with adaptive local steps (Wang et al. 2019, Algorithm 2).

    `longest` limits the local steps of an interval; `control` is phi, estimated from the run by default (see
    `Controller`). The paper's cost of evaluating the loss of the final model is not charged (lecture27:resource).
    Raises `InputError` where the problem's gradients are not full ones.
    """
    return _Descent(problem, step_size).run_adaptively(budget, longest, control)


def compare(
    problem: Problem, step_size: Number, budget: Budget, fixed: Sequence[int] = FIXED_STEPS
) -> BudgetComparison:
    """Return the adaptive run and runs with fixed numbers of local steps, all with the same budget."""
    descent = _Descent(problem, step_size)
    runs = {local_steps: descent.run(budget, local_steps) for local_steps in fixed}
    return BudgetComparison(runs, descent.run_adaptively(budget))

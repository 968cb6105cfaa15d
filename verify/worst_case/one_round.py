"""One round of FedAvg with unknown objectives: its points, gradients and values in PEPit."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from fedtheory.errors import NotApplicable

Point = Any
"""A point or a gradient: a linear combination of unknown vectors."""
Scalar = Any
"""Linear in inner products of points and in function values."""


class NoiselessRound:
    """A round of `clients` with equal shares, L-smooth objectives with L = 1, and exact gradients.

    With `curvature` they are strongly convex with this constant. With `at_optimum` the round starts where the gradient
    of F vanishes.
    """

    def __init__(
        self,
        clients: int,
        local_steps: int,
        step_size: float,
        *,
        convex: bool,
        at_optimum: bool,
        curvature: float = 0,
    ) -> None:
        from PEPit import PEP

        self.problem = PEP()
        self.convex, self.at_optimum = convex, at_optimum
        kind, constants = _choose_class(convex, curvature)
        self.objectives = [self.problem.declare_function(kind, **constants) for _ in range(clients)]
        self.objective = mean(self.objectives)
        self.start = self.objective.stationary_point() if at_optimum else self.problem.set_initial_point()
        self.iterates = [[self.start] * clients]
        """x_i^k for k = 0 .. tau."""
        for _ in range(local_steps):
            moving = zip(self.iterates[-1], self.objectives, strict=True)
            self.iterates.append([x - step_size * objective.gradient(x) for x, objective in moving])
        self.averages = [self.start, *(mean(points) for points in self.iterates[1:])]
        """xbar^k for k = 0 .. tau."""
        self.visited = [self.start, *(point for points in self.iterates[1:-1] for point in points)]
        """Points at which a client computes its gradient, or at which the value or gradient of F is needed."""

    @cached_property
    def optimum(self) -> Point:
        """Return x*; raises `NotApplicable` where a vanishing gradient does not imply a minimiser."""
        if not self.convex:
            raise NotApplicable("distances to the optimum are modelled for convex objectives only")
        return self._visit(self.start if self.at_optimum else self.objective.stationary_point())

    @cached_property
    def least_value(self) -> Scalar:
        """Return F*, attained or not."""
        if self.convex or self.at_optimum:
            return self.objective(self.optimum if self.convex else self.start)
        from PEPit import Expression

        return Expression()

    def _visit(self, point: Point) -> Point:
        self.visited.append(point)
        return point

    def gap(self, step: int) -> Scalar:
        """Return F(xbar^k) - F*."""
        return self.objective(self._visit(self.averages[step])) - self.least_value

    def gradient_sq(self, step: int) -> Scalar:
        """Return |grad F(xbar^k)|^2."""
        return self.objective.gradient(self._visit(self.averages[step])) ** 2

    def distance_sq(self, step: int) -> Scalar:
        """Return |xbar^k - x*|^2."""
        return (self.averages[step] - self.optimum) ** 2

    def drifts(self, step: int) -> list[Scalar]:
        """Return |x_i^k - xbar^k|^2 of each client."""
        return [(point - self.averages[step]) ** 2 for point in self.iterates[step]]

    def gradients_sq(self) -> list[list[Scalar]]:
        """Return |grad F_i|^2 of all clients at each visited point."""
        return [[gradient**2 for gradient in gradients] for gradients in self._list_gradients()]

    def own_gradients_sq(self) -> list[Scalar]:
        """Return |grad F_i(x_i^k)|^2 of each client at its own iterates."""
        pairs = (pair for points in self.iterates[:-1] for pair in zip(points, self.objectives, strict=True))
        return [objective.gradient(point) ** 2 for point, objective in pairs]

    def deviations_sq(self) -> list[list[Scalar]]:
        """Return |grad F_i - grad F|^2 of all clients at each visited point."""
        return [[(gradient - mean(gradients)) ** 2 for gradient in gradients] for gradients in self._list_gradients()]

    def _list_gradients(self) -> list[list[Point]]:
        return [[objective.gradient(point) for objective in self.objectives] for point in self.visited]

    def least_value_gaps(self) -> list[Scalar]:
        """Return F* - (F(x) - |grad F(x)|^2 / (2L)), which is never positive, at each visited point.

        For convex functions this follows from the gradient at x*.
        """
        if self.convex:
            return []
        gradient, least = self.objective.gradient, self.least_value
        return [least - self.objective(point) + gradient(point) ** 2 / 2 for point in self.visited]


def _choose_class(convex: bool, curvature: float) -> tuple[type, dict[str, float]]:
    """Return the class of functions in PEPit, and its constants."""
    from PEPit.functions import SmoothConvexFunction, SmoothFunction, SmoothStronglyConvexFunction

    if curvature > 0:
        return SmoothStronglyConvexFunction, {"mu": curvature, "L": 1}
    return (SmoothConvexFunction if convex else SmoothFunction), {"L": 1}


def mean(entries: list[Any]) -> Any:
    """Return the mean of functions, points or scalars."""
    return sum(entries[1:], entries[0]) * (1 / len(entries))

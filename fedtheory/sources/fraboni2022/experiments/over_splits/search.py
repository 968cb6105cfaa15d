"""Search for the best step size on a geometric grid, first with a coarse ratio and then with a fine one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

FINE = 4
"""Number of grid points of the fine search per factor of two: neighbours have the ratio 2^(1/4)."""
COARSE = 2
"""The coarse search takes every second grid point: neighbours have the ratio 2^(1/2)."""

Losses = Mapping[int, Sequence[float]]
"""Final losses of several cases, such as time budgets, by grid point; infinite if the run diverges."""


def compute_step_size(point: int) -> float:
    """Return the step size of a grid point."""
    return float(2.0 ** (point / FINE))


@dataclass(frozen=True)
class BestPoint:
    """Grid point with the smallest final loss."""

    point: int
    loss: float
    is_interior: bool
    """Whether a smaller and a larger step size were tried, so that the best one is not at an end."""

    @property
    def step_size(self) -> float:
        """Return the step size."""
        return compute_step_size(self.point)


def search(compute_losses: Callable[[int], Sequence[float]], largest: int, smallest: int) -> dict[int, Sequence[float]]:
    """Return final losses on the coarse grid, and on the fine one around the best coarse point of each case.

    `compute_losses` maps a grid point to the final losses, one for each case.  The coarse search goes down from
    `largest` to `smallest`; both are multiples of `COARSE`.
    """
    found = {point: compute_losses(point) for point in range(largest, smallest - 1, -COARSE)}
    cases = len(found[largest])
    centres = {choose_best(found, case).point for case in range(cases)}
    around = {centre + shift for centre in centres for shift in range(1 - COARSE, COARSE)}
    for point in sorted(around - found.keys()):
        found[point] = compute_losses(point)
    return found


def choose_best(losses: Losses, case: int) -> BestPoint:
    """Return the best grid point of one case."""
    point = min(sorted(losses), key=lambda each: losses[each][case])
    return BestPoint(point, losses[point][case], min(losses) < point < max(losses))

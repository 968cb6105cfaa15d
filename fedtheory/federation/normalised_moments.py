"""Moments of normalised weights of many clients, without enumerating all sets of participants.

With ``1 / s^2 = int_0^inf t exp(-t s) dt``, two weights ``w_i = p_i / sum_{j in S} p_j`` have the moment

    E[w_i w_j] = p_i p_j int_0^inf t E[1{i, j in S} exp(-t sum_{k in S} p_k)] dt.

For independent clients the expectation is a product over clients.  For m clients sampled uniformly it is the m-th
coefficient of a polynomial in z, an average over a circle in the complex plane.  Both integrals are computed with
equidistant nodes, which converge exponentially here; the sum of all moments is known, and checks the result.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.errors import InputError

_STEP = 0.2
"""Distance of the nodes in log t."""
_SMALLEST, _LARGEST = 1e-9, 50.0
"""Smallest t times the sum of all p_k, and largest t times the smallest sum: the rest is below rounding."""
_BISECTIONS = 80
_ACCURACY = 1e-10
"""Error of the sum of all moments above which the result is rejected."""


def compute_moments_of_coins(weights: Array, chance: float) -> tuple[Array, Array]:
    """Return E[w_i], (M,), and E[w_i w_j], (M, M), if each client participates with probability `chance`."""
    times = _choose_nodes(weights, float(weights[weights > 0].min()))
    shown = chance * np.exp(-times[:, None] * weights)
    factors = 1 - chance + shown
    carried = _measure(times) * np.exp(np.log(factors).sum(axis=1))
    present = shown / factors
    together, alone = (carried[:, None] * present).T @ present, carried @ present
    positive = 1 - (1 - chance) ** int((weights > 0).sum())
    return _combine_moments(weights, together, alone, positive)


def compute_moments_of_draws(weights: Array, selected: int) -> tuple[Array, Array]:
    """Return E[w_i], (M,), and E[w_i w_j], (M, M), if `selected` clients are sampled uniformly without replacement."""
    clients = len(weights)
    together, alone = np.zeros((clients, clients)), np.zeros(clients)
    for carried, present in _iterate_circles(weights, selected):
        together += ((carried[:, None] * present).T @ present).real
        alone += (carried @ present).real
    if selected == 1:
        # If one client is sampled, no two participate together; the sums would give this up to rounding only.
        together[:] = 0
    zeros = int((weights == 0).sum())
    missed = math.comb(zeros, selected) / math.comb(clients, selected)
    return _combine_moments(weights, together, alone, 1 - missed)


def _iterate_circles(weights: Array, selected: int) -> Iterator[tuple[Array, Array]]:
    """Yield for each t the points of a circle: their weights, (n,), and z x_k / (1 + z x_k) there, (n, M)."""
    ordered = np.sort(weights)
    smallest = ordered[:selected].sum() or ordered[ordered > 0][0]
    times = _choose_nodes(weights, float(smallest))
    logs = -times[:, None] * weights
    radii = _find_log_radii(logs, selected)
    sets = math.lgamma(len(weights) + 1) - math.lgamma(selected + 1) - math.lgamma(len(weights) - selected + 1)
    for measure, log, radius in zip(_measure(times), logs, radii, strict=True):
        size = np.exp(log + radius)
        spread = float((size / (1 + size) ** 2).sum())
        # Coefficients at a larger distance are below rounding, by Bernstein's inequality.
        count = min(len(weights) + 1, math.ceil(13 + math.sqrt(169 + 80 * spread))) | 1
        angles = 2 * math.pi * np.arange(count // 2 + 1) / count
        points = size * np.exp(1j * angles)[:, None]
        value = np.log1p(points).sum(axis=1) - selected * (radius + 1j * angles) - sets
        # Points below the real axis are the conjugates of those above.
        twice = np.where(angles > 0, 2.0, 1.0)
        yield measure * twice * np.exp(value) / count, points / (1 + points)


def _find_log_radii(logs: Array, selected: int) -> Array:
    """Return logarithms of the radii r at which ``sum_k r x_k / (1 + r x_k) = m``, (t,), by bisection."""
    low, high = -logs.max(axis=1) - 60.0, -logs.min(axis=1) + 60.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        counted = (1 / (1 + np.exp(np.minimum(-(logs + middle[:, None]), 700.0)))).sum(axis=1)
        low, high = np.where(counted < selected, middle, low), np.where(counted < selected, high, middle)
    return np.asarray((low + high) / 2)


def _choose_nodes(weights: Array, smallest: float) -> Array:
    """Return nodes t of the quadrature, for sums of weights that are zero or at least `smallest`."""
    first, last = math.log(_SMALLEST / weights.sum()), math.log(_LARGEST / smallest)
    return np.asarray(np.exp(np.arange(first, last + _STEP, _STEP)))


def _measure(times: Array) -> Array:
    """Return ``t dt`` at each t."""
    return np.asarray(_STEP * times * times)


def _combine_moments(weights: Array, together: Array, alone: Array, positive: float) -> tuple[Array, Array]:
    """Return moments from their integrals; `positive` is the probability that some weight is positive."""
    second = weights[:, None] * together * weights
    np.fill_diagonal(second, weights * weights * alone)
    if not abs(second.sum() - positive) <= _ACCURACY * positive:
        expected = f"expected moments of normalised weights that add up to {positive:g}, got {second.sum():.17g}"
        raise InputError("algorithm.participation", f"{expected}: the clients' weights are too different for floats")
    # Normalised weights sum to one unless all are zero.
    return second.sum(axis=1), second

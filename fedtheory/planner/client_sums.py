"""Sums over clients of functions of their Hessians, for many step sizes.

K local steps of size eta change the expectation of a model z by ``f(H_i) z + g(H_i) b_i``, and add noise ``s(H_i)``:

    f(h) = (1 - eta h)^K - 1,   g(h) = -f(h) / h,   s(h) = (1 - (1 - eta h)^{2K}) / (eta h (2 - eta h)).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fedtheory.arithmetic import Array

_ROUNDING = 1e-14
"""Curvatures, relative to the largest, below which they are rounding error: the client has no rows in the direction."""
_BLOCK = 2**21
"""Limit on the size of a block of clients' vectors."""


def evaluate_change(moved: Array, steps: Array | int) -> Array:
    """Evaluate f, ``(1 - moved)^steps - 1`` at ``moved = eta h``, without cancellation for small steps."""
    small = np.expm1(steps * np.log1p(-np.minimum(moved, 0.5)))
    return np.where(moved < 0.5, small, (1 - moved) ** steps - 1)


def evaluate_drift(moved: Array, curvatures: Array, sizes: Array, steps: Array | int) -> Array:
    """Evaluate g at the curvatures, with ``moved = sizes * curvatures``."""
    return np.where(moved * steps != 0, -evaluate_change(moved, steps) / curvatures, sizes * steps)


def evaluate_noise(moved: Array, steps: Array | int) -> Array:
    """Evaluate s at ``moved = eta h``."""
    return np.where(moved * (2 - moved) != 0, -evaluate_change(moved, 2 * steps) / (moved * (2 - moved)), steps * 1.0)


@dataclass(frozen=True, eq=False)
class SumsOverClients:
    """The sums, client by client."""

    curvatures: Array
    """Eigenvalues of the Hessians, (M, d)."""
    vectors: Array
    """Eigenvectors, (M, d, d), as columns."""
    linear: Array
    """b_i, (M, d)."""
    weights: Array
    """Weights of the clients in the update, (M,)."""
    variances: Array
    """Noise variances of one coordinate times the weights of the noise, (M,)."""
    sizes: Array
    """eta_i at the factor one, (M,)."""
    steps: Array
    """K_i, (M,)."""

    @cached_property
    def _curved(self) -> Array:
        """Indices of the curvatures above rounding error, among those of all clients."""
        lengths = np.abs(self.curvatures)
        return np.flatnonzero((lengths > _ROUNDING * lengths.max(initial=0.0)).ravel())

    @cached_property
    def _all_vectors(self) -> Array:
        """The eigenvectors of all clients side by side, (d, M d)."""
        return self.vectors.transpose(1, 0, 2).reshape(self.vectors.shape[1], -1)

    @cached_property
    def _curved_vectors(self) -> Array:
        """Return the eigenvectors with curvature."""
        return np.ascontiguousarray(self._all_vectors[:, self._curved])

    @cached_property
    def _linear_in_eigenvectors(self) -> Array:
        """b_i in the eigenvectors, (M, d)."""
        return np.asarray(np.einsum("mji,mj->mi", self.vectors, self.linear))

    def _scale_steps(self, factors: Array) -> tuple[Array, Array, Array]:
        """Return the step size times curvature, the step sizes and the step numbers, for each factor."""
        sizes = factors[:, None, None] * self.sizes[None, :, None]
        return sizes * self.curvatures[None], sizes, self.steps[None, :, None]

    def compute_moves(self, factors: Array) -> tuple[Array, Array]:
        """Sums of f(H_i), (S, d, d), and of g(H_i) b_i, (S, d), at each of the factors of the step sizes (S,)."""
        moved, sizes, steps = self._scale_steps(factors)
        weights = self.weights[None, :, None]
        moves = (weights * evaluate_change(moved, steps)).reshape(len(factors), -1)[:, self._curved]
        shifts = (
            weights * evaluate_drift(moved, self.curvatures[None], sizes, steps) * self._linear_in_eigenvectors[None]
        )
        return _multiply_conjugate(self._curved_vectors, moves), shifts.reshape(len(factors), -1) @ self._all_vectors.T

    def compute_noise(self, factors: Array) -> Array:
        """Return the sums of eta^2 s(H_i), (S, d, d)."""
        moved, sizes, steps = self._scale_steps(factors)
        fresh = self.variances[None, :, None] * sizes * sizes * evaluate_noise(moved, steps)
        return _multiply_conjugate(self._all_vectors, fresh.reshape(len(factors), -1))


@dataclass(frozen=True, eq=False)
class SumsByPolynomials:
    """The sums if all clients take equally many steps of one size: f, g and s are polynomials in h.

    The sums of Chebyshev polynomials of the Hessians are computed once; then a step size costs the same for any number
    of clients.
    """

    curvatures: Array
    vectors: Array
    linear: Array
    weights: Array
    variances: Array
    size: float
    """eta at the factor one."""
    steps: int
    """K."""

    @cached_property
    def _range(self) -> tuple[float, float]:
        """Smallest and largest curvature."""
        return float(self.curvatures.min()), float(self.curvatures.max())

    def _place_nodes(self, degree: int) -> Array:
        """Return the curvatures at which functions are evaluated, (N+1,)."""
        least, most = self._range
        angles = (np.arange(degree + 1) + 0.5) * np.pi / (degree + 1)
        return (least + most) / 2 + (most - least) / 2 * np.cos(angles)

    def _compute_coefficients(self, values: Array) -> Array:
        """Return coefficients (S, N+1) of Chebyshev polynomials from values (S, N+1) at the nodes."""
        count = values.shape[-1]
        angles = (np.arange(count) + 0.5) * np.pi / count
        cosines = np.cos(np.arange(count)[:, None] * angles) * (2 / count)
        cosines[0] /= 2
        found: Array = values @ cosines.T
        return found

    @cached_property
    def _displacement_sums(self) -> tuple[Array, Array]:
        """Return the sums of the clients' displacements."""
        return self._sum_polynomials(self.weights, self.steps)

    @cached_property
    def _noise_sums(self) -> Array:
        """Return the sum of the clients' noise."""
        return self._sum_polynomials(self.variances, max(2 * self.steps - 2, 0))[0]

    def _sum_polynomials(self, weights: Array, degree: int) -> tuple[Array, Array]:
        """Return ``sum_i weights_i T_k(H_i)``, (N+1, d, d), and the same times b_i, (N+1, d), k = 0 .. N."""
        clients, size, _ = self.vectors.shape
        maps, drifts = np.zeros((degree + 1, size, size)), np.zeros((degree + 1, size))
        least, most = self._range
        step = max(1, _BLOCK // (size * size))
        for first in range(0, clients, step):
            some = slice(first, first + step)
            vectors = np.ascontiguousarray(self.vectors[some].transpose(1, 0, 2).reshape(size, -1))
            linear = np.einsum("mji,mj->mi", self.vectors[some], self.linear[some]).ravel()
            shifted = ((2 * self.curvatures[some] - least - most) / max(most - least, 1e-300)).ravel()
            counted = np.repeat(weights[some], size)
            before, now = shifted, np.ones_like(shifted)
            for k in range(degree + 1):
                each = counted * now
                maps[k] += (vectors * each) @ vectors.T
                drifts[k] += vectors @ (each * linear)
                before, now = now, 2 * shifted * now - before
        return maps, drifts

    def _move(self, factors: Array, nodes: Array) -> tuple[Array, Array]:
        """Return the step sizes times the nodes, and the step sizes."""
        sizes = self.size * factors[:, None]
        return sizes * nodes, sizes

    def compute_moves(self, factors: Array) -> tuple[Array, Array]:
        """Return the same sums as `SumsOverClients.compute_moves`."""
        maps, drifts = self._displacement_sums
        nodes = self._place_nodes(self.steps)
        moved, sizes = self._move(factors, nodes)
        changes = self._compute_coefficients(evaluate_change(moved, self.steps))
        shifts = self._compute_coefficients(evaluate_drift(moved, nodes, sizes, self.steps))
        return np.tensordot(changes, maps, axes=1), shifts @ drifts

    def compute_noise(self, factors: Array) -> Array:
        """Return the same sums as `SumsOverClients.compute_noise`."""
        nodes = self._place_nodes(len(self._noise_sums) - 1)
        moved, sizes = self._move(factors, nodes)
        fresh = self._compute_coefficients(sizes * sizes * evaluate_noise(moved, self.steps))
        return np.tensordot(fresh, self._noise_sums, axes=1)


def _multiply_conjugate(vectors: Array, entries: Array) -> Array:
    """Return ``V diag(entries) V'``, (S, d, d), of vectors V (d, n) and entries (S, n)."""
    return np.stack([(vectors * one) @ vectors.T for one in entries])

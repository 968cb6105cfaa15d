"""Random quadratic problems with prescribed spectra and heterogeneity, in exact rationals.

Rotations are Cayley transforms of rational skew-symmetric matrices, so a Hessian
``Q diag(spectrum) Q'`` is rational and has exactly the prescribed eigenvalues.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from flint import fmpq, fmpq_mat

from fedtheory.arithmetic import RATIONAL, Array
from fedtheory.federation.problem.matrices import quadratic
from fedtheory.federation.problem.quadratic import Problem

_GRID = 4
"""Random coordinates are multiples of 1/_GRID: small numbers that a reader can check by hand."""


def draw_vector(generator: np.random.Generator, size: int, reach: int = 2) -> Array:
    """Return a rational vector (size,) with coordinates in [-reach, reach], multiples of 1/4."""
    vector: Array = RATIONAL.array(generator.integers(-reach * _GRID, reach * _GRID + 1, size)) / fmpq(_GRID)
    return vector


def build_cayley_rotation(skew: Array) -> Array:
    """Return ``(I - A)(I + A)^-1`` for a rational skew-symmetric A (d, d): an orthogonal rational matrix."""
    size = len(skew)
    identity = RATIONAL.identity(size)
    inverse = fmpq_mat((identity + skew).tolist()).inv()
    rotation: Array = (identity - skew) @ np.array(inverse.tolist(), dtype=object).reshape(size, size)
    return rotation


def draw_rotation(generator: np.random.Generator, size: int) -> Array:
    """Return a rational rotation (size, size) from a random skew matrix with small entries."""
    drawn = generator.integers(-2, 3, (size, size))
    if size == 1:
        # In one dimension there is no rotation.
        return RATIONAL.identity(1)
    entries = RATIONAL.array(drawn) / fmpq(2)
    upper = np.triu(entries, 1) + RATIONAL.zeros(size, size)
    return build_cayley_rotation(upper - upper.T)


def draw_hessian(generator: np.random.Generator, spectrum: Sequence[fmpq]) -> Array:
    """Return a rational symmetric matrix (d, d) with exactly the given eigenvalues and random eigenvectors."""
    rotation = draw_rotation(generator, len(spectrum))
    hessian: Array = rotation @ np.diag(RATIONAL.array(list(spectrum))) @ rotation.T + RATIONAL.zeros(
        len(spectrum), len(spectrum)
    )
    return hessian


def draw_quadratics(
    generator: np.random.Generator,
    spectra: Sequence[Sequence[fmpq]],
    *,
    shared: bool,
    heterogeneity: fmpq,
    noise: fmpq,
) -> Problem:
    """Return a rational problem with one client for each spectrum.

    With `shared` all clients have the first client's Hessian, so that gradient
    dissimilarity is bounded on all of space.  `heterogeneity` scales the differences
    of the clients' linear terms; `noise` is every client's gradient variance.
    """
    clients, dimension = len(spectra), len(spectra[0])
    hessians = [draw_hessian(generator, spectrum) for spectrum in (spectra[:1] if shared else spectra)]
    hessians = hessians * clients if shared else hessians
    # Linear terms lie in the ranges of the Hessians, so that every F_i (and so F) has a minimiser.
    common = draw_vector(generator, dimension)
    minimisers = [common + heterogeneity * draw_vector(generator, dimension) for _ in range(clients)]
    return quadratic(
        np.stack(hessians),
        np.stack([hessian @ minimiser for hessian, minimiser in zip(hessians, minimisers, strict=True)]),
        draw_vector(generator, dimension),
        noise=RATIONAL.array([noise] * clients),
    )

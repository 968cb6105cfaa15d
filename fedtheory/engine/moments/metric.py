"""Measures symmetric matrices relative to a positive definite one, with certified errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import Array, MidpointRadius

ABOVE, _LEAST = 1 + 1e-9, 1e-150
"""Upper bound on the relative rounding error and underflow of norms in up to 1,000 dimensions."""


@dataclass(frozen=True, eq=False)
class Metric:
    """A positive definite ``W = C C'``, relative to which symmetric matrices are measured."""

    factor: Array
    """C, (a, a), floats."""
    inverse: Array
    """X, an approximate inverse of C."""
    slack: float
    """Upper bound of the squared norm of ``(X C)^-1``, which accounts for the error of X."""

    @classmethod
    def from_factor(cls, factor: Array) -> Metric:
        """Return the metric of a triangular factor."""
        inverse = np.linalg.inv(factor)
        missed = MidpointRadius.enclose(inverse) @ MidpointRadius.enclose(factor) - np.eye(len(factor))
        error = _bound_norm(missed)
        return cls(factor, inverse, ABOVE / (1 - error) ** 2 if error < 1 else np.inf)

    @property
    def matrix(self) -> MidpointRadius:
        """W, (a, a)."""
        found: MidpointRadius = MidpointRadius.enclose(self.factor) @ MidpointRadius.enclose(self.factor.T)
        return found

    @property
    def sizes(self) -> Array:
        """Return upper bounds of the roots of w_ii w_jj, (a, a)."""
        roots = np.sqrt(np.diagonal(self.matrix.bounds)) * ABOVE
        return np.outer(roots, roots)

    def _change_units(self, matrix: MidpointRadius) -> MidpointRadius:
        """``X R X'``."""
        inverse = MidpointRadius.enclose(self.inverse)
        found: MidpointRadius = inverse @ matrix @ inverse.T
        return found

    def errors(self, missed: Sequence[MidpointRadius], expansion: float) -> Array:
        """Return the e_n, (T+1,), from the R_n."""
        errors = [0.0]
        for rest in missed:
            size = _bound_norm(self._change_units(rest)) * self.slack
            errors.append((errors[-1] * expansion + size) * (1 + 1e-15))
        # NaN gives no bound.
        bounds: Array = np.nan_to_num(np.array(errors[1:]), nan=np.inf, posinf=np.inf)
        return bounds

    def largest_eigenvalue(self, matrix: MidpointRadius) -> float:
        """Return a number c with ``R <= c W``.

        With V near the eigenvectors of ``M = X R X'``, ``V'MV <= a I`` and ``V'V >= b I`` by Gershgorin, hence
        ``M <= (a / b) I``.
        """
        found = self._change_units(matrix)
        if not np.isfinite(found.bounds).all():
            return np.inf
        try:
            vectors = MidpointRadius.enclose(np.linalg.eigh(convert_to_symmetric_floats(found))[1])
        except np.linalg.LinAlgError:
            return np.inf
        above = (vectors.T @ found @ vectors).bounds.sum(axis=1).max()
        # The columns of V are nearly orthonormal.
        below = 1 - (vectors.T @ vectors - np.eye(len(vectors))).bounds.sum(axis=1).max() * ABOVE
        return float(above / below) * self.slack * ABOVE + _LEAST if below > 0 else np.inf


def _bound_norm(matrix: MidpointRadius) -> float:
    """Compute an upper bound of the norm of a matrix."""
    return float(np.sqrt((matrix.bounds * matrix.bounds).sum())) * ABOVE + _LEAST


def convert_to_symmetric_floats(matrix: MidpointRadius) -> Array:
    """Return a symmetric matrix of floats near one in intervals."""
    near: Array = (matrix.middle + matrix.middle.T) / 2
    return near

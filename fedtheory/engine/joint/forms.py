"""Vectors of each class of clients as linear forms in the vectors at the start of a round, and in the round's noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.arithmetic import Array


@dataclass(frozen=True, eq=False)
class Forms:
    """``state @ (1, s, c_i) + noise @ xi_i`` for each of G classes: s the server's vectors, c_i the client's own."""

    state: Array
    """(G, rows, 1 + server vectors + client vectors)."""
    noise: Array
    """(G, rows, entries of the noise)."""

    def __add__(self, other: Forms) -> Forms:
        return Forms(self.state + other.state, self.noise + other.noise)

    def scale(self, factor: Any) -> Forms:
        """Return a multiple, by one number or one for each class, (G,)."""
        factors = np.asarray(factor)[..., None, None] if isinstance(factor, np.ndarray) else factor
        return Forms(factors * self.state, factors * self.noise)

    def transform(self, matrices: Array) -> Forms:
        """Multiply the vectors of each class by its matrix (G, rows', rows)."""
        return Forms(matrices @ self.state, matrices @ self.noise)

    def shift(self, vector: Array) -> Forms:
        """Add a constant to the vectors, (rows,) for all classes or (G, rows)."""
        state = self.state.copy()
        state[:, :, 0] = state[:, :, 0] + vector
        return Forms(state, self.noise)

    def where(self, chosen: Array, other: Forms) -> Forms:
        """Return these forms for the chosen classes (G,), and `other` for the rest."""
        at = chosen[:, None, None]
        return Forms(np.where(at, self.state, other.state), np.where(at, self.noise, other.noise))

    def covariance(self, noise: Array) -> Array:
        """Return the second moments added by noise with covariances (G, entries, entries): (G, rows, rows)."""
        added: Array = self.noise @ noise @ self.noise.transpose(0, 2, 1)
        return added


def stack_forms(parts: list[Forms]) -> Forms:
    """Stack several vectors of each class into one."""
    return Forms(
        np.concatenate([part.state for part in parts], axis=1), np.concatenate([part.noise for part in parts], axis=1)
    )

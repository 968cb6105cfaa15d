"""The exact fixed point of the second-moment recursion: where a run settles."""

from __future__ import annotations

import numpy as np

from fedtheory.arithmetic import FLOAT, Array, Number, arithmetic_of
from fedtheory.errors import NotApplicable
from fedtheory.moments.recursion import Recursion

_LARGEST = 33
"""Largest size of a homogeneous moment: the recursion's matrix has its fourth power of entries."""


def stationary_moment(recursion: Recursion) -> Array:
    """Second moment (d+1, d+1) that one round leaves unchanged; the limit from every start.

    The recursion is linear, so its matrix is read off by applying one round to
    each basis matrix: exact, for any oracle, meant for small d.  Raises
    `NotApplicable` unless the linear part contracts.
    """
    size = len(recursion.start)
    if size > _LARGEST:
        raise NotApplicable(f"the limit is computed for up to {_LARGEST - 1} dimensions, not {size - 1}")
    arithmetic = arithmetic_of(recursion.start)
    operator = _operator(recursion, arithmetic.identity(size * size).reshape(-1, size, size))
    linear, constant = operator[1:, 1:], operator[1:, 0]
    if np.abs(np.linalg.eigvals(FLOAT.array(linear))).max(initial=0.0) >= 1 - 1e-12:
        raise NotApplicable("the second moments do not contract: the run has no unique limit")
    gap = arithmetic.identity(size * size - 1) - linear
    solved = arithmetic.solve_regular(gap, constant)
    return np.concatenate([arithmetic.identity(1)[0], solved]).reshape(size, size)


def stationary_round_suboptimality(recursion: Recursion) -> Number:
    """Limit over rounds of ``(1/K) sum_{k=1..K} E F(xbar^{n,k}) - F*``."""
    moment = stationary_moment(recursion)
    noise = recursion.noise(moment)
    hessian, maps = recursion.problem.hessian, recursion.average_maps[1:, 1:, :]
    spread = maps @ moment @ maps.transpose(0, 2, 1) + noise.average[1:]
    return (hessian * spread).sum() / (2 * len(maps))


def _operator(recursion: Recursion, basis: Array) -> Array:
    """One round as a matrix on flattened moments whose first entry is 1; the first column is the constant part."""

    def one_round(moment: Array) -> Array:
        return recursion.advance(moment, recursion.noise(moment)).ravel()

    unmoved = one_round(basis[0] - basis[0])
    return np.stack([one_round(basis[0]), *(one_round(moment) - unmoved for moment in basis[1:])], axis=1)

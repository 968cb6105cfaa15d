"""Expected smoothness: the smallest multiple of one quadratic form (curvature) that bounds another one (noise)."""

from __future__ import annotations

from functools import partial

import numpy as np

from fedtheory.arithmetic import RATIONAL, Arithmetic, Array, Number, map_equal_rows, plain_floats, round_to_simplest
from fedtheory.errors import NotApplicable
from fedtheory.federation.problem import Problem

_FLOAT_MARGIN = 1e-10
"""Relative margin added to float results, so that rounding does not make them too small."""


def find_noise_smoothness(problem: Problem, noise_forms: Array) -> Number:
    """Return the smallest l with ``E|n_i(x) - n_i(y)|^2 <= l (y - x)' H_i (y - x)`` for every client.

    n_i is the noise of one sample of client i, and the right side is
    ``2 l (F_i(y) - F_i(x) - <grad F_i(x), y - x>)``.  For batches of B samples of smoothness L_s, drawn
    with replacement, l is at most L_s/B.  Floats are rounded up; rationals are
    at most a millionth larger than the smallest.
    """
    curvatures = noise_forms[:, 1:, 1:]
    if (curvatures == 0).all():
        return problem.arithmetic.number(0, "zero")
    each = map_equal_rows(partial(find_least_multiple, arithmetic=problem.arithmetic), curvatures, problem.hessians)
    return max(each)


def find_least_multiple(form: Array, base: Array, arithmetic: Arithmetic) -> Number:
    """Return the least c for which ``c base - form`` is positive semidefinite, rounded up.

    Both forms are (d, d) and positive semidefinite.
    """
    if (form == 0).all():
        return arithmetic.number(0, "zero")
    found = _find_largest_ratio(plain_floats(form), plain_floats(base))
    if arithmetic is not RATIONAL:
        return found * (1 + _FLOAT_MARGIN)
    multiple = round_to_simplest(found, 1e-7)
    for _ in range(_ATTEMPTS):
        if arithmetic.is_psd(multiple * base - form):
            return multiple
        multiple += multiple / 10_000_000
    raise NotApplicable("the noise is not bounded by a multiple of the client's curvature")


_ATTEMPTS = 10


def _find_largest_ratio(form: Array, base: Array) -> float:
    """Return the largest ``x'form x / x'base x`` over the range of `base`, in floats."""
    values, vectors = np.linalg.eigh(base)
    kept = values > _RANK * values[-1]
    scaled = vectors[:, kept] / np.sqrt(values[kept])
    return float(np.linalg.eigvalsh(scaled.T @ form @ scaled)[-1])


_RANK = 1e-11

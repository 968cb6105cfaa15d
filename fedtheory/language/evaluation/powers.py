"""Powers and roots of measured values."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import Array, plain_float
from fedtheory.errors import NotApplicable, Unresolved
from fedtheory.kernel.expressions import Expr
from fedtheory.language.evaluation.site import Site

_MOST_BITS = 10**7
"""Largest size of a power of a rational, in bits: a longer one would exceed the memory."""


def compute_root(compute: Callable[[Site], Array], degree: int, site: Site) -> Array:
    """Return the root of a degree of a value at a site, in the arithmetic of the site's run."""
    return site.each(partial(site.arithmetic.root, degree=degree), compute(site))


def is_product(node: Expr) -> bool:
    """Return whether a scalar node is a product of powers of numbers and symbols, in which nothing cancels."""
    if node.is_Symbol or node.is_Rational:
        return True
    if node.is_Pow:
        return node.exp.is_Rational and is_product(node.base)
    return bool(node.is_Mul) and all(map(is_product, node.args))


def compute_whole_power(value: Any, exponent: int, cancels: bool = False) -> Any:
    """Return ``value**exponent``; raise `NotApplicable` for divisions by zero and for rationals that are too long.

    If numbers cancel in the value, a float zero may be rounding error: raises `Unresolved`.
    """
    if abs(exponent) > 1000:
        _require_short(np.ravel(value), exponent)
    if exponent >= 0:
        return value**exponent
    if np.any(value == 0):
        is_rounded = cancels and np.asarray(value).dtype != object
        refusal = Unresolved if is_rounded else NotApplicable
        raise refusal("the claim divides by a quantity that is zero on this run")
    return 1 / (value if exponent == -1 else value**-exponent)


def compute_measured_power(value: Array, exponents: Array, node: Expr) -> Array:
    """Return powers with measured exponents, which must be whole numbers; `node` is named in errors."""
    values, powers = np.broadcast_arrays(value, exponents)
    cancels = not is_product(node.as_base_exp()[0])
    raised = np.empty_like(values)
    for place in np.ndindex(*values.shape):
        near = plain_float(powers[place])
        exponent = round(near) if math.isfinite(near) else 0
        if powers[place] != exponent:
            raise NotApplicable(f"the exponent in {node} is not a whole number on this run")
        raised[place] = compute_whole_power(values[place], exponent, cancels)
    return raised


def _require_short(values: Array, exponent: int) -> None:
    """Raise `NotApplicable` for powers of rationals that are too long to be stored."""
    rationals = [value for value in values if isinstance(value, fmpq) and abs(value) not in (0, 1)]
    longest = max((max(int(value.p).bit_length(), int(value.q).bit_length()) for value in rationals), default=0)
    if longest * abs(exponent) > _MOST_BITS:
        raise NotApplicable(f"a power of order {exponent} is too long to be written as a rational")

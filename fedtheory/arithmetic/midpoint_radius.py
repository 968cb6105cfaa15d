"""Arrays of intervals, stored as floats with radii, at the speed of matrix products (Rump 1999, INTLAB).

A `MidpointRadius` contains every array whose entries differ from its midpoints by at most its radii.  It takes part
in NumPy expressions next to rationals and whole numbers, and each result contains the exact result.  The radius of a
result bounds the errors inherited from the operands and the rounding: for sums of n products at most ``n u /
(1 - n u)`` times the sum of their absolute values, in any order of addition, u the unit roundoff (Higham 2002,
section 3.1).  Radii are computed in floats too, and enlarged by a bound on their own rounding error.

NumPy functions without a rule here raise `Unresolved`, so that every result is enclosed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from flint import arb, fmpq
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from fedtheory.arithmetic.enclosures import Enclosure, convert_to_ball
from fedtheory.errors import Unresolved

Floats = NDArray[np.float64]

_UNIT = 2.0**-53
"""Unit roundoff of double precision."""
_TINY = 2.0**-1000
"""Upper bound on the loss by underflow in one operation."""


def _bound_rounding(roundings: int) -> float:
    """Return an upper bound on the relative error of this number of successive roundings."""
    return 2 * (roundings + 4) * _UNIT


def _round_outward(radii: Floats, roundings: int = 8) -> Floats:
    """Return upper bounds of radii that were computed with this number of roundings."""
    return radii * (1 + _bound_rounding(roundings)) + _TINY


class MidpointRadius(NDArrayOperatorsMixin):
    """Intervals with centres `middle` and radii `radius`, two float arrays of equal shape."""

    __slots__ = ("middle", "radius")

    dtype = np.dtype(object)
    """Element type `object`, as for arrays of exact numbers, because comparisons with floats are not allowed."""

    def __init__(self, middle: Floats, radius: Floats) -> None:
        """Store two arrays of one shape; radii are not negative."""
        self.middle, self.radius = middle, radius

    @classmethod
    def enclose(cls, values: Any) -> MidpointRadius:
        """Enclose rationals, enclosures or whole numbers, of any shape; a float is taken as an exact number."""
        if isinstance(values, cls):
            return values
        given = np.asarray(values)
        if given.dtype == np.float64:
            return cls(given.copy(), np.where(np.isfinite(given), 0.0, np.inf))
        pairs = np.array([_enclose_number(value) for value in given.ravel()], dtype=float).reshape(-1, 2)
        return cls(pairs[:, 0].reshape(given.shape), pairs[:, 1].reshape(given.shape))

    def __repr__(self) -> str:
        return f"MidpointRadius({self.middle!r}, {self.radius!r})"

    @property
    def bounds(self) -> Floats:
        """Return for each entry an upper bound of its absolute value."""
        return _round_outward(np.abs(self.middle) + self.radius)

    def enclosures(self) -> NDArray[Any]:
        """Return the entries as `Enclosure`s."""
        found = np.empty(self.shape, dtype=object)
        for place in np.ndindex(self.shape):
            found[place] = Enclosure(_convert_to_arb(float(self.middle[place]), float(self.radius[place])))
        return found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self.enclosures()

    # Shapes and indexing: midpoints and radii are treated alike.

    @property
    def shape(self) -> tuple[int, ...]:
        return self.middle.shape

    @property
    def ndim(self) -> int:
        return self.middle.ndim

    @property
    def size(self) -> int:
        return self.middle.size

    @property
    def T(self) -> MidpointRadius:  # noqa: N802 (as NumPy calls it)
        return self._rearrange_parts(np.transpose)

    def __bool__(self) -> bool:
        raise _report_unknown("the truth")

    def __len__(self) -> int:
        return len(self.middle)

    def __iter__(self) -> Iterator[Any]:
        return (self[place] for place in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        return _wrap_single(MidpointRadius(np.asarray(self.middle[key]), np.asarray(self.radius[key])))

    def __setitem__(self, key: Any, values: Any) -> None:
        given = MidpointRadius.enclose(values)
        self.middle[key], self.radius[key] = given.middle, given.radius

    def transpose(self, *axes: int) -> MidpointRadius:
        return self._rearrange_parts(lambda part: part.transpose(*axes))

    def swapaxes(self, first: int, second: int) -> MidpointRadius:
        return self._rearrange_parts(lambda part: part.swapaxes(first, second))

    def reshape(self, *shape: int) -> MidpointRadius:
        return self._rearrange_parts(lambda part: part.reshape(*shape))

    def ravel(self) -> MidpointRadius:
        return self._rearrange_parts(np.ravel)

    def copy(self) -> MidpointRadius:
        return self._rearrange_parts(np.copy)

    def diagonal(self, *, axis1: int, axis2: int) -> MidpointRadius:
        return self._rearrange_parts(lambda part: part.diagonal(axis1=axis1, axis2=axis2))

    def _rearrange_parts(self, rearranged: Callable[[Floats], Floats]) -> MidpointRadius:
        """Apply a rearrangement to midpoints and radii."""
        return MidpointRadius(rearranged(self.middle), rearranged(self.radius))

    def __getattr__(self, name: str) -> Any:
        # NumPy looks up attributes that may be missing.
        if name.startswith("__"):
            raise AttributeError(name)
        raise _report_unknown(name)

    # Sums, and the largest entry.

    def sum(self, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> Any:
        middle = self.middle.sum(axis=axis, keepdims=keepdims)
        sizes = np.abs(self.middle).sum(axis=axis, keepdims=keepdims)
        return _wrap_single(self._sum(middle, sizes, self.radius.sum(axis=axis, keepdims=keepdims)))

    def cumsum(self, axis: int) -> MidpointRadius:
        return self._sum(self.middle.cumsum(axis), np.abs(self.middle).cumsum(axis), self.radius.cumsum(axis))

    def trace(self, *, axis1: int = 0, axis2: int = 1) -> Any:
        return self.diagonal(axis1=axis1, axis2=axis2).sum(axis=-1)

    def any(self) -> bool:
        """Return whether some entry is certainly not zero."""
        return bool(self.size) and bool((self != 0).any())

    def max(self) -> Any:
        least, most = (self.middle - self.radius).max(), (self.middle + self.radius).max()
        return _wrap_single(_round(least / 2 + most / 2, abs(most - least) + 8 * _UNIT * (abs(most) + abs(least))))

    def _sum(self, middle: Any, sizes: Any, radii: Any) -> MidpointRadius:
        terms = self.size
        return MidpointRadius(
            np.asarray(middle), np.asarray(_round_outward(radii + _bound_rounding(terms) * sizes, terms))
        )

    # Methods of NumPy's protocol.

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        rule = _UFUNCS.get(ufunc.__name__) if method == "__call__" else None
        if rule is None or set(options) - {"out"}:
            raise _report_unknown(ufunc.__name__)
        # An entry that overflows has an infinite or NaN radius, with which every comparison is undecided.
        with np.errstate(over="ignore", invalid="ignore"):
            found = _wrap_single(rule(*map(MidpointRadius.enclose, inputs)))
        for target in options.get("out", ()):
            target[...] = found
            return target
        return found

    def __array_function__(self, function: Any, _types: Any, inputs: Sequence[Any], options: Mapping[str, Any]) -> Any:
        rule = _FUNCTIONS.get(function.__name__)
        if rule is None:
            raise _report_unknown(function.__name__)
        return rule(*inputs, **options)


def _wrap_single(found: Any) -> Any:
    """Return an array unchanged, and a single number as an `Enclosure`, as NumPy returns a scalar."""
    return found.enclosures()[()] if isinstance(found, MidpointRadius) and not found.ndim else found


def _report_unknown(name: str) -> Unresolved:
    """Return the error for an operation that is not implemented for arrays of midpoints and radii."""
    return Unresolved(f"{name} of numbers is not enclosed in floats")


def _enclose_number(value: Any) -> tuple[float, float]:
    """Return a float near an exact number or an interval, and a radius that covers it and the rounding."""
    interval = convert_to_ball(value)
    if isinstance(interval, arb):
        middle = float(interval.mid())
        return middle, float(interval.rad()) * (1 + 4 * _UNIT) + 4 * _UNIT * abs(middle) + _TINY
    if not isinstance(value, int | np.integer | fmpq):
        raise TypeError(f"no enclosure of {type(value).__name__}")
    exact = value if isinstance(value, fmpq) else fmpq(int(value))
    try:
        middle = float(exact)
    except OverflowError:
        return 0.0, np.inf
    missed = abs(exact - fmpq(*middle.as_integer_ratio()))
    return middle, 0.0 if missed == 0 else float(missed) * (1 + 4 * _UNIT) + _TINY


def _convert_to_arb(middle: float, radius: float) -> arb:
    """Return the interval as an arb; infinite if an end is not finite."""
    if not (np.isfinite(middle) and np.isfinite(radius)):
        return arb(0, np.inf)
    return arb(middle, radius)


def _add(left: MidpointRadius, right: MidpointRadius) -> MidpointRadius:
    return _round(left.middle + right.middle, left.radius + right.radius)


def _subtract(left: MidpointRadius, right: MidpointRadius) -> MidpointRadius:
    return _round(left.middle - right.middle, left.radius + right.radius)


def _multiply(left: MidpointRadius, right: MidpointRadius) -> MidpointRadius:
    radius = np.abs(left.middle) * right.radius + left.radius * (np.abs(right.middle) + right.radius)
    return _round(left.middle * right.middle, radius)


def _divide(left: MidpointRadius, right: MidpointRadius) -> MidpointRadius:
    least = (np.abs(right.middle) - right.radius) * (1 - 4 * _UNIT)
    if not (least > 0).all():
        raise Unresolved("division by an enclosure that contains zero")
    middle = left.middle / right.middle
    # A loss by underflow in the numerator would grow with the division.
    missed = _round_outward(left.radius + np.abs(middle) * (1 + 2 * _UNIT) * right.radius + 2 * _TINY * right.radius)
    return _round(middle, missed / least)


def _round(middle: Any, radius: Any) -> MidpointRadius:
    """Return a result whose radius includes one rounding error."""
    return MidpointRadius(np.asarray(middle), np.asarray(_round_outward(radius + 2 * _UNIT * np.abs(middle))))


def _multiply_matrices(left: MidpointRadius, right: MidpointRadius) -> MidpointRadius:
    """Enclose a matrix product, with a bound on its rounding errors."""
    terms = left.shape[-1]
    # A loss by underflow may be multiplied by a large number.
    rounding = _bound_rounding(terms) * np.abs(right.middle) + right.radius + _TINY
    # Radii of zero are frequent, and their products are skipped.
    radius = np.abs(left.middle) @ rounding
    if left.radius.any():
        radius = radius + left.radius @ (np.abs(right.middle) + right.radius)
    return MidpointRadius(
        np.asarray(left.middle @ right.middle), np.asarray(_round_outward(radius + terms * _TINY, 2 * terms))
    )


def _raise_to_power(values: MidpointRadius, exponents: MidpointRadius) -> MidpointRadius:
    """Return the enclosure of x^2; other powers are not implemented."""
    if exponents.ndim or exponents.radius or exponents.middle != 2:
        raise _report_unknown("power")
    return _multiply(values, values)


def _define_comparison(holds: Callable[[Any], Any]) -> Callable[[MidpointRadius, MidpointRadius], NDArray[np.bool_]]:
    """Compare each entry by the sign of the difference; raise `Unresolved` if one is not certain."""

    def rule(left: MidpointRadius, right: MidpointRadius) -> NDArray[np.bool_]:
        gap = _subtract(left, right)
        equal = (left.middle == right.middle) & (left.radius == 0) & (right.radius == 0)
        if not (equal | (np.abs(gap.middle) > gap.radius)).all():
            raise Unresolved("intervals of floats cannot separate two numbers")
        return np.asarray(holds(np.where(equal, 0, np.sign(gap.middle))))

    return rule


_UFUNCS: Mapping[str, Callable[..., Any]] = {
    "add": _add,
    "subtract": _subtract,
    "multiply": _multiply,
    "divide": _divide,
    "matmul": _multiply_matrices,
    "negative": lambda values: MidpointRadius(-values.middle, values.radius),
    "positive": lambda values: values,
    "absolute": lambda values: MidpointRadius(np.abs(values.middle), values.radius),
    "power": _raise_to_power,
    "less": _define_comparison(lambda sign: sign < 0),
    "less_equal": _define_comparison(lambda sign: sign <= 0),
    "greater": _define_comparison(lambda sign: sign > 0),
    "greater_equal": _define_comparison(lambda sign: sign >= 0),
    "equal": _define_comparison(lambda sign: sign == 0),
    "not_equal": _define_comparison(lambda sign: sign != 0),
}


def _join(function: Callable[..., Floats]) -> Callable[..., MidpointRadius]:
    """Apply a function of a sequence of arrays to midpoints and to radii."""

    def rule(arrays: Sequence[Any], *inputs: Any, **options: Any) -> MidpointRadius:
        given = [MidpointRadius.enclose(array) for array in arrays]
        middle = function([each.middle for each in given], *inputs, **options)
        return MidpointRadius(middle, function([each.radius for each in given], *inputs, **options))

    return rule


def _rearrange(function: Callable[..., Floats]) -> Callable[..., MidpointRadius]:
    """Apply a function of one array that only moves or repeats entries."""

    def rule(array: MidpointRadius, *inputs: Any, **options: Any) -> MidpointRadius:
        return MidpointRadius(function(array.middle, *inputs, **options), function(array.radius, *inputs, **options))

    return rule


def _select(chosen: Any, left: Any, right: Any) -> MidpointRadius:
    """Select entries of `left` where `chosen` is true, and of `right` elsewhere."""
    if isinstance(chosen, MidpointRadius):
        raise _report_unknown("where")
    left, right = MidpointRadius.enclose(left), MidpointRadius.enclose(right)
    return MidpointRadius(np.where(chosen, left.middle, right.middle), np.where(chosen, left.radius, right.radius))


def _enclose_outer_product(left: Any, right: Any) -> MidpointRadius:
    """Enclose the outer product of two vectors."""
    first, second = MidpointRadius.enclose(left), MidpointRadius.enclose(right)
    return _multiply(first[:, None], second[None, :])


def _enclose_product(left: Any, right: Any) -> MidpointRadius:
    """Enclose the product of two matrices."""
    first, second = MidpointRadius.enclose(left), MidpointRadius.enclose(right)
    if first.ndim != 2 or second.ndim != 2:
        raise _report_unknown("dot")
    return _multiply_matrices(first, second)


def _enclose_tensordot(left: Any, right: Any, axes: Any) -> Any:
    """Enclose np.tensordot for axes 0, 1 and (0, 0)."""
    first, second = MidpointRadius.enclose(left), MidpointRadius.enclose(right)
    if axes == (0, 0):
        first = _FUNCTIONS["moveaxis"](first, 0, -1)
    elif axes != 1:
        raise _report_unknown("tensordot")
    terms = len(second)
    found = _multiply_matrices(first.reshape(-1, terms), second.reshape(terms, -1))
    return _wrap_single(found.reshape(*first.shape[:-1], *second.shape[1:]))


def _create_empty_like(array: Any) -> MidpointRadius:
    # The array is filled with zeros, so that unassigned entries have definite values.
    return MidpointRadius(np.zeros(np.shape(array)), np.zeros(np.shape(array)))


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "concatenate": _join(np.concatenate),
    "stack": _join(np.stack),
    "column_stack": _join(np.column_stack),
    "broadcast_to": _rearrange(np.broadcast_to),
    "moveaxis": _rearrange(np.moveaxis),
    "where": _select,
    "outer": _enclose_outer_product,
    "repeat": _rearrange(np.repeat),
    "tensordot": _enclose_tensordot,
    "trace": lambda array, axis1, axis2: array.trace(axis1=axis1, axis2=axis2),
    "dot": _enclose_product,
    "empty_like": _create_empty_like,
    "zeros_like": _create_empty_like,
    "shape": lambda array: array.shape,
    "ndim": lambda array: array.ndim,
}

"""Find the units of quantities from runs: the change of a value when the loss and the model change their units."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from fedtheory.arithmetic import FLOAT, plain_float
from fedtheory.engine.run import Run
from fedtheory.errors import FedtheoryError
from fedtheory.language.quantities import RunQuantity
from fedtheory.runfile import parse_run

Units = tuple[Fraction, Fraction]
"""Exponents of the unit of the loss, and of the unit of length of the model."""

_LOSS, _LENGTH = 3, 5
_SETTINGS: tuple[Mapping[str, Any], ...] = (
    {},
    {"participation": {"kind": "uniform", "clients": 1}},
    {"clock": {"policy": "async", "times": ["1", "2"], "ties": "one-by-one"}},
    {"clock": {"policy": "fedfix", "times": ["1", "2"], "interval": "3/2"}},
    {"clock": {"policy": "fedbuff", "times": ["1", "2"], "buffer": 1}},
    {"server_step_size": "1/2"},
    {"name": "fedavgm", "momentum": "1/4"},
    {"local_steps": [1, 4]},
    {"weights": ["1/4", "3/4"]},
    {"name": "scaffnew", "probability": "1/2", "local_steps": 1},
    {"name": "compressed", "coordinates": 1},
    {"name": "fedprox", "proximal": True},
    {"name": "dsgd", "mixing": [["3/4", "1/4"], ["1/4", "3/4"]], "local_steps": 1},
)
"""Kinds of runs; a quantity needs a non-zero value on one of them."""


@cache
def find_units(quantity: RunQuantity) -> Units | None:
    """Return the units of a quantity; None if no run of these kinds gives it a value."""
    found = (_find_units_on(quantity, place) for place in range(len(_SETTINGS)))
    return next((units for units in found if units is not None), None)


def _find_units_on(quantity: RunQuantity, place: int) -> Units | None:
    plain, of_loss, of_length = sizes = [_measure_size(quantity, run) for run in _build_runs(place)]
    if not all(0 < size < math.inf for size in sizes):
        return None
    loss, length = _find_exponent(of_loss / plain, _LOSS), _find_exponent(of_length / plain, _LENGTH)
    shares = 2 if quantity.root else 1
    return None if loss is None or length is None else (loss / shares, length / shares)


def _measure_size(quantity: RunQuantity, run: Run | None) -> float:
    """Return the largest absolute value on a run; zero if it has none."""
    if run is None:
        return 0.0
    try:
        values = [abs(plain_float(value)) for value in np.ravel(np.asarray(quantity.on(run), dtype=object))]
    except (FedtheoryError, ArithmeticError, ValueError):
        return 0.0
    return max(values, default=0.0)


def _find_exponent(ratio: float, base: int) -> Fraction | None:
    """Return the exponent of a power if it is an integer or half-integer; else None."""
    exponent = math.log(ratio) / math.log(base)
    nearest = round(2 * exponent)
    return Fraction(nearest, 2) if abs(2 * exponent - nearest) < 1e-6 else None


@cache
def _build_runs(place: int) -> tuple[Run | None, ...]:
    return tuple(_build_run(place, *scales) for scales in ((1, 1), (_LOSS, 1), (1, _LENGTH)))


def _build_run(place: int, loss: int, length: int) -> Run | None:
    try:
        return parse_run(_build_table(dict(_SETTINGS[place]), Fraction(loss), Fraction(length)), FLOAT)
    except FedtheoryError:
        return None


def _build_table(setting: dict[str, Any], loss: Fraction, length: Fraction) -> dict[str, Any]:
    """Return the table of a run of two clients in the plane, in scaled units."""
    curvature, slope = loss / length**2, loss / length
    problem = {
        "kind": "quadratic",
        "hessians": [_scale([[2, 1], [1, 1]], curvature), _scale([[1, 0], [0, 1]], curvature)],
        "linear": [_scale([1, -2], slope), _scale([-1, 1], slope)],
        "start": _scale([3, 1], length),
        "noise": str(slope**2),
    }
    if "proximal" in setting:
        setting["proximal"] = str(curvature / 2)
    work = {"local_step_size": str(1 / curvature / 16), "local_steps": 3, "rounds": 4}
    return {"problem": problem, "algorithm": work | setting}


def _scale(values: list[Any], scale: Fraction) -> list[Any]:
    return [_scale(value, scale) if isinstance(value, list) else str(value * scale) for value in values]

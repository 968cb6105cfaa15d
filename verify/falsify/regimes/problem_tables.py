"""Objectives at a point (curvatures, gradients at the optimum, noise, start) as a table of rationals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from flint import fmpq

from verify.falsify.regimes.factors import (
    AS_MANY_DRAWS,
    DATA,
    HALF_OF_MANY,
    MOST_SEPARATE,
    Point,
    count,
    has_single_clients,
)
from verify.falsify.run_tables import Table, build_diagonal
from verify.falsify.simple_numbers import round_power

_ONE, _ZERO, _MINUS_ONE = fmpq(1), fmpq(0), fmpq(-1)
_THIN = fmpq(1, 64)
"""Curvature across a nearly rank-one client, as a fraction of the smallest curvature, unless that is extreme itself."""
_MOST_DRAWS = 9
"""Largest number of two-point noise variables that are enumerated for losses that are not quadratic."""
_FEW, _SHORT, _FEW_WITH_DATA = 3, 8, 2
"""Numbers of clients and local steps for such losses, and number of clients with data."""
_LONG = 256
"""Number of local steps for such losses if nothing is random."""
_FAR_ON_LINE = {"Huber": fmpq(3), "kinked": _ONE, "Huber, linear part": fmpq(64), "bounded": fmpq(127, 64)}
"""Starts in units of the width: a bounded loss is flat beyond two of them, where gradient descent is slow."""
_LEAVING_OPTIMUM = ("Huber", "kinked")
"""Losses on which noise or different gradients have an effect if the start is the optimum."""
_WIDE = fmpq(2**26)
"""Width of a term that is a quadratic on the whole path of a run."""
_DRAWN_TWICE = range(4, 33)
"""Numbers of clients of which two are drawn with replacement; a claim may need an enumeration of all pairs."""
_ROWS = {0: 1, 5: 2, -5: 4, -9: 8, 9: 16}
"""Square roots of half the number of rows of a client, by the level of its gradients; most rows are zero."""
_RARE_ROWS = {0: 4, 5: 8, -5: 2, 9: 16}
"""Square roots of half the number of rows of a client if most rows are zero."""


def get_unit_of_values(point: Point) -> fmpq:
    """Return the factor of all objectives."""
    return round_power(point["unit of values"])


def get_unit_of_length(point: Point) -> fmpq:
    """Return the factor of all models."""
    return round_power(point["unit of length"])


def count_clients(point: Point) -> int:
    """Return M, which is small where outcomes are enumerated."""
    loss, clients = point.get("loss"), count(point["clients"])
    if loss is None or (has_one_outcome(point) and not has_single_clients(point)):
        return clients
    return min(clients, _FEW_WITH_DATA if loss in DATA else _FEW)


def count_participants(point: Point) -> int:
    """Return the number of participants of a round; with replacement, of few clients two are drawn, else one or all."""
    clients, law = count_clients(point), point.get("participation")
    if law in (None, AS_MANY_DRAWS):
        return clients
    if law in ("half", HALF_OF_MANY):
        return max(clients // 2, 1)
    return 2 if law == "multinomial" and clients in _DRAWN_TWICE else 1


def count_local_steps(point: Point) -> int:
    """Return the local steps of a round, few where outcomes are enumerated."""
    steps, coins = count(point["local steps"]), count_coins(point)
    if has_one_outcome(point):
        return min(steps, _LONG)
    return min(steps, _SHORT, _MOST_DRAWS // coins if coins else _SHORT) if point.get("loss") else steps


def has_one_outcome(point: Point) -> bool:
    """Return whether a run on scalar losses has no randomness and no clock, so that it may be long."""
    is_scalar = point.get("loss") not in (None, *DATA)
    return is_scalar and "n" not in point["sources"] and not point.get("participation") and not point.get("clock")


def count_coins(point: Point) -> int:
    """Return the number of clients whose noise is enumerated."""
    is_enumerated = point.get("loss") not in (None, *DATA) and "n" in point["sources"]
    return (count_clients(point) if point["noisy clients"] == "all" else 1) if is_enumerated else 0


def limit_enumerated_steps(point: Point) -> int | None:
    """Return the largest number of local steps for which outcomes are enumerated; None without enumeration."""
    coins = count_coins(point)
    return _MOST_DRAWS // coins if coins else None


def build_problem(point: Point) -> Table:
    """Return the `[problem]` table of a run."""
    loss = point.get("loss")
    build = _build_quadratics if loss is None else _build_data if loss in DATA else _build_scalar_losses
    found = build(point)
    weights = _build_weights(point)
    if weights is not None:
        return found | {"weights": weights}
    most = count(MOST_SEPARATE) if point.get("loss") is None else _FEW
    return _merge_equal_clients(found) if count_clients(point) > most else found


def _merge_equal_clients(problem: Table) -> Table:
    """Return the problem with one client for each type, and the number of clients of each type."""
    keys = [key for key in ("hessians", "linear", "noise", "terms") if key in problem]
    types: list[list[Any]] = []
    counts: list[int] = []
    for client in zip(*(problem[key] for key in keys), strict=True):
        entry = list(client)
        if entry in types:
            counts[types.index(entry)] += 1
        else:
            types.append(entry)
            counts.append(1)
    return problem | {key: [entry[n] for entry in types] for n, key in enumerate(keys)} | {"count": counts}


def _build_weights(point: Point) -> list[fmpq] | None:
    clients, kind = count_clients(point), point.get("weights")
    if kind is None or clients == 1:
        return None
    first = fmpq(1, 1000 * clients) if kind == "one tiny" else fmpq(9, 10) + fmpq(1, 10 * clients)
    return [first] + [(1 - first) / (clients - 1)] * (clients - 1)


def _build_gradients(point: Point) -> list[fmpq]:
    """Return the clients' gradients at the optimum along one direction; their weighted average is zero."""
    clients = count_clients(point)
    if "p" not in point["sources"] or clients == 1:
        return [_ZERO] * clients
    shares = _build_weights(point) or [fmpq(1, clients)] * clients
    if point["unlike gradients"] == "one":
        gradients = [_ONE] + [_ZERO] * (clients - 1)
    else:
        gradients = [_ONE if client % 2 == 0 else _MINUS_ONE for client in range(clients)]
    mean = sum((share * gradient for share, gradient in zip(shares, gradients, strict=True)), _ZERO)
    largest = max(abs(gradient - mean) for gradient in gradients)
    unit = round_power(point["gradients"]) / largest
    return _map_once(gradients, lambda gradient: (gradient - mean) * unit)


def _build_noise(point: Point) -> list[fmpq] | None:
    """Return the variance of each client's gradients; None without noise."""
    clients = count_clients(point)
    if "n" not in point["sources"]:
        return None
    variance = round_power(2 * point["noise"])
    return [variance] * clients if point["noisy clients"] == "all" else [variance] + [_ZERO] * (clients - 1)


def _build_quadratics(point: Point) -> Table:
    values, length = get_unit_of_values(point), get_unit_of_length(point)
    hessians = _negate_curvatures(point, _build_hessians(point))
    dimension = len(hessians[0])
    along = [1, 0] if point["curvatures"] == "rank one" or point["unlike gradients"] == "signs" else [1, 1]
    along += [0] * (dimension - len(along))
    gradients = _map_once(_build_gradients(point), lambda gradient: [gradient * part for part in along[:dimension]])
    found: Table = {
        "kind": "quadratic",
        "hessians": _map_once(hessians, lambda hessian: [[entry * values for entry in row] for row in hessian]),
        "linear": _map_once(gradients, lambda gradient: [entry * values * length for entry in gradient]),
        "start": [entry * length for entry in _build_start(point, dimension)],
    }
    noise = _build_noise(point)
    if noise is None:
        return found
    return found | {"noise": _map_once(noise, lambda variance: variance * (values * length) ** 2)}


def _map_once(values: Sequence[Any], change: Callable[[Any], Any]) -> list[Any]:
    """Map each value once; clients with equal values share the result."""
    changed: dict[int, Any] = {}
    for value in values:
        if id(value) not in changed:
            changed[id(value)] = change(value)
    return [changed[id(value)] for value in values]


def _build_start(point: Point, dimension: int) -> list[fmpq]:
    far = _ONE if "s" in point["sources"] else _ZERO
    return {
        "both": [far] * dimension,
        "flat": [_ZERO] * (dimension - 1) + [far],
        "steep": [far] + [_ZERO] * (dimension - 1),
        "minus": [-far] * dimension,
    }[point["direction"]]


def _find_dimension(point: Point) -> int:
    planar = 2 if point["curvatures"] in ("diagonal", "rank one", "crossed") else 1
    return max(planar, count(point.get("dimension", 0)))


def _build_hessians(point: Point) -> list[list[list[fmpq]]]:
    clients, dimension = count_clients(point), _find_dimension(point)
    flat = round_power(point["conditioning"])
    steep, level = build_diagonal([_ONE] * dimension), build_diagonal([flat] * dimension)
    one_flat_direction = build_diagonal([_ONE] + [flat] * (dimension - 1))
    pairs = {
        "alike": (steep, steep),
        "alternate": (steep, level),
        "diagonal": (one_flat_direction, one_flat_direction),
        "crossed": (one_flat_direction, build_diagonal([flat] + [_ONE] * (dimension - 1))),
        "rank one": (_build_thin(point, dimension, flat, 1), _build_thin(point, dimension, flat, -1)),
    }
    if point["curvatures"] == "one steep":
        return [steep] + [level] * (clients - 1)
    if point["curvatures"] == "one flat":
        return [level] + [steep] * (clients - 1)
    return [pairs[point["curvatures"]][client % 2] for client in range(clients)]


def _build_thin(point: Point, dimension: int, flat: fmpq, sign: int) -> list[list[fmpq]]:
    """Return a Hessian with one large curvature, along a direction at a small angle to the first axis."""
    slope = sign * round_power(point["angle"])
    across = flat * flat if (point["conditioning"] or 0) < -5 else flat * _THIN
    found = build_diagonal([_ONE + across, slope * slope + across, *[_ONE] * (dimension - 2)])
    found[0][1] = found[1][0] = slope
    return found


def _negate_curvatures(point: Point, hessians: list[list[list[fmpq]]]) -> list[list[list[fmpq]]]:
    """Negate the curvature of one client, or the last curvature of all clients."""
    kind = point.get("negative curvature")
    if kind is None:
        return hessians
    if kind == "all":
        return _map_once(hessians, _negate_last_curvature)
    half = [[[-entry / 2 for entry in row] for row in hessian] for hessian in hessians[:1]]
    return half + hessians[1:] if len(hessians) > 1 else [_negate_last_curvature(hessian) for hessian in hessians]


def _negate_last_curvature(hessian: list[list[fmpq]]) -> list[list[fmpq]]:
    last = len(hessian) - 1
    return [
        [-entry if row == last and column == last else entry for column, entry in enumerate(entries)]
        for row, entries in enumerate(hessian)
    ]


def _build_scalar_losses(point: Point) -> Table:
    values, length, clients = get_unit_of_values(point), get_unit_of_length(point), count_clients(point)
    flat = round_power(point["conditioning"]) or fmpq(1, 4)
    alike = point["curvatures"] in ("alike", "diagonal")
    curved = [_ONE if alike or client % 2 == 0 else flat for client in range(clients)]
    terms = [
        [
            {
                "coordinate": 0,
                "weight": str(weight * values),
                "centre": str(centre * length),
                "width": str(width * length),
            }
            for weight, centre, width in _list_terms(point["loss"], curve, gradient, flat)
        ]
        for curve, gradient in zip(curved, _build_gradients(point), strict=True)
    ]
    is_far = "s" in point["sources"] or point["loss"] not in _LEAVING_OPTIMUM
    start = (_FAR_ON_LINE[point["loss"]] if is_far else _ZERO) * length * (-1 if point["direction"] == "minus" else 1)
    kind = "hampel" if point["loss"] == "bounded" else "huber"
    found: Table = {"kind": kind, "terms": terms, "start": [str(start)]}
    noise = _build_noise(point)
    return found if noise is None else found | {"noise": [str(entry * (values * length) ** 2) for entry in noise]}


def _list_terms(loss: str, curve: fmpq, gradient: fmpq, flat: fmpq) -> list[tuple[fmpq, fmpq, fmpq]]:
    """Return weight, centre and width of terms whose sum has the required gradient at zero.

    A kinked loss is curved on one side of zero and flat on the other, so that noise shifts the expectation.
    """
    if loss == "kinked":
        return [(curve, _ONE, _ONE), (flat, -(curve + gradient) / flat, _WIDE)]
    return [(curve, gradient, _ONE)]


def _find_root_of_half_the_rows(point: Point) -> int:
    level = int(point["gradients"])
    return _RARE_ROWS.get(level, _RARE_ROWS[0]) if point["loss"] == "rare rows" else _ROWS.get(level, 1)


def find_largest_step(point: Point) -> float:
    """Return the step size at which a step on a rare row reverses its error; infinite for other losses."""
    return 1 / _find_root_of_half_the_rows(point) ** 2 if point.get("loss") == "rare rows" else math.inf


def _build_data(point: Point) -> Table:
    """Return least squares with few nonzero rows, so that mini-batches of one have heavy tails."""
    clients, size = count_clients(point), _find_root_of_half_the_rows(point)
    rows, has_two = 2 * size * size, point["curvatures"] == "alternate"
    row = [[str(fmpq(size))]] * (2 if has_two else 1)
    gradients = [[str(gradient), *([str(-gradient)] if has_two else [])] for gradient in _build_gradients(point)]
    found: Table = {
        "kind": "least-squares",
        "inputs": [row + [["0"]] * (rows - len(row)) for _ in range(clients)],
        "outputs": [gradient + ["0"] * (rows - len(gradient)) for gradient in gradients],
        "start": [str(_ONE if "s" in point["sources"] else _ZERO)],
    }
    return found | {"batch": 1} if "n" in point["sources"] else found

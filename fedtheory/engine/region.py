"""Regions on which an assumption must hold: all of space, or a ball that provably contains the run.

Quadratics with different Hessians have unbounded gradient dissimilarity on all
of space, and mini-batch noise is unbounded there too; on a ball both are
finite.  All balls are centred at the optimum x*.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from flint import fmpq

from fedtheory.arithmetic import FLOAT, Array, Number, arithmetic_of, plain_float, plain_floats, round_to_simplest
from fedtheory.errors import InputError, NotApplicable
from fedtheory.federation import Algorithm
from fedtheory.federation.oracles import StepBound
from fedtheory.federation.problem import Problem


@dataclass(frozen=True)
class Everywhere:
    """All of space."""

    description = "all of space"


BALL = "the ball of radius"
"""Beginning of the description of a ball."""


@dataclass(frozen=True)
class Ball:
    """The points within `radius` of x*."""

    radius: Number
    argument: str
    """The argument why no iterate leaves the ball."""
    grows: bool
    """Whether the radius grows with the number of rounds."""

    @property
    def description(self) -> str:
        """The ball in words."""
        return f"{BALL} {plain_float(self.radius):.4g} about x*, which contains the run: {self.argument}"


@dataclass(frozen=True)
class AlongRun:
    """The points that one run visits: a constant there is a property of the run, not of the problem."""

    description = "this run alone (a constant of the run, not of the problem)"


Region = Everywhere | Ball | AlongRun

_FLOAT_MARGIN = 1e-8
"""Relative margin added to float suprema, so that rounding does not make them too small."""


def find_containing_ball(problem: Problem, algorithm: Algorithm) -> Ball:
    """Return a ball about x* that no iterate of the run can leave, for noise of bounded support.

    A local step with ``eta l <= 2`` (l the largest curvature a step can see) is
    nonexpansive up to ``eta (|grad F_i(x*)| + noise)``; averaging with weights
    that sum to one and ``eta_g <= 1`` cannot leave a ball.  With strong
    convexity the steps contract and the radius does not grow with the horizon.
    Raises `NotApplicable` if this argument does not apply.
    """
    if not algorithm.is_fedavg_of_changing_steps:
        algorithm.require_update_rule("a ball that contains the run is known for the update rule")
    _require_averaging(problem, algorithm)
    step = algorithm.largest_step_size
    if not problem.has_convex_clients:
        raise NotApplicable(
            "no bounded region is known to contain the run: a local step expands where a client is not convex"
        )
    bound = _find_step_bound(problem)
    if step * bound.curvature > 2:
        sizes = f"step size {plain_float(step):.4g} * curvature {plain_float(bound.curvature):.4g} > 2"
        way_out = f"from step size {plain_float(2 / bound.curvature):.4g} down it cannot"
        raise NotApplicable(
            f"no bounded region is known to contain the run: a single step can expand ({sizes}; {way_out})"
        )
    start = problem.arithmetic.upper_sqrt(problem.centred.start @ problem.centred.start)
    total = max(algorithm.work.steps) * algorithm.rounds
    argument = f"{bound.law}each of {total} local steps {_MOVES}"
    growing = Ball(start + step * bound.push * total, argument, grows=bound.push > 0)
    if bound.contraction == 0 or step * (bound.curvature + bound.contraction) > 2:
        return growing
    steady = Ball(max(start, bound.push / bound.contraction), f"{bound.law}each local step {_CONTRACTS}", grows=False)
    return steady if steady.radius <= growing.radius else growing


@lru_cache(maxsize=4)
def _find_step_bound(problem: Problem) -> StepBound:
    """Return bounds on one step of any client, relative to x*, which do not depend on the algorithm."""
    return problem.oracle.translate(problem.optimum).step_bound(problem.hessians, problem.centred.linear)


_MOVES = "moves away by at most eta times the largest gradient at x*"
_CONTRACTS = "contracts towards x* up to the largest gradient there over the strong convexity"


def _require_averaging(problem: Problem, algorithm: Algorithm) -> None:
    algorithm.require_synchronous("a ball contains runs whose server averages the clients' models")
    aggregation = algorithm.aggregation
    averages = aggregation.chosen is None and aggregation.participation.averages(problem.weights)
    if aggregation.server_step_size > 1 or not averages:
        raise NotApplicable(
            "no bounded region is known to contain the run: the server's step is not an average of the clients"
        )


def bound_supremum_on_ball(form: Array, linear: Array, constant: Number, radius: Number) -> Number:
    """Return an upper bound, tight up to rounding, on ``u'Qu + 2 q'u + c`` over ``|u| <= radius``.

    Q is the symmetric `form`, q is `linear`, and c is `constant`.
    Lagrange duality: for every multiplier m with ``m I - Q`` positive
    semidefinite, ``m radius^2 + c + q'(m I - Q)^+ q`` is an upper bound, and the
    best one is attained.  The multiplier is computed in floats; the bound is
    evaluated in the given arithmetic.
    """
    arithmetic = arithmetic_of(form)
    if radius == 0:
        return constant
    multiplier: Any = arithmetic.number(_round_multiplier(*_find_best_multiplier(form, linear, radius)), "multiplier")
    identity = arithmetic.identity(len(form))
    for _ in range(60):
        slack = multiplier * identity - form
        if arithmetic.is_psd(slack):
            try:
                bound = multiplier * radius * radius + constant + linear @ arithmetic.solve(slack, linear)
            except InputError:
                pass
            else:
                return bound if arithmetic is not FLOAT else bound + _FLOAT_MARGIN * abs(bound)
        multiplier = multiplier + (multiplier / 1_000_000 if multiplier > 0 else arithmetic.number("1e-18", "step"))
    raise NotApplicable("the supremum over the ball could not be bounded")


def bound_suprema_on_ball(forms: Array, radius: float) -> Array:
    """Return `supremum_on_ball` of many forms (N, d+1, d+1) in (1, u), in floats, computed together, (N,).

    The multiplier of each is the root of its secular equation, or slightly above the largest curvature if the
    maximiser is in the interior of the ball.
    """
    constants, sloped, reach = forms[:, 0, 0], forms[:, 1:, 0], float(radius)
    if reach == 0:
        return constants.copy()
    if not (np.isfinite(forms).all() and np.isfinite(reach) and reach > 0):
        raise NotApplicable("the supremum over the ball could not be bounded: its numbers leave double precision")
    values, vectors = np.linalg.eigh(forms[:, 1:, 1:])
    units = np.maximum(np.abs(sloped).max(axis=1), reach)
    entries = (vectors.swapaxes(-1, -2) @ sloped[..., None])[..., 0] / units[:, None]
    multipliers, _ = _solve_secular_equations(values, entries, reach / units)
    added = (entries**2 / (multipliers[:, None] - values)).sum(axis=1) * units**2
    bounds = multipliers * reach**2 + constants + added
    return np.asarray(bounds + _FLOAT_MARGIN * np.abs(bounds))


def may_be_largest(forms: Array, curvatures: Array, radius: Number) -> Array:
    """Return the indices of forms (N, d+1, d+1) in (1, u) whose supremum over ``|u| <= radius`` may be the largest.

    `curvatures` (N,) are the largest eigenvalues of their quadratic parts.
    Norms bound each supremum from above; the point along its linear term, and zero, bound it from below.
    """
    curved, sloped, constants = forms[:, 1:, 1:], forms[:, 1:, 0], forms[:, 0, 0]
    norms = np.linalg.norm(sloped, axis=1)
    above = constants + np.maximum(curvatures, 0.0) * radius**2 + 2 * norms * radius
    ends = radius * sloped / np.where(norms > 0, norms, 1.0)[:, None]
    values = constants + ((curved @ ends[..., None])[..., 0] * ends).sum(axis=1) + 2 * (sloped * ends).sum(axis=1)
    least = np.maximum(values, constants).max()
    # Forms with NaN are included.
    return np.flatnonzero(~(above < least - _ROUNDED * abs(least)))


_ROUNDED = 1e-9


def _round_multiplier(multiplier: float, pole: float) -> fmpq:
    """Return a short rational near a multiplier, by a small part of its distance from the largest curvature, a pole.

    The bound grows by the squared error of the multiplier over that distance.
    """
    distance = (multiplier - pole) / multiplier if multiplier > pole else 1.0
    return round_to_simplest(multiplier, min(_SHORT, _OF_DISTANCE * distance))


def _find_best_multiplier(form: Array, linear: Array, radius: Number) -> tuple[float, float]:
    """Return the multiplier of the smallest bound, and the largest curvature if that is positive, else zero."""
    reach, curved, sloped = plain_float(radius), plain_floats(form), plain_floats(linear)
    if not (np.isfinite(curved).all() and np.isfinite(sloped).all() and np.isfinite(reach) and reach > 0):
        raise NotApplicable("the supremum over the ball could not be bounded: its numbers leave double precision")
    # Scaled by the larger of both, their squares do not overflow.
    unit = max(float(np.abs(sloped).max()), reach)
    values, vectors = np.linalg.eigh(curved)
    entries, lowest = vectors.T @ (sloped / unit), float(max(values[-1], 0.0))
    multipliers, has_root = _solve_secular_equations(values[None], entries[None], np.array([reach / unit]))
    return float(multipliers[0]) if has_root[0] else lowest, lowest


def _solve_secular_equations(values: Array, entries: Array, reaches: Array) -> tuple[Array, Array]:
    """Return for each of N forms the m with ``|(m I - Q)^-1 q| = reach``, (N,), and whether it has one, (N,).

    Where there is none above the largest curvature and zero, m is slightly above these.  `values` (N, d) are the
    eigenvalues of Q, and `entries` (N, d) those of q in its eigenvectors.
    Newton's method on the reciprocals, which are concave in m, increases monotonically to m from below
    (Conn, Gould, Toint 2000, Trust-Region Methods, section 7.3).
    """
    if not (reaches**2).all():
        raise NotApplicable("the supremum over the ball could not be bounded: the ball is too small for floats")
    # Powers of two change no digits, and keep the squares of tiny numbers from vanishing.
    sizes = np.maximum(np.abs(values).max(axis=1), np.abs(entries).max(axis=1) / reaches)
    units = np.ldexp(1.0, np.frexp(sizes)[1] - 1)
    values, entries = values / units[:, None], entries / units[:, None]
    lowest = np.maximum(values[:, -1], 0.0)
    width = np.linalg.norm(entries, axis=1) / reaches
    starts = lowest + 1e-12 * np.maximum(np.maximum(lowest, width), 1e-80)
    multipliers, active = starts.copy(), np.arange(len(values))
    while len(active):
        gaps = multipliers[active, None] - values[active]
        squares = (entries[active] / gaps) ** 2
        squared_norms = squares.sum(axis=1)
        steps = (
            (np.sqrt(squared_norms) / reaches[active] - 1)
            * squared_norms
            / np.maximum((squares / gaps).sum(axis=1), 1e-300)
        )
        goes_on = steps > _CLOSE * multipliers[active]
        multipliers[active[goes_on]] += steps[goes_on]
        active = active[goes_on]
    return multipliers * units, multipliers > starts


_SHORT, _OF_DISTANCE = 1e-7, 0.1
"""Relative rounding of a multiplier, and its largest part of the multiplier's distance from a pole."""
_CLOSE = 4e-16
"""Relative step size below which floats near a root cannot improve."""

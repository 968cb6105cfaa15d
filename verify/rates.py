"""O(.) statements: exact runs over a geometric ladder of horizons, and the exact limit.

A quantity that tends to a positive limit is not O of an order that vanishes:
that refutes.  Otherwise the ratio of quantity to order is fitted over the last
half of the ladder; a slope that does not rise supports the rate, with the
largest ratio as its constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache

import numpy as np
import sympy as sp

from fedtheory.arithmetic import FLOAT, NEAR_TIE, Number, plain_float
from fedtheory.claim import Claim, Rate
from fedtheory.errors import Diverging, NotApplicable
from fedtheory.evaluation import Compiled, whole_run
from fedtheory.expressions import Expr
from fedtheory.quantities.notion import Notion, Quantity
from fedtheory.region import Ball
from fedtheory.run import Run
from verify.compare import compile_side

LADDER = (1, 4, 16, 64, 256)
"""Horizons T; powers of four, so that step sizes with sqrt(T) stay rational."""

LONGER = (1024, 4096)
"""Further rungs where the first ones do not decide."""

RISING = 0.1
"""Slope of log(quantity / order) over log T above which a rate is not supported."""


@dataclass(frozen=True)
class Rung:
    """One horizon of the ladder."""

    horizon: int
    measured: Number
    order: Number


@dataclass(frozen=True)
class RateCheck:
    """The ladder of one run, and what it says."""

    holds: bool | None
    rungs: tuple[Rung, ...]
    slope: float | None
    """Fitted slope of log(measured) over log T on the last half of the ladder."""
    constant: float | None
    """Largest measured / order on the ladder."""
    limit: Number | None
    """Exact limit of the quantity for T to infinity at constant step size, where there is one."""


@dataclass(frozen=True, eq=False)
class _CompiledRate:
    measured: Compiled
    order: Compiled
    step_size: Compiled | None
    constant: Compiled | None
    limit: Compiled | None


@cache
def _compiled(claim: Claim) -> _CompiledRate:
    rate, notation = _rate(claim), claim.notation
    settled = {s: replace(n, measure=n.limit) for s, n in notation.items() if isinstance(n, Quantity) and n.limit}

    def optional(expression: Expr | None, at: Mapping[sp.Symbol, Notion] = notation) -> Compiled | None:
        return None if expression is None else compile_side(claim, expression, "run", at)

    return _CompiledRate(
        compile_side(claim, rate.measured, "run"),
        compile_side(claim, rate.order, "run"),
        optional(rate.step_size),
        optional(rate.constant),
        optional(_symbolic_limit(rate, notation), {**notation, **settled}),
    )


def _symbolic_limit(rate: Rate, notation: Mapping[sp.Symbol, Notion]) -> Expr | None:
    """Limit of the measured expression for ever longer horizons, where it is known and the order vanishes."""
    symbols = rate.measured.free_symbols - {rate.horizon}
    known = all(isinstance(n, Quantity) and (n.is_constant or n.limit) for n in (notation[s] for s in symbols))
    if rate.step_size is not None or not known or sp.limit(rate.order, rate.horizon, sp.oo) != 0:
        return None
    return sp.limit(rate.measured, rate.horizon, sp.oo)


def _rate(claim: Claim) -> Rate:
    if claim.rate is None:
        raise ValueError(f"{claim.id} is not a rate")
    return claim.rate


def check_rate(claim: Claim, run: Run) -> RateCheck:
    """Climb the ladder from a run's problem and algorithm; the run's own number of rounds does not matter."""
    compiled = _compiled(claim)
    _require_fixed_constants(claim, run)
    limit = _limit(compiled, run)
    found = _climb(compiled, run, LADDER, limit)
    if found.holds is not None or run.arithmetic is not FLOAT:
        return found
    # A ladder on which the asymptotic regime is not reached is made longer, once; rationals would grow too long.
    return _climb(compiled, run, (*LADDER, *LONGER), limit)


def _climb(compiled: _CompiledRate, run: Run, ladder: tuple[int, ...], limit: Number | None) -> RateCheck:
    rungs = tuple(_rung(compiled, run, horizon) for horizon in ladder)
    scale = max(abs(plain_float(rung.measured)) for rung in rungs)
    # Only floats have a rounding error that could pass for a limit.
    rounding = NEAR_TIE * scale if run.arithmetic is FLOAT else 0
    if limit is not None and (abs(limit) > rounding):
        return RateCheck(False, rungs, _slope(rungs), None, limit)
    ratios = [abs(plain_float(rung.measured / rung.order)) for rung in rungs]
    if compiled.constant is not None:
        stated = compiled.constant(whole_run(run)).item()
        return RateCheck(_within(rungs, stated), rungs, _slope(rungs), max(ratios), limit)
    if scale == 0:
        return RateCheck(True, rungs, None, 0.0, limit)
    rising = _fit([rung.horizon for rung in rungs], ratios)
    return RateCheck(True if rising <= RISING else None, rungs, _slope(rungs), max(ratios), limit)


def _within(rungs: tuple[Rung, ...], constant: Number) -> bool | None:
    """Whether measured <= constant * order on all rungs; None for a near tie of floats."""
    verdicts = [_at_most(rung.measured, constant * rung.order) for rung in rungs]
    if False in verdicts:
        return False
    return None if None in verdicts else True


def _at_most(smaller: Number, larger: Number) -> bool | None:
    if isinstance(smaller, float) and abs(larger - smaller) <= NEAR_TIE * (abs(larger) + abs(smaller)):
        return None if larger != smaller else True
    return bool(smaller <= larger)


def _rung(compiled: _CompiledRate, run: Run, horizon: int) -> Rung:
    longer = _longer(run, horizon)
    if compiled.step_size is not None:
        longer = _run_with_step(run, horizon, compiled.step_size(whole_run(longer)).item())
    site = whole_run(longer)
    return Rung(horizon, compiled.measured(site).item(), compiled.order(site).item())


@lru_cache(maxsize=4 * len(LADDER))
def _longer(run: Run, horizon: int) -> Run:
    """The run with another number of rounds; kept, as several rates climb the same ladder."""
    return run.with_rounds(horizon)


@lru_cache(maxsize=4 * len(LADDER))
def _run_with_step(run: Run, horizon: int, step_size: Number) -> Run:
    return run.with_rounds(horizon).with_work(run.algorithm.work.steps, step_size)


def _limit(compiled: _CompiledRate, run: Run) -> Number | None:
    if compiled.limit is None:
        return None
    try:
        return compiled.limit(whole_run(run)).item()
    except (NotApplicable, Diverging):
        return None


def _require_fixed_constants(claim: Claim, run: Run) -> None:
    """A rate needs constants that do not depend on the horizon."""
    regions = [run.noise_variance.region, run.dissimilarity_sq.region] if claim.assumptions else []
    if any(isinstance(region, Ball) and region.grows for region in regions):
        raise NotApplicable("the constants hold on a ball that grows with the number of rounds")


def _slope(rungs: tuple[Rung, ...]) -> float | None:
    values = [abs(plain_float(rung.measured)) for rung in rungs]
    return _fit([rung.horizon for rung in rungs], values) if min(values) > 0 else None


def _fit(horizons: list[int], values: list[float]) -> float:
    """Least-squares slope of log(value) over log(horizon) on the last half of the ladder."""
    half = len(values) // 2
    kept = np.log(np.maximum(values[half:], 1e-300))
    return float(np.polyfit(np.log(horizons[half:]), kept, 1)[0])

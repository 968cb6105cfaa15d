"""Check O(.) statements on geometric ladders of each variable, and by exact limits.

An exact limit in which the quantity is of a larger order refutes the rate. Otherwise the ratio of quantity to order is
fitted over the last half of each ladder; ladders without a positive slope support the rate, with the largest ratio of
all ladders as its constant. A positive slope is evidence against it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache

import numpy as np
import sympy as sp
from flint import fmpq

from fedtheory.arithmetic import (
    FLOAT,
    NEAR_TIE,
    RATIONAL,
    Array,
    Number,
    plain_float,
    plain_floats,
    refuse_test,
    round_to_simplest,
)
from fedtheory.arithmetic.enclosures import is_enclosed
from fedtheory.engine.constants import Bound
from fedtheory.engine.losses.run import LossRun
from fedtheory.engine.region import Ball
from fedtheory.engine.run import Run
from fedtheory.errors import Diverging, NotApplicable
from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim, Rate
from fedtheory.language.claim_places import list_stacked_sites
from fedtheory.language.evaluation import Compiled, whole_run
from fedtheory.language.quantities.quantity import Quantity, RunQuantity
from verify.check.applicability import check_conditions
from verify.check.growth import Growth, find_growth
from verify.check.ladders import Ladder, list_ladders
from verify.check.links import compile_side
from verify.check.measured_ladders import LadderLevel, MeasuredLadder, RateCheck
from verify.effort import spend

__all__ = ["LadderLevel", "MeasuredLadder", "RateCheck", "check_rate", "refine_rate", "require_ladder"]

_LEAST_GROWTH = 1e-26
"""Fraction of the largest value on all ladders below which floats do not distinguish squares from zero."""
_FEWEST = 3
"""Least number of levels for a slope."""

_Levels = tuple[int, ...]
"""A level of each ladder, in the order of the variables."""


@dataclass(frozen=True, eq=False)
class _CompiledRate:
    ladders: tuple[Ladder, ...]
    measured: Compiled
    order: Compiled
    variables: tuple[Compiled, ...]
    step_size: Compiled | None
    local_steps: Compiled | None
    constant: Compiled | None
    limit: Compiled | None


@cache
def _compile(claim: Claim) -> _CompiledRate:
    assert claim.rate is not None
    rate, notation = claim.rate, claim.notation
    limits = {s: replace(n, measure=n.limit) for s, n in notation.items() if isinstance(n, RunQuantity) and n.limit}

    def optional(expression: Expr | None, at: Mapping[sp.Symbol, Quantity] = notation) -> Compiled | None:
        return None if expression is None else compile_side(claim, expression, "run", at)

    return _CompiledRate(
        tuple(list_ladders(claim).values()),
        compile_side(claim, rate.measured, claim.place),
        compile_side(claim, rate.order, "run"),
        tuple(compile_side(claim, variable, "run") for variable in list_ladders(claim)),
        optional(rate.step_size),
        optional(rate.local_steps),
        optional(rate.constant),
        optional(_find_limit(claim), {**notation, **limits}),
    )


def require_ladder(claim: Claim) -> None:
    """Raise `InputError` if a rate has no ladder on any run."""
    _compile(claim)


def _find_limit(claim: Claim) -> Expr | None:
    """Return the limit of the measured expression as rounds tend to infinity, if it is known and the order vanishes."""
    assert claim.rate is not None
    rate, notation, rounds = claim.rate, claim.notation, _find_rounds_variable(claim)
    if rounds is None or rate.step_size is not None or not _have_limits(rate, notation, rounds):
        return None
    vanishes = sp.limit(rate.order, rounds, sp.oo) == 0
    return sp.limit(rate.measured, rounds, sp.oo) if vanishes else None


def _find_rounds_variable(claim: Claim) -> sp.Symbol | None:
    """Return the variable that stands for the number of rounds, if there is one."""
    return next((variable for variable in list_ladders(claim) if claim.notation[variable].name == "rounds"), None)


def _have_limits(rate: Rate, notation: Mapping[sp.Symbol, Quantity], rounds: sp.Symbol) -> bool:
    """Return whether all measured quantities are constant or have a known limit as rounds tend to infinity."""
    measured = (notation[symbol] for symbol in rate.measured.free_symbols - {rounds})
    return all(isinstance(n, RunQuantity) and bool(n.is_constant or n.limit) for n in measured)


def check_rate(claim: Claim, run: Run) -> RateCheck:
    """Evaluate a rate on the ladders of a run; the horizon of the run does not matter."""
    _require_fixed_constants(claim, run)
    growth, limit = find_growth(claim, run), _compute_limit(_compile(claim), run)
    found = _check_ladders(claim, run, growth, limit, is_longer=False)
    if found.holds is not None or run.arithmetic is not FLOAT or isinstance(run, LossRun):
        return found
    # If the asymptotic regime is not reached, ladders are extended once. This does not happen in rationals, which would
    # grow too long, nor for runs on other losses, which are computed for every outcome.
    return _check_ladders(claim, run, growth, limit, is_longer=True)


def _check_ladders(
    claim: Claim, run: Run, growth: Growth | None, limit: Number | None, *, is_longer: bool
) -> RateCheck:
    compiled = _compile(claim)
    first = _measure_ladder(claim, run, 0, is_longer)
    # Only floats have rounding errors that could look like a limit.
    rounding = NEAR_TIE * first.scale if run.arithmetic is FLOAT else 0
    if growth is None and limit is not None and abs(limit) > rounding:
        growth = Growth(_find_rounds_variable(claim), sp.oo, Fraction(0), limit)
    if growth is not None and growth.exceeds:
        return RateCheck(False, first.levels, None, limit, _select_ladders(claim, run, growth, first), growth)
    ladders = (first, *_list_further_ladders(claim, run, is_longer))
    largest = max(ratio for ladder in ladders for ratio in ladder.ratios)
    if compiled.constant is not None:
        # Use the run on the ladder: there, constants on a ball are the same at all levels.
        start = _list_places(compiled.ladders, 0, is_longer)[0]
        stated = compiled.constant(whole_run(_run_at(claim, run, start))).item()
        return RateCheck(_is_bounded(ladders, stated), first.levels, largest, limit, ladders)
    ladders = _add_slopes(ladders)
    holds = growth is not None or not any(ladder.is_rising for ladder in ladders)
    return RateCheck(True if holds else None, first.levels, largest, limit, ladders, growth)


def _select_ladders(claim: Claim, run: Run, growth: Growth, first: MeasuredLadder) -> tuple[MeasuredLadder, ...]:
    """Return the ladder of the first variable, and that of a variable in which the rate is refuted."""
    number = [*list_ladders(claim)].index(growth.variable)
    return _add_slopes((first,) if number == 0 else (first, _measure_ladder(claim, run, number, is_longer=False)))


def refine_rate(claim: Claim, exact: Run, found: RateCheck) -> RateCheck:
    """Decide a rate that floats leave open: by an exact limit, or in rationals if the value on the run is zero.

    A quantity that is exactly zero satisfies every rate, while floats would fit its rounding errors.
    """
    if exact.arithmetic is RATIONAL and _measure_largest(claim, exact) == 0:
        return check_rate(claim, exact)
    growth = find_growth(claim, exact)
    return found if growth is None else replace(found, holds=not growth.exceeds, growth=growth)


def _list_further_ladders(claim: Claim, run: Run, is_longer: bool) -> list[MeasuredLadder]:
    """Return the ladders of the other variables, and the joint ladder.

    Floats suffice for slopes. A stated constant needs exact numbers, which decide whether it is exceeded.
    """
    is_exact = run.arithmetic is FLOAT or _compile(claim).constant is not None
    near = run if is_exact else run.as_floats()
    alone = [_measure_ladder(claim, near, number, is_longer) for number in range(1, len(list_ladders(claim)))]
    return [*alone, *_measure_jointly(claim, near, is_longer)]


def _measure_ladder(claim: Claim, run: Run, number: int, is_longer: bool) -> MeasuredLadder:
    """Return the ladder of one variable; the others are fixed."""
    compiled = _compile(claim)
    variable, ladder = [*list_ladders(claim)][number], compiled.ladders[number]
    levels = _select_levels(claim, run, _list_places(compiled.ladders, number, is_longer))
    if len(levels) < _FEWEST:
        of = f" of {claim.in_words(variable)}" if number else ""
        raise NotApplicable(f"the conditions hold on {len(levels)} runs of the ladder{of}, fewer than {_FEWEST}")
    positions = tuple(plain_float(level.values[number]) for level in levels)
    return MeasuredLadder((variable,), levels, positions, grows=ladder.limit is sp.oo)


def _measure_jointly(claim: Claim, run: Run, is_longer: bool) -> tuple[MeasuredLadder, ...]:
    """Return the joint ladder of a rate with several variables, if the conditions hold along it."""
    ladders = _compile(claim).ladders
    if len(ladders) == 1 or not all(ladder.climbs_jointly for ladder in ladders):
        return ()
    places = [*zip(*(ladder.jointly(is_longer) for ladder in ladders), strict=True)]
    levels = _select_levels(claim, run, places)
    positions = tuple(float(4**number) for number in range(len(places)))
    return (
        (MeasuredLadder(tuple(list_ladders(claim)), levels, positions, grows=True),)
        if len(levels) == len(places)
        else ()
    )


def _list_places(ladders: tuple[Ladder, ...], number: int, is_longer: bool) -> list[_Levels]:
    """Return the levels of a ladder, with all other variables fixed."""
    held = [ladder.start_level(is_longer) for ladder in ladders]
    steps = ladders[number].steps(number == 0, is_longer)
    return [(*held[:number], step, *held[number + 1 :]) for step in steps]


def _select_levels(claim: Claim, run: Run, places: list[_Levels]) -> tuple[LadderLevel, ...]:
    """Return the levels at which the conditions hold."""
    return tuple(
        _evaluate_level(claim, run, place) for place in places if check_conditions(claim, _run_at(claim, run, place))
    )


def _add_slopes(ladders: tuple[MeasuredLadder, ...]) -> tuple[MeasuredLadder, ...]:
    """Return the ladders with the fitted slopes of their ratios."""
    scale = max(ladder.scale for ladder in ladders)
    return tuple(replace(ladder, rise=_fit_slope(ladder, scale)) for ladder in ladders)


def _fit_slope(ladder: MeasuredLadder, scale: float) -> float:
    """Return the slope of the ratio to the order on a ladder; minus infinity if the quantity is zero."""
    if ladder.scale == 0:
        return 0.0
    resolved = [place for place, level in enumerate(ladder.levels) if _is_resolved(level, scale)]
    return ladder.fit_rise(resolved if len(resolved) >= _FEWEST else range(len(ladder.levels)))


def _is_resolved(level: LadderLevel, scale: float) -> bool:
    """Return whether a value exceeds the square of a rounding error; rationals always do."""
    return not isinstance(level.measured, float) or bool(abs(level.measured) >= _LEAST_GROWTH * scale)


def _is_bounded(ladders: tuple[MeasuredLadder, ...], constant: Number) -> bool | None:
    """Return whether measured <= constant * order on all levels; None for a near tie of floats."""
    verdicts = [_mark_at_most(level.measured, constant * level.order) for ladder in ladders for level in ladder.levels]
    if False in verdicts:
        return False
    return None if None in verdicts else True


def _mark_at_most(smaller: Number, larger: Number) -> bool | None:
    if isinstance(smaller, float) and abs(larger - smaller) <= NEAR_TIE * (abs(larger) + abs(smaller)):
        return None if larger != smaller else True
    if smaller <= larger:
        return True
    return False if smaller > larger else None


@lru_cache(maxsize=64)
def _evaluate_level(claim: Claim, run: Run, place: _Levels) -> LadderLevel:
    """Return the values at a level; cached, as several ladders of a rate share levels."""
    compiled = _compile(claim)
    at = _run_at(claim, run, place)
    whole = whole_run(at)
    first, *others = (variable(whole).item() for variable in compiled.variables)
    found = LadderLevel(first, _measure_largest(claim, at), compiled.order(whole).item(), tuple(others))
    spend(at)
    return found


def _measure_largest(claim: Claim, at: Run) -> Number:
    """Return the value of the rate's quantity on a run; the largest one if it has several places."""
    compiled = _compile(claim)
    measured = max((compiled.measured(site).ravel() for site in list_stacked_sites(claim, at)), key=_find_largest_value)
    return max(measured, key=abs)


def _find_largest_value(values: Array) -> float:
    return float(np.abs(plain_floats(values)).max())


@lru_cache(maxsize=64)
def _run_at(claim: Claim, run: Run, place: _Levels) -> Run:
    compiled = _compile(claim)
    at = run
    # Clients are copied first, because runs that differ only in their number of rounds share the round map.
    for ladder, step in sorted(zip(compiled.ladders, place, strict=True), key=lambda pair: pair[0].place):
        at = _build_run_at(ladder, at, step)
    if compiled.local_steps is not None:
        at = _set_local_steps(at, int(plain_float(compiled.local_steps(whole_run(at)).item()) + NEAR_TIE))
    if compiled.step_size is not None:
        at = _set_step_size(at, _make_rational(compiled.step_size(whole_run(at)).item()))
    return at


@lru_cache(maxsize=64)
def _set_step_size(run: Run, size: Number) -> Run:
    """Return the run with local steps of another size; cached, as several rates use the same run."""
    return run.with_work(run.algorithm.work.steps, size)


def _make_rational(size: Number) -> Number:
    """Return a rational step size, or a rational within 1e-9 of an irrational one."""
    return fmpq(round_to_simplest(plain_float(size), 1e-9)) if is_enclosed(size) else size


@lru_cache(maxsize=64)
def _build_run_at(ladder: Ladder, run: Run, step: int) -> Run:
    """Return the run at a level; cached, as several rates share the ladder."""
    return ladder.at(run, step)


def _set_local_steps(run: Run, steps: int) -> Run:
    """Return the run with another number of local steps per round and about as many iterations."""
    taken = run.algorithm.rounds * max(run.algorithm.work.steps)
    chosen = max(steps, 1)
    changed = run.with_work((chosen,) * run.problem.clients, run.algorithm.work.step_sizes[0])
    return changed.with_rounds(max(taken // chosen, 1))


def _compute_limit(compiled: _CompiledRate, run: Run) -> Number | None:
    if compiled.limit is None:
        return None
    try:
        return compiled.limit(whole_run(run)).item()
    except (NotApplicable, Diverging):
        return None


def _require_fixed_constants(claim: Claim, run: Run) -> None:
    """Raise an error where constants of assumptions hold only on a ball that grows with the horizon.

    The same holds for other constants of the claim if their balls change along the ladder.
    """
    counts_on_balls = any(isinstance(n, RunQuantity) and n.region is not None for n in claim.notation.values())
    for number, ladder in enumerate(_compile(claim).ladders):
        if ladder.limit is sp.oo and (number == 0 or not ladder.is_count):
            _require_fixed_assumptions(claim, run, number, counts_on_balls)


def _require_fixed_assumptions(claim: Claim, run: Run, number: int, counts_on_balls: bool) -> None:
    places = _list_places(_compile(claim).ladders, number, is_longer=False)
    ends = [_run_at(claim, run, places[end]) for end in ((0, -1) if counts_on_balls else (-1,))]
    known = [assumption.require(end) for assumption in claim.assumptions for end in ends]
    bounds = [bound for bound in known if isinstance(bound, Bound)]
    if any(isinstance(bound.region, Ball) and bound.region.grows for bound in bounds):
        raise refuse_test(run.arithmetic, "the constants hold on a ball that grows with the number of rounds")

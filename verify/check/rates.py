"""O(.) statements: exact runs over a geometric ladder of the variable, and the exact limit.

A quantity that tends to a positive limit is not O of an order that vanishes:
that refutes.  Otherwise the ratio of quantity to order is fitted over the last
half of the ladder; a slope that does not rise supports the rate, with the
largest ratio as its constant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache

import numpy as np
import sympy as sp
from flint import arb, fmpq

from fedtheory.arithmetic import FLOAT, NEAR_TIE, Array, Number, plain_float, plain_floats, simplest_near, unanswered
from fedtheory.engine.region import Ball
from fedtheory.engine.run import Bound, Run
from fedtheory.errors import Diverging, NotApplicable
from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim, Rate
from fedtheory.language.evaluation import Compiled, stacked_sites, whole_run
from fedtheory.language.quantities.notion import Notion, Quantity
from verify.check.applicability import conditions_hold
from verify.check.ladders import Ladder, ladder_of
from verify.check.links import compile_side

RISING = 0.1
"""Slope of log(quantity / order) over log(variable), towards its limit, above which a rate is not supported."""
_TOLD_FROM_ZERO = 1e-26
"""Part of the largest value on a ladder below which floats do not tell squares from zero."""
_FEWEST = 3
"""Rungs that a slope needs at least."""


@dataclass(frozen=True)
class Rung:
    """One value of the variable."""

    variable: Number
    measured: Number
    order: Number


@dataclass(frozen=True)
class RateCheck:
    """The ladder of one run, and what it says."""

    holds: bool | None
    rungs: tuple[Rung, ...]
    constant: float | None
    """Largest measured / order on the ladder."""
    limit: Number | None
    """Exact limit of the quantity for ever more rounds at constant step size, where there is one."""

    @cached_property
    def slope(self) -> float | None:
        """Fitted slope of log(measured) over the log of the variable on the last half; None where a value is zero."""
        values = [abs(plain_float(rung.measured)) for rung in self.rungs]
        return _fit(self.rungs, values) if min(values) > 0 else None

    @property
    def is_zero(self) -> bool:
        """Whether the quantity is zero on the whole ladder, which is O of everything."""
        return all(rung.measured == 0 for rung in self.rungs)


@dataclass(frozen=True, eq=False)
class _CompiledRate:
    ladder: Ladder
    measured: Compiled
    order: Compiled
    variable: Compiled
    step_size: Compiled | None
    local_steps: Compiled | None
    constant: Compiled | None
    limit: Compiled | None


@cache
def _compiled(claim: Claim) -> _CompiledRate:
    assert claim.rate is not None
    rate, notation = claim.rate, claim.notation
    settled = {s: replace(n, measure=n.limit) for s, n in notation.items() if isinstance(n, Quantity) and n.limit}

    def optional(expression: Expr | None, at: Mapping[sp.Symbol, Notion] = notation) -> Compiled | None:
        return None if expression is None else compile_side(claim, expression, "run", at)

    return _CompiledRate(
        ladder_of(claim),
        compile_side(claim, rate.measured, claim.place),
        compile_side(claim, rate.order, "run"),
        compile_side(claim, rate.variable, "run"),
        optional(rate.step_size),
        optional(rate.local_steps),
        optional(rate.constant),
        optional(_symbolic_limit(rate, notation), {**notation, **settled}),
    )


def require_ladder(claim: Claim) -> None:
    """Raise `InputError` where a rate cannot be climbed on any run."""
    _compiled(claim)


def _symbolic_limit(rate: Rate, notation: Mapping[sp.Symbol, Notion]) -> Expr | None:
    """Limit of the measured expression for ever more rounds, where it is known and the order vanishes."""
    symbols = rate.measured.free_symbols - {rate.variable}
    known = all(isinstance(n, Quantity) and (n.is_constant or n.limit) for n in (notation[s] for s in symbols))
    if notation[rate.variable].name != "rounds" or rate.step_size is not None or not known:
        return None
    vanishes = sp.limit(rate.order, rate.variable, sp.oo) == 0
    return sp.limit(rate.measured, rate.variable, sp.oo) if vanishes else None


def check_rate(claim: Claim, run: Run) -> RateCheck:
    """Climb the ladder from a run; the run's own value of the variable does not matter, except for step sizes."""
    compiled = _compiled(claim)
    _require_fixed_constants(claim, run)
    limit, ladder = _limit(compiled, run), compiled.ladder
    found = _climb(claim, run, ladder.rungs, limit)
    if found.holds is not None or run.arithmetic is not FLOAT:
        return found
    # A ladder on which the asymptotic regime is not reached is made longer, once; rationals would grow too long.
    return _climb(claim, run, (*ladder.rungs, *ladder.longer), limit)


def _climb(claim: Claim, run: Run, steps: tuple[int, ...], limit: Number | None) -> RateCheck:
    compiled = _compiled(claim)
    rungs = tuple(_rung(claim, run, step) for step in steps if conditions_hold(claim, _run_at(claim, run, step)))
    if len(rungs) < _FEWEST:
        raise NotApplicable(f"the conditions hold on {len(rungs)} rungs of the ladder, fewer than {_FEWEST}")
    scale = max(abs(plain_float(rung.measured)) for rung in rungs)
    # Only floats have a rounding error that could pass for a limit.
    rounding = NEAR_TIE * scale if run.arithmetic is FLOAT else 0
    if limit is not None and (abs(limit) > rounding):
        return RateCheck(False, rungs, None, limit)
    ratios = [abs(plain_float(rung.measured / rung.order)) for rung in rungs]
    if compiled.constant is not None:
        # On the ladder, where constants that hold on a ball are those of all rungs.
        stated = compiled.constant(whole_run(_run_at(claim, run, steps[0]))).item()
        return RateCheck(_within(rungs, stated), rungs, max(ratios), limit)
    if scale == 0:
        return RateCheck(True, rungs, 0.0, limit)
    told = [place for place, rung in enumerate(rungs) if _is_told(rung, run, scale)]
    if len(told) < _FEWEST:
        told = [*range(len(rungs))]
    towards = 1 if compiled.ladder.limit is sp.oo else -1
    rising = towards * _fit([rungs[place] for place in told], [ratios[place] for place in told])
    return RateCheck(True if rising <= RISING else None, rungs, max(ratios), limit)


def _is_told(rung: Rung, run: Run, scale: float) -> bool:
    """Whether a value is more than the square of a rounding error; rationals tell all."""
    return run.arithmetic is not FLOAT or bool(abs(rung.measured) >= _TOLD_FROM_ZERO * scale)


def _within(rungs: tuple[Rung, ...], constant: Number) -> bool | None:
    """Whether measured <= constant * order on all rungs; None for a near tie of floats."""
    verdicts = [_at_most(rung.measured, constant * rung.order) for rung in rungs]
    if False in verdicts:
        return False
    return None if None in verdicts else True


def _at_most(smaller: Number, larger: Number) -> bool | None:
    if isinstance(smaller, float) and abs(larger - smaller) <= NEAR_TIE * (abs(larger) + abs(smaller)):
        return None if larger != smaller else True
    if smaller <= larger:
        return True
    return False if smaller > larger else None


def _rung(claim: Claim, run: Run, step: int) -> Rung:
    compiled = _compiled(claim)
    at = _run_at(claim, run, step)
    # Of a quantity with several places the largest value counts.
    measured = max((compiled.measured(site).ravel() for site in stacked_sites(claim, at)), key=_largest)
    whole = whole_run(at)
    return Rung(compiled.variable(whole).item(), max(measured, key=abs), compiled.order(whole).item())


def _largest(values: Array) -> float:
    return float(np.abs(plain_floats(values)).max())


@lru_cache(maxsize=64)
def _run_at(claim: Claim, run: Run, step: int) -> Run:
    compiled = _compiled(claim)
    at = _plain_run_at(compiled.ladder, run, step)
    if compiled.local_steps is not None:
        at = _with_local_steps(at, int(plain_float(compiled.local_steps(whole_run(at)).item()) + NEAR_TIE))
    if compiled.step_size is not None:
        at = _with_step_size(at, _exact(compiled.step_size(whole_run(at)).item()))
    return at


@lru_cache(maxsize=64)
def _with_step_size(run: Run, size: Number) -> Run:
    """The run with local steps of another size; kept, as several rates shorten them in the same way."""
    return run.with_work(run.algorithm.work.steps, size)


def _exact(size: Number) -> Number:
    """A step size as it is, or a rational within 1e-9 of one that has a root."""
    return fmpq(simplest_near(plain_float(size), 1e-9)) if isinstance(size, arb) else size


@lru_cache(maxsize=64)
def _plain_run_at(ladder: Ladder, run: Run, step: int) -> Run:
    """The run at a rung; kept, as several rates climb the same ladder."""
    return ladder.at(run, step)


def _with_local_steps(run: Run, steps: int) -> Run:
    """About as many iterations in rounds of another number of local steps."""
    taken = run.algorithm.rounds * max(run.algorithm.work.steps)
    chosen = max(steps, 1)
    changed = run.with_work((chosen,) * run.problem.clients, run.algorithm.work.step_sizes[0])
    return changed.with_rounds(max(taken // chosen, 1))


def _limit(compiled: _CompiledRate, run: Run) -> Number | None:
    if compiled.limit is None:
        return None
    try:
        return compiled.limit(whole_run(run)).item()
    except (NotApplicable, Diverging):
        return None


def _require_fixed_constants(claim: Claim, run: Run) -> None:
    """As a horizon grows, the constants of the assumptions must stay: not on a ball that grows with it.

    Nor, where numbers of the claim hold on balls, from small ones of short runs to a large one around all others.
    """
    ladder = _compiled(claim).ladder
    if ladder.limit is not sp.oo:
        return
    counts_on_balls = any(isinstance(n, Quantity) and n.region is not None for n in claim.notation.values())
    ends = [_run_at(claim, run, ladder.rungs[place]) for place in ((0, -1) if counts_on_balls else (-1,))]
    known = [assumption.require(end) for assumption in claim.assumptions for end in ends]
    bounds = [bound for bound in known if isinstance(bound, Bound)]
    if any(isinstance(bound.region, Ball) and bound.region.grows for bound in bounds):
        raise unanswered(run.arithmetic, "the constants hold on a ball that grows with the number of rounds")


def _fit(rungs: Sequence[Rung], values: Sequence[float]) -> float:
    """Least-squares slope of log(value) over log(variable) on the last half of the ladder."""
    half = len(values) // 2
    variables = [plain_float(rung.variable) for rung in rungs[half:]]
    return float(np.polyfit(np.log(variables), np.log(np.maximum(values[half:], 1e-300)), 1)[0])

"""Solve exactly for step sizes, or for the noise, at which both sides of a condition are equal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np
from flint import fmpq

from fedtheory.arithmetic.root_sums import find_exact_root
from fedtheory.engine.run import Run
from fedtheory.language.claim import Claim
from fedtheory.language.evaluation import whole_run
from verify.check.applicability import check_conditions
from verify.check.links import CompiledRelation, compile_conditions
from verify.falsify.local_search import apply_scaling, scale_steps
from verify.falsify.run_tables import NO_RUN, Table, read
from verify.falsify.scalings import find_scaling

_POWERS = (1, -1, 2, -2)
"""Powers of the step size in which a condition may be linear."""


def solve_equations(claim: Claim, run: Run) -> fmpq | None:
    """Return the factor of the step sizes that satisfies the first equation among the conditions; None without one."""
    for condition, link in zip(claim.run_conditions, compile_conditions(claim), strict=True):
        factor = solve_equality(link, run) if condition.rel_op == "==" else None
        if factor is not None:
            return factor
    return None


def solve_for_noise(claim: Claim, table: Table) -> Table | None:
    """Return a run with other noise that satisfies the first equation among the conditions; None if there is none.

    It is for equations such as ``eta == D/(sigma*sqrt(T))``, which no rational step size satisfies at most variances.
    """
    scaling = find_scaling(table, "noise")
    links = zip(claim.run_conditions, compile_conditions(claim), strict=True)
    link = next((link for condition, link in links if condition.rel_op == "=="), None)
    if scaling is None or link is None:
        return None

    def square(factor: fmpq) -> fmpq | None:
        changed = apply_scaling(table, scaling, factor)
        run = None if changed is None else read(changed)
        return None if run is None else _compute_square_ratio(link, run)

    one, four = square(fmpq(1)), square(fmpq(4))
    if not one or not four:
        return None
    power = next((power for power in _POWERS if four == one * fmpq(4) ** power), None)
    factor = None if power is None else find_exact_root(one if power < 0 else 1 / one, abs(power))
    return None if factor is None else apply_scaling(table, scaling, factor)


def _compute_square_ratio(link: CompiledRelation, run: Run) -> fmpq | None:
    """Return the square of the ratio of two positive sides; None if it is not rational."""
    site = whole_run(run)
    with suppress(*NO_RUN):
        left, right = (np.ravel(side(site)) for side in (link.left, link.right))
        if len(left) == len(right) == 1 and left[0] > 0 and right[0] > 0:
            square = left[0] * left[0] / (right[0] * right[0])
            return square if isinstance(square, fmpq) else None
    return None


def solve_for_largest_steps(claim: Claim, run: Run) -> fmpq | None:
    """Return the factor of the largest steps at which one condition is an equality and all others hold."""
    found = (solve_equality(link, run) for link in compile_conditions(claim))
    for factor in sorted({factor for factor in found if factor is not None}, reverse=True):
        with suppress(*NO_RUN):
            if check_conditions(claim, scale_steps(run, factor)):
                return factor
    return None


def solve_equality(link: CompiledRelation, run: Run) -> fmpq | None:
    """Return the positive factor of the step sizes at which both sides are equal; None if it is not rational.

    The method applies to sides that are linear in a small power of the step size, as in `eta == 2/(mu + L)`, `1/eta ==
    4*L`.
    """

    def gap(factor: fmpq) -> fmpq | None:
        return _compute_gap(link, scale_steps(run, factor))

    return next((factor for factor in _solve_for_zeros(gap) if gap(factor) == 0), None)


def _solve_for_zeros(gap: Callable[[fmpq], fmpq | None]) -> Iterator[fmpq]:
    """Yield the zeros of the functions ``a f^p + b`` that interpolate two values of the gap."""
    one, two = gap(fmpq(1)), gap(fmpq(2))
    if one is None or two is None or one == two:
        return
    for power in _POWERS:
        slope = (two - one) / (fmpq(2) ** power - 1)
        raised = 1 - one / slope
        factor = find_exact_root(raised if power > 0 else 1 / raised, abs(power)) if raised > 0 else None
        if factor is not None:
            yield factor


def _compute_gap(link: CompiledRelation, run: Run) -> fmpq | None:
    """Return the difference of two rational sides; None if a side is not rational or has no value."""
    site = whole_run(run)
    with suppress(*NO_RUN):
        differences = (link.left(site) - link.right(site)).ravel()
        if len(differences) == 1 and isinstance(differences[0], fmpq):
            return differences[0]
    return None

"""Find the largest step size that the conditions of a claim allow on a problem, in floats.

Most conditions are monomials in the step size, so that the largest step size solves a linear equation in logarithms. If
a condition has a kink, or an assumption mentions step sizes, it is found by bisection.
"""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np

from fedtheory.arithmetic import Array, Number, plain_float
from fedtheory.engine.run import Run
from fedtheory.language import assumptions as a
from fedtheory.language.claim import Claim
from fedtheory.language.premises import list_failures_among, premises
from verify.check.comparison import Comparison, compare_whole_run
from verify.check.links import compile_conditions
from verify.falsify.regimes.factors import is_tied
from verify.falsify.run_tables import NO_RUN

UNBOUNDED = math.inf
"""Value if no condition limits the step size."""
_REFINEMENTS, _REFINEMENTS_OF_EQUATIONS, _HALVINGS = 3, 8, 6
_FLAT = 1e-9
"""Slope below which a condition does not depend on the step size, and rounding error of its sides."""
_INSIDE = 1 - 1e-12
_LARGEST, _SMALLEST, _STRIDE = 22, -14, 3
"""Largest and smallest exponent of two, and stride, of the bisection."""
_FAR = 60.0


class Edge:
    """The step sizes that a claim allows, as multiples of a small one."""

    def __init__(self, claim: Claim) -> None:
        self._claim, self._links = claim, compile_conditions(claim)
        self._equations = np.array([link.relation.operator == "==" for link in self._links], bool)
        self.depends_on_step = False
        """Whether an assumption was seen to fail for a step size that holds for another."""
        self._is_tied = is_tied(claim)

    def largest_factor(self, run: Run) -> float | None:
        """Return the largest factor of the run's step sizes that the claim allows; None if it allows none."""
        with suppress(*NO_RUN), np.errstate(all="ignore"):
            return self._tie(run) if self._is_tied else self._largest(run)
        return None

    def _tie(self, run: Run) -> float | None:
        """Return the only step size that the assumption allows, if it is rational and the conditions allow it."""
        work = run.algorithm.work
        clients, iterations = run.problem.clients, run.algorithm.rounds * max(work.steps)
        if math.isqrt(clients * iterations) ** 2 != clients * iterations:
            return None
        unit = 1.0 if a.plain_speedup_step in self._claim.assumptions else plain_float(run.smoothness)
        factor = math.sqrt(clients / iterations) / (unit * plain_float(work.step_sizes[0]))
        return factor if self._allows(run.with_step_factor(factor)) else None

    def _largest(self, run: Run) -> float | None:
        if list_failures_among(premises(self._claim), run):
            return self._search_by_halving(run)
        if not self._links:
            return self._search_by_halving(run) if self.depends_on_step else UNBOUNDED
        here, twice = self._excesses(run), self._excesses(run.with_step_factor(2.0))
        slopes = twice - here
        is_fixed = ~(np.abs(slopes) > _FLAT)
        if (here[is_fixed] > _FLAT).any():
            return None
        return self._solve_linearly(run, here, slopes, is_fixed)

    def _solve_linearly(self, run: Run, here: Array, slopes: Array, is_fixed: Array) -> float | None:
        """Solve the linearised conditions in logarithms for the largest factor, and correct it."""
        equations = ~is_fixed & np.isfinite(here) & self._equations
        if equations.any():
            return self._at_equations(run, here, slopes, equations)
        moving = ~is_fixed & (slopes > 0) & np.isfinite(here)
        if not moving.any():
            return self._search_by_halving(run)
        exponent = float((-here[moving] / slopes[moving]).min())
        for _ in range(_REFINEMENTS):
            exponent = max(-_FAR, min(exponent, _FAR))
            excesses = self._excesses(run.with_step_factor(2.0**exponent))
            if self._allows(run.with_step_factor(2.0**exponent * _INSIDE)):
                is_edge = not self._allows(run.with_step_factor(2.0 ** (exponent + 1)))
                return float(2.0**exponent) if is_edge else self._search_by_halving(run)
            worst = int(np.argmax(np.where(is_fixed, -np.inf, excesses)))
            exponent -= float(excesses[worst]) / max(float(slopes[worst]), 0.25)
        return self._search_by_halving(run)

    def _at_equations(self, run: Run, here: Array, slopes: Array, equations: Array) -> float | None:
        """Return the factor at which equations on the step size hold; None if a condition then fails."""
        excesses, exponent = here, 0.0
        for _ in range(_REFINEMENTS_OF_EQUATIONS):
            worst = int(np.argmax(np.where(equations, np.abs(excesses), -np.inf)))
            step = max(-_FAR, min(-float(excesses[worst] / slopes[worst]), _FAR))
            before, exponent = excesses, exponent + step
            excesses = self._excesses(run.with_step_factor(2.0**exponent))
            if np.abs(excesses[equations]).max() < _FLAT:
                return float(2.0**exponent) if (excesses < _FLAT).all() else None
            # The slope of a nonlinear equation is different at its solution.
            slopes = (excesses - before) / step
        return None

    def _search_by_halving(self, run: Run) -> float | None:
        powers = range(_LARGEST, _SMALLEST, -_STRIDE)
        low = next((float(power) for power in powers if self._allows(run.with_step_factor(2.0**power))), None)
        if low is None:
            return None
        if low == _LARGEST:
            return UNBOUNDED
        self.depends_on_step = True
        high = low + _STRIDE
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._allows(run.with_step_factor(2.0**middle)) else (low, middle)
        return float(2.0**low)

    def _allows(self, run: Run) -> bool:
        with suppress(*NO_RUN):
            if list_failures_among(premises(self._claim), run):
                return False
            return all(compared.holds is not False for compared in self._compare(run))
        return False

    def _excesses(self, run: Run) -> Array:
        """Return log2 of the smaller over the larger side of each condition, positive where the condition fails."""
        return np.array([_excess(*c.relation.in_order(c.lhs, c.rhs)) for c in self._compare(run)])

    def _compare(self, run: Run) -> list[Comparison]:
        return [compare_whole_run(link, run) for link in self._links]


def _excess(smaller: Number, larger: Number) -> float:
    low, high = plain_float(smaller), plain_float(larger)
    if low > 0 and high > 0:
        return math.log2(low / high)
    return -math.inf if low < high else math.inf

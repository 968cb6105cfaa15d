"""Problems for the explorer of a bound with a comparator y: their constants, and the best y for each run length.

The best y minimises F(y) + |x^0 - y|^2/(2s). It depends only on the length s = eta tau T of a run, and so do the values
of the bound's quantities at y.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sympy as sp

from fedtheory.arithmetic import plain_floats
from fedtheory.engine.run import Run
from fedtheory.errors import FedtheoryError
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.evaluation import compile_expression, whole_run
from fedtheory.language.premises import list_failed_premises
from fedtheory.planner import comparators
from fedtheory.planner.bound import ROUNDS, STEP, STEPS
from fedtheory.planner.model_comparators import get_comparators
from report.explorer.ranges import NOTCHES, Range, make_range_around
from report.explorer.subject import ExploredLink, get_name
from report.showcases import make_noiseless_run, make_showcase
from report.user_runs import UserRun

_FACTORS = ((STEP, STEPS, ROUNDS), (STEP, "iterations"))
"""Names of the factors of the length of a run."""
_MEASURED = frozenset({q.total_comparator_progress.name})
"""Quantities at y that depend on the whole run; they cannot be recomputed for each slider position."""
_DIGITS = 5
"""Number of digits in tables; the error of interpolation is larger."""


@dataclass(frozen=True)
class ExploredProblem:
    """The problem of a run."""

    name: str
    ranges: Sequence[Range]
    """Range of each symbol, around the value of the run."""
    length: float
    """Length of the run."""
    first: int
    """Number of notches from that length to the first one of the tables."""
    tables: Mapping[int, Sequence[float]]
    """Values at the best points, for increasing slider positions, by index of the symbol."""


def find_length_factors(subject: ExploredLink) -> Sequence[int]:
    """Return the indices of the symbols whose product is the length of a run.

    Empty if a bound does not have all of them, has no y, or has quantities at y that do not depend on the length only.
    """
    names = [get_name(symbol, subject.notation) for symbol in subject.symbols]
    known = (factors for factors in _FACTORS if {*factors} <= {*names})
    factors = next(known, ()) if comparators.NAMES & {*names} and not _MEASURED & {*names} else ()
    return [names.index(factor) for factor in factors]


def list_problems(claim: Claim, subject: ExploredLink, runs: Sequence[UserRun]) -> list[ExploredProblem]:
    """Return the problems of the runs to which a claim applies, or otherwise of the run of the figures."""
    if not find_length_factors(subject):
        return []
    given = [(own.name, own.run) for own in runs if _satisfies_assumptions(claim, own.run)]
    known = given or [(name, run) for name, run in _list_runs().items() if _satisfies_assumptions(claim, run)][:1]
    return [_build_problem(claim, subject, name, run) for name, run in known]


def _list_runs() -> dict[str, Run]:
    """Return the runs whose exact errors the explorer draws, by their descriptions."""
    return {
        "ten clients with noise": make_showcase(local_steps=5),
        "four clients without noise": make_noiseless_run(),
    }


def _satisfies_assumptions(claim: Claim, run: Run) -> bool:
    """Return whether the assumptions hold; conditions are left to the sliders."""
    try:
        q.comparator_distance.on(run)
        return not list_failed_premises(claim, run)
    except FedtheoryError:
        return False


def _build_problem(claim: Claim, subject: ExploredLink, name: str, run: Run) -> ExploredProblem:
    numbers = [_compute_number(subject.restore_averages(symbol), claim, run) for symbol in subject.symbols]
    ranges = [make_range_around(number, usual) for number, usual in zip(numbers, subject.ranges, strict=True)]
    factors = [ranges[place] for place in find_length_factors(subject)]
    length = math.prod(factor.first for factor in factors)
    shortest = math.prod(min(filter(None, factor.values)) for factor in factors)
    longest = math.prod(factor.values[-1] for factor in factors)
    first, last = (NOTCHES * math.log10(reached / length) for reached in (shortest, longest))
    notches = range(math.floor(first), math.ceil(last) + 1)
    return ExploredProblem(
        name, ranges, length, notches[0], _build_tables(subject, run, [length * 10.0 ** (n / NOTCHES) for n in notches])
    )


def _build_tables(subject: ExploredLink, run: Run, lengths: Sequence[float]) -> dict[int, list[float]]:
    names = {place: get_name(symbol, subject.notation) for place, symbol in enumerate(subject.symbols)}
    asked = {place: name for place, name in names.items() if name in comparators.NAMES}
    points = get_comparators(run, frozenset(asked.values()))
    found = [points.numbers(length) for length in lengths]
    return {place: [float(f"{at[name]:.{_DIGITS}g}") for at in found] for place, name in asked.items()}


def _compute_number(expression: sp.Expr, claim: Claim, run: Run) -> float:
    """Return the value of a symbol, or of a client average, on the run; NaN if there is no single one."""
    try:
        values = plain_floats(compile_expression(expression, claim.notation)(whole_run(run))).ravel()
    except FedtheoryError:
        return math.nan
    return float(values[0]) if len(values) == 1 else math.nan

"""Evaluate a claim at a point: the run at the edge of the claim's conditions, and its distance from a violation."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import sympy as sp
from flint import fmpq

from fedtheory.arithmetic import FLOAT, RATIONAL, plain_float
from fedtheory.language import quantities
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import RunQuantity
from fedtheory.language.quantities.measuring.expectations import AtSteps
from fedtheory.runfile import parse_run
from verify.check import Check, check
from verify.effort import spend
from verify.falsify.regimes.algorithm_tables import ClaimedAlgorithm, build_decreasing_steps
from verify.falsify.regimes.edge import UNBOUNDED, Edge
from verify.falsify.regimes.factors import (
    MOST_SEPARATE,
    MOST_STEPS_OF_CLIENT,
    MOST_STEPS_ONE_BY_ONE,
    Factor,
    Level,
    Point,
    is_tied,
    list_factors,
    normalise,
)
from verify.falsify.regimes.horizon import find_rounds
from verify.falsify.regimes.problem_tables import build_problem, find_largest_step
from verify.falsify.run_tables import NO_RUN, Table
from verify.falsify.score import NOTHING, score, score_balanced
from verify.falsify.search_state import measure_movement
from verify.falsify.simple_numbers import round_below
from verify.instances import assumes_only_smoothness

_SMALL = fmpq(1, 2**14)
"""Small step size from which the edge is computed, for largest curvature 1."""
_BEYOND = 3.0
"""Step size times curvature if no condition limits it; gradient descent diverges at this value."""
_TIE = -90.0
"""Score of two sides that floats cannot distinguish."""
_TINY = 1e-9
"""Relative distance from the edge."""
_INSIDE = 1 - 2.0**-10
"""Fraction of an edge that a strict condition excludes: runs at the edge itself are not applicable in rationals."""
_STILL: Point = {"horizon": ("T", 0), "step size": -40}
"""Point at which a run hardly moves."""
_FAR, _MOVING = 100.0, 16
_MOST_AT_EVERY_STEP = 7
"""Largest exponent of the number of clients for claims with terms at each step."""
_MOST_STEPS_LOOKED_AT = 9
"""Largest exponent of the local steps for claims with terms at each local step."""
_LOOKED_AT, _LOOKED_AT_IN_FRAMES = 4096, 256
"""Largest numbers of local steps of all clients for claims with terms at each step: without and with vectors."""
_OF_ERRORS = ("sources", "gradients", "noise", "noisy clients", "direction")
"""Factors that change the edge only if conditions contain other quantities than those below."""
_OF_EDGES = {
    *("clients", "iterations", "largest_staleness", "local_step_size", "local_steps", "momentum", "participants"),
    *("rounds", "server_step_size", "smoothness", "strong_convexity"),
}
"""Names of quantities that depend neither on the start, nor on noise, nor on the linear terms."""


@dataclass
class Seen:
    """A point that was tried."""

    point: dict[str, Level]
    score: float
    table: Table | None = None
    holds: bool | None = None
    """The decision in floats."""
    sides: tuple[float, float] | None = None
    """The smaller side, as claimed, and the other, where they are closest to a violation."""
    balanced: float = NOTHING
    """The score after subtracted terms are moved to the other side."""

    @property
    def applies(self) -> bool:
        """Return whether the claim applies to the run."""
        return self.table is not None


class Evaluation:
    """Evaluate a claim at points; each point is evaluated and counted once."""

    def __init__(self, claim: Claim) -> None:
        self.claim, self.subject = claim, ClaimedAlgorithm.from_claim(claim)
        self.count = 0
        """Evaluations so far."""
        self.known: dict[Hashable, Seen] = {}
        self._edge, self._edges = Edge(claim), dict[Hashable, float | None]()
        self._looked_at = _limit_looked_at(claim)
        self._has_strict_edge = _limits_steps_strictly(claim)
        self._conditions_ask_for_rounds = _depends_on_rounds(claim) or is_tied(claim)
        errors = () if _depends_on_errors(claim) else _OF_ERRORS
        self._without_effect = {*errors, "horizon", "step size"}

    @property
    def factors(self) -> dict[str, Factor]:
        """Return all factors of runs of the claim's algorithm."""
        found = {**list_factors(self.claim), **{factor.name: factor for factor in self.subject.factors}}
        if not assumes_only_smoothness(self.claim):
            found["loss"] = found["loss"].without("bounded")
            del found["negative curvature"]
        if self._looked_at is not None:
            # Ascents may go further: runs with a thousand separate clients take a second each.
            found["clients"] = replace(found["clients"].up_to(_MOST_AT_EVERY_STEP), high=MOST_SEPARATE)
            found["local steps"] = found["local steps"].up_to(_MOST_STEPS_LOOKED_AT)
        if self.subject.definition is not None:
            # Clients have their own vectors; on a graph each client is different.
            found["clients"] = found["clients"].up_to(4 if "mixing" in found else 5)
        if self.subject.steps_one_by_one:
            found["local steps"] = replace(found["local steps"], high=MOST_STEPS_OF_CLIENT)
        if self.subject.steps_are_rounds:
            del found["local steps"]
        return found

    def score(self, point: Point) -> Seen:
        """Return the score of the run at a point, in floats: its closeness to a violation."""
        here = normalise(point, MOST_STEPS_ONE_BY_ONE) if self.subject.steps_one_by_one else normalise(point)
        key = tuple(sorted((name, str(level)) for name, level in here.items()))
        if key not in self.known:
            self.count += 1
            self.known[key] = self._evaluate(here)
        return self.known[key]

    def _evaluate(self, point: dict[str, Level]) -> Seen:
        with suppress(*NO_RUN), np.errstate(all="ignore"):
            table = self.table(point)
            found = None if table is None else check(self.claim, parse_run(table, FLOAT))
            if found is not None and found.applicable and found.comparisons:
                return Seen(point, score(found), table, found.holds, _order_sides(found), score_balanced(found))
        return Seen(point, NOTHING)

    @staticmethod
    def progress(seen: Seen, look: Callable[[Point], Seen]) -> float:
        """Return the logarithm of the guaranteed over the true decrease of the left side.

        Without movement both sides of a contraction bound are equal, and their ratio is independent of the rate. `look`
        evaluates the run that hardly moves.
        """
        still = look({**seen.point, **_STILL}) if seen.sides is not None else seen
        if seen.sides is None or still.sides is None:
            return NOTHING
        smaller, larger = seen.sides
        begin = still.sides[0]
        promised, true = begin - larger, begin - smaller
        return math.log(promised / true) if promised > 0 and true > 0 else -_FAR

    def table(self, point: Point) -> Table | None:
        """Return the run at a point as a table; None if the claim does not concern such a run."""
        rounds = find_rounds(point, _SMALL, self.subject, self._looked_at)
        for _ in range(2 if self._conditions_ask_for_rounds else 1):
            edge = self._edge_at(point, rounds)
            if edge is None:
                return None
            is_at_edge = point["step size"] == 0 and edge != UNBOUNDED
            largest = min(_BEYOND if edge == UNBOUNDED else edge, find_largest_step(point))
            allowed = largest * _INSIDE if is_at_edge and self._has_strict_edge else largest
            step_size = round_below(allowed * 2.0 ** point["step size"], *([_TINY] if is_at_edge else []))
            rounds = find_rounds(point, step_size, self.subject, self._looked_at)
        return self._table(point, step_size, rounds)

    def _table(self, point: Point, step_size: fmpq, rounds: int) -> Table:
        of_problem, algorithm = build_problem(point), self.subject.table(point, step_size, rounds)
        if self.subject.is_decreasing:
            algorithm |= build_decreasing_steps(of_problem, algorithm)
        found = {"problem": of_problem, "algorithm": algorithm}
        if self.subject.stated is not None:
            formula = self.subject.stated.formula_on(parse_run(found, RATIONAL))
            algorithm |= {} if formula is None else {"local_step_size": formula}
        return found

    def _edge_at(self, point: Point, rounds: int) -> float | None:
        """Return the largest step size, for largest curvature 1."""
        asked = rounds if self._conditions_ask_for_rounds or point.get("clock") else 1
        kept = {name: level for name, level in point.items() if name not in self._without_effect or point.get("loss")}
        key = (asked, "n" in point["sources"], tuple(sorted((name, str(level)) for name, level in kept.items())))
        if key not in self._edges:
            run = parse_run(self._table(point, _SMALL, asked), FLOAT)
            factor = self._edge.largest_factor(run)
            spend(run)
            small = float(int(_SMALL.p) / int(_SMALL.q))
            self._edges[key] = factor if factor is None or factor == UNBOUNDED else factor * small
        return self._edges[key]


def rate_run(seen: Seen) -> float:
    """Return the score, reduced for a run that hardly moves from a distant start.

    Sides that floats cannot distinguish are ties or rounding errors; neither leads to a violation.
    """
    if seen.holds is None and seen.score > _TIE:
        return _TIE
    if seen.table is None or "s" not in seen.point["sources"]:
        return seen.score
    return seen.score + min(0.0, math.log(_MOVING * measure_movement(seen.table)))


def _order_sides(found: Check) -> tuple[float, float] | None:
    worst = found.worst
    if worst is None or worst.relation.operator == "==":
        return None
    smaller, larger = worst.relation.in_order(worst.lhs, worst.rhs)
    return plain_float(smaller), plain_float(larger)


_OF_DOUBLED_ROUNDS = ("average", "final", "initial", "iterations", "last_round", "limiting", "rounds")
"""Prefixes of the names of quantities that identical rounds have in closed form, for any number of rounds."""
_LARGEST_OF_STEPS = ("full_gradient_bound", "gradient_bound", "visited_second_moment")
"""Names of suprema over the run itself, which need a list of all local steps."""


def _may_depend_on_steps(claim: Claim) -> bool:
    """Return whether a claim may have terms at each round or step, which excludes repeated squaring."""
    asked = [quantity for quantity in claim.notation.values() if isinstance(quantity, RunQuantity)]
    return claim.place != "run" or any(
        quantity.place != "run"
        or quantity.name in _LARGEST_OF_STEPS
        or not (quantity.is_constant or quantity.name.startswith(_OF_DOUBLED_ROUNDS))
        for quantity in asked
    )


def _limit_looked_at(claim: Claim) -> int | None:
    """Return the largest affordable number of local steps of all clients; None if rounds are squared repeatedly."""
    if not _may_depend_on_steps(claim):
        return None
    asked = claim.notation.values()
    needs_frames = any(not isinstance(q, RunQuantity) or q.per_round or isinstance(q.measure, AtSteps) for q in asked)
    return _LOOKED_AT_IN_FRAMES if needs_frames else _LOOKED_AT


def _depends_on_rounds(claim: Claim) -> bool:
    """Return whether a condition has a value that changes with the number of rounds."""
    return any(not quantity.is_constant for quantity in _list_conditioned(claim))


def _limits_steps_strictly(claim: Claim) -> bool:
    """Return whether a strict condition excludes a largest step size."""
    steps = {symbol for symbol, one in claim.notation.items() if one is quantities.local_step_size}
    strict = (one for one in claim.run_conditions if isinstance(one, sp.StrictLessThan | sp.StrictGreaterThan))
    return any(one.free_symbols & steps for one in strict)


def _depends_on_errors(claim: Claim) -> bool:
    """Return whether a condition may have a value that changes with the start, noise, or linear terms."""
    return any(quantity.name not in _OF_EDGES for quantity in _list_conditioned(claim))


def _list_conditioned(claim: Claim) -> list[RunQuantity]:
    """Return the quantities of a run in conditions."""
    symbols = {symbol for condition in claim.run_conditions for symbol in condition.free_symbols}
    named = [claim.notation.get(symbol) for symbol in symbols]
    return [quantity for quantity in named if isinstance(quantity, RunQuantity)]

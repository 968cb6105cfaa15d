"""Check a claim on a run with Monte-Carlo moments: the result has a confidence interval, and is never a violation.

Both sides are also computed for each independent group of replicas. If they agree between groups, nothing was
estimated, and floats decide as on any other run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np

from fedtheory.arithmetic import Array, plain_floats
from fedtheory.engine.linear_models.trajectory import CONFIDENCE
from fedtheory.engine.run import Run
from fedtheory.engine.sampling import estimate_of
from fedtheory.language.evaluation import Site
from verify.check.comparison import find_tightest_places
from verify.check.decision import decide
from verify.check.links import CompiledRelation
from verify.check.outcome import EstimatedSide, FinalDecision
from verify.check.sides import Sides, evaluate_sides


def estimate_sides(
    links: Sequence[CompiledRelation], sites_of: Callable[[Run], Iterable[Site]], run: Run
) -> tuple[EstimatedSide, FinalDecision] | None:
    """Return the left side of the relation that replicas support least, and the decision; None if nothing is random."""
    own, *groups = (evaluate_sides(links, partial(sites_of, each)) for each in (run, *run.groups))
    found = [_estimate(whole, parts, run) for whole, *parts in zip(own, *groups, strict=True)]
    random = [one for one in found if one is not None]
    return min(random, key=lambda one: one[1].holds is True, default=None)


def _estimate(whole: Sides, parts: Sequence[Sides], run: Run) -> tuple[EstimatedSide, FinalDecision] | None:
    decided = decide(whole, ())
    worst = int(find_tightest_places(whole, decided)) if decided.size > 1 else 0
    if any(part.slack.shape != whole.slack.shape for part in parts):
        return None
    slacks = np.array([plain_floats(part.slack)[worst] for part in parts])
    if not _differ(slacks, plain_floats(whole.slack)[worst]):
        return None
    low, high = _compute_interval(
        np.array([plain_floats(part.lhs)[worst] for part in parts]), plain_floats(whole.lhs)[worst]
    )
    slack = _compute_interval(slacks, plain_floats(whole.slack)[worst])
    left = EstimatedSide(low, high, run.replicas, CONFIDENCE)
    return left, _decide(whole.link.relation.operator, slack, run.replicas)


def _differ(slacks: Array, whole: float) -> bool:
    """Return whether groups differ by more than rounding."""
    return bool((np.abs(slacks - whole) > _ROUNDING * np.abs(slacks).max(initial=0.0)).any())


_ROUNDING = 1e-12


def _compute_interval(of_groups: Array, whole: float) -> tuple[float, float]:
    """Return a confidence interval around the value of all replicas, from the variation between groups."""
    spread = estimate_of(of_groups[None], CONFIDENCE)
    reach = float(spread.high[0] - spread.mean[0])
    return float(whole) - reach, float(whole) + reach


def _decide(operator: str, slack: tuple[float, float], replicas: int) -> FinalDecision:
    by = f"by Monte-Carlo: {CONFIDENCE:.0%} interval over {replicas} replicas"
    if operator == "==":
        agrees = slack[0] <= 0 <= slack[1]
        return FinalDecision(None, f"{'agrees' if agrees else 'looks violated'}; Monte-Carlo, no verdict ({by})", by)
    if slack[0] > 0:
        return FinalDecision(True, by, by)
    words = "looks violated" if slack[1] < 0 else "the interval contains the bound"
    return FinalDecision(
        None, f"{words}; Monte-Carlo, no verdict ({CONFIDENCE:.0%} interval over {replicas} replicas)", by
    )

"""Evaluate a claim on a run for growing numbers of rounds: both sides and the terms of the bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from fedtheory.arithmetic import plain_float
from fedtheory.engine.run import Run
from fedtheory.errors import FedtheoryError
from fedtheory.language.claim import Claim
from verify.check import Check, check
from verify.check.comparison import Comparison


@dataclass(frozen=True)
class BoundCurve:
    """A claim evaluated for growing numbers of rounds."""

    horizons: Sequence[int]
    checks: Sequence[Check]

    @property
    def left(self) -> list[float]:
        """Return the exact left sides."""
        return [plain_float(_find_worst(c).lhs) for c in self.checks]

    @property
    def right(self) -> list[float]:
        """Return the right sides."""
        return [plain_float(_find_worst(c).rhs) for c in self.checks]

    @property
    def terms(self) -> dict[str, list[float]]:
        """Return each term of the right side, by its LaTeX."""
        names = [term.latex for term in _find_worst(self.checks[0]).terms]
        return {n: [plain_float(_find_worst(c).terms[k].value) for c in self.checks] for k, n in enumerate(names)}


def _find_worst(found: Check) -> Comparison:
    if found.worst is None:
        raise ValueError(f"{found.claim.id}: {found.reason}")
    return found.worst


def compute_bound_curve(claim: Claim, run: Run, horizons: Sequence[int]) -> BoundCurve:
    """Evaluate the claim at growing numbers of rounds of a float run."""
    return BoundCurve(horizons, [check(claim, run.with_rounds(horizon)) for horizon in horizons])


def compute_curve_up_to(claim: Claim, last: int, run_of: Callable[[int], Run]) -> BoundCurve | None:
    """Return both sides after 1, 2, 4, ... and `last` rounds, where the claim applies and both sides are positive.

    Returns None if there are no such rounds.
    """
    horizons = [*(2**power for power in range(last.bit_length()) if 2**power < last), last]
    checks = {horizon: check_if_applicable(claim, partial(run_of, horizon)) for horizon in horizons}
    shown = {horizon: found for horizon, found in checks.items() if found is not None and _is_positive(found)}
    return BoundCurve(list(shown), list(shown.values())) if shown else None


def _is_positive(found: Check) -> bool:
    worst = _find_worst(found)
    return plain_float(worst.lhs) > 0 and plain_float(worst.rhs) > 0


def check_if_applicable(claim: Claim, run: Callable[[], Run]) -> Check | None:
    """Check a claim on a run; None if the run is invalid, the claim does not apply, or it compares nothing."""
    try:
        found = check(claim, run())
    except FedtheoryError:
        return None
    return found if found.applicable and found.worst is not None else None

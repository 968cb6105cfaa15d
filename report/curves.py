"""A claim along growing horizons of a run: both sides and the terms of the bound, wherever the claim applies."""

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
    """A claim evaluated along growing horizons."""

    horizons: Sequence[int]
    checks: Sequence[Check]

    @property
    def left(self) -> list[float]:
        """Exact left sides."""
        return [plain_float(_worst(c).lhs) for c in self.checks]

    @property
    def right(self) -> list[float]:
        """Right sides."""
        return [plain_float(_worst(c).rhs) for c in self.checks]

    @property
    def terms(self) -> dict[str, list[float]]:
        """Each term of the right side, by its LaTeX."""
        names = [term.latex for term in _worst(self.checks[0]).terms]
        return {n: [plain_float(_worst(c).terms[k].value) for c in self.checks] for k, n in enumerate(names)}


def _worst(found: Check) -> Comparison:
    if found.worst is None:
        raise ValueError(f"{found.claim.id}: {found.reason}")
    return found.worst


def bound_curve(claim: Claim, run: Run, horizons: Sequence[int]) -> BoundCurve:
    """The claim at growing horizons of a float run."""
    return BoundCurve(horizons, [check(claim, run.with_rounds(horizon)) for horizon in horizons])


def curve_up_to(claim: Claim, last: int, run_of: Callable[[int], Run]) -> BoundCurve | None:
    """Both sides over rounds 1, 2, 4, .. `last`, where the claim applies and both are positive; None where nowhere."""
    horizons = [*(2**power for power in range(last.bit_length()) if 2**power < last), last]
    known = {horizon: check_if_applicable(claim, partial(run_of, horizon)) for horizon in horizons}
    shown = {horizon: found for horizon, found in known.items() if found is not None and _is_positive(found)}
    return BoundCurve(list(shown), list(shown.values())) if shown else None


def _is_positive(found: Check) -> bool:
    worst = _worst(found)
    return plain_float(worst.lhs) > 0 and plain_float(worst.rhs) > 0


def check_if_applicable(claim: Claim, run: Callable[[], Run]) -> Check | None:
    """Check a claim on a run; None where the run does not exist, or the claim does not apply or compares nothing."""
    try:
        found = check(claim, run())
    except FedtheoryError:
        return None
    return found if found.applicable and found.worst is not None else None

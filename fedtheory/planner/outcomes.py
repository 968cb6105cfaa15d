"""Results of a run at step sizes: the error, the rounds to a target, and the margin that is kept."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.language.quantities import RunQuantity


@dataclass(frozen=True)
class ErrorAtStepSize:
    """The error of a run at a step size."""

    step_size: float
    rounds: int
    """Number of rounds until the target is reached and kept.

    It is that of the whole run if the target is not reached, or without a target.
    """
    error: float
    """The exact error after these rounds, or an average over replicas; infinite if the run diverges."""
    reached: bool
    """Whether the target is reached and kept; false without one."""
    still_falls: bool
    """Whether the error is still decreasing, compared with the one after half of the rounds."""
    limit: float | None = None
    """The limit of the error as the number of rounds tends to infinity; None if it is unknown."""
    noise_floor: float | None = None
    """The part of the limit that is caused by gradient noise; the rest is drift."""
    highest: float | None = None
    """Largest error of the last rounds, if rounds are not alike or the error jumps in them; else None."""
    half_width: float = 0.0
    """Half the length of the error's 95 % interval, if it is an average over replicas; else zero."""
    followed: int | None = None
    """Number of rounds run to check that the error stays small, if rounds are not alike; else None."""
    explodes: bool = False
    """Whether the error grows far above its start before it falls, as with step sizes that are at first too large."""
    beyond: ErrorAtStepSize | None = None
    """Result at the step size that is larger by the margin; None if the edge of divergence decides."""

    @property
    def comparable_error(self) -> float:
        """The error to compare with those of other runs: the largest of the last rounds if they are not alike."""
        return max(self.error, self.highest or 0.0)


@dataclass(frozen=True)
class PlannedAndBest:
    """Errors of a run as planned and at its best step size."""

    error: RunQuantity
    planned: ErrorAtStepSize
    best: ErrorAtStepSize
    diverges_from: float
    """Step size from which the run diverges; infinite if none is known."""
    margin: float
    """Relative distance of the best step size from it."""
    reason: str | None
    """The reason why no step size reaches the target; None if one does, or without a target."""

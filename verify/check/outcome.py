"""Outcome of a claim on a run: applicability, verdict, and the tightest place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fedtheory.arithmetic import Arithmetic, plain_float
from fedtheory.engine.region import Everywhere
from fedtheory.language.claim import Claim
from fedtheory.language.premises import Exclusion
from fedtheory.language.setting import list_setting_facts
from fedtheory.shown import Card, Shown, inline, number
from verify.check.applicability import ConditionCheck
from verify.check.comparison import Comparison
from verify.check.rates import RateCheck


@dataclass(frozen=True)
class FinalDecision:
    """An exact decision where floats do not decide."""

    holds: bool | None
    """None where the exact method does not decide either."""
    reason: str
    by: str = ""
    """Name of the method: the arithmetic, or a proof."""


@dataclass(frozen=True)
class EstimatedSide:
    """The left side of a relation as an average over replicas."""

    low: float
    high: float
    replicas: int
    confidence: float


CLEAR = 1.1
"""Ratio of the sides above which a violation is clear."""


def rank_unclearness(ratio: float | None) -> int:
    """Rank a violation: 0 for a clear margin, 1 for a small one, 2 where a side is zero."""
    if ratio is None:
        return 2
    return 0 if ratio >= CLEAR else 1


def is_everywhere(regions: Mapping[str, str]) -> bool:
    """Return whether constants with these regions hold on the whole space."""
    return all(region == Everywhere.description for region in regions.values())


@dataclass(frozen=True, repr=False)
class Check(Shown):
    """Outcome of a claim on a run."""

    claim: Claim
    arithmetic: Arithmetic
    applicable: bool
    reason: str | None
    """Reason why the claim does not apply, or why it is undecided."""
    excluded: tuple[Exclusion, ...] = ()
    """The assumptions and conditions that fail on the run, or the quantity without a value."""
    conditions: tuple[ConditionCheck, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    rate: RateCheck | None = None
    regions: Mapping[str, str] = field(default_factory=dict)
    """Regions on which constants of assumptions hold, by name."""
    final_decision: FinalDecision | None = None
    """Decision that takes precedence over the comparisons in floats."""
    diverges: bool = False
    """Whether the claim does not apply because the run leaves the range of the arithmetic."""
    is_steady: bool = True
    """False where floats cannot decide whether the claim applies: perturbed runs disagree, or the run overflows."""
    bits: int | None = None
    """Precision in bits of a check in enclosures."""
    estimate: EstimatedSide | None = None
    """Estimate of the left side with its interval, if moments are Monte-Carlo averages."""

    @property
    def excluded_by(self) -> str:
        """Name the first premise that excludes the run; empty if none does."""
        return self.excluded[0].name if self.excluded else ""

    def summary(self) -> str:
        """Return one line: the claim, and whether it applies and holds."""
        words = {True: "holds", False: "violated", None: "undecided"}
        return f"{self.claim.id}: {words[self.holds] if self.applicable else 'not applicable'}"

    def card(self) -> Card:
        """Return for display the statement, the slack of its conditions, both sides, and the right side's terms."""
        answers = {"reason": self.reason, "decided": self.decided_in}
        facts = {name: words for name, words in answers.items() if words is not None} | list_setting_facts(self.claim)
        with self.claim.typesetting():
            rows = [["slack of " + inline(c.latex), number(c.slack)] for c in self.conditions]
            terms = [] if self.worst is None else self.worst.terms
            parts = [["term " + inline(term.latex), number(term.value)] for term in terms]
        if self.worst is not None:
            sides = {"left side": self.worst.lhs, "right side": self.worst.rhs, "ratio": self.worst.ratio}
            rows += [*([name, number(value)] for name, value in sides.items()), *parts]
        return Card(self.summary(), self.claim.statement or None, facts, ("", "value"), rows)

    @property
    def is_decided(self) -> bool:
        """Return whether the result does not depend on rounding, neither in the premises nor in the verdict.

        A violation in floats is undecided until exact arithmetic confirms it.
        """
        if not self.is_steady or any(condition.holds is None for condition in self.conditions):
            return False
        if not self.applicable or not (self.comparisons or self.rate):
            return True
        return self.holds is True or (self.holds is False and self.arithmetic.is_rigorous)

    @property
    def holds(self) -> bool | None:
        """Return True, False, or None where undecided or not applicable."""
        deciding = self.final_decision or self.rate or self.worst
        return deciding.holds if deciding and self.applicable and self.is_steady else None

    @property
    def decided_in(self) -> str | None:
        """Name the arithmetic or the proof that decided; None where undecided."""
        if self.holds is None:
            return None
        if self.final_decision is not None:
            return self.final_decision.by
        return f"in {self.arithmetic.numbers}" + ("" if self.bits is None else f" of {self.bits} bits")

    @property
    def everywhere(self) -> bool:
        """Return whether all constants that the claim uses hold on the whole space."""
        return is_everywhere(self.regions)

    @property
    def ratio(self) -> float | None:
        """Return the ratio of the sides at the worst place, as a float."""
        worst = self.worst
        return None if worst is None or worst.ratio is None else plain_float(worst.ratio)

    @property
    def worst(self) -> Comparison | None:
        """Return the comparison that decides: a violated link, else an undecided one, else the tightest."""
        order = {False: 2, None: 1, True: 0}

        def criticality(comparison: Comparison) -> tuple[int, float]:
            ratio = float("-inf") if comparison.ratio is None else plain_float(comparison.ratio)
            return order[comparison.holds], ratio

        return max(self.comparisons, key=criticality, default=None)

"""One claim on one run: is it applicable, do its conditions hold, what are its two sides?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from fedtheory.arithmetic import Arithmetic, Number, plain_float, precise_enclosures
from fedtheory.claim import Claim
from fedtheory.errors import Diverging, InputError, Misplaced, NotApplicable
from fedtheory.evaluation import sites, whole_run
from fedtheory.expressions import Expr, latex
from fedtheory.quantities import Quantity
from fedtheory.region import Everywhere
from fedtheory.run import Run
from verify.compare import Comparison, compare, condition_links, links_of
from verify.rates import RateCheck, check_rate


@dataclass(frozen=True)
class ConditionCheck:
    """One condition on one run; `slack` is how far it is from failing, in the units of its sides."""

    expression: Expr
    holds: bool
    slack: Number

    @property
    def latex(self) -> str:
        """The condition, typeset."""
        return latex(self.expression)


@dataclass(frozen=True)
class Settlement:
    """An answer where floats alone do not decide."""

    holds: bool | None
    """None where nothing better is at hand."""
    reason: str


@dataclass(frozen=True)
class Check:
    """What a claim says of a run."""

    claim: Claim
    arithmetic: Arithmetic
    applicable: bool
    reason: str | None
    """Why the claim does not apply, or why nothing could be decided."""
    conditions: tuple[ConditionCheck, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    rate: RateCheck | None = None
    regions: Mapping[str, str] = field(default_factory=dict)
    """For constants of assumptions, where they hold."""
    settlement: Settlement | None = None
    """What overrules the floats of the comparisons."""
    diverges: bool = False
    """Whether the claim does not apply because the run leaves the range of the arithmetic."""

    @property
    def holds(self) -> bool | None:
        """True, False, or None where undecided or not applicable."""
        if not self.applicable:
            return None
        if self.settlement is not None:
            return self.settlement.holds
        if self.rate is not None:
            return self.rate.holds
        verdicts = [comparison.holds for comparison in self.comparisons]
        if False in verdicts:
            return False
        return True if verdicts and None not in verdicts else None

    @property
    def everywhere(self) -> bool:
        """Whether all constants that the claim uses hold on all of space."""
        return set(self.regions.values()) <= {Everywhere.description}

    @property
    def ratio(self) -> float | None:
        """Ratio of the two sides at the worst place, as a float."""
        worst = self.worst
        return None if worst is None or worst.ratio is None else plain_float(worst.ratio)

    @property
    def worst(self) -> Comparison | None:
        """The comparison that decides: a violated link, else an undecided one, else the tightest."""
        order = {False: 2, None: 1, True: 0}

        def criticality(comparison: Comparison) -> tuple[int, float]:
            ratio = float("-inf") if comparison.ratio is None else plain_float(comparison.ratio)
            return order[comparison.holds], ratio

        return max(self.comparisons, key=criticality, default=None)


def check(claim: Claim, run: Run) -> Check:
    """Check a claim on a run, in the run's arithmetic.

    A failed assumption or condition makes the claim not applicable, never false.
    Raises `InputError` for a claim that cannot be evaluated.
    """
    try:
        with precise_enclosures():
            return _check(claim, run)
    except Misplaced as reason:
        raise InputError(claim.id, str(reason)) from None
    except (NotApplicable, Diverging) as reason:
        return Check(claim, run.arithmetic, False, str(reason), diverges=isinstance(reason, Diverging))


def _check(claim: Claim, run: Run) -> Check:
    failures = [f"{a.name}: {failure}" for a in claim.assumptions if (failure := a.failure(run)) is not None]
    conditions = _conditions(claim, run, failures)
    failures += [f"the condition {claim.in_words(c.expression)} does not hold" for c in conditions if not c.holds]
    if failures:
        return Check(claim, run.arithmetic, False, "; ".join(failures), conditions)
    found = Check(claim, run.arithmetic, True, None, conditions, regions=_regions(claim, run))
    if claim.rate is not None:
        return replace(found, rate=check_rate(claim, run))
    if not claim.relations:
        return replace(found, reason="there is no relation to check: the claim says what something is")
    return replace(found, comparisons=tuple(compare(links_of(claim), lambda: sites(claim, run))))


def _conditions(claim: Claim, run: Run, failures: list[str]) -> tuple[ConditionCheck, ...]:
    """All conditions with their slack; a condition that cannot be evaluated is a failure."""
    try:
        compared = compare(condition_links(claim), lambda: [whole_run(run)])
    except NotApplicable as reason:
        failures.append(str(reason))
        return ()
    found = zip(claim.conditions, compared, strict=True)
    return tuple(_condition(condition, at) for condition, at in found if not _is_of_rungs(claim, condition))


def _is_of_rungs(claim: Claim, condition: Expr) -> bool:
    """Whether a condition restricts the variable of a rate: it is asked on each rung, not on the run."""
    return claim.rate is not None and claim.rate.variable in condition.free_symbols


def _regions(claim: Claim, run: Run) -> dict[str, str]:
    """Where the constants that the claim uses hold."""
    used = {n.name: n.region for n in claim.notation.values() if isinstance(n, Quantity) and n.region is not None}
    return {name: used[name](run).description for name in sorted(used)}


def _condition(condition: Expr, compared: Comparison) -> ConditionCheck:
    gap = compared.rhs - compared.lhs
    slack = -gap if compared.relation.operator in (">=", ">") else gap
    # Within a near tie of its edge a float cannot decide a condition; the claim is evaluated there, and
    # whatever follows from it is confirmed in rationals, where the condition is decided as well.
    return ConditionCheck(condition, compared.holds is not False, slack)

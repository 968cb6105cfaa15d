"""One claim on one run: is it applicable, do its conditions hold, what are its two sides?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from fedtheory.arithmetic import ENCLOSED, Arithmetic, Number, plain_float
from fedtheory.arithmetic.enclosures import ENCLOSURE_BITS, precise_enclosures
from fedtheory.engine.region import Everywhere
from fedtheory.engine.run import Run
from fedtheory.errors import Diverging, InputError, Misplaced, NotApplicable, Unresolved
from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from fedtheory.language.evaluation import Site, sites, whole_run
from fedtheory.language.quantities import Quantity
from fedtheory.language.typesetting import latex
from verify.compare import Comparison, compare, condition_links, links_of
from verify.rates import RateCheck, check_rate


@dataclass(frozen=True)
class ConditionCheck:
    """One condition on one run; `slack` is how far it is from failing, in the units of its sides."""

    expression: Expr
    holds: bool | None
    """None where floats are too close to decide."""
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
    is_steady: bool = True
    """False where floats cannot tell whether the claim applies: nearby runs disagree, or the run leaves their range."""
    bits: int | None = None
    """Of enclosures, the precision of the answer."""

    @property
    def is_decided(self) -> bool:
        """Whether rounding has no say in the answer: neither in the assumptions and conditions nor in the verdict.

        A violation in floats is not decided before exact arithmetic confirms it.
        """
        if not self.is_steady or any(condition.holds is None for condition in self.conditions):
            return False
        if not self.applicable or not (self.comparisons or self.rate):
            return True
        return self.holds is True or (self.holds is False and self.arithmetic.is_rigorous)

    @property
    def holds(self) -> bool | None:
        """True, False, or None where undecided or not applicable."""
        if not self.applicable or not self.is_steady:
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


PRECISIONS = (ENCLOSURE_BITS, 4 * ENCLOSURE_BITS)
"""Bits of enclosures, beside those that a long run uses up: a check is repeated with more where they do not decide."""


def check(claim: Claim, run: Run, nearby: Sequence[Run] = (), precisions: Sequence[int] = PRECISIONS) -> Check:
    """Check a claim on a run, in the run's arithmetic.

    A failed assumption or condition makes the claim not applicable, never false.
    What the `nearby` runs of a float run disagree about is left undecided.  In
    enclosures `precisions` are tried one after the other until the claim is decided.
    Raises `InputError` for a claim that cannot be evaluated.
    """
    if run.arithmetic is not ENCLOSED:
        return _check_once(claim, run, nearby)
    for bits in (least + run.lost_bits for least in precisions):
        with precise_enclosures(bits):
            found = replace(_with_certain_conditions(_check_once(claim, run.refined(bits), ())), bits=bits)
        if found.is_decided or claim.rate is not None:
            return found
    closer = f"the two sides are equal, or closer than enclosures of {bits} bits can tell"
    return replace(found, reason=found.reason or closer)


def _with_certain_conditions(found: Check) -> Check:
    """A check in enclosures; where a condition is left open nothing is said of the claim."""
    open_ones = [found.claim.in_words(c.expression) for c in found.conditions if c.holds is None]
    if not found.applicable or not open_ones:
        return found
    reason = f"both sides of the condition {open_ones[0]} are equal, or too close for their enclosures"
    return replace(found, is_steady=False, reason=reason)


def _check_once(claim: Claim, run: Run, nearby: Sequence[Run]) -> Check:
    """A check at the precision at hand."""
    try:
        # What overflows is infinite or NaN, and decides nothing.
        with precise_enclosures(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return _check(claim, run, nearby)
    except Misplaced as reason:
        raise InputError(claim.id, str(reason)) from None
    except (Unresolved, Diverging) as reason:
        diverges = isinstance(reason, Diverging)
        return Check(claim, run.arithmetic, False, str(reason), diverges=diverges, is_steady=False)
    except NotApplicable as reason:
        if not nearby:
            return Check(claim, run.arithmetic, False, str(reason))
    # The reason may be that of a nearby run.
    found = _check_once(claim, run, ())
    agreed = all(_check_once(claim, near, ()).applicable == found.applicable for near in nearby)
    return replace(found, is_steady=agreed)


def _check(claim: Claim, run: Run, nearby: Sequence[Run]) -> Check:
    # What is outside the language is an error whether or not the claim applies.
    links = links_of(claim)
    failures = _failures(claim, run)
    is_steady = all(bool(_failures(claim, near)) == bool(failures) for near in nearby)
    conditions = _conditions(claim, run, nearby, failures)
    failed = [c for c in conditions if c.holds is False]
    failures += [f"the condition {claim.in_words(c.expression)} does not hold" for c in failed]
    if failures:
        return Check(claim, run.arithmetic, False, "; ".join(failures), conditions, is_steady=is_steady or bool(failed))
    regions = _regions(claim, run)
    found = Check(claim, run.arithmetic, True, None, conditions, regions=regions, is_steady=is_steady)
    if not is_steady:
        return found
    if claim.rate is not None:
        return _with_rate(found, run, nearby)
    if not claim.relations:
        return replace(found, reason="there is no relation to check: the claim says what something is")
    around = [partial(sites, claim, near) for near in nearby]
    return replace(found, comparisons=tuple(compare(links, lambda: sites(claim, run), around)))


def _failures(claim: Claim, run: Run) -> list[str]:
    """Assumptions that fail, with their reasons; `Unresolved` where floats cannot tell."""
    failures = []
    for assumption in claim.assumptions:
        try:
            assumption.require(run)
        except Unresolved:
            raise
        except NotApplicable as reason:
            failures.append(f"{assumption.name}: {reason}")
    return failures


def _with_rate(found: Check, run: Run, nearby: Sequence[Run]) -> Check:
    rate = check_rate(found.claim, run)
    agreed = all(check_rate(found.claim, near).holds == rate.holds for near in nearby)
    return replace(found, rate=rate if agreed else replace(rate, holds=None))


def _conditions(claim: Claim, run: Run, nearby: Sequence[Run], failures: list[str]) -> tuple[ConditionCheck, ...]:
    """All conditions with their slack; a condition that cannot be evaluated is a failure."""
    around = [partial(_at_the_run, near) for near in nearby]
    try:
        compared = compare(condition_links(claim), partial(_at_the_run, run), around)
    except Unresolved:
        raise
    except NotApplicable as reason:
        failures.append(str(reason))
        return ()
    found = zip(claim.conditions, compared, strict=True)
    return tuple(_condition(condition, at) for condition, at in found if not _is_of_rungs(claim, condition))


def _at_the_run(run: Run) -> list[Site]:
    return [whole_run(run)]


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
    return ConditionCheck(condition, compared.holds, slack)

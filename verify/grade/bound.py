"""Grade a student's bound against a claim: equal, proved, refuted by a run or not refuted, and its looseness.

Budgets are counted in runs, not in seconds, so that the same answer gets the same grade on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

from fedtheory.errors import InputError
from fedtheory.kernel import is_nonnegative
from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from fedtheory.language.registry import list_sharper_claims
from fedtheory.proofs import prove
from fedtheory.proofs.numbers import numbers_of
from fedtheory.proofs.proof import follows
from verify.falsify.regimes import search_regimes
from verify.falsify.run_tables import Table
from verify.grade.battery import Trial, build_battery
from verify.grade.counterexample import Counterexample, describe_size, shrink_counterexample
from verify.grade.equality import are_equal, has_units_of
from verify.grade.looseness import Growth, Looseness, measure_looseness
from verify.grade.partial_credit import Standing, compute_share
from verify.searches import find_premises

_THOUSAND = 1_000


@dataclass(frozen=True)
class BoundFinding:
    """Result for a student's bound on the left side of a claim."""

    standing: Standing
    answer: Expr
    reason: str
    right_units: bool
    excess: float | None = None
    """The largest ratio of the answer to the reference; infinite if it is unbounded."""
    tightness: float | None = None
    """The largest ratio of the left side to the answer; 1 for a bound that is attained."""
    counterexample: Counterexample | None = None
    """The run that violates a refuted answer, with both sides."""
    growth: Growth = ()
    """Changes of symbols along which the excess is unbounded."""
    shrinking: Growth = ()
    """Changes of symbols along which the ratio of an answer to every proved bound tends to zero."""
    has_value: bool = True
    """Whether the answer has a value on all exact test runs; a quotient has none where its denominator is zero."""
    follows_from: tuple[str, ...] = ()
    """The proved claims and facts that imply the answer, if a search found a certificate."""

    @property
    def share(self) -> Fraction:
        """Return the fraction of the points."""
        return compute_share(self.standing, self.excess, self.right_units)


def grade_bound(claim: Claim, answer: Expr, budget: float = 2) -> BoundFinding:
    """Grade an upper bound for the left side of a claim against the claim's own right side.

    `answer` uses the symbols of the claim. `budget` is the size of the search in thousands of runs; answers that are
    equal to the reference, proved, or refuted by a test run need no search. Raises `InputError` for a claim that is no
    upper bound on one left side.
    """
    if claim.lhs is None or claim.relation != "<=":
        raise InputError(claim.id, "expected a claim of the form lhs <= rhs, whose right side is asked for")
    if are_equal(answer, claim.relations[0].right):
        return BoundFinding("equal", answer, "the answer equals the reference", True, excess=1.0)
    stated = replace(claim, id="answer", rhs=answer, chain=(), also=(), verdict=None, printed=None, note="", title="")
    try:
        trial = build_battery(claim).try_claim(stated)
    except InputError as error:
        return BoundFinding("not applicable", answer, error.message, False)
    return _grade_tried(claim, stated, trial, budget)


def _grade_tried(claim: Claim, stated: Claim, trial: Trial, budget: float) -> BoundFinding:
    """Grade an answer, stated as a claim, that test runs have tried."""
    answer = stated.relations[0].right
    right_units = has_units_of(answer, claim.relations[0].right, claim) is not False
    if trial.violation is not None:
        return _build_refuted(stated, right_units, trial.violation)
    if trial.without_value is not None:
        reason = f"it has no value on {describe_size(trial.without_value)}"
        return BoundFinding("not refuted", answer, reason, right_units, has_value=False)
    smaller = _find_smaller_bound(claim, answer)
    premises = find_premises(stated) if smaller is None else (smaller.id,)
    if premises is not None:
        found = _build_not_refuted("proved", claim, answer, _explain_proof(premises), trial.largest_ratio)
        return replace(found, follows_from=premises)
    search = search_regimes(stated, round(_THOUSAND * budget))
    if search.counterexample is not None:
        return _build_refuted(stated, right_units, search.counterexample.table)
    reason = f"no violation in {trial.tried + search.applicable} test runs"
    tightness = max(filter(None, (trial.largest_ratio, search.largest_ratio)), default=None)
    found = _build_not_refuted("not refuted", claim, answer, reason, tightness)
    return replace(found, shrinking=_find_shrinking(claim, stated))


def _explain_proof(premises: tuple[str, ...]) -> str:
    if premises:
        return f"it follows from {', '.join(premises)}"
    return "it follows from the conditions of the claim alone"


def _build_not_refuted(
    standing: Standing, claim: Claim, answer: Expr, reason: str, tightness: float | None
) -> BoundFinding:
    right_units = has_units_of(answer, claim.relations[0].right, claim) is not False
    loose = _measure_looseness(claim, answer)
    return BoundFinding(standing, answer, reason, right_units, loose.excess, tightness, growth=loose.growth)


def _build_refuted(stated: Claim, right_units: bool, table: Table) -> BoundFinding:
    """Return the result for a refuted bound, from the run file that the student gets."""
    reason, answer = "a run violates it, in exact arithmetic", stated.relations[0].right
    return BoundFinding("refuted", answer, reason, right_units, counterexample=shrink_counterexample(stated, table))


def _measure_looseness(claim: Claim, answer: Expr) -> Looseness:
    """Return the largest excess over the reference, over values of symbols and over runs."""
    over_values = measure_looseness(claim, answer)
    if over_values is not None and over_values.growth:
        return over_values
    against = replace(claim, id="answer", lhs=answer, rhs=claim.relations[0].right, chain=(), also=(), verdict=None)
    excesses = [None if over_values is None else over_values.excess, build_battery(claim).largest_ratio(against)]
    return Looseness(max((excess for excess in excesses if excess is not None), default=None))


def _find_shrinking(claim: Claim, stated: Claim) -> Growth:
    """Return changes along which the answer falls below every proved bound; empty if there are none."""
    known = _list_proved_bounds(claim) or (claim,)
    falls = [measure_looseness(stated, bound.relations[0].right) for bound in known]
    # Bounds with quantities that cannot be chosen freely are not compared.
    growths = [fall.growth for fall in falls if fall is not None]
    return growths[0] if growths and all(growths) else ()


def _find_smaller_bound(claim: Claim, answer: Expr) -> Claim | None:
    """Return a proved bound that is at most the answer, by the kernel: the reference, or a tightened one."""
    known = _list_proved_bounds(claim)
    return next((bound for bound in known if _is_at_least(claim, answer, bound.relations[0].right)), None)


def _is_at_least(claim: Claim, answer: Expr, known: Expr) -> bool:
    difference = answer - known
    is_rational = difference.is_rational_function(*difference.free_symbols)
    return bool(is_rational) and is_nonnegative(difference, numbers_of(claim), claim.conditions)


@cache
def _list_proved_bounds(claim: Claim) -> tuple[Claim, ...]:
    """Return the claim and its tightened versions that are proved under no stronger assumptions."""
    return tuple(known for known in (claim, *list_sharper_claims(claim)) if _implies_bound(claim, known))


def _implies_bound(claim: Claim, known: Claim) -> bool:
    """Return whether a known claim bounds the same side under assumptions and conditions of the claim."""
    is_implied = set(known.assumptions) <= set(claim.assumptions) and all(
        follows(condition, claim) for condition in known.conditions
    )
    same_side = (known.lhs, known.relation) == (claim.lhs, claim.relation)
    return same_side and is_implied and prove(known).verdict == "proved"

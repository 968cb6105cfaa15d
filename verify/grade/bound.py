"""A student's bound against a claim: equal, valid and how tight, or refuted by the smallest run that is found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import islice
from time import perf_counter

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.kernel import is_nonnegative
from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from fedtheory.language.registry import sharper_claims
from fedtheory.proofs import prove
from fedtheory.proofs.numbers import numbers_of
from fedtheory.proofs.proof import follows
from fedtheory.runfile import parse_run, run_table, run_toml
from verify.check import Check, check
from verify.falsify import falsify, shrink
from verify.grade.rule import Standing, share
from verify.grade.same import are_equal, has_units_of
from verify.instances import FAMILIES, complexity, families_for

_RUNS = 160
"""How many small exact runs every answer is tried on, before any search."""
_SHRINKING = 1.0
"""Seconds for making a counterexample smaller."""


@dataclass(frozen=True)
class BoundFinding:
    """What is found about a bound that a student gives for the left side of a claim."""

    standing: Standing
    answer: Expr
    reason: str
    right_units: bool
    excess: float | None = None
    """The largest factor by which the answer is above the reference, over the runs that both were tried on."""
    tightness: float | None = None
    """The largest ratio of the left side to the answer; 1 for a bound that is attained."""
    lhs: str | None = None
    rhs: str | None = None
    """The sides on the counterexample, exact."""
    run_file: str | None = None
    """The counterexample, as the text of a run file."""

    @property
    def share(self) -> Fraction:
        """The share of the points."""
        return share(self.standing, self.excess, self.right_units)


def grade_bound(claim: Claim, answer: Expr, budget: float = 2) -> BoundFinding:
    """Grade an upper bound for the left side of a claim against the claim's own right side.

    `answer` is written with the symbols of the claim.  `budget` is in seconds of
    search, for answers that neither equal the reference nor fail on a small run.
    `InputError` for a claim that is no upper bound of one left side.
    """
    if claim.lhs is None or claim.relation != "<=":
        raise InputError(claim.id, "expected a claim of the form lhs <= rhs, whose right side is asked for")
    reference = claim.relations[0].right
    right_units = has_units_of(answer, reference, claim) is not False
    if are_equal(answer, reference):
        return BoundFinding("equal", answer, "the answer equals the reference", True, excess=1.0)
    stated = replace(claim, id="answer", rhs=answer, chain=(), also=(), verdict=None, printed=None, note="", title="")
    try:
        found = [check(stated, run) for run in battery(claim)]
    except InputError as error:
        return BoundFinding("not applicable", answer, error.message, False)
    violated = next((run for run, seen in zip(battery(claim), found, strict=True) if seen.holds is False), None)
    if violated is not None:
        smallest = shrink(stated, run_table(violated), perf_counter() + _SHRINKING)
        return _with_run(stated, answer, right_units, smallest)
    excess = _excess(claim, answer)
    if _is_proved(claim, answer):
        reason = "it is at least as large as a bound that is proved, under the conditions of the claim"
        return BoundFinding("proved", answer, reason, right_units, excess, _tightness(found))
    finding = falsify(stated, budget)
    if finding.verdict == "refuted" and finding.run is not None:
        return _with_run(stated, answer, right_units, finding.run)
    tightest = max(filter(None, (_tightness(found), finding.best_ratio)), default=None)
    reason = f"no violation in {len(found) + finding.looked} runs"
    return BoundFinding("not refuted", answer, reason, right_units, excess, tightest)


def _with_run(stated: Claim, answer: Expr, right_units: bool, table: dict[str, object]) -> BoundFinding:
    """The finding of a refutation, from the run file that the student gets."""
    worst = check(stated, parse_run(table, RATIONAL)).worst
    assert worst is not None
    lhs, rhs = RATIONAL.text(worst.lhs), RATIONAL.text(worst.rhs)
    reason = "a run violates it, in exact arithmetic"
    return BoundFinding("refuted", answer, reason, right_units, lhs=lhs, rhs=rhs, run_file=run_toml(table))


@cache
def battery(claim: Claim) -> tuple[Run, ...]:
    """Small exact runs on which a claim applies, the simplest first; kept, so that they are simulated once."""
    names = [name for name in families_for(claim) if not FAMILIES[name].in_floats]
    instances = (instance for name in names for instance in FAMILIES[name].instances)
    with_runs = sorted(((complexity(i, run), n, run) for n, i in enumerate(instances) for run in [i.run()]))
    applicable = (run for _, _, run in with_runs if check(claim, run).applicable)
    return tuple(islice(applicable, _RUNS))


def _is_proved(claim: Claim, answer: Expr) -> bool:
    """Whether the kernel proves that the answer is at least the reference, or a sharper bound, which is proved."""
    return any(_is_at_least(claim, answer, known.relations[0].right) for known in _proved_bounds(claim))


def _is_at_least(claim: Claim, answer: Expr, known: Expr) -> bool:
    difference = answer - known
    is_rational = difference.is_rational_function(*difference.free_symbols)
    return bool(is_rational) and is_nonnegative(difference, numbers_of(claim), claim.conditions)


@cache
def _proved_bounds(claim: Claim) -> tuple[Claim, ...]:
    """The claim and those that sharpen it, as far as they are proved and ask for no more than it does."""
    return tuple(known for known in (claim, *sharper_claims(claim)) if _serves(claim, known))


def _serves(claim: Claim, known: Claim) -> bool:
    asks_no_more = set(known.assumptions) <= set(claim.assumptions) and all(
        follows(condition, claim) for condition in known.conditions
    )
    same_side = (known.lhs, known.relation) == (claim.lhs, claim.relation)
    return same_side and asks_no_more and prove(known).verdict == "proved"


def _tightness(found: Sequence[Check]) -> float | None:
    return max((seen.ratio for seen in found if seen.ratio is not None), default=None)


def _excess(claim: Claim, answer: Expr) -> float | None:
    """The largest quotient of the answer and the reference, over the runs where the reference is positive."""
    against = replace(claim, id="answer", lhs=answer, rhs=claim.relations[0].right, chain=(), also=(), verdict=None)
    return max((r for run in battery(claim) if (r := check(against, run).ratio) is not None), default=None)

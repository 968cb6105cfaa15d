"""Mark a bound: loose ones get a part of the points, refuted ones get a counterexample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from fedtheory.language.exercises import BoundQuestion
from fedtheory.language.registry import all_claims
from verify.grade.asked_formula import read_formula
from verify.grade.bound import BoundFinding, grade_bound
from verify.grade.looseness import Growth
from verify.grade.partial_credit import BOUND_RULE, CLOSE
from verify.grade.questions.mark import Mark, describe_rule, mark_text

_SEARCHING = 0.5
"""Search size in thousands of runs for one bound: a hundred bounds on two cores take a minute or two."""
_LONGEST = 24
"""Number of digits up to which a fraction is displayed as one."""


@describe_rule.register
def _describe_rule(_question: BoundQuestion) -> str:
    return BOUND_RULE


@mark_text.register
def _mark(question: BoundQuestion, text: str) -> Mark:
    found = _grade_bound(question.claim, read_formula(question, text))
    texts = {symbol: text for text, symbol in question.names.items()}
    if not found.has_value:
        return Mark(None, f"not decided, a person reads this answer: {found.reason}")
    if found.shrinking:
        return Mark(None, _describe_undecided(found, texts))
    mark, run = Mark(found.share, _describe_mistake(found, texts)), found.counterexample
    return mark if run is None else replace(mark, run_file=run.run_file, relation=run.relation)


@lru_cache(maxsize=1024)
def _grade_bound(claim: Claim, answer: Expr) -> BoundFinding:
    """Grade a bound; cached, because many students give the same answer."""
    return grade_bound(claim, answer, _SEARCHING)


def _describe_mistake(found: BoundFinding, texts: Mapping[Expr, str]) -> str:
    """Describe the mistake to the student, with the student's texts of symbols."""
    if found.standing == "equal":
        return "correct: your bound equals the reference"
    if found.counterexample is not None:
        units = "" if found.right_units else "; its terms do not all have the units of the left side"
        run = found.counterexample
        left, right = (_format_number(*side) for side in zip((run.lhs, run.rhs), run.about, strict=True))
        quarter = "" if not found.right_units else "; a quarter of the points is for the right units"
        return f"violated on the run below: the true value is {left}, your bound gives {right}{units}{quarter}"
    if found.standing == "not applicable":
        return f"your bound cannot be evaluated: {found.reason}"
    known = "correct" if found.standing == "proved" else "not refuted"
    if found.share < 1:
        known += ", but loose"
    premises = ", ".join(map(_describe_premise, found.follows_from)) or "the conditions alone"
    why = f"it follows from {premises}" if found.standing == "proved" else f"{found.reason} (this is not a proof)"
    return f"{known}: {why}; {_describe_looseness(found, texts)}{_describe_tightness(found)}"


def _describe_premise(name: str) -> str:
    """Return the id of a published claim with its place in the paper; other names as they are."""
    known = all_claims().get(name)
    return name if known is None or not known.locator else f"{name} ({known.locator})"


def _describe_undecided(found: BoundFinding, texts: Mapping[Expr, str]) -> str:
    """Describe an answer that no run refutes, but that lacks a term or a factor of every proved bound."""
    smaller = f"it becomes arbitrarily smaller than the proved bounds while {_describe_changes(found.shrinking, texts)}"
    return f"not decided, a person reads this answer: {found.reason}, but {smaller}"


def _describe_changes(growth: Growth, texts: Mapping[Expr, str]) -> str:
    return ", ".join(f"{texts.get(symbol, symbol)} {change}" for symbol, change in growth)


def _format_number(exact: str, rounded: float) -> str:
    """Format a number as a fraction if it is short, and as a decimal."""
    about = f"{rounded:.3g}"
    if len(exact) > _LONGEST:
        return f"about {about}"
    return exact if exact == about else f"{exact} (about {about})"


def _describe_looseness(found: BoundFinding, texts: Mapping[Expr, str]) -> str:
    """Compare the answer with the reference, and state the condition of full marks."""
    if found.excess is None:
        return f"it could not be compared with the reference (full marks need at most {CLOSE} times the reference)"
    needed = "" if found.share == 1 else f" (full marks need at most {CLOSE} times the reference)"
    if found.growth:
        return (
            f"it becomes arbitrarily larger than the reference while {_describe_changes(found.growth, texts)}{needed}"
        )
    if found.excess <= 1:
        return "it exceeds the reference nowhere that was tried"
    return f"it is up to {found.excess:.3g} times the reference{needed}"


def _describe_tightness(found: BoundFinding) -> str:
    return "" if found.tightness is None else f"; the left side reaches at most {100 * found.tightness:.3g} % of it"

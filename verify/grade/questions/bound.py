"""Marking a bound: looser ones count in part, refuted ones get a counterexample."""

from __future__ import annotations

from functools import lru_cache

from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from fedtheory.language.exercises import BoundQuestion
from verify.grade.answer import read_answer
from verify.grade.bound import BoundFinding, grade_bound
from verify.grade.questions.mark import Mark, mark_text, rule_of
from verify.grade.rule import BOUND_RULE

_SEARCHING = 1.5
"""Seconds of search for one bound: a hundred different ones on two cores take little more than a minute."""


@rule_of.register
def _rule(_question: BoundQuestion) -> str:
    return BOUND_RULE


@mark_text.register
def _mark(question: BoundQuestion, text: str) -> Mark:
    found = _finding(question.claim, read_answer(text, question.names))
    return Mark(found.share, _in_words(found), found.run_file)


@lru_cache(maxsize=1024)
def _finding(claim: Claim, answer: Expr) -> BoundFinding:
    """Kept, because many students give the same answer."""
    return grade_bound(claim, answer, _SEARCHING)


def _in_words(found: BoundFinding) -> str:
    if found.standing == "equal":
        return f"right: {found.reason}"
    if found.standing == "refuted":
        units = "" if found.right_units else "; besides, its terms do not all have the units of the left side"
        sides = f"there the left side is {found.lhs}, your bound {found.rhs}"
        again = "save the run below as run.toml and try `fedtheory simulate run.toml`"
        return f"not a bound: {found.reason}; {sides}{units}; {again}"
    if found.standing == "not applicable":
        return f"the bound cannot be evaluated: {found.reason}"
    size = "" if found.excess is None else f"; it is up to {found.excess:.3g} times the reference"
    attained = "" if found.tightness is None else f"; the left side reaches {100 * found.tightness:.3g} % of it"
    return f"valid: {found.reason}{size}{attained}"

"""Check whether a claim applies to a run: its assumptions with reasons, its conditions with their slack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fedtheory.arithmetic import Number
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable, Unresolved
from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from fedtheory.language.premises import Exclusion, list_failed_premises
from fedtheory.language.quantities.quantity import ScalarQuantity, VectorQuantity
from fedtheory.language.setting import describe_setting, format_setting
from fedtheory.language.typesetting import latex
from verify.check.comparison import compare_whole_run
from verify.check.ladders import list_ladders
from verify.check.links import CompiledRelation, compile_conditions


@dataclass(frozen=True)
class ConditionCheck:
    """One condition on one run; `slack` is its distance from failing, in the units of its sides."""

    expression: Expr
    holds: bool | None
    """None where floats are too close to decide; the claim is then evaluated, and rationals confirm its condition."""
    slack: Number
    sides: tuple[Number, Number]
    """Both sides at the client or step with the smallest slack."""

    @property
    def latex(self) -> str:
        """Return the condition as LaTeX."""
        return latex(self.expression)


@dataclass(frozen=True)
class Applicability:
    """Whether a claim applies to a run, with reasons if not."""

    failures: tuple[Exclusion, ...]
    """Each failed assumption with its reason, and each condition that fails or has no value."""
    conditions: tuple[ConditionCheck, ...]
    is_steady: bool
    """Whether the perturbed runs give the same answer."""


def check_applicability(claim: Claim, run: Run, perturbed: Sequence[Run]) -> Applicability:
    """Check all assumptions and conditions; raises `Unresolved` where floats cannot decide."""
    failures = list_failed_premises(claim, run)
    agree = all(bool(list_failed_premises(claim, near)) == bool(failures) for near in perturbed)
    try:
        found = _check_conditions(claim, run, perturbed)
        conditions = tuple(one for one in found if not is_left_to_levels(claim, one.expression))
    except Unresolved:
        raise
    except NotApplicable as reason:
        return Applicability((*failures, name_exclusion(claim, reason)), (), agree)
    names = [claim.in_words(condition.expression) for condition in conditions if condition.holds is False]
    failed = [Exclusion(name, f"the condition {name} does not hold") for name in names]
    return Applicability((*failures, *failed), conditions, agree or bool(failed))


def name_exclusion(claim: Claim, reason: NotApplicable) -> Exclusion:
    """Name the quantity without a value on a run; if no such quantity is known, the first vector of the claim."""
    vectors = (
        quantity.name for quantity in claim.notation.values() if isinstance(quantity, VectorQuantity | ScalarQuantity)
    )
    name = reason.name or next(vectors, "")
    return Exclusion(name or reason.reason, str(reason.about(name)))


def explain_exclusion(claim: Claim, excluded: Sequence[Exclusion]) -> str:
    """Explain why a claim does not apply to a run; failed implied assumptions are worded differently."""
    names = {assumption.name for assumption in claim.supposed}
    unsaid = [one.reason for one in excluded if one.is_assumption and one.name in names]
    reasons = [str(one) for one in excluded if not (one.is_assumption and one.name in names)]
    if unsaid:
        opening = f"the claim names no setting, so {describe_setting(claim)} is assumed, and on this run "
        reasons.insert(
            0, f"{opening}{'; '.join(dict.fromkeys(unsaid))}; write {format_setting(claim)} for another setting"
        )
    return "; ".join(reasons)


def check_conditions(claim: Claim, run: Run) -> bool:
    """Return whether all conditions hold; undecidable boundary cases count as satisfied."""
    return all(found.holds is not False for found in _check_conditions(claim, run))


def _check_conditions(claim: Claim, run: Run, perturbed: Sequence[Run] = ()) -> list[ConditionCheck]:
    links = zip(claim.run_conditions, compile_conditions(claim), strict=True)
    return [_check_condition(condition, link, run, perturbed) for condition, link in links]


def _check_condition(condition: Expr, link: CompiledRelation, run: Run, perturbed: Sequence[Run]) -> ConditionCheck:
    """Check a condition on a run; the result is shared by claims unless perturbed runs matter."""
    if perturbed:
        return _compare(condition, link, run, perturbed)
    return run.memo.compute_once(link, lambda: _compare(condition, link, run, ()))


def _compare(condition: Expr, link: CompiledRelation, run: Run, perturbed: Sequence[Run]) -> ConditionCheck:
    at = compare_whole_run(link, run, perturbed)
    return ConditionCheck(condition, at.holds, link.slack(at.lhs, at.rhs), (at.lhs, at.rhs))


def is_left_to_levels(claim: Claim, condition: Expr) -> bool:
    """Return whether a condition restricts a variable of a rate; it is then checked on each level, not on the run."""
    return claim.rate is not None and not condition.free_symbols.isdisjoint(list_ladders(claim))

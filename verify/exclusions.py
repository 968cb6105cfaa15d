"""Names of the assumptions, conditions and quantities that exclude runs from a claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from fedtheory.language.claim import Claim
from fedtheory.language.premises import premises
from verify.evaluated_instances import Outcome, try_claims
from verify.falsify import Finding
from verify.instances import PARTS


def count_exclusions(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Count the instances that each premise is the first to exclude, in descending order."""
    counts = Counter(outcome.excluded for outcome in outcomes if not outcome.applicable and outcome.excluded)
    return dict(counts.most_common())


def explain_no_instance(claim: Claim) -> str | None:
    """Name the premise that excludes all instances; None where the claim applies to some of them."""
    outcomes = try_claims([claim], PARTS[0])
    return (
        None
        if any(outcome.applicable for outcome in outcomes)
        else describe_exclusions(claim, count_exclusions(outcomes))
    )


def explain_finding(finding: Finding) -> Finding:
    """Return the outcome of a search; if the claim applied to no run, "not applicable" with the reason."""
    if finding.applicable or finding.verdict == "refuted":
        return finding
    reason = explain_no_instance(finding.claim)
    return finding if reason is None else replace(finding, verdict="not applicable", reason=reason)


def describe_exclusions(claim: Claim, excluded: Mapping[str, int]) -> str:
    """Name the premises that exclude runs from a claim, each with the number of excluded runs."""
    if not excluded:
        return "no run was found to which it applies"
    assumptions = {assumption.name for assumption in premises(claim)}
    conditions = {claim.in_words(condition) for condition in claim.run_conditions}
    quantities = {quantity.name for quantity in claim.notation.values()}

    def describe_assumption(name: str) -> str:
        if name in quantities:
            return f"{name} has no value"
        if name in assumptions | conditions:
            return f"the {'assumption' if name in assumptions else 'condition'} {name} fails"
        return name

    return "; ".join(
        f"{describe_assumption(name)} ({count} run{'s' * (count != 1)})" for name, count in excluded.items()
    )

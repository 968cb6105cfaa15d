"""Combine outcomes on many instances into one verdict per claim."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fedtheory.errors import InputError
from fedtheory.language.claim import Claim, Verdict
from fedtheory.language.registry import find_publisher
from fedtheory.language.targets import Target, resolve
from fedtheory.runfile import run_table
from verify import cache
from verify.check import check
from verify.check.outcome import rank_unclearness
from verify.claim_verdict import ClaimVerdict
from verify.digests import digest_verdict
from verify.early_decisions import DECIDED, Decision, Stored, decide_claims
from verify.effort import measure_work
from verify.evaluated_instances import (
    Outcome,
    count_tries,
    is_evidence,
    require_processes,
    require_testable,
    try_claims,
)
from verify.exclusions import count_exclusions
from verify.falsify import search_quickly
from verify.falsify.shrink import measure_reading_effort, shrink
from verify.instances import PARTS
from verify.processes import run_in_order, run_unordered
from verify.ratios import combine_ratios, find_largest_ratio, is_close
from verify.searches import Searches, search_proof_and_violation
from verify.stages import Stages
from verify.targeted_instances import (
    add_targeted_instances,
    are_enough,
    count_missing_aspects,
    list_excluded_aspects,
)
from verify.witness import Witness

_OPEN: tuple[Verdict, ...] = ("supported", "asymptotic", "not applicable", "undecided")
"""Verdicts that a violation would change."""
_FEW_LADDERS = 5
"""Number of float ladders that are checked again in rationals, which takes seconds each."""


def verify(
    targets: Sequence[Target] | Target,
    *,
    jobs: int = 1,
    search: float = 0,
    in_full: bool = False,
    on_progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> list[ClaimVerdict]:
    """Try claims, given as ids, as ``file.py:NAME`` or as objects, on their families of instances.

    Claims that are given as objects cannot be sent to other processes, so all work is then done in this process.

    A violation counts only if rationals or disjoint enclosures confirm it. A user-defined claim that holds so far gets
    instances until there are enough of every kind, and is searched for a violation for at most `search` seconds of
    counted work. With too few instances it stays undecided. Claims decided by a proof or a stored counterexample are
    tried on a sample, or with `in_full` on full families; user-defined claims always use full families. Cached verdicts
    of the same code and claims are used again.

    Raises `InputError` if a target is no claim, or a claim that cannot be checked on any run.
    """
    if not search >= 0:
        raise InputError("search", f"expected a number of seconds that is not negative, got {search}")
    require_processes(jobs)
    named = _list_targets(targets)
    jobs = jobs if all(isinstance(target, str) for target in named) else 1
    verdicts = {target: _read_cached(target, search, in_full) for target in named}
    unknown = [target for target, found in verdicts.items() if found is None]
    for target in unknown:
        require_testable(target)
    for found in _find_verdicts(unknown, jobs, search, in_full, on_progress):
        verdicts[found.given] = found
        if isinstance(found.given, str):
            cache.save(found, *_make_key(found.given, search, in_full))
    return [verdict for verdict in verdicts.values() if verdict is not None]


def _list_targets(targets: Sequence[Target] | Target) -> list[Target]:
    """List the targets one by one."""
    several = [targets] if isinstance(targets, Target) else list(targets)
    for target in several:
        if not isinstance(target, Target):
            raise InputError("targets", f"expected ids, file.py:NAME or claims, got {target!r}")
    return several


def _read_cached(target: Target, search: float, in_full: bool) -> ClaimVerdict | None:
    """Return the cached verdict; None without one, and for invalid targets, which are reported later."""
    if not isinstance(target, str):
        return None
    try:
        found: ClaimVerdict | None = cache.find(*_make_key(target, search, in_full))
    except InputError:
        return None
    return found


def _make_key(target: str, search: float, in_full: bool) -> tuple[str, ...]:
    return "verdict", target, str(float(search)), str(in_full or _is_user_defined(target)), *digest_verdict(target)


def _is_user_defined(target: Target) -> bool:
    """Return whether a claim is user-defined; its pages and its verdict share all outcomes."""
    return find_publisher(resolve(target)) is None


def _find_verdicts(
    targets: Sequence[Target], jobs: int, search: float, in_full: bool, on_progress: Callable[[int, int], None]
) -> Iterator[ClaimVerdict]:
    """Yield verdicts in the order in which they are found, by instances, proofs and searches.

    Searches that are made whatever the instances show begin at once, beside the instances.
    """
    decisions = decide_claims(targets, jobs)
    early = [target for target in targets if search > 0 and _is_searched_anyway(resolve(target))]
    searches = run_in_order(search_proof_and_violation, [(target, search) for target in early], jobs)
    stages = Stages(on_progress)

    outcomes: dict[Target, list[Outcome]] = {target: [] for target in targets}
    decided, open_ones = dict[Target, Decision](), list(targets)
    for part in PARTS:
        likely = open_ones if decided or in_full else [t for t in targets if resolve(t).verdict not in DECIDED]
        stages.begin(sum(count_tries(likely, later) for later in PARTS if later > part) + len(targets))
        _gather(outcomes, try_claims(open_ones, part, jobs=jobs, on_progress=stages))
        decided = decided or dict(decisions)
        sampled = {t for t in targets if not (in_full or _is_user_defined(t)) and decided[t].verdict is not None}
        # A refuted claim is tried on two parts, because the size of its violations is shown too.
        few = {t for t in sampled if part > PARTS[0] or decided[t].verdict != "refuted"}
        open_ones = [t for t in open_ones if not _has_enough(resolve(t), outcomes[t], t in few)]
    stages.begin(len(targets))
    _gather(outcomes, add_targeted_instances({t: outcomes[t] for t in targets if t not in sampled}, jobs, stages))
    stages.begin(0)
    seen = dict(zip(early, searches, strict=True))
    tasks = [(target, found, decided[target], search, seen.get(target)) for target, found in outcomes.items()]
    for done, verdict in enumerate(run_unordered(_conclude, tasks, jobs), start=1):
        stages(done, len(targets))
        yield verdict


def _gather(outcomes: Mapping[Target, list[Outcome]], found: Iterable[Outcome]) -> None:
    for outcome in found:
        outcomes[outcome.target].append(outcome)


def _has_enough(claim: Claim, outcomes: Sequence[Outcome], is_sampled: bool) -> bool:
    """Return whether no more instances are needed: after one of a sample, else after enough without an exception."""
    applicable = [outcome for outcome in outcomes if outcome.applicable]
    if is_sampled:
        return bool(applicable)
    return all(outcome.holds for outcome in applicable) and are_enough(claim, applicable)


def _is_searched_anyway(claim: Claim) -> bool:
    """Return whether a search for a violation, or for a simpler one, follows whatever the instances show."""
    return claim.is_testable and claim.rate is None and find_publisher(claim) is None


def _conclude(
    target: Target, outcomes: Sequence[Outcome], decision: Decision, search: float, seen: Searches | None
) -> ClaimVerdict:
    """Return the verdict on a claim from its outcomes, its decision, and for a user-defined claim a search.

    `seen` is the result of the search if it was made before.
    """
    verdict = _find_verdict(target, outcomes, decision)
    if verdict.verdict == "refuted" and verdict.is_own and search > 0:
        return _simplify(verdict, search, seen)
    if verdict.verdict not in _OPEN or not verdict.is_own or not verdict.claim.is_testable:
        return verdict
    verdict = _weigh(verdict, outcomes)
    if search <= 0:
        return verdict
    return _add_searches(verdict, seen or search_proof_and_violation(target, search))


def _simplify(verdict: ClaimVerdict, seconds: float, seen: Searches | None) -> ClaimVerdict:
    """Return the verdict with a simpler counterexample if a search finds one; rates keep that of the instances."""
    claim, run = verdict.claim, verdict.run
    if run is None or claim.rate is not None:
        return verdict
    sought = None if seen is None else seen.violation
    found = (sought or search_quickly(claim, seconds)).counterexample
    reached = shrink(claim, run, measure_work() + seconds / 4) if found is None else found
    readable = [(cost, table) for table in (reached, run) if (cost := measure_reading_effort(claim, table))]
    best = min(readable, key=lambda pair: pair[0], default=((), run))[1]
    # Instances whose right side is zero have no ratio; the displayed ratio is at least the largest one.
    return _add_witness(verdict, best, verdict.worst_ratio)


def _add_witness(verdict: ClaimVerdict, table: dict[str, Any], largest: float | None) -> ClaimVerdict:
    """Return the verdict with the deciding run; its largest ratio is at least that of the run."""
    witness = Witness.from_table(verdict.claim, table)
    return replace(verdict, run=table, sides=witness.sides, worst_ratio=combine_ratios(witness, largest))


def _weigh(verdict: ClaimVerdict, outcomes: Sequence[Outcome]) -> ClaimVerdict:
    """Add the kinds with too few instances to a verdict; a positive verdict from few instances becomes "undecided"."""
    is_few = verdict.verdict in ("supported", "asymptotic") and verdict.is_thin
    if verdict.claim.rate is None:
        missing = count_missing_aspects(outcomes)
    else:
        # Ladders need not be of every kind.
        missing = list_excluded_aspects(outcomes) if verdict.is_thin else {}
    return replace(verdict, verdict="undecided" if is_few else verdict.verdict, lacking=missing)


def _add_searches(verdict: ClaimVerdict, searches: Searches) -> ClaimVerdict:
    """Return the verdict after the searches for a proof and for a violation."""
    verdict, search = replace(verdict, found_proof=searches.proof), searches.violation
    if search is None:
        return replace(verdict, verdict="proved") if verdict.verdict in ("supported", "undecided") else verdict
    searched = replace(verdict, searched=search.looked, regimes=search.regimes, pairs=search.pairs)
    if search.counterexample is not None:
        return replace(_add_witness(searched, search.counterexample, None), verdict="refuted")
    return replace(searched, verdict="undecided", left_open=search.left_open) if search.left_open else searched


def _find_verdict(target: Target, outcomes: Sequence[Outcome], decision: Decision) -> ClaimVerdict:
    claim, stored = resolve(target), decision.stored
    applicable = [outcome for outcome in outcomes if outcome.applicable]
    applicable += [] if stored is None else [stored.outcome]
    witness = _find_counterexample(claim, applicable, decision)
    is_refuted = witness is not None
    if not is_refuted:
        # Violations in floats alone may be rounding errors, so rationals decide each of them, and also the few
        # ladders on which the slope of rounding errors may have been fitted.
        undecided = [outcome for outcome in applicable if outcome.holds is None and not outcome.exact]
        repeated = {False, None} if claim.rate is not None and len(undecided) <= _FEW_LADDERS else {False}
        decided_outcomes = [
            _escalate(claim, outcome) if outcome.holds in repeated else outcome for outcome in applicable
        ]
        applicable = [outcome for outcome in decided_outcomes if outcome.applicable]
        witness = _find_tightest(claim, applicable, stored)
    return ClaimVerdict(
        target,
        "refuted" if is_refuted else _choose_positive_verdict(claim, applicable, decision),
        len(applicable),
        sum(outcome.exact for outcome in applicable),
        sum(outcome.holds is False for outcome in applicable),
        sum(outcome.holds is None for outcome in applicable),
        combine_ratios(witness, find_largest_ratio(applicable)) if is_refuted else find_largest_ratio(applicable),
        None if witness is None else witness.table,
        None if witness is None else witness.sides,
        sum(outcome.seconds for outcome in outcomes),
        reason=None if witness is None else witness.reason,
        excluded=count_exclusions(outcomes),
    )


def _escalate(claim: Claim, outcome: Outcome) -> Outcome:
    """Return the outcome in exact arithmetic."""
    exact = check(claim, outcome.instance.run())
    return replace(outcome, applicable=is_evidence(exact), holds=exact.holds, ratio=exact.ratio, exact=True)


def _choose_positive_verdict(claim: Claim, applicable: Sequence[Outcome], decision: Decision) -> Verdict:
    if any(outcome.holds is None for outcome in applicable):
        return "undecided"
    if decision.verdict == "definition":
        return "definition"
    if not applicable:
        return "not applicable"
    if claim.rate is not None:
        return "asymptotic"
    return "proved" if decision.verdict == "proved" else "supported"


def _find_counterexample(claim: Claim, applicable: Sequence[Outcome], decision: Decision) -> Witness | None:
    """Return the simplest confirmed violation: the stored one, else first one with constants on the whole space."""
    if decision.verdict == "refuted" and decision.stored is not None:
        return decision.stored.witness
    violations = [outcome for outcome in applicable if outcome.holds is False]
    for violation in sorted(violations, key=lambda o: (not o.everywhere, rank_unclearness(o.ratio), o.complexity)):
        run = violation.instance.run()
        exact = check(claim, run)
        if exact.holds is False:
            return Witness.from_table(claim, run_table(run))
    return None


def _find_tightest(claim: Claim, applicable: Sequence[Outcome], stored: Stored | None) -> Witness | None:
    """Return the simplest instance whose ratio is nearly the largest, or of all without a ratio; trivial ones last.

    For a rate, which has no ratio, outcomes against it come first.
    """
    largest = find_largest_ratio(applicable)
    attaining = [outcome for outcome in applicable if is_close(outcome.ratio, largest)]
    if not attaining:
        return None
    chosen = min(attaining, key=lambda o: (o.holds is not None and claim.rate is not None, o.is_trivial, o.complexity))
    if stored is not None and chosen is stored.outcome:
        return stored.witness
    run = chosen.instance.run()
    return Witness.from_run(run, check(claim, run))

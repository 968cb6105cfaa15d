"""From outcomes on many instances to one verdict for each claim."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from fedtheory.arithmetic import RATIONAL, plain_float
from fedtheory.engine.run import Run
from fedtheory.language.claim import Claim, Verdict
from fedtheory.language.registry import paper_with
from fedtheory.language.targets import Target, resolve
from fedtheory.proofs import prove
from fedtheory.runfile import parse_run, run_table, run_toml
from fedtheory.shown import Card, Shown, number
from verify.check import Check, check
from verify.counterexamples import counterexample
from verify.falsify import Glance, glance
from verify.trials import Outcome, counts, try_claims

_OPEN: tuple[Verdict, ...] = ("supported", "asymptotic", "not applicable", "undecided")
"""Verdicts that a violation would change."""
POINTERS = ("definition", "algorithm", "assumption", "experiment")
"""Kinds of claims that say what something is; their verdict is "definition" while their identity holds."""


@dataclass(frozen=True, eq=False, repr=False)
class ClaimVerdict(Shown):
    """The verdict on one claim, with its evidence."""

    target: str
    """What the user named: an id, or ``file.py:NAME``; the id of a claim that was given itself."""
    claim: Claim
    verdict: Verdict
    instances: int
    """Instances on which the claim was applicable."""
    exact_instances: int
    """Of these, how many were decided in exact arithmetic; the others in floats, away from near ties."""
    violations: int
    """Of these, on how many it fails: the witness exactly, the others in the arithmetic of their family."""
    undecided: int
    """Of these, how many could not be decided."""
    worst_ratio: float | None
    """Largest ratio of left to right side among the instances on which the claim holds, or among all if refuted."""
    witness: Run | None
    """The counterexample, the simplest one; or the instance of the worst ratio. Exact."""
    evidence: Check | None
    """The exact check of the witness."""
    seconds: float
    searched: int = 0
    """Runs that a search for a violation tried, beside the instances."""

    def summary(self) -> str:
        """The claim, the verdict, and on how many instances."""
        return f"{self.claim.id}: {self.verdict} on {self.instances} instances"

    def card(self) -> Card:
        """The statement, the evidence, and the run that decides."""
        worst = None if self.evidence is None else self.evidence.worst
        facts = {"violations": str(self.violations), "largest ratio": number(self.worst_ratio)}
        if worst is not None:
            facts |= {"left side there": number(worst.lhs), "right side there": number(worst.rhs)}
        return Card(self.summary(), self.claim.statement or None, facts, code=self.run_file)

    @property
    def agrees(self) -> bool:
        """Whether the verdict is the recorded one."""
        return self.claim.verdict in (None, self.verdict)

    @cached_property
    def run(self) -> dict[str, Any] | None:
        """The witness as the table of a run file."""
        return None if self.witness is None else run_table(self.witness)

    @property
    def run_file(self) -> str | None:
        """The witness as the text of a run file."""
        return None if self.run is None else run_toml(self.run)


def verify(
    targets: Sequence[Target],
    *,
    jobs: int = 1,
    search: float = 0,
    on_progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> list[ClaimVerdict]:
    """Try claims, named by id or ``file.py:NAME``, on their families of instances.

    Claims can be given themselves as well; they do not travel, so that all is then done in this process.

    A violation counts once it is confirmed in exact rationals, or by enclosures that do not overlap.
    A claim of no paper that is only supported is searched for a violation, for at most `search` seconds.
    """
    jobs = jobs if all(isinstance(target, str) for target in targets) else 1
    outcomes: dict[Target, list[Outcome]] = {target: [] for target in targets}
    for outcome in try_claims(list(outcomes), jobs=jobs, on_progress=on_progress):
        outcomes[outcome.target].append(outcome)
    proved = _proved([target for target, found in outcomes.items() if _may_be_proved(target, found)], jobs)
    return _searched({t: _verdict(t, found, t in proved) for t, found in outcomes.items()}, search, jobs)


def _may_be_proved(target: Target, outcomes: Sequence[Outcome]) -> bool:
    """Whether a proof would say more than that a claim is supported."""
    claim = resolve(target)
    is_tried = any(outcome.applicable for outcome in outcomes)
    return is_tried and claim.rate is None and claim.kind not in POINTERS and counterexample(claim) is None


def _proved(targets: Sequence[Target], jobs: int) -> set[Target]:
    """Which of these claims the kernel accepts a recorded certificate for."""
    from joblib import Parallel, delayed

    found = Parallel(n_jobs=jobs)(delayed(_is_proved)(target) for target in targets)
    return {target for target, is_proved in zip(targets, found, strict=True) if is_proved}


def _is_proved(target: Target) -> bool:
    return prove(resolve(target)).verdict == "proved"


def _searched(verdicts: Mapping[Target, ClaimVerdict], seconds: float, jobs: int) -> list[ClaimVerdict]:
    """The verdicts, those on claims of one's own after a search."""
    from joblib import Parallel, delayed

    open_ones = [t for t, v in verdicts.items() if v.verdict in _OPEN and paper_with(v.claim.source) is None]
    if not open_ones or seconds <= 0:
        return list(verdicts.values())
    found = Parallel(n_jobs=jobs)(delayed(_glance)(target, seconds) for target in open_ones)
    by_target = dict(zip(open_ones, found, strict=True))
    return [_after(v, by_target[t]) if t in by_target else v for t, v in verdicts.items()]


def _glance(target: Target, seconds: float) -> Glance:
    return glance(resolve(target), seconds)


def _after(verdict: ClaimVerdict, glance: Glance) -> ClaimVerdict:
    if glance.counterexample is None:
        return replace(verdict, searched=glance.looked)
    witness = parse_run(glance.counterexample, RATIONAL)
    evidence = check(verdict.claim, witness)
    return replace(
        verdict,
        verdict="refuted",
        worst_ratio=verdict.worst_ratio if evidence.ratio is None else plain_float(evidence.ratio),
        witness=witness,
        evidence=evidence,
        searched=glance.looked,
    )


def _verdict(target: Target, outcomes: Sequence[Outcome], is_proved: bool) -> ClaimVerdict:
    claim = resolve(target)
    applicable = [outcome for outcome in outcomes if outcome.applicable]
    witness, evidence = _counterexample(claim, applicable)
    refuted = evidence is not None
    if not refuted:
        # Violations that only floats see are at the level of rounding: rationals have the last word on each.
        settled = [_settled(claim, outcome) if outcome.holds is False else outcome for outcome in applicable]
        applicable = [outcome for outcome in settled if outcome.applicable]
        witness, evidence = _tightest(claim, applicable)
    return ClaimVerdict(
        target if isinstance(target, str) else claim.id,
        claim,
        "refuted" if refuted else _positive_verdict(claim, applicable, is_proved),
        len(applicable),
        sum(outcome.exact for outcome in applicable),
        sum(outcome.holds is False for outcome in applicable),
        sum(outcome.holds is None for outcome in applicable),
        _largest_ratio(applicable),
        witness,
        evidence,
        sum(outcome.seconds for outcome in outcomes),
    )


def _largest_ratio(outcomes: Sequence[Outcome]) -> float | None:
    return max((outcome.ratio for outcome in outcomes if outcome.ratio is not None), default=None)


def _settled(claim: Claim, outcome: Outcome) -> Outcome:
    """The outcome as exact arithmetic sees it."""
    exact = check(claim, outcome.instance.run())
    return replace(outcome, applicable=counts(exact), holds=exact.holds, ratio=exact.ratio, exact=True)


def _positive_verdict(claim: Claim, applicable: Sequence[Outcome], is_proved: bool) -> Verdict:
    if any(outcome.holds is None for outcome in applicable):
        return "undecided"
    if claim.kind in POINTERS:
        return "definition"
    if not applicable:
        return "not applicable"
    if claim.rate is not None:
        return "asymptotic"
    return "proved" if is_proved else "supported"


def _counterexample(claim: Claim, applicable: Sequence[Outcome]) -> tuple[Run | None, Check | None]:
    """The simplest violation that is confirmed: the stored one, else one with constants on all of space."""
    for run in _suspects(claim, applicable):
        exact = check(claim, run)
        if exact.holds is False:
            return run, exact
    return None, None


def _suspects(claim: Claim, applicable: Sequence[Outcome]) -> Iterator[Run]:
    stored = counterexample(claim)
    if stored is not None:
        yield parse_run(stored, RATIONAL)
    violations = [outcome for outcome in applicable if outcome.holds is False]
    for violation in sorted(violations, key=lambda outcome: (not outcome.everywhere, outcome.complexity)):
        yield violation.instance.run()


def _tightest(claim: Claim, applicable: Sequence[Outcome]) -> tuple[Run | None, Check | None]:
    """The simplest of the instances with the largest ratio, or of all where no ratio makes sense; trivial ones last."""
    largest = _largest_ratio(applicable)
    attaining = [outcome for outcome in applicable if outcome.ratio == largest]
    if not attaining:
        return None, None
    run = min(attaining, key=lambda outcome: (outcome.is_trivial, outcome.complexity)).instance.run()
    return run, check(claim, run)

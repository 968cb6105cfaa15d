"""Verdict on one claim, with its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.language.claim import Claim, Verdict
from fedtheory.language.registry import find_publisher
from fedtheory.language.setting import list_setting_facts
from fedtheory.language.targets import Target, resolve
from fedtheory.runfile import parse_run, run_toml
from fedtheory.shown import Card, Shown, number
from verify.check import Check
from verify.check.escalation import check_rigorously, make_decidable
from verify.early_decisions import DECIDED
from verify.falsify.regimes import NO_PAIRS, Pairs, Regime
from verify.searches import FoundProof
from verify.shown_place import choose_place, describe_points
from verify.targeted_instances import count_enough
from verify.witness import PrintedSides


@dataclass(frozen=True, eq=False, repr=False)
class ClaimVerdict(Shown):
    """The verdict on one claim, as plain data that can be sent between processes and cached."""

    given: Target
    """Target given by the user: an id, ``file.py:NAME``, or a claim itself."""
    verdict: Verdict
    instances: int
    """Number of instances to which the claim applied."""
    exact_instances: int
    """Number of these that were decided in exact arithmetic; the others were decided in floats, away from near ties."""
    violations: int
    """Number of these on which it fails: the witness exactly, the others in the arithmetic of their family."""
    undecided: int
    """Number of these that could not be decided."""
    worst_ratio: float | None
    """Largest ratio of left to right side among the instances on which the claim holds, or among all if refuted."""
    run: dict[str, Any] | None
    """The run file of the witness, as a table: the simplest counterexample, or the instance of the worst ratio."""
    sides: PrintedSides | None
    """Both sides on that run."""
    seconds: float
    searched: int = 0
    """Number of runs that a search for a violation tried in addition to the instances."""
    regimes: tuple[Regime, ...] = ()
    """Kinds of runs that the search tried, each with the largest ratio."""
    pairs: Pairs = NO_PAIRS
    """Number of pairs of these kinds that the search combined."""
    left_open: int = 0
    """Number of runs that violate the claim in floats and that no exact check decides."""
    lacking: Mapping[str, int] = field(default_factory=dict)
    """For a user-defined claim: the kinds of runs, such as noisy ones, with too few instances, and their numbers."""
    reason: str | None = None
    """For a rate: the exact limit that refutes it, or how the ratio to its order rises on the run that is shown."""
    found_proof: FoundProof | None = None
    """For a user-defined claim: the certificate that a search found, perhaps under further assumptions."""
    excluded: Mapping[str, int] = field(default_factory=dict)
    """Instances excluded by each assumption, condition or quantity without a value, most first."""

    def summary(self) -> str:
        """Return the claim, the verdict and the number of instances as one line."""
        return f"{self.claim.id}: {self.verdict} on {self.instances} instances"

    def card(self) -> Card:
        """Return the statement, the evidence, and the run that decides, for display."""
        shown = None if self.evidence is None else choose_place(self.evidence)
        facts = {"violations": str(self.violations), "largest ratio": number(self.worst_ratio)}
        if shown is not None:
            facts |= {"left side there": number(shown.lhs), "right side there": number(shown.rhs)}
            facts["at"] = describe_points(self.claim, shown)
        facts |= list_setting_facts(self.claim)
        return Card(self.summary(), self.claim.statement or None, facts, code=self.run_file)

    @property
    def claim(self) -> Claim:
        """Return the claim."""
        return resolve(self.given)

    @property
    def target(self) -> str:
        """Return the name that the user gave, or the id of a claim object."""
        return self.given if isinstance(self.given, str) else self.given.id

    @property
    def is_own(self) -> bool:
        """Return whether the claim is user-defined."""
        return find_publisher(self.claim) is None

    @property
    def is_thin(self) -> bool:
        """Return whether the verdict rests on too few instances."""
        return self.claim.is_testable and self.verdict not in DECIDED and self.instances < self.enough

    @property
    def enough(self) -> int:
        """Return the number of instances that are enough."""
        return count_enough(self.claim)

    @property
    def agrees(self) -> bool:
        """Return whether the verdict is the recorded one."""
        return self.claim.verdict in (None, self.verdict)

    @cached_property
    def witness(self) -> Run | None:
        """Return the run of the witness, in exact arithmetic."""
        return None if self.run is None else make_decidable(parse_run(self.run, RATIONAL))

    @cached_property
    def evidence(self) -> Check | None:
        """Return the exact check of the witness."""
        return None if self.run is None else check_rigorously(self.claim, parse_run(self.run, RATIONAL))

    def __getstate__(self) -> dict[str, Any]:
        """Return the plain data only; the witness and its check are computed again on demand."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def run_file(self) -> str | None:
        """Return the witness as the text of a run file."""
        return None if self.run is None else run_toml(self.run)

"""Base of the kinds of certificates that check themselves; those of other kinds are written as proof terms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import ClassVar

import sympy as sp

from fedtheory.kernel import Step
from fedtheory.language.claim import Claim
from fedtheory.language.paper_parts import import_modules
from fedtheory.proofs.distances import Measure
from fedtheory.proofs.entries import Group
from fedtheory.proofs.proof import Prover


@dataclass(frozen=True, kw_only=True)
class Examined(ABC):
    """A certificate with a check of its own."""

    kind: ClassVar[str]
    """Name of the kind in documents."""
    claim: str
    """Id of the claim."""
    relaxed: Sequence[sp.Rel] | None = None
    """Weaker conditions than the claim's, which suffice; None for the claim's own."""

    @abstractmethod
    def check(self, claim: Claim, prove: Prover) -> Iterator[Step]:
        """Check a claim under the conditions of the certificate; raise `Rejected` for other claims."""


@dataclass(frozen=True, kw_only=True)
class Outlined(Examined):
    """A certificate with a check and an outline of its own."""

    @abstractmethod
    def introduce(self, claim: Claim) -> str:
        """Introduce the outline, in words with LaTeX between dollar signs."""

    @abstractmethod
    def outline(self, claim: Claim) -> Iterator[Group]:
        """Yield the statements that the certificate proves, with the terms of each."""


@dataclass(frozen=True, kw_only=True)
class PaperKinds:
    """Kinds of certificates that a paper adds, and parts of certificates."""

    kinds: Sequence[type[Examined]]
    measures: Mapping[str, Measure] = field(default_factory=dict)
    """Distances of clients inside a round, by their names in documents."""
    symbols: Mapping[str, ModuleType] = field(default_factory=dict)
    """Modules with symbols that no claim has, by the first part of their names in documents."""


@cache
def list_kinds_of_papers() -> tuple[PaperKinds, ...]:
    """Return what papers add, from the modules in their folders ``context``."""
    found = (getattr(module, "KINDS", None) for module in import_modules("context"))
    return tuple(one for one in found if isinstance(one, PaperKinds))

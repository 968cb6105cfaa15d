"""A document whose statements are encoded, and the folder that holds everything of it."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from fedtheory.language.claim import Claim
from fedtheory.runfile.loading import one_line


@dataclass(frozen=True, eq=False)
class Source:
    """A document whose statements are encoded."""

    key: str
    title: str
    authors: str
    year: int
    claims: tuple[Claim, ...]
    printed_proofs: Mapping[str, str] = field(default_factory=dict)
    """For the name of a claim, without the key, the names of the claims that are the steps of its printed proof."""
    unproved: Mapping[str, str] = field(default_factory=dict)
    """Names of the claims that are only supported, by the reason why they have no certificate."""
    main: str = ""
    """The name of the theorem that a reader looks for first."""
    reading: int = 100
    """Place in the order in which one would read the sources."""
    not_encoded: Mapping[str, str] = field(default_factory=dict)
    """For a sentence of the document that has no claim, with its place, the reason why."""

    def __post_init__(self) -> None:
        # A claim is written before its source; copies of it, such as one of its terms, are read as the claim is.
        # Entries of another type are reported when the source is read.
        for claim in (one for one in self.claims if isinstance(one, Claim)):
            object.__setattr__(claim, "is_published", True)


@dataclass(frozen=True)
class Paper:
    """The folder of a source, which is a Python package.

    Beside its `SOURCE` it may hold the modules ``certificates`` (with a list `CERTIFICATES`), ``assignments`` (with a
    list `ASSIGNMENTS`) and ``exhibits``, and the folders ``counterexamples``, ``slack`` and ``found`` (certificates
    that a search wrote); each is loaded when it is needed. A paper of the package may add its own quantities: see
    `fedtheory.language.paper_parts`.
    """

    source: Source
    package: str
    """The name under which the folder is imported."""
    folder: Path

    def part(self, name: str) -> ModuleType | None:
        """One of the paper's modules, imported on first use; None if the paper has none of that name."""
        module = f"{self.package}.{name}"
        if importlib.util.find_spec(module) is None:
            return None
        with one_line(self.folder):
            return importlib.import_module(module)

    def counterexample_file(self, claim: Claim) -> Path:
        """Return the path of the smallest known counterexample's run file, existing or not."""
        return self.folder / "counterexamples" / f"{_name_of(claim)}.toml"

    def certificate_file(self, claim: Claim) -> Path:
        """Return the path of the certificate that a search found, as JSON, existing or not."""
        return self.folder / "found" / f"{_name_of(claim)}.json"

    def slack_file(self, claim: Claim, part: str) -> Path:
        """Return the path of the run file that attains most of a bound or of one of its terms, existing or not."""
        return self.folder / "slack" / f"{_name_of(claim)}.{part}.toml"


def _name_of(claim: Claim) -> str:
    """Return the id without the key, as part of a file's name."""
    return claim.id.partition(":")[2].replace(":", "-").replace(".", "-")

"""A document whose statements are encoded, and the folder with its data."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from fedtheory.language.claim import Claim
from fedtheory.runfile.loading import join_lines


@dataclass(frozen=True, eq=False)
class Source:
    """A document whose statements are encoded."""

    key: str
    title: str
    authors: str
    year: int
    claims: tuple[Claim, ...]
    printed_proofs: Mapping[str, str] = field(default_factory=dict)
    """For the name of a claim, without the key, the names of the claims that are the steps of its published proof."""
    unproved: Mapping[str, str] = field(default_factory=dict)
    """Names of the claims that are only supported, by the reason why they have no certificate."""
    main: str = ""
    """The name of the main theorem."""
    reading: int = 100
    """Position in the recommended order of reading the sources."""
    not_encoded: Mapping[str, str] = field(default_factory=dict)
    """For sentences of the document without a claim, with their place, the reason why."""

    def __post_init__(self) -> None:
        # A claim is created before its source, which marks it as published; copies of it are marked through their ids.
        # Entries of another type are reported when the source is read.
        for claim in (one for one in self.claims if isinstance(one, Claim)):
            object.__setattr__(claim, "is_published", True)


@dataclass(frozen=True)
class Paper:
    """The folder of a source, which is a Python package.

    Besides its `SOURCE` it may have the modules ``certificates`` (with a list `CERTIFICATES`), ``assignments`` (with a
    list `ASSIGNMENTS`) and ``exhibits``, and the folders ``counterexamples``, ``slack`` and ``found`` (certificates
    written by a search); each is loaded on demand. A paper of the package may add its own quantities: see
    `fedtheory.language.paper_parts`.
    """

    source: Source
    package: str
    """The name under which the folder is imported."""
    folder: Path

    def part(self, name: str) -> ModuleType | None:
        """Return one of the paper's modules, imported at first use; None if the paper has none of that name."""
        module = f"{self.package}.{name}"
        if importlib.util.find_spec(module) is None:
            return None
        with join_lines(self.folder):
            return importlib.import_module(module)

    def counterexample_file(self, claim: Claim) -> Path:
        """Return the path of the run file of the smallest known counterexample, which may not exist."""
        return self.folder / "counterexamples" / f"{_name_of(claim)}.toml"

    def certificate_file(self, claim: Claim) -> Path:
        """Return the path of the JSON certificate that a search found, which may not exist."""
        return self.folder / "found" / f"{_name_of(claim)}.json"

    @property
    def slack_folder(self) -> Path:
        """Return the folder with the runs that attain the largest known ratios of bounds, which may not exist."""
        return self.folder / "slack"

    def tightened_file(self, claim: Claim) -> Path:
        """Return the path of the JSON file with the smallest proved constants of a bound, which may not exist."""
        return self.slack_folder / f"{_name_of(claim)}.tightened.json"


def _name_of(claim: Claim) -> str:
    """Return the id without the key, as part of a file's name."""
    return claim.id.partition(":")[2].replace(":", "-").replace(".", "-")

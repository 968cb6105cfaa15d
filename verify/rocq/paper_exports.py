"""Exports that papers add in their folders of `verify.rocq.papers`, where the common exporters do not suffice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.paper_parts import list_paper_folders
from fedtheory.language.quantities import Quantity
from fedtheory.proofs.combination import Combination
from verify.rocq import papers
from verify.rocq.links import Links
from verify.rocq.refusals import NotExported
from verify.rocq.scalar_vocabulary import ScalarVocabulary
from verify.rocq.theorem import Exported, Theorem

Source = Assumption | Quantity
"""The origin of a hypothesis in a claim."""
Exporter = Callable[[Claim, Any, Callable[[str], Exported]], tuple[Theorem, list[Exported]] | None]
"""Function that returns the theorem of a claim, with the claims that it uses; None if it does not cover the claim."""


@dataclass(frozen=True)
class Rule:
    """A pattern of a hypothesis, its possible origins in a claim, and a description if it differs from the source's."""

    pattern: str
    sources: Sequence[Source]
    words: str = ""


@dataclass(frozen=True, kw_only=True)
class PaperExports:
    """Exporters of one paper, and the origins of the hypotheses that they write."""

    exporters: Sequence[Exporter] = ()
    """Exporters of certificates, in the order in which they are tried."""
    vocabulary: Callable[[Claim, Combination], ScalarVocabulary | None] = lambda _claim, _certificate: None
    """Function that returns the names of a claim that is a combination; None for other claims."""
    restate: Callable[[Links, Relation, object], tuple[str, str] | None] = lambda _links, _relation, _why: None
    """Function that returns statement and proof of a relation that is no sum of terms; None for other links."""
    names: Mapping[Quantity, str] = field(default_factory=dict)
    """Names of quantities, by which the origins of points are found."""
    rules: Sequence[Rule] = ()
    """Rules for origins of hypotheses."""


@cache
def load_exports() -> tuple[PaperExports, ...]:
    """Return the exports of all papers."""
    found = {module.name for module in iter_modules(papers.__path__)}
    keys = (key for key in list_paper_folders() if key in found)
    return tuple(import_module(f"{papers.__name__}.{key}.exporters").EXPORTS for key in keys)


def export_by_paper(
    claim: Claim, certificate: object, export_id: Callable[[str], Exported]
) -> tuple[Theorem, list[Exported]] | None:
    """Return the theorem by the first exporter of a paper that covers the claim; None if there is none."""
    tried = (exporter(claim, certificate, export_id) for one in load_exports() for exporter in one.exporters)
    return next((found for found in tried if found is not None), None)


def list_vocabularies(claim: Claim, certificate: Combination) -> Iterator[ScalarVocabulary]:
    """Yield the vocabularies of papers for a claim that is a combination."""
    found = (one.vocabulary(claim, certificate) for one in load_exports())
    return (one for one in found if one is not None)


def restate_by_paper(links: Links, relation: Relation, why: object) -> tuple[str, str]:
    """Return statement and proof of a relation that is no sum of terms; raises `NotExported` if no paper has one."""
    tried = (one.restate(links, relation, why) for one in load_exports())
    found = next((one for one in tried if one is not None), None)
    if found is None:
        raise NotExported(f"links of the kind {type(why).__name__} are not exported")
    return found

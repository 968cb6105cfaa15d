"""Displays proofs: as a line, as a card, and by the digest of the certificate."""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Literal

from fedtheory.kernel import Step
from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from fedtheory.language.setting import list_setting_facts
from fedtheory.language.typesetting import latex
from fedtheory.shown import Card, Shown, inline

Document = dict[str, Any]
ProofVerdict = Literal["proved", "broken", "no certificate"]


def digest(document: Document) -> str:
    """Return a digest of a document's content, independent of its layout."""
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class ProofReport(Shown):
    """A proof for display."""

    claim: Claim
    steps: tuple[Step, ...]
    document: Document | None

    @property
    @abstractmethod
    def verdict(self) -> ProofVerdict:
        """The verdict: whether every step holds."""

    @property
    @abstractmethod
    def relaxed(self) -> Sequence[Expr] | None:
        """Weaker conditions than the claim's, under which the certificate holds; None for the claim's own."""

    @property
    def failing(self) -> str | None:
        """The text of the first step that fails; None if all hold."""
        return next((step.text for step in self.steps if not step.holds), None)

    @property
    def digest(self) -> str | None:
        """A digest of the certificate's content; None if there is no document."""
        return None if self.document is None else digest(self.document)

    def summary(self) -> str:
        """Return the claim and the verdict."""
        return f"{self.claim.id}: {self.verdict}"

    def card(self) -> Card:
        """Return the statement, the certificate's digest, and the kernel verdict on each step."""
        facts = {"certificate": self.digest or "none"} | list_setting_facts(self.claim)
        if self.relaxed is not None:
            facts["conditions that suffice"] = ", ".join(inline(latex(weaker)) for weaker in self.relaxed) or "none"
        steps = [["holds" if step.holds else "fails", step.text] for step in self.steps]
        return Card(self.summary(), self.claim.statement or None, facts, ("", "step"), steps)

"""Reports of proofs: a line, a card, and a name for the certificate."""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Literal

from fedtheory.kernel import Step
from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from fedtheory.language.setting import setting_facts
from fedtheory.language.typesetting import latex
from fedtheory.shown import Card, Shown, inline

Document = dict[str, Any]
ProofVerdict = Literal["proved", "broken", "no certificate"]


def digest(document: Document) -> str:
    """Return a name for what a document says: the same for the same content, whatever its layout."""
    text = json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


class ProofReport(Shown):
    """A proof as people see it."""

    claim: Claim
    steps: tuple[Step, ...]
    document: Document | None

    @property
    @abstractmethod
    def verdict(self) -> ProofVerdict:
        """Whether every step holds."""

    @property
    @abstractmethod
    def relaxed(self) -> Sequence[Expr] | None:
        """Weaker conditions than the claim's, under which the certificate holds; None for the claim's own."""

    @property
    def digest(self) -> str | None:
        """A name for the certificate, the same for the same content; None if there is no document."""
        return None if self.document is None else digest(self.document)

    def summary(self) -> str:
        """Return the claim and the verdict."""
        return f"{self.claim.id}: {self.verdict}"

    def card(self) -> Card:
        """Return the statement, the certificate's name, and what the kernel says of each step."""
        facts = {"certificate": self.digest or "none"} | setting_facts(self.claim)
        if self.relaxed is not None:
            facts["conditions that suffice"] = ", ".join(inline(latex(weaker)) for weaker in self.relaxed) or "none"
        steps = [["holds" if step.holds else "fails", step.text] for step in self.steps]
        return Card(self.summary(), self.claim.statement or None, facts, ("", "step"), steps)

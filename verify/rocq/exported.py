"""The record of an exported claim."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim
from verify.rocq.theorem import Theorem


@dataclass(frozen=True)
class Exported:
    """A claim as a theorem, and the claims whose theorems its proof uses."""

    claim: Claim
    theorem: Theorem
    general: Theorem
    """The theorem under the conditions that the certificate needs, if these are weaker."""
    conditions: tuple[Expr, ...]
    """These conditions."""
    uses: tuple[Exported, ...] = ()

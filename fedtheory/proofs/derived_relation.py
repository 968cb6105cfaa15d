"""Relations of a proved claim as premises of another proof, and rules for their consequences.

The subclasses are rules: each defines a consequence of a relation, and the
assumptions that it needs.  Such a rule is trusted like the kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fedtheory.kernel.expressions import Expr
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Place, Relation
from fedtheory.proofs.numbers import SymbolTable


@dataclass(frozen=True)
class Derived:
    """A relation of another claim, by its index."""

    claim: str
    link: int = 0
    kind: ClassVar[str] = "relation"
    """Name of the rule in documents."""
    label: ClassVar[str] = "a proved claim"
    """Name of the rule for readers."""
    needs: ClassVar[tuple[Assumption, ...]] = ()
    """Assumptions that are needed in addition to those of that claim."""
    place: ClassVar[Place] = "run"
    """Required place of that claim."""
    keeps_equations: ClassVar[bool] = True
    """Whether an equation gives an equation; otherwise it gives one inequality only."""

    def derive(self, symbol: SymbolTable, relations: Sequence[Relation]) -> Expr:
        """Return the non-negative expression, from the relations of that claim."""
        return self.slack(symbol, relations[self.link].slack)

    def slack(self, _symbol: SymbolTable, slack: Expr) -> Expr:
        """Map the premise's slack to the derived slack."""
        return slack

    def requires(self, _symbol: SymbolTable, _slack: Expr) -> tuple[Expr, ...]:
        """Return the further expressions that must be non-negative."""
        return ()

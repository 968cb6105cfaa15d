"""The parts of a sum of inequalities: the premise of each, and its coefficient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import sympy as sp

from fedtheory.kernel.expressions import Expr
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.facts import Fact

AnyPremise: TypeAlias = Fact | str | Derived | sp.Rel
"""A fact, the id of a proved claim, one of its relations or a consequence, or a condition of the claim."""


@dataclass(frozen=True)
class Part:
    """A multiple of a non-negative premise: a fact, a condition, or the slack of a proved claim."""

    kind: ClassVar[str] = "part"
    coefficient: Expr
    premise: AnyPremise
    over: Expr | None = None
    """For a sum over the clients: the factor of the premise for each client, before the summation."""

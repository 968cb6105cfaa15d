"""Certificates of bounds on the average error, from the terms of a local step."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel import Term
from fedtheory.kernel.expressions import Expr
from fedtheory.proofs import facts
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.combination import Combination
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.parts import Part
from fedtheory.sources.comparator.statements.notation import *

_SHARE = 1 / (2 * eta * tau * T)


def certify_average(
    prefix: str,
    step: list[Term],
    *,
    average: str = "",
    potential: Expr | None = None,
    telescoped: facts.Fact = facts.TELESCOPED_FROM_COMPARATOR,
) -> list[Certificate | MeanCertificate | Combination]:
    """Certify one step, the average over all steps, and the bound on the average error.

    In the average the distances from y telescope, and the last one is non-negative. The claims have the names
    `one-step`, `all-steps` and `average-error` after the prefix; `average` replaces the id of the last one.
    """
    start = prefix if prefix.endswith(":") else f"{prefix}."
    parts = [
        Part(sp.S.One, f"{start}all-steps"),
        Part(-_SHARE, telescoped),
        Part(_SHARE, facts.FINAL_COMPARATOR_DISTANCE),
    ]
    return [
        Certificate(claim=f"{start}one-step", links=[step]),
        MeanCertificate(claim=f"{start}all-steps", step=f"{start}one-step", span="run", potential=potential),
        Combination(claim=average or f"{start}average-error", links=[parts]),
    ]

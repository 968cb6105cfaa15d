"""A local step of an algorithm in the symbols of a claim, from the algorithm's definition."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from fedtheory.errors import InputError
from fedtheory.federation.definition import FederatedAlgorithm, Gradient
from fedtheory.kernel import expressions as kernel
from fedtheory.kernel.expressions import Expr


def local_step(
    algorithm: FederatedAlgorithm, objective: Expr, vectors: Mapping[Expr, Expr], numbers: Mapping[Expr, Expr]
) -> dict[Expr, Expr]:
    """Return the local vectors after a step with full gradients of an objective.

    `vectors` are points for the vectors of the definition, `numbers` symbols for its numbers; an `InputError` names a
    missing one.
    """

    def expression(of: Expr, combined: Expr) -> Expr:
        parts = algorithm.parts(of, combined)
        return sp.Add(*(scale.xreplace(dict(numbers)) * translate_part(of, part) for part, scale in parts.items()))

    def translate_part(of: Expr, part: Expr) -> Expr:
        """Translate a vector or gradient of the definition into the claim's symbols."""
        if isinstance(part, Gradient):
            return kernel.Gradient(objective, expression(of, part.args[0]))
        if part not in vectors:
            raise InputError(algorithm.name, f"expected a point for {part}")
        return vectors[part]

    return {one.vector: expression(one.vector, one.step) for one in algorithm.steps}

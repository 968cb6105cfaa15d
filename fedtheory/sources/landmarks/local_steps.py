"""Local steps of algorithms in the symbols of a claim, by the algorithms' definitions."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from fedtheory.errors import InputError
from fedtheory.federation.definition import FederatedAlgorithm, Gradient
from fedtheory.kernel import expressions as kernel
from fedtheory.kernel.expressions import Expr


def write_local_step(
    algorithm: FederatedAlgorithm, objective: Expr, vectors: Mapping[Expr, Expr], numbers: Mapping[Expr, Expr]
) -> dict[Expr, Expr]:
    """Return the local vectors after a step with full gradients of an objective.

    `vectors` are points for the vectors of the definition, `numbers` symbols for its numbers; an `InputError` names a
    missing one.
    """

    def translate_sum(vector: Expr, expression: Expr) -> Expr:
        """Translate the part of a vector's update into the claim's symbols."""
        parts = algorithm.parts(vector, expression)
        return sp.Add(*(scale.xreplace(dict(numbers)) * translate_part(vector, part) for part, scale in parts.items()))

    def translate_part(vector: Expr, part: Expr) -> Expr:
        """Translate a vector or gradient of the definition into the claim's symbols."""
        if isinstance(part, Gradient):
            return kernel.Gradient(objective, translate_sum(vector, part.args[0]))
        if part not in vectors:
            raise InputError(
                algorithm.name, f"expected a point for {part}, got points for {', '.join(map(str, vectors))}"
            )
        return vectors[part]

    return {one.vector: translate_sum(one.vector, one.step) for one in algorithm.steps}

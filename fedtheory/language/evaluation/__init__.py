"""Evaluates expressions of claims on runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sympy as sp

from fedtheory.arithmetic import FLOAT, Array
from fedtheory.kernel.expressions import Expr
from fedtheory.language.evaluation.compiler import Compiler, Scalar, sum_values
from fedtheory.language.evaluation.powers import is_product
from fedtheory.language.evaluation.rounding import ScaleCompiler
from fedtheory.language.evaluation.runs import SiteOfRuns as SiteOfRuns
from fedtheory.language.evaluation.site import Site as Site
from fedtheory.language.evaluation.site import whole_run as whole_run
from fedtheory.language.quantities.quantity import Quantity


@dataclass(frozen=True, eq=False)
class Compiled:
    """An expression compiled for evaluation, term by term."""

    terms: tuple[Expr, ...]
    evaluators: tuple[Scalar, ...]
    scales: tuple[Scalar | None, ...]
    """Upper bounds of the numbers that cancel in each term; rounding errors are relative to them.

    None if nothing cancels: rounding errors are relative to the term itself.
    """

    def parts(self, site: Site) -> list[Array]:
        """Return the value of each term, axes (rounds, steps, clients)."""
        return [evaluate(site) for evaluate in self.evaluators]

    def __call__(self, site: Site) -> Array:
        """Return the value, axes (rounds, steps, clients)."""
        value: Array = sum_values(self.parts(site))
        return value

    def with_scale(self, site: Site) -> tuple[Array, Array | None]:
        """Return the value and the scale of its rounding errors; None as scale for exact numbers."""
        parts = self.parts(site)
        value = sum_values(parts)
        if site.arithmetic is not FLOAT:
            return value, None
        sizes = zip(parts, self.scales, strict=True)
        return value, sum_values([abs(part) if scale is None else scale(site) for part, scale in sizes])


def compile_expression(expression: Expr, notation: Mapping[sp.Symbol, Quantity]) -> Compiled:
    """Compile a scalar expression; raise `ValueError` for expressions outside the language."""
    terms, scales = tuple(sp.Add.make_args(expression)), ScaleCompiler(notation)
    sizes = (None if is_product(term) else scales.scalar(term) for term in terms)
    return Compiled(terms, tuple(map(Compiler(notation).scalar, terms)), tuple(sizes))

"""Expressions of claims, evaluated on runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import sympy as sp

from fedtheory.arithmetic import FLOAT, Array
from fedtheory.kernel.expressions import Expr
from fedtheory.language.evaluation.compiler import Compiler, Scalar, total
from fedtheory.language.evaluation.rounding import ScaleCompiler
from fedtheory.language.evaluation.site import Site, sites, whole_run
from fedtheory.language.quantities.notion import Notion

__all__ = ["Compiled", "Site", "compile_expression", "sites", "whole_run"]


@dataclass(frozen=True, eq=False)
class Compiled:
    """An expression ready for sites, term by term."""

    terms: tuple[Expr, ...]
    evaluators: tuple[Scalar, ...]
    scales: tuple[Scalar, ...]
    """For each term, an upper estimate of the numbers that cancel in it: what rounding errors are relative to."""

    def parts(self, site: Site) -> list[Array]:
        """The value of each term, axes (rounds, steps, clients)."""
        return [evaluate(site) for evaluate in self.evaluators]

    def __call__(self, site: Site) -> Array:
        """The value, axes (rounds, steps, clients)."""
        value: Array = total(self.parts(site))
        return value

    def with_scale(self, site: Site) -> tuple[Array, Array]:
        """The value and the scale of its rounding errors; for exact numbers it only serves to compare places."""
        value = self(site)
        scale = total([scale(site) for scale in self.scales]) if site.run.arithmetic is FLOAT else abs(value)
        return value, scale


def compile_expression(expression: Expr, notation: Mapping[sp.Symbol, Notion]) -> Compiled:
    """Compile a scalar expression; `ValueError` for what the language does not know."""
    terms = tuple(sp.Add.make_args(expression))
    values, scales = Compiler(notation), ScaleCompiler(notation)
    return Compiled(terms, tuple(map(values.scalar, terms)), tuple(map(scales.scalar, terms)))

"""Estimates rounding errors: the size of the numbers that cancel in an expression.

Floats are accurate relative to the largest summands, not to their sum.  The closures here return that
size, so that near ties are recognised.
"""

from __future__ import annotations

import numpy as np
import sympy as sp

from fedtheory.arithmetic import Array
from fedtheory.kernel.expressions import Expr
from fedtheory.language.evaluation.compiler import Compiler, Scalar, sum_values
from fedtheory.language.evaluation.site import Site


class ScaleCompiler(Compiler):
    """Compiles closures for the size of the numbers that cancel in an expression, instead of its value.

    They are for floats only.
    """

    def scalar(self, node: Expr) -> Scalar:
        """Return a closure for the scale of a scalar node."""
        value = super().scalar(node)
        return lambda site: abs(value(site))

    def _compile_power(self, node: Expr) -> Scalar:
        """Return a closure: a relative error of the base is multiplied by the exponent."""
        base, exponent = node.as_base_exp()
        if exponent.is_number:
            return super()._compile_power(node)
        value, inside, power = (Compiler(self.notation).scalar(one) for one in (node, base, exponent))
        size = self.scalar(base)

        def scale(site: Site) -> Array:
            at = np.abs(inside(site))
            relative = np.divide(size(site), at, out=np.zeros_like(at), where=at != 0)
            size_of_power: Array = np.abs(value(site)) * (1 + np.abs(power(site)) * relative)
            return size_of_power

        return scale

    def _compile_exponential(self, node: Expr) -> Scalar:
        """Return a closure: an error of the exponent is a relative error of the exponential."""
        exponent = node.args[0] if node.args else sp.S.One
        value, size = Compiler(self.notation).scalar(node), self.scalar(exponent)
        return lambda site: value(site) * (1 + size(site))

    def _compile_logarithm(self, node: Expr) -> Scalar:
        """Return a closure: a relative error of the argument is an error of the logarithm."""
        inside, size = Compiler(self.notation).scalar(node.args[0]), self.scalar(node.args[0])
        value = Compiler(self.notation).scalar(node)

        def scale(site: Site) -> Array:
            return np.abs(value(site)) + size(site) / np.abs(inside(site))

        return scale

    def _compile_inner(self, node: Expr) -> Scalar:
        """Compile the product of the vectors' lengths, which bounds their inner product."""
        left, right = (self._length(side) for side in node.args)
        return self._cache_on_frame(node, lambda site: left(site) * right(site))

    def _compile_value(self, node: Expr) -> Scalar:
        """Compile the size of the terms whose sum is a value of an objective."""
        objective, point = self._find_objective(node.args[0]), Compiler.vector(self, node.args[1])

        def scale(site: Site) -> Array:
            return site.step.expand_axes(site.step.objectives(objective.select).scale(site.step, point(site)))

        return self._cache_on_frame(node, scale)

    def _length(self, node: Expr) -> Scalar:
        """Return a closure for the sum of the norms of the vectors that a vector expression adds up."""
        if isinstance(node, sp.Add):
            parts = [self._length(argument) for argument in node.args]
            return lambda site: sum_values(part(site) for part in parts)
        vector = self.vector(node)

        def length(site: Site) -> Array:
            at = vector(site)
            return site.step.expand_axes(np.sqrt(np.maximum(site.step.inner(at, at), 0)))

        return length

"""Compiles expressions of claims into closures, which take a site and return an array (rounds, steps, clients)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from functools import cache, cached_property, lru_cache, partial, reduce
from types import UnionType
from typing import Any

import numpy as np
import sympy as sp
from flint import fmpq

from fedtheory.arithmetic import RATIONAL, Array, plain_float
from fedtheory.arithmetic.enclosures import maximum, minimum
from fedtheory.engine.frames import PathVector, RoundFrame, Vector, expect_inner_product, sample_at, view_whole_round
from fedtheory.engine.memo import Memo
from fedtheory.kernel import expressions as ex
from fedtheory.kernel.expressions import Expr
from fedtheory.language.evaluation import stepwise
from fedtheory.language.evaluation.powers import compute_measured_power, compute_root, compute_whole_power, is_product
from fedtheory.language.evaluation.site import Site
from fedtheory.language.quantities.quantity import (
    ObjectiveQuantity,
    PointQuantity,
    Quantity,
    RunQuantity,
    ScalarQuantity,
    VectorQuantity,
)

Scalar = Callable[[Site], Array]
Vectorial = Callable[[Site], Vector]


def sum_values(parts: Iterable[Any]) -> Any:
    """Return the sum of arrays or of vectors."""
    return reduce(operator.add, parts)


_EVALUATED = "functions with a value are sqrt, exp, log, Abs, Max, Min, floor, ceiling, Piecewise and Sum"


class Compiler:
    """Turns the nodes of an expression into closures."""

    def __init__(self, notation: Mapping[sp.Symbol, Quantity]) -> None:
        self.notation = notation

    def scalar(self, node: Expr) -> Scalar:
        """Return a closure for a scalar node."""
        if node.is_Symbol:
            return self._compile_symbol(node, 1)
        build = next((build for kind, build in self._builders if isinstance(node, kind)), None)
        if build is None:
            raise ValueError(f"cannot evaluate {node} ({type(node).__name__}) as a number; {_EVALUATED}")
        compute = build(node)
        if not self._is_constant(node):
            return compute
        return self._remember(type(self).__name__, node, compute, lambda site: site.constants)

    @cached_property
    def _builders(self) -> tuple[tuple[type | UnionType, Callable[[Expr], Scalar]], ...]:
        """Map kinds of scalar nodes to the builders of their closures."""
        return (
            (sp.Rational, self._compile_number),
            (sp.exp, self._compile_exponential),
            (sp.core.numbers.Exp1, self._compile_exponential),
            (sp.log, self._compile_logarithm),
            (sp.Float, self._compile_number),
            (sp.Pow, self._compile_power),
            (sp.Add, self._compile_combination),
            (sp.Mul, self._compile_combination),
            (ex.Inner, self._compile_inner),
            (ex.Value, self._compile_value),
            (ex.Average, self._compile_average),
            (ex.ClientSum, self._compile_average),
            (ex.Expectation, self._compile_expectation),
            (ex.LocalSum, self._compile_sum),
            (ex.PastSum, self._compile_sum),
            (sp.Max, self._compile_extreme),
            (sp.Min, self._compile_extreme),
            (sp.Abs, self._compile_absolute),
            (sp.floor | sp.ceiling, self._compile_rounded),
            (sp.Piecewise, self._compile_piecewise),
            (sp.Sum, self._compile_finite_sum),
        )

    def _is_constant(self, node: Expr) -> bool:
        """Return whether a node consists of constants of the run alone."""
        quantities = [self.notation.get(symbol) for symbol in _list_symbols(node)]
        return bool(quantities) and all(
            isinstance(quantity, RunQuantity) and quantity.is_constant for quantity in quantities
        )

    def _compile_number(self, node: Expr) -> Scalar:
        exact = fmpq(int(node.p), int(node.q)) if node.is_Rational else RATIONAL.number(str(node), str(node))
        rounded, as_it_is = np.full((1, 1, 1), plain_float(exact)), RATIONAL.array([[[exact]]])
        return lambda site: as_it_is if site.arithmetic.is_rigorous else rounded

    def _compile_combination(self, node: Expr) -> Scalar:
        first, *others = (self.scalar(argument) for argument in node.args)
        combine = operator.add if node.is_Add else operator.mul

        def combined(site: Site) -> Array:
            found = first(site)
            for other in others:
                found = combine(found, other(site))
            return found

        return combined

    def _compile_power(self, node: Expr) -> Scalar:
        base, exponent = node.as_base_exp()
        if exponent.is_Float:
            exponent = sp.Rational(str(exponent))
        if exponent.is_Integer and base.is_Symbol:
            return self._compile_symbol(base, int(exponent))
        inside = self.scalar(base)
        if exponent.is_Integer:
            return _raise_to(inside, int(exponent), cancels=not is_product(base))
        if exponent.is_Rational:
            root = partial(compute_root, inside, int(exponent.q))
            return _raise_to(root, int(exponent.p), cancels=not is_product(base))
        if exponent.is_number:
            raise ValueError(f"expected a power with a rational exponent, got {node}")
        power = self.scalar(exponent)
        return lambda site: site.each(partial(compute_measured_power, node=node), inside(site), power(site))

    def _compile_exponential(self, node: Expr) -> Scalar:
        inside = self.scalar(node.args[0] if node.args else sp.S.One)
        return lambda site: site.each(site.arithmetic.exp, inside(site))

    def _compile_logarithm(self, node: Expr) -> Scalar:
        inside = self.scalar(node.args[0])
        return lambda site: site.each(site.arithmetic.log, inside(site))

    def _compile_symbol(self, symbol: sp.Symbol, power: int) -> Scalar:
        quantity = self.notation.get(symbol)
        if quantity is None:
            return _raise_to(lambda site: site.parameter(symbol), power)
        if isinstance(quantity, ScalarQuantity):
            build = quantity.build
            return _raise_to(lambda site: build(_view_round(site)), power)
        if not isinstance(quantity, RunQuantity):
            raise ValueError(f"{symbol} is {quantity.name}, which is not a number")
        if quantity.root and power % 2:
            return _raise_to(lambda site: site.each(site.arithmetic.sqrt, site.measure(quantity)), power)
        return _raise_to(lambda site: site.measure(quantity), power // 2 if quantity.root else power)

    def _compile_inner(self, node: Expr) -> Scalar:
        left, right = (self.vector(side) for side in node.args)
        return self._cache_on_frame(
            node, lambda site: site.step.expand_axes(expect_inner_product(site.step, left(site), right(site)))
        )

    def _cache_on_frame(self, node: Expr, compute: Scalar) -> Scalar:
        """Return the closure with its results cached on the frame, which other claims about the same place share."""
        return self._remember(type(self).__name__, node, compute, _get_memo)

    def _remember(
        self, label: str, node: Expr, compute: Callable[[Site], Any], store: Callable[[Site], Memo]
    ) -> Callable[[Site], Any]:
        """Return a closure that caches its results in a store, unless the node has free points or parameters."""
        meaning = tuple(self.notation.get(symbol) for symbol in _list_symbols(node))
        if any(quantity is None or isinstance(quantity, PointQuantity) for quantity in meaning):
            return compute
        key = _make_key(label, node, meaning)

        return lambda site: store(site).compute_once(key, lambda: compute(site))

    def _compile_value(self, node: Expr) -> Scalar:
        objective, point = self._find_objective(node.args[0]), self.vector(node.args[1])

        def value(site: Site) -> Array:
            return site.step.expand_axes(site.step.objectives(objective.select).value(site.step, point(site)))

        return self._cache_on_frame(node, value)

    def _compile_expectation(self, node: Expr) -> Scalar:
        """Compile an expectation over the randomness of the present step."""
        inside = self.scalar(node.args[0])
        numbers = (isinstance(self.notation.get(symbol), RunQuantity) for symbol in node.free_symbols)
        if all(numbers) and not node.has(ex.Selected):
            # Numbers of the run are not random, and have values without a frame.
            return inside
        return self._cache_on_frame(node, lambda site: site.step.take_expectation(site.step.expand_axes(inside(site))))

    def _compile_sum(self, node: Expr) -> Scalar:
        inside, over = self.scalar(node.args[0]), _SUMS[type(node)]
        return lambda site: over(_view_round(site), site.step.expand_axes(inside(site)))

    def _compile_extreme(self, node: Expr) -> Scalar:
        parts = [self.scalar(argument) for argument in node.args]
        choose = maximum if isinstance(node, sp.Max) else minimum
        return lambda site: np.asarray(reduce(choose, (part(site) for part in parts)))

    def _compile_absolute(self, node: Expr) -> Scalar:
        inside = self.scalar(node.args[0])
        return lambda site: np.asarray(np.abs(inside(site)))

    def _compile_rounded(self, node: Expr) -> Scalar:
        inside = Compiler(self.notation).scalar(node.args[0])
        compute = stepwise.round_down if isinstance(node, sp.floor) else stepwise.round_up
        return lambda site: site.each(compute, inside(site))

    def _compile_piecewise(self, node: Expr) -> Scalar:
        exact = Compiler(self.notation).scalar
        choices = [(self.scalar(value), stepwise.compile_condition(holds, exact)) for value, holds in node.args]
        return stepwise.compile_cases(choices, node)

    def _compile_finite_sum(self, node: Expr) -> Scalar:
        # SymPy's last index is the outermost.
        *inner, (index, first, last) = node.limits
        if index in self.notation:
            raise ValueError(f"{index} is the index of a sum and a quantity: use different symbols")
        summand = sp.Sum(node.function, *inner) if inner else node.function
        bounds = [Compiler(self.notation).scalar(bound) for bound in (first, last)]
        closed = stepwise.find_closed_form(summand, index, first, last)
        if closed is not None:
            return stepwise.compile_closed_sum(self.scalar(closed), *bounds)
        return stepwise.add_terms(self.scalar(summand), index, *bounds)

    def _compile_average(self, node: Expr) -> Scalar:
        inside = self.scalar(node.args[0])

        def average(site: Site) -> Array:
            weights = _select_weights(node, site)
            value = inside(site)
            if site.frame is not None:
                site.frame.require_shared(value.shape[-2])
            return np.asarray((value * weights).sum(axis=-1, keepdims=True))

        return average

    def vector(self, node: Expr) -> Vectorial:
        """Return a closure for a vector node."""
        if node.is_Symbol:
            return self._compile_vector_symbol(node)
        return self._remember("vector", node, self._compose(node), _get_memo)

    def _compose(self, node: Expr) -> Vectorial:
        if isinstance(node, sp.Add):
            parts = [self.vector(argument) for argument in node.args]
            return lambda site: sum_values(part(site) for part in parts)
        if isinstance(node, ex.Average | ex.ClientSum):
            return self._compile_vector_average(node)
        if isinstance(node, ex.Gradient):
            return self._compile_gradient(node)
        if isinstance(node, ex.SampledGradient):
            return self._compile_sampled_gradient(node)
        if isinstance(node, sp.Mul):
            return self._compile_multiple(node)
        if isinstance(node, ex.Expectation | ex.LocalSum | ex.PastSum | ex.Selected):
            return self._compile_round_vector(node)
        raise ValueError(f"cannot evaluate {node} ({type(node).__name__}) as a vector")

    def _compile_vector_average(self, node: Expr) -> Vectorial:
        inside = self.vector(node.args[0])

        def average(site: Site) -> Vector:
            found = inside(site)
            if isinstance(found, PathVector) and found.values.ndim > 3:
                site.step.require_shared(found.values.shape[-3])
            return found.average(_select_weights(node, site))

        return average

    def _compile_vector_symbol(self, symbol: sp.Symbol) -> Vectorial:
        quantity = self.notation.get(symbol)
        if isinstance(quantity, VectorQuantity):
            build = quantity.build
            return lambda site: site.step.build_vector(build)
        if isinstance(quantity, PointQuantity):
            return lambda site: site.step.constant(site.points[symbol][..., None, :])
        raise ValueError(f"{symbol} is not a vector")

    def _compile_gradient(self, node: Expr) -> Vectorial:
        objective, point = self._find_objective(node.args[0]), self.vector(node.args[1])

        def gradient(site: Site) -> Vector:
            return site.step.objectives(objective.select).gradient(site.step, point(site))

        return gradient

    def _compile_sampled_gradient(self, node: Expr) -> Vectorial:
        """Compile a stochastic gradient of a client at a point."""
        objective, point = self._find_objective(node.args[0]), self.vector(node.args[1])
        if objective.name != "client_objective":
            raise ValueError(f"expected the objective of a client, whose gradients are sampled, got {node.args[0]}")
        return lambda site: sample_at(site.step, point(site))

    def _compile_round_vector(self, node: Expr) -> Vectorial:
        """Compile a vector that depends on all clients of a round."""
        inside = self.vector(node.args[0])
        if isinstance(node, ex.Selected):
            return lambda site: site.step.aggregate(inside(site))
        if isinstance(node, ex.Expectation):
            return lambda site: site.step.mean_of(inside(site))
        over = _SUMS[type(node)]

        def vector(site: Site) -> Vector:
            frame, found = _view_round(site), inside(site)
            assert isinstance(found, PathVector)
            return PathVector(over(frame, found.values))

        return vector

    def _compile_multiple(self, node: Expr) -> Vectorial:
        """Compile a product of numbers and one vector."""
        vectors = [argument for argument in node.args if self._is_vector(argument)]
        if len(vectors) != 1:
            raise ValueError(f"expected one vector in the product {node}")
        factor = self.scalar(sp.Mul(*(argument for argument in node.args if argument is not vectors[0])))
        vector = self.vector(vectors[0])
        return lambda site: vector(site).scale(factor(site))

    def _is_vector(self, node: Expr) -> bool:
        if isinstance(node, ex.Gradient | ex.SampledGradient | ex.Selected):
            return True
        if isinstance(node, ex.Inner | ex.Value):
            return False
        if node.is_Symbol:
            return isinstance(self.notation.get(node), VectorQuantity | PointQuantity)
        return any(self._is_vector(argument) for argument in node.args)

    def _find_objective(self, symbol: Expr) -> ObjectiveQuantity:
        """Return the objective that a symbol stands for; raise ValueError for other symbols."""
        quantity = self.notation.get(symbol)
        if not isinstance(quantity, ObjectiveQuantity):
            raise ValueError(f"{symbol} is not an objective")
        return quantity


_SUMS: dict[type, Callable[[RoundFrame, Array], Array]] = {
    ex.LocalSum: RoundFrame.local_sum,
    ex.PastSum: RoundFrame.past_sum,
}


def _select_weights(node: Expr, site: Site) -> Array:
    """Return the weights of an average or of a sum over clients, (M,)."""
    return site.importances if isinstance(node, ex.Average) else site.multiplicities


def _view_round(site: Site) -> RoundFrame:
    return view_whole_round(site.frame)


def _raise_to(compute: Scalar, power: int, *, cancels: bool = False) -> Scalar:
    """Return a closure for a whole power; `cancels` says whether numbers may cancel in the base."""
    if power == 1:
        return compute
    return lambda site: site.each(partial(compute_whole_power, exponent=power, cancels=cancels), compute(site))


@lru_cache(maxsize=2**14)
def _list_symbols(node: Expr) -> tuple[sp.Symbol, ...]:
    """Return the symbols in a node, in a fixed order."""
    return tuple(sorted(node.free_symbols, key=str))


def _get_memo(site: Site) -> Memo:
    """Return the cache that all claims about the place share."""
    return site.step.memo


@cache
def _make_key(*parts: object) -> object:
    """Return a small key for each combination of parts, faster to compare than the parts."""
    del parts
    return object()

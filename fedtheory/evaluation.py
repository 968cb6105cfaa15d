"""Expressions of claims, evaluated on runs.

An expression is compiled once into a closure over its tree; a closure takes a
site (a place in a run, with values for free points and parameters) and returns
an array.  Scalars have the axes (rounds, steps, clients), each of full length
or one; at a single local step the first two have length one.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any

import numpy as np
import sympy as sp

from fedtheory.arithmetic import FLOAT, RATIONAL, Arithmetic, Array, Number
from fedtheory.claim import Claim
from fedtheory.errors import NotApplicable
from fedtheory.expressions import Average, Expectation, Expr, Gradient, Inner, Value
from fedtheory.frames import Frame, Index, Vector, frames_at, probes
from fedtheory.quantities.notion import Notion, ObjectiveNotion, PointNotion, Quantity, VectorNotion
from fedtheory.run import Run

_AXES = ("round", "step", "client")


@dataclass(frozen=True, eq=False)
class Site:
    """Where an expression is evaluated."""

    run: Run
    frame: Frame | None
    index: Index
    points: Mapping[sp.Symbol, Array]
    parameters: Mapping[sp.Symbol, Number]

    def place(self, value: Number | Array) -> Array:
        """A measured quantity as an array over (rounds, steps, clients), cut to the frame's step."""
        if not isinstance(value, np.ndarray):
            filled: Array = np.empty((1, 1, 1), dtype=self.run.arithmetic.dtype)
            filled[0, 0, 0] = value
            return filled
        for axis, name in enumerate(_AXES[:2]):
            if name in self.index and value.shape[axis] > 1:
                value = value.take([int(self.index[name])], axis=axis)
        return value


Scalar = Callable[[Site], Array]
Vectorial = Callable[[Site], Vector]


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
        total: Array = _total(self.parts(site))
        return total

    def with_scale(self, site: Site) -> tuple[Array, Array]:
        """The value and the scale of its rounding errors; for exact numbers it only serves to compare places."""
        parts = self.parts(site)
        if site.run.arithmetic is FLOAT:
            return _total(parts), _total([scale(site) for scale in self.scales])
        return _total(parts), _total([abs(part) for part in parts])


def _total(parts: Iterable[Any]) -> Any:
    return reduce(operator.add, parts)


def _product(parts: Iterable[Any]) -> Any:
    return reduce(operator.mul, parts)


def compile_expression(expression: Expr, notation: Mapping[sp.Symbol, Notion]) -> Compiled:
    """Compile a scalar expression; `ValueError` for what the language does not know."""
    terms = tuple(sp.Add.make_args(expression))
    values, scales = Compiler(notation), ScaleCompiler(notation)
    return Compiled(terms, tuple(map(values.scalar, terms)), tuple(map(scales.scalar, terms)))


class Compiler:
    """Turns the nodes of an expression into closures."""

    def __init__(self, notation: Mapping[sp.Symbol, Notion]) -> None:
        self.notation = notation

    def scalar(self, node: Expr) -> Scalar:
        """A closure for a scalar node."""
        if node.is_Symbol:
            return self._symbol(node, 1)
        builders: tuple[tuple[type, Callable[[Expr], Scalar]], ...] = (
            (sp.Rational, self._constant),
            (sp.Pow, self._power),
            (sp.Add, self._combination),
            (sp.Mul, self._combination),
            (Inner, self._inner),
            (Value, self._value),
            (Average, self._average),
            # A frame's inner products are expectations already.
            (Expectation, lambda expectation: self.scalar(expectation.args[0])),
        )
        build = next((build for kind, build in builders if isinstance(node, kind)), None)
        if build is None:
            raise ValueError(f"cannot evaluate {node} ({type(node).__name__}) as a number")
        return build(node)

    def _constant(self, node: Expr) -> Scalar:
        both: tuple[Arithmetic, ...] = (FLOAT, RATIONAL)
        known = {arithmetic: arithmetic.array([[[str(node)]]]) for arithmetic in both}
        return lambda site: known[site.run.arithmetic]

    def _combination(self, node: Expr) -> Scalar:
        parts = [self.scalar(argument) for argument in node.args]
        combine = _total if node.is_Add else _product
        return lambda site: combine(part(site) for part in parts)

    def _power(self, node: Expr) -> Scalar:
        base, exponent = node.as_base_exp()
        if exponent.is_Integer and base.is_Symbol:
            return self._symbol(base, int(exponent))
        inside = self.scalar(base)
        if exponent.is_Integer:
            return lambda site: _power(inside(site), int(exponent))
        if (2 * exponent).is_Integer:
            return lambda site: _power(_root(site, inside(site)), int(2 * exponent))
        raise ValueError(f"expected a whole or half power, got {node}")

    def _symbol(self, symbol: sp.Symbol, power: int) -> Scalar:
        notion = self.notation.get(symbol)
        if notion is None:
            return lambda site: _power(site.place(site.parameters[symbol]), power)
        if not isinstance(notion, Quantity):
            raise ValueError(f"{symbol} stands for {notion.name}, which is not a number")
        quantity = notion
        if not quantity.root:
            return lambda site: _power(site.place(quantity.measure(site.run)), power)
        if power % 2 == 0:
            return lambda site: _power(site.place(quantity.measure(site.run)), power // 2)
        return lambda site: _power(_root(site, site.place(quantity.measure(site.run))), power)

    def _inner(self, node: Expr) -> Scalar:
        left, right = (self.vector(side) for side in node.args)
        return self._kept(node, lambda site: _frame(site).inner(left(site), right(site))[None, None, :])

    def _kept(self, node: Expr, compute: Scalar) -> Scalar:
        """The closure, remembering its result on the frame, which other claims about the same step share."""
        meaning = tuple(self.notation.get(symbol) for symbol in sorted(node.free_symbols, key=str))
        if any(notion is None or isinstance(notion, PointNotion) for notion in meaning):
            return compute
        key = _key_of(type(self).__name__, node, meaning)

        def remembered(site: Site) -> Array:
            known = _frame(site).known
            if key not in known:
                known[key] = compute(site)
            return known[key]

        return remembered

    def _value(self, node: Expr) -> Scalar:
        objective, point = self._objective(node.args[0]), self.vector(node.args[1])

        def value(site: Site) -> Array:
            hessians, linear, constants = objective.select(site.run)
            at, frame = point(site), _frame(site)
            curved = frame.inner(at, at.mapped(hessians)) / 2
            at_point: Array = (curved - frame.inner(frame.constant(linear), at) + constants)[None, None, :]
            return at_point

        return self._kept(node, value)

    def _average(self, node: Expr) -> Scalar:
        inside = self.scalar(node.args[0])

        def average(site: Site) -> Array:
            weights = site.run.problem.weights
            value = inside(site)
            spread = np.broadcast_to(value, (*value.shape[:2], len(weights)))
            return np.asarray(spread @ weights)[..., None]

        return average

    def vector(self, node: Expr) -> Vectorial:
        """A closure for a vector node."""
        if node.is_Symbol:
            return self._vector_symbol(node)
        if isinstance(node, sp.Add):
            parts = [self.vector(argument) for argument in node.args]
            return lambda site: _total(part(site) for part in parts)
        if isinstance(node, Average):
            inside = self.vector(node.args[0])
            return lambda site: inside(site).averaged(site.run.problem.weights)
        if isinstance(node, Gradient):
            return self._gradient(node)
        if isinstance(node, sp.Mul):
            return self._multiple(node)
        raise ValueError(f"cannot evaluate {node} ({type(node).__name__}) as a vector")

    def _vector_symbol(self, symbol: sp.Symbol) -> Vectorial:
        notion = self.notation.get(symbol)
        if isinstance(notion, VectorNotion):
            build = notion.build
            return lambda site: build(_frame(site))
        if isinstance(notion, PointNotion):
            return lambda site: _frame(site).constant(site.points[symbol][None, :])
        raise ValueError(f"{symbol} is not a vector")

    def _gradient(self, node: Expr) -> Vectorial:
        objective, point = self._objective(node.args[0]), self.vector(node.args[1])

        def gradient(site: Site) -> Vector:
            hessians, linear, _ = objective.select(site.run)
            return point(site).mapped(hessians) + _frame(site).constant(-linear)

        return gradient

    def _multiple(self, node: Expr) -> Vectorial:
        vectors = [argument for argument in node.args if self._is_vector(argument)]
        if len(vectors) != 1:
            raise ValueError(f"expected one vector in the product {node}")
        factor = self.scalar(sp.Mul(*(argument for argument in node.args if argument is not vectors[0])))
        vector = self.vector(vectors[0])
        return lambda site: vector(site).scaled(factor(site)[0, 0])

    def _is_vector(self, node: Expr) -> bool:
        scalars = (Inner, Value, Expectation)
        if isinstance(node, Gradient):
            return True
        if isinstance(node, scalars):
            return False
        if node.is_Symbol:
            return isinstance(self.notation.get(node), VectorNotion | PointNotion)
        return any(self._is_vector(argument) for argument in node.args)

    def _objective(self, symbol: Expr) -> ObjectiveNotion:
        notion = self.notation.get(symbol)
        if not isinstance(notion, ObjectiveNotion):
            raise ValueError(f"{symbol} is not an objective")
        return notion


class ScaleCompiler(Compiler):
    """Closures for the size of the numbers that cancel in an expression, instead of its value; floats only."""

    def scalar(self, node: Expr) -> Scalar:
        """A closure for the scale of a scalar node."""
        value = super().scalar(node)
        return lambda site: abs(value(site))

    def _inner(self, node: Expr) -> Scalar:
        left, right = (self._length(side) for side in node.args)
        return self._kept(node, lambda site: left(site) * right(site))

    def _value(self, node: Expr) -> Scalar:
        objective, point = self._objective(node.args[0]), Compiler.vector(self, node.args[1])

        def scale(site: Site) -> Array:
            hessians, linear, constants = objective.select(site.run)
            at, frame = point(site), _frame(site)
            curved = abs(frame.inner(at, at.mapped(hessians))) / 2
            at_point: Array = (curved + abs(frame.inner(frame.constant(linear), at)) + abs(constants))[None, None, :]
            return at_point

        return self._kept(node, scale)

    def _length(self, node: Expr) -> Scalar:
        """Sum of the lengths of the vectors that a vector expression adds up."""
        if isinstance(node, sp.Add):
            parts = [self._length(argument) for argument in node.args]
            return lambda site: _total(part(site) for part in parts)
        vector = self.vector(node)

        def length(site: Site) -> Array:
            at = vector(site)
            return np.sqrt(np.maximum(_frame(site).inner(at, at), 0))[None, None, :]

        return length


@cache
def _key_of(*parts: object) -> object:
    """One small key for each combination of parts, quicker to look up than the parts."""
    del parts
    return object()


def _frame(site: Site) -> Frame:
    if site.frame is None:
        raise ValueError("vectors have values at local steps only: set the claim's place to 'step', 'path' or 'points'")
    return site.frame


def _root(site: Site, value: Array) -> Array:
    return np.asarray(site.run.arithmetic.sqrt(value))


def _power(value: Array, exponent: int) -> Array:
    if exponent >= 0:
        return np.asarray(value**exponent)
    if (value == 0).any():
        raise NotApplicable("the claim divides by a quantity that is zero on this run")
    return np.asarray(1 / value**-exponent)


def whole_run(run: Run) -> Site:
    """The site of statements about a run as a whole."""
    return Site(run, None, {}, {}, {})


def sites(claim: Claim, run: Run) -> Iterator[Site]:
    """All places of a run at which a claim speaks."""
    points = [symbol for symbol, notion in claim.notation.items() if isinstance(notion, PointNotion)]
    candidates = list(probes(run).items()) if points else []
    placed = list(itertools.product(candidates, repeat=len(points)))
    chosen = list(itertools.product(*claim.for_all.values()))
    frames: Iterable[Any] = [None] if claim.place == "run" else frames_at(claim.place, run)
    for frame in frames:
        for at, values in itertools.product(placed, chosen):
            labels = {symbol.name: name for symbol, (name, _) in zip(points, at, strict=True)}
            tried = {symbol.name: str(value) for symbol, value in zip(claim.for_all, values, strict=True)}
            yield Site(
                run,
                frame,
                (frame.index if frame else {}) | labels | tried,
                {symbol: point for symbol, (_, point) in zip(points, at, strict=True)},
                {s: run.arithmetic.number(str(v), s.name) for s, v in zip(claim.for_all, values, strict=True)},
            )

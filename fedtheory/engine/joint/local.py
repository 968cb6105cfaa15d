"""Compiles the local steps of a round into linear forms, with the covariance of their noise."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from fedtheory.arithmetic import Array, arithmetic_of
from fedtheory.engine.joint.forms import Forms, stack_forms
from fedtheory.engine.joint.layout import VectorLayout
from fedtheory.engine.joint.parameters import RoundParameters
from fedtheory.engine.moments.local import embed_covariances
from fedtheory.federation.definition.language import Gradient
from fedtheory.federation.oracles import Oracle
from fedtheory.kernel.expressions import Expr


@dataclass(frozen=True, eq=False)
class NoiseStep:
    """Effect of one local step on the noise of the local vectors, u' = B u + a (x) nu."""

    active: Array
    """Mask of the classes of clients that still take steps, (G,)."""
    carried: Array
    """B, (G, ld, ld)."""
    gains: Array
    """a, (G, l)."""
    point: Forms
    """Point of the gradient, relative to the optimum, (G, d)."""


@dataclass(frozen=True, eq=False)
class LocalStage:
    """The local steps of one round, for every class of clients."""

    oracle: Oracle
    gradients: Array
    """grad F_i as maps of (1, x), (G, d, d+1)."""
    iterates: list[Forms]
    """The local vectors after k = 0 .. K steps, (G, ld)."""
    steps: list[NoiseStep]

    def noises(self, known: Array) -> list[Array]:
        """Return covariances (G, ld, ld) of the noise in the local vectors after k = 0 .. K steps.

        `known` holds the second moments of (1, s, c_i) at the start of the round, (G, m, m).
        """
        kinds, rows, _ = self.iterates[0].state.shape
        covariance = arithmetic_of(known).zeros(kinds, rows, rows)
        found = [covariance]
        for step in self.steps:
            fresh = self._compute_fresh(step, known, covariance)
            gains = step.gains[:, :, None, None, None] * step.gains[:, None, None, :, None]
            injected = (gains * fresh[:, None, :, None, :]).reshape(covariance.shape)
            following = step.carried @ covariance @ step.carried.transpose(0, 2, 1) + injected
            covariance = np.where(step.active[:, None, None], following, covariance)
            found.append(covariance)
        return found

    def gradient_moments(self, known: Array) -> list[Array]:
        """Return second moments of (1, x) at the gradients' points of each local step, (G, d+1, d+1).

        They are zero after the last step of a class.
        """
        covariances = self.noises(known)
        return [
            np.where(
                step.active[:, None, None], _compute_point_moments(step.point, known, covariance), 0 * known[:1, :1, :1]
            )
            for step, covariance in zip(self.steps, covariances, strict=False)
        ]

    def _compute_fresh(self, step: NoiseStep, known: Array, covariance: Array) -> Array:
        """Return covariances of the gradients' noise, (G, d, d)."""
        if not self.oracle.depends_on_model:
            some = embed_covariances(covariance[:, : self.gradients.shape[1], : self.gradients.shape[1]])
            return self.oracle.covariances(some, some[:, 1:, 1:])
        moments = _compute_point_moments(step.point, known, covariance)
        squares = self.gradients @ moments @ self.gradients.transpose(0, 2, 1)
        return self.oracle.covariances(moments, (squares + squares.transpose(0, 2, 1)) / 2)


def _compute_point_moments(point: Forms, known: Array, covariance: Array) -> Array:
    """Return second moments of (1, point), (G, d+1, d+1)."""
    kinds, _, entries = point.state.shape
    maps = arithmetic_of(known).zeros(kinds, point.state.shape[1] + 1, entries)
    maps[:, 0, 0] = arithmetic_of(known).number(1, "one")
    maps[:, 1:] = point.state
    own = point.noise[:, :, : covariance.shape[-1]]
    moments: Array = maps @ known @ maps.transpose(0, 2, 1) + embed_covariances(
        own @ covariance @ own.transpose(0, 2, 1)
    )
    return moments


class LocalCompiler:
    """Compiles the local steps of a round."""

    def __init__(
        self, parameters: RoundParameters, layout: VectorLayout, basis: Mapping[Expr, Forms], entries: int
    ) -> None:
        self.parameters = parameters
        self.layout = layout
        self.basis = basis
        """Forms of the server's and the client's vectors."""
        self.centred = parameters.problem.centred
        self.representatives = parameters.kinds.representatives
        self.entries = entries
        """Number of entries of the round's noise; those of the local vectors come first."""

    def stage(self, n: int, coins: Mapping[Expr, int]) -> LocalStage:
        """Return the local steps of round n."""
        definition = self.parameters.definition
        first = self.parameters.evaluate(n, 0, coins)
        begun = [self._assign(step.vector, step.start, self.basis, first) for step in definition.steps]
        current = [Forms(forms.state, self._compute_own_noise(row)) for row, forms in enumerate(begun)]
        iterates, steps = [stack_forms(current)], []
        for k in range(max(self.parameters.steps)):
            numbers = self.parameters.evaluate(n, k, coins)
            active = np.array([k < count for count in self.parameters.steps])
            moved, step = self._take_step(current, numbers, active)
            current = [new.where(active, old) for new, old in zip(moved, current, strict=True)]
            iterates.append(stack_forms(current))
            steps.append(step)
        oracle = self.centred.oracle.select_clients(self.representatives)
        return LocalStage(oracle, self.centred.gradient_maps[self.representatives], iterates, steps)

    def _take_step(
        self, current: list[Forms], numbers: Mapping[Expr, Any], active: Array
    ) -> tuple[list[Forms], NoiseStep]:
        """Return the client vectors after one local step, and the noise it adds."""
        definition, d = self.parameters.definition, self.layout.dimension
        known = {**self.basis, **dict(zip(definition.local_vectors, current, strict=True))}
        moved, gains, point = [], [], current[0]
        for step in definition.steps:
            parts = self.layout.parts(step.vector, step.step)
            calls = [part for part in parts if isinstance(part, Gradient)]
            gain = self.parameters.value(parts[calls[0]], numbers) if calls else self.parameters.value(0, numbers)
            gains.append(gain + self.parameters.shares * 0)
            if calls:
                point = self._compute_point(calls[0], known, numbers)
                known[calls[0]] = self._compute_gradient(point)
            moved.append(self._assign(step.vector, step.step, known, numbers))
        rows = len(current) * d
        noise = NoiseStep(active, stack_forms(moved).noise[:, :, :rows], np.stack(gains, axis=1), point)
        # After the step, its noise is part of the local vectors.
        fresh = [Forms(new.state, old.noise) for new, old in zip(moved, current, strict=True)]
        return fresh, noise

    def _compute_point(self, call: Expr, known: Mapping[Expr, Forms], numbers: Mapping[Expr, Any]) -> Forms:
        """Compute the point of a gradient, relative to the optimum."""
        point = self.combine(call, call.args[0], known, numbers)
        return self.add_optimum(point, self.layout.offset(call, call.args[0]) - 1, numbers)

    def _compute_gradient(self, point: Forms) -> Forms:
        """Return the gradient at a point, as an affine function of the vectors."""
        hessians, linear = self.centred.hessians[self.representatives], self.centred.linear[self.representatives]
        return point.transform(hessians).shift(-linear)

    def combine(
        self, vector: Expr, expression: Expr, known: Mapping[Expr, Forms], numbers: Mapping[Expr, Any]
    ) -> Forms:
        """Return a linear combination of vectors whose forms are known."""
        parts = self.layout.parts(vector, expression).items()
        scaled = [
            known[p] if scale == 1 else known[p].scale(self.parameters.value(scale, numbers)) for p, scale in parts
        ]
        return reduce(operator.add, scaled) if scaled else self.nothing

    @property
    def nothing(self) -> Forms:
        """Return the forms of a zero vector."""
        zeros, d = self.parameters.arithmetic.zeros, self.layout.dimension
        kinds = len(self.representatives)
        return Forms(zeros(kinds, d, self.layout.shared + self.layout.own), zeros(kinds, d, self.entries))

    def _compute_own_noise(self, row: int) -> Array:
        """Return the noise accumulated in a local vector, (G, d, entries)."""
        noise, d = self.nothing.noise, self.layout.dimension
        noise[:, :, row * d : (row + 1) * d] = self.parameters.arithmetic.identity(d)
        return noise

    def _assign(
        self, vector: Expr, expression: Expr, known: Mapping[Expr, Forms], numbers: Mapping[Expr, Any]
    ) -> Forms:
        """Compute the new value of a vector, relative to the vector's origin."""
        off = self.layout.offset(vector, expression) - self.layout.offsets[vector]
        return self.add_optimum(self.combine(vector, expression, known, numbers), off, numbers)

    def add_optimum(self, forms: Forms, off: Expr, numbers: Mapping[Expr, Any]) -> Forms:
        """Return forms with a multiple of the optimum added."""
        if off == 0:
            return forms
        factor = self.parameters.value(off, numbers)
        factors = factor[:, None] if isinstance(factor, np.ndarray) else factor
        return forms.shift(factors * self.parameters.problem.centre)

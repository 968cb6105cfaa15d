"""Monte-Carlo simulation of quadratics, an independent check of the exact engine: gradients and noise samples alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import singledispatch

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.sampling import ReplicaMeans, estimate_of, sample_weights
from fedtheory.federation import Algorithm
from fedtheory.federation.oracles import AdditiveNoise, ExactOracle, MiniBatch, Oracle
from fedtheory.federation.problem import Problem

Measure = Callable[[Array], Array]
"""Function from the models of all replicas, (replicas, d), to one number for each, (replicas,)."""


def models(problem: Problem, algorithm: Algorithm, replicas: int, seed: int) -> Iterator[Array]:
    """Yield the server's model x^n of every replica, (replicas, d), for n = 0 .. T, in floats."""
    problem, algorithm = problem.as_floats(), algorithm.as_floats()
    generator = np.random.default_rng(seed)
    model = np.tile(problem.start, (replicas, 1))
    received = np.repeat(model[:, None, :], problem.clients, axis=1)
    yield model
    for update in algorithm.updates():
        weights = sample_weights(algorithm, update, problem.weights, replicas, generator)
        displacement = _work(problem, algorithm, received, generator) - received
        change = np.einsum("rm,rmd->rd", weights, displacement)
        model = model + algorithm.aggregation.server_step_size * change
        received[:, list(update.receivers)] = model[:, None, :]
        yield model


def _work(problem: Problem, algorithm: Algorithm, received: Array, generator: np.random.Generator) -> Array:
    """Return final local models of all clients, (replicas, M, d), from the models that they received.

    A client that does not report yet samples new noise in the next update, because its work had no effect so far.
    """
    points = received
    counts, sizes = np.array(algorithm.work.steps), algorithm.work.step_sizes
    for k in range(counts.max()):
        gradients = (points.transpose(1, 0, 2) @ problem.hessians).transpose(1, 0, 2) - problem.linear
        noisy = gradients + sample_noise(problem.oracle, points, generator)
        points = points - np.where(counts > k, sizes, 0.0)[:, None] * noisy
    return points


@singledispatch
def sample_noise(oracle: Oracle, points: Array, generator: np.random.Generator) -> Array:
    """Return noise vectors (..., M, d) at float points (..., M, d), with one independent sample for each."""
    raise TypeError(f"no samples of {type(oracle).__name__} at {points.shape} by {generator}")


@sample_noise.register
def _(_oracle: ExactOracle, points: Array, _generator: np.random.Generator) -> Array:
    return np.zeros_like(points)


@sample_noise.register
def _(oracle: AdditiveNoise, points: Array, generator: np.random.Generator) -> Array:
    deviations = np.sqrt(oracle.variances / points.shape[-1])
    return np.asarray(generator.standard_normal(points.shape) * deviations[:, None])


@sample_noise.register
def _(oracle: MiniBatch, points: Array, generator: np.random.Generator) -> Array:
    noise = np.empty_like(points)
    for client, (inputs, outputs) in enumerate(oracle.data):
        at = points[..., client, :].reshape(-1, points.shape[-1])
        rows, shape = len(outputs), (len(at), oracle.batch)
        if oracle.replacement:
            chosen = generator.integers(rows, size=shape)
        else:
            chosen = generator.random((len(at), rows)).argsort(axis=1)[:, : oracle.batch]
        counts = (chosen[:, :, None] == np.arange(rows)).sum(axis=1)
        # Deviation of each row's weight from its expectation.
        weights = counts / oracle.batch - 1 / rows
        noise[..., client, :] = (2 * (weights * (at @ inputs.T - outputs)) @ inputs).reshape(
            noise[..., client, :].shape
        )
    return noise


def estimates(
    problem: Problem,
    algorithm: Algorithm,
    measures: Sequence[Measure],
    *,
    replicas: int,
    seed: int,
    confidence: float = 0.99,
) -> list[ReplicaMeans]:
    """Estimate ``E measure(x^n)`` for n = 0 .. T on the same replicas, with Student's interval for each n."""
    values = np.array(
        [[measure(model) for measure in measures] for model in models(problem, algorithm, replicas, seed)]
    )
    return [estimate_of(each, confidence) for each in values.transpose(1, 0, 2)]


def suboptimality(problem: Problem) -> Measure:
    """Return ``F(x) - F*`` of models (replicas, d)."""
    floats = problem.as_floats()

    def measure(models: Array) -> Array:
        away = models - floats.optimum
        return np.asarray(((away @ floats.about_optimum.hessian) * away).sum(axis=-1) / 2)

    return measure

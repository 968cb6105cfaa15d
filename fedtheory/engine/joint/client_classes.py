"""Classes of equal clients: values that are equal for all clients of a class are stored once.

Two clients are of one class if exchanging them changes nothing: the same
objective, noise, client weight, local steps and step sizes.  Their vectors
then have the same moments, and so have all pairs of different clients of two
classes.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from fedtheory.arithmetic import Array, group_equal_rows
from fedtheory.errors import NotApplicable
from fedtheory.federation import Algorithm
from fedtheory.federation.oracles import AdditiveNoise, ExactOracle, MiniBatch, Oracle
from fedtheory.federation.problem import Problem
from fedtheory.federation.problem.interval_problem import EnclosedProblem


@dataclass(frozen=True, eq=False)
class Kinds:
    """G classes of M clients."""

    representatives: list[int]
    """Index of one client of each class, (G,)."""
    counts: list[int]
    """Number of clients of each class, (G,)."""
    of_client: list[int]
    """The class of each client, (M,)."""


def group_clients(problem: Problem, algorithm: Algorithm) -> Kinds:
    """Group the clients of a run into classes; with a graph or a clock, each client is its own class."""
    if isinstance(problem, EnclosedProblem):
        # Intervals are never known to be equal: the rational problem decides.
        assert problem.of is not None
        problem = problem.of
    numbers = algorithm.aggregation.participation.multiplicities(problem.clients)
    has_graph = algorithm.defined is not None and algorithm.defined.mixing is not None
    if has_graph or not algorithm.clock.is_synchronous:
        first = of_client = list(range(problem.clients))
    else:
        work, means = algorithm.work, algorithm.aggregation.moments(problem.weights).mean
        of_problem = problem.hessians, problem.linear, problem.weights, _number_noises(problem.oracle, problem.clients)
        of_rounds = means, np.array(numbers), np.array(work.steps), work.step_sizes
        first, of_client = group_equal_rows(*of_problem, *of_rounds)
    counts = [0] * len(first)
    for kind, number in zip(of_client, numbers, strict=True):
        counts[kind] += number
    return Kinds(first, counts, of_client)


def _number_noises(oracle: Oracle, clients: int) -> Array:
    """Return a number for each client, (M,), that clients with the same noise share.

    Raises `NotApplicable` if the moments of the noise are not known.
    """
    if isinstance(oracle, AdditiveNoise):
        return oracle.variances
    if isinstance(oracle, MiniBatch):
        known: dict[Hashable, int] = {}
        rows = zip(oracle.data.inputs, oracle.data.outputs, strict=True)
        return np.array([known.setdefault(tuple(map(_list_entries, parts)), len(known)) for parts in rows])
    if isinstance(oracle, ExactOracle):
        return np.zeros(clients)
    raise NotApplicable(f"the moments of {type(oracle).__name__} are not known in closed form")


def _list_entries(array: Array) -> Hashable:
    """Return the entries of an array as a hashable value."""
    return array.tobytes() if array.dtype != object else tuple(array.flat)

"""Classes of equal clients: values that are equal for all clients of a class are stored once.

Two clients are of one class if exchanging them changes nothing: the same
objective, noise, client weight, local steps and step sizes.  Their vectors
then have the same moments, and so have all pairs of different clients of two
classes.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import singledispatch

from fedtheory.arithmetic import Array
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
    found: dict[Hashable, int] = {}
    representatives: list[int] = []
    of_client: list[int] = []
    means = algorithm.aggregation.moments(problem.weights).mean
    has_graph = algorithm.defined is not None and algorithm.defined.mixing is not None
    numbers = algorithm.aggregation.participation.multiplicities(problem.clients)
    is_alone = has_graph or not algorithm.clock.is_synchronous
    for client in range(problem.clients):
        key = client if is_alone else _make_key(problem, algorithm, means, numbers, client)
        if key not in found:
            found[key] = len(representatives)
            representatives.append(client)
        of_client.append(found[key])
    counts = [0] * len(representatives)
    for kind, number in zip(of_client, numbers, strict=True):
        counts[kind] += number
    return Kinds(representatives, counts, of_client)


def _make_key(problem: Problem, algorithm: Algorithm, means: Array, numbers: tuple[int, ...], client: int) -> Hashable:
    """Return a key that is equal for clients with the same objective, weight, step numbers and noise."""
    work = algorithm.work
    return (
        _list_entries(problem.hessians[client]),
        _list_entries(problem.linear[client]),
        _make_hashable(problem.weights[client]),
        _make_hashable(means[client]),
        numbers[client],
        work.steps[client],
        _make_hashable(work.step_sizes[client]),
        _make_noise_key(problem.oracle, client),
    )


def _list_entries(array: Array) -> Hashable:
    """Return the entries of an array as a hashable value."""
    if array.dtype != object:
        return array.tobytes()
    return tuple(map(_make_hashable, array.ravel().tolist()))


def _make_hashable(number: object) -> Hashable:
    """Return the number as a hashable value."""
    return number if isinstance(number, float) else str(number)


@singledispatch
def _make_noise_key(oracle: Oracle, client: int) -> Hashable:
    """Return a key for the client's noise; raise NotApplicable for an unknown oracle."""
    del client
    raise NotApplicable(f"the moments of {type(oracle).__name__} are not known in closed form")


@_make_noise_key.register
def _(oracle: ExactOracle, client: int) -> Hashable:
    del oracle, client
    return None


@_make_noise_key.register
def _(oracle: AdditiveNoise, client: int) -> Hashable:
    return _make_hashable(oracle.variances[client])


@_make_noise_key.register
def _(oracle: MiniBatch, client: int) -> Hashable:
    return _list_entries(oracle.data.inputs[client]), _list_entries(oracle.data.outputs[client])

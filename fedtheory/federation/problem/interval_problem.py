"""A rational problem whose numbers are replaced by float intervals."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Self

from fedtheory.arithmetic import CERTIFIED, Arithmetic, Array
from fedtheory.federation.oracles import AdditiveNoise, MiniBatch, Oracle
from fedtheory.federation.problem.quadratic import Problem


@dataclass(frozen=True, eq=False, repr=False)
class EnclosedProblem(Problem):
    """A problem in centred coordinates, with midpoints and radii.

    Weights stay rational, because they determine the participants, and so does the position of the centre.
    """

    of: Problem = field(kw_only=True)
    """The rational problem, whose matrices have been validated."""

    @classmethod
    def from_problem(cls, problem: Problem) -> EnclosedProblem:
        """Return the interval problem of a rational one."""
        centred = problem.centred
        given: dict[str, Any] = {one.name: getattr(centred, one.name) for one in fields(Problem)}
        enclosed = {name: CERTIFIED.array(given[name]) for name in ("hessians", "linear", "constants", "start")}
        return cls(**given | enclosed | {"oracle": _enclose(centred.oracle), "of": problem})

    def __post_init__(self) -> None:
        """Skip the checks of the base class: the rational problem has been checked."""

    @cached_property
    def arithmetic(self) -> Arithmetic:
        return CERTIFIED

    @cached_property
    def centred(self) -> Self:
        return self

    @cached_property
    def has_convex_clients(self) -> bool:
        return self.of.has_convex_clients

    @cached_property
    def stationary_point(self) -> Array | None:
        return self.of.stationary_point

    @property
    def centre(self) -> Array:
        return self.of.centre

    @cached_property
    def optimum(self) -> Array:
        return self.of.optimum

    @cached_property
    def gradient_map(self) -> Array:
        return CERTIFIED.array(self.of.gradient_map)


def _enclose(oracle: Oracle) -> Oracle:
    if isinstance(oracle, AdditiveNoise):
        return AdditiveNoise(CERTIFIED.array(oracle.variances))
    if isinstance(oracle, MiniBatch):
        inputs, outputs = (tuple(map(CERTIFIED.array, given)) for given in (oracle.data.inputs, oracle.data.outputs))
        return replace(oracle, data=replace(oracle.data, inputs=inputs, outputs=outputs))
    return oracle

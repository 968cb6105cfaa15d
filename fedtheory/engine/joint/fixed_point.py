"""Change of the vectors in one round of an algorithm that starts at its fixed point, with the model at x*."""

from __future__ import annotations

import numpy as np

from fedtheory.arithmetic import Array, Number
from fedtheory.engine.joint.trajectory import JointTrajectory
from fedtheory.errors import NotApplicable
from fedtheory.federation.definition.language import optimum
from fedtheory.kernel.expressions import Expr


def measure_displacement_at_optimum(trajectory: JointTrajectory) -> Number:
    """Return sum |s' - s|^2 over server vectors plus sum_i p_i |c_i' - c_i|^2 over clients, after the first round.

    The vectors are expectations given the coins, over which the squares are averaged.  Raises `NotApplicable` if the
    definition has no `at_optimum`.
    """
    name, shared, own = trajectory.definition.name, trajectory.layout.shared, trajectory.layout.own
    if not trajectory.definition.at_optimum:
        raise NotApplicable(
            f"the definition of {name} has no `at_optimum`: add the values of its vectors at the optimum"
        )
    arithmetic, rest = trajectory.problem.arithmetic, _solve_fixed_point(trajectory)
    shares = np.repeat(trajectory.group.counts * trajectory.parameters.shares, own)
    weights = np.concatenate([arithmetic.array([1] * shared), shares])
    total = arithmetic.number(0, "zero")
    for chance, transition in trajectory.transitions(0):
        moved = transition.mean_map() @ rest - rest
        total = total + chance * (weights @ (moved * moved))
    return total


def _solve_fixed_point(trajectory: JointTrajectory) -> Array:
    """Return (1, s) and c of one client of each class at the fixed point, relative to the origins of the layout."""
    definition = trajectory.definition
    shared = [_compute_fixed_point(trajectory, vector)[0] for vector in definition.server]
    one = trajectory.problem.arithmetic.array([1])
    own = [_compute_fixed_point(trajectory, vector) for vector in definition.client]
    clients = np.concatenate(own, axis=1).ravel() if own else one[:0]
    return np.concatenate([one, *shared, clients])


def _compute_fixed_point(trajectory: JointTrajectory, vector: Expr) -> Array:
    """Return the fixed point of a vector, for one client of each class, (G, d)."""
    problem, parameters, definition = trajectory.problem, trajectory.parameters, trajectory.definition
    gradients = -problem.about_optimum.linear[parameters.kinds.representatives]
    numbers = parameters.evaluate(0, 0, dict.fromkeys(definition.coins, 0))
    parts = dict(trajectory.layout.parts(vector, definition.at_optimum[vector]))
    off = parts.pop(optimum, 0) - trajectory.layout.offsets[vector]
    total = (
        gradients * 0 if off == 0 else gradients * 0 + _make_column(parameters.value(off, numbers)) * problem.optimum
    )
    for scale in parts.values():
        total = total + _make_column(parameters.value(scale, numbers)) * gradients
    return total


def _make_column(factor: Number | Array) -> Number | Array:
    """Return an array of factors as a column; a single number is returned as given."""
    return factor[:, None] if isinstance(factor, np.ndarray) else factor

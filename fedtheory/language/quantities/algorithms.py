"""Numbers of algorithms that are definitions, and where the mean of a model settles."""

from __future__ import annotations

from typing import Any

from fedtheory.arithmetic import Number
from fedtheory.engine.moments.stationary import stationary_mean
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.language.quantities.notion import constant


def _parameter(run: Run, key: str) -> Number:
    """The number of a definition's parameter, by its key in run files."""
    defined = run.algorithm.defined
    for parameter in () if defined is None else defined.algorithm.parameters:
        if parameter.key == key and defined is not None:
            return defined.values[parameter.letter]
    raise NotApplicable(f"{run.algorithm.name} has no {key}")


communication_probability = constant(
    "communication_probability",
    "p",
    "probability that an iteration communicates",
    lambda run: _parameter(run, "probability"),
)
compression_variance = constant(
    "compression_variance",
    r"\omega",
    "d/k - 1, where k of d random coordinates are sent: E|C(v) - v|^2 = omega |v|^2",
    lambda run: run.problem.dimension / _parameter(run, "coordinates") - 1,
)


def _optimum_gradient_sq(run: Run) -> Any:
    gradients = run.problem.centred.linear
    return run.problem.weights @ (gradients * gradients).sum(axis=1)


optimum_gradient = constant(
    "optimum_gradient",
    "G_*",
    "G_*, G_*^2 = sum_i p_i |grad F_i(x*)|^2",
    _optimum_gradient_sq,
    root=True,
)


def _limiting_mean_distance_sq(run: Run) -> Any:
    if run.algorithm.defined is None:
        limit = stationary_mean(run.trajectory.recursion)
    else:
        from fedtheory.engine.joint import JointTrajectory, limiting_mean

        trajectory = run.trajectory
        assert isinstance(trajectory, JointTrajectory)
        limit = limiting_mean(trajectory)
    return limit @ limit


limiting_mean_distance_sq = constant(
    "limiting_mean_distance_sq",
    r"\|\lim_{n\to\infty}\mathbb E x^n-x^*\|^2",
    "|lim E x^n - x*|^2, where the mean of the model settles from the run's start",
    _limiting_mean_distance_sq,
)

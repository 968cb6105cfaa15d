"""Small exact runs in all units and of all condition numbers, with step sizes at the edges of conditions."""

from __future__ import annotations

import numpy as np
from flint import fmpq
from hypothesis import strategies as st

from fedtheory.arithmetic import RATIONAL, Array
from fedtheory.engine.run import Run
from fedtheory.federation import Full, Multinomial, Participation, Uniform, fedavg
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.problem import Problem, least_squares, quadratic

units = st.integers(-6, 6).map(lambda power: fmpq(10) ** power)
"""1e-6 to 1e6."""
small = st.sampled_from([fmpq(0), fmpq(1), fmpq(-1), fmpq(2), fmpq(1, 3), fmpq(-3, 7)])
nudges = st.sampled_from([fmpq(0)] + [sign * fmpq(1, 10**power) for power in (6, 12, 18) for sign in (1, -1)])
"""At an edge, or next to it: far from it, near for floats, and too near for them."""
edges = st.sampled_from([fmpq(2), fmpq(1), fmpq(1, 2), fmpq(1, 4), fmpq(1, 8), fmpq(1, 100)])
"""Step sizes times smoothness: the edge of stability, those of the usual conditions, and small steps."""


def vector(draw: st.DrawFn, unit: fmpq, size: int) -> list[fmpq]:
    """Numbers in some unit."""
    return [unit * draw(small) for _ in range(size)]


def turn(draw: st.DrawFn, dimension: int) -> Array:
    """An orthogonal matrix (d, d) of rationals: a reflection, or none."""
    normal = RATIONAL.array(draw(st.lists(st.integers(-2, 2), min_size=dimension, max_size=dimension)))
    length = normal @ normal
    identity = RATIONAL.identity(dimension)
    return identity if length == 0 else identity - 2 * np.outer(normal, normal) / length


def hessian(draw: st.DrawFn, unit: fmpq, dimension: int) -> Array:
    """A positive definite matrix (d, d) with eigenvalues from 1e-10 to 3 units."""
    basis, matrix = turn(draw, dimension), RATIONAL.zeros(dimension, dimension)
    for column in basis.T:
        curvature = unit * draw(st.integers(1, 3)) / fmpq(10) ** draw(st.sampled_from([0, 0, 1, 3, 6, 10]))
        matrix = matrix + curvature * np.outer(column, column)
    return matrix


def quadratics(draw: st.DrawFn, clients: int, dimension: int) -> Problem:
    """Quadratics of one Hessian or of different ones, in any units of curvature and length."""
    curvature, length = draw(units), draw(units)
    shared = hessian(draw, curvature, dimension)
    own = draw(st.booleans())
    hessians = np.stack([hessian(draw, curvature, dimension) if own else shared for _ in range(clients)])
    force = curvature * length
    linear = RATIONAL.array([vector(draw, force, dimension) for _ in range(clients)])
    shares = draw(st.lists(st.integers(1, 3), min_size=clients, max_size=clients))
    return quadratic(
        hessians,
        linear,
        RATIONAL.array(vector(draw, length, dimension)),
        weights=RATIONAL.array([fmpq(share, sum(shares)) for share in shares]) if draw(st.booleans()) else None,
        noise=RATIONAL.array([force * force * draw(st.sampled_from([fmpq(0), fmpq(1), fmpq(1, 3)]))] * clients),
    )


def data(draw: st.DrawFn, clients: int, dimension: int) -> Problem:
    """Least squares on a few rows, with full gradients or mini-batches of one."""
    inputs, outputs = draw(units), draw(units)
    rows = draw(st.integers(1, 3))
    given = ClientData(
        tuple(RATIONAL.array([vector(draw, inputs, dimension) for _ in range(rows)]) for _ in range(clients)),
        tuple(RATIONAL.array(vector(draw, outputs, rows)) for _ in range(clients)),
    )
    start = RATIONAL.array(vector(draw, outputs / inputs, dimension))
    return least_squares(given, start, batch=draw(st.sampled_from([None, 1])))


@st.composite
def wide_runs(draw: st.DrawFn) -> Run:
    """A run of up to three clients, dimensions, local steps and rounds."""
    clients, dimension = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    problem = draw(st.sampled_from([quadratics, quadratics, data]))(draw, clients, dimension)
    steepest = Run(problem, fedavg(problem, rounds=1, local_step_size=fmpq(1))).smoothness
    local_steps = draw(st.integers(1, 3))
    size = (
        draw(edges) * (1 + draw(nudges)) / (steepest if steepest > 0 else 1) / draw(st.sampled_from([1, local_steps]))
    )
    partial: list[Participation] = [Uniform(draw(st.integers(1, clients))), Multinomial(draw(st.integers(1, clients)))]
    algorithm = fedavg(
        problem,
        rounds=draw(st.integers(1, 3)),
        local_step_size=size,
        local_steps=local_steps,
        server_step_size=draw(st.sampled_from([fmpq(1), fmpq(1), fmpq(2)])),
        participation=draw(st.sampled_from([Full(), Full(), *partial])),
    )
    return Run(problem, algorithm)

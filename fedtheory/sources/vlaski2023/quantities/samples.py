"""Fourth moments of a client's samples, and the product of a sampled curvature with a change of the iterate."""

from __future__ import annotations

from typing import Any

import numpy as np

from fedtheory.arithmetic import Array
from fedtheory.engine.frames import Frame
from fedtheory.engine.run import Run
from fedtheory.engine.vectors import LinearMaps, Vector
from fedtheory.errors import NotApplicable
from fedtheory.federation.oracles import MiniBatch
from fedtheory.language.quantities.measuring.axes import place_on_clients
from fedtheory.language.quantities.quantity import VectorQuantity, constant


def _measure_fourth_moment(run: Run) -> Any:
    data = run.problem.data
    if data is None:
        raise NotApplicable("the clients have no samples")
    lengths = [(inputs * inputs).sum(axis=1) for inputs, _ in data]
    return place_on_clients(run.arithmetic.array([(squares @ squares) / len(squares) for squares in lengths]))


regressor_fourth_moment = constant(
    "regressor_fourth_moment",
    r"\mathbb E\|h_kh_k^{\mathsf T}\|^2",
    "E|h_k h_k'|^2 = E|h_k|^4 over the samples h_k of each client",
    _measure_fourth_moment,
    primitive="constant",
)


def _square_sample_curvatures(run: Run) -> Array:
    """Return E[A'A] of each client, A the average of h h' over the samples h of one mini-batch, (M, d, d).

    A mini-batch has a fraction of the variance of one sample, and none if it contains all samples.
    """
    data, oracle = run.problem.data, run.problem.oracle
    if data is None:
        raise NotApplicable("the clients have no samples")
    squares = []
    for client, (inputs, _) in enumerate(data):
        count = len(inputs)
        whole = inputs.T @ inputs / count
        single = inputs.T @ ((inputs * inputs).sum(axis=1)[:, None] * inputs) / count
        mean_sq = whole @ whole
        squares.append(mean_sq)
        if isinstance(oracle, MiniBatch):
            squares[-1] = mean_sq + oracle.shrinkage(client, run.arithmetic) * (single - mean_sq)
    return np.stack(squares)


def _sample_curvature_of_change(frame: Frame) -> Vector:
    change = frame.local + frame.server.scale(-frame.arithmetic.identity(1)[0])
    return change.transform(LinearMaps(frame.select_of_run(_square_sample_curvatures)))


sample_curvature_of_change = VectorQuantity(
    "sample_curvature_of_change",
    r"\mathbb E[(h_kh_k^{\mathsf T})^2](x_i^{(t,k)}-x^{(t)})",
    "E[A'A] (x_i^(t,k) - x^(t)), A the average of h h' over the samples h of one draw of a client",
    _sample_curvature_of_change,
)

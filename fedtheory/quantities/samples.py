"""Moments of a client's own samples, on the client axis."""

from __future__ import annotations

from typing import Any

from fedtheory.errors import NotApplicable
from fedtheory.quantities.constants import per_client
from fedtheory.quantities.notion import Quantity
from fedtheory.run import Run


def _fourth_moment(run: Run) -> Any:
    data = run.problem.data
    if data is None:
        raise NotApplicable("the clients have no samples")
    lengths = [(inputs * inputs).sum(axis=1) for inputs, _ in data]
    return per_client(run.arithmetic.array([(squares @ squares) / len(squares) for squares in lengths]))


regressor_fourth_moment = Quantity(
    "regressor_fourth_moment",
    r"\mathbb E\|h_kh_k^{\mathsf T}\|^2",
    "E|h_k h_k'|^2 = E|h_k|^4 over the samples h_k of each client",
    _fourth_moment,
    is_constant=True,
)

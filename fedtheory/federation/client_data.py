"""The data of a least-squares problem, split over its clients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fedtheory.arithmetic import FLOAT, Array, Number, arithmetic_of, product


@dataclass(frozen=True, eq=False)
class ClientData:
    """Inputs (n_i, d) and outputs (n_i,) of each of M clients.

    Every client's objective is ``(1/n_i) sum_j (w'x_ij - y_ij)^2 + ridge/2 |w|^2``; if `free` is true, the last column
    is an intercept, and the ridge leaves its coefficient out.
    """

    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    ridge: Number = 0
    free: bool = False
    """Whether the ridge does not penalise the last coefficient."""
    names: tuple[str, ...] = ()
    """Labels of the clients in the data file; empty without labels."""
    notes: tuple[str, ...] = ()
    """Notes of the reader on the file."""

    def __iter__(self) -> Iterator[tuple[Array, Array]]:
        """Yield inputs and outputs, client by client."""
        return zip(self.inputs, self.outputs, strict=True)

    def name_of(self, client: int) -> str:
        """Return the label of a client; its number without labels."""
        return self.names[client] if self.names else str(client)

    def as_floats(self) -> ClientData:
        """Return the data in double precision."""
        if arithmetic_of(self.inputs[0]) is FLOAT and arithmetic_of(self.outputs[0]) is FLOAT:
            return self
        inputs, outputs = (tuple(map(FLOAT.array, given)) for given in (self.inputs, self.outputs))
        return replace(self, inputs=inputs, outputs=outputs, ridge=FLOAT.number(self.ridge, "problem.ridge"))

    @property
    def penalties(self) -> Array:
        """The ridge of each coefficient, (d,), the diagonal of the penalty's Hessian."""
        arithmetic = arithmetic_of(self.inputs[0])
        penalties = arithmetic.array([self.ridge] * self.inputs[0].shape[1])
        if self.free:
            penalties[-1] = arithmetic.number(0, "zero")
        return penalties

    def translate(self, origin: Array) -> ClientData:
        """Return the data with the same residuals in coordinates whose zero is `origin` (d,).

        The curvature of a ridge is unchanged.
        """
        return replace(self, outputs=tuple(_compute_residuals(x, y, origin) for x, y in self))

    def select_clients(self, clients: Sequence[int]) -> ClientData:
        """Return the data of the given clients, in that order, possibly with repetitions."""
        return replace(
            self,
            inputs=tuple(self.inputs[i] for i in clients),
            outputs=tuple(self.outputs[i] for i in clients),
            names=tuple(self.names[i] for i in clients) if self.names else (),
        )


def _compute_residuals(inputs: Array, outputs: Array, origin: Array) -> Array:
    """Return y_j - x_j'origin of a client's rows, (n_i,)."""
    predicted = product(inputs, origin)
    return arithmetic_of(origin).difference(
        outputs, predicted, lambda: np.asarray(abs(outputs) + abs(inputs) @ abs(origin))
    )

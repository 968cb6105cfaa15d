"""The data of a least-squares problem, split over its clients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fedtheory.arithmetic import FLOAT, Array, arithmetic_of


@dataclass(frozen=True, eq=False)
class ClientData:
    """For each of M clients its inputs, (n_i, d), and its outputs, (n_i,)."""

    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]

    def __iter__(self) -> Iterator[tuple[Array, Array]]:
        """Inputs and outputs, client by client."""
        return zip(self.inputs, self.outputs, strict=True)

    def as_floats(self) -> ClientData:
        """The same data in double precision."""
        return ClientData(tuple(map(FLOAT.array, self.inputs)), tuple(map(FLOAT.array, self.outputs)))

    def translated(self, origin: Array) -> ClientData:
        """The data with the same residuals in coordinates whose zero is `origin` (d,)."""
        difference = arithmetic_of(origin).difference
        residuals = (difference(y, x @ origin, abs(y) + abs(x) @ abs(origin)) for x, y in self)
        return ClientData(self.inputs, tuple(residuals))

    def of(self, clients: Sequence[int]) -> ClientData:
        """The data of some of the clients, in that order; a client may be named repeatedly."""
        return ClientData(tuple(self.inputs[i] for i in clients), tuple(self.outputs[i] for i in clients))

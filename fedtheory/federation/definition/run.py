"""A definition with the parameters of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fedtheory.arithmetic import FLOAT, Array, Number
from fedtheory.federation.definition.algorithm import FederatedAlgorithm
from fedtheory.federation.definition.language import Compressed
from fedtheory.federation.definition.requirements import require_numbers
from fedtheory.kernel.expressions import Expr


@dataclass(frozen=True, eq=False)
class Defined:
    """An algorithm as data, its parameters, and the graph of its clients."""

    algorithm: FederatedAlgorithm
    values: Mapping[Expr, Number]
    """The values of its parameters."""
    mixing: Array | None = None
    """The mixing matrix W, (M, M), doubly stochastic; None if the definition does not mix."""

    def __post_init__(self) -> None:
        require_numbers(self.algorithm, self.values, self.mixing)

    @property
    def depends_on_axes(self) -> bool:
        """Whether the algorithm depends on the coordinate axes, not only on inner products."""
        return self.algorithm.uses(Compressed)

    def as_floats(self) -> Defined:
        """Return the definition in double precision."""
        values = {symbol: FLOAT.number(value, str(symbol)) for symbol, value in self.values.items()}
        return replace(self, values=values, mixing=None if self.mixing is None else FLOAT.array(self.mixing))

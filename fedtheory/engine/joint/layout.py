"""Layout of a definition's vectors, and their origin: points are relative to the optimum, differences are not.

A vector that starts at a multiple o of x^0 is stored as ``v - o x*``.  The correction of a linear combination of such
vectors is a number times x*, which SymPy computes; for translation-invariant algorithms it is exactly zero, so that no
digits are lost far from the origin.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

import sympy as sp

from fedtheory.engine.memo import Memo
from fedtheory.federation.definition.algorithm import FederatedAlgorithm
from fedtheory.federation.definition.language import OF_CLIENTS, Compressed, Mixed, Participants, Weighted, start
from fedtheory.federation.definition.linear import Parts
from fedtheory.federation.participation_moments import Factor
from fedtheory.kernel.expressions import Average, Expr

FACTORS: dict[type, Factor] = {Weighted: "weight", Participants: "presence", Average: "one"}
"""Factor of each client's vector in a sum."""


@dataclass(frozen=True, eq=False)
class VectorLayout:
    """Blocks of a definition's vectors, d numbers each."""

    definition: FederatedAlgorithm
    dimension: int

    @property
    def shared(self) -> int:
        """Number of entries of (1, s)."""
        return 1 + len(self.definition.server) * self.dimension

    @property
    def own(self) -> int:
        """Number of entries of c_i."""
        return len(self.definition.client) * self.dimension

    @cached_property
    def places(self) -> dict[Expr, slice]:
        """Slice of each vector of the server or of the client in (1, s, c_i)."""
        vectors = [*self.definition.server, *self.definition.client]
        d = self.dimension
        return {vector: slice(1 + n * d, 1 + (n + 1) * d) for n, vector in enumerate(vectors)}

    @cached_property
    def sums(self) -> list[Expr]:
        """The sums over clients in a round, grouped by their factor."""
        ends = [*self.definition.server_update.values(), *self.definition.client_update.values()]
        return sorted(_find_nodes(ends, *FACTORS), key=lambda node: (FACTORS[type(node)], str(node)))

    @cached_property
    def mixed(self) -> list[Expr]:
        """The mixed vectors that clients receive from their neighbours."""
        return sorted(_find_nodes(self.definition.client_update.values(), Mixed), key=str)

    @cached_property
    def compressed(self) -> list[Expr]:
        """The compressed vectors of the definition."""
        return sorted(self.definition.nodes(Compressed), key=str)

    def parts(self, vector: Expr, expression: Expr) -> Parts:
        """Write the new value of a vector as a linear combination."""
        return self.definition.parts(vector, expression)

    @cached_property
    def offsets(self) -> Mapping[Expr, Expr]:
        """The multiple o for each vector, in symbols."""
        definition, found = self.definition, {start: sp.S.One}
        for vector, begin in [*definition.server.items(), *definition.client.items()]:
            found[vector] = self._compute_offset(vector, begin, found)
        own = dict(found)
        for step in definition.steps:
            found[step.vector] = self._compute_offset(step.vector, step.start, own)
        return found

    @cached_property
    def _memo(self) -> Memo:
        return Memo()

    def offset(self, vector: Expr, expression: Expr) -> Expr:
        """Return the multiple o of a vector after an update by an expression."""
        expression = sp.sympify(expression)
        return self._memo.compute_once(expression, lambda: self._compute_offset(vector, expression, self.offsets))

    def _compute_offset(self, vector: Expr, expression: Expr, offsets: Mapping[Expr, Expr]) -> Expr:
        """Return the constant part of an expression when vectors are measured from the centre."""
        parts = self.parts(vector, expression)
        return sp.cancel(sp.Add(*(scale * self._select_constant(part, offsets) for part, scale in parts.items())))

    def missing_offset(self, node: Expr) -> Expr:
        """Return the part of a summand's offset that the offset of the sum does not contain."""
        inside = self.offset(node, node.args[0])
        return sp.S.Zero if _has_offset(node, inside) else inside

    def _select_constant(self, vector: Expr, offsets: Mapping[Expr, Expr]) -> Expr:
        """Return the constant part of one vector."""
        if vector in offsets:
            return offsets[vector]
        if isinstance(vector, Average | Mixed | Compressed):
            inside = self._compute_offset(vector, vector.args[0], offsets)
            return inside if _has_offset(vector, inside) else sp.S.Zero
        # Gradients, and sums whose weights need not sum to one, do not depend on the origin.
        return sp.S.Zero


layout_of = lru_cache(maxsize=64)(VectorLayout)
"""The layout of a definition in a dimension, cached for all runs of the definition."""


def _find_nodes(expressions: Iterable[Expr], *kinds: type) -> set[Expr]:
    """Return all nodes of these kinds in the expressions."""
    return {node for expression in expressions for node in sp.sympify(expression).atoms(*kinds)}


def _has_offset(node: Expr, offset: Expr) -> bool:
    """Return whether a node of vectors with offset o has offset o too, as averages have."""
    is_common = not offset.free_symbols & OF_CLIENTS
    return isinstance(node, Compressed) or (isinstance(node, Average | Mixed) and is_common)

"""Compiles one round of a definition into matrices.

They give the clients' reports, their new vectors, and the server's update.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fedtheory.arithmetic import Array, arithmetic_of
from fedtheory.engine.joint.forms import Forms, stack_forms
from fedtheory.engine.joint.layout import FACTORS, VectorLayout
from fedtheory.engine.joint.local import LocalCompiler, LocalStage
from fedtheory.engine.joint.parameters import RoundParameters
from fedtheory.federation.definition.language import SUMS, Mixed, Weighted
from fedtheory.federation.participation_moments import Factor
from fedtheory.kernel.expressions import Expr


@dataclass(frozen=True, eq=False)
class Report:
    """A sum over clients, ``q = sum_i f_i e_i`` with f_i the weight, the indicator of participation, or one."""

    factor: Factor
    forms: Forms
    """e_i, (G, d)."""


@dataclass(frozen=True, eq=False)
class Compression:
    """Random sparsification of a vector, which keeps some coordinates: noise that depends on the vector."""

    forms: Forms
    """The uncompressed vector, (G, d)."""
    diagonal: Any
    """d/k - 1: relative increase of the second moment of a coordinate."""
    off_diagonal: Any
    """d (k-1)/(k (d-1)) - 1: relative increase of the mixed moment of two coordinates."""

    def covariance(self, known: Array, noise: Array) -> Array:
        """Return the covariance (G, d, d), for second moments `known` (G, m, m) and noise covariances `noise`."""
        state = self.forms.state
        moments = state @ known @ state.transpose(0, 2, 1) + self.forms.covariance(noise)
        added: Array = self.off_diagonal * moments
        place = np.arange(moments.shape[-1])
        added[:, place, place] = self.diagonal * moments[:, place, place]
        return added


@dataclass(frozen=True, eq=False)
class OutcomeMaps:
    """A round of G classes of clients, for one outcome of the coins."""

    stage: LocalStage
    compressions: list[Compression]
    clients: Forms
    """New values of the clients' vectors without the sums, (G, own)."""
    mixed: tuple[Forms, Array] | None
    """Messages to the neighbours, (G, heard), and coefficients of received messages, (G, own, heard).

    The value is None without a graph.
    """
    reports: list[Report]
    server: Array
    """From (1, s, q) to (1, s')."""
    broadcast: Array | None
    """Coefficients of q in the clients' new vectors, (G, own, sums), if the sums are broadcast."""

    @property
    def depends_on_models(self) -> bool:
        """Whether the covariance of the noise depends on the models."""
        return self.stage.oracle.depends_on_model or bool(self.compressions)

    def noise(self, known: Array) -> Array:
        """Return covariances (G, entries, entries) of the round's noise, for second moments `known` (G, m, m)."""
        local = self.stage.noises(known)[-1]
        entries, rows = self.stage.iterates[0].noise.shape[-1], local.shape[-1]
        found = arithmetic_of(local).zeros(len(local), entries, entries)
        found[:, :rows, :rows] = local
        for number, compression in enumerate(self.compressions):
            size = compression.forms.state.shape[1]
            place = slice(rows + number * size, rows + (number + 1) * size)
            found[:, place, place] = compression.covariance(known, found)
        return found


class RoundCompiler:
    """Compiles the matrices of a round from a definition."""

    def __init__(self, parameters: RoundParameters, layout: VectorLayout) -> None:
        self.parameters = parameters
        self.layout = layout
        self.definition = parameters.definition

    @cached_property
    def _entries(self) -> int:
        """Return the number of noise coordinates of a round."""
        return (len(self.definition.steps) + len(self.layout.compressed)) * self.layout.dimension

    @cached_property
    def _basis(self) -> dict[Expr, Forms]:
        """Return each vector at the begin of a round as a linear function of the state."""
        arithmetic, d = self.parameters.arithmetic, self.layout.dimension
        kinds, size = len(self.parameters.kinds.representatives), self.layout.shared + self.layout.own
        basis = {}
        for vector, place in self.layout.places.items():
            state = arithmetic.zeros(kinds, d, size)
            state[:, :, place] = arithmetic.identity(d)
            basis[vector] = Forms(state, arithmetic.zeros(kinds, d, self._entries))
        return basis

    def maps(self, n: int, coins: Mapping[Expr, int]) -> OutcomeMaps:
        """Return the matrices of round n."""
        local = LocalCompiler(self.parameters, self.layout, self._basis, self._entries)
        stage = local.stage(n, coins)
        numbers = self.parameters.evaluate(n, 0, coins)
        d = self.layout.dimension
        last = stage.iterates[-1]
        known = dict(self._basis)
        for row, vector in enumerate(self.definition.local_vectors):
            block = slice(row * d, (row + 1) * d)
            known[vector] = Forms(last.state[:, block], last.noise[:, block])
        compressions = [
            self._compress(local, node, place, known, numbers) for place, node in enumerate(self.layout.compressed)
        ]
        end = _End(local, known, numbers)
        return OutcomeMaps(
            stage,
            compressions,
            end.clients(),
            end.mix_messages(),
            [end.report(node) for node in end.sums],
            end.server(end.sums),
            end.broadcast(end.sums),
        )

    def _compress(
        self, local: LocalCompiler, node: Expr, place: int, known: dict[Expr, Forms], numbers: Mapping[Expr, Any]
    ) -> Compression:
        """Compress a vector, and add the result to the known vectors."""
        vector, kept = node.args
        forms = local.combine(node, vector, known, numbers)
        off = self.layout.offset(node, vector)
        raw = local.add_optimum(forms, off, numbers)
        d, one = self.layout.dimension, self.parameters.arithmetic.number(1, "one")
        first = (len(self.definition.steps) + place) * d
        noise = forms.noise.copy()
        noise[:, :, first : first + d] = self.parameters.arithmetic.identity(d)
        known[node] = Forms(forms.state, noise)
        count = self.parameters.value(kept, numbers)
        together = one * d * (count - 1) / (count * max(d - 1, 1)) - 1
        return Compression(raw, one * d / count - 1, together)


class _End:
    """The end of a round."""

    def __init__(self, local: LocalCompiler, known: Mapping[Expr, Forms], numbers: Mapping[Expr, Any]) -> None:
        self.local = local
        self.parameters = local.parameters
        self.layout = local.layout
        self.definition = local.parameters.definition
        self.known = known
        self.numbers = numbers

    @cached_property
    def sums(self) -> list[Expr]:
        """The sums over clients that are sent: coins may suppress all messages."""
        updates = [*self.definition.server_update.items(), *self.definition.client_update.items()]
        ends = [self.layout.parts(vector, expression) for vector, expression in updates]
        return [node for node in self.layout.sums if any(self._depends_on(parts, node) for parts in ends)]

    def _depends_on(self, parts: Mapping[Expr, Expr], node: Expr) -> bool:
        """Return whether a part of an expression has a coefficient that is not zero."""
        return node in parts and bool(np.any(self.parameters.value(parts[node], self.numbers) != 0))

    def report(self, node: Expr) -> Report:
        """Return the forms of the summand of a sum over clients."""
        inside = node.args[0]
        forms = self.local.combine(node, inside, self.known, self.numbers)
        forms = self.local.add_optimum(forms, self.layout.missing_offset(node), self.numbers)
        scaled = forms if isinstance(node, Weighted) else forms.scale(self.parameters.shares)
        return Report(FACTORS[type(node)], scaled)

    def clients(self) -> Forms:
        """Return new values of the clients' vectors, without their neighbours' messages."""
        return self._stack([self._update_vector(vector) for vector in self.definition.client])

    def _update_vector(self, vector: Expr) -> Forms:
        """Return a client vector after the round's client update."""
        expression = self.definition.client_update.get(vector, vector)
        total = self.local.nothing
        for part, scale in self.layout.parts(vector, expression).items():
            if not isinstance(part, (*SUMS, Mixed)):
                total = total + self.known[part].scale(self.parameters.value(scale, self.numbers))
        off = self.layout.offset(vector, expression) - self.layout.offsets[vector]
        return self.local.add_optimum(total, off, self.numbers)

    def mix_messages(self) -> tuple[Forms, Array] | None:
        """Return the messages of the clients to their neighbours, and the coefficients of received ones."""
        nodes = self.layout.mixed
        return (
            (stack_forms([self._mix_received(node) for node in nodes]), self._collect_blocks(nodes)) if nodes else None
        )

    def _mix_received(self, node: Expr) -> Forms:
        """Return the vectors that the mixing matrix combines."""
        forms = self.local.combine(node, node.args[0], self.known, self.numbers)
        return self.local.add_optimum(forms, self.layout.missing_offset(node), self.numbers)

    def server(self, sums: list[Expr]) -> Array:
        """Return the map from (1, s, q) to (1, s')."""
        arithmetic, d, size = self.parameters.arithmetic, self.layout.dimension, self.layout.shared
        matrix = arithmetic.zeros(size, size + len(sums) * d)
        matrix[0, 0] = arithmetic.number(1, "one")
        unheard = {*self.layout.sums}.difference(sums)
        places = self.layout.places | {node: slice(size + a * d, size + (a + 1) * d) for a, node in enumerate(sums)}
        for vector in self.definition.server:
            expression, rows = self.definition.server_update.get(vector, vector), self.layout.places[vector]
            parts = self.layout.parts(vector, expression)
            for part, scale in ((part, scale) for part, scale in parts.items() if part not in unheard):
                block = self.parameters.value(scale, self.numbers) * arithmetic.identity(d)
                matrix[rows, places[part]] = matrix[rows, places[part]] + block
            off = self.layout.offset(vector, expression) - self.layout.offsets[vector]
            if off != 0:
                shift = self.parameters.value(off, self.numbers) * self.parameters.problem.centre
                matrix[rows, 0] = matrix[rows, 0] + shift
        return matrix

    def broadcast(self, sums: list[Expr]) -> Array | None:
        """Return the map from q to the clients' vectors after the broadcast."""
        blocks = self._collect_blocks(sums)
        return blocks if blocks.any() else None

    def _collect_blocks(self, nodes: list[Expr]) -> Array:
        """Return coefficients of common vectors in the vectors of each class, (G, own, all)."""
        arithmetic, d = self.parameters.arithmetic, self.layout.dimension
        kinds = len(self.parameters.kinds.representatives)
        matrix = arithmetic.zeros(kinds, self.layout.own, len(nodes) * d)
        for row, vector in enumerate(self.definition.client):
            parts = self.layout.parts(vector, self.definition.client_update.get(vector, vector))
            for place, node in ((place, node) for place, node in enumerate(nodes) if node in parts):
                factors = self.parameters.value(parts[node], self.numbers) + 0 * self.parameters.shares
                blocks = factors[:, None, None] * arithmetic.identity(d)
                matrix[:, row * d : (row + 1) * d, place * d : (place + 1) * d] = blocks
        return matrix

    def _stack(self, forms: list[Forms]) -> Forms:
        if forms:
            return stack_forms(forms)
        nothing = self.local.nothing
        return Forms(nothing.state[:, :0], nothing.noise[:, :0])

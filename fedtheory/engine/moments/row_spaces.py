"""The noise of mini-batches in few dimensions: it depends on a model only through the span of the client's rows.

Let the columns of U_i (d, r) be the right singular vectors of the rows x_ij of client i.  Its Hessian is diagonal in
this basis, up to a ridge, so that ``y = U_i'x`` follows its own recursion under local steps,

    y' = (1 - eta_i lambda_i) * y + eta_i U_i'b_i - eta_i noise,

entry by entry, and the covariance of the noise after the steps is U_i times that of y times U_i'.  The means m of y
are computed for all steps beforehand.  With V = cov(y), and g the average over samples of the gradients at m, a step is

    V -> F * V - g g' + X' diag(s) X,      s_j = (x_ij'm - y_ij)^2 + x_ij'V x_ij,  both up to a factor,

in r dimensions instead of products of d x d matrices.  This is fast for clients with few rows, and for data with
constant columns.  It is used in floats only: orthonormal bases are irrational.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from fedtheory.arithmetic import FLOAT, Array
from fedtheory.federation import LocalWork
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.oracles import MiniBatch
from fedtheory.federation.problem import Problem

_FEWEST = 16
"""Dimension below which row spaces are not used, unless there are many clients."""
_FEWEST_OF_MANY, _MANY = 4, 32
"""Number of clients from which a lower dimension suffices, and that dimension."""
_ALIKE = 0.75
"""Clients share a computation if their dimensions and numbers of rows differ by at most this factor or number."""
_FEW = 4
_TOGETHER = 2**18
"""Limit on the size of a block of clients with equally many rows whose bases are computed together."""
_MOST = 2**18
"""Limit on the size of a computation, so that it fits into the processor's cache."""


@dataclass(frozen=True, eq=False)
class RowSpace:
    """C clients in r dimensions, each in its own basis.

    Entries beyond the number of a client's rows are zero.
    """

    clients: list[int]
    bases: Array
    """U_i', (C, r, d)."""
    inputs: Array
    """x_ij'U_i, (C, n, r)."""
    outputs: Array
    """y_ij, (C, n)."""
    shares: Array
    """4/n_i times the ratio of the variance of a batch average to that of one sample, (C,)."""
    curvatures: Array
    """Eigenvalues of the Hessian, (C, r)."""
    linear: Array
    """U_i'b_i, (C, r)."""
    ridge: float
    rows: Array
    """n_i, (C,)."""
    steps: Array
    """K_i, (C,)."""
    sizes: Array
    """eta_i, (C, 1)."""

    @classmethod
    def from_bases(cls, problem: Problem, work: LocalWork, clients: list[int], bases: Array) -> RowSpace:
        """Return the space of some clients with `bases` U_i', (C, r, d), of a centred problem."""
        oracle = problem.oracle
        assert isinstance(oracle, MiniBatch)
        rows = np.array([len(oracle.data.outputs[client]) for client in clients])
        inputs, outputs = np.zeros((len(clients), rows.max(), bases.shape[1])), np.zeros((len(clients), rows.max()))
        for place, (client, basis) in enumerate(zip(clients, bases, strict=True)):
            inputs[place, : rows[place]] = oracle.data.inputs[client] @ basis.T
            outputs[place, : rows[place]] = oracle.data.outputs[client]
        shrinkages = np.array([oracle.shrinkage(client, FLOAT) for client in clients])
        return cls(
            clients=clients,
            bases=bases,
            inputs=inputs,
            outputs=outputs,
            shares=4 * shrinkages / rows,
            curvatures=2 * (inputs * inputs).sum(axis=1) / rows[:, None] + oracle.data.ridge,
            linear=(bases @ problem.linear[clients][..., None])[..., 0],
            ridge=oracle.data.ridge,
            rows=rows,
            steps=np.array(work.steps)[clients],
            sizes=work.step_sizes[clients][:, None],
        )

    @cached_property
    def _kept(self) -> Array:
        """Factor of the expectation in one step, (C, r)."""
        kept: Array = 1 - self.sizes * self.curvatures
        return kept

    @cached_property
    def weighted(self) -> tuple[Array, Array]:
        """Inputs (C, n, r) and outputs (C, n), times the root of a squared sample's factor in a step."""
        roots = self.sizes * np.sqrt(self.shares)[:, None]
        return roots[..., None] * self.inputs, roots * self.outputs

    @cached_property
    def mean_gradient(self) -> tuple[Array, Array]:
        """The average of the samples' gradients with its factor in a step: its slope and its value at zero, (C, r)."""
        roots = self.sizes * np.sqrt(self.shares * self.rows / 4)[:, None]
        at_zero = 2 * (self.inputs * self.outputs[..., None]).sum(axis=1) / self.rows[:, None]
        return roots * (self.curvatures - self.ridge), -roots * at_zero

    @cached_property
    def _factors(self) -> Array:
        """F, (C, r, r)."""
        factors: Array = _square_vectors(self._kept) - _square_vectors(self.mean_gradient[0])
        return factors

    @cached_property
    def means(self) -> tuple[Array, Array]:
        """Factors and offsets of the expectation after k = 0 .. max_i K_i steps, (K+1, C, r) each."""
        kept, moved = [np.ones_like(self._kept)], [np.zeros_like(self._kept)]
        for k in range(int(self.steps.max())):
            busy = (self.steps > k)[:, None]
            kept.append(np.where(busy, self._kept * kept[-1], kept[-1]))
            moved.append(np.where(busy, self._kept * moved[-1] + self.sizes * self.linear, moved[-1]))
        return np.stack(kept), np.stack(moved)

    @cached_property
    def _kept_squares(self) -> Array:
        """Factors of covariances over all steps without noise, (C, r, r)."""
        return _square_vectors(self.means[0][-1])

    def noise(self, moment: Array, weights: Array) -> tuple[Array, float]:
        """Return ``sum_i weights_i C_i`` over these clients, (d, d), C_i the noise after their steps from one model.

        `moment` is the second moment of that model, (d+1, d+1); a zero in place of E[1] gives the linear part of a
        round.
        `weights` are those of all clients, (M,).  The second result is the largest entry among the summands.
        """
        start, means = self._project_moment(moment)
        *_, after = self._propagate_covariances(float(moment[0, 0]), means[:-1], start)
        # The largest entry of a covariance is on its diagonal.
        largest = float(np.abs(np.einsum("crr->cr", after) + means[-1] * means[-1]).max())
        return self._sum(weights, after - self._kept_squares * start), largest

    def noise_over_steps(self, moment: Array, weights: Array) -> Array:
        """Return ``sum_i weights_i C_i`` after k = 0 .. max_i K_i steps, (K+1, d, d).

        Clients stop after their last step.
        """
        start, means = self._project_moment(moment)
        found = self._propagate_covariances(float(moment[0, 0]), means[:-1], start)
        steps = zip(found, self.means[0], strict=True)
        return np.stack([self._sum(weights, now - _square_vectors(kept) * start) for now, kept in steps])

    def _project_moment(self, moment: Array) -> tuple[Array, Array]:
        """Covariances of a model in each client's row space, (C, r, r), and expectations by step, (K+1, C, r)."""
        one, mean = float(moment[0, 0]), moment[0, 1:]
        start = self.bases @ (moment[1:, 1:] - np.outer(mean, mean)) @ self.bases.transpose(0, 2, 1)
        kept, moved = self.means
        return start, kept * (self.bases @ mean) + one * moved

    def _sum(self, weights: Array, own: Array) -> Array:
        """Return the weighted sum (d, d) of covariances (C, r, r) of these clients, lifted to all dimensions."""
        lifted = (weights[self.clients][:, None, None] * own) @ self.bases
        size = self.bases.shape[-1]
        summed: Array = self.bases.reshape(-1, size).T @ lifted.reshape(-1, size)
        return summed

    def _propagate_covariances(self, one: float, means: Array, start: Array) -> Iterator[Array]:
        """Yield covariances (C, r, r) after k = 0 .. K local steps from the `start`.

        `means` (K, C, r) are the expectations before each step.
        """
        inputs, outputs = self.weighted
        slope, at_zero = self.mean_gradient
        residuals, gradients = (inputs @ means[..., None])[..., 0] - one * outputs, slope * means + one * at_zero
        now, transposed = start, self.inputs.transpose(0, 2, 1)
        # Arrays of all samples are overwritten in every step: new memory costs as much as the arithmetic.
        products, scaled, added = np.empty_like(inputs), np.empty_like(inputs), np.empty_like(start)
        yield now
        for k, (residual, gradient) in enumerate(zip(residuals * residuals, gradients, strict=True)):
            squares = np.einsum("cnr,cnr->cn", np.matmul(inputs, now, out=products), inputs) + residual
            following = transposed @ np.multiply(squares[..., None], self.inputs, out=scaled)
            following += np.multiply(self._factors, now, out=added)
            following -= np.multiply(gradient[:, :, None], gradient[:, None, :], out=added)
            now = following if k < self._common_steps else np.where((self.steps > k)[:, None, None], following, now)
            yield now

    @cached_property
    def _common_steps(self) -> int:
        """The number of steps that all clients take."""
        return int(self.steps.min())


def _square_vectors(vectors: Array) -> Array:
    """Return ``v v'`` of vectors (C, r), (C, r, r)."""
    squares: Array = vectors[:, :, None] * vectors[:, None, :]
    return squares


def find_row_spaces(problem: Problem, work: LocalWork) -> list[RowSpace]:
    """Return row spaces that contain the clients of a centred problem, grouped by dimension.

    The list is empty if they are not faster.
    """
    oracle, dimension = problem.oracle, problem.dimension
    fewest = _FEWEST_OF_MANY if problem.clients >= _MANY else _FEWEST
    if problem.arithmetic is not FLOAT or not isinstance(oracle, MiniBatch) or dimension < fewest or oracle.data.free:
        return []
    groups = _build_bases(oracle.data, frozenset(oracle.fourth_moments))
    return [RowSpace.from_bases(problem, work, clients, bases) for clients, bases in groups]


def list_clients_outside(spaces: list[RowSpace], clients: int) -> list[int]:
    """Return the indices, of `clients` clients, that none of the spaces contains."""
    inside = {client for space in spaces for client in space.clients}
    return [client for client in range(clients) if client not in inside]


@lru_cache(maxsize=4)
def _build_bases(data: ClientData, others: frozenset[int]) -> list[tuple[list[int], Array]]:
    """Return groups of clients that share a computation, with bases of the span of their rows, (C, r, d).

    The `others` are left out: their noise is computed without rows.
    """
    found = dict(_iterate_bases_of_clients({i: inputs for i, inputs in enumerate(data.inputs) if i not in others}))
    extents = {i: (rank, len(data.inputs[i])) for i, (_, rank) in sorted(found.items())}
    ranks = [(clients, max(found[i][1] for i in clients)) for clients in _group_by_size(extents)]
    return [(clients, np.stack([found[i][0][:rank] for i in clients])) for clients, rank in ranks]


def _iterate_bases_of_clients(inputs: Mapping[int, Array]) -> Iterator[tuple[int, tuple[Array, int]]]:
    """Yield right singular vectors (d, d) of each client's rows (n, d), and the rank of the rows."""
    by_rows: dict[int, list[int]] = defaultdict(list)
    for client, rows in inputs.items():
        by_rows[len(rows)].append(client)
    for clients in by_rows.values():
        most = max(1, _TOGETHER // inputs[clients[0]].size)
        for first in range(0, len(clients), most):
            some = clients[first : first + most]
            yield from zip(some, _find_bases(np.stack([inputs[client] for client in some])), strict=True)


def _find_bases(rows: Array) -> Iterator[tuple[Array, int]]:
    """Yield right singular vectors (d, d) of rows (C, n, d) and their ranks, client by client."""
    triangular = np.linalg.qr(rows, mode="r")
    _, sizes, vectors = np.linalg.svd(triangular)
    rounding = max(rows.shape[1:]) * np.finfo(float).eps * sizes.max(axis=1, initial=0.0)
    ranks = np.maximum(1, (sizes > rounding[:, None]).sum(axis=1))
    return zip(vectors, ranks.tolist(), strict=True)


def _group_by_size(extents: Mapping[int, tuple[int, int]]) -> Iterator[list[int]]:
    """Yield groups of clients with similar numbers of dimensions and rows, `extents`, the largest first."""
    left = sorted(extents, key=lambda client: extents[client], reverse=True)
    while left:
        rank, rows = extents[left[0]]
        alike = [
            i
            for i in left
            if extents[i][0] >= _find_least_size(rank) and _find_least_size(rows) <= extents[i][1] <= rows + _FEW
        ]
        group = alike[: max(1, _MOST // (rank * (rank + rows)))]
        yield group
        found = set(group)
        left = [client for client in left if client not in found]


def _find_least_size(size: int) -> float:
    """Return the least size of a client that is reduced together with one of the given size."""
    return min(_ALIKE * size, size - _FEW)

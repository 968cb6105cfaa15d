"""The noise of mini-batches in few dimensions: a client sees of a model only what its rows span.

Let the columns of U_i (d, r) be the right singular vectors of the rows x_ij of client i.  Its Hessian is diagonal in
them, a ridge apart, so that ``y = U_i'x`` follows a recursion of its own under local steps,

    y' = (1 - eta_i lambda_i) * y + eta_i U_i'b_i - eta_i noise,

entry by entry, and the covariance of the noise after them is U_i times that of y times U_i'.  With E[yy'] = S and
E[y] = m, of the two parts of the noise the mean over samples is diagonal as well; what is left of a step is

    S -> F * S + W Z' + X' diag(s) X,      s_j = E (x_ij'y - y_ij)^2 up to a factor,

in r dimensions, W and Z of four columns, instead of products of d x d matrices.  That is little for clients with few
rows, and for data with constant columns.  In floats only: orthonormal bases are irrational.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from fedtheory.arithmetic import FLOAT, Array
from fedtheory.federation import LocalWork
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.oracles import MiniBatch
from fedtheory.federation.problem import Problem

_FEWEST = 16
"""Dimensions below which nothing is gained."""
_ALIKE = 0.75
"""Clients share a computation where their dimensions and rows differ by no larger a factor, or by a few."""
_FEW = 4
_MOST = 2**18
"""Numbers of a computation, so that they stay close to the processor."""


@dataclass(frozen=True, eq=False)
class Moments:
    """First and second moments of C clients' models in r dimensions."""

    one: float
    """E[1]; zero where only the linear part of a round acts."""
    mean: Array
    """(C, r)."""
    second: Array
    """(C, r, r)."""


@dataclass(frozen=True, eq=False)
class RowSpace:
    """C clients in r dimensions, each in a basis of its own.

    Of clients with fewer rows than others the rest is zero.
    """

    clients: list[int]
    bases: Array
    """U_i', (C, r, d)."""
    inputs: Array
    """x_ij'U_i, (C, n, r)."""
    outputs: Array
    """y_ij, (C, n)."""
    shares: Array
    """4/n_i times the variance of a batch's mean over that of one sample, (C,)."""
    curvatures: Array
    """Eigenvalues of the Hessian, (C, r)."""
    pull: Array
    """U_i'b_i, (C, r)."""
    ridge: float
    rows: Array
    """n_i, (C,)."""
    steps: Array
    """K_i, (C,)."""
    sizes: Array
    """eta_i, (C, 1)."""

    @classmethod
    def of(cls, problem: Problem, work: LocalWork, clients: list[int], bases: Array) -> RowSpace:
        """The space of some clients with `bases` U_i', (C, r, d), of a centred problem."""
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
            pull=(bases @ problem.linear[clients][..., None])[..., 0],
            ridge=oracle.data.ridge,
            rows=rows,
            steps=np.array(work.steps)[clients],
            sizes=work.step_sizes[clients][:, None],
        )

    @cached_property
    def _kept(self) -> Array:
        """What one step keeps of the mean, (C, r)."""
        kept: Array = 1 - self.sizes * self.curvatures
        return kept

    @cached_property
    def _moved(self) -> Array:
        """What it adds, (C, r)."""
        return self.sizes * self.pull

    @cached_property
    def _sampled(self) -> Array:
        """Curvatures of the mean over samples, (C, r): those without the ridge."""
        return self.curvatures - self.ridge

    @cached_property
    def _sampled_pull(self) -> Array:
        """Its gradient at zero, with the other sign, (C, r)."""
        pull: Array = 2 * (self.inputs * self.outputs[..., None]).sum(axis=1) / self.rows[:, None]
        return pull

    @cached_property
    def _pulls(self) -> Array:
        """Both, (C, r, 2)."""
        return np.stack([self._moved, self._sampled_pull], axis=2)

    @cached_property
    def _weights(self) -> Array:
        """eta_i^2 times `shares`, (C, 1): weights of the samples' squares in a step."""
        return self.sizes * self.sizes * self.shares[:, None]

    @cached_property
    def _noise(self) -> Array:
        """The same of the square of their mean, (C, 1)."""
        noise: Array = self._weights * self.rows[:, None] / 4
        return noise

    @cached_property
    def _factors(self) -> Array:
        """F, (C, r, r)."""
        factors: Array = _squares(self._kept) - self._noise[..., None] * _squares(self._sampled)
        return factors

    def noise(self, moment: Array, weights: Array) -> tuple[Array, float]:
        """``sum_i weights_i C_i`` over these clients, (d, d), C_i the noise after their steps from one model.

        `moment` is that model's, (d+1, d+1), and `weights` those of all clients, (M,); beside the sum the largest
        entry of what it is made of.
        """
        second = self.bases @ moment[1:, 1:] @ self.bases.transpose(0, 2, 1)
        start = Moments(float(moment[0, 0]), self.bases @ moment[0, 1:], second)
        after = self._after_steps(start)
        own = after.second - self._without_noise(start)
        lifted = (weights[self.clients][:, None, None] * own) @ self.bases
        size = self.bases.shape[-1]
        # Of second moments the largest entry is on the diagonal.
        largest = float(np.abs(np.einsum("crr->cr", after.second)).max())
        return self.bases.reshape(-1, size).T @ lifted.reshape(-1, size), largest

    def _after_steps(self, start: Moments) -> Moments:
        """The moments after all local steps."""
        now = start
        for k in range(int(self.steps.max())):
            following, busy = self._after_step(now), self.steps > k
            if not busy.all():
                mean = np.where(busy[:, None], following.mean, now.mean)
                following = Moments(now.one, mean, np.where(busy[:, None, None], following.second, now.second))
            now = following
        return now

    def _after_step(self, now: Moments) -> Moments:
        """The moments after one more step of all clients."""
        residuals = (self.inputs @ now.mean[..., None])[..., 0]
        squares = np.einsum("cnr,cnr->cn", self.inputs @ now.second, self.inputs)
        squares += self.outputs * (now.one * self.outputs - 2 * residuals)
        kept, sampled = self._kept * now.mean, self._sampled * now.mean
        # (a y + c)(a y + c)' less a part of (l y - e)(l y - e)', the squares of y itself apart.
        columns = np.empty((*kept.shape, 4))
        columns[..., 0] = kept + now.one / 2 * self._moved
        columns[..., 1] = self._noise * (sampled - now.one / 2 * self._sampled_pull)
        columns[..., 2:] = self._pulls
        second = self._factors * now.second
        second += columns @ columns[..., [2, 3, 0, 1]].transpose(0, 2, 1)
        second += self.inputs.transpose(0, 2, 1) @ ((self._weights * squares)[..., None] * self.inputs)
        return Moments(now.one, kept + now.one * self._moved, second)

    def _without_noise(self, start: Moments) -> Array:
        """E[yy'] after all local steps if there were no noise, (C, r, r)."""
        kept, moved = self._all_steps
        crossed = (kept * start.mean + start.one / 2 * moved)[:, :, None] * moved[:, None, :]
        found: Array = self._kept_second * start.second + crossed + crossed.transpose(0, 2, 1)
        return found

    @cached_property
    def _all_steps(self) -> tuple[Array, Array]:
        """What all local steps keep of the mean, and what they add, (C, r) each."""
        moved = np.zeros_like(self._kept)
        for k in range(int(self.steps.max())):
            moved = np.where((self.steps > k)[:, None], self._kept * moved + self._moved, moved)
        return self._kept ** self.steps[:, None], moved

    @cached_property
    def _kept_second(self) -> Array:
        """What they keep of second moments, (C, r, r)."""
        return _squares(self._all_steps[0])


def _squares(vectors: Array) -> Array:
    """``v v'`` of vectors (C, r), (C, r, r)."""
    squares: Array = vectors[:, :, None] * vectors[:, None, :]
    return squares


def row_spaces(problem: Problem, work: LocalWork) -> list[RowSpace]:
    """The clients of a centred problem, by the number of dimensions that they work in; none where that is no gain."""
    oracle, dimension = problem.oracle, problem.dimension
    if problem.arithmetic is not FLOAT or not isinstance(oracle, MiniBatch) or dimension < _FEWEST:
        return []
    return [RowSpace.of(problem, work, clients, bases) for clients, bases in _bases(oracle.data)]


@lru_cache(maxsize=4)
def _bases(data: ClientData) -> list[tuple[list[int], Array]]:
    """Clients that share a computation, with bases of what their rows span, (C, r, d): the same for all local work."""
    found = [_basis(inputs) for inputs in data.inputs]
    extents = [(rank, len(inputs)) for (_, rank), inputs in zip(found, data.inputs, strict=True)]
    ranks = [(clients, max(found[i][1] for i in clients)) for clients in _alike(extents)]
    return [(clients, np.stack([found[i][0][:rank] for i in clients])) for clients, rank in ranks]


def _basis(rows: Array) -> tuple[Array, int]:
    """The right singular vectors (d, d) of rows (n, d), and how many of them span the rows."""
    triangular = np.linalg.qr(rows, mode="r")
    _, sizes, vectors = np.linalg.svd(triangular)
    rounding = max(rows.shape) * np.finfo(float).eps * sizes.max(initial=0.0)
    return vectors, max(1, int((sizes > rounding).sum()))


def _alike(extents: Sequence[tuple[int, int]]) -> Iterator[list[int]]:
    """Clients with about the same number of dimensions and rows, `extents`, the largest first."""
    left = sorted(range(len(extents)), key=lambda client: extents[client], reverse=True)
    while left:
        rank, rows = extents[left[0]]
        alike = [i for i in left if extents[i][0] >= _least(rank) and _least(rows) <= extents[i][1] <= rows + _FEW]
        group = alike[: max(1, _MOST // (rank * (rank + rows)))]
        yield group
        left = [client for client in left if client not in set(group)]


def _least(size: int) -> float:
    return min(_ALIKE * size, size - _FEW)

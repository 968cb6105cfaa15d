"""The noise of mini-batches in few dimensions: a client sees of a model only what its rows span.

Let the columns of U_i (d, r) be orthonormal and span the rows x_ij of client i.  A ridge apart, its Hessian is
``U_i (U_i' H_i U_i) U_i'``, so that ``y = U_i'x`` follows a recursion of its own under local steps, that of the same
problem in r dimensions, and the covariance of the noise after them is U_i times that of y times U_i'.  A step then
costs r^3 in place of d^3: little for clients with few rows, and for data with constant columns.  In floats only:
orthonormal bases are irrational.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fedtheory.arithmetic import FLOAT, Array
from fedtheory.engine.moments.local import after_local_steps
from fedtheory.federation import LocalWork
from fedtheory.federation.oracles import MiniBatch
from fedtheory.federation.problem import Problem

_FEWEST = 16
"""Dimensions below which nothing is gained."""
_WORTH = 0.7
"""Part of the multiplications above which nothing is gained."""
_ALIKE = 0.75
"""Clients share a computation where their dimensions differ by no larger a factor, or by a few."""
_FEW = 4


@dataclass(frozen=True, eq=False)
class RowSpace:
    """C clients in r dimensions, each in a basis of its own."""

    clients: list[int]
    maps: Array
    """(1, x) -> (1, U_i'x), (C, r+1, d+1)."""
    problem: Problem
    """The same clients in these dimensions; of it, Hessians, linear terms and mini-batches count."""
    work: LocalWork
    mean_maps: Array
    """What all local steps together make of (1, y) in the mean, (C, r+1, r+1)."""

    @classmethod
    def of(cls, problem: Problem, work: LocalWork, final: Array, clients: list[int], bases: Array) -> RowSpace:
        """The space of some clients with `bases` U_i', (C, r, d), of a centred problem; `final` as in `row_spaces`."""
        count, size, dimension = bases.shape
        maps = np.zeros((count, size + 1, dimension + 1))
        maps[:, 0, 0], maps[:, 1:, 1:] = 1.0, bases
        oracle = problem.oracle.of(clients)
        assert isinstance(oracle, MiniBatch)
        inputs = tuple(rows @ basis.T for rows, basis in zip(oracle.data.inputs, bases, strict=True))
        smaller = replace(
            problem,
            hessians=bases @ problem.hessians[clients] @ bases.transpose(0, 2, 1),
            linear=(bases @ problem.linear[clients][..., None])[..., 0],
            constants=problem.constants[clients],
            weights=problem.weights[clients],
            start=np.zeros(size),
            oracle=replace(oracle, data=replace(oracle.data, inputs=inputs)),
        )
        steps = LocalWork(tuple(work.steps[client] for client in clients), work.step_sizes[clients])
        return cls(clients, maps, smaller, steps, maps @ final[clients] @ maps.transpose(0, 2, 1))

    def noise(self, moment: Array, weights: Array) -> tuple[Array, float]:
        """``sum_i weights_i C_i`` over these clients, (d, d), C_i the noise after their steps from one model.

        `moment` is that model's, (d+1, d+1), and `weights` those of all clients, (M,); beside the sum the largest
        entry of what it is made of.
        """
        bases = self.maps @ moment @ self.maps.transpose(0, 2, 1)
        moments = after_local_steps(self.problem, self.work, bases)
        own = (moments - self.mean_maps @ bases @ self.mean_maps.transpose(0, 2, 1))[:, 1:, 1:]
        lift = self.maps[:, 1:, 1:]
        lifted = (weights[self.clients][:, None, None] * own) @ lift
        size = lift.shape[-1]
        return lift.reshape(-1, size).T @ lifted.reshape(-1, size), float(np.abs(moments).max())


def row_spaces(problem: Problem, work: LocalWork, final: Array) -> list[RowSpace]:
    """The clients of a centred problem, by the number of dimensions that they work in; none where that is no gain.

    `final` is what all local steps make of (1, x) in the mean, (M, d+1, d+1).
    """
    oracle, dimension = problem.oracle, problem.dimension
    if problem.arithmetic is not FLOAT or not isinstance(oracle, MiniBatch) or dimension < _FEWEST:
        return []
    found = [_basis(inputs) for inputs in oracle.data.inputs]
    groups = [(clients, max(found[i][1] for i in clients)) for clients in _alike([rank for _, rank in found])]
    if sum(len(clients) * rank**3 for clients, rank in groups) > _WORTH * len(found) * dimension**3:
        return []
    bases = {rank: np.stack([found[i][0][:rank] for i in clients]) for clients, rank in groups}
    return [RowSpace.of(problem, work, final, clients, bases[rank]) for clients, rank in groups]


def _basis(rows: Array) -> tuple[Array, int]:
    """An orthonormal basis (d, d), whose first vectors span the rows (n, d), and how many of them do."""
    triangular = np.linalg.qr(rows, mode="r")
    _, sizes, vectors = np.linalg.svd(triangular)
    rounding = max(rows.shape) * np.finfo(float).eps * sizes.max(initial=0.0)
    return vectors, max(1, int((sizes > rounding).sum()))


def _alike(ranks: Sequence[int]) -> Iterator[list[int]]:
    """Clients with about the same number of dimensions, the largest first."""
    left = sorted(range(len(ranks)), key=lambda client: -ranks[client])
    while left:
        least = min(_ALIKE * ranks[left[0]], ranks[left[0]] - _FEW)
        yield [client for client in left if ranks[client] >= least]
        left = [client for client in left if ranks[client] < least]

"""Expectations of long runs of large problems in floats, with certified errors.

One round makes of second moments ``P`` the moments ``L(P) + N``, L linear and
positive: it maps what is positive semidefinite to what is.  For floats ``Q_n``
near each ``P_n``,

    P_{n+1} - Q_{n+1} = L(P_n - Q_n) + R_n,      R_n = L(Q_n) + N - Q_{n+1},

and where ``-e_n W <= P_n - Q_n <= e_n W`` for one positive definite W with
``L(W) <= c W``, the same holds of the next round with ``e_{n+1} = c e_n + r_n``,
r_n a bound on R_n in units of W.  Intervals are needed for one round at a time;
carried from round to round they would grow with the sizes of the maps' entries,
even where the maps contract.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from fedtheory.arithmetic import CERTIFIED, Array, MidpointRadius
from fedtheory.engine.moments.live import LiveModels
from fedtheory.engine.moments.recursion import Recursion, RoundNoise
from fedtheory.engine.moments.trajectory import Trajectory
from fedtheory.errors import Unresolved
from fedtheory.federation import Algorithm
from fedtheory.federation.clock import Update
from fedtheory.federation.problem.enclosed import EnclosedProblem

_CONSTANTS = tuple(2.0**-power for power in range(0, 21, 2))
"""What the constant coordinate counts, as a length: a small one adds little to c, and more to each r_n."""
_ABOVE, _LEAST = 1 + 1e-9, 1e-150
"""More than what the rounding of norms in up to 1,000 dimensions takes off, relatively, and what underflow does."""


class CertifiedTrajectory(Trajectory):
    """Enclosures of the second moments of a run whose clients all start from the newest model."""

    def __init__(
        self,
        problem: EnclosedProblem,
        algorithm: Algorithm,
        on_progress: Callable[[int, int], None] = lambda _done, _all: None,
    ) -> None:
        self.problem, self.algorithm = problem, algorithm
        self.recursion = Recursion(problem, algorithm)
        self.divergence = None
        self.noise = ()
        if not self.recursion.is_synchronous:
            raise Unresolved("runs with stale models are not enclosed in floats")
        self.moments = _enclosed(self.recursion, algorithm.rounds, on_progress)  # type: ignore[assignment]

    def rounds(self) -> Iterator[tuple[Update, LiveModels]]:
        """None: vectors of single rounds are not enclosed."""
        raise Unresolved("vectors of single steps are not enclosed in floats")


def _enclosed(recursion: Recursion, rounds: int, on_progress: Callable[[int, int], None]) -> MidpointRadius:
    """The moments (T+1, d+1, d+1), in intervals by the W that makes them narrowest."""
    near, missed = list[Array](), list[MidpointRadius]()
    after = recursion.start
    for n in range(rounds + 1):
        near.append(_middle(MidpointRadius.of(after)))
        missed.append(MidpointRadius.of(after - near[-1]))
        on_progress(n, rounds)
        if n < rounds:
            after = recursion.after_round(now := CERTIFIED.array(near[-1]), recursion.round_noise(now))
    # Lengths are counted in units of the run, rounded to a power of two, with which nothing rounds.
    reach = _power_of_two(max(float(moment[1:, 1:].trace()) for moment in near) ** 0.5)
    scales = [np.array([constant] + [reach] * recursion.problem.dimension) for constant in _CONSTANTS]
    errors, best = min(((_errors(recursion, missed, each), each) for each in scales), key=lambda found: found[0][-1])
    radii = errors[:, None, None] * np.outer(best, best) * _ABOVE
    # The constant coordinate is one, and known to be.
    radii[:, 0, 0] = 0
    return MidpointRadius(np.stack(near), radii)


def _middle(moment: MidpointRadius) -> Array:
    """A symmetric matrix of floats (d+1, d+1) near a second moment."""
    middle: Array = (moment.middle + moment.middle.T) / 2
    middle[0, 0] = 1
    return middle


def _power_of_two(size: float) -> float:
    return float(2.0 ** np.floor(np.log2(size))) if 0 < size < np.inf else 1.0


def _errors(recursion: Recursion, missed: Sequence[MidpointRadius], scales: Array) -> Array:
    """The e_n, (T+1,), from the R_n, for the diagonal W of which `scales` (d+1,) are the roots."""
    expansion, sizes = _expansion(recursion, scales), np.outer(scales, scales)
    errors = [0.0]
    for rest in missed:
        errors.append((errors[-1] * expansion + _norm(rest, sizes)) * (1 + 1e-15))
    # What is no number at all is no bound.
    bounds: Array = np.nan_to_num(np.array(errors[1:]), nan=np.inf, posinf=np.inf)
    return bounds


def _expansion(recursion: Recursion, scales: Array) -> float:
    """A c with ``L(W) <= c W``."""
    moment = CERTIFIED.array(np.diag(scales * scales))
    # Noise that is the same wherever the models are is no part of L.
    size = recursion.problem.dimension
    nothing = RoundNoise(recursion.problem.arithmetic.zeros(size, size))
    noise = recursion.round_noise(moment) if recursion.problem.oracle.depends_on_model else nothing
    return _largest_eigenvalue(MidpointRadius.of(recursion.after_round(moment, noise) / np.outer(scales, scales)))


def _norm(matrix: MidpointRadius, sizes: Array) -> float:
    """An e with ``-e W <= R <= e W`` for a symmetric matrix R, W diagonal, `sizes` the roots of w_i w_j."""
    scaled = matrix.bounds / sizes
    return float(np.sqrt((scaled * scaled).sum())) * _ABOVE + _LEAST


def _largest_eigenvalue(matrix: MidpointRadius) -> float:
    """An upper bound of the eigenvalues of a positive semidefinite matrix.

    With V near the eigenvectors, ``V'MV <= a I`` and ``V'V >= b I`` by Gershgorin, hence ``M <= (a / b) I``.
    """
    if not np.isfinite(matrix.bounds).all():
        return np.inf
    try:
        vectors = MidpointRadius.of(np.linalg.eigh((matrix.middle + matrix.middle.T) / 2)[1])
    except np.linalg.LinAlgError:
        return np.inf
    above = (vectors.T @ matrix @ vectors).bounds.sum(axis=1).max()
    # The metric less the identity is next to nothing.
    below = 1 - (vectors.T @ vectors - np.eye(len(matrix))).bounds.sum(axis=1).max() * _ABOVE
    return float(above / below) * _ABOVE + _LEAST if below > 0 else np.inf

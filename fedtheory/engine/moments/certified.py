"""Expectations of long runs of large problems in floats, with certified errors.

One round maps the second moments ``P`` to ``L(P) + N``, with L linear and
positive: it maps positive semidefinite matrices to such.  For floats ``Q_n``
near each ``P_n``,

    P_{n+1} - Q_{n+1} = L(P_n - Q_n) + R_n,      R_n = L(Q_n) + N - Q_{n+1},

and if ``-e_n W <= P_n - Q_n <= e_n W`` for a positive definite W with
``L(W) <= c W``, the same holds in the next round with ``e_{n+1} = c e_n + r_n``,
r_n a bound on R_n in units of W.  Intervals are needed for one round at a time;
carried from round to round they would grow with the absolute values of the maps' entries,
even if the maps contract.  W is diagonal if a round contracts in the norm of a diagonal W;
else, as with momentum, W is the sum of the images of a diagonal matrix over several rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from fedtheory.arithmetic import CERTIFIED, Array, MidpointRadius
from fedtheory.engine.moments.live import LiveModels
from fedtheory.engine.moments.metric import ABOVE, Metric, convert_to_symmetric_floats
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.engine.moments.trajectory import Trajectory
from fedtheory.errors import Unresolved
from fedtheory.federation import Algorithm
from fedtheory.federation.clock import Update
from fedtheory.federation.problem.interval_problem import EnclosedProblem

NO_ENCLOSED_VECTORS = "enclosures in floats have no vectors at single local steps: use fewer rounds or dimensions"
_CONSTANTS = tuple(2.0**-power for power in range(0, 21, 2))
"""Scale of the constant coordinate: a small one adds little to c, and more to each r_n."""


class CertifiedTrajectory(Trajectory):
    """Intervals for the second moments of a run whose clients all start from the newest model."""

    def __init__(self, problem: EnclosedProblem, algorithm: Algorithm, on_progress: Callable[[int, int], None]) -> None:
        self.problem, self.algorithm = problem, algorithm
        self.recursion = Recursion(problem, algorithm)
        self.divergence = None
        if not self.recursion.is_synchronous:
            raise Unresolved(
                "the run is too long for rationals, and runs with stale models have no enclosures: use fewer rounds"
            )
        self.moments = enclose_moments(self.recursion.start, algorithm.rounds, self._propagate, on_progress)

    def _propagate(self, moment: Array) -> Array:
        """Return the second moment after a round, with its noise."""
        return self.recursion.propagate_round(moment, self.recursion.round_noise(moment))

    def rounds(self) -> Iterator[tuple[Update, LiveModels]]:
        """Raise `Unresolved`: vectors of single rounds are not enclosed."""
        raise Unresolved(NO_ENCLOSED_VECTORS)


# An entry that overflows has an infinite radius.
@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def enclose_moments(
    start: Array, rounds: int, propagate_round: Callable[[Array], Array], on_progress: Callable[[int, int], None]
) -> Array:
    """Return the second moments (T+1, a, a) of (1, s), in intervals, for the best W that is found.

    `propagate_round` maps the moments P before a round to ``L(P) + N``.
    """
    near, missed = list[Array](), list[MidpointRadius]()
    after = start
    for n in range(rounds + 1):
        near.append(_find_middle(MidpointRadius.enclose(after)))
        missed.append(MidpointRadius.enclose(after - near[-1]))
        on_progress(n, rounds)
        if n < rounds:
            after = propagate_round(CERTIFIED.array(near[-1]))
    noise = propagate_round(CERTIFIED.zeros(*start.shape))
    linear = partial(_apply_round, propagate_round, noise)
    errors, sizes = min(_bound_errors(linear, near, missed, on_progress), key=lambda found: found[0][-1])
    radii = errors[:, None, None] * sizes * ABOVE
    # The constant coordinate is exactly one.
    radii[:, 0, 0] = 0
    return MidpointRadius(np.stack(near), radii)  # type: ignore[return-value]


def _apply_round(propagate_round: Callable[[Array], Array], noise: Array, moment: Array) -> MidpointRadius:
    """Return L(P), the image of P under a round without the noise N."""
    return MidpointRadius.enclose(propagate_round(moment) - noise)


def _bound_errors(
    linear: Callable[[Array], MidpointRadius],
    near: Sequence[Array],
    missed: Sequence[MidpointRadius],
    on_progress: Callable[[int, int], None],
) -> Iterator[tuple[Array, Array]]:
    """Compute e_n, (T+1,), and the roots of w_ii w_jj for several W."""
    # Lengths are scaled by a power of two, so that scaling causes no rounding.
    reach = _round_to_power_of_two(max(float(moment[1:, 1:].trace()) for moment in near) ** 0.5)
    least = np.inf
    for constant in _CONSTANTS:
        metric = Metric.from_factor(np.diag([constant] + [reach] * (len(near[0]) - 1)))
        expansion = metric.largest_eigenvalue(linear(CERTIFIED.array(metric.matrix)))
        least = min(least, expansion)
        yield metric.errors(missed, expansion), metric.sizes
    if np.log(least) * len(missed) > np.log(_WIDE):
        metric = Metric.from_factor(_factor_weights(linear, reach * np.eye(len(near[0])), 2 * len(missed), on_progress))
        expansion = metric.largest_eigenvalue(linear(CERTIFIED.array(metric.matrix)))
        yield metric.errors(missed, expansion), metric.sizes


_WIDE, _GROWTH = 100.0, 1.02
"""Growth of errors over a run above which a better W is searched for, and the c of that W."""


def _factor_weights(
    linear: Callable[[Array], MidpointRadius], factor: Array, rounds: int, on_progress: Callable[[int, int], None]
) -> Array:
    """Return the Cholesky factor of ``W = sum_j L^j(W_0) / c^j``: ``L(W) <= c W`` up to the last term."""
    now = factor @ factor.T
    total = now
    for n in range(rounds):
        on_progress(n, rounds)
        now = convert_to_symmetric_floats(linear(CERTIFIED.array(now))) / _GROWTH
        total = total + now
    try:
        return np.asarray(np.linalg.cholesky(total)) if np.isfinite(total).all() else factor
    except np.linalg.LinAlgError:
        return factor


def _find_middle(moment: MidpointRadius) -> Array:
    """Return a symmetric matrix of floats (a, a) near a second moment."""
    middle = convert_to_symmetric_floats(moment)
    middle[0, 0] = 1
    return middle


def _round_to_power_of_two(size: float) -> float:
    """Return the largest power of two that is at most the size; 1 if there is none."""
    return float(2.0 ** np.floor(np.log2(size))) if 0 < size < np.inf else 1.0

"""Limits of the moments of an algorithm's model, in rationals if the problem is rational."""

from __future__ import annotations

import numpy as np

from fedtheory.arithmetic import Array, plain_floats
from fedtheory.arithmetic.symmetric_pairs import fill_symmetric, select_pairs
from fedtheory.engine.joint.trajectory import JointTrajectory
from fedtheory.engine.moments.local import embed_covariances
from fedtheory.engine.moments.stationary import build_symmetric_operator
from fedtheory.errors import NotApplicable

_MOST_ENTRIES = 40
"""Largest number of entries of vectors whose second moments are solved for: the cost is its sixth power."""
_MOST_EXACTLY = 10
"""Largest number of entries that are solved for in rationals, if clients keep vectors."""
_AT_ONE = 1e-6
"""Distance from 1 below which the modulus of an eigenvalue counts as one."""


def find_limit_of_mean(trajectory: JointTrajectory) -> Array:
    """Return lim E x^n - x*, (d,), from the run's own start; raise `NotApplicable` if there is no limit.

    The mean of all vectors changes from z to A z in a round.  Conserved quantities, such as the sum of control
    variates, make 1 an eigenvalue; the limit is then the z with ``A z = z`` whose distance from the
    start is in the range of A - 1.
    """
    step, start, model = trajectory.mean_round()
    _require_convergence(step)
    arithmetic = trajectory.problem.arithmetic
    moved = step - arithmetic.identity(len(step))
    twice = moved @ moved
    # The normal equations have a symmetric matrix, and a solution if the limit exists.
    way = arithmetic.solve(twice.T @ twice, twice.T @ -(moved @ start))
    limit: Array = model @ (start + moved @ way)
    return limit


def compute_limiting_moment(trajectory: JointTrajectory) -> Array:
    """Return lim E (1, x^n - x*)(1, x^n - x*)', (d+1, d+1), from the run's own start.

    Raises `NotApplicable` if there is no limit.  If clients keep no vectors, the second moment S of the server's
    vectors changes to ``L(S) + c`` in a round.  L maps positive semidefinite matrices to such, so moments converge if
    ``X - L(X) = I`` has a positive semidefinite solution.  Otherwise the limit of all joint moments is computed
    (`limit_of_moments`).
    """
    step, _, model = trajectory.mean_round()
    most = _MOST_EXACTLY if trajectory.layout.own and step.dtype == object else _MOST_ENTRIES
    if len(step) - 1 > most:
        expected = f"expected vectors of the server and of each kind of clients with at most {most} entries"
        raise NotApplicable(f"the limit of second moments: {expected}, got {len(step) - 1}")
    _require_convergence(step)
    if trajectory.layout.own:
        return trajectory.find_limiting_moment()
    try:
        fixed = _find_fixed_moment(trajectory, step)
    except (ZeroDivisionError, np.linalg.LinAlgError):
        raise NotApplicable("the second moments have no limit that is the same for all starts") from None
    lifted = trajectory.problem.arithmetic.zeros(len(model) + 1, len(step))
    lifted[0, 0], lifted[1:] = fixed[0, 0], model
    moment: Array = lifted @ fixed @ lifted.T
    return moment


def _find_fixed_moment(trajectory: JointTrajectory, step: Array) -> Array:
    """Return the second moment of (1, s) that a round leaves unchanged, (a, a)."""
    arithmetic = trajectory.problem.arithmetic
    identity = arithmetic.identity(len(step) - 1)
    nothing = embed_covariances(identity - identity)
    fixed = nothing.copy()
    fixed[0, 0] = arithmetic.number(1, "one")
    fixed[1:, 0] = fixed[0, 1:] = arithmetic.solve_regular(identity - step[1:, 1:], step[1:, 0])
    constant = trajectory.propagate_round(fixed)[1:, 1:]
    # Noise that does not depend on the models is added to a zero moment as well.
    fresh = trajectory.propagate_round(nothing)

    def subtract_image(second: Array) -> Array:
        """Return a covariance minus its image under a round without noise."""
        kept: Array = second - (trajectory.propagate_round(embed_covariances(second)) - fresh)[1:, 1:]
        return kept

    operator = build_symmetric_operator(subtract_image, identity)
    witness, second = (
        fill_symmetric(arithmetic.solve_regular(operator, select_pairs(right)), len(identity))
        for right in (identity, constant)
    )
    if not arithmetic.is_psd(witness):
        raise NotApplicable("the second moments do not converge: use a smaller step size")
    fixed[1:, 1:] = second
    return fixed


def _require_convergence(step: Array) -> None:
    eigenvalues = np.linalg.eigvals(plain_floats(step))
    outside = eigenvalues[(np.abs(eigenvalues) > 1 - _AT_ONE) & (np.abs(eigenvalues - 1) > _AT_ONE)]
    if len(outside):
        raise NotApplicable("the expected model does not converge: use a smaller step size")

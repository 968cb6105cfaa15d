"""Stationary moments of x^n - x*, which a round leaves unchanged.

One round is affine in expectation m = E[x^n - x*] and the second moment
S = E[(x^n - x*)(x^n - x*)'],

    m  ->  A m + a,
    S  ->  A S A' + G(S) + c(m),

where A is the mean round map, G(S) the covariance that random weights and
mini-batch noise add in proportion to S, and c(m) the rest.  The mean is a
linear solve; the second moment is a generalised discrete Lyapunov equation
``S - L(S) = c(m)`` with ``L(S) = A S A' + G(S)``.  Rationals solve it exactly,
as a linear system on symmetric matrices, and so do floats in few dimensions, up to
rounding; in many dimensions Krylov iterations are preconditioned with SciPy's solver for
``S - A S A' = c``.

L maps positive semidefinite matrices to such, so the moments contract exactly
if ``X - L(X) = I`` has a positive semidefinite solution X (X is at least I then,
and ``L(X) = X - I`` is less than X): this witness is computed with every limit.
Directions in which no client has curvature, gradient or noise keep the start,
where x* agrees with it; they are projected out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from flint import arb_mat, ctx, fmpq, fmpq_mat

from fedtheory.arithmetic import NEAR_TIE, RATIONAL, Arithmetic, Array, Number, refuse_test
from fedtheory.arithmetic.symmetric_pairs import fill_symmetric, list_pair_indices, select_pairs
from fedtheory.engine.moments.local import embed_covariances
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.engine.moments.round_forms import RoundForms
from fedtheory.errors import NotApplicable, Unresolved
from fedtheory.federation.problem.interval_problem import EnclosedProblem

LARGEST_EXACT = 16
"""Largest dimension in rationals: the exact solve costs its sixth power."""
_LARGEST_DIRECT = 6
"""Largest dimension in which floats form the matrix on symmetric matrices, with d^4 / 4 entries."""
_RESTARTS, _KRYLOV = 4, 60
_KRYLOV_ACCURACY = 1e-6
"""Relative residual of one Krylov solve; each restart refines the last solution."""
_RESIDUAL = 1e-12
"""Largest residual of an accepted solution, relative to its size."""
_MOST_OF_A_ROUND = 2 * 10**8
"""Limit on the squared number of local steps times the cost of each, up to which a round is computed in rationals."""
_POWERS = 4
"""Number of times that a matrix is raised to the eighth power to test whether its powers vanish."""
_FEW_BITS = 30
"""Bits of enclosures for a fast first test; undecided cases are tested exactly."""
_SLOWEST = 1e-11
"""Contraction per round, and relative curvature, that rounding error may hide: floats leave such cases undecided."""
_NO_LIMIT = "the second moments do not contract: the run has no unique limit"
_TOO_SLOWLY = "the second moments contract too slowly for floats: use --arithmetic rational"


def compute_stationary_mean(recursion: Recursion) -> Array:
    """Return the limit of ``E x^n - x*`` from every start, (d,).

    Raises `NotApplicable` unless the expectations contract.
    """
    return _find_limit(recursion).mean


def compute_stationary_moment(recursion: Recursion) -> Array:
    """Return the second moment (d+1, d+1) that a round leaves unchanged, which is the limit from every start.

    It is exact in rationals, for small d; floats allow any d.  Raises
    `NotApplicable` unless the moments contract.
    """
    return _find_limit(recursion).moment


def sum_excess(recursion: Recursion) -> Array:
    """Return ``sum_n (S_n - S)`` over all rounds n = 0, 1, ..., (d+1, d+1): S_n the moments of the run, S their limit.

    In rationals.  The sum over T rounds is ``T S`` plus this, up to terms that vanish faster than any power of T.
    """
    return _find_limit(recursion).excess


def compute_stationary_distance_sq(recursion: Recursion) -> Number:
    """Return the limit of ``E|x^n - x*|^2`` over rounds."""
    _ = recursion.problem.about_optimum
    return compute_stationary_moment(recursion)[1:, 1:].trace()


def compute_stationary_suboptimality(recursion: Recursion) -> Number:
    """Return the limit of ``E F(x^n) - F*`` over rounds."""
    return (recursion.problem.about_optimum.hessian * compute_stationary_moment(recursion)[1:, 1:]).sum() / 2


def compute_stationary_round_suboptimality(recursion: Recursion) -> Number:
    """Return the limit over rounds of ``(1/K) sum_{k=1..K} E F(xbar^{n,k}) - F*``."""
    moment = compute_stationary_moment(recursion)
    forms = RoundForms(recursion).build_average_form(embed_covariances(recursion.problem.about_optimum.hessian))[1:]
    return (forms * moment).sum() / (2 * len(forms))


@dataclass(frozen=True, eq=False)
class _Limit:
    """The stationary moments of one recursion."""

    recursion: Recursion

    @cached_property
    def identity(self) -> Array:
        """The identity matrix, (d, d)."""
        return self.recursion.problem.arithmetic.identity(self.recursion.problem.dimension)

    @property
    def is_exact(self) -> bool:
        """Whether the arithmetic is the rationals."""
        return self._arithmetic is RATIONAL

    @property
    def _arithmetic(self) -> Arithmetic:
        """Return the arithmetic of the problem."""
        return self.recursion.problem.arithmetic

    @cached_property
    def moving(self) -> Array:
        """Orthogonal projection (d, d) on the directions in which some client has curvature."""
        projection = _project_on_range(self._all_curvatures, self.identity, self.is_exact)
        tolerance = 0 if self.is_exact else 1e-10
        noise = self.recursion.round_noise(self.recursion.start).server
        for push in (self.recursion.problem.linear.T, noise):
            if np.abs(push - projection @ push).max() > tolerance * np.abs(push).max():
                raise refuse_test(
                    self._arithmetic, "gradients or noise push along directions without curvature: no unique limit"
                )
        return projection

    @property
    def _all_curvatures(self) -> Array:
        """Return a positive semidefinite matrix (d, d) whose null space has no curvature for any client."""
        hessians = self.recursion.problem.hessians
        # Curvatures of both signs cancel in a sum, their squares do not.
        each = hessians if self.recursion.problem.has_convex_clients else hessians @ hessians
        total: Array = each.sum(axis=0)
        return total

    @cached_property
    def linear_map(self) -> Array:
        """The matrix A, (d, d), on the moving directions; raises `NotApplicable` unless its powers vanish."""
        radius = self.recursion.spectral_radius
        # Above one, floats may be about to overflow.
        if self.is_exact or radius <= 1 + NEAR_TIE:
            linear = self._project(self.recursion.round_map[1:, 1:])
            if powers_vanish(linear) if self.is_exact else compute_spectral_radius(linear) < 1 - _SLOWEST / 10:
                return linear
        reason = f"the expected round map has spectral radius {radius:.6g}: the run has no unique limit"
        raise refuse_test(self._arithmetic, reason)

    @cached_property
    def mean(self) -> Array:
        """Fixed point of the mean round map, (d,)."""
        gap = self.identity - self.linear_map
        return self.recursion.problem.arithmetic.solve_regular(gap, self.moving @ self.recursion.round_map[1:, 0])

    @cached_property
    def moment(self) -> Array:
        """Fixed point of the second moments, (d+1, d+1)."""
        moment = embed_covariances(self.identity - self.identity)
        moment[0, 0] = self.recursion.problem.arithmetic.number(1, "one")
        moment[0, 1:] = moment[1:, 0] = self.mean
        constant = self._project(self.recursion.propagate_round(moment, self.recursion.round_noise(moment))[1:, 1:])
        solve = self._solve_exactly if self.is_exact else self._solve_in_floats
        witness, second = solve(self.identity, constant)
        if not self._is_positive(witness):
            raise refuse_test(self._arithmetic, _NO_LIMIT)
        moment[1:, 1:] = second
        return moment

    @property
    def excess(self) -> Array:
        """Sum over rounds of the differences of the moments from their limit, (d+1, d+1), in rationals.

        The difference D from the limit becomes L(D) in a round, so that the sum X of all of them is D_0 + L(X).
        """
        if not self.is_exact:
            raise Unresolved("sums of moments over all rounds are computed in rationals, not in floats")
        limit, identity = self.moment, RATIONAL.identity(len(self.moment))
        moving = embed_covariances(self.moving)
        moving[0, 0] = identity[0, 0]

        def subtract_image(away: Array) -> Array:
            """Return a covariance minus its image under a round."""
            moment = limit + moving @ away @ moving
            moved = self.recursion.propagate_round(moment, self.recursion.round_noise(moment)) - limit
            kept: Array = away - moving @ moved @ moving
            return kept

        # The corner entry is 1 in all moments, so that its sum of differences is zero.
        gap = build_symmetric_operator(subtract_image, identity)[1:, 1:]
        solved = RATIONAL.solve_regular(gap, select_pairs(self.recursion.start - limit)[1:])
        return fill_symmetric(np.concatenate([identity[0, 1:2], solved]), len(identity))

    def _is_positive(self, witness: Array) -> bool:
        """Return whether ``X = I + L(X)`` is positive, hence at least I.

        In floats, X must also be too small to be the result of rounding.
        """
        if self.is_exact:
            return RATIONAL.is_psd(witness)
        values = np.linalg.eigvalsh(witness)
        return bool(values[0] >= 0.5 and values[-1] <= 1 / _SLOWEST)

    def _project(self, matrix: Array) -> Array:
        """Return the part (d, d) of a map or of a second moment on the moving directions."""
        part: Array = self.moving @ matrix @ self.moving
        return part

    def _apply_round(self, second: Array) -> Array:
        """Return L(S), (d, d): one round of a second moment without mean and constant noise."""
        moment = embed_covariances(self._project(second))
        # With a zero in place of the constant 1 only the linear part acts, without constant noise.
        noise = self.recursion.round_noise(moment)
        if not self.recursion.problem.oracle.depends_on_model:
            noise = replace(noise, server=second - second)
        return self._project(self.recursion.propagate_round(moment, noise)[1:, 1:])

    def _solve_exactly(self, *rights: Array) -> list[Array]:
        """Return symmetric S with ``S - L(S) = right`` for each right (d, d), in rationals."""
        size = len(self.identity)
        if size > LARGEST_EXACT:
            raise NotApplicable(f"exact limits are computed for up to {LARGEST_EXACT} dimensions, not {size}")
        try:
            solved = fmpq_mat(self._gap.tolist()).solve(
                fmpq_mat(np.stack([select_pairs(r) for r in rights], axis=1).tolist())
            )
        except ZeroDivisionError:
            raise NotApplicable(_NO_LIMIT) from None
        return [fill_symmetric(RATIONAL.array(list(column)), size) for column in zip(*solved.tolist(), strict=True)]

    @property
    def _gap(self) -> Array:
        """Return ``S -> S - L(S)`` as a matrix on packed symmetric matrices."""
        return build_symmetric_operator(lambda second: second - self._apply_round(second), self.identity)

    def _solve_in_floats(self, *rights: Array) -> list[Array]:
        """Return symmetric S with ``S - L(S) = right`` for each right (d, d), up to rounding."""
        solve = self._solve_by_krylov if len(self.identity) > _LARGEST_DIRECT else self._build_direct_solver()
        return [self._refine(solve, right) for right in rights]

    def _build_direct_solver(self) -> Callable[[Array], Array]:
        """Return a solver (d, d) to (d, d) that uses the inverse of the matrix on symmetric matrices."""
        try:
            inverse = np.linalg.inv(self._gap)
        except np.linalg.LinAlgError:
            raise Unresolved(_TOO_SLOWLY) from None
        return lambda right: fill_symmetric(inverse @ select_pairs(right), len(right))

    def _refine(self, solve: Callable[[Array], Array], right: Array) -> Array:
        """Refine a solution by solving for its residual repeatedly."""
        second, left = right - right, right
        for _ in range(_RESTARTS):
            before, second = second, second + solve(left)
            # Stop when an iteration changes nothing.
            if (second == before).all():
                break
            left = right - second + self._apply_round(second)
        if not np.abs(left).max() <= _RESIDUAL * np.abs(second).max():
            raise Unresolved(_TOO_SLOWLY)
        return second

    def _solve_by_krylov(self, right: Array) -> Array:
        """Return S (d, d) with ``S - L(S)`` near `right`, from ``S - K(G(S)) = K(right)``, K the solver without G."""
        from scipy.sparse.linalg import LinearOperator, gmres

        def preconditioned(flat: Array) -> Array:
            second = _symmetrise(flat.reshape(right.shape))
            added = self._apply_round(second) - self.linear_map @ second @ self.linear_map.T
            # The antisymmetric part is rounding error; it is kept, and the operator is invertible on it too.
            return np.asarray(flat - self._solve_lyapunov(added).ravel())

        operator = LinearOperator((right.size, right.size), matvec=preconditioned, dtype=float)
        start = self._solve_lyapunov(right).ravel()
        flat, _ = gmres(operator, start, rtol=_KRYLOV_ACCURACY, restart=_KRYLOV, maxiter=1)
        return _symmetrise(flat.reshape(right.shape))

    def _solve_lyapunov(self, right: Array) -> Array:
        """Return K(right): the solution (d, d) of ``S - A S A' = right``."""
        from scipy.linalg import solve_discrete_lyapunov

        return np.asarray(solve_discrete_lyapunov(self.linear_map, right, method="bilinear"))


@lru_cache(maxsize=16)
def _find_limit(recursion: Recursion) -> _Limit:
    """Return the cached limit of a recursion; the limit of an enclosed recursion is rational."""
    problem = recursion.problem
    if not isinstance(problem, EnclosedProblem):
        return _Limit(recursion)
    work, size = recursion.work, problem.dimension + 1
    if max(work.steps) ** 2 * problem.clients * size**3 > _MOST_OF_A_ROUND:
        raise Unresolved("the limit takes too long in rationals with so many local steps: use --arithmetic float")
    assert problem.of is not None
    return _Limit(Recursion(problem.of, recursion.algorithm))


def _symmetrise(matrix: Array) -> Array:
    """Return the symmetric part of a matrix."""
    symmetric: Array = (matrix + matrix.T) / 2
    return symmetric


def compute_spectral_radius(matrix: Array) -> float:
    """Return the largest modulus of an eigenvalue of a float matrix."""
    return float(np.abs(np.linalg.eigvals(matrix)).max(initial=0.0))


def powers_vanish(matrix: Array) -> bool:
    """Return whether all eigenvalues of a rational matrix are inside the unit circle."""
    rational = fmpq_mat(matrix.tolist())
    if _is_certainly_contracting(rational):
        return True
    characteristic = rational.charpoly()
    roots: list[Any] = characteristic.numer().complex_roots()
    moduli = [abs(root) for root, _multiplicity in roots]
    # Comparisons of intervals are certain, or hold in neither direction.
    if all(modulus < 1 for modulus in moduli):
        return True
    return not any(modulus > 1 for modulus in moduli) and _has_roots_inside(characteristic.coeffs())


def _is_certainly_contracting(matrix: fmpq_mat) -> bool:
    """Return whether some power of a matrix certainly has row sums below one, a faster test than its eigenvalues."""
    with ctx.workprec(_FEW_BITS):
        power = arb_mat(matrix)
        for _ in range(_POWERS):
            power = power**8
            if all(sum(map(abs, row)) < 1 for row in power.table()):
                return True
    return False


def _has_roots_inside(coefficients: list[fmpq]) -> bool:
    """Return whether all roots of a polynomial are inside the unit circle, by the Schur-Cohn recursion."""
    while len(coefficients) > 1:
        ratio = coefficients[0] / coefficients[-1]
        if abs(ratio) >= 1:
            return False
        reverse = reversed(coefficients)
        coefficients = [low - ratio * high for low, high in zip(coefficients, reverse, strict=True)][1:]
    return True


def _project_on_range(matrix: Array, identity: Array, is_exact: bool) -> Array:
    """Return the orthogonal projection (d, d) on the range of a positive semidefinite matrix (d, d)."""
    if is_exact:
        # The least-norm solution of `matrix @ x = matrix @ v` is the projection of v.
        return np.stack([RATIONAL.solve(matrix, column) for column in matrix], axis=1)
    values, vectors = np.linalg.eigh(matrix)
    relative = values / np.abs(values).max(initial=1e-300)
    if ((relative > _SLOWEST / 1000) & (relative < _SLOWEST)).any():
        raise Unresolved("floats cannot distinguish the smallest curvature from zero: use --arithmetic rational")
    if (relative >= _SLOWEST).all():
        return identity
    kept = vectors[:, relative >= _SLOWEST]
    return np.asarray(kept @ kept.T)


def build_symmetric_operator(linear: Callable[[Array], Array], identity: Array) -> Array:
    """Return the matrix of a linear map on packed symmetric matrices; `identity` (d, d) gives the size."""
    rows, columns = list_pair_indices(len(identity))
    images = []
    for row, column in zip(rows, columns, strict=True):
        element = np.outer(identity[row], identity[column])
        images.append(select_pairs(linear(element if row == column else element + element.T)))
    return np.stack(images, axis=1)

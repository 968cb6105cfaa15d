"""The exact expectations of a whole run, as linear functionals of its second moments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from fedtheory.arithmetic import (
    FLOAT,
    RATIONAL,
    Array,
    Number,
    group_equal_rows,
    map_equal_rows,
    plain_float,
    plain_floats,
)
from fedtheory.arithmetic.enclosures import largest
from fedtheory.arithmetic.symmetric_pairs import count_pairs, fill_symmetric, list_pair_indices
from fedtheory.engine.expectations import Divergence, mean_over_rounds
from fedtheory.engine.moments.live import LiveModels
from fedtheory.engine.moments.local import Clients, embed_covariances
from fedtheory.engine.moments.recursion import Recursion, RoundNoise
from fedtheory.engine.moments.round_forms import RoundForms
from fedtheory.engine.moments.server import ServerTrajectory, describe_growth, evaluate_functional, evaluate_functionals
from fedtheory.engine.moments.stale_rounds import StaleRounds
from fedtheory.engine.moments.virtual_iterates import compute_virtual_moments
from fedtheory.errors import Diverging, NotApplicable
from fedtheory.federation import Algorithm
from fedtheory.federation.clock import Update
from fedtheory.federation.problem import Problem

_OVERFLOW = 1e290
_BLOCK = 64
"""Number of updates between two tests for overflow: updates after the first overflow are discarded."""
_STABILITY_SLACK = 1e-9
_MOST_NOISE = 2**20
"""Limit on the noise of all updates that is stored next to the moments."""
_MOST_LISTED = 10**8
"""Limit on the stored numbers of each client at each local step of all rounds, 800 MB."""


class Trajectory(ServerTrajectory):
    """Second moments of the server's model over n = 0 .. T, and quantities that follow from them."""

    completed: int
    """Number of updates whose numbers fit into the arithmetic."""
    noise: Sequence[RoundNoise] | None = None
    """Noise added by each update; None if it is recomputed on demand."""

    def __init__(self, problem: Problem, algorithm: Algorithm, recursion: Recursion | None = None) -> None:
        self.problem = problem
        self.algorithm = algorithm
        # Overflow is detected and reported as divergence, without a warning for each operation.
        with np.errstate(over="ignore", invalid="ignore"):
            self.recursion = recursion or Recursion(problem, algorithm)
            self._run()
        self.divergence = self._find_divergence(self.completed + 1 if self.completed < algorithm.rounds else None)

    def _run(self) -> None:
        """Compute moments and noise of the updates whose numbers fit into the arithmetic."""
        live, updates = LiveModels(self.recursion.start), self.algorithm.updates()
        moments: list[Array] = [live.newest_moment[None]]
        noise: list[RoundNoise] = []
        while block := list(islice(updates, _BLOCK)):
            added, after = zip(*(self._advance(live, update) for update in block), strict=True)
            found = np.stack(after)
            fitting = self._count_fitting(found, added)
            moments.append(found[:fitting])
            noise += added[:fitting] if self._should_keep_noise else ()
            if fitting < len(block):
                break
        self.moments, self.noise = np.concatenate(moments), noise if self._should_keep_noise else None
        self.completed = len(self.moments) - 1

    @cached_property
    def _should_keep_noise(self) -> bool:
        """Return whether the noise of all updates is stored: it is small, often repeated, or costly to compute."""
        numbers = self.algorithm.rounds * self.problem.dimension**2
        is_float = self.problem.arithmetic is FLOAT
        return not (is_float and self.problem.oracle.depends_on_model and numbers > _MOST_NOISE)

    def _advance(self, live: LiveModels, update: Update) -> tuple[RoundNoise, Array]:
        """Apply one update; return its noise, and the second moment of the new model."""
        noise = self.recursion.noise(live, update)
        self.recursion.advance(live, update, noise)
        return noise, live.newest_moment

    def rounds(self) -> Iterator[tuple[Update, LiveModels]]:
        """Yield every update with the models that are live before it.

        The yielded object is advanced to the next update.
        """
        live = LiveModels(self.recursion.start)
        for n, update in enumerate(islice(self.algorithm.updates(), self.completed)):
            yield update, live
            noise = self.recursion.noise(live, update) if self.noise is None else self.noise[n]
            self.recursion.advance(live, update, noise)

    def _count_fitting(self, moments: Array, noise: Sequence[RoundNoise]) -> int:
        """Return the number of updates before the first whose moments, or functionals of them, overflow."""
        if moments.dtype == object:
            return len(moments)
        largest = np.maximum(np.abs(moments).max(axis=(1, 2)), [one.largest for one in noise])
        overflowing = np.flatnonzero(~self._fits(largest))
        return int(overflowing[0]) if len(overflowing) else len(moments)

    def _fits(self, largest: Array) -> Any:
        """Return whether numbers of this size, and functionals of them, fit into double precision."""
        with np.errstate(over="ignore"):
            return largest * self._curvature**2 < _OVERFLOW

    @cached_property
    def _curvature(self) -> float:
        """Return the largest entry of the Hessian, at least 1."""
        return max(1.0, float(plain_floats(np.abs(self.problem.hessian)).max()))

    def _find_divergence(self, overflow: int | None) -> Divergence | None:
        """Return the cause of divergence; None if the run does not diverge."""
        if not self.recursion.is_synchronous:
            # Rounds with stale models have no common map.
            return self.growing() if overflow is None else Divergence(overflow, "the numbers leave double precision")
        radius = self.recursion.spectral_radius
        if radius > 1 + _STABILITY_SLACK:
            reason = f"{describe_growth(radius)}: {self._cause_of_divergence}"
            return Divergence(overflow, reason)
        growth = self._measure_noise_growth() if self.problem.oracle.depends_on_model else 0.0
        if growth > 1 + _STABILITY_SLACK:
            reason = (
                f"mini-batch noise multiplies the second moment by {growth:.4g} a round: the step size is too large"
            )
            return Divergence(overflow, reason)
        return None if overflow is None else Divergence(overflow, "the numbers leave double precision")

    def _measure_noise_growth(self) -> float:
        """Return the growth of the second moments per round, computed only if they have grown so far."""
        first, last = (plain_float(self.moments[n, 1:, 1:].trace()) for n in (0, -1))
        return self.recursion.growth(self.moments[-1]) if last > first else 0.0

    @cached_property
    def local_suboptimality(self) -> Array:
        """E F(xbar^{n,k}) - F* of the virtual iterate, (T, K+1), k = 0 .. K.

        If all clients start from the newest model, this is the averaged iterate,
        otherwise that of fraboni2022, eq. (7).
        """
        return self._measure_average_iterate(embed_covariances(self.problem.about_optimum.hessian)) / 2

    @cached_property
    def local_distance_sq(self) -> Array:
        dimension = self.problem.about_optimum.dimension
        return self._measure_average_iterate(embed_covariances(self.problem.arithmetic.identity(dimension)))

    def _measure_average_iterate(self, form: Array) -> Array:
        """Return E (1, xbar^{n,k} - c)' form (1, xbar^{n,k} - c), (T, K+1), c the centre of the problem."""
        if not self.recursion.is_synchronous:
            return evaluate_functional(form, self.stale.moments)
        return self._measure_average_iterate_from(form, self.moments[:-1])

    def _measure_average_iterate_from(self, form: Array, moments: Array) -> Array:
        """Return the form at xbar^{n,k} in rounds from models with moments (N, d+1, d+1), (N, K+1)."""
        return evaluate_functionals(self._round_forms.build_average_form(form), moments)

    @property
    def _round_forms(self) -> RoundForms:
        """Return the maps of quadratic forms back through a round."""
        return RoundForms(self.recursion)

    @cached_property
    def stale(self) -> StaleRounds:
        """The virtual iterates of rounds in which clients work on stale models."""
        return StaleRounds(self.recursion, self.rounds, self._require_finite_rounds)

    def _require_finite_rounds(self, found: Array) -> Array:
        if found.dtype != object and not self._fits(np.abs(found).max(initial=0)):
            raise Diverging("the run diverges: clients' iterates leave double precision")
        return found

    def evaluate_at_virtual_iterates(self, forms: Array) -> Array:
        if not self.recursion.is_synchronous:
            return evaluate_functionals(forms, self.stale.moments)
        if self._is_for_virtual_moments(forms):
            return evaluate_functionals(forms, self._virtual_moments)
        return self._pull_back_from_virtual_iterates(forms)

    def _pull_back_from_virtual_iterates(self, forms: Array) -> Array:
        """Return `evaluate_at_virtual_iterates` by one backward pass per distinct form, without stale models."""
        moments, round_forms = self.moments[:-1], self._round_forms
        found = map_equal_rows(
            lambda form: evaluate_functionals(round_forms.build_virtual_iterate_form(form), moments), forms
        )
        return np.stack(found, axis=2)

    def largest_after_local_steps(self, forms: Array) -> Number:
        if self._is_for_virtual_moments(forms):
            after = self._virtual_moments.swapaxes(0, 1)[1:]
            return largest([evaluate_functionals(forms, moments).max() for moments in after])
        return largest(self.evaluate_at_virtual_iterates(forms)[:, 1:].ravel())

    def _is_for_virtual_moments(self, forms: Array) -> bool:
        """Return whether so many different forms are evaluated that the moments of virtual iterates are cheaper."""
        if not self.recursion.is_synchronous or self.problem.arithmetic not in (FLOAT, RATIONAL):
            return False
        size = forms.shape[-1]
        enough = self.algorithm.rounds if self.problem.arithmetic is FLOAT else size * (size + 1) // 2
        return len(group_equal_rows(forms)[0]) > enough

    @cached_property
    def _virtual_moments(self) -> Array:
        """Second moments of (1, theta^{n,k} - x*) without stale models, (T, K+1, d+1, d+1).

        They cost one pass through the local steps per round, and each form costs one backward pass: for many forms the
        moments are cheaper.
        Rationals become long in forward passes: they take one backward pass for each entry, or sum of two equal ones.
        """
        if self.problem.arithmetic is RATIONAL:
            size = self.moments.shape[-1]
            sums = self._pull_back_from_virtual_iterates(fill_symmetric(RATIONAL.identity(count_pairs(size)), size))
            rows, columns = list_pair_indices(size)
            return fill_symmetric(np.where(rows == columns, sums, sums / 2), size)
        return compute_virtual_moments(self.recursion, self.moments[:-1])

    @cached_property
    def local_gradient_sq(self) -> Array:
        return self._measure_average_iterate(self.problem.gradient_form)

    @cached_property
    def mean_drift(self) -> Array:
        if not self.recursion.is_synchronous:
            return np.asarray(mean_over_rounds(self.drift))
        mean: Array = self._measure_drift_from(mean_over_rounds(self.moments[:-1])[None])[0]
        return mean

    def mean_difference_sq(self, factors: Array) -> Array:
        return np.asarray(mean_over_rounds(self._measure_difference_from(factors, self.moments[:-1])))

    def _measure_difference_from(self, factors: Array, moments: Array) -> Array:
        """Return E|sum_i c_i (x_i^{n,k} - xbar^{n,k})|^2 in rounds from models with moments (N, d+1, d+1), (N, K+1)."""
        self.algorithm.require_synchronous("differences of the clients' iterates are added up in synchronous rounds")
        return evaluate_functionals(self._round_forms.build_difference_form(factors), moments)

    def local_second_moments(self, forms: Array) -> Array:
        """Return expectations of forms in (1, x_i^{n,k} - x*), one for each client, (T, K, M), k = 0 .. K-1.

        In round n client i works on version rho_i(n), whether it reports or not.
        """
        self._require_listable()
        blocks = self._list_blocks()
        found = [np.stack(list(self._iterate_second_moments(forms, clients)), axis=1) for clients in blocks]
        return found[0] if len(found) == 1 else np.concatenate(found, axis=-1)

    def largest_local_second_moment(self, forms: Array) -> Number:
        """Return the largest of `local_second_moments`; some clients after others, whatever memory all of them take."""
        blocks = self._list_blocks()
        return largest([found.max() for clients in blocks for found in self._iterate_second_moments(forms, clients)])

    def _list_blocks(self) -> Iterable[Clients]:
        """Return the clients in blocks whose second moments are found together."""
        return self._round_forms.list_blocks()

    def _iterate_second_moments(self, forms: Array, clients: Clients) -> Iterator[Array]:
        """Yield the second moments of some clients at each of the local steps k = 0 .. K-1, (T, C)."""
        if not self.recursion.is_synchronous:
            yield from self._list_stale_second_moments(forms, clients)
            return
        moments = self.moments[:-1]
        for each in self._iterate_gradient_forms(forms, clients):
            yield evaluate_functionals(each, moments)

    def _list_stale_second_moments(self, forms: Array, clients: Clients) -> Iterator[Array]:
        by_step = np.stack(list(self._iterate_gradient_forms(forms, clients)))
        found = np.stack([(by_step * base[clients]).sum(axis=(-2, -1)) for base in self._iterate_bases()])
        return iter(found.swapaxes(0, 1))

    def _iterate_gradient_forms(self, forms: Array, clients: Clients) -> Iterator[Array]:
        """Yield the forms of some clients in the model that each starts from, for k = 0 .. K-1, (C, d+1, d+1)."""
        steps, most = np.array(self.algorithm.work.steps)[clients], max(self.algorithm.work.steps)
        for k, each in enumerate(islice(self._round_forms.iterate_client_forms(forms[clients], clients), most)):
            # A client that has finished its steps asks for no more gradients.
            yield each if (steps > k).all() else np.where((steps > k)[:, None, None], each, each - each)

    def _iterate_bases(self) -> Iterable[Array]:
        """Return each round's second moments of the models that clients work on, (M, d+1, d+1), which may be stale."""
        return (live.moments([live.newest - age for age in update.staleness]) for update, live in self.rounds())

    @cached_property
    def drift(self) -> Array:
        self._require_listable()
        if not self.recursion.is_synchronous:
            return self.stale.drift
        return self._measure_drift_from(self.moments[:-1])

    def _require_listable(self) -> None:
        """Raise `NotApplicable` if a number for each client at each local step would not fit into memory."""
        numbers = self.algorithm.rounds * (max(self.algorithm.work.steps) + 1) * self.problem.clients
        if numbers > _MOST_LISTED:
            kept = "numbers of clients at local steps (rounds x (local steps + 1) x clients)"
            raise NotApplicable(f"expected at most {_MOST_LISTED} {kept}, got {numbers}: use fewer rounds")

    def _measure_drift_from(self, moments: Array) -> Array:
        """Return the drift of each client in rounds from models with moments (N, d+1, d+1), (N, K+1, M)."""
        return self._round_forms.measure_drift(moments)

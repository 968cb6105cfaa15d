"""Assumptions as checks: each either holds on a run, or says why not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fedtheory.arithmetic import RATIONAL, Number
from fedtheory.errors import InputError, NotApplicable
from fedtheory.federation.aggregation import time_based_weights
from fedtheory.federation.clock import Asynchronous, FedFix
from fedtheory.federation.participation import Full, Uniform

if TYPE_CHECKING:
    from fedtheory.engine.run import Run


@dataclass(frozen=True)
class Assumption:
    """A named condition on a run; `require` raises `NotApplicable`, with the reason, where it fails."""

    name: str
    statement: str
    """In words, with LaTeX between dollar signs."""
    require: Callable[[Run], object]
    """Of a bounded constant it gives the `Bound`, which says where the constant holds."""

    def failure(self, run: Run) -> str | None:
        """Why the assumption fails on a run, or None."""
        try:
            self.require(run)
        except NotApplicable as reason:
            return str(reason)
        return None


def _expect(holds: object, otherwise: str) -> None:
    if not holds:
        raise NotApplicable(otherwise)


def _same_local_work(run: Run) -> None:
    _expect(run.algorithm.work.common_steps, "the clients take different numbers of local steps")
    _expect(run.algorithm.work.common_step_size is not None, "the clients use different step sizes")


def _unit_server_step(run: Run) -> None:
    given = run.algorithm.aggregation.server_step_size
    _expect(given == 1, f"the server step size is {given}, not 1")


def _uniform_shares(run: Run) -> None:
    weights = run.problem.weights
    _expect((weights == weights[0]).all(), "the clients have unequal importance")


def _full_participation(run: Run) -> None:
    moments = run.algorithm.aggregation.moments(run.problem.weights)
    run.algorithm.require_synchronous("every client takes part in every round")
    everyone = moments.is_fixed and (moments.mean == run.problem.weights).all()
    _expect(everyone, "not every client takes part in every round with its own weight")


def _one_dimension(run: Run) -> None:
    _expect(run.problem.dimension == 1, f"the problem has {run.problem.dimension} dimensions, not 1")


def _least_squares_loss(run: Run) -> None:
    _expect(run.problem.data is not None, "the objective is not a least-squares loss on data")


def _no_noise(run: Run) -> None:
    _expect((run.noise_forms == 0).all(), "the gradients are noisy")


def _strongly_convex_clients(run: Run) -> None:
    _expect(run.strong_convexity > 0, "a client's objective is not strongly convex")


def _uniform_sampling(run: Run) -> None:
    run.algorithm.require_synchronous("participants are sampled for rounds that wait for them")
    law = run.algorithm.aggregation.participation
    _expect(isinstance(law, Uniform | Full), "the participants are not sampled uniformly without replacement")
    _importance_weights(run)


def _normalised_steps(run: Run) -> None:
    _expect(run.algorithm.work.common_effective_step is not None, "mu_k E_k is not the same for all clients")


def _same_step_size(run: Run) -> None:
    _expect(run.algorithm.work.common_step_size is not None, "the clients use different step sizes")


def _several_clients(run: Run) -> None:
    _expect(run.problem.clients > 1, "there is one client only")


def _expect_clients(run: Run, scale: Number, step_size: str) -> None:
    """That (scale s)^2 T = N."""
    _same_local_work(run)
    work = run.algorithm.work
    scaled = (work.step_sizes[0] * scale) ** 2 * run.algorithm.rounds * max(work.steps)
    rounding = 0 if run.arithmetic.is_rigorous else 1e-12 * scaled
    _expect(abs(scaled - run.problem.clients) <= rounding, f"the step size is not {step_size}")


def _speedup_step(run: Run) -> None:
    _expect_clients(run, run.smoothness, "sqrt(N) / (L sqrt(T))")


def _plain_speedup_step(run: Run) -> None:
    _expect_clients(run, 1, "sqrt(N) / sqrt(T)")


def _common_local_steps(run: Run) -> None:
    _expect(run.algorithm.work.common_steps, "the clients take different numbers of local steps")
    _same_step_size(run)


def _fixed_times(run: Run) -> None:
    _expect(not run.algorithm.clock.is_random, "the clients' update times are random")


def _asynchronous(run: Run) -> None:
    _fixed_times(run)
    _expect(isinstance(run.algorithm.clock.policy, Asynchronous), "the server does not update at every contribution")


def _fixed_intervals(run: Run) -> None:
    _fixed_times(run)
    _expect(isinstance(run.algorithm.clock.policy, FedFix), "the server does not update at fixed intervals")


def _synchronous(run: Run) -> None:
    _expect(run.algorithm.clock.is_synchronous, "the server does not wait for all participants")


def _full_rounds(run: Run) -> None:
    _synchronous(run)
    _full_participation(run)


def _one_client(run: Run) -> None:
    _expect(run.problem.clients == 1, "there are several clients")


def _one_at_a_time(run: Run) -> None:
    reports = run.algorithm.schedule.participates.sum(axis=1)
    _expect((reports == 1).all(), "some update has more than one report, or none")


def _somebody_reports(run: Run) -> None:
    _expect((run.surrogate.totals > 0).all(), "nobody reports in some update")


def _given_weights(run: Run) -> None:
    law = run.algorithm.aggregation.moments(run.problem.weights)
    _expect(law.is_fixed or not run.algorithm.clock.is_synchronous, "the weights of an update are random")


def _fair_types(run: Run) -> None:
    surrogate = run.surrogate
    apart = abs(surrogate.by_type(surrogate.shares) - surrogate.by_type(run.problem.weights))
    rounding = 0 if run.arithmetic.is_rigorous else 1e-12
    _expect((apart <= rounding).all(), "some type of clients does not have its share in some update")


def _time_based(run: Run) -> None:
    weights = run.algorithm.aggregation.weights(run.problem.weights)
    try:
        closed_form = time_based_weights(run.algorithm.clock, RATIONAL.array(run.problem.weights))
    except InputError as reason:
        raise NotApplicable(reason.message) from None
    apart = abs(weights - run.arithmetic.array(closed_form))
    rounding = 0 if run.arithmetic.is_rigorous else 1e-12 * weights
    _expect((apart <= rounding).all(), "the aggregation weights are not those of the closed form")


def _importance_weights(run: Run) -> None:
    _expect(run.algorithm.aggregation.chosen is None, "the aggregation weights are not the importances")


def _whole_cycles(run: Run) -> None:
    """Everybody has reported in proportion to its speed when the run ends."""
    schedule, policy = run.algorithm.schedule, run.algorithm.clock.policy
    times = run.algorithm.clock.times
    if isinstance(policy, FedFix):
        times = tuple((time / policy.interval).ceil() * policy.interval for time in times)
    expected = [schedule.times[-1] / time for time in times]
    counts = schedule.participates.sum(axis=0)
    _expect(all(e == int(c) for e, c in zip(expected, counts, strict=True)), "the run does not end with a whole cycle")


same_local_work = Assumption(
    "same local work",
    r"every client takes the same number of local steps per round, all with the same constant step size",
    _same_local_work,
)
unit_server_step = Assumption("unit server step", r"the server adds the averaged change as it is", _unit_server_step)
uniform_shares = Assumption("uniform shares", r"all clients have the same share in the objective", _uniform_shares)
full_participation = Assumption("full participation", r"every client takes part in every round", _full_participation)
smooth = Assumption("smooth", r"each $f_i$ is $L$-smooth", lambda run: run.smoothness)
convex_and_smooth = Assumption("convex and smooth", r"each $F_i$ is convex and $L$-smooth", lambda run: run.smoothness)
unbiased_bounded_variance = Assumption(
    "unbiased gradients of bounded variance",
    r"stochastic gradients are unbiased and $\mathbb E\|g_i(x)-\nabla F_i(x)\|^2\le\sigma^2$ on the stated region",
    lambda run: run.noise_variance,
)
bounded_dissimilarity = Assumption(
    "bounded gradient dissimilarity",
    r"$\max_i\|\nabla F_i(x)-\nabla F(x)\|\le\zeta$ on the stated region",
    lambda run: run.dissimilarity_sq,
)
one_dimension = Assumption("one dimension", r"the models are numbers, $d=1$", _one_dimension)
least_squares_loss = Assumption(
    "least squares", r"the objective is the squared loss of a linear model", _least_squares_loss
)
full_gradients = Assumption("full gradients", r"every client uses its full gradient, there is no noise", _no_noise)
bounded_second_moment = Assumption(
    "bounded second moment",
    r"$\mathbb E\|g_i(x)\|^2\le G^2$ on the stated region",
    lambda run: run.second_moment,
)
bounded_mean_dissimilarity = Assumption(
    "bounded mean gradient dissimilarity",
    r"$\frac1N\sum_i\|\nabla f_i(x)-\nabla f(x)\|^2\le\sigma_G^2$ on the stated region",
    lambda run: run.mean_dissimilarity_sq,
)
lipschitz_losses = Assumption(
    "Lipschitz losses", r"each $F_i$ is $\rho$-Lipschitz on the stated region", lambda run: run.lipschitz_sq
)
strongly_convex_clients = Assumption(
    "strongly convex clients", r"each $J_k$ is $\nu_k$-strongly convex and $\delta_k$-smooth", _strongly_convex_clients
)
uniform_sampling = Assumption(
    "uniform sampling",
    r"each round selects $L$ of the $K$ clients, uniformly and without replacement",
    _uniform_sampling,
)
normalised_steps = Assumption(
    "normalised step sizes", r"$\mu_k=\mu/E_k$: step size times local steps is the same for all", _normalised_steps
)
same_step_size = Assumption("same step size", r"all clients use the same local step size", _same_step_size)
several_clients = Assumption("several clients", r"there are at least two clients", _several_clients)
speedup_step = Assumption("step size of the corollary", r"$s=\sqrt N/(L\sqrt T)$", _speedup_step)
plain_speedup_step = Assumption("step size of the corollary", r"$s=\sqrt N/\sqrt T$", _plain_speedup_step)
two_sided_steps = Assumption(
    "two-sided step sizes",
    r"the clients use a common step size $s_L$, and the server a step size of its own",
    _same_local_work,
)
aggregation_scheme = Assumption(
    "aggregation scheme",
    r"the server aggregates with scheme (6), all clients take $K$ local steps of the same size $\eta_l$",
    _common_local_steps,
)
weight_covariance = Assumption(
    "covariance of the weights",
    r"$\mathbb E[\omega_i(n)\omega_j(n)]=\alpha q_i(n)q_j(n)$ for $i\ne j$",
    lambda run: run.algorithm.schedule,
)
given_weights = Assumption("given weights", r"nobody is drawn at random: $\omega_i(n)=q_i(n)$", _given_weights)
fair_types = Assumption("fair types", r"$\tilde s_j(n)=r_j$ for every type in every update", _fair_types)
finite_answering_time = Assumption(
    "finite answering time", r"$\tau=\max_{i,n}(n-\rho_i(n))$ is finite", lambda run: run.algorithm.schedule
)
unbiased_gradients = Assumption(
    "unbiased gradients", r"$\mathbb E[g_i(x)]=\nabla\mathcal L_i(x)$", lambda run: run.problem.oracle
)
asynchronous = Assumption("asynchronous FedAvg", r"$\Delta t^n=\min_iT_i^n$, fixed update times", _asynchronous)
fixed_intervals = Assumption("FedFix", r"$\Delta t^n=\Delta t$, fixed update times", _fixed_intervals)
synchronous = Assumption("synchronous FedAvg", r"the server waits for all participants", _synchronous)
one_at_a_time = Assumption(
    "one report at a time", r"every update has exactly one report: clients that tie report one by one", _one_at_a_time
)
somebody_reports = Assumption("no empty update", r"$q(n)>0$ in every update", _somebody_reports)
time_based = Assumption(
    "time-based weights",
    r"$d_i=[\sum_j1/\tau_j]\tau_ip_i$ (asynchronous), $\lceil\tau_i/\Delta t\rceil p_i$ (FedFix), $p_i$ (synchronous)",
    _time_based,
)
importance_weights = Assumption("importances as weights", r"$d_i=p_i$", _importance_weights)
whole_cycles = Assumption(
    "whole cycles", r"the run ends when every client has reported in proportion to its speed", _whole_cycles
)
full_rounds = Assumption(
    "full rounds", r"the server waits for everybody, and everybody counts with its importance", _full_rounds
)
one_client = Assumption("one client", r"$M=1$", _one_client)

"""A run beside another one: printed loops, twice the server step size.

FedFix whose interval is half the clients' common update time has nobody report
in every other update, so that the models of whole units of time are theta^{2n}.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fedtheory.arithmetic import RATIONAL, Array
from fedtheory.arithmetic.enclosures import largest
from fedtheory.engine.restarted import as_printed, largest_deviation_sq, loop_moments, restarting_first
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.federation import fedavg
from fedtheory.federation.aggregation import time_based_weights
from fedtheory.federation.clock import Asynchronous, Clock, Policy, Synchronous
from fedtheory.language.quantities.quantity import RunQuantity

restarted_deviation = RunQuantity(
    "restarted_deviation",
    r"\max_{t,i}\|x_i^t-x_i^{\mathrm{FedAvg},t}\|",
    "largest distance between the iterates of the printed loop over t and those of FedAvg, with the same draws",
    lambda run: largest_deviation_sq(run, as_printed),
    root=True,
)
restarting_first_deviation = RunQuantity(
    "restarting_first_deviation",
    r"\max_{t,i}\|x_i^t-x_i^{\mathrm{FedAvg},t}\|",
    "the same for the loop that restarts where (t-1) mod K = 0, before the gradient is observed",
    lambda run: largest_deviation_sq(run, restarting_first),
    root=True,
)
loop_gradient_sq = RunQuantity(
    "loop_gradient_sq",
    r"\frac1T\sum_{t=1}^T\mathbb E\|\nabla f(\bar x^{t-1})\|^2",
    "(1/T) sum_{t=1..T} E|grad F(xbar^{t-1})|^2 of the printed loop over t: gradients are observed before a restart",
    lambda run: _mean(run.once(loop_moments).gradient_sq),
)
loop_consensus_error = RunQuantity(
    "loop_consensus_error",
    r"\max_{t,i}\mathbb E\|\bar x^t-x_i^t\|^2",
    "max over t = 1..T and i of E|xbar^t - x_i^t|^2 of the printed loop over t",
    lambda run: largest(run.once(loop_moments).consensus_error),
)
loop_second_moment = RunQuantity(
    "loop_second_moment",
    "G",
    "G, G^2 = max over t and i of E|G_i^t|^2 along the printed loop over t",
    lambda run: largest(run.once(loop_moments).stochastic_gradient_sq),
    root=True,
)
loop_noise_deviation = RunQuantity(
    "loop_noise_deviation",
    r"\sigma",
    "sigma, sigma^2 = max over t and i of E|G_i^t - grad F_i(x_i^{t-1})|^2 along the printed loop over t",
    lambda run: largest(run.once(loop_moments).noise_sq),
    root=True,
)
_INTERVALS = 2
"""Updates of FedFix-0.5 in a unit of time, and the factor by which the twin's server step size is larger."""
_SYNCHRONOUS, _ASYNCHRONOUS = Synchronous(), Asynchronous("together")


def _other_policy(run: Run, policy: Policy, rounds: int, factor: int = 1) -> Run:
    """The same problem and local work with another policy, its closed-form weights, and a multiple of eta_g."""
    key = ("other policy", policy, rounds, factor)
    if key not in run.known:
        problem, algorithm = run.problem, run.algorithm
        clock = Clock(policy, algorithm.clock.times)
        weights = time_based_weights(clock, RATIONAL.array([1] * problem.clients))
        other = fedavg(
            problem,
            rounds=rounds,
            local_step_size=algorithm.work.step_sizes,
            local_steps=algorithm.work.steps,
            server_step_size=factor * algorithm.aggregation.server_step_size,
            clock=clock,
            aggregation=run.arithmetic.array(weights) * problem.weights,
        )
        run.known[key] = replace(run, algorithm=other)
    compared: Run = run.known[key]
    return compared


def _twin(run: Run, policy: Policy) -> Run:
    """Another policy with 2 eta_g and half the updates."""
    return _other_policy(run, policy, run.algorithm.rounds // _INTERVALS, _INTERVALS)


def _moment_gap(run: Run) -> Any:
    """Sum over n and all entries of the squared differences of second moments of theta^{2n} and the twin's theta^n."""
    apart = run.trajectory.moments[::_INTERVALS] - _twin(run, _SYNCHRONOUS).trajectory.moments
    return (apart * apart).sum()


doubled_server_gap = RunQuantity(
    "doubled_server_gap",
    r"\sum_n\|\mathbb E[\theta^{2n}\theta^{2n\top}]-\mathbb E[\vartheta^n\vartheta^{n\top}]\|^2",
    "sum of the squared differences of all first and second moments of theta^{2n} and of the models of synchronous "
    "FedAvg with twice the server step size",
    _moment_gap,
)


def _mean(values: Array) -> Any:
    if len(values) == 0:
        raise NotApplicable("the run has fewer than two updates")
    return values.sum() / len(values)


whole_time_suboptimality = RunQuantity(
    "whole_time_suboptimality",
    r"\frac1R\sum_{n=1}^R\mathbb E[\mathcal L(\theta^{2n})]-\mathcal L(\theta^*)",
    "mean of E L(theta^{2n}) - L* over n = 1 .. N/2: every second model",
    lambda run: _mean(run.trajectory.server_suboptimality[_INTERVALS::_INTERVALS]),
)


def _mean_suboptimality(run: Run) -> Any:
    """(1/R) sum_{n=1..R} E L(theta^n) - L*."""
    return _mean(run.trajectory.server_suboptimality[1:])


doubled_synchronous_suboptimality = RunQuantity(
    "doubled_synchronous_suboptimality",
    r"\frac1R\sum_{n=1}^R\mathbb E[\mathcal L(\vartheta^n_{\mathrm{sync}})]-\mathcal L(\theta^*)",
    "mean of E L - L* over the N/2 models of synchronous FedAvg with twice the server step size",
    lambda run: _mean_suboptimality(_twin(run, _SYNCHRONOUS)),
)
doubled_asynchronous_suboptimality = RunQuantity(
    "doubled_asynchronous_suboptimality",
    r"\frac1R\sum_{n=1}^R\mathbb E[\mathcal L(\vartheta^n_{\mathrm{async}})]-\mathcal L(\theta^*)",
    "mean of E L - L* over the N/2 models of asynchronous FedAvg with weights (36), all clients that finish together "
    "in one update, and twice the server step size",
    lambda run: _mean_suboptimality(_twin(run, _ASYNCHRONOUS)),
)


def _final_suboptimality_with(run: Run, policy: Policy) -> Any:
    """E L(theta^N) - L* after the run's number of updates with another policy."""
    return _other_policy(run, policy, run.algorithm.rounds).trajectory.final_suboptimality


synchronous_final_suboptimality = RunQuantity(
    "synchronous_final_suboptimality",
    r"\mathbb E\mathcal L(\theta^N_{\mathrm{sync}})-\mathcal L(\theta^*)",
    "E L(theta^N) - L* of synchronous FedAvg with the same local work after the same number N of updates",
    lambda run: _final_suboptimality_with(run, _SYNCHRONOUS),
)
asynchronous_final_suboptimality = RunQuantity(
    "asynchronous_final_suboptimality",
    r"\mathbb E\mathcal L(\theta^N_{\mathrm{async}})-\mathcal L(\theta^*)",
    "E L(theta^N) - L* of asynchronous FedAvg with weights (36), one report at a time and the same local work, after "
    "the same number N of updates",
    lambda run: _final_suboptimality_with(run, Asynchronous("one-by-one")),
)

"""Comparisons of a run with another one: twice the server step size, other policies.

In FedFix with an interval of half the common client time, every second update has no report, so the models at whole
units of time are theta^{2n}.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import sympy as sp

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.federation.aggregation import compute_time_based_weights
from fedtheory.federation.clock import Asynchronous, Clock, Policy, Synchronous
from fedtheory.language.quantities import errors
from fedtheory.language.quantities.measuring.terms import reduce_entries
from fedtheory.language.quantities.quantity import Over, RunQuantity, Weights, mean_over_rounds

_UPDATES_PER_TIME = 2
"""Number of updates of FedFix-0.5 per client time, and factor of the other run's server step size."""
_SYNCHRONOUS = Synchronous()


def _replace_policy(run: Run, policy: Policy, rounds: int, factor: int = 1) -> Run:
    """Replace the policy of a run, with its closed-form weights and a multiple of eta_g."""
    run.require_single_clients("another policy has other weights of single clients")

    def make_run() -> Run:
        problem, algorithm = run.problem, run.algorithm
        clock = Clock(policy, algorithm.clock.times)
        weights = compute_time_based_weights(clock, RATIONAL.array([1] * problem.clients))
        changed = fedavg(
            problem,
            rounds=rounds,
            local_step_size=algorithm.work.step_sizes,
            local_steps=algorithm.work.steps,
            server_step_size=factor * algorithm.aggregation.server_step_size,
            clock=clock,
            aggregation=run.arithmetic.array(weights) * problem.weights,
        )
        return replace(run, algorithm=changed)

    return run.memo.compute_once(("other policy", policy, rounds, factor), make_run)


def _make_doubled_run(run: Run, policy: Policy) -> Run:
    """Return the run of another policy with twice the server step size and half the updates."""
    return _replace_policy(run, policy, run.algorithm.rounds // _UPDATES_PER_TIME, _UPDATES_PER_TIME)


def _measure_moment_gap(run: Run) -> Any:
    """Return the sum of squared differences between the moments of theta^{2n} and those of the other run's theta^n."""
    differences = run.trajectory.moments[::_UPDATES_PER_TIME] - _make_doubled_run(run, _SYNCHRONOUS).trajectory.moments
    return (differences * differences).sum()


doubled_server_gap = RunQuantity(
    "doubled_server_gap",
    r"\sum_n\|\mathbb E[\theta^{2n}\theta^{2n\top}]-\mathbb E[\vartheta^n\vartheta^{n\top}]\|^2",
    "sum of the squared differences of all first and second moments of theta^{2n} and of the models of synchronous "
    "FedAvg with twice the server step size",
    _measure_moment_gap,
    primitive="process",
)


def _measure_on(name: str, latex: str, meaning: str, of: RunQuantity, twin: Callable[[Run], Run]) -> RunQuantity:
    """Return a quantity of the run that `twin` derives from the given one."""
    return RunQuantity(name, latex, meaning, lambda run: of.on(twin(run)), primitive="process")


_n = sp.Dummy("n", integer=True)
_EVERY_SECOND = Over("rounds", "mean", weights=Weights(_n - 2 * sp.floor(_n / 2), _n))
whole_time_suboptimality = reduce_entries(
    "whole_time_suboptimality",
    r"\frac1R\sum_{n=1}^R\mathbb E[\mathcal L(\theta^{2n})]-\mathcal L(\theta^*)",
    "mean of E L(theta^{2n}) - L* over n = 1 .. N/2: every second model",
    errors.server_suboptimality_after,
    _EVERY_SECOND,
)
_mean_suboptimality = mean_over_rounds(errors.server_suboptimality_after, r"\frac1R\sum_n\mathbb EF(x^n)-F^*")
doubled_synchronous_suboptimality = _measure_on(
    "doubled_synchronous_suboptimality",
    r"\frac1R\sum_{n=1}^R\mathbb E[\mathcal L(\vartheta^n_{\mathrm{sync}})]-\mathcal L(\theta^*)",
    "mean of E L - L* over the N/2 models of synchronous FedAvg with twice the server step size",
    _mean_suboptimality,
    lambda run: _make_doubled_run(run, _SYNCHRONOUS),
)
doubled_asynchronous_suboptimality = _measure_on(
    "doubled_asynchronous_suboptimality",
    r"\frac1R\sum_{n=1}^R\mathbb E[\mathcal L(\vartheta^n_{\mathrm{async}})]-\mathcal L(\theta^*)",
    "mean of E L - L* over the N/2 models of asynchronous FedAvg with weights (36), all clients that finish together "
    "in one update, and twice the server step size",
    _mean_suboptimality,
    lambda run: _make_doubled_run(run, Asynchronous("together")),
)
synchronous_final_suboptimality = _measure_on(
    "synchronous_final_suboptimality",
    r"\mathbb E\mathcal L(\theta^N_{\mathrm{sync}})-\mathcal L(\theta^*)",
    "E L(theta^N) - L* of synchronous FedAvg with the same local work after the same number N of updates",
    errors.final_suboptimality,
    lambda run: _replace_policy(run, _SYNCHRONOUS, run.algorithm.rounds),
)
asynchronous_final_suboptimality = _measure_on(
    "asynchronous_final_suboptimality",
    r"\mathbb E\mathcal L(\theta^N_{\mathrm{async}})-\mathcal L(\theta^*)",
    "E L(theta^N) - L* of asynchronous FedAvg with weights (36), one report at a time and the same local work, after "
    "the same number N of updates",
    errors.final_suboptimality,
    lambda run: _replace_policy(run, Asynchronous("one-by-one"), run.algorithm.rounds),
)

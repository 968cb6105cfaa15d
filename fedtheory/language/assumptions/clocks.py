"""Assumptions on the clock: times of server updates, client times, end of the run."""

from __future__ import annotations

from fedtheory.engine.run import Run
from fedtheory.federation.clock import Asynchronous, FedFix
from fedtheory.language.assumptions.assumption import Setting, expect


def _require_fixed_times(run: Run) -> None:
    expect(not run.algorithm.clock.is_random, "the clients' update times are random")


def _require_asynchronous(run: Run) -> None:
    _require_fixed_times(run)
    expect(isinstance(run.algorithm.clock.policy, Asynchronous), "the server does not update at every contribution")


def _require_fixed_intervals(run: Run) -> None:
    _require_fixed_times(run)
    expect(isinstance(run.algorithm.clock.policy, FedFix), "the server does not update at fixed intervals")


def expect_no_cycle(run: Run) -> None:
    """Raise `NotApplicable` if participation is cyclic."""
    expect(not run.algorithm.clock.policy.is_in_turn, "participation is cyclic")


def _require_synchronous(run: Run) -> None:
    expect_no_cycle(run)
    expect(run.algorithm.clock.is_synchronous, "the server does not wait for all participants")


synchronous = Setting("synchronous FedAvg", r"the server waits for all participants", _require_synchronous)
asynchronous = Setting("asynchronous FedAvg", r"$\Delta t^n=\min_iT_i^n$, fixed update times", _require_asynchronous)
fixed_intervals = Setting("FedFix", r"$\Delta t^n=\Delta t$, fixed update times", _require_fixed_intervals)

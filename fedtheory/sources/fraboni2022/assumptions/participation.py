"""Assumptions on participation: laws of sampling, and the number of reports in an update."""

from __future__ import annotations

from fedtheory.engine.run import Run
from fedtheory.federation.participation import Multinomial
from fedtheory.language.assumptions.assumption import Setting, expect
from fedtheory.language.assumptions.clocks import expect_no_cycle


def _require_multinomial_sampling(run: Run) -> None:
    expect_no_cycle(run)
    law = run.algorithm.aggregation.participation.of_clients
    expect(isinstance(law, Multinomial), "the participants are not sampled with replacement")


def _require_fixed_number(run: Run) -> None:
    """Require that every round selects equally many clients."""
    run.algorithm.aggregation.participation.of_clients.count(run.clients)


def _require_one_at_a_time(run: Run) -> None:
    expect_no_cycle(run)
    reports = run.algorithm.schedule.participates.sum(axis=1)
    expect((reports == 1).all(), "some update has more than one report, or none")


def _require_reports(run: Run) -> None:
    """Require a report in every update."""
    expect((run.surrogate.totals > 0).all(), "no client reports in some update")


multinomial_sampling = Setting(
    "multinomial sampling",
    r"m clients are sampled with replacement, with the probabilities $p_i$",
    _require_multinomial_sampling,
)

fixed_number = Setting(
    "fixed number of participants",
    r"every round selects $m$ clients, counted with repetition",
    _require_fixed_number,
)

one_at_a_time = Setting(
    "one report at a time",
    r"every update has exactly one report: clients that tie report one by one",
    _require_one_at_a_time,
)

somebody_reports = Setting("no empty update", r"$q(n)>0$ in every update", _require_reports)

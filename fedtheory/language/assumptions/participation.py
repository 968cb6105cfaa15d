"""Assumptions on participation: all clients, sampled clients, at least one client."""

from __future__ import annotations

from fedtheory.engine.run import Run
from fedtheory.federation.participation import Full, Uniform
from fedtheory.language.assumptions import clocks, weights
from fedtheory.language.assumptions.assumption import Setting, expect


def _require_fixed_weights(run: Run) -> None:
    clocks.expect_no_cycle(run)
    moments = run.algorithm.aggregation.moments(run.problem.weights)
    run.algorithm.require_synchronous("every client takes part in every round")
    everyone = moments.is_fixed and (moments.mean == run.problem.weights).all()
    expect(everyone, "not every client takes part in every round with its own weight")


def _require_full_participation(run: Run) -> None:
    clocks.expect_no_cycle(run)
    expect(isinstance(run.algorithm.aggregation.participation.of_clients, Full), "some clients are left out of a round")


def _require_full_rounds(run: Run) -> None:
    clocks.synchronous.require(run)
    expect(not run.algorithm.clock.is_random, "the clients' update times are random")
    _require_fixed_weights(run)


def _require_uniform_sampling(run: Run) -> None:
    clocks.expect_no_cycle(run)
    run.algorithm.require_synchronous("participants are sampled for rounds that wait for them")
    law = run.algorithm.aggregation.participation.of_clients
    expect(isinstance(law, Uniform | Full), "the participants are not sampled uniformly without replacement")
    weights.importance_weights.require(run)


def _require_unbiased_weights(run: Run) -> None:
    clocks.expect_no_cycle(run)
    run.algorithm.require_synchronous("expected sampled participants in synchronous rounds")
    weights.importance_weights.require(run)
    law, importances = run.algorithm.aggregation.participation, run.problem.weights
    expect(law.averages(importances), "the weights of a round do not always add up to one")
    expect(
        (law.moments(importances).mean == importances).all(),
        "the expected weights of a round are not the client weights",
    )


full_participation = Setting("full participation", r"every client takes part in every round", _require_fixed_weights)
every_client = Setting(
    "every client", r"no clients are sampled: each reports whenever it is done", _require_full_participation
)
full_rounds = Setting(
    "full rounds", r"the server waits for all clients, and weights each with its client weight", _require_full_rounds
)
uniform_sampling = Setting(
    "uniform sampling",
    r"each round selects $L$ of the $K$ clients, uniformly and without replacement",
    _require_uniform_sampling,
)
averaged_participants = Setting(
    "averaged participants",
    r"the weights of a round sum to one, and their expectations are the client weights $p_i$",
    _require_unbiased_weights,
)

"""Assumptions of Examples 1 and 2: clients that take turns on quadratics with unit curvature."""

from __future__ import annotations

from fedtheory.engine.run import Run
from fedtheory.language.assumptions.assumption import Setting, expect


def _require_turns(run: Run, clients: int) -> None:
    """Require clients of equal weight with unit curvature, of which each half reports in every second update."""
    reason = run.algorithm.clock.policy.changes_weights
    expect(not reason, reason)
    identity = run.arithmetic.identity(run.problem.dimension)
    expect(run.clients == clients, f"there are not {clients} clients")
    expect((run.problem.hessians == identity).all(), "a client's objective has another Hessian than the identity")
    expect((run.client_weights * clients == 1).all(), "the clients have unequal weights")
    expect(run.algorithm.aggregation.server_step_size == 1, "the server step size is not 1")
    reports = run.algorithm.schedule.participates
    alternate = (reports[2:] == reports[:-2]).all() and not (reports[1:] & reports[:-1]).any()
    expect(alternate and run.algorithm.rounds % 2 == 0, "the clients do not take turns for whole windows")
    expect((reports.sum(axis=1) * 2 == clients).all(), "the clients that report in some update are not half of all")


def _require_pairs(run: Run) -> None:
    """Require four clients, of which one of each of two types reports in each update, with weights 1/2."""
    _require_turns(run, 4)
    expect(
        (run.surrogate.sum_by_type(run.surrogate.update_shares)[:, :2] * 2 == 1).all(),
        "a type does not have half of the weight of an update",
    )
    expect((run.algorithm.aggregation.weights(run.problem.weights) * 2 == 1).all(), "the weights are not 1/2")


turns_of_pairs = Setting(
    "pairs in turn",
    r"$\mathcal L_i(\theta)=\frac12\|\theta-\theta_i^*\|^2$, four clients of two types, of which two, one of each "
    r"type, report in every update, the others in the next; $p_i=1/4$, $d_i=1/2$, $\eta_g=1$",
    _require_pairs,
)
turns_of_clients = Setting(
    "clients in turn",
    r"$\mathcal L_i(\theta)=\frac12\|\theta-\theta_i^*\|^2$, two clients that report in turn, $p_i=1/2$, $\eta_g=1$",
    lambda run: _require_turns(run, 2),
)

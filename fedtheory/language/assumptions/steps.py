"""Assumptions on local work and step sizes, of clients and server."""

from __future__ import annotations

from fedtheory.engine.run import Run
from fedtheory.language.assumptions.assumption import Setting, expect
from fedtheory.language.assumptions.clocks import expect_no_cycle


def _require_common_step_size(run: Run) -> None:
    work = run.algorithm.work
    expect(work.schedule is None, "the step size changes along the run")
    expect(work.common_step_size is not None, "the clients use different step sizes")


def _require_common_work(run: Run) -> None:
    """Require one step size and one number of local steps for all clients."""
    expect(run.algorithm.work.common_steps, "the clients take different numbers of local steps")
    _require_common_step_size(run)


def _require_server_step_of_one(run: Run) -> None:
    given = run.algorithm.aggregation.server_step_size
    expect(given == 1, f"the server step size is {given}, not 1")


def _require_unit_server_step(run: Run) -> None:
    _require_server_step_of_one(run)
    if not run.algorithm.is_fedavg_of_changing_steps:
        run.algorithm.require_update_rule("the server step is that of the update rule")


def _require_aggregation_scheme(run: Run) -> None:
    expect_no_cycle(run)
    _require_common_work(run)
    run.algorithm.require_update_rule("the server aggregates with scheme (6)")


same_local_work = Setting(
    "same local work",
    r"every client takes the same number of local steps per round, all with the same constant step size",
    _require_common_work,
)
aggregation_scheme = Setting(
    "aggregation scheme",
    r"the server aggregates with scheme (6), all clients take $K$ local steps of the same size $\eta_l$",
    _require_aggregation_scheme,
)
two_sided_steps = Setting(
    "two-sided step sizes",
    r"the clients use a common step size $s_L$, and the server its own step size",
    _require_common_work,
)
same_step_size = Setting("same step size", r"all clients use the same local step size", _require_common_step_size)
normalised_steps = Setting(
    "normalised step sizes",
    r"$\mu_k=\mu/E_k$: step size times local steps is the same for all",
    lambda run: expect(
        run.algorithm.work.common_effective_step is not None, "mu_k E_k is not the same for all clients"
    ),
)
server_step_of_one = Setting("server step size one", r"$\eta_g=1$", _require_server_step_of_one)
unit_server_step = Setting(
    "unit server step", r"the server adds the averaged change as it is", _require_unit_server_step
)

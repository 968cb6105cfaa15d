"""The step-size condition (98) of Theorem 1."""

from __future__ import annotations

from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.language.assumptions import steps
from fedtheory.language.assumptions.assumption import Setting


def _require_theorem_step_size(run: Run) -> None:
    steps.same_step_size.require(run)
    work = run.algorithm.work
    rho = max(run.arithmetic.number(1, "one"), run.surrogate.totals.max())
    staleness, server_step = run.algorithm.largest_staleness, run.algorithm.aggregation.server_step_size
    scaled = work.step_sizes[0] * 48 * max(work.steps) * run.smoothness
    rounding = 0 if run.arithmetic.name == "rational" else 1e-12
    if max(scaled, scaled * 3 * rho * rho * server_step * (staleness + 1)) > 1 + rounding:
        raise NotApplicable("the local step size is larger than (98) allows")


theorem_step_size = Setting(
    "step size of Theorem 1",
    r"$\eta_l\le\frac1{48KL}\min\left(1,\frac1{3\rho^2\eta_g(\tau+1)}\right)$",
    _require_theorem_step_size,
)

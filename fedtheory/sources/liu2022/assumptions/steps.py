"""The step sizes of the slides' corollaries."""

from __future__ import annotations

from fedtheory.arithmetic import Number
from fedtheory.engine.run import Run
from fedtheory.language.assumptions import steps
from fedtheory.language.assumptions.assumption import Setting, expect


def _expect_clients(run: Run, scale: Number, step_size: str) -> None:
    """Require (scale s)^2 T = N."""
    steps.same_local_work.require(run)
    work = run.algorithm.work
    scaled = (work.step_sizes[0] * scale) ** 2 * run.algorithm.rounds * max(work.steps)
    rounding = 0 if run.arithmetic.is_rigorous else 1e-12 * scaled
    expect(abs(scaled - run.clients) <= rounding, f"the step size is not {step_size}")


def _require_speedup_step(run: Run) -> None:
    _expect_clients(run, run.smoothness, "sqrt(N) / (L sqrt(T))")


def _require_plain_speedup_step(run: Run) -> None:
    _expect_clients(run, 1, "sqrt(N) / sqrt(T)")


speedup_step = Setting("step size of the corollary", r"$s=\sqrt N/(L\sqrt T)$", _require_speedup_step)


plain_speedup_step = Setting("step size of the corollary", r"$s=\sqrt N/\sqrt T$", _require_plain_speedup_step)

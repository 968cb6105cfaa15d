"""Assumptions that the step size is that of a corollary of the slides."""

from __future__ import annotations

from fedtheory.arithmetic import Number
from fedtheory.engine.run import Run
from fedtheory.language.assumptions import steps
from fedtheory.language.assumptions.assumption import Setting, expect


def _require_step(run: Run, scale: Number, step_size: str) -> None:
    """Raise `NotApplicable` unless scale * s = sqrt(N/T), up to rounding in floats."""
    steps.same_local_work.require(run)
    work = run.algorithm.work
    scaled = (work.step_sizes[0] * scale) ** 2 * run.algorithm.rounds * max(work.steps)
    rounding = 0 if run.arithmetic.is_rigorous else 1e-12 * scaled
    expect(abs(scaled - run.clients) <= rounding, f"the step size is not {step_size}")


speedup_step = Setting(
    "step size of the corollary",
    r"$s=\sqrt N/(L\sqrt T)$",
    lambda run: _require_step(run, run.smoothness, "sqrt(N) / (L sqrt(T))"),
)


plain_speedup_step = Setting(
    "step size of the corollary", r"$s=\sqrt N/\sqrt T$", lambda run: _require_step(run, 1, "sqrt(N) / sqrt(T)")
)

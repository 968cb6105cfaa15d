"""Draw loss and accuracy of a run on linear models, with intervals if they are estimated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fedtheory.engine.linear_models import LinearModelRun
from fedtheory.engine.run import Run
from fedtheory.engine.sampling import ReplicaMeans
from fedtheory.errors import NotApplicable
from report.figures.style import BLUE, ORANGE, Figure, finish, open_canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_loss_and_accuracy(name: str, run: Run, words: str) -> Figure:
    """Draw E F(theta^n) and the accuracy on the rows over rounds; raises `NotApplicable` for quadratics."""
    if not isinstance(run, LinearModelRun):
        raise NotApplicable("loss and accuracy are drawn for linear models")
    measured = run.attempted_trajectory.interval
    with open_canvas() as (canvas, axes):
        draw_band(axes, measured("loss"), BLUE, r"loss $\mathbb{E}F(\theta^n)$")
        axes.set_xlabel("rounds (server updates)")
        axes.set_ylabel("loss, accuracy")
        if run.problem.classes is not None:
            draw_band(axes, measured("accuracy"), ORANGE, "accuracy on the rows")
        axes.legend()
        return finish(canvas, f"{name}-loss", words)


def draw_band(axes: Axes, found: ReplicaMeans, color: str, label: str) -> None:
    """Draw averages over the rounds, with their interval if it exists."""
    rounds = np.arange(len(found.mean))
    axes.plot(rounds, found.mean, color=color, label=label)
    if found.replicas > 1:
        axes.fill_between(rounds, found.low, found.high, color=color, alpha=0.25, linewidth=0)

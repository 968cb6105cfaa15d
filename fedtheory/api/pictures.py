"""Matplotlib figures of a run, and of a claim on a run, with the width of a paper's column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fedtheory.api.inputs import convert_to_claim, convert_to_run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fedtheory.api.inputs import ClaimLike, RunLike


def error_figure(run: RunLike, *, schedules: int = 100, seed: int = 0) -> Figure:
    """Draw the exact error E F(x^n) - F* over rounds, or over clock time if the server does not wait for all clients.

    `run` is given as for `simulate`; if client times are random, `schedules` of them are sampled.  `figure.savefig`
    writes the figure, and `report.save_figure` writes it in the style of the project.
    """
    from report.pictures import error_figure as drawn

    return drawn(convert_to_run(run, None), schedules=schedules, seed=seed)


def bound_figure(claim: ClaimLike, run: RunLike) -> Figure:
    """Draw the bound of a claim with its terms, and the exact left side, over the rounds of a run.

    A rate is drawn over its sequence of runs instead.  `claim` and `run` are given as for `check`.
    Raises `NotApplicable` if the claim says nothing about the run.
    """
    from report.pictures import bound_figure as drawn

    return drawn(convert_to_claim(claim), convert_to_run(run, None))

"""The toy problem's curves: exact loss with its Monte-Carlo band, and the classifier's accuracy."""

from __future__ import annotations

from collections.abc import Sequence

from report.figures.style import BLACK, BLUE, ORANGE, Figure, drawing, finish
from report.toy import ToyRun

_COLOURS = (BLUE, ORANGE)


def loss_over_rounds(runs: Sequence[ToyRun]) -> Figure:
    """Exact expected loss over rounds, with the Monte-Carlo interval on top."""
    with drawing() as (canvas, axes):
        for colour, toy in zip(_COLOURS, runs, strict=True):
            rounds = range(len(toy.loss))
            axes.fill_between(rounds, toy.sampled_loss.low, toy.sampled_loss.high, color=colour, alpha=0.3, linewidth=0)
            axes.semilogy(rounds, toy.loss, color=colour, label=f"{toy.name}, exact")
        axes.axhline(runs[0].run.problem.optimal_value, color=BLACK, linestyle=":", label="smallest loss $F^*$")
        axes.set_xlabel("rounds $n$")
        axes.set_ylabel(r"expected training loss $\mathbb{E}\,L_D(w^n)$")
        axes.legend()
    sampled = runs[0].sampled_loss
    caption = (
        f"Exact expected training loss of mini-batch FedAvg (lines), and the {sampled.confidence:.0%} confidence "
        f"interval of a Monte-Carlo estimate from {sampled.replicas} replicas (bands)."
    )
    return finish(canvas, "toy-loss", caption)


def sampling_error(runs: Sequence[ToyRun]) -> Figure:
    """The Monte-Carlo interval relative to the exact loss: how the band lies around the line."""
    with drawing() as (canvas, axes):
        for colour, toy in zip(_COLOURS, runs, strict=True):
            rounds = range(len(toy.loss))
            low, high = (100 * (edge / toy.loss - 1) for edge in (toy.sampled_loss.low, toy.sampled_loss.high))
            axes.fill_between(rounds, low, high, color=colour, alpha=0.35, linewidth=0, label=toy.name)
        axes.axhline(0, color=BLACK, linewidth=1.2, label="exact")
        axes.set_xlabel("rounds $n$")
        axes.set_ylabel("Monte-Carlo interval against exact, %")
        axes.legend()
    caption = "The same Monte-Carlo bands relative to the exact loss; the exact value is the line at zero."
    return finish(canvas, "toy-sampling-error", caption)


def accuracy_over_rounds(runs: Sequence[ToyRun]) -> Figure:
    """Expected train and test accuracy with their intervals."""
    with drawing() as (canvas, axes):
        for colour, toy in zip(_COLOURS, runs, strict=True):
            curves = ((toy.train_accuracy, "-", "train"), (toy.test_accuracy, "--", "test"))
            for estimate, dash, which in curves:
                rounds = range(len(estimate.mean))
                axes.fill_between(rounds, 100 * estimate.low, 100 * estimate.high, color=colour, alpha=0.2, linewidth=0)
                axes.plot(rounds, 100 * estimate.mean, dash, color=colour, label=f"{toy.name}, {which}")
        axes.set_xlabel("rounds $n$")
        axes.set_ylabel("accuracy, %")
        axes.legend(loc="lower right")
    estimate = runs[0].train_accuracy
    caption = (
        f"Expected accuracy of the classifier $\\mathrm{{sign}}(w^T x)$, from {estimate.replicas} replicas with "
        f"{estimate.confidence:.0%} confidence intervals (accuracy is not quadratic, so it is sampled)."
    )
    return finish(canvas, "toy-accuracy", caption)

"""The toy problem's curves: exact loss with its Monte-Carlo band, and the classifier's accuracy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fedtheory.language.exhibits import DASHED, SOLID, Axis, Band, Chart, Legend, Level, Line, Part
from fedtheory.sources.renard2022.exhibits.toy_problem import ToyRun

_ROUNDS = Axis("rounds $n$")


def draw_loss(runs: Sequence[ToyRun]) -> Chart:
    """Draw the exact expected loss over rounds, with the Monte-Carlo interval."""
    sampled = runs[0].sampled_loss
    return Chart(
        name="toy-loss",
        x=_ROUNDS,
        y=Axis(r"expected training loss $\mathbb{E}\,L_D(w^n)$", "log"),
        parts=[
            *(part for colour, toy in enumerate(runs) for part in _draw_losses(toy, colour)),
            Level(runs[0].run.problem.optimal_value, "smallest loss $F^*$"),
        ],
        caption=(
            f"Exact expected training loss of mini-batch FedAvg (lines), and the {sampled.confidence:.0%} confidence "
            f"interval of a Monte-Carlo estimate from {sampled.replicas} replicas (bands)."
        ),
    )


def _draw_losses(toy: ToyRun, colour: int) -> Iterator[Part]:
    rounds = range(len(toy.loss))
    yield Band(rounds, toy.sampled_loss.low, toy.sampled_loss.high, colour=colour)
    yield Line(rounds, toy.loss, f"{toy.name}, exact", colour)


def draw_sampling_error(runs: Sequence[ToyRun]) -> Chart:
    """Draw the Monte-Carlo interval relative to the exact loss."""
    return Chart(
        name="toy-sampling-error",
        x=_ROUNDS,
        y=Axis("Monte-Carlo interval against exact, %"),
        parts=[
            *(_draw_relative(toy, colour) for colour, toy in enumerate(runs)),
            Level(0, "exact", dash=SOLID, width=1.2),
        ],
        caption="The same Monte-Carlo bands relative to the exact loss; the exact value is the line at zero.",
    )


def _draw_relative(toy: ToyRun, colour: int) -> Band:
    low, high = (100 * (edge / toy.loss - 1) for edge in (toy.sampled_loss.low, toy.sampled_loss.high))
    return Band(range(len(toy.loss)), low, high, toy.name, colour, opacity=0.35)


def draw_accuracy(runs: Sequence[ToyRun]) -> Chart:
    """Draw expected train and test accuracy with their intervals."""
    estimate = runs[0].train_accuracy
    return Chart(
        name="toy-accuracy",
        x=_ROUNDS,
        y=Axis("accuracy, %"),
        parts=[part for colour, toy in enumerate(runs) for part in _draw_accuracies(toy, colour)],
        caption=(
            f"Expected accuracy of the classifier $\\mathrm{{sign}}(w^T x)$, from {estimate.replicas} replicas with "
            f"{estimate.confidence:.0%} confidence intervals (accuracy is not quadratic, so it is sampled)."
        ),
        legend=Legend("lower right"),
    )


def _draw_accuracies(toy: ToyRun, colour: int) -> Iterator[Part]:
    for estimate, dash, which in ((toy.train_accuracy, SOLID, "train"), (toy.test_accuracy, DASHED, "test")):
        rounds = range(len(estimate.mean))
        yield Band(rounds, 100 * estimate.low, 100 * estimate.high, colour=colour, opacity=0.2)
        yield Line(rounds, 100 * estimate.mean, f"{toy.name}, {which}", colour, dash)

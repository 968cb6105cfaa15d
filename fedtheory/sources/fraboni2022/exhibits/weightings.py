"""The charts of Figures 2 and 3: identical and time-based weights, over clock time and over local steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from fedtheory.arithmetic import Array
from fedtheory.language.exhibits import (
    BLUE,
    DASHED,
    ORANGE,
    SOLID,
    Axis,
    Chart,
    Legend,
    Level,
    Line,
)
from fedtheory.sources.fraboni2022.exhibits.chart_style import CLOCK_TIME, EXCESS
from fedtheory.sources.fraboni2022.experiments.curves import Curve
from fedtheory.sources.fraboni2022.experiments.figure_2 import WeightsCompared
from fedtheory.sources.fraboni2022.experiments.figure_3 import LocalWorkCompared

Measure = Callable[[WeightsCompared, Curve], Array]
"""Function that returns a number of each model of a curve."""


def draw_figure_2(results: Sequence[WeightsCompared]) -> list[Chart]:
    """Return Figure 2 (a) to (d): loss and spread over the clients, of problem (2) and of the surrogate problem."""
    return [
        _draw_loss(results),
        _draw_measure(
            results,
            "federated-spread",
            Axis(r"deviation of $\mathbb{E}\,\mathcal{L}_i(\theta^n)$ over $i$"),
            lambda result, curve: curve.compute_spread(result.importance),
            "Standard deviation over the clients of their expected losses.",
        ),
        _draw_measure(
            results,
            "surrogate-loss",
            Axis(r"$\mathbb{E}\,\bar{\mathcal{L}}(\theta^n)-\bar{\mathcal{L}}(\bar{\theta})$", "log"),
            lambda result, curve: curve.compute_weighted_loss(result.shares) - result.surrogate_minimum,
            "Excess loss of the surrogate problem (10), in which clients count as often as they report.",
        ),
        _draw_measure(
            results,
            "surrogate-spread",
            Axis(r"weighted deviation of $\mathbb{E}\,\mathcal{L}_i(\theta^n)$ over $i$"),
            lambda result, curve: curve.compute_spread(result.shares),
            "Standard deviation over the clients of their expected losses, clients weighted as in the surrogate "
            "problem (10).",
        ),
    ]


def _draw_loss(results: Sequence[WeightsCompared]) -> Chart:
    """Draw the excess loss of problem (2), with the limits for identical weights as levels."""
    limits = [result.identical_limit - result.minimum for result in results]
    named = ", ".join(f"{limit:.3g} ({result.split})" for limit, result in zip(limits, results, strict=True))
    return _draw_measure(
        results,
        "federated-loss",
        Axis(EXCESS, "log"),
        lambda result, curve: curve.loss - result.minimum,
        "Excess loss of problem (2), asynchronous FedAvg, F80, one local step. Dotted: the loss at the minimiser of "
        f"the surrogate problem (10) of identical weights, {named}.",
        levels=[Level(limit, width=1) for limit in limits],
    )


def _draw_measure(
    results: Sequence[WeightsCompared],
    name: str,
    axis: Axis,
    measure: Measure,
    description: str,
    *,
    levels: Sequence[Level] = (),
) -> Chart:
    """Draw a number of both weightings over clock time on every split."""
    sizes = ", ".join(f"${result.step_size:.3g}$ ({result.split})" for result in results)
    return Chart(
        name=name,
        x=CLOCK_TIME,
        y=axis,
        parts=[*_draw_both_weightings(results, measure), *levels],
        caption=f"{description} Step size, the best for identical weights: {sizes}.",
    )


def _draw_both_weightings(results: Sequence[WeightsCompared], measure: Measure) -> Iterator[Line]:
    """Yield lines whose colours distinguish the weightings, and whose dashes distinguish the splits."""
    for dash, result in zip((DASHED, SOLID), results, strict=True):
        both = ((BLUE, "Identical", result.identical), (ORANGE, "Time-based", result.time_based))
        for colour, name, curve in both:
            yield Line(curve.times, measure(result, curve), f"{name}, {result.split}", colour, dash, width=1.2)


def draw_figure_3(result: LocalWorkCompared) -> Chart:
    """Return Figure 3: mean and deviation of the loss at the end over the number of local steps, log-log."""
    weightings = {"Identical": result.identical, "Time-based": result.time_based}
    failures = " ".join(_describe_failure(name, curves) for name, curves in weightings.items())
    return Chart(
        name="local-steps",
        x=Axis("local steps $K$", "log", ticks=sorted({steps for curves in weightings.values() for steps in curves})),
        y=Axis("excess loss over the last 5% of updates", "log"),
        parts=[
            line
            for colour, (name, curves) in zip((BLUE, ORANGE), weightings.items(), strict=True)
            for line in _draw_mean_and_deviation(name, curves, result.minimum, colour)
        ],
        caption=(
            "Mean of the expected excess loss of problem (2) over the last 5% of the updates, and its standard "
            "deviation over the same updates; asynchronous FedAvg, F80, Dirichlet split, "
            f"$\\eta_l={result.step_size:.3g}$. {failures}"
        ),
        legend=Legend(size=8),
    )


def _draw_mean_and_deviation(name: str, curves: Mapping[int, Curve], minimum: float, colour: int) -> Iterator[Line]:
    stable = {steps: curve for steps, curve in curves.items() if not curve.diverges}
    means = [curve.final_loss - minimum for curve in stable.values()]
    deviations = [curve.fluctuation for curve in stable.values()]
    yield Line(list(stable), means, f"{name}, mean", colour, marker="o", size=4)
    yield Line(list(stable), deviations, f"{name}, deviation", colour, DASHED, marker="o", size=4, hollow=True)


def _describe_failure(name: str, curves: Mapping[int, Curve]) -> str:
    diverging = [steps for steps, curve in curves.items() if curve.diverges]
    return f"{name} diverges with $K={diverging[0]}$." if diverging else f"{name} never diverges here."

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
from fedtheory.sources.fraboni2022.exhibits.axes import CLOCK_TIME, EXCESS
from fedtheory.sources.fraboni2022.experiments.curves import Curve
from fedtheory.sources.fraboni2022.experiments.figure_2 import WeightsCompared
from fedtheory.sources.fraboni2022.experiments.figure_3 import LocalWorkCompared

Measure = Callable[[WeightsCompared, Curve], Array]


def draw_figure_2(results: Sequence[WeightsCompared]) -> list[Chart]:
    """Return Figure 2 (a) to (d): losses and their spread over the clients, of problem (2) and of the surrogate
    problem.
    """
    return [_draw_loss(results), _draw_spread(results), _draw_surrogate_loss(results), _draw_surrogate_spread(results)]


def _draw_loss(results: Sequence[WeightsCompared]) -> Chart:
    """Draw the loss of problem (2), and the limit for identical weights."""
    limits = [result.identical_limit - result.minimum for result in results]
    named = ", ".join(f"{limit:.3g} ({result.split})" for limit, result in zip(limits, results, strict=True))
    return Chart(
        name="federated-loss",
        x=CLOCK_TIME,
        y=Axis(EXCESS, "log"),
        parts=[
            *_draw_both_weightings(results, lambda result, curve: curve.loss - result.minimum),
            *(Level(limit, width=1) for limit in limits),
        ],
        caption=(
            "Excess loss of problem (2), asynchronous FedAvg, F80, one local step. Dotted: the loss at the minimiser "
            f"of the surrogate problem (10) of identical weights, {named}. {_list_step_sizes(results)}"
        ),
    )


def _draw_spread(results: Sequence[WeightsCompared]) -> Chart:
    """Draw the standard deviation over the clients of their expected losses."""
    return Chart(
        name="federated-spread",
        x=CLOCK_TIME,
        y=Axis(r"deviation of $\mathbb{E}\,\mathcal{L}_i(\theta^n)$ over $i$"),
        parts=list(_draw_both_weightings(results, lambda result, curve: curve.spread(result.importance))),
        caption=f"Standard deviation over the clients of their expected losses. {_list_step_sizes(results)}",
    )


def _draw_surrogate_loss(results: Sequence[WeightsCompared]) -> Chart:
    """Draw the loss of the surrogate problem (10) of identical weights."""
    return Chart(
        name="surrogate-loss",
        x=CLOCK_TIME,
        y=Axis(r"$\mathbb{E}\,\bar{\mathcal{L}}(\theta^n)-\bar{\mathcal{L}}(\bar{\theta})$", "log"),
        parts=list(
            _draw_both_weightings(results, lambda r, curve: curve.weighted_loss(r.shares) - r.surrogate_minimum)
        ),
        caption=(
            "Excess loss of the surrogate problem (10), in which clients count as often as they report. "
            f"{_list_step_sizes(results)}"
        ),
    )


def _draw_surrogate_spread(results: Sequence[WeightsCompared]) -> Chart:
    """Draw the weighted standard deviation over the clients of their expected losses."""
    return Chart(
        name="surrogate-spread",
        x=CLOCK_TIME,
        y=Axis(r"weighted deviation of $\mathbb{E}\,\mathcal{L}_i(\theta^n)$ over $i$"),
        parts=list(_draw_both_weightings(results, lambda result, curve: curve.spread(result.shares))),
        caption=(
            "Standard deviation over the clients of their expected losses, clients weighted as in the surrogate "
            f"problem (10). {_list_step_sizes(results)}"
        ),
    )


def _draw_both_weightings(results: Sequence[WeightsCompared], measure: Measure) -> Iterator[Line]:
    """Yield lines whose colours distinguish the weightings, and whose dashes distinguish the splits."""
    for dash, result in zip((DASHED, SOLID), results, strict=True):
        both = ((BLUE, "Identical", result.identical), (ORANGE, "Time-based", result.time_based))
        for colour, name, curve in both:
            yield Line(curve.times, measure(result, curve), f"{name}, {result.split}", colour, dash, width=1.2)


def _list_step_sizes(results: Sequence[WeightsCompared]) -> str:
    sizes = ", ".join(f"${result.step_size:.3g}$ ({result.split})" for result in results)
    return f"Step size, the best for identical weights: {sizes}."


def draw_figure_3(result: LocalWorkCompared) -> Chart:
    """Figure 3: mean and deviation of the loss at the end over the number of local steps, log-log."""
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

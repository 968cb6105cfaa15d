"""The figures of fraboni2022, Section 5, on the digits: exact expected losses over clock time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from fedtheory.arithmetic import Array
from fedtheory.sources.fraboni2022.experiments.curves import Curve
from fedtheory.sources.fraboni2022.experiments.figure_2 import WeightsCompared
from fedtheory.sources.fraboni2022.experiments.figure_3 import LocalWorkCompared
from fedtheory.sources.fraboni2022.experiments.figure_4 import SchemesCompared
from report.figures.style import BLACK, BLUE, DASHES, GREEN, ORANGE, RED, Figure, drawing, finish

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TIME = "clock time $t$, in updates of the slowest client"
_EXCESS = r"$\mathbb{E}\,\mathcal{L}(\theta^n)-\mathcal{L}(\theta^*)$"
_COLOURS = {"synchronous": BLUE, "FedFix-0.5": GREEN, "asynchronous": RED}
_HEADROOM = 4
"""How far above the start the axis of a diverging run goes."""


def federated_loss(slug: str, results: Sequence[WeightsCompared]) -> Figure:
    """Figure 2 (a): the loss of problem (2) over time, and where identical weights lead."""
    with drawing() as (canvas, axes):
        _both_weightings(axes, results, lambda result, curve: curve.loss - result.minimum)
        for result in results:
            axes.axhline(result.identical_limit - result.minimum, color=BLACK, linestyle=":", linewidth=1)
        axes.set_yscale("log")
        axes.set_ylabel(_EXCESS)
        caption = (
            "Excess loss of problem (2), asynchronous FedAvg, F80, one local step. Dotted: the loss at the minimiser "
            f"of the surrogate problem (10) of identical weights, {_limits(results)}. {_step_sizes(results)}"
        )
        return finish(canvas, f"{slug}-federated-loss", caption)


def federated_spread(slug: str, results: Sequence[WeightsCompared]) -> Figure:
    """Figure 2 (b): the standard deviation over the clients of their expected losses."""
    with drawing() as (canvas, axes):
        _both_weightings(axes, results, lambda result, curve: curve.spread(result.importance))
        axes.set_ylabel(r"deviation of $\mathbb{E}\,\mathcal{L}_i(\theta^n)$ over $i$")
        caption = f"Standard deviation over the clients of their expected losses. {_step_sizes(results)}"
        return finish(canvas, f"{slug}-federated-spread", caption)


def surrogate_loss(slug: str, results: Sequence[WeightsCompared]) -> Figure:
    """Figure 2 (c): the loss of the surrogate problem (10) of identical weights over time."""
    with drawing() as (canvas, axes):
        _both_weightings(
            axes, results, lambda result, curve: curve.weighted_loss(result.shares) - result.surrogate_minimum
        )
        axes.set_yscale("log")
        axes.set_ylabel(r"$\mathbb{E}\,\bar{\mathcal{L}}(\theta^n)-\bar{\mathcal{L}}(\bar{\theta})$")
        caption = (
            "Excess loss of the surrogate problem (10), in which clients count as often as they report. "
            f"{_step_sizes(results)}"
        )
        return finish(canvas, f"{slug}-surrogate-loss", caption)


def surrogate_spread(slug: str, results: Sequence[WeightsCompared]) -> Figure:
    """Figure 2 (d): the weighted standard deviation over the clients of their expected losses."""
    with drawing() as (canvas, axes):
        _both_weightings(axes, results, lambda result, curve: curve.spread(result.shares))
        axes.set_ylabel(r"weighted deviation of $\mathbb{E}\,\mathcal{L}_i(\theta^n)$ over $i$")
        caption = (
            "Standard deviation over the clients of their expected losses, clients weighted as in the surrogate "
            f"problem (10). {_step_sizes(results)}"
        )
        return finish(canvas, f"{slug}-surrogate-spread", caption)


def _both_weightings(
    axes: Axes, results: Sequence[WeightsCompared], measure: Callable[[WeightsCompared, Curve], Array]
) -> None:
    """Colours tell the weightings apart, dashes the splits."""
    for dash, result in zip(("--", "-"), results, strict=True):
        for colour, name, curve in (
            (BLUE, "Identical", result.identical),
            (ORANGE, "Time-based", result.time_based),
        ):
            label = f"{name}, {result.split}"
            axes.plot(curve.times, measure(result, curve), color=colour, linestyle=dash, linewidth=1.2, label=label)
    axes.set_xlabel(_TIME)
    axes.legend()


def _limits(results: Sequence[WeightsCompared]) -> str:
    return ", ".join(f"{result.identical_limit - result.minimum:.3g} ({result.split})" for result in results)


def _step_sizes(results: Sequence[WeightsCompared]) -> str:
    sizes = ", ".join(f"${result.step_size:.3g}$ ({result.split})" for result in results)
    return f"Step size, the best for identical weights: {sizes}."


def over_local_steps(slug: str, result: LocalWorkCompared) -> Figure:
    """Figure 3: mean and deviation of the loss at the end over the number of local steps, log-log."""
    weightings = {"Identical": result.identical, "Time-based": result.time_based}
    with drawing() as (canvas, axes):
        for colour, (name, curves) in zip((BLUE, ORANGE), weightings.items(), strict=True):
            stable = {steps: curve for steps, curve in curves.items() if not curve.diverges}
            means = [curve.final_loss - result.minimum for curve in stable.values()]
            deviations = [curve.fluctuation for curve in stable.values()]
            axes.loglog(list(stable), means, "-o", color=colour, markersize=4, label=f"{name}, mean")
            style = {"color": colour, "markersize": 4, "markerfacecolor": "w"}
            axes.loglog(list(stable), deviations, "--o", label=f"{name}, deviation", **style)
        ticks = sorted({steps for curves in weightings.values() for steps in curves})
        axes.set_xticks(ticks, [str(steps) for steps in ticks])
        axes.set_xticks([], minor=True)
        axes.set_xlabel("local steps $K$")
        axes.set_ylabel("excess loss over the last 5% of updates")
        axes.legend(fontsize=8)
    caption = (
        "Mean of the expected excess loss of problem (2) over the last 5% of the updates, and its standard deviation "
        f"over the same updates; asynchronous FedAvg, F80, Dirichlet split, $\\eta_l={result.step_size:.3g}$. "
        f"{' '.join(_failure(name, curves) for name, curves in weightings.items())}"
    )
    return finish(canvas, f"{slug}-local-steps", caption)


def _failure(name: str, curves: Mapping[int, Curve]) -> str:
    diverging = [steps for steps, curve in curves.items() if curve.diverges]
    return f"{name} diverges with $K={diverging[0]}$." if diverging else f"{name} never diverges here."


def at_best_step_sizes(slug: str, compared: SchemesCompared) -> Figure:
    """Figure 4: excess loss over time, each scheme at its best step size."""
    curves = {name: tuned.best for name, tuned in compared.schemes.items()}
    finals = ", ".join(f"{name} {curve.final_loss - compared.minimum:.3g}" for name, curve in curves.items())
    caption = (
        f"Excess loss of problem (2) under {compared.hardware} on the {compared.split} split, each scheme at the step "
        f"size with the smallest loss at the end. At the end: {finals}."
    )
    return _schemes(f"{slug}-{compared.split.lower()}-{compared.hardware.lower()}", compared, curves, caption)


def at_step_size(slug: str, compared: SchemesCompared, step_size: float) -> Figure:
    """Figures 5 to 7: excess loss over time, all schemes at one step size as far as it was tried."""
    curves = {
        name: tuned.by_step_size[step_size]
        for name, tuned in compared.schemes.items()
        if step_size in tuned.by_step_size
    }
    diverging = [name for name, curve in curves.items() if curve.diverges]
    words = f" Diverging: {', '.join(diverging)}." if diverging else ""
    caption = (
        f"Excess loss of problem (2) under {compared.hardware} on the {compared.split} split, all schemes at "
        f"$\\eta_l={step_size:.3g}$.{words}"
    )
    name = f"{slug}-{compared.split.lower()}-{compared.hardware.lower()}-{step_size:.3g}".replace(".", "-")
    return _schemes(name, compared, curves, caption)


def _schemes(name: str, compared: SchemesCompared, curves: Mapping[str, Curve], caption: str) -> Figure:
    with drawing() as (canvas, axes):
        for dash, (scheme, curve) in zip(DASHES, curves.items(), strict=False):
            label = rf"{scheme}, $\eta_l={curve.step_size:.2g}$"
            excess = curve.loss - compared.minimum
            style = {"color": _COLOURS[scheme], "drawstyle": "steps-post", "linewidth": 1.4, "linestyle": dash}
            axes.semilogy(curve.times, excess, label=label, **style)
        start = max(float(curve.loss[0]) - compared.minimum for curve in curves.values())
        axes.set_ylim(top=_HEADROOM * start)
        axes.set_xlabel(_TIME)
        axes.set_ylabel(_EXCESS)
        axes.legend()
    return finish(canvas, name, caption)


def over_step_sizes(slug: str, compared: SchemesCompared) -> Figure:
    """Figures 5 to 7 in one: the loss at the end over the step size, log-log; a cross where a scheme diverges."""
    with drawing() as (canvas, axes):
        for number, (scheme, tuned) in enumerate(compared.schemes.items()):
            stable = [curve for curve in tuned.curves if not curve.diverges]
            losses = [curve.final_loss - compared.minimum for curve in stable]
            style = {"color": _COLOURS[scheme], "linestyle": DASHES[number]}
            axes.loglog([curve.step_size for curve in stable], losses, marker="o", markersize=4, label=scheme, **style)
            for curve in tuned.curves[len(stable) :]:
                # One above the other, as schemes may diverge at the same step size.
                axes.loglog(curve.step_size, 1.5**number, marker="x", color=_COLOURS[scheme], markersize=8)
        axes.set_xlabel(r"local step size $\eta_l$")
        axes.set_ylabel("excess loss at the end")
        axes.legend()
    caption = (
        f"Excess loss of problem (2) over the last 5% of the updates under {compared.hardware} on the "
        f"{compared.split} split, for each step size of the search; a cross: the scheme diverges from there on."
    )
    return finish(canvas, f"{slug}-{compared.split.lower()}-{compared.hardware.lower()}-step-sizes", caption)

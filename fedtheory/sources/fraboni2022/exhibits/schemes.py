"""The charts of Figures 4 to 7: synchronous FedAvg, FedFix and asynchronous FedAvg, over clock time and step sizes."""

from __future__ import annotations

from fedtheory.language.exhibits import Axis, Chart, Line, Mark, Part
from fedtheory.sources.fraboni2022.exhibits.chart_style import CLOCK_TIME, EXCESS, SCHEME_COLOURS
from fedtheory.sources.fraboni2022.experiments.figure_4 import SchemesCompared

_HEADROOM = 4
"""Factor by which the axis of a diverging run extends above its start."""


def draw_figure_4(compared: SchemesCompared, setting: str) -> Chart:
    """Return Figure 4: excess loss over time, each scheme at its best step size."""
    curves = {name: tuned.best for name, tuned in compared.schemes.items()}
    finals = ", ".join(f"{name} {curve.final_loss - compared.minimum:.3g}" for name, curve in curves.items())
    start = max(float(curve.loss[0]) - compared.minimum for curve in curves.values())
    lines = []
    for dash, (scheme, curve) in enumerate(curves.items()):
        label, excess = rf"{scheme}, $\eta_l={curve.step_size:.2g}$", curve.loss - compared.minimum
        lines.append(Line(curve.times, excess, label, SCHEME_COLOURS[scheme], dash, width=1.4, steps=True))
    return Chart(
        name=_name_chart(compared, setting),
        x=CLOCK_TIME,
        y=Axis(EXCESS, "log", high=_HEADROOM * start),
        parts=lines,
        caption=(
            f"Excess loss of problem (2) under {compared.hardware} on the {compared.split} split, each scheme at the "
            f"step size with the smallest loss at the end. At the end: {finals}."
        ),
    )


def draw_figures_5_to_7(compared: SchemesCompared, setting: str) -> Chart:
    """Return Figures 5 to 7 in one: the loss at the end over the step size, with a cross where a scheme diverges."""
    parts: list[Part] = []
    for number, (scheme, tuned) in enumerate(compared.schemes.items()):
        stable = [curve for curve in tuned.curves if not curve.diverges]
        sizes, losses = [curve.step_size for curve in stable], [curve.final_loss - compared.minimum for curve in stable]
        parts.append(Line(sizes, losses, scheme, SCHEME_COLOURS[scheme], number, marker="o", size=4))
        # The crosses have different heights, because several schemes may diverge at the same step size.
        height = 1.5**number
        diverging = tuned.curves[len(stable) :]
        parts += [
            Mark(curve.step_size, height, colour=SCHEME_COLOURS[scheme], marker="x", size=8) for curve in diverging
        ]
    return Chart(
        name=f"{_name_chart(compared, setting)}-step-sizes",
        x=Axis(r"local step size $\eta_l$", "log"),
        y=Axis("excess loss at the end", "log"),
        parts=parts,
        caption=(
            f"Excess loss of problem (2) over the last 5% of the updates under {compared.hardware} on the "
            f"{compared.split} split, for each step size of the search; a cross: the scheme diverges from there on."
        ),
    )


def _name_chart(compared: SchemesCompared, setting: str) -> str:
    return f"{setting.replace(' ', '-')}-{compared.split.lower()}-{compared.hardware.lower()}"

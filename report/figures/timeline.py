"""Draw the timeline of a schedule: clients' work and waiting, and the server's updates over clock time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fedtheory.arithmetic import plain_float
from fedtheory.federation.clock import Schedule
from report.figures.style import BLACK, Figure, choose_colour, finish, open_canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_UPDATES = 12
"""Largest number of updates that are drawn; more cannot be distinguished."""
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class _Work:
    """One piece of work of a client."""

    client: int
    version: int
    """Index rho of the model from which the work starts."""
    begin: float
    done: float
    reported: float | None
    """Time at which the server uses the work; None if that is after the end of the picture."""


def draw_timeline(name: str, schedule: Schedule, update_times: Sequence[object], words: str) -> Figure:
    """Draw bars from receiving a model to finishing the work on it, pale while waiting; server updates are lines."""
    drawn = Schedule(schedule.updates[:MOST_UPDATES])
    times = [plain_float(time) for time in drawn.times]
    durations = [plain_float(time) for time in update_times]
    clients = len(durations)
    with open_canvas() as (canvas, axes):
        for work in _list_pieces(drawn, times, durations):
            _draw(axes, work, clients - 1 - work.client, times[-1])
        for time, versions in _list_updates(times):
            axes.axvline(time, color=BLACK, linewidth=0.6, linestyle=":")
            axes.plot(time, clients - 0.3, marker="v", color=BLACK, markersize=4)
            axes.text(time, clients, versions, ha="center", va="bottom", fontsize=7)
        axes.set_yticks([*range(clients), clients], [f"client {clients - n}" for n in range(clients)] + ["server"])
        axes.set_ylim(-0.6, clients + 0.7)
        axes.set_xlim(0, times[-1] * 1.03)
        axes.grid(visible=False)
        axes.set_xlabel("clock time $t$")
    caption = (
        "Schedule of the clients. A bar is the work of a client on one model, labelled with the model's number; it is "
        f"pale while the client waits. A dot is a contribution, a triangle the server update that uses it. {words}"
    )
    return finish(canvas, f"{name}-timeline", caption)


def _draw(axes: Axes, work: _Work, row: int, last: float) -> None:
    """Draw one bar, its waiting time, the index of its model and its contribution."""
    own = choose_colour(work.client)
    end = last if work.reported is None else work.reported
    busy = min(work.done, end)
    axes.barh(row, busy - work.begin, left=work.begin, height=0.5, color=own, edgecolor="white")
    if end > work.done:
        axes.barh(row, end - work.done, left=work.done, height=0.5, color=own, alpha=0.25)
    if busy - work.begin > last / 16:
        # Formulas are parsed for each figure: that would take longer than all else in it.
        label = "θ" + str(work.version).translate(_SUPERSCRIPTS)
        axes.text((work.begin + busy) / 2, row, label, ha="center", va="center", fontsize=8, color="white")
    if work.reported is not None:
        axes.plot(end, row, marker="o", color=BLACK, markersize=3)


def _list_updates(times: Sequence[float]) -> list[tuple[float, str]]:
    """Return the different update times, with the models computed then."""
    made: dict[float, list[int]] = {}
    for version, time in enumerate(times[1:], start=1):
        made.setdefault(time, []).append(version)
    return [
        (time, str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}")
        for time, numbers in made.items()
    ]


def _list_pieces(schedule: Schedule, times: Sequence[float], durations: Sequence[float]) -> list[_Work]:
    """Return all pieces of work that begin within a schedule."""
    pieces = []
    for client, duration in enumerate(durations):
        version = 0
        for n in np.flatnonzero(schedule.participates[:, client]).tolist():
            pieces.append(_Work(client, version, times[version], times[version] + duration, times[n + 1]))
            version = n + 1
        if times[version] < times[-1]:
            pieces.append(_Work(client, version, times[version], times[version] + duration, None))
    return pieces

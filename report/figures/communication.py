"""Draw the messages of one aggregation over the number of workers."""

from __future__ import annotations

from fractions import Fraction

from fedtheory.federation.communication import (
    busiest_load,
    cross_device,
    most_sent_by_a_worker,
    parameter_server,
    ring_all_reduce,
)
from report.figures.style import BLUE, ORANGE, SKY, Figure, finish, open_canvas

WORKERS = (2, 4, 8, 16, 32, 64, 128, 256)
_LINE = tuple(2**power for power in range(1, 14))


def draw_over_workers(slug: str) -> Figure:
    """Draw the load of the busiest node of a parameter server and of a ring, in models: counted and by formula,
    log-log.
    """
    one = Fraction(1)
    with open_canvas() as (canvas, axes):
        axes.axvspan(*cross_device().devices_per_round, color=SKY, alpha=0.25, linewidth=0)
        axes.loglog(_LINE, [2 * n for n in _LINE], color=BLUE, label=r"parameter server, $2N$")
        axes.loglog(_LINE, [2 * (n - 1) / n for n in _LINE], "--", color=ORANGE, label=r"ring, each worker, $2(N-1)/N$")
        servers = [float(busiest_load(parameter_server(n, one))) for n in WORKERS]
        rings = [float(most_sent_by_a_worker(ring_all_reduce(n, one))) for n in WORKERS]
        axes.loglog(WORKERS, servers, "o", color=BLUE, markersize=4)
        axes.loglog(WORKERS, rings, "s", color=ORANGE, markersize=4)
        axes.set_xlabel("workers $N$")
        axes.set_ylabel("load of one aggregation, in models")
        axes.legend(loc="upper left")
    caption = (
        "One aggregation through a parameter server loads the server with $2Nb$ numbers; around a ring every worker "
        "sends $2(N-1)b/N$, at the price of $2(N-1)$ phases in a row.  Points are counted message by message, lines "
        "are the formulas; the band is the 50 to 5000 devices that cross-device federations select in a round."
    )
    return finish(canvas, f"{slug}-communication", caption)

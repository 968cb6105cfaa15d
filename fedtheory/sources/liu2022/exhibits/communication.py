"""The load of one aggregation over the number of workers: through a parameter server, and around a ring."""

from __future__ import annotations

from fractions import Fraction

from fedtheory.language.claim import Claim
from fedtheory.language.exhibits import BLUE, DASHED, ORANGE, SKY, Axis, Band, Chart, Display, Line
from fedtheory.sources.liu2022.messages import (
    compute_busiest_load,
    compute_most_sent,
    cross_device,
    list_ring_messages,
    list_server_messages,
)

WORKERS = (2, 4, 8, 16, 32, 64, 128, 256)
"""Numbers of workers for which messages are counted."""
_LINE = tuple(2**power for power in range(1, 14))


def show_loads(_claim: Claim) -> Display:
    """Show the load of the busiest node of a parameter server and of a ring, in models, counted and by formula."""
    one = Fraction(1)
    servers = [float(compute_busiest_load(list_server_messages(n, one))) for n in WORKERS]
    rings = [float(compute_most_sent(list_ring_messages(n, one))) for n in WORKERS]
    by_server, by_ring = [2 * n for n in _LINE], [2 * (n - 1) / n for n in _LINE]
    devices = cross_device().devices_per_round
    chart = Chart(
        name="communication",
        x=Axis("workers $N$", "log"),
        y=Axis("load of one aggregation, in models", "log"),
        parts=[
            Band(devices, [by_ring[0]] * 2, [by_server[-1]] * 2, colour=SKY, opacity=0.25),
            Line(_LINE, by_server, "parameter server, $2N$", BLUE),
            Line(_LINE, by_ring, "ring, each worker, $2(N-1)/N$", ORANGE, DASHED),
            Line(WORKERS, servers, colour=BLUE, dash=None, marker="o", size=4),
            Line(WORKERS, rings, colour=ORANGE, dash=None, marker="s", size=4),
        ],
        caption="One aggregation through a parameter server loads the server with $2Nb$ numbers; around a ring every "
        "worker sends $2(N-1)b/N$, at the price of $2(N-1)$ phases in a row.  Points are counted message by message, "
        "lines are the formulas; the band is the 50 to 5000 devices that cross-device federations select in a round.",
    )
    return Display([chart])

"""Client times of the hardware scenarios F0 to F80."""

from __future__ import annotations

from flint import fmpq


def spread_times(clients: int, percent: int) -> tuple[fmpq, ...]:
    """Return client times of the scenario F`percent`: evenly spread up to the slowest client's time 1.

    The fastest client needs ``1 - percent/100`` of it, so that with F80 it
    reports five times as often, and with F0 all times are equal (fraboni2022, Section 5.1).
    """
    lead, last = fmpq(percent, 100), clients - 1
    return tuple(1 - lead * fmpq(last - client, max(last, 1)) for client in range(clients))

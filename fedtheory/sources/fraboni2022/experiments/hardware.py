"""Client times of the hardware scenarios F0 to F80."""

from __future__ import annotations

from flint import fmpq


def spread_times(clients: int, percent: int) -> tuple[fmpq, ...]:
    """Return client times of the scenario F`percent`: evenly spread up to the slowest client's time 1.

    The fastest client needs ``1 - percent/100`` of it, so that with F80 it
    reports five times as often, and with F0 all times are equal (fraboni2022, Section 5.1).
    """
    if clients == 1:
        return (fmpq(1),)
    lead = fmpq(percent, 100)
    return tuple(1 - lead * fmpq(clients - 1 - client, clients - 1) for client in range(clients))

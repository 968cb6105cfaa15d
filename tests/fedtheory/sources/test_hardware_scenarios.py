"""Client times of the hardware scenarios of fraboni2022."""

from __future__ import annotations

from flint import fmpq

from fedtheory.federation.clock import Asynchronous, Clock
from fedtheory.sources.fraboni2022.experiments.hardware import spread_times


def test_spread_times() -> None:
    """F0 has equal times; F80 is evenly spread, and the fastest client is five times as fast as the slowest."""
    assert spread_times(4, 0) == (1, 1, 1, 1)
    assert spread_times(5, 80) == (fmpq(1, 5), fmpq(2, 5), fmpq(3, 5), fmpq(4, 5), 1)
    assert spread_times(1, 80) == (1,)
    counts = Clock(Asynchronous(), spread_times(5, 80)).schedule(200)
    whole = counts.times.index(1)
    assert counts.participates[:whole].sum(axis=0).tolist() == [5, 2, 1, 1, 1]

"""Work on several processes comes to its end, whatever happens to a worker."""

from __future__ import annotations

import time
import warnings

import pytest

from verify.processes import as_finished, in_order

MORE = 150_000_000
"""Bytes by which a worker grows with each task; joblib replaces one that has grown by 300 MB."""
KEPT: list[bytearray] = []


def grow(number: int) -> int:
    """Keep more memory each time; a worker is weighed once a second."""
    KEPT.append(bytearray(MORE))
    time.sleep(0.4)
    return number


def test_results_come_in_the_order_of_the_tasks() -> None:
    """In this process and in others."""
    for jobs in (1, 2):
        assert list(in_order(divmod, [(7, 2), (9, 4)], jobs)) == [(3, 1), (2, 1)]
        assert sorted(as_finished(divmod, [(7, 2), (9, 4)], jobs)) == [(2, 1), (3, 1)]


@pytest.mark.timeout(120)
def test_a_worker_that_grew_is_replaced_although_warnings_are_errors() -> None:
    """All results are there; without care the wait for them would never end."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sorted(as_finished(grow, [(n,) for n in range(14)], 2)) == list(range(14))

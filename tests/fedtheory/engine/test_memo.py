"""Values that are cached and shared."""

import pytest

from fedtheory.engine.memo import Memo


def test_a_value_is_computed_once() -> None:
    """The second request returns the cached value, also if it is None."""
    memo, calls = Memo(), []

    def compute() -> None:
        calls.append(1)

    assert memo.compute_once("key", compute) is None
    assert memo.compute_once("key", compute) is None
    assert len(calls) == 1
    assert list(memo.values()) == [None]


def test_a_refused_computation_is_asked_again() -> None:
    """A computation that raises an error caches nothing."""
    memo = Memo()
    with pytest.raises(ZeroDivisionError):
        memo.compute_once("key", lambda: 1 // 0)
    assert "key" not in memo
    assert memo.compute_once("key", lambda: 7) == 7


def test_a_stored_value_needs_no_computation() -> None:
    """Values of a joint computation are found by each of their keys."""
    memo = Memo()
    memo.store(("together", 1), 5)
    assert memo.compute_once(("together", 1), lambda: 1 // 0) == 5

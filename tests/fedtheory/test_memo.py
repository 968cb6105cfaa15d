"""Values shared by all that ask for them."""

import pytest

from fedtheory.engine.memo import Memo


def test_a_value_is_computed_once() -> None:
    """The second question is answered by the first computation, also where that was a None."""
    memo, calls = Memo(), []

    def compute() -> None:
        calls.append(1)

    assert memo.compute_once("key", compute) is None
    assert memo.compute_once("key", compute) is None
    assert len(calls) == 1
    assert list(memo.values()) == [None]


def test_a_refused_computation_is_asked_again() -> None:
    """A computation that raises leaves nothing that a later question could take for a value."""
    memo = Memo()
    with pytest.raises(ZeroDivisionError):
        memo.compute_once("key", lambda: 1 // 0)
    assert "key" not in memo
    assert memo.compute_once("key", lambda: 7) == 7


def test_a_stored_value_needs_no_computation() -> None:
    """Values that were computed together are found by each of their keys."""
    memo = Memo()
    memo.store(("together", 1), 5)
    assert memo.compute_once(("together", 1), lambda: 1 // 0) == 5

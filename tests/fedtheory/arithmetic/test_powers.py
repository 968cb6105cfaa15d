"""Powers of local steps in blocks agree with single powers, for all sizes of blocks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from flint import arb

from fedtheory.arithmetic import CERTIFIED, FLOAT, RATIONAL, Array
from fedtheory.arithmetic.enclosures import convert_to_balls
from fedtheory.engine.moments import powers as module
from fedtheory.engine.moments.powers import accumulate_noise, iterate_powers, raise_each

STEPS = RATIONAL.array([[["1", "0"], ["1/3", "1/2"]], [["1", "0"], ["-2", "3/4"]], [["1", "0"], ["0", "1"]]])
NOISES = RATIONAL.array([[["1", "1/2"], ["1/2", "2"]], [["0", "0"], ["0", "0"]], [["3", "-1"], ["-1", "1"]]])


WHOLE = RATIONAL.array([[["1", "0"], ["3", "2"]], [["1", "0"], ["-2", "-1"]], [["1", "0"], ["0", "1"]]])


@pytest.mark.parametrize("steps", [STEPS, FLOAT.array(WHOLE)], ids=["rationals", "floats without rounding"])
@pytest.mark.parametrize("most", [1, 24, 48, 100, 10_000])
@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 9])
def test_each_power_is_a_step_after_the_one_before(
    count: int, most: int, steps: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST", most)
    blocks = list(iterate_powers(steps, count))
    assert all(len(block) == 1 or block.size <= most for block in blocks)
    found = np.concatenate(blocks)
    assert len(found) == count
    assert (found[0] == np.eye(2, dtype=int)).all()
    assert all((after == steps @ before).all() for before, after in pairwise(found))


@pytest.mark.parametrize("counts", [(0, 0, 0), (1, 1, 1), (5, 5, 5), (3, 0, 7), (8, 2, 1)])
def test_accumulated_sums_of_steps(counts: tuple[int, int, int]) -> None:
    """The accumulated sum agrees term by term, for different numbers of steps."""
    expected = NOISES - NOISES
    for number, power in enumerate(np.concatenate(list(iterate_powers(STEPS, 9)))):
        term = power @ NOISES @ power.transpose(0, 2, 1)
        expected = expected + np.where((number < np.array(counts))[:, None, None], term, 0 * term)
    assert (accumulate_noise(STEPS, NOISES, np.array(counts)) == expected).all()


@pytest.mark.parametrize("counts", [(0, 0, 0), (1, 1, 1), (5, 5, 5), (3, 0, 7)])
def test_each_map_raised_to_its_own_power(counts: tuple[int, int, int]) -> None:
    """Each map is raised to its own power, exactly in rationals, and in enclosures."""
    expected = np.stack(
        [power[client] for client, power in enumerate(np.concatenate(list(iterate_powers(STEPS, 8)))[[*counts]])]
    )
    assert (raise_each(STEPS, np.array(counts)) == expected).all()
    found = raise_each(convert_to_balls(STEPS), np.array(counts))
    assert all((arb(ball) - value).contains(0) for ball, value in zip(found.flat, expected.flat, strict=True))


def test_enclosed_powers_are_doubled() -> None:
    """Enclosed powers are computed by repeated squaring, so that errors grow with log k, not with k."""
    step = RATIONAL.array([[["1/2", "-1/2", "1/2"], ["-1/2", "1/2", "-1/2"], ["1/2", "-1/2", "1/2"]]]) / 2
    blocks = list(iterate_powers(CERTIFIED.array(step - RATIONAL.identity(3) / 4), 1000))
    assert len(blocks) == 1
    # The largest absolute eigenvalue is one half; the entries of a row sum to one.
    assert blocks[0][-1].radius.max() < 1e-9  # type: ignore[attr-defined]

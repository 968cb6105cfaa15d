"""Quantities at local steps, and constants of assumptions, are computed once per run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import numpy as np
import pytest

from fedtheory.engine.constants import Bound
from fedtheory.engine.frames import Frame, list_frames_at, list_stacks_at
from fedtheory.engine.region import Everywhere
from fedtheory.engine.run import Run
from fedtheory.language import quantities as q
from fedtheory.language.assumptions.assumption import Boundedness
from fedtheory.language.quantities.measuring.expectations import AtSteps, measure_several
from fedtheory.language.quantities.quantity import assumed
from verify.instances import Instance

AT_STEPS = [q.mean_square_gradient, q.square_mean_gradient, q.past_mean_square_gradient, q.stochastic_gradient_sq]


def _run() -> Run:
    return Instance("small schedules", 7).run()


def test_quantities_at_steps_are_found_in_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """The frames are built once, and values equal those of single computations."""
    passes = []

    def counted(place: str, run: Run) -> Iterable[Frame]:
        passes.append(place)
        return list_stacks_at(place, run)

    monkeypatch.setattr("fedtheory.language.quantities.measuring.expectations.list_stacks_at", counted)
    together = _run()
    measure_several([*AT_STEPS, q.smoothness], together)
    found = [quantity.on(together) for quantity in AT_STEPS]
    assert passes == ["step"]
    assert [values.tolist() for values in found] == [quantity.on(_run()).tolist() for quantity in AT_STEPS]
    measure_several(AT_STEPS, together)
    assert len(passes) == 1 + len(AT_STEPS)


def test_a_bound_is_found_once() -> None:
    """A bound is computed once for the assumption, the constant, and its region."""
    asked = []

    def bound(run: Run) -> Bound:
        asked.append(run)
        return Bound(run.arithmetic.number(4, "the bound"), Everywhere())

    assumption = Boundedness("bounded", "it is bounded", bound)
    constant = assumed("bound", "B", "the bound", assumption)
    run = _run()
    assert assumption.failure(run) is None
    assert constant.on(run) == 4
    assert constant.region_on(run) == Everywhere()
    assert asked == [run]


@pytest.mark.parametrize("number", [1, 3, 4])
def test_quantities_of_random_weights_are_found_in_one_stack(number: int) -> None:
    """Values at all steps together equal those at one step after another, also if the weights of rounds are random."""
    run = Instance("sampled weights", number).run()
    measure_several(AT_STEPS, run)
    for quantity in AT_STEPS:
        value = cast(AtSteps, quantity.measure).value
        apart = np.concatenate([value(frame) for frame in list_frames_at("step", run)])
        together = run.memo.compute_once(value, lambda: np.zeros(0))
        assert (apart.reshape(together.shape) == together).all()

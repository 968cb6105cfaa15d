"""Several local steps as one frame have the values of each, in the same order."""

from __future__ import annotations

import numpy as np
import pytest

from fedtheory.engine.frames import (
    Frame,
    StackedFrame,
    Vector,
    list_frames_at,
    list_stacks_at,
    stack_by_kind,
)
from fedtheory.engine.frames.path import PathFrame
from fedtheory.engine.objectives import Objectives
from fedtheory.engine.run import Run
from fedtheory.errors import Misplaced
from fedtheory.language.claim_places import iterate_sites, list_stacked_sites
from fedtheory.language.families import Instance
from fedtheory.language.registry import find
from verify.check.links import compile_relations
from verify.instances import FAMILIES

RUNS = [("small schedules", 7), ("fixed intervals", 5), ("sampled weights", 3), ("turns of clients", 7)]


def _vectors(frame: Frame) -> list[Vector]:
    names = ("local", "noise", "average", "server", "virtual", "next_virtual", "gradient", "next_local", "received")
    built = [frame.build_vector(lambda at, name=name: getattr(at, name)) for name in names]  # type: ignore[misc]
    mixed = built[0] + built[3].scale(-frame.arithmetic.identity(1)[0])
    gradients = [objectives.gradient(frame, mixed) for objectives in _objectives(frame)]
    return [*built, mixed, frame.aggregate(mixed), mixed.average(frame.importances), *gradients]


def _objectives(frame: Frame) -> list[Objectives]:
    return [frame.client_objectives, frame.objectives(lambda run: run.mean_objective)]


def _numbers(frame: Frame) -> np.ndarray:
    """Return all inner products, and averages of values, at a frame, (products, places, ...)."""
    vectors = _vectors(frame)
    products = [frame.expand_axes(frame.inner(left, right)) for left in vectors for right in vectors]
    products += [frame.expand_axes(each.value(frame, vector)) for vector in vectors for each in _objectives(frame)]
    found = np.stack(np.broadcast_arrays(*products))
    return found[:, None] if frame.axes[0] == "outcome" else found


@pytest.mark.parametrize("place", ["step", "path"])
@pytest.mark.parametrize(("family", "number"), RUNS)
def test_a_stack_agrees_with_its_members(place: str, family: str, number: int) -> None:
    run = Instance(family, number).run()
    single, stacked = list(list_frames_at(place, run)), list(list_stacks_at(place, run))
    assert len(stacked) < len(single)
    expected = np.concatenate([_numbers(frame) for frame in single], axis=1)
    found = np.concatenate([_numbers(frame) for frame in stacked], axis=1)
    assert (expected == found).all()


@pytest.mark.parametrize("place", ["step", "path"])
def test_descents_of_a_stack_are_those_of_its_members(place: str) -> None:
    """All local steps of a round share one descent, with the values of single places."""
    run = Instance("small quadratics", 4).run()
    for centralised in (lambda frame: frame.centralised, lambda frame: frame.next_centralised):
        (stack,) = list_stacks_at(place, run)
        single = [frame.build_vector(centralised) for frame in list_frames_at(place, run)]
        expected = [
            frame.inner(at, at).ravel()[0] for frame, at in zip(list_frames_at(place, run), single, strict=True)
        ]
        found = stack.build_vector(centralised)
        assert stack.inner(found, found).ravel().tolist() == expected
        assert len(set(expected)) > 1


def test_steps_of_a_path_are_one_stack_in_their_order() -> None:
    run = Instance("small quadratics", 4).run()
    (stack,) = list_stacks_at("path", run)
    assert isinstance(stack, StackedFrame)
    assert all(isinstance(member, PathFrame) for member in stack.members)
    assert [member.index for member in stack.members] == [frame.index for frame in list_frames_at("path", run)]


def test_outcomes_of_random_weights_have_an_axis_of_a_stack() -> None:
    """Moments of selected clients differ between outcomes, and their average is that of single places."""
    run = Instance("sampled weights", 4).run()
    (stack,) = list_stacks_at("step", run)
    assert isinstance(stack, StackedFrame)
    single = list(list_frames_at("step", run))
    assert stack.axes[:2] == ("place", "outcome")
    found = stack.inner(stack.next_virtual, stack.next_virtual)
    each = [frame.inner(frame.next_virtual, frame.next_virtual) for frame in single]
    assert found.tolist() == [values.tolist() for values in each]
    assert any(len(set(values.ravel().tolist())) > 1 for values in each)
    averages = [frame.take_expectation(values)[0].tolist() for frame, values in zip(single, each, strict=True)]
    assert stack.take_expectation(found)[:, 0].tolist() == averages


FAMILIES_OF_ONE_SHAPE = [
    ("small schedules", "step"),
    ("small schedules", "path"),
    ("sampled weights", "step"),
    ("one local step", "round"),
]


@pytest.mark.parametrize(("family", "place"), FAMILIES_OF_ONE_SHAPE)
def test_places_of_several_runs_agree_with_single_ones(family: str, place: str) -> None:
    """Inner products, gradients, averages and server steps are those of each run."""
    made = [instance.run() for instance in FAMILIES[family].instances[:24]]
    runs = [run for run in made if run.problem.hessians.shape == made[0].problem.hessians.shape]
    frames = [frame for run in runs for frame in list_frames_at(place, run) if frame.alike is not None]
    stacks = stack_by_kind(frames)
    assert any(len(stack.runs) > 1 for stack, _ in stacks)
    for stack, places in stacks:
        found = _numbers(stack)
        for at, number in enumerate(places):
            assert (found[:, at] == _numbers(frames[number])[:, 0]).all()


def test_quantities_of_a_run_are_refused_for_stacks() -> None:
    runs = [Instance("by hand", number).run() for number in (0, 1)]
    ((stack, _),) = stack_by_kind([frame for run in runs for frame in list_frames_at("step", run)])
    with pytest.raises(Misplaced, match="not available for a batch"):
        _ = stack.run


def test_a_stack_cuts_what_a_run_has_at_each_of_its_places() -> None:
    run = Instance("small schedules", 5).run()
    (stack,) = list_stacks_at("step", run)
    assert isinstance(stack, StackedFrame)
    for shape in ((1, 1, 3), _full(run), (_full(run)[0], 1, 2), (1, _full(run)[1], 1)):
        value = np.arange(np.prod(shape)).reshape(shape)
        found = np.broadcast_to(stack.select(value), (len(stack.members), 1, shape[-1]))
        assert (found == np.concatenate([member.select(value) for member in stack.members])).all()


def _full(run: Run) -> tuple[int, int, int]:
    return run.algorithm.rounds, max(run.algorithm.work.steps), run.problem.clients


def test_free_points_are_taken_together() -> None:
    """One site has all choices of points, with the values of single sites."""
    claim, run = find("renard2022:property-2.1"), Instance("small quadratics", 5).run()
    (together,) = list_stacked_sites(claim, run)
    single = list(iterate_sites(claim, run))
    assert len(single) >= 9
    assert [together.member(n).index for n in range(len(single))] == [site.index for site in single]
    for side in (side for link in compile_relations(claim) for side in (link.left, link.right)):
        expected = [np.broadcast_to(side(site), (1, 1, run.problem.clients)) for site in single]
        assert (np.concatenate(expected) == side(together)).all()


def test_numbers_of_a_round_are_the_same_in_all_outcomes() -> None:
    """A stack with an axis over outcomes has one entry on it for a number of a round."""
    run = Instance("sampled weights", 4).run()
    (stack,) = list_stacks_at("step", run)
    assert isinstance(stack, StackedFrame)
    found = stack.select_round(np.arange(run.algorithm.rounds))
    assert found.shape[1:] == (1,)
    assert found[:, 0].tolist() == [member.index["round"] for member in stack.members]

"""Several local steps as one frame: what each of them says, in the same order."""

from __future__ import annotations

import numpy as np
import pytest

from fedtheory.engine.frames import Frame, StackedFrame, Vector, frames_at, stacks_at
from fedtheory.engine.frames.path import PathFrame
from fedtheory.engine.run import Run
from fedtheory.language.evaluation import sites, stacked_sites
from fedtheory.language.evaluation.compiler import axes_of
from fedtheory.language.registry import find
from verify.check.links import links_of
from verify.instances.family import Instance

RUNS = [("small schedules", 7), ("fixed intervals", 5), ("sampled weights", 3), ("turns of clients", 7)]


def _vectors(frame: Frame) -> list[Vector]:
    names = ("local", "noise", "average", "server", "virtual", "next_virtual", "gradient", "next_local", "received")
    built = [frame.built(lambda at, name=name: getattr(at, name)) for name in names]  # type: ignore[misc]
    mixed = built[0] + built[3].scaled(-frame.run.arithmetic.identity(1)[0])
    objectives = frame.run.client_objectives, frame.run.mean_objective
    gradients = [objective.gradient(frame, mixed) for objective in objectives]
    return [*built, mixed, frame.selected(mixed), mixed.averaged(frame.run.problem.weights), *gradients]


def _numbers(frame: Frame) -> np.ndarray:
    """All inner products, and means of values, at a frame, (products, places, clients)."""
    vectors, clients = _vectors(frame), frame.run.problem.clients
    products = [axes_of(frame.inner(left, right)) for left in vectors for right in vectors]
    products += [axes_of(frame.run.client_objectives.value(frame, vector)) for vector in vectors]
    places = len(frame.members) if isinstance(frame, StackedFrame) else 1
    return np.stack([np.broadcast_to(each, (places, 1, clients))[:, 0] for each in products])


@pytest.mark.parametrize("place", ["step", "path"])
@pytest.mark.parametrize(("family", "number"), RUNS)
def test_a_stack_says_what_its_members_say(place: str, family: str, number: int) -> None:
    run = Instance(family, number).run()
    single, stacked = list(frames_at(place, run)), list(stacks_at(place, run))
    assert len(stacked) < len(single)
    expected = np.concatenate([_numbers(frame) for frame in single], axis=1)
    found = np.concatenate([_numbers(frame) for frame in stacked], axis=1)
    assert (expected == found).all()


def test_steps_of_a_path_are_one_stack_in_their_order() -> None:
    run = Instance("small quadratics", 4).run()
    (stack,) = stacks_at("path", run)
    assert isinstance(stack, StackedFrame)
    assert all(isinstance(member, PathFrame) for member in stack.members)
    assert [member.index for member in stack.members] == [frame.index for frame in frames_at("path", run)]


def test_rounds_of_random_weights_stay_alone() -> None:
    run = Instance("sampled weights", 4).run()
    assert list(stacks_at("step", run)) == list(frames_at("step", run))


def test_a_stack_cuts_what_a_run_has_at_each_of_its_places() -> None:
    run = Instance("small schedules", 5).run()
    (stack,) = stacks_at("step", run)
    assert isinstance(stack, StackedFrame)
    for shape in ((1, 1, 3), _full(run), (_full(run)[0], 1, 2), (1, _full(run)[1], 1)):
        value = np.arange(np.prod(shape)).reshape(shape)
        found = np.broadcast_to(stack.cut(value), (len(stack.members), 1, shape[-1]))
        assert (found == np.concatenate([member.cut(value) for member in stack.members])).all()


def _full(run: Run) -> tuple[int, int, int]:
    return run.algorithm.rounds, max(run.algorithm.work.steps), run.problem.clients


def test_free_points_are_taken_together() -> None:
    """One site has all choices of points; its members are the sites one by one, and so are the values there."""
    claim, run = find("renard2022:property-2.1"), Instance("small quadratics", 5).run()
    (together,) = stacked_sites(claim, run)
    single = list(sites(claim, run))
    assert len(single) >= 9
    assert [together.member(n).index for n in range(len(single))] == [site.index for site in single]
    for side in (side for link in links_of(claim) for side in (link.left, link.right)):
        expected = [np.broadcast_to(side(site), (1, 1, run.problem.clients)) for site in single]
        assert (np.concatenate(expected) == side(together)).all()

"""The places of runs at which claims are evaluated, with all choices of their free points and quantified symbols."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import sympy as sp

from fedtheory.arithmetic import Array
from fedtheory.engine.frames import Frame, StackedFrame, list_frames_at, list_stacks_at, stack_by_kind
from fedtheory.engine.memo import Memo
from fedtheory.engine.run import Run
from fedtheory.language.claim import Claim
from fedtheory.language.claim_choices import list_choices, list_free_points
from fedtheory.language.evaluation.runs import SiteOfRuns
from fedtheory.language.evaluation.site import Choice, Site, make_chosen_site


def iterate_sites(claim: Claim, run: Run) -> Iterator[Site]:
    """Yield all places of a run at which a claim is evaluated."""
    frames: Iterable[Frame | None] = [None] if claim.place == "run" else list_frames_at(claim.place, run)
    choices = list_choices(claim, run)
    return (make_chosen_site(run, frame, choice) for frame in frames for choice in choices)


def list_stacked_sites(claim: Claim, run: Run) -> Iterator[Site]:
    """Yield all places of a run in order, stacked if that is faster; see `Site.member`."""
    if claim.place == "run":
        yield from iterate_sites(claim, run)
        return
    choices = list_choices(claim, run)
    for frame in list_stacks_at(claim.place, run, len(choices)):
        if isinstance(frame, StackedFrame):
            yield _stack_at_places(run, frame, choices)
        else:
            yield from (make_chosen_site(run, frame, choice) for choice in choices)


def _stack_at_places(run: Run, frame: StackedFrame, choices: Sequence[Choice]) -> Site:
    """Return all choices at each place of a stack as one site."""
    if len(choices) == 1 and not choices[0].labels:
        return Site(run, frame, frame.index, {}, {})
    each = [choice for _ in range(len(frame.members) // len(choices)) for choice in choices]
    return Site(run, frame, {}, *_stack_choices_of(frame, each), choices)


def _stack_choices_of(
    frame: StackedFrame, each: Sequence[Choice]
) -> tuple[dict[sp.Symbol, Array], dict[sp.Symbol, Array]]:
    """Return the points and parameters that are chosen at each place of a stack."""
    points = {symbol: np.stack([one.points[symbol] for one in each]) for symbol in each[0].points}
    numbers = {s: frame.arithmetic.array([[one.parameters[s]] for one in each]) for s in each[0].parameters}
    lead = frame.lead_axes
    return {s: lead(at) for s, at in points.items()}, {s: lead(values) for s, values in numbers.items()}


@dataclass(frozen=True, eq=False)
class SiteOfPlaces(SiteOfRuns):
    """Places of R runs with vectors of equal shape, as one site; numbers have the axes of the frame."""

    numbers: Array = field(kw_only=True)
    """Index of each place's run."""

    @property
    def owners(self) -> Array:
        return self.numbers

    def _gather(self, values: Sequence[Array]) -> Array:
        assert isinstance(self.frame, StackedFrame)
        return self.frame.gather(values)

    @property
    def constants(self) -> Memo:
        """Cached values of expressions in constants, at these places."""
        return self.step.memo

    @property
    def importances(self) -> Array:
        """p_i of each place's run."""
        return self.step.importances

    @property
    def multiplicities(self) -> Array:
        """Number of clients that each entry of each place's run stands for."""
        return self.step.multiplicities


class Places:
    """The places of runs in few stacks, one for each kind of frame, with all choices of a claim at each.

    They serve every claim with equally many free points, and the same values of quantified symbols.
    """

    def __init__(self, claim: Claim, runs: Sequence[Run], frames: Sequence[Sequence[Frame]]) -> None:
        """Store the `frames` of each run."""
        chosen = [list_choices(claim, run) for run in runs]
        each = [(n, frame, choice) for n, own in enumerate(frames) for frame in own for choice in chosen[n]]
        self._sites = []
        for stack, places in stack_by_kind([frame for _, frame, _ in each]):
            points, numbers = _stack_choices_of(stack, [each[place][2] for place in places])
            owners = np.array([each[place][0] for place in places])
            self._sites.append(SiteOfPlaces(stack.runs[0], stack, {}, points, numbers, runs=stack.runs, numbers=owners))

    def sites(self, claim: Claim) -> list[SiteOfPlaces]:
        """Return a site for each stack, with the choices as points and symbols of the claim."""
        return [
            replace(
                site,
                points=dict(zip(list_free_points(claim), site.points.values(), strict=True)),
                parameters=dict(zip(claim.for_all, site.parameters.values(), strict=True)),
            )
            for site in self._sites
        ]

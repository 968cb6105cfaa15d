"""The search for a violation: families of instances alternate with local searches until the budget is spent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, product

import numpy as np

from fedtheory.arithmetic import RATIONAL
from fedtheory.errors import InputError
from fedtheory.language.claim import Claim
from fedtheory.runfile import parse_run, run_table
from verify.check import check
from verify.check.links import compile_conditions, compile_relations
from verify.check.outcome import rank_unclearness
from verify.effort import measure_work
from verify.falsify.generation import KINDS, find_bases, generate_run, keep_premises
from verify.falsify.local_search import LocalClimb, move_to_edge, remove_aspects
from verify.falsify.mixed_runs import list_mixed_runs
from verify.falsify.polish import polish
from verify.falsify.rays import follow_rays
from verify.falsify.run_tables import CheckedRun, Table, get
from verify.falsify.score import NOTHING
from verify.falsify.search_state import AROUND, FAR, NEAR, SearchDone, SearchPoint, SearchState
from verify.falsify.starts import count_instances, find_features, list_starts
from verify.falsify.structure import list_other_shapes, list_variants
from verify.falsify.worst_starts import list_worst_starts
from verify.instances import FAMILIES, Complexity, Instance, complexity

_FIRST, _FOLLOWED = 12, 2
"""Number of instances at the beginning, and number of local searches if there are no rays."""
_ALONG = {FAR: 0.2, AROUND: 0.25}
"""Fractions of the budget for rays, by their reach."""
_AT_EDGES = 0.1
"""Fraction of the budget for runs at the edge of conditions; if a condition is too weak, these fail first."""
_BATCH = 32
"""Number of instances between two local searches."""
_ASPECTS = (
    ("start",),
    ("noise",),
    ("spread", "residuals"),
    ("start", "spread", "residuals"),
    ("start", "noise"),
    ("noise", "spread", "residuals"),
)
"""Names of aspects that a local search may remove."""
_SUMMING = (("start", "spread", "residuals"), ("start", "noise"))
"""Aspects that are removed for long horizons, so that noise or heterogeneity acts alone."""
_SIZES = 8
"""Factors of clients and rounds for runs generated from small ones."""
_COMPARED, _AFTERWARDS = 16, 32
"""Number of violations from which the simplest is chosen, and number of small runs tried after a clear one."""
_SHORT, _LONG = 60, 400
"""Numbers of evaluations of a local search while instances remain, and afterwards."""


def search(claim: Claim, budget: float, seed: int, on_tick: Callable[[], None] = lambda: None) -> SearchState:
    """Search for at most `budget` seconds of work; raises `InputError` for a claim that nothing can refute.

    The order of all trials depends only on `seed`; `on_tick` is called before each of them.
    """
    return _run_search(_search_by_turns, SearchState(claim, budget, on_tick), seed)


def search_briefly(claim: Claim, budget: float) -> SearchState:
    """Make the first part of a search: a fixed number of runs, and distant runs along rays."""
    return _run_search(_begin, SearchState(claim, budget), 0)


def search_worst_starts(claim: Claim, budget: float) -> SearchState:
    """Try runs from worst functions of a statement about points or a step; there are none for other claims."""
    return _run_search(_begin_at_worst, SearchState(claim, budget), 0)


def _run_search(
    strategy: Callable[[SearchState, Iterator[Instance], np.random.Generator], None], state: SearchState, seed: int
) -> SearchState:
    claim, generator = state.claim, np.random.default_rng(seed)
    require_testable(claim)
    with suppress(SearchDone):
        state.setting = find_features(claim)
        strategy(state, list_starts(claim, generator), generator)
    return state


def require_testable(claim: Claim) -> None:
    """Raise `InputError` for a claim that nothing can refute, or that cannot be compiled."""
    if not claim.is_testable:
        raise InputError(claim.id, "there is no relation to violate: the claim is a definition")
    compile_relations(claim), compile_conditions(claim)


@dataclass(frozen=True)
class Simplest:
    """Result of a search among small runs."""

    table: Table | None
    """The simplest violation with a clear margin, else the simplest one; None without any."""
    looked: int
    """Number of runs that were tried."""
    applicable: int
    """Number of these to which the claim applies."""


def find_simplest_violation(
    claim: Claim, seed: int, deadline: float, on_tick: Callable[[], None] = lambda: None
) -> Simplest:
    """Return the simplest violation among small runs of all kinds.

    These are members of the claim's families, and runs generated for it. `deadline` is a value of the work clock,
    `verify.effort.measure_work`; `on_tick` is called after each run.
    """
    violations: list[tuple[int, Complexity, Table]] = []
    since_clear = looked = applicable = 0
    for table, found in _list_small_runs(claim, np.random.default_rng(seed)):
        looked, applicable = looked + 1, applicable + found.applicable
        if found.holds is False:
            instance = Instance("", len(violations))
            violations.append((rank_unclearness(found.ratio), complexity(instance, parse_run(table, RATIONAL)), table))
        since_clear += any(unclear == 0 for unclear, _, _ in violations)
        on_tick()
        if measure_work() > deadline or len(violations) == _COMPARED or since_clear > _AFTERWARDS:
            break
    simplest = min(violations, default=(0, (), None), key=lambda violation: violation[:2])[2]
    return Simplest(simplest, looked, applicable)


def _list_small_runs(claim: Claim, generator: np.random.Generator) -> Iterator[CheckedRun]:
    """Yield generated runs and members of the claim's families in turn, each with its check."""
    members = islice(list_starts(claim, generator), count_instances(claim))
    # Accumulated noise may need more clients and rounds to be visible, so their numbers grow.
    kinds = ((kind, 1 + passed) for passed in range(_SIZES if claim.rate is None else 0) for kind in KINDS)
    for instance in members:
        if not FAMILIES[instance.family].in_floats:
            run = instance.run()
            yield CheckedRun(run_table(run), check(claim, run))
        kind, size = next(kinds, (None, 0))
        fitting = None if kind is None else generate_run(claim, find_bases(claim), kind, size, generator)
        if fitting is not None:
            yield CheckedRun(run_table(fitting[0]), fitting[1])


def _begin(state: SearchState, instances: Iterator[Instance], generator: np.random.Generator) -> None:
    """Try a few instances, then rays from runs with all sources of error, or local searches if there are no rays."""
    _try(state, instances if state.claim.rate is not None else islice(instances, _FIRST))
    places = [min(state.fresh, key=_rank_for_long_horizons).table] if state.fresh else []
    runs = [] if state.claim.rate is not None else [*list_mixed_runs(state.claim, state.setting), *places]
    if state.claim.run_conditions:
        _try_edges(state, runs, state.seconds + _AT_EDGES * state.budget)
    if runs:
        reach = FAR if _may_go_far(state) else AROUND
        follow_rays(state, runs, reach, state.seconds + _ALONG[reach] * state.budget)
        return
    for _ in state.fresh[:_FOLLOWED]:
        _climb(state, generator, _SHORT)


def _try_edges(state: SearchState, runs: Sequence[Table], until: float) -> None:
    """Move runs to the largest steps that the conditions allow, until a time."""
    for left_out, table in product((*_SUMMING, ("start",), ()), runs):
        if state.seconds > until:
            return
        at_edge = move_to_edge(state.claim, remove_aspects(table, left_out))
        if at_edge is not None:
            state.look(at_edge)


def _rank_for_long_horizons(place: SearchPoint) -> tuple[bool, float]:
    """Return a sort key: long horizons are fast if noise is equal everywhere; among these the best run comes first."""
    return get(place.table, "problem.batch") is not None, -place.score


def _begin_at_worst(state: SearchState, _instances: Iterator[Instance], _generator: np.random.Generator) -> None:
    """Try runs from worst functions of a claim, and keep them for local searches."""
    for table in list_worst_starts(state.claim):
        state.keep(SearchPoint(table, state.look(table)))


def _search_by_turns(state: SearchState, instances: Iterator[Instance], generator: np.random.Generator) -> None:
    _begin_at_worst(state, instances, generator)
    _begin(state, instances, generator)
    _try_kinds(state, generator)
    if state.claim.rate is not None:
        return
    for _ in range(0, count_instances(state.claim), _BATCH):
        _try(state, islice(instances, _BATCH))
        _climb(state, generator, _SHORT)
    while True:
        found_more = _try(state, islice(instances, _BATCH // 2))
        place = _climb(state, generator, _LONG)
        if place is not None:
            for left_out in _SUMMING:
                _search_long_horizons(state, left_out, generator)
            polish(state, place, generator)
        elif not found_more:
            return


def _try_kinds(state: SearchState, generator: np.random.Generator) -> None:
    """Try a generated run of every kind, and start local searches from the best of them.

    Ladders of a rate begin on runs of its premises: few families may have its step sizes, clients or noise.
    """
    premises = state.claim if state.claim.rate is None else keep_premises(state.claim)
    for kind in KINDS:
        fitting = generate_run(premises, find_bases(premises), kind, 1, generator)
        if fitting is not None:
            state.start_from(fitting[0], in_floats=False)


def _search_long_horizons(state: SearchState, left_out: tuple[str, ...], generator: np.random.Generator) -> None:
    """Search locally over long horizons, with noise or linear terms only, so that their accumulation decides."""
    start = _choose(state, generator) if _may_go_far(state) else None
    if start is None:
        return
    moved, state.reach, state.moved = state.moved, FAR, None
    table = remove_aspects(start.table, left_out)
    _make_all_moves(
        LocalClimb(state.claim, state.look, SearchPoint(table, state.look(table)), _LONG, list_other_shapes), generator
    )
    state.reach, state.moved = NEAR, moved


def _may_go_far(state: SearchState) -> bool:
    """Return whether long horizons are fast: both sides concern whole runs, and there are no stale models."""
    return state.claim.place == "run" and not any(feature.startswith("algorithm.clock") for feature in state.setting)


def _try(state: SearchState, instances: Iterator[Instance]) -> bool:
    """Try a batch of instances, and return whether any were left."""
    before = state.looked
    for instance in instances:
        family = FAMILIES[instance.family]
        state.start_from(instance.run(), family.in_floats or family.in_enclosures)
    return state.looked > before


def _choose(state: SearchState, generator: np.random.Generator) -> SearchPoint | None:
    """Choose the best new starting point, another one, or the result of an earlier local search."""
    kind = int(generator.integers(4))
    if state.fresh and (kind < 3 or not state.reached):
        return state.fresh.pop(0 if kind < 2 else int(generator.integers(len(state.fresh))))
    if not state.reached:
        return None
    return state.reached[0 if kind < 2 else int(generator.integers(len(state.reached)))]


def _climb(state: SearchState, generator: np.random.Generator, looks: int) -> SearchPoint | None:
    """Run a local search from a starting point, and return its end; None without a starting point."""
    start = _choose(state, generator)
    if start is None:
        return None
    state.moved = _move_term(state.claim, generator)
    if state.moved is not None:
        start = SearchPoint(start.table, state.look(start.table))
    reduced = _reduce(state, start, generator)
    if reduced is None:
        climb = LocalClimb(state.claim, state.look, start, looks, list_variants)
    else:
        climb = LocalClimb(state.claim, state.look, reduced, looks, list_other_shapes)
    _make_all_moves(climb, generator)
    state.keep(climb.at)
    return climb.at


def _make_all_moves(climb: LocalClimb, generator: np.random.Generator) -> None:
    """Make moves of all kinds until the evaluations of a local search are used."""
    climb.sweep_units()
    climb.sweep_scalings((4, 2), generator)
    climb.remove_all_aspects()
    climb.move_to_largest_step()
    climb.sweep_structure()
    while climb.left > 0:
        climb.sweep_scalings((2, 1, 0.5), generator)
        climb.sweep_structure()
        for _ in range(20):
            climb.apply_random_scalings(generator, 2.0)


def _move_term(claim: Claim, generator: np.random.Generator) -> int | None:
    """Return a term to move to the other side, every second time if there are several."""
    most = max((len(link.right.terms) + len(link.left.terms) - 1 for link in compile_relations(claim)), default=0)
    return int(generator.integers(most)) if most > 1 and generator.integers(2) else None


def _reduce(state: SearchState, start: SearchPoint, generator: np.random.Generator) -> SearchPoint | None:
    """With probability one half remove some aspects of a run, whatever the score, since each subset has its own maxima.

    A bound without its noise term fails at a start at the optimum, far from runs on which the term of the start is
    tight.
    """
    number = int(generator.integers(2 * len(_ASPECTS)))
    if number >= len(_ASPECTS):
        return None
    table = remove_aspects(start.table, _ASPECTS[number])
    reached = state.look(table)
    return None if reached == NOTHING else SearchPoint(table, reached)

"""The hypotheses of a theorem about a local step, translated from the assumptions of its claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import sympy as sp

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.quantities import Quantity
from verify.rocq.refusals import NotExported
from verify.rocq.theorem import Binder, declare_index, declare_real
from verify.rocq.vocabulary import AT, NUMBERS, OF_POINTS, Vocabulary, find_bounds_at_point

_BOUNDS = {
    a.unbiased_bounded_variance: ("bounded_variance", q.noise_deviation),
    a.bounded_dissimilarity: ("bounded_dissimilarity", q.gradient_dissimilarity),
    a.bounded_mean_dissimilarity: ("bounded_mean_dissimilarity", q.mean_dissimilarity),
    a.bounded_second_moment: ("bounded_second_moment", q.second_moment),
    a.lipschitz_losses: ("lipschitz_clients", q.lipschitz),
}
"""Assumptions that bound a number."""
_SMOOTH = (*declare_real("L", positive=True), Binder("smooth_clients_S", "smooth_clients {step} L"))
OF_STEPS: Mapping[Assumption, Sequence[Binder]] = {
    a.uniform_shares: (Binder("uniform_shares_S", "uniform_shares {step}"),),
    a.full_gradients: (Binder("quiet_S", "quiet {step}"),),
    a.several_clients: (Binder("several_clients_S", "2 <= M {step}"),),
    a.smooth: _SMOOTH,
    a.convex_and_smooth: (*_SMOOTH[:2], Binder("convex_clients_S", "convex_clients {step}"), _SMOOTH[2]),
    a.strongly_convex_clients: (
        *declare_real("mu", positive=True),
        Binder("strongly_convex_clients_S", "strongly_convex_clients {step} mu"),
    ),
    **{
        assumption: (*declare_real(NUMBERS[of]), Binder(f"{name}_S", f"{name} {{step}} {NUMBERS[of]}"))
        for assumption, (name, of) in _BOUNDS.items()
    },
}
"""Variables and hypotheses at a step, by the assumption that they encode."""


def state_at(one: Binder, step: str) -> Binder:
    """Return a variable or hypothesis at the named step."""
    return replace(one, type=one.type.format(step=step))


_KNOWN_ELSEWHERE = {
    q.local_steps,
    q.local_step_index,
    q.importance,
    q.largest_importance,
    q.strong_convexity,
    q.noise_smoothness,
    *OF_POINTS,
    q.sampling_variance,
    q.proximal_weight,
}
"""Numbers whose hypotheses come with an assumption, a point, or the index of a step."""
_HERE = (a.same_local_work, a.unit_server_step, a.full_participation, a.averaged_participants, a.least_squares_loss)
"""Assumptions about a step of all clients, or without effect on a single step; the theorems hold for all losses."""


def declare_counts(vocabulary: Vocabulary, symbols: set[sp.Symbol]) -> list[Binder]:
    """Return the index k of a step and the number tau of steps, if they occur."""
    symbol = vocabulary.symbols
    if not vocabulary.has_steps or not symbols & {symbol(q.local_steps), symbol(q.local_step_index)}:
        return []
    numbers = [Binder("tau", "R"), Binder("k", "R")]
    return [*numbers, Binder("k_large", "0 <= k"), Binder("k_below_tau", "k + 1 <= tau")]


def binders(vocabulary: Vocabulary, symbols: set[sp.Symbol], *, own: bool) -> Iterator[Binder]:
    """Yield the variables and hypotheses of a theorem with the given symbols; about each client if `own`."""
    claim, place = vocabulary.claim, vocabulary.place
    yield from place.variables
    yield Binder("step_size_positive", f"0 < step_size {place.step}")
    if vocabulary.is_random:
        yield Binder("past", f"{place.space} -> Prop")
        yield Binder("unbiased_S", f"unbiased {place.step} {place.past}")
    yield from _state_reference(vocabulary, symbols)
    for assumption in claim.assumptions:
        yield from vocabulary.parameters.get(assumption) or _state_assumption(assumption, vocabulary)
    # Parameters of algorithms are only known to be non-negative.
    for free in (q.sampling_variance, q.proximal_weight):
        if vocabulary.symbols(free) in symbols:
            yield from declare_real(NUMBERS[free])
    yield from _declare_numbers(vocabulary, symbols)
    yield from _declare_vectors(vocabulary, symbols)
    if own:
        yield from declare_index("i", f"number {place.clients}")


def _state_assumption(assumption: Assumption, vocabulary: Vocabulary) -> Iterator[Binder]:
    """Yield the hypotheses that encode an assumption; raises `NotExported` if the library does not define it."""
    step = vocabulary.place.step
    if assumption == a.smooth_noise:
        yield from declare_real("ell", positive=True)
        yield Binder("smooth_noise_S", f"smooth_noise {step} ell {vocabulary.reference_point} noise_there")
    elif assumption in OF_STEPS:
        yield from (state_at(one, step) for one in OF_STEPS[assumption])
    elif assumption not in _HERE and not vocabulary.is_of_points:
        raise NotExported(f"the assumption {assumption.name!r} has no definition in the library")


def _state_reference(vocabulary: Vocabulary, symbols: set[sp.Symbol]) -> Iterator[Binder]:
    """Yield the reference point of the runs, and hypotheses on gradients there."""
    symbol, point = vocabulary.symbols, vocabulary.reference_point
    step, space, past = vocabulary.place.step, vocabulary.place.space, vocabulary.place.past
    has_noise = a.smooth_noise in vocabulary.claim.assumptions
    if symbol(q.comparator if point == "y" else q.optimum) in symbols or has_noise:
        yield Binder(point, space)
        if vocabulary.is_random:
            yield Binder(f"past_{point}", f"{past} {point}")
    if has_noise:
        yield Binder("noise_there", f"nat -> {space}")
        yield Binder("drawn_there_S", f"drawn_at {step} {past} noise_there")
    at, (is_noise_bounded, is_dissimilarity_bounded) = AT[point], find_bounds_at_point(symbol, point, symbols)
    if is_noise_bounded:
        yield from declare_real(at.noise_name)
        yield Binder("noise_there_S", f"noise_at {step} noise_there {at.noise_name}")
    if is_dissimilarity_bounded:
        yield from declare_real(at.dissimilarity_name)
        yield Binder("dissimilarity_there_S", f"dissimilarity_at {step} {point} {at.dissimilarity_name}")
    if symbol(q.largest_importance) in symbols:
        yield from declare_real("p_max")
        yield Binder("largest_share_S", f"largest_share {step} p_max")


def _declare_numbers(vocabulary: Vocabulary, symbols: set[sp.Symbol]) -> Iterator[Binder]:
    """Yield the numbers of the claim that occur among `symbols`, with their signs."""
    claim = vocabulary.claim
    for each in claim.for_all:
        if each.is_positive or each.is_nonnegative:
            yield from declare_real(vocabulary.numbers[each], positive=bool(each.is_positive))
        else:
            yield Binder(vocabulary.numbers[each], "R")
    if vocabulary.symbols(q.visited_second_moment) in symbols:
        yield Binder("G_run", "R")
        yield Binder("second_moment_in_run_S", f"bounded_second_moment {vocabulary.place.step} G_run")
    bound: set[Quantity] = {of for assumption, (_, of) in _BOUNDS.items() if assumption in claim.assumptions}
    if a.smooth in claim.assumptions or a.convex_and_smooth in claim.assumptions:
        bound |= {q.smoothness}
    bound |= _KNOWN_ELSEWHERE
    for each in sorted(symbols & vocabulary.numbers.keys(), key=str):
        quantity = vocabulary.symbols.quantity(each)
        if quantity is not None and quantity not in bound and "{step}" not in NUMBERS.get(quantity, "{step}"):
            raise NotExported(f"the claim assumes nothing of {quantity.name}")


def _declare_vectors(vocabulary: Vocabulary, symbols: set[sp.Symbol]) -> Iterator[Binder]:
    """Yield the points of the claim that occur among `symbols`, with their defining properties."""
    symbol, place = vocabulary.symbols, vocabulary.place
    if symbol(q.optimum) in symbols:
        is_declared = vocabulary.reference_point == "x_star"
        if not is_declared:
            yield Binder("x_star", place.space)
        yield Binder("minimiser_x_star", f"minimiser {place.step} x_star")
        if vocabulary.is_random and not is_declared:
            yield Binder("past_x_star", f"{place.past} x_star")
    if {symbol(q.centralised_model), symbol(q.next_centralised_model)} & symbols:
        yield Binder("v", place.space)
    for point in (name for each, name in vocabulary.points.items() if each in symbols):
        yield Binder(point, place.space)
        if vocabulary.is_random:
            yield Binder(f"past_{point}", f"{place.past} {point}")

"""Choose the figures of a claim by its statement, for any paper."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from fedtheory.engine.run import Run
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import RunQuantity
from fedtheory.language.registry import list_sharper_claims
from report.curves import compute_bound_curve
from report.figures.bounds import draw_by_terms, draw_over_rounds, draw_tightness_map
from report.figures.clock import draw_over_clock_time
from report.figures.drift import draw_over_local_steps
from report.figures.paths import draw_path
from report.figures.rates import draw_over_clients, draw_rate
from report.figures.style import Figure
from report.figures.tightened_bounds import draw_tightened
from report.figures.timeline import draw_timeline
from report.showcases import (
    CYCLE,
    make_clocked_runs,
    make_map_problems,
    make_noiseless_run,
    make_showcase,
    make_stale_run,
)
from verify.check import check
from verify.claim_verdict import ClaimVerdict


def draw_figures(verdict: ClaimVerdict) -> list[Figure]:
    """Return the figures of a claim's page; empty for claims about single points or steps."""
    claim = verdict.claim
    shown = [figure for suits, draw in _FIGURES if suits(claim) for figure in draw(claim)]
    if claim.rate is not None and verdict.evidence and verdict.evidence.rate:
        found = verdict.evidence.rate
        shown += [*filter(None, [draw_over_clients(claim, found)]), draw_rate(claim, found)]
    return shown + _draw_tightened(claim) + _draw_witness(verdict)


def _draw_tightened(claim: Claim) -> list[Figure]:
    """Draw the bound with tightened ones on the same quantity, if they apply to the showcase run."""
    if claim.rate is not None:
        return []
    rivals = [other for other in list_sharper_claims(claim) if other.relations[0].left == claim.relations[0].left]
    applicable = [other for other in rivals if check(other, make_showcase(local_steps=5)).applicable]
    words = _describe_showcase(5).replace(r"$\tau = 5$, ", "")
    return [draw_tightened(claim, applicable, make_showcase, words)] if applicable else []


_HORIZONS = tuple(round(10 ** (power / 8)) for power in range(0, 27, 2))
"""Numbers of rounds T from 1 to about 2000, evenly spaced on a log scale."""


def _is_bound_on(*measured: RunQuantity) -> Callable[[Claim], bool]:
    """Return a predicate: whether a claim bounds one of these quantities of a run."""
    return lambda claim: (
        claim.kind == "bound"
        and claim.place == "run"
        and claim.rate is None
        and claim.notation.get(claim.relations[0].left) in measured
    )


def _is_bound_on_a_path(claim: Claim) -> bool:
    return claim.kind == "bound" and claim.place == "path" and q.centralised_model in claim.notation.values()


def _draw_drift(claim: Claim) -> list[Figure]:
    if not check(claim, make_showcase(local_steps=16)).applicable:
        return []
    return [draw_over_local_steps(claim.slug, claim, make_showcase(local_steps=16), _describe_showcase(16))]


def _describe_showcase(local_steps: int) -> str:
    """Describe the showcase run with the given number of local steps."""
    run = make_showcase(local_steps)
    return (
        f"Ten clients, $d = {run.problem.dimension}$, $L = 1$, $\\tau = {local_steps}$, $\\eta = 1/64$, "
        f"$\\sigma^2 = 1$, $\\zeta^2 = {run.dissimilarity_sq.value:.3g}$."
    )


def _draw_bounds(claim: Claim) -> list[Figure]:
    if not check(claim, make_showcase(local_steps=5)).applicable:
        return []
    curve, words = compute_bound_curve(claim, make_showcase(local_steps=5), _HORIZONS), _describe_showcase(5)
    return [
        draw_over_rounds(claim.slug, curve, words),
        draw_by_terms(claim.slug, curve, words),
        draw_tightness_map(claim, make_map_problems(), _find_step_limit(claim)),
    ]


def _find_step_limit(claim: Claim) -> Fraction:
    """Return the constant c of a condition ``eta <= c / L`` of the claim; 1 if there is none."""
    for condition in claim.conditions:
        limit = condition.rhs.subs({s: 1 for s, n in claim.notation.items() if n is q.smoothness})
        if claim.notation.get(condition.lhs) is q.local_step_size and limit.is_Rational:
            return Fraction(int(limit.p), int(limit.q))
    return Fraction(1)


def _draw_policy(claim: Claim) -> list[Figure]:
    """Draw the timeline of a policy, and the errors of all policies over clock time."""
    names = [name for name, run in make_clocked_runs().items() if _find_policy(run) == claim.implemented_by]
    words = "Five clients in the plane with update times 1 to 5, four local steps of the same size."
    lines = [
        _draw_timeline(f"{claim.slug}-shown", make_clocked_runs()[name], f"Here {name}, update times 1 to 5.")
        for name in names
    ]
    return [*lines, draw_over_clock_time(claim.slug, make_clocked_runs(), words)]


def _find_policy(run: Run) -> str:
    return f"fedtheory.federation.clock:{type(run.algorithm.clock.policy).__name__}"


def _is_policy(claim: Claim) -> bool:
    return any(_find_policy(run) == claim.implemented_by for run in make_clocked_runs().values())


def _draw_timeline(name: str, run: Run, words: str) -> Figure:
    return draw_timeline(name, run.algorithm.schedule, run.algorithm.clock.times, words)


def _draw_witness(verdict: ClaimVerdict) -> list[Figure]:
    """Draw the timeline of the instance on the page, if it has stale models and few clients."""
    run = verdict.witness
    if run is None or not _needs_schedule(verdict.claim):
        return []
    if run.algorithm.clock.is_synchronous:
        return []
    return [_draw_timeline(verdict.claim.slug, run, "Schedule of the instance below.")]


def _needs_schedule(claim: Claim) -> bool:
    """Return whether a claim assumes an aggregation scheme or clocks."""
    clocks = (a.aggregation_scheme, a.asynchronous, a.fixed_intervals)
    return any(assumption in claim.assumptions for assumption in clocks)


def _draw_stale_bounds(claim: Claim) -> list[Figure]:
    """Draw a bound with stale models over an increasing number of cycles of one schedule."""
    horizons = [CYCLE * 2**power for power in range(7)]
    if not check(claim, make_stale_run()).applicable:
        return []
    curve = compute_bound_curve(claim, make_stale_run(), horizons)
    words = "Asynchronous, three clients in the plane with update times 1, 2 and 4, whole cycles of 7 updates."
    return [draw_over_rounds(claim.slug, curve, words), draw_by_terms(claim.slug, curve, words)]


def _draw_paths(claim: Claim) -> list[Figure]:
    run = make_noiseless_run()
    words = f"Four clients of unequal weight in three dimensions, $\\tau = {run.algorithm.work.steps[0]}$, no noise."
    return [draw_path(claim, run, words)]


_FIGURES: tuple[tuple[Callable[[Claim], bool], Callable[[Claim], list[Figure]]], ...] = (
    (_is_bound_on(q.max_drift), _draw_drift),
    (_is_bound_on(q.average_suboptimality, q.average_local_gradient_sq), _draw_bounds),
    (
        _is_bound_on(
            q.mean_surrogate_gap,
            q.mean_round_gap,
            q.mean_surrogate_suboptimality,
            q.mean_virtual_suboptimality,
            q.mean_virtual_gradient_sq,
        ),
        _draw_stale_bounds,
    ),
    (_is_policy, _draw_policy),
    (_is_bound_on_a_path, _draw_paths),
)
"""Functions that draw figures, each with a predicate for claims."""

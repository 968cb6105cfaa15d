"""Edges, counts and ties of the planner against values by hand and complete lists."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from planned_runs import LIU, THEOREM, a_run

from fedtheory import FLOAT, Run, fedavg, quadratic
from fedtheory.errors import InputError
from fedtheory.language import quantities as q
from fedtheory.planner import ExactErrors, NumericBound, StepSizes, largest, measurements, rounds_needed
from fedtheory.planner.admissible import Edge, find_interval_end
from fedtheory.planner.alternatives import _set_batch_size
from fedtheory.planner.bound import CLIENTS, ROUNDS, STEP, STEPS
from fedtheory.planner.closed_rounds import ClosedRounds, RoundsInEigenbasis
from fedtheory.planner.coverage import find_bounded_error
from fedtheory.planner.error_curves import ErrorCurve
from fedtheory.planner.exact_optimum import find_lowest
from fedtheory.planner.measurements import compare_with_optimum
from fedtheory.planner.optimum import _compute_minimiser_bound, expand_powers, find_minimiser, minimise_numerically
from fedtheory.planner.other_settings import tabulate_settings
from fedtheory.planner.outcomes import ErrorAtStepSize
from fedtheory.planner.rounds_needed import RoundsNeeded
from fedtheory.planner.speed_up import find_linear_clients, find_useful_local_steps
from fedtheory.planner.stability import _bisect, _find_unstable, _search_downwards
from fedtheory.planner.target import _find_rounds, find_largest_count, find_rounds_at_step, find_smallest_count

ETA, TAU, T, M, A = sp.symbols("eta tau T M A", positive=True)
NAMES = {ETA: STEP, TAU: STEPS, T: ROUNDS, M: CLIENTS}


def _bound(expression: Any, *conditions: Any, **values: float) -> NumericBound:
    known = {STEP: 0.1, STEPS: 1.0, ROUNDS: 10.0, CLIENTS: 4.0} | values
    terms = tuple(sp.Add.make_args(sp.sympify(expression)))
    used = set().union(*(part.free_symbols for part in (*terms, *conditions)))
    names = {symbol: name for symbol, name in NAMES.items() if symbol in used}
    return NumericBound(THEOREM, terms, conditions, names, {name: known[name] for name in names.values()})


@pytest.mark.parametrize("first", [1, 2, 3, 7, 8, 9, 99, 100])
def test_counts_by_bisection(first: int) -> None:
    """The first count that satisfies a condition is found, and the last one before it."""
    assert find_smallest_count(lambda count: count >= first, 100) == first
    assert find_largest_count(lambda count: count < first, 100) == first - 1
    assert find_smallest_count(lambda count: count >= first, first) == first


def test_counts_that_are_out_of_reach() -> None:
    assert find_smallest_count(lambda count: count > 100, 100) is None
    assert find_largest_count(lambda count: count <= 100, 100) == math.inf
    assert find_largest_count(lambda _: False, 100) == 0


@pytest.mark.parametrize("edge", [1.0, 1.5, 3.0, 1e6, 2.0**100])
def test_the_end_of_an_interval(edge: float) -> None:
    assert find_interval_end(lambda value: value <= edge, 1.0) == pytest.approx(edge, rel=1e-13)
    assert find_interval_end(lambda value: value <= edge, 1.0) <= edge


def test_an_interval_without_an_end() -> None:
    assert find_interval_end(lambda _: True, 1.0) == math.inf
    assert find_interval_end(lambda value: value < 1.0, 1.0) == 0.0


def test_the_condition_that_fails_first() -> None:
    """At tau = 5 the last of eta <= 1/2, eta tau <= 1 and eta^2 <= 1/100 fails first, at 1/10."""
    bound = _bound(ETA, sp.Rational(1, 2) >= ETA, ETA * TAU <= 1, sp.Rational(1, 100) >= ETA**2, local_steps=5.0)
    found = largest(bound, STEP)
    assert found.value == pytest.approx(0.1)
    assert found.condition == (sp.Rational(1, 100) >= ETA**2)
    assert found.formula == sp.Rational(1, 10)
    assert largest(_bound(ETA, ETA * TAU <= 1, local_steps=5.0), STEP).formula == 1 / TAU
    assert largest(_bound(ETA, T >= 3), STEP) == Edge(math.inf)


@pytest.mark.parametrize("strict", [False, True])
def test_edges_are_rounded_to_the_admissible_side(strict: bool) -> None:
    """The largest step size meets its condition in floats, without a tolerance; the next float does not."""
    for count in range(1, 40):
        for left in (ETA * TAU, ETA**2 * TAU, 3 * ETA * TAU / 7):
            condition = left < 1 if strict else left <= 1
            bound = _bound(ETA, condition, local_steps=float(count))
            found = largest(bound, STEP).value

            def meets(value: float, bound: NumericBound = bound, condition: Any = condition) -> bool:
                slack = bound.slack(condition, {STEP: value}).slack
                return slack > 0 if strict else slack >= 0

            assert meets(found)
            assert not meets(found * (1 + 1e-14))


def test_a_condition_that_no_step_size_meets() -> None:
    """1 <= eta fails for small steps, so that no step size is admissible."""
    assert largest(_bound(ETA, ETA * TAU >= 1), STEP).value == 0.0


def test_a_condition_without_a_formula_is_searched() -> None:
    """eta^3 + eta <= 10 ends exactly at eta = 2."""
    found = largest(_bound(ETA, ETA**3 + ETA <= 10), STEP)
    assert found.value == pytest.approx(2.0, rel=1e-12)
    assert found.formula is None


def test_intervals_of_stability() -> None:
    """The search starts on either side of the edge; it returns infinity if all are stable, a tiny step if none is."""
    for start in (0.5, 1.0, 7.0, 100.0):
        assert _find_unstable(lambda step: step <= 1.3, start, 1.3, 1e-6) == pytest.approx(1.3, rel=2e-6)
    assert _find_unstable(lambda _: True, 1.0, 1.3, 1e-6) == math.inf
    assert _find_unstable(lambda _: False, 1.0, 1.3, 1e-6) < 1e-12


def test_intervals_of_stability_from_above() -> None:
    assert _search_downwards(lambda step: step <= 8, 8.0) == 8.0
    for edge in (7.0, 4.0, 3.9, 0.1):
        found = _search_downwards(lambda step, edge=edge: step <= edge, 8.0)  # type: ignore[misc]
        assert edge <= found <= 1.021 * edge
    assert _search_downwards(lambda _: False, 8.0) < 1e-11
    assert _search_downwards(lambda step: step < 5, math.inf) == math.inf
    assert _bisect(lambda step: step <= 3, 1.0, 100.0, 1e-6) == pytest.approx(3, rel=2e-6)
    assert _bisect(lambda _: False, 1.0, 2.0, 1.0) == 2.0
    assert _bisect(lambda _: False, 1.0, 4.0, 1.0) == 2.0


def _rounds(eigenvalues: list[float], noise: float = 0.0, away: float = 1.0, limit: float = 0.0) -> RoundsInEigenbasis:
    size = len(eigenvalues)
    half = np.eye(size) / 2
    return RoundsInEigenbasis(
        np.array(eigenvalues), np.full(size, limit), np.full(size, away), half, noise * np.eye(size)
    )


CURVES = {
    "one direction": _rounds([0.9]),
    "one that overshoots": _rounds([-0.9]),
    "two": _rounds([0.99, 0.2]),
    "slow": _rounds([0.9999, -0.5]),
    "noise": _rounds([0.97], noise=1e-3),
    "bias": _rounds([0.97, 0.5], limit=0.01),
    "dips below its limit": _rounds([0.97], away=-1.0, limit=0.5),
    "from inside": _rounds([0.9], away=1e-3, noise=1e-2),
    "at rest at once": _rounds([0.0]),
    "overshoots its limit for long": _rounds([-0.9998], limit=0.5),
    "overshoots it, on the other side": _rounds([-0.9998], away=-1.0, limit=0.1),
    "overshoots with noise": _rounds([-0.9997, 0.999], limit=0.05, noise=1e-3),
    "overshoots it soon": _rounds([-0.98], limit=0.1),
}


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("accuracy", [0.3, 0.13, 0.02, 6e-3, 1e-3])
def test_rounds_to_a_target_for_good(name: str, accuracy: float) -> None:
    """The list of all errors gives the round after which none is above the target."""
    rounds = CURVES[name]
    errors = rounds.errors(np.arange(1, 60_000))
    above = np.flatnonzero(errors > accuracy)
    last = int(above[-1]) + 1 if len(above) else 0
    expected = None if rounds.limit > accuracy else last + 1
    assert rounds.first_below(accuracy) == expected


def test_errors_of_rounds_are_sums_of_two_moments() -> None:
    """For x^{n+1} = x^n / 2 + noise of variance v, E |x^n|^2 / 2 is (4^-n + v (1 - 4^-n) 4/3) / 2."""
    variance, power = 0.3, 4.0 ** -np.arange(5)
    rounds = _rounds([0.5], noise=variance * 4 / 3 / 2)
    assert rounds.errors(np.arange(5)) == pytest.approx((power + variance * (1 - power) * 4 / 3) / 2)
    assert rounds.limit == rounds.noise_floor == pytest.approx(variance * 2 / 3)
    assert rounds.radius == 0.5


def _noisy_line(rounds: int = 10, step: float = 0.4, **changed: Any) -> Run:
    """Return x^2/2 from 1 with noise of variance one: the second moment m becomes (1 - eta)^2 m + eta^2."""
    setting = quadratic(FLOAT.array([[[1.0]]]), FLOAT.array([[0.0]]), FLOAT.array([1.0]), noise=FLOAT.array([1.0]))
    return Run(setting, fedavg(setting, rounds=rounds, local_step_size=step, **changed))


@pytest.mark.parametrize(("steps", "server"), [(1, 1.0), (3, 1.0), (2, 0.5), (2, 1.5)])
@pytest.mark.parametrize("step", [0.01, 0.4, 0.7, 1.2])
def test_closed_rounds_are_those_of_a_loop(step: float, steps: int, server: float) -> None:
    """The map of a round is 1 + eta_g ((1 - eta)^tau - 1), and closed forms agree with a loop."""
    run = _noisy_line(step=1.0, local_steps=steps, server_step_size=server)
    rounds = ClosedRounds(run).scale_steps(step)
    change = (1 - step) ** steps - 1
    noise = sum(step**2 * (1 - step) ** (2 * k) for k in range(steps))
    moment, expected = 1.0, []
    for _ in range(6):
        moment = (1 + server * change) ** 2 * moment + server**2 * noise
        expected.append(moment / 2)
    assert rounds.errors(np.arange(1, 7)) == pytest.approx(expected)
    assert rounds.is_stable is (abs(1 + server * change) <= 1)


def test_a_direct_curve_ends_where_the_target_is_kept() -> None:
    """For errors 4, 1, 3, 1, 2 and the target 2, the fourth round is the first after which none is above it."""
    search_ = RoundsNeeded(ExactErrors(_noisy_line()), q.final_suboptimality, 2.0)
    assert search_._find_first_below(_exact(4.0, 1.0, 3.0, 1.0, 2.0)) == 4
    assert search_._find_first_below(_exact(2.0, 2.0)) == 1
    assert search_._find_first_below(_exact(1.0, 2.5)) is None
    assert search_._find_first_below(_exact(1.0, math.nan, 1.0)) == 3
    assert RoundsNeeded(search_.errors, search_.error, None)._find_first_below(_exact(1.0)) is None


def _exact(*errors: float) -> ErrorCurve:
    """Return a curve of exact errors."""
    return ErrorCurve(np.array(errors), np.zeros(len(errors)))


def test_an_estimate_is_below_the_target_with_its_whole_interval() -> None:
    """The first round has an interval below the target; a later average above it counts if its interval is above."""
    errors, ones = np.array([4.0, 2.1, 1.9, 1.7, 2.1, 1.5]), np.ones(6)
    assert ErrorCurve(errors, 0.2 * ones).find_first_below(2.0) == 4
    assert ErrorCurve(errors, 0.05 * ones).find_first_below(2.0) == 6
    assert ErrorCurve(errors, 0.4 * ones).find_first_below(2.0) == 6
    assert ErrorCurve(errors, 0.6 * ones).find_first_below(2.0) is None
    assert ErrorCurve(errors[:5], 0.05 * ones[:5]).find_first_below(2.0) is None


def _outcome(rounds: int, error: float, reached: bool, limit: float | None = None) -> ErrorAtStepSize:
    return ErrorAtStepSize(0.1, rounds, error, reached, False, limit)


def test_outcomes_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Outcomes that reach the target come first, by rounds, then by errors; without a target by errors.

    Cheap runs have all rounds, others those of the best one.
    """
    search_ = RoundsNeeded(ExactErrors(_noisy_line()), q.final_suboptimality, 0.5)
    ordered = [
        _outcome(3, 0.4, True),
        _outcome(4, 0.1, True),
        _outcome(4, 0.2, True),
        _outcome(9, 0.6, False),
        _outcome(2, 0.7, False),
        _outcome(2, 0.1, False, limit=0.9),
        _outcome(2, math.inf, False),
    ]
    mixed = [ordered[place] for place in (3, 0, 6, 2, 5, 1, 4)]
    assert sorted(mixed, key=search_._make_rank) == ordered
    assert search_._limit_rounds(ordered[0], 10) == 10
    monkeypatch.setattr(rounds_needed, "_CHEAP", 0.0)
    assert search_._limit_rounds(ordered[0], 10) == 3
    assert search_._limit_rounds(ordered[3], 10) == 10


def test_outcomes_of_a_run_that_falls() -> None:
    """A decreasing run has a clearly larger error at half of its rounds; a stationary one does not."""
    errors = ExactErrors(_noisy_line())
    search_ = RoundsNeeded(errors, q.final_suboptimality, None)
    moment = [1.0]
    for _ in range(20):
        moment.append(0.99**2 * moment[-1] + 0.01**2)
    early, late = search_.outcome(0.01, 20), search_.outcome(0.4, 20)
    assert (early.error, early.still_falls, early.reached) == (pytest.approx(moment[20] / 2), True, False)
    assert late.still_falls is False
    assert late.limit == late.noise_floor == pytest.approx(0.4 / (2 - 0.4) / 2)
    assert search_.diverges_from == pytest.approx(2.0, rel=1e-5)
    assert search_.largest == pytest.approx(1.8, rel=1e-5)


def test_why_noise_keeps_an_error_up() -> None:
    """For a target below every limit eta / (2 - eta) / 2, noise is the reason."""
    search_ = RoundsNeeded(ExactErrors(_noisy_line()), q.final_suboptimality, 1e-30)
    best = search_.best()
    assert not best.reached
    assert "gradient noise keeps the limit" in str(search_.reason(best))
    assert search_.reason(replace(best, reached=True)) is None


def test_a_bound_that_needs_rounds() -> None:
    """8/T + 1 is at most 3 from the fourth round on, at most 1 never, and 5 from the second one on."""
    for accuracy, rounds in ((3.0, 4), (5.0, 2), (9.0, 1), (1.0, None), (0.5, None)):
        found = find_rounds_at_step(_bound(8 / T + 1), accuracy)
        assert (found.rounds, found.floor) == (rounds, pytest.approx(1.0))
        assert (found.reason is None) is (rounds is not None)
    assert find_rounds_at_step(_bound(8 / T), 2.0).floor == 0.0


def test_a_bound_that_needs_no_rounds() -> None:
    """A bound without rounds has its value after the first round, or never reaches the target."""
    assert find_rounds_at_step(_bound(3 * ETA, local_step_size=0.1), 0.5).rounds == 1
    missed = find_rounds_at_step(_bound(3 * ETA, local_step_size=0.1), 0.2)
    assert missed.rounds is None
    assert "does not depend on the rounds" in str(missed.reason)


def test_more_rounds_than_anybody_runs() -> None:
    found = _find_rounds(_bound(1 / T), 1e-20, lambda count: (0.1, 1 / count), "here")
    assert found.rounds is None
    assert found.reason == "more than 1e+15 rounds here"


def test_speed_up_ends_where_the_other_term_takes_over() -> None:
    """1/(eta T) + eta/M + r is smallest at 2/sqrt(M T) + r: twice the clients bring half of the speed-up up to a count.

    With T = 1 and r = 1/10 that is while 2/sqrt(2M) + r <= 2^(-1/4) (2/sqrt(M) + r).
    """
    rest = sp.Rational(1, 10)
    sizes = StepSizes(_bound(1 / (ETA * T) + ETA / M + rest, rounds=1.0))
    gain = 2.0**-0.25
    expected = max(m for m in range(1, 2000) if 2 / math.sqrt(2 * m) + 0.1 <= gain * (2 / math.sqrt(m) + 0.1))
    assert find_linear_clients(sizes) == expected
    assert find_linear_clients(StepSizes(_bound(1 / (ETA * T) + ETA))) is None


def test_local_steps_within_a_tenth_of_the_best() -> None:
    """2 sqrt(1/tau + 1/100) at the best step size gives the least power of two within a tenth of that at 1024."""
    sizes = StepSizes(_bound(1 / ETA + ETA * (1 / TAU + sp.Rational(1, 100))))
    values = {2**k: 2 * math.sqrt(2.0**-k + 0.01) for k in range(11)}
    found = find_useful_local_steps(sizes)
    assert found is not None
    assert found.smallest == pytest.approx(values[1024])
    assert found.steps == min(n for n, value in values.items() if value <= 1.1 * values[1024])
    assert found.value == pytest.approx(values[found.steps])
    assert find_useful_local_steps(StepSizes(_bound(1 / ETA + ETA))) is None


def test_a_minimum_at_an_end_of_the_interval() -> None:
    assert minimise_numerically(lambda step: step, 8.0, 1e-3) == pytest.approx(1e-3)
    assert minimise_numerically(lambda step: -step, 8.0, 1e-3) == pytest.approx(8.0)
    for valley in (0.017, 1.0, 5.5):
        assert minimise_numerically(lambda s, v=valley: s / v + v / s, 8.0, 1e-3) == pytest.approx(valley, rel=1e-4)  # type: ignore[misc]
    assert minimise_numerically(lambda step: step if step < 1 else math.inf, 8.0, 0.5) == pytest.approx(0.5)


def test_bounds_without_a_best_step_size() -> None:
    """Increasing bounds have no best step size; decreasing ones have the edge, if it exists."""
    edge = Edge(0.5)
    growing, falling = StepSizes(_bound(1 + ETA)), StepSizes(_bound(1 + 1 / ETA))
    assert growing.minimiser(growing.bound, edge) is None
    assert falling.minimiser(falling.bound, edge) == pytest.approx(0.5)
    assert falling.minimiser(falling.bound, Edge(math.inf)) is None
    assert falling.minimiser(falling.bound, Edge(0.0)) is None
    both = StepSizes(_bound(1 / ETA + ETA))
    assert both.minimiser(both.bound, Edge(math.inf)) == 1.0
    at_edge, inside = both.optimum(edge), both.optimum(Edge(3.0))
    assert at_edge is not None
    assert inside is not None
    assert (at_edge.at_edge, at_edge.value, at_edge.step_size) == (True, 2.5, 0.5)
    assert (inside.at_edge, inside.value, inside.step_size) == (False, 2.0, 1.0)


def test_roots_of_sums_of_powers() -> None:
    """The minimum of a/eta + b eta^p is (a / (p b))^(1/(p+1)); that of 1/eta + b eta + c eta^2 is one for b + 2 c =
    1.
    """
    assert find_minimiser({-1: 8.0, 2: 0.5}) == pytest.approx(2.0)
    assert find_minimiser({-1: 9.0, 1: 1.0, 0: 7.0}) == pytest.approx(3.0)
    for b in (1e-9, 0.2, 0.5, 0.9, 1 - 1e-9):
        assert find_minimiser({-1: 1.0, 1: b, 2: (1 - b) / 2}) == pytest.approx(1.0)
    for none in ({-1: 1.0}, {1: 1.0}, {-1: -1.0, 1: 1.0}, {-1: 1.0, 1: -1.0}, {-1: 1.0, 3: 1.0, 1: 1.0}):
        assert find_minimiser(none) is None
    assert find_minimiser({-1: 1.0, 1: 1e-40, 2: 0.5}) == pytest.approx(1.0)


def test_beyond_the_last_crossing() -> None:
    """4/eta meets eta at 2 and eta^3 at sqrt(2); the result is twice the larger one."""
    assert _compute_minimiser_bound({-1: 4.0, 1: 1.0, 3: 1.0, 0: 5.0}) == pytest.approx(4.0)
    assert _compute_minimiser_bound({1: 1.0}) == 2.0


def test_powers_of_the_step_size() -> None:
    found = expand_powers(_bound((1 + ETA) ** 2 / ETA + 3))
    assert found is not None
    assert dict(found.coefficients) == {-1: 1, 0: 5, 1: 1}
    assert expand_powers(_bound(sp.sqrt(ETA))) is None
    assert expand_powers(_bound(1 / (1 + ETA))) is None


def test_a_search_needs_a_value_below_its_smallest_step() -> None:
    """Scores that decrease towards small exponents have no best one, and none is finite if all diverge."""
    assert find_lowest(lambda exponent: exponent, (-2.0, -1.0, 0.0)) is None
    assert find_lowest(lambda _: math.inf, (-2.0, -1.0, 0.0)) is None
    found = find_lowest(lambda exponent: abs(exponent + 0.5), (-2.0, -1.0, 0.0))
    assert found is not None
    assert found[0] == pytest.approx(-0.5, abs=0.03)


def test_best_step_sizes_are_compared_as_ratios() -> None:
    exact = SimpleNamespace(step_size=0.5, error=2.0)
    found = compare_with_optimum(0.25, 3.0, exact)  # type: ignore[arg-type]
    assert found is not None
    assert (found.ratio, found.error_at_choice, found.error_ratio) == (0.5, 3.0, 1.5)
    assert compare_with_optimum(0.25, 3.0, None) is None


def test_errors_of_claims() -> None:
    assert find_bounded_error(THEOREM) is not None
    assert find_bounded_error(LIU) is not None
    assert find_bounded_error(replace(THEOREM, kind="definition")) is None
    assert find_bounded_error(replace(THEOREM, for_all={A: (1,)})) is None


def _alternative(name: str, rank: int, *, planned: bool = False, reached: bool = True, batch: int | None = None) -> Any:
    outcome = _outcome(10 * rank, 0.5, reached)
    return SimpleNamespace(
        **{"name": name, "local_steps": 2, "batch": batch, "is_planned": planned, "outcome": outcome, "cost": 1.0},
        rank=lambda _: rank,
    )


def test_the_best_of_several_settings_is_marked() -> None:
    """The best setting has a star; one that never reaches the target says so."""
    varied = [_alternative("a", 2, planned=True), _alternative("b", 1, batch=3), _alternative("c", 3, reached=False)]
    _, rows = tabulate_settings(varied, 0.1)
    assert [row[0] for row in rows] == ["a p", "b *", "c"]
    assert [row[2] for row in rows] == ["all rows", "3", "all rows"]
    assert [row[4] for row in rows] == ["20", "10", "never"]
    assert [row[4] for row in tabulate_settings(varied, None)[1]] == ["20", "10", "30"]
    assert [row[0] for row in tabulate_settings(varied[:1], 0.1)[1]] == ["a *"]


def test_only_step_sizes_that_all_conditions_allow_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """A step size that violates a condition, or has no bound, is not measured."""

    def bound_at(_claim: Any, _errors: Any, step: float) -> Any:
        slacks = [SimpleNamespace(holds=step <= 2), SimpleNamespace(holds=step >= 1)]
        return None if step == 1.5 else SimpleNamespace(value=lambda: 10 * step, slacks=lambda: slacks)

    monkeypatch.setattr(measurements, "_find_bound_at", bound_at)
    assert measurements._evaluate_at([0.5, 1.0, 1.5, 2.0, 3.0], THEOREM, None) == {1.0: 10.0, 2.0: 20.0}  # type: ignore[arg-type]


def test_batches_need_rows() -> None:
    """A quadratic problem given by its Hessians has no batches, but full gradients."""
    problem = a_run().problem
    with pytest.raises(InputError, match="expected data: batches are sampled from rows"):
        _set_batch_size(problem, 3)
    assert _set_batch_size(problem, None).clients == problem.clients

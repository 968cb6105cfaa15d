"""Choices of the planner against an exhaustive search: step sizes, counts, and the end of searches."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from planned_runs import LIU, THEOREM, a_run

from fedtheory import FLOAT, Run, fedavg, quadratic
from fedtheory.language import quantities as q
from fedtheory.language.registry import find
from fedtheory.planner import ExactErrors, NumericBound, StepSizes, error_limits, largest, plan
from fedtheory.planner.admissible import Edge, find_largest_whole
from fedtheory.planner.advice import ClaimPlan
from fedtheory.planner.bound import STEP, STEPS, bound_of_run
from fedtheory.planner.closed_rounds import RoundsInEigenbasis
from fedtheory.planner.description import _scale
from fedtheory.planner.exact_optimum import GRID, find_lowest
from fedtheory.planner.measurements import _refine_grid, find_covering_bound
from fedtheory.planner.optimum import find_minimiser
from fedtheory.planner.recommendation import _find_widest
from fedtheory.planner.rounds_needed import RoundsNeeded

ETA, TAU, A, B = sp.symbols("eta tau A B", positive=True)


def _bound(expression: sp.Expr) -> NumericBound:
    """Return a bound in the step size alone, without a condition."""
    return NumericBound(THEOREM, tuple(sp.Add.make_args(sp.sympify(expression))), (), {ETA: STEP}, {STEP: 1.0})


@pytest.mark.parametrize(("a", "b", "c"), [(1, 0, 1), (1, 1, 1), (100, 1, 2), (3, "1/1000", "1/7")])
def test_the_best_step_size_of_a_cubic_bound_without_conditions(a: int, b: int | str, c: int | str) -> None:
    """a/eta + b eta + c eta^3 is smallest where 3 c eta^4 + b eta^2 = a, which is quadratic in eta^2."""
    falling, linear, cubic = (float(Fraction(value)) for value in (a, b, c))
    bound = _bound(sp.Rational(a) / ETA + sp.Rational(b) * ETA + sp.Rational(c) * ETA**3)
    square = (-linear + math.sqrt(linear**2 + 12 * cubic * falling)) / (6 * cubic)
    found = StepSizes(bound).best(bound)
    assert found is not None
    assert found[0] == pytest.approx(math.sqrt(square), rel=1e-6)


def test_a_quotient_just_below_a_count_is_the_count() -> None:
    """tau <= A / B at A = 0.3 and B = 0.1: three local steps, although the floats' quotient is 2.9999999999999996."""
    names = {TAU: STEPS, A: "A", B: "B"}
    for a, b, count in ((0.3, 0.1, 3), (0.29999, 0.1, 2), (0.3, 0.4, 0)):
        bound = NumericBound(THEOREM, (TAU,), (TAU <= A / B,), names, {STEPS: 1.0, "A": a, "B": b})
        assert find_largest_whole(bound, STEPS).value == count
    assert largest(NumericBound(THEOREM, (TAU,), (), names, {}), STEPS).value == math.inf


def test_rounds_and_iterations_that_are_both_given_stay() -> None:
    """Given numbers of rounds and iterations both stay: 100 and 1000, whatever the local steps were."""
    bound = bound_of_run(LIU, a_run(local_steps=5, rounds=50))
    both = bound.with_numbers({"iterations": 1000, "rounds": 100})
    assert (both.values["iterations"], both.values["rounds"]) == (1000, 100)


def test_the_planned_step_is_beaten_by_one_that_takes_fewer_rounds() -> None:
    """The fewest rounds are preferred, even if more rounds give a smaller error.

    On x^2/2 from 1 with noise of variance 1 the second moment m becomes (1 - eta)^2 m + eta^2: after one round it is
    0.5 at least, and 0.52 with eta = 2/5, which is at 0.3472 after the second one.
    """
    setting = quadratic(FLOAT.array([[[1.0]]]), FLOAT.array([[0.0]]), FLOAT.array([1.0]), noise=FLOAT.array([1.0]))
    errors = ExactErrors(Run(setting, fedavg(setting, rounds=10, local_step_size=0.4)))
    search = RoundsNeeded(errors, q.final_suboptimality, 0.51 / 2)
    assert [len(search.curve(0.4, rounds).errors) for rounds in (4, 10, 20)] == [4, 10, 20]
    planned = search.outcome(0.4, 10)
    assert (planned.rounds, planned.error) == (2, pytest.approx(0.3472 / 2))
    found = search.best()
    assert (found.reached, found.rounds) == (True, 1)
    assert found.error == pytest.approx(((1 - found.step_size) ** 2 + found.step_size**2) / 2)
    assert planned.error < found.error <= 0.51 / 2


def test_a_search_ends_where_the_error_is_flat_towards_small_steps() -> None:
    """Among equal scores the largest exponent wins, so that smaller steps are not tried."""
    asked: list[float] = []

    def score(exponent: float) -> float:
        asked.append(exponent)
        return max(exponent, -1.0)

    assert find_lowest(score, GRID) is None
    assert sorted(asked) == list(GRID)


@pytest.mark.parametrize("best", [-7.3, 0.4, 3.6])
def test_a_search_goes_on_where_the_end_of_the_grid_is_the_best(best: float) -> None:
    """The grid of exponents is from -4 to 1."""
    found = find_lowest(lambda exponent: (exponent - best) ** 2, GRID)
    assert found is not None
    assert found[0] == pytest.approx(best, abs=0.02)


@pytest.mark.parametrize("name", ["local_step_size", "rounds", "local_steps"])
def test_a_bound_along_a_number_is_the_bound(name: str) -> None:
    """A bound along one number agrees with the bound, including products with that number."""
    for claim in (THEOREM, LIU):
        bound = bound_of_run(claim, a_run())
        along = bound.along(name)
        for number in (0.25, 1.0, 3.0):
            assert along(number) == bound.value({name: number})


def test_a_power_that_falls_faster_has_no_formula() -> None:
    """The minimum of 1/eta^2 + 1/eta + eta is a root of eta^3 = eta + 2, for which there is no formula."""
    assert find_minimiser({-2: 1.0, -1: 1.0, 1: 1.0}) is None
    bound = _bound(ETA**-2 + 1 / ETA + ETA)
    found = StepSizes(bound).best(bound)
    assert found is not None
    assert found[0] ** 3 == pytest.approx(found[0] + 2, rel=1e-6)


def test_the_claim_of_the_largest_step_sizes_covers_most() -> None:
    """A claim without a limit, or one that covers no step size, is not selected."""
    plans = [ClaimPlan(LIU, q.final_distance_sq, True, None, step=Edge(value)) for value in (0.0, 0.1, 0.3, math.inf)]
    assert _find_widest(plans) is plans[2]
    assert _find_widest([plans[0], plans[3]]) is None


def test_step_sizes_are_tried_on_both_sides_of_the_best_one() -> None:
    """Step sizes are tried at thirds of the powers of four on both sides of the best one."""
    powers: Any = SimpleNamespace(step=lambda exponent: 4.0**exponent)
    values = {0.25: 4.0, 1.0: 1.0, 4.0: 2.0, 16.0: 5.0}
    around = [4 ** (third / 3) for third in (-2, -1, 1, 2)]
    assert _refine_grid(values, powers) == pytest.approx(around)
    assert _refine_grid({1.0: 4.0, 2.0: 1.0, 4.0: 3.0}, powers) == pytest.approx([4 ** (1 / 3), 4 ** (2 / 3)])
    assert _refine_grid({1.0: 1.0, 4.0: 2.0}, powers) == pytest.approx([4 ** (1 / 3), 4 ** (2 / 3)])


def test_a_round_map_of_radius_one_is_stable_up_to_rounding() -> None:
    """A fixed direction has the eigenvalue one, which floats may exceed slightly."""
    none, one = np.zeros(1), np.ones(1)
    for radius, is_stable in ((1.0, True), (1 + 1e-12, True), (1 + 1e-6, False)):
        rounds = RoundsInEigenbasis(radius * one, none, none, one[:, None], none[:, None])
        assert rounds.is_stable is is_stable
        assert rounds.limit == (0.0 if is_stable else math.inf)


def test_a_search_beside_the_edge_of_divergence() -> None:
    """Scores are infinite above the edge; the smallest one below it is found as accurately as elsewhere."""
    found = find_lowest(lambda exponent: (exponent - 0.4) ** 2 + 1 if exponent < 0.7 else math.inf, GRID)
    assert found is not None
    assert found[0] == pytest.approx(0.4, abs=0.01)


@pytest.mark.parametrize(
    ("claim_id", "expected"),
    [("comparator:curvatures.average-error", 0.9), ("fraboni2022:thm-3.gradient.given-weights", 0.5)],
)
def test_a_plan_has_each_condition_of_its_claim_once(claim_id: str, expected: float) -> None:
    """Conditions on clients occur once: eta times the average of L_i = 2 is 1/10, and each weight is a half."""
    (found,) = plan(a_run(), claims=[find(claim_id)]).claims
    assert len(found.conditions) == len(found.claim.conditions)
    assert any(slack.slack == pytest.approx(expected) for slack in found.conditions)


def test_the_fewest_rounds_where_all_step_sizes_need_more_than_planned() -> None:
    """For (x^2 + y^2/2)/2 from (1, 1) the errors after n rounds are sums of two powers."""
    setting = quadratic(FLOAT.array([[[1.0, 0.0], [0.0, 0.5]]]), FLOAT.array([[0.0, 0.0]]), FLOAT.array([1.0, 1.0]))
    errors = ExactErrors(Run(setting, fedavg(setting, rounds=2, local_step_size=0.5)))
    accuracy = 1e-6

    def needed(step: float) -> int:
        rates = (1 - step) ** 2, (1 - step / 2) ** 2
        return next(n for n in range(1, 200) if (rates[0] ** n + rates[1] ** n / 2) / 2 <= accuracy)

    found = RoundsNeeded(errors, q.final_suboptimality, accuracy).best()
    assert found.reached
    assert found.rounds == min(needed(step / 1000) for step in range(300, 1900)) == needed(found.step_size)


def test_a_limit_is_solved_for_in_few_dimensions(monkeypatch: pytest.MonkeyPatch) -> None:
    """On x^2/2 with noise of variance 1 the second moment tends to eta / (2 - eta), which is 1/3 at eta = 1/2."""
    setting = quadratic(FLOAT.array([[[1.0]]]), FLOAT.array([[0.0]]), FLOAT.array([1.0]), noise=FLOAT.array([1.0]))
    run = Run(setting, fedavg(setting, rounds=3, local_step_size=0.5))
    for most, expected in ((1, pytest.approx(1 / 6)), (0, None)):
        monkeypatch.setattr(error_limits, "_MOST_DIMENSIONS", most)
        assert error_limits.compute_limit(run, q.final_suboptimality) == expected
    assert error_limits.compute_limit(run, q.average_suboptimality) is None


def test_no_bound_covers_a_run_against_its_assumptions() -> None:
    """The theorem assumes a server that adds the average change, and equal steps."""
    run = a_run()
    assert find_covering_bound(THEOREM, run) is not None
    for changed in ({"local_steps": (1, 2)}, {"server_step_size": 0.5}):
        other = fedavg(run.problem, rounds=5, local_step_size=0.05, **changed)
        assert find_covering_bound(THEOREM, Run(run.problem, other)) is None


def test_the_scale_of_a_column() -> None:
    """Average, deviation, smallest and largest entry: of 1, 1, 4 these are 2, sqrt(2), 1 and 4."""
    found = _scale("a", np.array([1.0, 4.0, 1.0]))
    assert (found.name, found.mean, found.least, found.largest) == ("a", 2.0, 1.0, 4.0)
    assert found.deviation == pytest.approx(math.sqrt(2))

"""User-defined weighted averages and sums, against sums by hand."""

from __future__ import annotations

import pytest
import sympy as sp
from flint import fmpq

import fedtheory as ft
from fedtheory import Claim, weighted_mean, weighted_sum
from fedtheory import quantities as q
from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.errors import InputError, NotApplicable
from verify.check import check

t, a = sp.symbols("t a", positive=True)
_TABLE = {
    "problem": {"kind": "quadratic", "hessians": [[["1"]], [["2"]]], "linear": [["1"], ["-1"]], "start": ["3"]},
    "algorithm": {"local_step_size": "1/8", "local_steps": 2, "rounds": 3},
}


def _run(**algorithm: object) -> Run:
    return ft.parse_run({**_TABLE, "algorithm": {**_TABLE["algorithm"], **algorithm}}, RATIONAL)


def test_a_weighted_mean_counts_the_local_steps_of_all_rounds() -> None:
    run = _run()
    errors = run.trajectory.local_suboptimality[:, :-1].ravel()
    weights = [(5 + number) ** 2 for number in range(6)]
    expected = sum(w * e for w, e in zip(weights, errors, strict=True)) / sum(weights)
    assert weighted_mean("weighted_error", q.suboptimality_at_step, (5 + t) ** 2, t).on(run) == expected


def test_weights_may_have_quantities_of_the_run() -> None:
    run = _run()
    errors = run.trajectory.local_suboptimality[:, 1:].ravel()
    expected = sum((2 + number) * error for number, error in enumerate(errors))
    found = weighted_sum("error_sum", q.suboptimality_after_step, a + t, t, {a: q.local_steps})
    assert found.on(run) == expected


def test_weights_may_have_a_value_for_each_step() -> None:
    run = _run(local_step_size="1/(8 + n + k)")
    sizes = [fmpq(1, 8 + number // 2 + number % 2) for number in range(6)]
    errors = run.trajectory.local_suboptimality[:, :-1].ravel()
    expected = sum(size * error for size, error in zip(sizes, errors, strict=True)) / sum(sizes)
    found = weighted_mean("mean_by_size", q.suboptimality_at_step, a, t, {a: q.step_size_at_step})
    assert found.on(run) == expected


def test_a_quantity_of_rounds_is_weighted_round_by_round() -> None:
    run = _run()
    distances = run.trajectory.server_distance_sq[1:]
    expected = (distances[0] + 2 * distances[1] + 3 * distances[2]) / 6
    assert weighted_mean("late_distance", q.server_distance_after_sq, t + 1, t).on(run) == expected


def test_a_value_that_rounds_have_in_common_counts_in_each() -> None:
    assert weighted_sum("total", q.weight_sum, t + 1, t).on(_run()) == 1 + 2 + 3


def test_equal_weights_give_the_plain_average() -> None:
    run = _run()
    plain = weighted_mean("plain_error", q.suboptimality_after_step, sp.S.One, t)
    assert plain.on(run) == q.average_suboptimality.on(run)


def test_the_values_at_steps_are_those_of_the_trajectory() -> None:
    run = _run()
    assert (q.server_suboptimality.on(run).ravel() == run.trajectory.server_suboptimality[:-1]).all()
    assert (q.server_suboptimality_after.on(run).ravel() == run.trajectory.server_suboptimality[1:]).all()
    assert (q.step_size_at_step.on(run) == fmpq(1, 8)).all()


def test_a_claim_has_it_on_both_sides() -> None:
    error = weighted_mean("weighted_error", q.suboptimality_at_step, (1 + t) ** 2, t)
    claim = Claim(id="mine:weighted", lhs=error, rhs=2 * error.symbol, where={error.symbol: error})
    found = check(claim, _run())
    assert found.ratio == 0.5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: weighted_mean("max_drift", q.suboptimality_at_step, t, t), "expected a new name"),
        (lambda: weighted_mean("two words", q.suboptimality_at_step, t, t), "expected a new name"),
        (lambda: weighted_mean("mine", q.final_suboptimality, t, t), "one value for each round or local step"),
        (lambda: weighted_mean("mine", q.suboptimality_at_step, a + t, t), "symbols of `where` in the weights, got a"),
        (lambda: weighted_sum("mine", q.suboptimality_at_step, t, "t"), "expected a symbol"),
    ],
    ids=["known name", "no name", "one number", "no meaning", "no symbol"],
)
def test_a_mistake_is_named(make: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()  # type: ignore[operator]


def test_negative_weights_are_no_mean() -> None:
    with pytest.raises(NotApplicable, match="not negative"):
        weighted_mean("mine", q.suboptimality_at_step, 2 - t, t).on(_run())


def test_values_of_each_client_are_refused() -> None:
    with pytest.raises(NotApplicable, match="one value for each client"):
        weighted_sum("mine", q.client_distance_sq, t, t).on(_run())

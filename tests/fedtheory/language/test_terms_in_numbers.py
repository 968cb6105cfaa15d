"""Quantities composed of other numbers of a run: values, places and signs follow from their terms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import fmpq

from fedtheory.arithmetic import Array
from fedtheory.engine.run import Run
from fedtheory.errors import FedtheoryError, NotApplicable
from fedtheory.language import quantities as q
from fedtheory.language.quantities.measuring.reductions import (
    LARGEST_CLIENT,
    MEAN_OVER_ROUNDS,
    SUM_BEFORE_STEP,
    reduce_steps,
)
from fedtheory.language.quantities.measuring.terms import InNumbers, define_in_numbers, reduce_entries
from fedtheory.language.quantities.quantity import Over, RunQuantity
from fedtheory.language.signs import Signs, derive_signs, iterate_run_quantities
from fedtheory.proofs import numbers
from verify.instances import Instance

FAMILIES = ("small schedules", "asynchronous cycles", "sampled clients", "sampled weights", "full gradients")


def _shares(run: Run) -> Any:
    return run.average_over_types(run.surrogate.shares)


def _weights(run: Run) -> Any:
    return run.average_over_types(run.surrogate.weights)


def _residuals(run: Run) -> Any:
    return run.surrogate.values_at(run.surrogate.optimum) - run.surrogate.round_optimal_values


def _move(run: Run) -> Any:
    total = run.algorithm.aggregation.server_step_size * max(1, run.surrogate.totals.max())
    excess, pairing = q.weight_excess.on(run), q.weight_pairing.on(run)
    return 1 + run.algorithm.aggregation.server_step_size * total * excess + max(0, total * (pairing * total - 2))


def _by_type(values: Any) -> Callable[[Run], Any]:
    return lambda run: run.surrogate.sum_by_type(values(run))


def _pearson(run: Run, shares: Any) -> Any:
    """Return the sum of (r_j - s_j)^2 / s_j over types with positive weight, of weights (..., M)."""
    importances = run.surrogate.sum_by_type(run.problem.weights)
    rows = np.reshape(shares, (-1, len(importances)))
    return [sum((r - s) ** 2 / s for r, s in zip(importances, row, strict=True) if s != 0) for row in rows]


def _missing(run: Run) -> Any:
    return run.surrogate.sum_by_type(run.surrogate.weights)[:, run.surrogate.types] == 0


def _excess(run: Run) -> Any:
    weights = _weights(run)
    excess = q.aggregation_weight.on(run).reshape(1, -1) - q.weight_pairing.on(run) * weights
    return max(0, max(excess[weights != 0], default=0))


def _require_one_each(run: Run) -> Run:
    run.require_single_clients("types are sums")
    return run


def _window_weights(run: Run) -> Any:
    run.require_single_clients("windows are of single clients")
    weights = run.surrogate.weights
    window = run.algorithm.schedule.smallest_window(weights)
    return [weights[first : first + window].sum(axis=0) for first in range(0, len(weights), window)]


def _every_second(run: Run) -> Any:
    errors = run.trajectory.server_suboptimality[2::2]
    return errors.sum() / len(errors)


BY_HAND: dict[RunQuantity, Callable[[Run], Any]] = {
    q.largest_aggregation_weight: lambda run: q.aggregation_weight.on(run).max(),
    q.largest_share: lambda run: _shares(run).max(axis=1),
    q.largest_share_of_all: lambda run: _shares(run).max(),
    q.largest_expected_weight: lambda run: _weights(run).max(),
    q.mean_weight: lambda run: run.average_over_types(run.surrogate.mean_weights),
    q.mean_of_shares: lambda run: _shares(run).sum(axis=0) / run.algorithm.rounds,
    q.largest_weight_sum: lambda run: max(1, run.surrogate.totals.max()),
    q.smallest_weight_sum: lambda run: run.surrogate.totals.min(),
    q.mean_weight_sum: lambda run: run.surrogate.mean_weights.sum(),
    q.mean_type_weight: lambda run: run.surrogate.sum_by_type(run.surrogate.mean_weights),
    q.largest_chi_sq: lambda run: q.chi_sq.on(run).max(),
    q.misfit: lambda run: abs(q.type_weight.on(run) - q.type_importance.on(run)).max(),
    q.mean_misrepresentation: lambda run: (q.chi_sq.on(run) * q.misrepresentation.on(run)).sum() / run.algorithm.rounds,
    q.slowest_time: lambda run: max(run.algorithm.clock.times),
    q.fastest_time: lambda run: min(run.algorithm.clock.times),
    q.largest_remaining_time: lambda run: q.remaining_time.on(run).max(axis=2),
    q.least_remaining_time: lambda run: q.remaining_time.on(run).min(axis=2),
    q.longest_report_interval: lambda run: q.report_interval.on(run).max(),
    q.report_count: lambda run: run.algorithm.schedule.participates.sum(axis=0),
    q.weight_excess: lambda run: (q.aggregation_weight.on(run)[0] - q.weight_pairing.on(run) * _weights(run)).max(),
    q.spread_factor: _move,
    q.residual: lambda run: _residuals(run).sum() / run.algorithm.rounds,
    q.last_interval_gap: lambda run: q.interval_end_gap.on(run)[-1, 0, 0],
    q.smallest_gap: lambda run: min([*q.interval_end_gap.on(run).ravel(), run.trajectory.final_suboptimality]),
    q.largest_importance: lambda run: max(run.client_weights),
    q.type_importance: _by_type(lambda run: _require_one_each(run).problem.weights),
    q.type_weight: _by_type(lambda run: run.surrogate.weights),
    q.type_share: _by_type(lambda run: run.surrogate.shares),
    q.unrepresented_importance: lambda run: np.where(_missing(run), run.client_weights, 0),
    q.chi_sq: lambda run: _pearson(run, run.surrogate.sum_by_type(run.surrogate.shares)),
    q.mean_chi_sq: lambda run: _pearson(run, run.surrogate.sum_by_type(run.surrogate.mean_shares)),
    q.absences: lambda run: _missing(run)[:, np.unique(run.surrogate.types)].sum(),
    q.reporting_excess: _excess,
    q.window_weight: _window_weights,
    q.weight_sum: lambda run: run.surrogate.totals,
    q.update_rate: lambda run: sum(n / time for n, time in zip(run.counts, run.algorithm.clock.times, strict=True)),
    q.reciprocal_progress: lambda run: (1 / q.interval_end_gap.on(run) - 1 / q.interval_start_gap.on(run)).sum(),
    q.nearest_start: lambda run: 1 / max(run.trajectory.server_distance_sq[:-1]),
    q.whole_time_suboptimality: _every_second,
    q.iterations: lambda run: run.algorithm.rounds * run.algorithm.work.steps[0],
}
"""Functions that compute values in another way."""


def _repeat_rounds(run: Run, values: Any, count: int) -> Array:
    """Return the values repeated for all rounds if these are equal."""
    found = np.asarray(values)
    if found.size < count:
        assert len(found) == 1
        found = np.broadcast_to(found, (run.algorithm.rounds, *found.shape[1:]))
    return found.ravel()


@pytest.mark.parametrize("family", FAMILIES)
def test_values_are_those_by_hand(family: str) -> None:
    """Values are equal in rationals on each run where they exist."""
    compared = 0
    for number in range(3):
        run = Instance(family, number).run()
        for quantity, compute in BY_HAND.items():
            try:
                found = quantity.on(run)
            except FedtheoryError:
                continue
            expected = np.asarray(compute(run), dtype=object)
            assert (_repeat_rounds(run, found, expected.size) == expected.ravel()).all(), quantity.name
            assert np.ndim(found) == (0 if quantity.place == "run" and expected.size == 1 else 3), quantity.name
            compared += 1
    assert compared >= 30


def test_each_such_quantity_is_computed_by_hand_too() -> None:
    in_numbers = {one for one in iterate_run_quantities() if isinstance(one.measure, InNumbers)}
    assert in_numbers == BY_HAND.keys()


@pytest.mark.parametrize("family", FAMILIES)
def test_signs_by_terms_hold_on_runs(family: str) -> None:
    """No quantity has a value below the sign of its term."""
    found = derive_signs(numbers._TABLES)
    positive = {*found.positive, *found.positive_of_clients}
    every = positive | {*found.nonnegative, *found.of_an_update, *found.nonnegative_of_clients}
    assert {q.largest_share, q.mean_weight, q.spread_factor, q.misfit} <= every
    for number in range(3):
        run = Instance(family, number).run()
        for one in every:
            assert isinstance(one, RunQuantity)
            try:
                least = np.asarray(one.on(run)).min()
            except FedtheoryError:
                continue
            assert least > 0 if one in positive else least >= 0, one.name


def _signs(monkeypatch: pytest.MonkeyPatch, *made: RunQuantity) -> set[str]:
    monkeypatch.setattr("fedtheory.language.signs.iterate_run_quantities", lambda: iter(made))
    table = Signs(positive=(q.local_step_size,), nonnegative=(q.momentum,), nonnegative_of_clients=(q.importance,))
    found = derive_signs([table])
    kinds = ("positive", "nonnegative", "of_an_update", "positive_of_clients", "nonnegative_of_clients")
    return {f"{one.name}: {kind}" for kind in kinds for one in getattr(found, kind)}


def test_only_terms_with_signs_have_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Differences, unknown numbers, empty sums and square roots have no sign by terms."""
    eta, beta, p, weight = (one.symbol for one in (q.local_step_size, q.momentum, q.importance, q.weight_sum))
    numbers_of = (q.local_step_size, q.momentum)

    def number(name: str, expression: sp.Expr, *over: Over, of: tuple[RunQuantity, ...] = numbers_of) -> RunQuantity:
        return define_in_numbers(name, name, name, expression, *over, of=of)

    assert _signs(
        monkeypatch,
        number("a", eta + beta),
        number("b", eta * beta),
        number("c", eta - beta),
        number("d", beta - eta),
        number("e", eta * weight, of=(q.local_step_size, q.weight_sum)),
        number("f", sp.Max(1, weight), MEAN_OVER_ROUNDS, of=(q.weight_sum,)),
        number("g", p * eta, of=(q.importance, q.local_step_size)),
        number("h", p, LARGEST_CLIENT, of=(q.importance,)),
        number("i", eta, SUM_BEFORE_STEP),
        number("j", eta, Over("rounds", "sum", begin=1)),
        number("k", sp.Abs(weight), of=(q.weight_sum,)),
        number("l", eta / beta),
        number("m", beta / eta**2),
        number("n", sp.sqrt(eta)),
        number("o", -eta),
        number("p", sp.Min(eta, weight), of=(q.local_step_size, q.weight_sum)),
        number("q", sp.Max(-eta, weight), of=(q.local_step_size, q.weight_sum)),
        number("r", sp.Max(beta, weight) - 1, of=(q.momentum, q.weight_sum)),
    ) == {
        *("a: positive", "b: nonnegative", "f: positive", "g: nonnegative_of_clients", "h: nonnegative"),
        *("k: of_an_update", "m: nonnegative"),
    }


def test_a_sum_over_rounds_counts_what_they_have_in_common() -> None:
    """A value that is equal in all rounds or steps counts once for each of them."""
    run = Instance("full gradients", 1).run()
    rounds, steps = run.algorithm.rounds, run.algorithm.work.steps[0]
    for over, count in (("rounds", rounds), ("iterations", rounds * steps)):
        total = reduce_entries("total", "t", "t", q.local_step_size, Over(over, "sum"))  # type: ignore[arg-type]
        assert total.on(run) == q.local_step_size.on(run) * count
    later = reduce_entries("later", "t", "t", q.local_step_size, Over("rounds", "sum", begin=1))
    assert later.on(run) == q.local_step_size.on(run) * (rounds - 1)


def test_a_quantity_without_a_value_is_named() -> None:
    """The reason names the quantity of the claim."""
    run = Instance("unequal local work", 0).run()
    with pytest.raises(NotApplicable, match="local steps"):
        q.iterations.on(run)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 33])
@pytest.mark.parametrize("index", ["clients", "steps", "rounds"])
def test_extremes_are_those_of_all_entries(index: str, count: int) -> None:
    """The extreme of any number of entries is found, in floats and in rationals, at whatever place it is."""
    run = Instance("full gradients", 1).run()
    axis = ("rounds", "steps", "clients").index(index)
    for shift in range(count):
        entries = np.roll([fmpq(3 * number % 7 - 2, 1 + number) for number in range(count)], shift)
        for values in (entries, np.array([float(entry.p) / float(entry.q) for entry in entries])):
            placed = np.moveaxis(values.reshape(-1, 1, 1), 0, axis)
            for by, extreme in (("largest", max(values)), ("smallest", min(values))):
                assert np.ravel(reduce_steps([Over(index, by)], run, placed)) == [extreme]  # type: ignore[arg-type]

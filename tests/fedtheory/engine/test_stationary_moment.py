"""The fixed point of the second moments, against closed forms in one dimension and against long runs."""

from __future__ import annotations

from typing import Any

import enumeration as brute
import pytest
from flint import fmpq
from stationary_runs import _plane, _recursion
from tiny_runs import data, quadratics

from fedtheory.arithmetic import FLOAT
from fedtheory.engine.moments.stationary import (
    compute_stationary_distance_sq,
    compute_stationary_mean,
    compute_stationary_moment,
    compute_stationary_round_suboptimality,
    compute_stationary_suboptimality,
)
from fedtheory.engine.run import Run
from fedtheory.federation import Fixed, Full, Multinomial, Participation, Uniform

HESSIANS, LINEAR, DEVIATIONS = ["2", "1/2", "1"], ["1", "-3", "2"], [1, 0, "1/2"]
IMPORTANCE, SIZES, STEPS, SERVER = ["1/2", "1/3", "1/6"], ["1/4", "1/3", "1/5"], (2, 3, 1), "4/3"


def _three_clients(law: Participation, steps: Any = STEPS, rounds: int = 1) -> Run:
    return quadratics(
        [[[h]] for h in HESSIANS],
        [[b] for b in LINEAR],
        ["7"],
        deviation=DEVIATIONS,
        importance=IMPORTANCE,
        eta=SIZES,
        steps=steps,
        server=SERVER,
        law=law,
        rounds=rounds,
    ).engine


def _compute_closed_form(draws: brute.Law, steps: tuple[int, ...]) -> tuple[fmpq, fmpq]:
    """Return mean and second moment of x - x* in the limit.

    With u = x - x*, a client ends its round at ``r_i u + s_i + noise``, where
    ``r = (1 - eta h)^K``, ``s = eta (b - h x*) sum_{k<K} (1 - eta h)^k`` and the
    noise has variance ``eta^2 sigma^2 sum_{k<K} (1 - eta h)^{2k}``.
    """
    h, b, p, eta, deviation = (brute.point(*v) for v in (HESSIANS, LINEAR, IMPORTANCE, SIZES, DEVIATIONS))
    g, clients = brute.number(SERVER), range(len(h))
    best = brute.dot(p, b) / brute.dot(p, h)
    powers = [[(1 - eta[i] * h[i]) ** k for k in range(steps[i])] for i in clients]
    alpha = [(1 - eta[i] * h[i]) ** steps[i] - 1 for i in clients]
    shift = [eta[i] * (b[i] - h[i] * best) * sum(powers[i]) for i in clients]
    noise = [(eta[i] * deviation[i]) ** 2 * sum(q * q for q in powers[i]) for i in clients]
    first = [brute.expectation(draws, lambda w, i=i: w[i]) for i in clients]
    pairs = {(i, j): brute.expectation(draws, lambda w, i=i, j=j: w[i] * w[j]) for i in clients for j in clients}
    # E u = E u + g sum_i E[w_i] (alpha_i E u + shift_i)
    mean = -brute.dot(tuple(first), tuple(shift)) / brute.dot(tuple(first), tuple(alpha))
    # E u^2 = E (u + g sum_i w_i (alpha_i u + shift_i + noise_i))^2, collected as quadratic * E u^2 + rest.
    square = 2 * g * sum(first[i] * alpha[i] for i in clients)
    rest = 2 * g * sum(first[i] * shift[i] for i in clients) * mean
    for (i, j), pair in pairs.items():
        square += g * g * pair * alpha[i] * alpha[j]
        rest += g * g * pair * ((alpha[i] * shift[j] + shift[i] * alpha[j]) * mean + shift[i] * shift[j])
    rest += g * g * sum(pairs[i, i] * noise[i] for i in clients)
    return mean, -rest / square


SHARES = brute.point(*IMPORTANCE)
LAWS = {
    "full": (Full(), brute.full_weights(SHARES)),
    "fixed": (Fixed((0, 2)), brute.fixed_weights(SHARES, (0, 2))),
    "uniform": (Uniform(2), brute.uniform_weights(SHARES, 2)),
    "multinomial": (Multinomial(2), brute.multinomial_weights(SHARES, 2)),
}


@pytest.mark.parametrize("steps", [(1, 1, 1), STEPS], ids=str)
@pytest.mark.parametrize("name", LAWS)
def test_closed_form_on_a_line(name: str, steps: tuple[int, ...]) -> None:
    """Mean and second moment of the limit agree for several clients with additive noise, as rationals."""
    law, draws = LAWS[name]
    recursion = _recursion(_three_clients(law, steps))
    mean, second = _compute_closed_form(draws, steps)
    assert compute_stationary_moment(recursion).tolist() == [[1, mean], [mean, second]]
    assert compute_stationary_mean(recursion).tolist() == [mean]
    assert compute_stationary_distance_sq(recursion) == second


def test_the_simplest_closed_form() -> None:
    """For x' = x - eta (h x + noise) the limit has variance eta sigma^2 / (h (2 - eta h))."""
    run = quadratics([[["3"]]], [["0"]], ["1"], deviation=2, eta="1/5").engine
    moment = compute_stationary_moment(_recursion(run))
    assert moment.tolist() == [[1, 0], [0, fmpq(1, 5) * 4 / (3 * (2 - fmpq(3, 5)))]]


def test_closed_form_with_multiplicative_noise() -> None:
    """One row at a time: E u^2 = 4 eta^2 E[z^2 r^2] / (1 - E (1 - 2 eta z^2)^2), r the residuals at x*."""
    inputs, outputs, eta = brute.point("1/2", 1, -1, "3/2"), brute.point(1, 0, 2, -1), fmpq(1, 10)
    run = data([[[z] for z in inputs]], [outputs], [2], batch=1, eta=eta).engine
    best = brute.dot(inputs, outputs) / brute.dot(inputs, inputs)
    noise = sum(4 * eta * eta * (z * (y - z * best)) ** 2 for z, y in zip(inputs, outputs, strict=True)) / 4
    kept = sum((1 - 2 * eta * z * z) ** 2 for z in inputs) / 4
    assert compute_stationary_moment(_recursion(run)).tolist() == [[1, 0], [0, noise / (1 - kept)]]


@pytest.mark.parametrize("name", LAWS)
def test_the_fixed_point_is_unchanged_by_a_round(name: str) -> None:
    """One round from the fixed point changes nothing."""
    recursion = _recursion(_three_clients(LAWS[name][0]))
    moment = compute_stationary_moment(recursion)
    assert (recursion.propagate_round(moment, recursion.round_noise(moment)) == moment).all()


@pytest.mark.parametrize("batch", [None, 1, 2])
def test_long_float_runs_approach_it_in_a_plane(batch: int | None) -> None:
    """Mini-batches in two dimensions: 200 rounds come within rounding of the exact limit, ten do not."""
    limit = FLOAT.array(compute_stationary_moment(_recursion(_plane(batch, 1))))
    moments = _plane(batch, 200).as_floats().trajectory.moments
    assert moments[-1] == pytest.approx(limit, rel=1e-10, abs=1e-12)
    assert moments[2] != pytest.approx(limit, rel=1e-6)


@pytest.mark.parametrize("name", LAWS)
def test_long_float_runs_approach_it_on_a_line(name: str) -> None:
    """Long float runs approach the limit for every participation law."""
    law, draws = LAWS[name]
    last = _three_clients(law, rounds=200).as_floats().trajectory
    mean, second = (float(v.p) / float(v.q) for v in _compute_closed_form(draws, STEPS))
    assert last.server_distance_sq[-1] == pytest.approx(second, rel=1e-10)
    assert last.moments[-1, 0, 1] == pytest.approx(mean, rel=1e-10)


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("batch", [None, 1])
def test_round_suboptimality_in_the_limit(batch: int | None, steps: int) -> None:
    """The average of E F(xbar^{n,k}) - F* over k = 1 .. K of a late round agrees."""
    exact = compute_stationary_round_suboptimality(_recursion(_plane(batch, 1, steps)))
    late = _plane(batch, 250, steps).as_floats().trajectory.local_suboptimality[-1, 1:].mean()
    assert late == pytest.approx(FLOAT.number(exact, "limit"), rel=1e-9)


@pytest.mark.parametrize("steps", [1, 3])
@pytest.mark.parametrize("batch", [None, 1])
def test_suboptimality_in_the_limit(batch: int | None, steps: int) -> None:
    """E F(x^n) - F* of a late model agrees, which differs from the averages inside a round."""
    recursion = _recursion(_plane(batch, 1, steps))
    exact = compute_stationary_suboptimality(recursion)
    late = _plane(batch, 250, steps).as_floats().trajectory.server_suboptimality[-1]
    assert late == pytest.approx(FLOAT.number(exact, "limit"), rel=1e-9)
    assert (exact == compute_stationary_round_suboptimality(recursion)) is (steps == 1)

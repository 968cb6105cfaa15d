"""Constants of each client: noise bounds at many points, smoothness in mean square, common products, copies."""

from __future__ import annotations

import itertools
from typing import Any

import enumeration as brute
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_runs import Pair, data, quadratics
from tiny_shapes import LINE, ROWS, WIDE

from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.federation import Uniform
from fedtheory.language import quantities as q

PAIRS: dict[str, Pair] = {
    "additive": quadratics(**LINE, deviation=[1, "2/3"], importance=["1/3", "2/3"]),
    "one of three": data(*ROWS, ["2"], batch=1),
    "two of three": data(*ROWS, ["2"], batch=2, replacement=False, importance=["1/4", "3/4"]),
    "plane": data(*WIDE, ["2", 1], batch=1),
    "plane, two": data(*WIDE, ["2", 1], batch=2),
    "interpolated": data([[["1/3"], ["1/7"], ["3/10"]]], [["1/30", "1/70", "3/100"]], ["2"], batch=1),
}
TICKS = [fmpq(j, 3) for j in range(-12, 13, 2)]
SCALES = [fmpq(1), fmpq(1, 100), fmpq(1000)]


def _points(origin: brute.Point) -> list[brute.Point]:
    ticks = TICKS if len(origin) == 1 else TICKS[::2]
    grid = list(itertools.product(ticks, repeat=len(origin)))
    return [brute.plus(origin, v, scale) for scale in SCALES for v in grid]


def _variance(client: brute.Client, at: brute.Point) -> fmpq:
    full = client.gradient(at)
    return brute.expectation(
        [(chance, brute.minus(g, full)) for chance, g in client.stochastic(at)], lambda n: brute.dot(n, n)
    )


def _values(quantity: q.RunQuantity, run: Run) -> list[fmpq]:
    found: list[fmpq] = quantity.measure(run)[0, 0].tolist()
    return found


def _optima(pair: Pair) -> list[brute.Point]:
    return [tuple(optimum) for optimum in pair.engine.problem.client_optima]


@pytest.mark.parametrize("name", PAIRS)
def test_noise_is_bounded_everywhere(name: str) -> None:
    """E|g_k(w) - grad F_k(w)|^2 <= beta_k^2 |w - w_k^o|^2 + sigma_k^2 near and far, with equality at a point."""
    pair = PAIRS[name]
    betas, sigmas = (_values(quantity, pair.engine) for quantity in (q.relative_noise, q.absolute_noise))
    for client, at, beta, sigma in zip(pair.tiny.clients, _optima(pair), betas, sigmas, strict=True):
        assert client.gradient(at) == tuple(fmpq(0) for _ in at)
        assert beta >= 0
        assert sigma >= _variance(client, at)
        for w in _points(at):
            away = brute.minus(w, at)
            assert _variance(client, w) <= beta * brute.dot(away, away) + sigma


@pytest.mark.parametrize("name", [name for name, pair in PAIRS.items() if len(pair.tiny.start) == 1])
def test_noise_constants_in_one_dimension(name: str) -> None:
    """With variance a u^2 + 2 b u + c about w_k^o: (a, c) where b = 0, else (2a, c + b^2/a), attained at u = b/a."""
    pair = PAIRS[name]
    found = zip(
        pair.tiny.clients,
        _optima(pair),
        *(_values(quantity, pair.engine) for quantity in (q.relative_noise, q.absolute_noise)),
        strict=True,
    )
    for client, at, beta, sigma in found:
        left, c, right = (_variance(client, brute.plus(at, (fmpq(u),))) for u in (-1, 0, 1))
        a, b = (left + right) / 2 - c, (right - left) / 4
        assert (beta, sigma) == ((a, c) if b == 0 else (2 * a, c + b * b / a))


def test_interpolated_data_have_no_absolute_noise() -> None:
    """If one model fits all samples, the variance is symmetric around it and vanishes there."""
    run = PAIRS["interpolated"].engine
    assert _values(q.absolute_noise, run) == [0]
    assert _values(q.relative_noise, run)[0] > 0


def test_relative_noise_is_the_same_in_floats() -> None:
    """Rounding errors in a vanishing linear part do not double beta^2."""
    run = PAIRS["interpolated"].engine
    exact = _values(q.relative_noise, run)[0]
    assert _values(q.relative_noise, run.as_floats())[0] == pytest.approx(float(exact.p) / float(exact.q), rel=1e-6)


def _both(name: str, i: int, v: brute.Point, w: brute.Point) -> fmpq:
    """Return E|g(v) - g(w)|^2 with common random numbers."""
    pair = PAIRS[name]
    if name == "additive":
        client = pair.tiny.clients[i]
        return brute.dot(*(brute.minus(client.gradient(v), client.gradient(w)),) * 2)
    table, oracle = pair.engine.problem.data, pair.engine.problem.oracle
    assert table is not None
    inputs = [tuple(row) for row in table.inputs[i]]
    rows, size = range(len(inputs)), oracle.batch  # type: ignore[attr-defined]
    ordered, sets = itertools.product(rows, repeat=size), itertools.combinations(rows, size)
    batches = list(ordered if oracle.replacement else sets)  # type: ignore[attr-defined]
    total = fmpq(0)
    for batch in batches:
        parts = [tuple(2 * brute.dot(inputs[j], brute.minus(v, w)) * c for c in inputs[j]) for j in batch]
        change = brute.mixture([fmpq(1, size)] * size, parts)
        total += brute.dot(change, change)
    return total / len(batches)


@pytest.mark.parametrize("name", PAIRS)
def test_mean_square_smoothness(name: str) -> None:
    """E|g(v) - g(w)|^2 <= hat delta^2 |v - w|^2 for pairs of points; with equality in one dimension."""
    pair = PAIRS[name]
    for i, bound in enumerate(_values(q.mean_square_smoothness, pair.engine)):
        points = _points(_optima(pair)[i])[::7]
        for v, w in itertools.combinations(points[:14], 2):
            apart = brute.minus(v, w)
            change = _both(name, i, v, w)
            assert change <= bound * brute.dot(apart, apart)
            if len(v) == 1:
                assert change == bound * brute.dot(apart, apart)
        assert bound >= _values(q.client_smoothness, pair.engine)[i] ** 2


def test_mean_square_smoothness_in_the_plane_is_attained() -> None:
    """One part in a thousand below the bound fails in some direction."""
    for name in ("plane", "plane, two"):
        for i, bound in enumerate(_values(q.mean_square_smoothness, PAIRS[name].engine)):
            zero = (fmpq(0), fmpq(0))
            fan = [(fmpq(1), fmpq(j, 40)) for j in range(-200, 201)] + [
                (fmpq(j, 40), fmpq(1)) for j in range(-200, 201)
            ]
            assert any(_both(name, i, v, zero) > bound * fmpq(999, 1000) * brute.dot(v, v) for v in fan)


@pytest.mark.parametrize(("eta", "steps", "wanted"), [(["1/2", "1/6"], (1, 3), "1/2"), (["1/4", "1/4"], (2, 2), "1/2")])
def test_effective_step_size(eta: list[str], steps: tuple[int, int], wanted: str) -> None:
    """mu_k E_k is returned if it is common to all clients, in rationals and floats."""
    run = quadratics(**LINE, eta=eta, steps=steps).engine
    assert q.effective_step_size.measure(run) == brute.number(wanted)
    assert q.effective_step_size.measure(run.as_floats()) == pytest.approx(1 / 2)


@pytest.mark.parametrize(("eta", "steps"), [(["1/2", "1/6"], (1, 2)), (["1/4", "250000001/1000000000"], (1, 1))])
def test_effective_step_size_refuses_unequal_products(eta: list[str], steps: tuple[int, int]) -> None:
    """Unequal products are rejected, however close they are."""
    run = quadratics(**LINE, eta=eta, steps=steps).engine
    for either in (run, run.as_floats()):
        with pytest.raises(NotApplicable, match="times their numbers of local steps differ"):
            q.effective_step_size.measure(either)


SHARES: dict[str, Any] = {"importance": ["1/3", "2/3"], "eta": ["1/4", "1/3"], "steps": (2, 3), "rounds": 3}


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 5), st.fractions(min_value="0", max_value="3", max_denominator=7), st.sampled_from(["1", "3/2"]))
def test_copies(copies: int, deviation: Any, server: str) -> None:
    """Copies of clients keep the mean, and divide the covariance of the server's model by their number."""
    run = quadratics(**LINE, **SHARES, deviation=[str(deviation), 1], server=server).engine
    more = run.with_copies(copies)
    assert more.problem.clients == 2 * copies
    assert more.problem.weights.sum() == 1
    assert more.algorithm.work.steps == (2, 3) * copies
    once, again = run.trajectory, more.trajectory
    assert again.server_mean.tolist() == once.server_mean.tolist()
    quiet = [(mean - run.problem.optimum) @ (mean - run.problem.optimum) for mean in once.server_mean]
    for n, mean_sq in enumerate(quiet):
        assert (again.server_distance_sq[n] - mean_sq) * copies == once.server_distance_sq[n] - mean_sq
    assert q.client_step_size.measure(more)[0, 0].tolist() == q.client_step_size.measure(run)[0, 0].tolist() * copies
    assert more.smoothness == run.smoothness
    assert more.mean_dissimilarity_sq.value == run.mean_dissimilarity_sq.value if server == "1" else True


def test_copies_of_data_and_participants() -> None:
    """Copies of batches have the same noise; one participant among copies is one of the originals."""
    pair = data(*ROWS, ["2"], batch=1, eta="1/10", steps=1, rounds=2)
    run, more = pair.engine, pair.engine.with_copies(3)
    assert _values(q.absolute_noise, more) == _values(q.absolute_noise, run) * 3
    assert more.trajectory.server_mean.tolist() == run.trajectory.server_mean.tolist()
    assert more.trajectory.server_distance_sq[1] < run.trajectory.server_distance_sq[1]
    one = quadratics(**LINE, deviation=[1, 2], rounds=2, law=Uniform(1)).engine
    again = one.with_copies(4).trajectory
    assert again.server_distance_sq.tolist() == one.trajectory.server_distance_sq.tolist()


def test_step_factor() -> None:
    """The step factor multiplies all step sizes, and changes nothing else."""
    run = quadratics(**LINE, **SHARES, deviation=1).engine
    half = run.with_step_factor(fmpq(1, 2))
    assert half.algorithm.work.step_sizes.tolist() == [fmpq(1, 8), fmpq(1, 6)]
    assert (half.algorithm.work.steps, half.algorithm.rounds) == ((2, 3), 3)
    assert half.problem is run.problem

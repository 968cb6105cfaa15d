"""Constants of assumptions are at least their brute-force values on the ball, and tight in closed form."""

from __future__ import annotations

import itertools
from typing import Any

import enumeration as brute
import pytest
import tiny_shapes as shapes
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_runs import Pair, data, quadratics
from tiny_shapes import PLANE, ROWS, WIDE

from fedtheory.arithmetic import plain_floats
from fedtheory.engine.constants import Bound
from fedtheory.engine.region import AlongRun, Ball, Everywhere
from fedtheory.errors import NotApplicable
from fedtheory.federation import Multinomial
from fedtheory.language import quantities as q

LINE = shapes.LINE | {"importance": ["1/3", "2/3"]}
PAIRS: dict[str, Pair] = {
    "line": quadratics(**LINE, deviation=[1, 2], eta="1/4", steps=2, rounds=2),
    "line, multinomial": quadratics(
        **LINE, deviation=[1, 0], rounds=2, law=Multinomial(1),
        weights=brute.multinomial_weights(brute.point("1/3", "2/3"), 1),
    ),
    "plane": quadratics(**PLANE, deviation=[1, 0], eta="1/5", steps=2),
    "batches": data(*ROWS, ["2"], batch=1, eta=["1/10", "1/7"], importance=["1/4", "3/4"], steps=2),
    "pairs": data(*WIDE, ["2", 1], batch=2, replacement=False, eta="1/20", steps=2),
}  # fmt: skip
ONE_DIMENSION = ["line", "line, multinomial", "batches"]


def _second_moment(client: brute.Client, at: brute.Point) -> fmpq:
    return brute.expectation(client.stochastic(at), lambda g: brute.dot(g, g))


def _variance(client: brute.Client, at: brute.Point) -> fmpq:
    full = client.gradient(at)
    return _second_moment(client, at) - brute.dot(full, full)


def _apart(tiny: brute.TinyRun, at: brute.Point) -> list[fmpq]:
    gaps = [brute.minus(client.gradient(at), tiny.gradient(at)) for client in tiny.clients]
    return [brute.dot(gap, gap) for gap in gaps]


def _mean(tiny: brute.TinyRun, values: list[fmpq]) -> fmpq:
    return sum((p * v for p, v in zip(tiny.importance, values, strict=True)), fmpq(0))


def _squares(tiny: brute.TinyRun, at: brute.Point) -> list[fmpq]:
    return [brute.dot(client.gradient(at), client.gradient(at)) for client in tiny.clients]


def _growth(tiny: brute.TinyRun, at: brute.Point, factor: fmpq) -> fmpq:
    shared = tiny.gradient(at)
    return _mean(tiny, _squares(tiny, at)) - factor * factor * brute.dot(shared, shared)


FACTORS = {f"growth {b}": brute.number(b) for b in (0, "1/2", 1, 2, 5)}
MEASURES: dict[str, Any] = {
    "second moment": lambda tiny, at: max(_second_moment(client, at) for client in tiny.clients),
    "lipschitz": lambda tiny, at: max(_squares(tiny, at)),
    "mean dissimilarity": lambda tiny, at: _mean(tiny, _apart(tiny, at)),
    **{name: lambda tiny, at, b=b: _growth(tiny, at, b) for name, b in FACTORS.items()},
}


def _bounds(pair: Pair) -> dict[str, Bound]:
    run = pair.engine
    return {
        "second moment": run.second_moment,
        "lipschitz": run.lipschitz_sq,
        "mean dissimilarity": run.mean_dissimilarity_sq,
        **{name: run.gradient_growth_sq(b) for name, b in FACTORS.items()},
    }


def _inside(pair: Pair, radius: fmpq, fine: int) -> list[brute.Point]:
    """Return a grid of points in the ball around the optimum, with the ends of its axes."""
    best = pair.tiny.minimiser()
    ticks = [radius * fmpq(j, fine) for j in range(-fine, fine + 1)]
    grid = [v for v in itertools.product(ticks, repeat=len(best)) if brute.dot(v, v) <= radius * radius]
    return [brute.plus(best, v) for v in grid]


def _radius(pair: Pair) -> fmpq:
    radius: fmpq = pair.engine.ball.radius
    return radius


@pytest.mark.parametrize("name", PAIRS)
def test_never_below_brute_force(name: str) -> None:
    """No point of a grid in the ball exceeds a constant; for constants on the whole space no point at all."""
    pair = PAIRS[name]
    far = _inside(pair, 100 * _radius(pair), 6)
    inside = _inside(pair, _radius(pair), 60 if len(pair.tiny.start) == 1 else 12)
    for label, bound in _bounds(pair).items():
        points = [*inside, *far] if isinstance(bound.region, Everywhere) else inside
        assert max(MEASURES[label](pair.tiny, at) for at in points) <= bound.value, label
    each = pair.engine.client_dissimilarities_sq
    for i in range(len(pair.tiny.clients)):
        assert max(_apart(pair.tiny, at)[i] for at in inside) <= each.value[i]
    assert max(each.value) == pair.engine.dissimilarity_sq.value


@pytest.mark.parametrize("name", ONE_DIMENSION)
def test_attained_in_one_dimension(name: str) -> None:
    """A quadratic on an interval is largest at an end or its vertex, within a part in a million."""
    pair = PAIRS[name]
    best, radius = pair.tiny.minimiser(), _radius(pair)
    per_client = {f"apart {i}": lambda tiny, at, i=i: _apart(tiny, at)[i] for i in range(len(pair.tiny.clients))}
    values = {label: bound.value for label, bound in _bounds(pair).items()}
    values |= {f"apart {i}": v for i, v in enumerate(pair.engine.client_dissimilarities_sq.value)}
    for label, measure in (MEASURES | per_client).items():
        left, middle, right = (measure(pair.tiny, brute.plus(best, (t * radius,))) for t in (-1, 0, 1))
        candidates = [left, right]
        curvature, slope = (left + right) / 2 - middle, (right - left) / 2
        if curvature < 0 and abs(slope) <= -2 * curvature:
            candidates.append(middle - slope * slope / (4 * curvature))
        closed = max(candidates)
        assert closed <= values[label] <= closed + abs(closed) / 10**6 + abs(curvature) / 10**6, label


@pytest.mark.parametrize("name", PAIRS)
def test_growth_identities(name: str) -> None:
    """For B = 1 the bound is the average dissimilarity; G^2 decreases in B, down to its value at the optimum."""
    pair = PAIRS[name]
    run, values = pair.engine, [bound.value for label, bound in _bounds(pair).items() if label in FACTORS]
    one = run.gradient_growth_sq(run.arithmetic.number(1, "B"))
    assert one.value == run.mean_dissimilarity_sq.value
    assert one.region == run.mean_dissimilarity_sq.region
    assert all(a >= b for a, b in itertools.pairwise(values))
    assert values[-1] >= _mean(pair.tiny, _squares(pair.tiny, pair.tiny.minimiser()))
    assert q.gradient_growth(1).measure(run) == q.mean_dissimilarity.measure(run)
    assert q.gradient_growth(2).name == "gradient_growth_2"


def test_shared_hessians_hold_everywhere() -> None:
    """With one Hessian the dissimilarities are constant, but the second moment is not."""
    pair = quadratics([[["2"]]] * 2, [["1"], ["-3"]], ["1"], deviation=1, importance=["1/3", "2/3"])
    run = pair.engine
    apart = _apart(pair.tiny, pair.tiny.minimiser())
    assert run.client_dissimilarities_sq.value.tolist() == apart
    assert run.mean_dissimilarity_sq.value == _mean(pair.tiny, apart)
    assert isinstance(run.mean_dissimilarity_sq.region, Everywhere)
    assert isinstance(run.second_moment.region, Ball)
    assert q.mean_divergence.measure(run) == fmpq(1, 3) * fmpq(8, 3) + fmpq(2, 3) * fmpq(4, 3)
    unknown = quadratics([[["2"]]] * 2, [["1"], ["-3"]], ["1"], server=2).engine
    with pytest.raises(NotApplicable, match="second moment of the gradients is unbounded"):
        _ = unknown.second_moment


def _visit(pair: Pair) -> fmpq:
    """Return the largest E|g_i|^2 at the iterates of a run, from their distributions."""
    tiny, largest = pair.tiny, fmpq(0)
    for law in tiny.server_laws[:-1]:
        for i, client in enumerate(tiny.clients):
            for k in range(tiny.steps[i]):
                total = fmpq(0)
                for chance, base in law:
                    for probability, at in tiny._walk(i, base, k):
                        total += chance * probability * _second_moment(client, at)
                largest = max(largest, total)
    return largest


@pytest.mark.parametrize("name", PAIRS)
def test_visited_second_moment(name: str) -> None:
    """The value agrees with all iterates, as equal rationals, and is at most the bound on the ball."""
    run = PAIRS[name].engine
    assert run.visited_second_moment.value == _visit(PAIRS[name])
    assert isinstance(run.visited_second_moment.region, AlongRun)
    assert run.visited_second_moment.value <= run.second_moment.value
    assert q.visited_second_moment.measure(run) == run.visited_second_moment.value


EXPANDING: dict[str, Any] = {"hessians": [[["3"]], [["1/2"]]], "linear": [["1"], ["-3"]], "start": ["4"], "eta": 1}


@pytest.mark.parametrize("steps", [(3, 1), (1, 3)])
def test_visited_second_moment_of_unequal_steps(steps: tuple[int, int]) -> None:
    """Iterates beyond a client's number of local steps are not visited."""
    pair = quadratics(**EXPANDING, steps=steps)
    assert pair.engine.visited_second_moment.value == _visit(pair)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.fractions(min_value="-3", max_value="3", max_denominator=5), min_size=6, max_size=6),
    st.lists(st.fractions(min_value="1/5", max_value="3", max_denominator=5), min_size=2, max_size=2),
)
def test_any_line(numbers: list[Any], curvatures: list[Any]) -> None:
    """Second moments on the ball and along the run agree for random one-dimensional quadratics."""
    b0, b1, start, d0, d1, _ = map(str, numbers)
    h0, h1 = ([[str(h)]] for h in curvatures)
    pair = quadratics([h0, h1], [[b0], [b1]], [start], deviation=[d0, d1], eta="1/8", steps=2, rounds=1)
    run = pair.engine
    assert run.visited_second_moment.value == _visit(pair)
    for label, bound in _bounds(pair).items():
        if isinstance(bound.region, Ball):
            assert bound.region.radius == _radius(pair)
        for t in (-1, fmpq(-1, 2), 0, fmpq(1, 3), 1):
            at = brute.plus(pair.tiny.minimiser(), (t * _radius(pair),))
            assert MEASURES[label](pair.tiny, at) <= bound.value, label


@pytest.mark.parametrize("name", PAIRS)
def test_floats_agree(name: str) -> None:
    """Floats agree, with a margin on the safe side."""
    exact, floats = PAIRS[name].engine, PAIRS[name].engine.as_floats()
    for one, other in (
        (exact.second_moment, floats.second_moment),
        (exact.lipschitz_sq, floats.lipschitz_sq),
        (exact.client_dissimilarities_sq, floats.client_dissimilarities_sq),
        (exact.visited_second_moment, floats.visited_second_moment),
    ):
        wanted = plain_floats(exact.arithmetic.array(one.value).ravel())
        assert wanted == pytest.approx(
            floats.arithmetic.array(other.value).ravel(), rel=1e-3
        )  # The exact radius is rounded up.
        assert type(one.region) is type(other.region)

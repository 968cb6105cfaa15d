"""Monte-Carlo against the exact engine, for every oracle and every participation law."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tiny_runs import data, quadratics

from fedtheory.engine.run import Run
from fedtheory.engine.sampling import ReplicaMeans, estimate_expectations, models, suboptimality
from fedtheory.federation import Fixed, Full, Multinomial, Participation, Uniform

ROWS: tuple[Any, Any] = (
    [[[1, 0], ["1/2", 1], [-1, 1]], [[1, 1], [0, -1], ["1/2", 0], [1, 0]], [[1, 2], [0, 1]]],
    [[1, 0, 2], [0, 3, 1, 1], [1, -1]],
)
QUADRATICS: dict[str, Any] = {
    "hessians": [[["2", "1/2"], ["1/2", "1"]], [["1", "-1"], ["-1", "3"]], [["1", "0"], ["0", "1"]]],
    "linear": [["1", "0"], ["-1", "2"], ["3", "3"]],
    "start": ["3", "-2"],
}
LAWS: dict[str, Participation] = {
    "full": Full(),
    "fixed": Fixed((0, 2)),
    "uniform": Uniform(2),
    "multinomial": Multinomial(2),
}
ORACLES = ("exact", "additive", "with replacement", "without replacement")


def _run(oracle: str, law: Participation) -> Run:
    common: dict[str, Any] = {
        "importance": ["1/2", "3/10", "1/5"],
        "eta": ["1/10", "1/12", "1/15"],
        "steps": (2, 3, 1),
        "rounds": 4,
        "server": "3/4",
        "law": law,
    }
    if oracle == "exact":
        return quadratics(**QUADRATICS, **common).engine
    if oracle == "additive":
        return quadratics(**QUADRATICS, deviation=[3, 1, 2], **common).engine
    return data(*ROWS, ["3", "-2"], batch=2, replacement=oracle == "with replacement", **common).engine


def _distance_sq(run: Run) -> Any:
    optimum = run.as_floats().problem.optimum
    return lambda models: ((models - optimum) ** 2).sum(axis=1)


def _contains(found: ReplicaMeans, exact: np.ndarray[Any, Any]) -> bool:
    slack = 1e-12 * np.abs(exact) + 1e-12
    return bool(((found.low - slack <= exact) & (exact <= found.high + slack)).all())


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("oracle", ORACLES)
def test_the_exact_value_is_inside_the_interval(oracle: str, law: str) -> None:
    """99.9 % intervals of suboptimality, squared distance and both coordinates contain the exact values in every
    round.
    """
    run = _run(oracle, LAWS[law])
    exact = run.as_floats().trajectory
    settings: dict[str, Any] = {"replicas": 20_000, "seed": 12, "confidence": 0.999}
    gap = estimate_expectations(run.problem, run.algorithm, [suboptimality(run.problem)], **settings)[0]
    assert _contains(gap, exact.server_suboptimality)
    assert _contains(
        estimate_expectations(run.problem, run.algorithm, [_distance_sq(run)], **settings)[0], exact.server_distance_sq
    )
    for axis in range(2):
        along = estimate_expectations(
            run.problem, run.algorithm, [lambda models, axis=axis: models[:, axis]], **settings
        )[0]
        assert _contains(along, exact.server_mean[:, axis])
    random = oracle != "exact" or law in ("uniform", "multinomial")
    assert (gap.standard_error[1:] > 0).all() == random or not random
    assert not random or (gap.high - gap.low)[-1] < 0.5 * exact.server_suboptimality[-1]


def test_a_wrong_value_is_outside_the_interval() -> None:
    """The intervals exclude the values for half the noise of one client, and vice versa."""
    run = quadratics(**QUADRATICS, deviation=[3, 1, 2], eta="1/5", steps=3, rounds=4).engine
    other = quadratics(**QUADRATICS, deviation=[2, 1, 2], eta="1/5", steps=3, rounds=4).engine
    found = estimate_expectations(
        run.problem, run.algorithm, [_distance_sq(run)], replicas=20_000, seed=3, confidence=0.999
    )[0]
    assert _contains(found, run.as_floats().trajectory.server_distance_sq)
    assert not _contains(found, other.as_floats().trajectory.server_distance_sq)


def test_intervals_shrink_with_the_root_of_the_replicas() -> None:
    """Sixteen times the replicas give a quarter of the width."""
    run = _run("additive", Multinomial(2))
    widths = []
    for replicas in (1_000, 16_000):
        found = estimate_expectations(
            run.problem, run.algorithm, [suboptimality(run.problem)], replicas=replicas, seed=5
        )[0]
        widths.append((found.high - found.low)[1:])
    assert widths[0] / widths[1] == pytest.approx(4, rel=0.15)


def test_intervals_are_what_they_say() -> None:
    """The interval is Student's from mean and standard error, wider with more confidence, of zero width at the
    start.
    """
    from scipy.stats import t as student

    run = _run("additive", Full())
    narrow, wide = (
        estimate_expectations(
            run.problem, run.algorithm, [suboptimality(run.problem)], replicas=50, seed=5, confidence=c
        )[0]
        for c in (0.9, 0.99)
    )
    assert (narrow.mean == wide.mean).all()
    assert wide.high - wide.mean == pytest.approx(student.ppf(0.995, 49) * wide.standard_error)
    assert wide.mean - wide.low == pytest.approx(wide.high - wide.mean)
    assert ((wide.high - wide.low)[1:] > (narrow.high - narrow.low)[1:]).all()
    values = list(models(run.problem, run.algorithm, 50, 5))
    gaps = suboptimality(run.problem)(values[-1])
    assert narrow.mean[-1] == pytest.approx(gaps.mean())
    assert narrow.standard_error[-1] == pytest.approx(gaps.std(ddof=1) / np.sqrt(50))


def test_coverage_of_many_intervals() -> None:
    """About nine in ten of 200 independent 90 % intervals contain the exact value."""
    run = quadratics([[["1"]]], [[0]], [1], deviation=2, eta="1/2", rounds=1).engine
    exact = run.as_floats().trajectory.server_distance_sq[-1]
    hits = 0
    for seed in range(200):
        found = estimate_expectations(
            run.problem, run.algorithm, [_distance_sq(run)], replicas=400, seed=seed, confidence=0.9
        )[0]
        hits += bool(found.low[-1] <= exact <= found.high[-1])
    assert 164 <= hits <= 194


def test_seeds_decide() -> None:
    """Equal seeds give equal models; rational problems are sampled in floats."""
    run = _run("without replacement", Uniform(2))
    first, again, other = (np.stack(list(models(run.problem, run.algorithm, 20, seed))) for seed in (1, 1, 2))
    assert first.shape == (5, 20, 2)
    assert first.dtype == float
    assert (first == again).all()
    assert (first[1:] != other[1:]).any()
    floats = run.as_floats()
    assert (first == np.stack(list(models(floats.problem, floats.algorithm, 20, 1)))).all()


def test_suboptimality_is_the_objective_gap() -> None:
    """The suboptimality is F(x) - F*, computed directly."""
    run = _run("with replacement", Full()).as_floats()
    at = np.array([[1.0, 2.0], [-3.0, 0.5], [0.0, 0.0]])
    expected = [run.problem.value(x) - run.problem.optimal_value for x in at]
    assert suboptimality(run.problem)(at) == pytest.approx(expected)


@pytest.mark.parametrize("oracle", ORACLES)
def test_outcomes_have_the_declared_moments(oracle: str) -> None:
    """Single outcomes of every oracle have mean zero, and the covariance of the engine, at a fixed point."""
    run = _run(oracle, Full()).as_floats()
    noise, point = run.problem.oracle, np.array([0.7, -0.4])
    generator = np.random.default_rng(0)
    homogeneous = np.concatenate([[1.0], point])
    covariances = run.problem.noise_covariances(np.tile(np.outer(homogeneous, homogeneous), (3, 1, 1)))
    batch = noise.sample(np.tile(point, (20_000, 3, 1)), generator)
    for client in range(3):
        singles = np.stack([noise.outcome(client, point, generator) for _ in range(4_000)])
        for drawn in (singles, batch[:, client]):
            error = 6 * np.sqrt(np.trace(covariances[client]) / len(drawn)) + 1e-12
            assert np.abs(drawn.mean(axis=0)).max() <= error
            second = drawn.T @ drawn / len(drawn)
            assert second == pytest.approx(
                covariances[client], rel=0.1, abs=0.1 * np.trace(covariances[client]) + 1e-12
            )

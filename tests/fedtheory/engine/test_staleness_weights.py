"""Buffered reports with staleness weights, against a plain loop with separate noise variables."""

from __future__ import annotations

import math
from typing import Any

import pytest
from flint import fmpq

from fedtheory import check
from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.engine.sampling import estimate_expectations, suboptimality
from fedtheory.errors import InputError, Unresolved
from fedtheory.federation.clock import read_staleness
from fedtheory.language.registry import find
from fedtheory.runfile import parse_run
from fedtheory.runfile.write import run_table

CURVATURES, LINEAR, WEIGHTS = ["1", "1/5", "2"], ["1", "-1/2", "3"], ["1/2", "1/3", "1/6"]
SIZE, STEPS, SERVER, START, VARIANCE = fmpq(1, 10), (3, 3, 3), fmpq(3, 2), fmpq(3), fmpq(1, 4)
TIMES, BUFFER, ROUNDS = [1, 2, 7], 2, 9
Model = dict[int, Any]
"""A model as a combination of independent noise variables; index 0 is the constant one."""


def _numbers(texts: list[str]) -> list[fmpq]:
    return [RATIONAL.number(text, "text") for text in texts]


def _table(staleness: str | None, **keys: Any) -> dict[str, dict[str, Any]]:
    problem = {
        "kind": "quadratic",
        "hessians": [[[h]] for h in CURVATURES],
        "linear": [[b] for b in LINEAR],
        "weights": WEIGHTS,
        "start": [str(START)],
        "noise": str(VARIANCE),
    }
    clock: dict[str, Any] = {"policy": "fedbuff", "buffer": BUFFER, "times": TIMES}
    algorithm = {
        "local_step_size": str(SIZE),
        "local_steps": list(STEPS),
        "server_step_size": str(SERVER),
        "rounds": ROUNDS,
        "clock": clock | ({} if staleness is None else {"staleness": staleness}),
    }
    return {"problem": problem, "algorithm": algorithm | keys}


def _loop(weight: Any) -> tuple[list[Any], list[Any]]:
    """Return E x and E x^2 of the server's model, n = 0 .. T; `weight` is s."""
    versions: list[Model] = [{0: START}]
    variances: Model = {0: fmpq(1)}
    received, finish = [0] * 3, [fmpq(time) for time in TIMES]
    for n in range(ROUNDS):
        now = sorted(finish)[BUFFER - 1]
        model = dict(versions[-1])
        for i in [i for i in range(3) if finish[i] <= now]:
            h, b = _numbers(CURVATURES)[i], _numbers(LINEAR)[i]
            base, slope, shift, spread = versions[received[i]], fmpq(1), fmpq(0), fmpq(0)
            for _ in range(STEPS[i]):
                slope, shift = (1 - SIZE * h) * slope, (1 - SIZE * h) * shift + SIZE * b
                spread = (1 - SIZE * h) ** 2 * spread + SIZE**2 * VARIANCE
            factor = SERVER * _numbers(WEIGHTS)[i] * weight(n - received[i])
            for noise, coefficient in base.items():
                model[noise] = model.get(noise, fmpq(0)) + factor * (slope - 1) * coefficient
            model[0] = model[0] + factor * shift
            variances[len(variances)] = spread
            model[len(variances) - 1] = factor
            received[i], finish[i] = n + 1, now + TIMES[i]
        versions.append(model)
    squares = [sum(c * c * variances[noise] for noise, c in model.items()) for model in versions]
    return [model[0] for model in versions], squares


@pytest.mark.parametrize("staleness", [None, "1/(1+s)", "(1+s)^(-2)"])
def test_runs_agree_with_a_plain_loop(staleness: str | None) -> None:
    """Means and errors of all updates agree as equal rationals."""
    exponent = {None: 0, "1/(1+s)": 1, "(1+s)^(-2)": 2}[staleness]
    run = parse_run(_table(staleness), RATIONAL)
    assert run.algorithm.schedule.largest_staleness > 1
    means, squares = _loop(lambda age: fmpq(1, (1 + age) ** exponent))
    optimum = run.problem.optimum[0]
    assert run.trajectory.server_mean[:, 0].tolist() == means
    truth = [square - 2 * optimum * mean + optimum**2 for mean, square in zip(means, squares, strict=True)]
    assert run.trajectory.server_distance_sq.tolist() == truth


def test_the_published_weights_in_floats() -> None:
    """1/sqrt(1+s) is irrational here: floats agree with the loop, rationals are rejected with a reason."""
    run = parse_run(_table("1/sqrt(1+s)"), FLOAT)
    means, _ = _loop(lambda age: RATIONAL.number(1 / math.sqrt(1 + age), "s"))
    assert run.trajectory.server_mean[:, 0] == pytest.approx([float(mean) for mean in means], rel=1e-12)
    with pytest.raises(Unresolved, match="is not rational"):
        _ = parse_run(_table("1/sqrt(1+s)"), RATIONAL).trajectory.server_mean


def test_replicas_agree() -> None:
    """Sampled runs have the exact errors within their intervals."""
    run = parse_run(_table("1/sqrt(1+s)"), FLOAT)
    (found,) = estimate_expectations(
        run.problem, run.algorithm, (suboptimality(run.problem),), replicas=4000, seed=5, confidence=0.99999
    )
    exact = run.trajectory.server_suboptimality
    assert ((found.low <= exact + 1e-12) & (exact <= found.high + 1e-12)).all()


def test_virtual_iterates_end_in_the_next_model() -> None:
    """After the last local step the virtual iterate of a round is the server's next model."""
    trajectory = parse_run(_table("1/(1+s)"), RATIONAL).trajectory
    assert trajectory.stale.moments[:, -1].tolist() == trajectory.moments[1:].tolist()


def test_definitions_weigh_their_reports() -> None:
    """FedNova with equal local steps is FedAvg, also with these weights."""
    plain = parse_run(_table("1/(1+s)"), RATIONAL)
    nova = parse_run(_table("1/(1+s)", name="fednova"), RATIONAL)
    assert nova.trajectory.server_mean.tolist() == plain.trajectory.server_mean.tolist()
    assert nova.trajectory.server_suboptimality.tolist() == plain.trajectory.server_suboptimality.tolist()


@pytest.mark.parametrize(
    ("formula", "exponent"),
    [
        ("1/sqrt(1+s)", "1/2"),
        ("1 / (1 + t)", "1"),
        ("1/(1+s)^3/4", "3/4"),
        ("1/(1+s)**(0.3)", "3/10"),
        ("(1+s)^-2", "2"),
        ("(1+s)**(-1/2)", "1/2"),
    ],
)
def test_formulas(formula: str, exponent: str) -> None:
    """Weights are parsed and written back in all supported forms."""
    found = read_staleness(formula)
    assert found.exponent == RATIONAL.number(exponent, "exponent")
    assert read_staleness(str(found)) == found


@pytest.mark.parametrize("formula", ["s", "exp(-s)", "(1+s)^2", "1/(2+s)", "(1+s)^(-1/0)", "1/(1+s)^1000"])
def test_other_formulas_are_refused(formula: str) -> None:
    """A weight that is no power of 1 + s is rejected."""
    with pytest.raises(InputError, match="staleness: expected"):
        parse_run(_table(formula), FLOAT)


def test_run_files_are_written_back() -> None:
    """A run file keeps its weights."""
    run = parse_run(_table("1/sqrt(1+s)"), FLOAT)
    assert parse_run(run_table(run), FLOAT).algorithm.clock == run.algorithm.clock


@pytest.mark.parametrize("identifier", ["fraboni2022:table-2.async.d"])
def test_claims_about_weights_of_clients_say_why(identifier: str) -> None:
    """A weight d_i of each client is not a single number here, which is the reason of inapplicability."""
    result = check(find(identifier), parse_run(_table("1/sqrt(1+s)"), FLOAT))
    assert not result.applicable
    assert "weighted by their staleness" in str(result.reason)

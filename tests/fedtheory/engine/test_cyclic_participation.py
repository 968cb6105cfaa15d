"""Clients that participate in turn, against plain loops over the rounds, as equal rationals."""

from __future__ import annotations

import math
from typing import Any

import pytest
from flint import fmpq

from fedtheory import check
from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.engine.sampling import estimate_expectations, suboptimality
from fedtheory.errors import InputError
from fedtheory.language import quantities as q
from fedtheory.language.registry import find
from fedtheory.runfile import parse_run
from fedtheory.runfile.write import run_table

CURVATURES, LINEAR, WEIGHTS = ["1", "1/5", "2"], ["1", "-1/2", "3"], ["1/2", "1/3", "1/6"]
SIZE, STEPS, SERVER, START, VARIANCE = fmpq(1, 10), (2, 3, 1), fmpq(3, 2), fmpq(3), fmpq(1, 4)
ROUNDS = 7
Table = dict[str, dict[str, Any]]


def _table(clients: int, weights: str = "unbiased", **keys: Any) -> Table:
    problem = {
        "kind": "quadratic",
        "hessians": [[[h]] for h in CURVATURES],
        "linear": [[b] for b in LINEAR],
        "weights": WEIGHTS,
        "start": [str(START)],
        "noise": str(VARIANCE),
    }
    algorithm = {
        "local_step_size": str(SIZE),
        "local_steps": list(STEPS),
        "server_step_size": str(SERVER),
        "rounds": ROUNDS,
        "participation": {"kind": "cyclic", "clients": clients, "weights": weights},
    }
    return {"problem": problem, "algorithm": algorithm | keys}


def _numbers(texts: list[str]) -> list[fmpq]:
    return [RATIONAL.number(text, "text") for text in texts]


def _weights(n: int, m: int, kind: str) -> list[fmpq]:
    """Return w_i(n) by definition."""
    p = _numbers(WEIGHTS)
    present = {(n * m + j) % len(p) for j in range(m)}
    total = sum(p[i] for i in present)
    scale = fmpq(len(p), m) if kind == "unbiased" else 1 / total
    return [p[i] * scale if i in present else fmpq(0) for i in range(len(p))]


def _loop(m: int, kind: str) -> list[tuple[fmpq, fmpq]]:
    """Return E x and E x^2 of the server's model, n = 0 .. T, in one dimension."""
    first, second = START, START * START
    found = [(first, second)]
    for n in range(ROUNDS):
        a, b, noise = fmpq(1), fmpq(0), fmpq(0)
        for w, h, c, steps in zip(_weights(n, m, kind), _numbers(CURVATURES), _numbers(LINEAR), STEPS, strict=True):
            slope, shift, spread = fmpq(1), fmpq(0), fmpq(0)
            for _ in range(steps):
                slope, shift = (1 - SIZE * h) * slope, (1 - SIZE * h) * shift + SIZE * c
                spread = (1 - SIZE * h) ** 2 * spread + SIZE**2 * VARIANCE
            a, b = a + SERVER * w * (slope - 1), b + SERVER * w * shift
            noise = noise + (SERVER * w) ** 2 * spread
        first, second = a * first + b, a * a * second + 2 * a * b * first + b * b + noise
        found.append((first, second))
    return found


@pytest.mark.parametrize("kind", ["unbiased", "normalised"])
@pytest.mark.parametrize("clients", [1, 2, 3])
def test_runs_agree_with_a_plain_loop(clients: int, kind: str) -> None:
    """Means and errors of all rounds agree, for unequal weights and local steps, noise and a server step size."""
    run = parse_run(_table(clients, kind), RATIONAL)
    p, h, b = _numbers(WEIGHTS), _numbers(CURVATURES), _numbers(LINEAR)
    curvature = sum(x * y for x, y in zip(p, h, strict=True))
    optimum = sum(x * y for x, y in zip(p, b, strict=True)) / curvature
    truth = _loop(clients, kind)
    assert run.trajectory.server_mean[:, 0].tolist() == [first for first, _ in truth]
    distances = [second - 2 * optimum * first + optimum * optimum for first, second in truth]
    assert run.trajectory.server_distance_sq.tolist() == distances
    assert run.trajectory.server_suboptimality.tolist() == [curvature * square / 2 for square in distances]
    floats = run.as_floats().trajectory.server_suboptimality
    assert floats == pytest.approx([float(curvature * s / 2) for s in distances], rel=1e-12)


@pytest.mark.parametrize("kind", ["unbiased", "normalised"])
def test_weights_of_a_cycle(kind: str) -> None:
    """Unbiased weights have the time average p_i over a cycle, normalised ones the sum one in each round."""
    for m in (1, 2, 3):
        run = parse_run(_table(m, kind, rounds=3 // math.gcd(3, m)), RATIONAL)
        drawn = run.surrogate.weights
        assert drawn.tolist() == [_weights(n, m, kind) for n in range(len(drawn))]
        if kind == "unbiased":
            assert run.surrogate.mean_weights.tolist() == _numbers(WEIGHTS)
        else:
            assert (run.surrogate.totals == 1).all()


def test_replicas_agree() -> None:
    """Sampled runs have the exact errors within their intervals."""
    run = parse_run(_table(2), FLOAT)
    (found,) = estimate_expectations(
        run.problem, run.algorithm, (suboptimality(run.problem),), replicas=4000, seed=3, confidence=0.99999
    )
    exact = run.trajectory.server_suboptimality
    assert ((found.low <= exact + 1e-12) & (exact <= found.high + 1e-12)).all()


def test_scaffold_in_turn() -> None:
    """SCAFFOLD without noise agrees with its definition: clients that are left out keep their control variates."""
    table = _table(2, name="scaffold", local_steps=2)
    table["problem"]["noise"] = 0
    p, h, b = _numbers(WEIGHTS), _numbers(CURVATURES), _numbers(LINEAR)
    x, c, own = START, fmpq(0), [fmpq(0)] * 3
    models = [x]
    for n in range(ROUNDS):
        weights = _weights(n, 2, "unbiased")
        change, corrections = fmpq(0), fmpq(0)
        for i in [i for i, w in enumerate(weights) if w != 0]:
            y = x
            for _ in range(2):
                y = y - SIZE * (h[i] * y - b[i] - own[i] + c)
            new = own[i] - c + (x - y) / (2 * SIZE)
            change, corrections = change + weights[i] * (y - x), corrections + p[i] * (new - own[i])
            own[i] = new
        x, c = x + SERVER * change, c + corrections
        models.append(x)
    assert parse_run(table, RATIONAL).trajectory.server_mean[:, 0].tolist() == models


def test_times_are_those_of_the_slowest_participant() -> None:
    """The time of a round is that of its slowest participant."""
    run = parse_run(_table(2, clock={"policy": "sync", "times": [1, 2, 5]}), RATIONAL)
    assert run.algorithm.times(run.problem.weights) == [2, 7, 12, 14, 19, 24, 26]
    assert q.participants.measure(run) == 2


def test_run_files_are_written_back() -> None:
    """A run keeps its participation, weights and times."""
    for kind in ("unbiased", "normalised"):
        run = parse_run(_table(2, kind, clock={"policy": "sync", "times": [1, 2, 5]}), RATIONAL)
        again = parse_run(run_table(run), RATIONAL)
        assert again.algorithm.clock == run.algorithm.clock
        assert run.card().facts["participation"] == "cyclic"


@pytest.mark.parametrize("clients", [0, 4])
def test_wrong_numbers_of_clients(clients: int) -> None:
    """More participants than clients are rejected."""
    with pytest.raises(InputError, match="expected a"):
        parse_run(_table(clients), RATIONAL)


def test_clocks_that_do_not_wait_are_refused() -> None:
    """Cyclic participation needs a clock that waits for rounds."""
    with pytest.raises(InputError, match="cyclic participation"):
        parse_run(_table(2, clock={"policy": "async"}), RATIONAL)


@pytest.mark.parametrize("identifier", ["lecture27:thm-1", "comparator:one-step", "comparator:sampled.average-error"])
def test_claims_about_other_participation_say_why(identifier: str) -> None:
    """Full and sampled participation do not include cyclic participation, even if all clients are in one turn."""
    for clients in (2, 3):
        result = check(find(identifier), parse_run(_table(clients), RATIONAL))
        assert not result.applicable
        assert "participation is cyclic" in str(result.reason)


@pytest.mark.parametrize(
    "keys",
    [{"name": "dsgd", "mixing": [["1/3"] * 3] * 3}, {"name": "scaffnew", "probability": "1/2"}],
    ids=["dsgd", "scaffnew"],
)
def test_algorithms_whose_clients_receive_from_all_others_are_not_run_in_turn(keys: dict[str, Any]) -> None:
    """Their proved bounds assume no participation, and fail where a client keeps its model for a round."""
    with pytest.raises(InputError, match=f"expected full participation with {keys['name']}"):
        parse_run(_table(2, local_steps=1, server_step_size=1, **keys), RATIONAL)

"""The work of checks is counted, independently of the time."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from fedtheory import Claim
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.arithmetic import FLOAT, RATIONAL, Arithmetic
from fedtheory.engine.certified_run import certify_run
from fedtheory.engine.frames import count_outcomes
from fedtheory.language.registry import all_claims
from fedtheory.runfile import parse_run
from verify.check import check
from verify.check.escalation import LONGEST_IN_RATIONALS
from verify.effort import estimate_simulation, measure_work, spend_a_try


def _table(rounds: int, clients: int = 2) -> dict[str, dict[str, object]]:
    problem = {"kind": "quadratic", "hessians": [[["1"]]] * clients, "linear": [["0"]] * clients, "start": ["1"]}
    return {"problem": problem, "algorithm": {"local_step_size": "1/8", "local_steps": 2, "rounds": rounds}}


def test_a_check_counts_the_same_each_time() -> None:
    """A check counts the same work each time, whether or not a value is cached."""
    claim, run = all_claims()["renard2022:thm-2.1"], parse_run(_table(8), RATIONAL)
    spent = []
    for _ in range(2):
        begin = measure_work()
        check(claim, run)
        spent.append(Fraction(measure_work()) - Fraction(begin))
    assert abs(spent[0] - spent[1]) < Fraction(1, 10**9)
    assert spent[0] > 0


def test_constants_need_no_simulation() -> None:
    """A claim about the clock counts the same for a thousand rounds as for two."""
    clock = {"policy": "async", "ties": "one-by-one", "times": ["1", "1"]}
    of_clock = Claim(id="mine:clock", lhs=q.window, rhs=10**6, assumptions=[a.asynchronous, a.one_at_a_time])
    spent = []
    for rounds in (2, 1000):
        table = _table(rounds)
        run = parse_run({**table, "algorithm": {**table["algorithm"], "clock": clock}}, FLOAT)
        begin = measure_work()
        check(of_clock, run)
        spent.append(measure_work() - begin)
    assert abs(spent[0] - spent[1]) < 1e-9


def test_values_at_each_local_step_count_each_of_them() -> None:
    """Equal rounds are not doubled for a claim that asks for something at every local step."""
    each, average = (
        Claim(id=f"mine:{quantity.name}", lhs=quantity, rhs=10**6)
        for quantity in (q.round_gap, q.average_suboptimality)
    )
    spent = {}
    for claim in (each, average):
        for rounds in (1, 401):
            run, begin = parse_run(_table(rounds), FLOAT), measure_work()
            check(claim, run)
            spent[claim.id, rounds] = measure_work() - begin
    assert spent[average.id, 401] == pytest.approx(spent[average.id, 1])
    assert spent[each.id, 401] - spent[each.id, 1] == pytest.approx(800 * 2.5e-5)


def test_values_at_each_local_step_of_rationals_grow_with_the_run() -> None:
    """Each number is longer than the one before: twice the steps are nearly four times the work."""
    claim, spent = Claim(id="mine:each", lhs=q.round_gap, rhs=10**6), {}
    for rounds in (16, 128, 256):
        run, begin = parse_run(_table(rounds), RATIONAL), measure_work()
        check(claim, run)
        spent[rounds] = measure_work() - begin - estimate_simulation(run)
    assert spent[256] - spent[16] > 3.5 * (spent[128] - spent[16]) > 0


def test_long_rounds_of_fedavg_count_little_in_floats_and_enclosures() -> None:
    """The local steps of FedAvg are computed together, those of an algorithm by definition one by one."""
    table = _table(1)
    long = {**table["algorithm"], "local_steps": 2**15}
    exact = parse_run({**table, "algorithm": long}, RATIONAL)
    defined = parse_run({**table, "algorithm": {**long, "name": "scaffold"}}, FLOAT)
    assert estimate_simulation(exact) > 100 > LONGEST_IN_RATIONALS > estimate_simulation(certify_run(exact))
    assert 5 * estimate_simulation(exact.as_floats()) < estimate_simulation(defined)


def test_longer_runs_count_more_only_where_they_take_longer() -> None:
    """Rationals grow with the rounds; equal rounds of floats are doubled; clients count in both."""
    assert estimate_simulation(parse_run(_table(64), RATIONAL)) > 64 * estimate_simulation(
        parse_run(_table(1), RATIONAL)
    )
    assert estimate_simulation(parse_run(_table(4096), FLOAT)) == estimate_simulation(parse_run(_table(1), FLOAT))
    assert estimate_simulation(parse_run(_table(1, clients=8), FLOAT)) > estimate_simulation(
        parse_run(_table(1), FLOAT)
    )


@pytest.mark.parametrize("arithmetic", [FLOAT, RATIONAL], ids=["floats", "rationals"])
def test_step_sizes_of_a_formula_count_at_each_local_step(arithmetic: Arithmetic) -> None:
    """Rounds with different step sizes are not computed by repeated squaring."""
    work = {}
    for rounds in (8, 16):
        table = _table(rounds)
        algorithm = table["algorithm"] | {"local_step_size": "1/(8 + n)"}
        work[rounds] = estimate_simulation(parse_run({**table, "algorithm": algorithm}, arithmetic))
    assert work[16] >= 1.99 * work[8] > 8 * estimate_simulation(parse_run(_table(8), arithmetic))


@pytest.mark.parametrize("arithmetic", [FLOAT, RATIONAL], ids=["floats", "rationals"])
def test_vectors_at_each_local_step_count_by_their_size(arithmetic: Arithmetic) -> None:
    """Noises of all clients have covariances at each local step: four times the clients are 16 times the numbers."""
    claim = all_claims()["comparator:one-step"]
    spent = {}
    for clients in (8, 32, 128):
        table = _table(8, clients)
        run = parse_run({**table, "problem": {**table["problem"], "noise": "1"}}, arithmetic)
        begin = measure_work()
        assert check(claim, run).applicable
        spent[clients] = measure_work() - begin
    assert spent[128] - spent[32] > 8 * (spent[32] - spent[8]) > 0


def test_values_at_each_local_step_count_each_outcome_of_the_weights() -> None:
    """Quantities at local steps cost more where a round has many sets of participants."""
    claim = Claim(id="mine:squares", lhs=q.mean_square_gradient, rhs=10**6, assumptions=[a.uniform_sampling])
    spent = []
    for clients in (4, 12):
        table = _table(2, clients)
        participation = {"kind": "uniform", "clients": clients // 2}
        run = parse_run({**table, "algorithm": {**table["algorithm"], "participation": participation}}, FLOAT)
        assert count_outcomes(run) == math.comb(clients, clients // 2)
        begin = measure_work()
        check(claim, run)
        spent.append(measure_work() - begin)
    assert spent[1] - spent[0] > 4 * 2e-7 * 12 * math.comb(12, 6) * 0.99


def test_losses_that_are_not_quadratic_count_each_local_step_of_each_client() -> None:
    """Rounds on other losses are simulated one by one, so that they are not counted as repeated squaring."""
    work = {}
    for rounds, clients in ((4, 1), (400, 1), (400, 16)):
        terms = [[{"coordinate": 0, "weight": "1", "centre": "0", "width": "1"}]] * clients
        problem = {"kind": "huber", "terms": terms, "start": ["3"]}
        work[rounds, clients] = estimate_simulation(
            parse_run({"problem": problem, "algorithm": _table(rounds)["algorithm"]}, FLOAT)
        )
    assert work[400, 1] == pytest.approx(100 * work[4, 1])
    assert work[400, 16] > 3 * work[400, 1]


def test_changed_runs_count_their_clients() -> None:
    """Reading a changed run of a thousand clients is the work of hundreds of small ones."""
    spent = []
    for clients in (1, 1024):
        begin = measure_work()
        spend_a_try(clients)
        spent.append(measure_work() - begin)
    assert spent[1] > 100 * spent[0]

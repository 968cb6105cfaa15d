"""Runs built in Python must satisfy the same restrictions as run files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.errors import InputError, NotApplicable
from fedtheory.federation import Algorithm
from fedtheory.federation.oracles import AdditiveNoise
from fedtheory.federation.problem import Problem
from fedtheory.runfile import parse_run

PROBLEM = {"kind": "quadratic", "hessians": [[["1"]]] * 2, "linear": [["1"], ["-1"]], "start": ["3"]}
PLAIN = {"local_step_size": "1/8", "rounds": 2}
ALGORITHMS: dict[str, dict[str, Any]] = {
    "dsgd": {"mixing": [["2/3", "1/3"], ["1/3", "2/3"]]},
    "scaffold": {},
    "fedavgm": {"momentum": "1/2"},
    "scaffnew": {"probability": "1/2"},
    "compressed": {"coordinates": 1},
}


def run_of(keys: dict[str, Any]) -> Run:
    return parse_run({"problem": PROBLEM, "algorithm": {**PLAIN, **keys}}, RATIONAL)


def of(name: str) -> Run:
    return run_of({"name": name, **ALGORITHMS[name]})


PLAIN_RUN = run_of({})
DRAWN = run_of({"participation": {"kind": "uniform", "clients": 1}}).algorithm
ASYNC = run_of({"clock": {"policy": "async", "times": ["1", "2"]}}).algorithm
RANDOM = run_of({"clock": {"policy": "async", "law": "exponential"}}).algorithm
STEPS = run_of({"local_steps": 2}).algorithm
SERVER = run_of({"server_step_size": "2"}).algorithm
CHOSEN = run_of({"aggregation": "identical"}).algorithm
CHANGING = run_of({"local_step_size": "1/(8*(n+1))"}).algorithm


def with_mixing(algorithm: Algorithm, mixing: list[list[str]]) -> Algorithm:
    assert algorithm.defined is not None
    return replace(algorithm, defined=replace(algorithm.defined, mixing=RATIONAL.array(mixing)))


def with_values(algorithm: Algorithm, value: str) -> Algorithm:
    assert algorithm.defined is not None
    number = RATIONAL.number(value, "value")
    return replace(
        algorithm, defined=replace(algorithm.defined, values=dict.fromkeys(algorithm.defined.values, number))
    )


def without_values(algorithm: Algorithm) -> Algorithm:
    assert algorithm.defined is not None
    return replace(algorithm, defined=replace(algorithm.defined, values={}))


Change = Callable[[Algorithm], Algorithm]
ALGORITHM: dict[str, tuple[str, Change, str]] = {
    "drawn clients on a graph": ("dsgd", lambda a: replace(a, aggregation=DRAWN.aggregation), "full participation"),
    "drawn clients with a coin": ("scaffnew", lambda a: replace(a, aggregation=DRAWN.aggregation), "full particip"),
    "two steps in a round": ("dsgd", lambda a: replace(a, work=STEPS.work), "single steps"),
    "two steps and a coin": ("scaffnew", lambda a: replace(a, work=STEPS.work), "single steps"),
    "a step of no server": ("dsgd", lambda a: replace(a, aggregation=SERVER.aggregation), "expected none"),
    "weights of no server": ("dsgd", lambda a: replace(a, aggregation=CHOSEN.aggregation), "does not weight clients"),
    "a clock for memories": ("scaffold", lambda a: replace(a, clock=ASYNC.clock), "keep vectors between rounds"),
    "random times": ("fedavgm", lambda a: replace(a, clock=RANDOM.clock), "not random"),
    "steps that change late": ("fedavgm", lambda a: replace(a, clock=ASYNC.clock, work=CHANGING.work), "local work"),
    "a graph that loses": ("dsgd", lambda a: with_mixing(a, [["1/2", "1/3"], ["1/3", "2/3"]]), "doubly stochastic"),
    "a graph that takes": ("dsgd", lambda a: with_mixing(a, [["2", "-1"], ["-1", "2"]]), "not negative"),
    "a graph of no square": ("dsgd", lambda a: with_mixing(a, [["1/2", "1/2"]]), "square"),
    "too much momentum": ("fedavgm", lambda a: with_values(a, "3/2"), "expected a number in"),
    "a coin that never falls": ("scaffnew", lambda a: with_values(a, "0"), "expected a number in"),
    "a parameter that nobody gave": ("fedavgm", without_values, "is missing"),
}


@pytest.mark.parametrize("change", ALGORITHM)
def test_an_algorithm_is_what_its_definition_allows(change: str) -> None:
    name, changed, reason = ALGORITHM[change]
    run = of(name)
    with pytest.raises(InputError, match=reason):
        changed(run.algorithm)


def test_steps_that_change_have_a_definition() -> None:
    """Changing step sizes need a definition, otherwise moments would use the first step size."""
    with pytest.raises(InputError, match="formula of an algorithm"):
        replace(PLAIN_RUN.algorithm, work=CHANGING.work)


PROBLEMS: dict[str, tuple[Callable[[Problem], Problem], str]] = {
    "shares that are negative": (lambda p: replace(p, weights=RATIONAL.array(["2", "-1"])), "positive"),
    "shares of less than all": (lambda p: replace(p, weights=RATIONAL.array(["1/2", "1/3"])), "sum to 1"),
    "another number of pulls": (lambda p: replace(p, linear=p.linear[:1]), "shape"),
    "negative noise": (lambda p: replace(p, oracle=AdditiveNoise(RATIONAL.array(["-1", "1"]))), "not negative"),
    "noise of others": (lambda p: replace(p, oracle=AdditiveNoise(RATIONAL.array(["1"]))), "shape"),
}


@pytest.mark.parametrize("change", PROBLEMS)
def test_a_problem_is_of_one_shape(change: str) -> None:
    changed, reason = PROBLEMS[change]
    with pytest.raises(InputError, match=reason):
        changed(PLAIN_RUN.problem)


@pytest.mark.parametrize("name", [None, *ALGORITHMS])
def test_algorithm_and_problem_have_the_same_clients(name: str | None) -> None:
    run = PLAIN_RUN if name is None else of(name)
    with pytest.raises(InputError, match="expected 4 "):
        replace(run, problem=run.problem.repeat(2))


def test_compression_keeps_at_most_all_coordinates() -> None:
    run = of("compressed")
    with pytest.raises(InputError, match="whole number of coordinates from 1 to 1"):
        replace(run, algorithm=with_values(run.algorithm, "2"))


def test_losses_are_run_by_the_update_rule_alone() -> None:
    """Scalar losses accept only the update rule with three policies; a definition is rejected."""
    problem = {"kind": "huber", "terms": [[{"width": 1, "centre": c}] for c in (1, -1)], "start": ["3"]}
    run = parse_run({"problem": problem, "algorithm": PLAIN}, RATIONAL)
    with pytest.raises(InputError, match="setting of fedavg"):
        replace(run, algorithm=of("fedavgm").algorithm)


def test_a_graph_is_not_repeated() -> None:
    with pytest.raises(NotApplicable, match="graph"):
        of("dsgd").with_copies(2)

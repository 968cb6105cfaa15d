"""Facts that proofs use about runs hold on random runs with any clock, participation law and weights.

The claims are those of the tests on edge cases; here a few of them are tried on each of many runs.
"""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from test_hostile_certificates import ENOUGH
from test_lemmas_of_runs import DERIVED, Recorded, about, derived_claim

from fedtheory import RATIONAL, parse_run
from fedtheory.errors import InputError
from fedtheory.language.claim import Claim
from fedtheory.proofs.decoding import FACTS
from verify.check import check

AT_ONCE = 25
"""Number of claims that are tried on one run."""


@cache
def claims() -> dict[str, Claim]:
    """Return every fact, and the derivations of recorded certificates from proved claims."""
    return {name: _of_fact(name) for name in FACTS} | {name: derived_claim(one) for name, one in DERIVED.items()}


def _of_fact(name: str) -> Claim:
    fact, symbol = FACTS[name], Recorded({})
    slack, zero = sp.sympify(fact.slack(symbol)), sp.sympify(fact.zero_condition(symbol))
    conditions = [] if zero == 0 else [sp.Eq(zero, 0, evaluate=False)]
    return about(slack, symbol, fact.is_zero, assumptions=fact.needs, conditions=conditions)


def problem(clients: int, chance: random.Random) -> dict[str, Any]:
    """Return a problem in one dimension: some clients are flat, some are equal."""
    curvatures = [chance.choice([0, 1, 2, 3]) for _ in range(clients)]
    slopes = [chance.randint(-2, 2) if curvature else 0 for curvature in curvatures]
    if chance.random() < 0.25:
        curvatures, slopes = curvatures[:1] * clients, slopes[:1] * clients
    shares = chance.choice([None, ["1/4", "3/4"], ["1/2", "1/4", "1/4"]])
    return {
        "kind": "quadratic",
        "hessians": [[[str(curvature)]] for curvature in curvatures],
        "linear": [[str(slope)] for slope in slopes],
        "start": [chance.choice(["0", "1", "-2", "3"])],
        "noise": chance.choice(["0", "0", "1", "1/2"]),
    } | ({"weights": shares} if shares and len(shares) == clients else {})


def clock(clients: int, chance: random.Random) -> dict[str, Any]:
    """Return a clock, with or without ties, and weights of reporting clients."""
    times = [chance.choice(["1", "2", "3", "4", "1/2", "3/2", "2/3"]) for _ in range(clients)]
    keys: dict[str, Any] = chance.choice(
        [
            *({"policy": "async", "ties": ties} for ties in ("together", "one-by-one")),
            {"policy": "fedfix", "interval": chance.choice(["1", "1/2", "2", "3/4"])},
            *({"policy": "sync"}, {"policy": "fedbuff", "buffer": chance.randint(1, clients)}),
        ]
    )
    chosen = [chance.choice(["0", "1", "1/2", "2"]) for _ in range(clients)]
    weights = chance.choice(["importance", "identical", "time-based", chosen])
    return {"clock": {**keys, "times": times}, "aggregation": weights, "rounds": chance.randint(1, 12)}


def drawn(clients: int, chance: random.Random) -> dict[str, Any]:
    """Return a law of participation."""
    kind = chance.choice(["uniform", "multinomial", "fixed"])
    return {"participation": {"kind": kind, "clients": [0] if kind == "fixed" else chance.randint(1, clients)}}


def settings(chance: random.Random) -> dict[str, Any]:
    """Return a run file with one, two or three clients."""
    clients = chance.choice([1, 2, 2, 3])
    algorithm = {
        "local_step_size": chance.choice(["1/8", "1/3", "1", "1/100"]),
        "rounds": chance.randint(1, 8),
        "local_steps": chance.randint(1, 3),
        "server_step_size": chance.choice(["1", "1", "1/2", "4/3"]),
    }
    law = chance.choice([clock, clock, drawn, lambda _clients, _chance: {}])
    return {"problem": problem(clients, chance), "algorithm": algorithm | law(clients, chance)}


def refuted(seed: int) -> dict[str, Any]:
    """Return the claims that fail on a run at random; none if there is no such run."""
    chance = random.Random(seed)
    table = settings(chance)
    try:
        run = parse_run(table, RATIONAL)
    except InputError:
        return {}
    tried = chance.sample(sorted(claims()), AT_ONCE)
    return {name: table for name in tried if check(claims()[name], run).holds is False}


SEEDS = st.integers(0, 2**63)


@pytest.mark.long
@given(SEEDS)
@hypothesis_settings(ENOUGH, max_examples=12)
def test_facts_hold_on_runs(seed: int) -> None:
    """The facts hold on some runs."""
    assert refuted(seed) == {}


@pytest.mark.slow
@given(SEEDS)
@hypothesis_settings(ENOUGH, max_examples=3000, database=None)
def test_facts_hold_on_many_runs(seed: int) -> None:
    """The facts hold on thousands of runs."""
    assert refuted(seed) == {}


def test_it_is_about_such_runs() -> None:
    """On a few runs most facts apply."""
    said = set()
    for seed in range(60):
        chance = random.Random(seed)
        try:
            run = parse_run(settings(chance), RATIONAL)
        except InputError:
            continue
        said |= {name for name in chance.sample(sorted(claims()), AT_ONCE) if check(claims()[name], run).applicable}
    assert len(said) > len(claims()) / 2

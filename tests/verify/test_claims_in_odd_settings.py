"""Published claims that are not refuted hold on runs of odd problems in odd settings, or do not apply to them."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from fedtheory import RATIONAL, parse_run
from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.language.claim import Claim
from fedtheory.language.registry import all_claims
from verify.check import check

pytestmark = pytest.mark.long


def quadratics(curvatures: str, linear: str, **more: Any) -> dict[str, Any]:
    """Return quadratics in one dimension, with the entries of two texts."""
    return {
        "kind": "quadratic",
        "hessians": [[[entry]] for entry in curvatures.split()],
        "linear": [[entry] for entry in linear.split()],
        "start": ["1"],
        **more,
    }


def least_squares(*inputs: list[str], **more: Any) -> dict[str, Any]:
    """Return two clients with two rows each, and batches of one row."""
    rows = [[[entry] for entry in client] for client in inputs]
    outputs = [["1", "0"], ["2", "1"]]
    return {"kind": "least-squares", "inputs": rows, "outputs": outputs, "batch": 1, "start": "zeros", **more}


TERMS = [[{"coordinate": 0, "weight": "1", "centre": "2", "width": "1/2"}], [{"coordinate": 0, "weight": "2"}]]
PLANE = [[["2", "1"], ["1", "1"]], [["1", "0"], ["0", "0"]]]
PROBLEMS: dict[str, dict[str, Any]] = {
    "two clients": quadratics("1 2", "1 0"),
    "two clients with noise": quadratics("1 2", "1 0", noise="1"),
    "constant": quadratics("0 0", "0 0"),
    "constant with noise": quadratics("0 0", "0 0", noise="1"),
    "affine": quadratics("0 0", "1 -1"),
    "equal": quadratics("2 2", "2 2"),
    "equal with noise": quadratics("2 2", "2 2", noise="1/2"),
    "one client": quadratics("1", "0"),
    "one client with noise": quadratics("1", "3", noise="1"),
    "unequal weights": quadratics("1 3 0", "1 -1 0", weights=["1/6", "1/3", "1/2"], noise=["0", "1", "2"]),
    "one client that is not convex": quadratics("2 -1", "1 0", noise="1/3"),
    "no convex client": quadratics("-1 -2", "0 0"),
    "four clients": quadratics("1 1 2 4", "1 -1 1 0", noise="1"),
    "two dimensions": {
        "kind": "quadratic",
        "hessians": PLANE,
        "linear": [["1", "0"], ["0", "0"]],
        "start": ["1", "-1"],
        "noise": "1",
    },
    "Huber": {"kind": "huber", "terms": [TERMS[0], [{**TERMS[1][0], "centre": "0", "width": "1"}]], "start": ["1"]},
    "rows with replacement": least_squares(["1", "2"], ["1", "-1"], replacement=True),
    "rows without replacement": least_squares(["1", "2"], ["1", "-1"], replacement=False, ridge="1/10"),
    "rows of zeros": least_squares(["0", "0"], ["1", "-1"]),
}


def settings(clients: int) -> dict[str, dict[str, Any]]:
    """Return settings of algorithms: step sizes, work, participation, clocks, weights and other algorithms."""
    later = [str(1 + place) for place in range(clients)]
    work = list(range(1, clients + 1))
    sizes = [f"1/{8 + 8 * place}" for place in range(clients)]
    ring = [["1" if (row + 1) % clients == column else "0" for column in range(clients)] for row in range(clients)]
    uniform = {"kind": "uniform", "clients": 1}
    cyclic = {"kind": "cyclic", "clients": 1}
    found: dict[str, dict[str, Any]] = {
        "plain": {},
        "one local step": {"local_steps": 1},
        "one step in all": {"local_steps": 1, "rounds": 1},
        "a large step": {"local_step_size": "1"},
        "a step that diverges": {"local_step_size": "3"},
        "a tiny step": {"local_step_size": "1/1000000"},
        "unequal work": {"local_steps": work},
        "unequal steps": {"local_step_size": sizes},
        "normalised steps": {"local_step_size": sizes, "local_steps": work},
        "decreasing steps": {"local_step_size": "1/(8+n)"},
        "a large server step": {"server_step_size": 2},
        "one of all": {"participation": uniform},
        "all drawn": {"participation": {"kind": "uniform", "clients": clients}},
        "normalised weights of one": {"participation": {**uniform, "weights": "normalised"}},
        "three draws": {"participation": {"kind": "multinomial", "clients": 3}},
        "coins": {"participation": {"kind": "bernoulli", "probability": "1/2"}},
        "coins with normalised weights": {
            "participation": {"kind": "bernoulli", "probability": "1/2", "weights": "normalised"}
        },
        "coins of one side": {"participation": {"kind": "bernoulli", "probability": 1}},
        "only the first": {"participation": {"kind": "fixed", "clients": [0]}},
        "in turns": {"participation": cyclic},
        "asynchronous": {"clock": {"policy": "async", "times": later}, "rounds": 4},
        "one report at a time": {
            "clock": {"policy": "async", "times": ["1"] * clients, "ties": "one-by-one"},
            "rounds": 2 * clients,
        },
        "intervals": {
            "clock": {"policy": "fedfix", "interval": "1", "times": later},
            "aggregation": "time-based",
            "rounds": 4,
        },
        "short intervals": {"clock": {"policy": "fedfix", "interval": "1/2", "times": later}, "rounds": 3},
        "a buffer": {"clock": {"policy": "fedbuff", "buffer": 1, "times": later}, "rounds": 3},
        "aggregation of one": {"aggregation": ["1"] + ["0"] * (clients - 1)},
        "aggregation of none": {"aggregation": ["0"] * clients},
        "proximal": {"name": "fedprox", "proximal": "1/2"},
        "FedNova": {"name": "fednova", "local_steps": work},
        "momentum": {"name": "fedavgm", "momentum": "9/10", "local_steps": 1},
        "SCAFFOLD of one": {"name": "scaffold", "participation": uniform},
        "SCAFFOLD in turns": {"name": "scaffold", "participation": cyclic},
        "Scaffnew": {"name": "scaffnew", "probability": "1/5", "local_steps": 1, "rounds": 4},
        "a ring": {"name": "dsgd", "mixing": ring, "local_steps": 1, "rounds": 3},
        "a ring in turns": {"name": "dsgd", "mixing": ring, "local_steps": 1, "participation": cyclic},
        "Scaffnew in turns": {"name": "scaffnew", "probability": "1/5", "local_steps": 1, "participation": cyclic},
        "compressed": {"name": "compressed", "coordinates": 1},
    }
    usual = {"local_step_size": "1/8", "local_steps": 2, "rounds": 2}
    return {name: {**usual, **own} for name, own in found.items()}


@cache
def claims() -> tuple[Claim, ...]:
    """Return the published statements with values that are not refuted."""
    return tuple(
        claim
        for claim in all_claims().values()
        if claim.is_testable and claim.rate is None and claim.verdict != "refuted"
    )


def read(problem: dict[str, Any], algorithm: dict[str, Any]) -> Run | None:
    """Return the exact run of a problem and a setting; None if run files do not allow them together."""
    try:
        return parse_run({"problem": problem, "algorithm": algorithm}, RATIONAL)
    except InputError:
        return None


@pytest.mark.parametrize("name", PROBLEMS)
def test_no_claim_fails_in_an_odd_setting(name: str) -> None:
    """Statements hold in rationals where their assumptions and conditions do."""
    problem = PROBLEMS[name]
    clients = len(problem.get("hessians") or problem.get("terms") or problem["inputs"])
    runs = {setting: read(problem, algorithm) for setting, algorithm in settings(clients).items()}
    applied, failing = 0, []
    for setting, run in runs.items():
        for claim in claims() if run is not None else ():
            found = check(claim, run)
            applied += found.applicable
            if found.holds is False:
                failing.append((setting, claim.id))
    assert failing == []
    assert applied > 100

"""Proofs from the definition of an algorithm, against exact runs of it and of false definitions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
import sympy as sp

from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.arithmetic import RATIONAL
from fedtheory.federation.algorithms import definition, fedavgm, scaffnew, scaffold
from fedtheory.federation.definition import FederatedAlgorithm, Gradient, Local, eta, optimum
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.proofs import check_certificate, definitions, prove
from fedtheory.proofs.fixed_point import FixedPoint
from fedtheory.runfile import parse_run

PROBLEM = {
    "kind": "quadratic",
    "hessians": [[["2", "1/2"], ["1/2", "1"]], [["1", "0"], ["0", "3"]]],
    "linear": [["1", "0"], ["-1", "2"]],
    "weights": ["1/3", "2/3"],
    "start": ["3", "-2"],
    "noise": "1",
}
KEYS: dict[str, dict[str, Any]] = {
    "fedavg": {"local_steps": 1},
    "scaffold": {"local_steps": [3, 1], "server_step_size": "1/2"},
    "scaffnew": {"probability": "1/3"},
    "fedavgm": {"momentum": "1/2", "nesterov": True},
}


def moved(keys: dict[str, Any], algorithm: FederatedAlgorithm | None = None) -> Any:
    """Return the exact distance by which a round moves an algorithm that starts at its fixed point."""
    run = parse_run({"problem": PROBLEM, "algorithm": {"local_step_size": "1/8", "rounds": 1} | keys}, RATIONAL)
    if algorithm is not None:
        assert run.algorithm.defined is not None
        defined = replace(run.algorithm.defined, algorithm=algorithm)
        run = replace(run, algorithm=replace(run.algorithm, defined=defined))
    return q.optimum_displacement_sq.on(run)


@pytest.mark.parametrize("name", KEYS)
def test_proved_fixed_points_do_not_move(name: str) -> None:
    assert prove(find(f"landmarks:{name}.at-rest")).verdict == "proved"
    assert moved(KEYS[name] | {"name": name}) == 0


@dataclass(frozen=True)
class Mistaken:
    """A definition with a wrong fixed point, and a certificate that claims it."""

    name: str
    algorithm: FederatedAlgorithm
    local_step: str = "idle"


def _step(name: str, step: Any) -> FederatedAlgorithm:
    known = definition(name)
    (local,) = known.steps
    return replace(known, local=Local(local.vector, local.start, step))


_S, _N, _M = scaffold, scaffnew, fedavgm
FALSE = {
    "control variates that are zero": Mistaken(
        "scaffold", replace(_S.algorithm, at_optimum={_S.x: optimum, _S.c: 0, _S.c_i: 0})
    ),
    "control variates twice as large": Mistaken(
        "scaffnew", replace(_N.algorithm, at_optimum={_N.x: optimum, _N.h: 2 * Gradient(optimum)})
    ),
    "a model beside the optimum": Mistaken(
        "scaffold", replace(_S.algorithm, at_optimum={**_S.algorithm.at_optimum, _S.x: 2 * optimum})
    ),
    "control variates that are added": Mistaken(
        "scaffold", _step("scaffold", _S.y - eta * (Gradient(_S.y) + _S.c_i + _S.c))
    ),
    "a local step without control variates": Mistaken("scaffnew", _step("scaffnew", _N.z - eta * Gradient(_N.z))),
    "control variates that are forgotten": Mistaken(
        "scaffold", replace(_S.algorithm, client_update={_S.c_i: _S.new_control - _S.c_i})
    ),
    "a coin that changes the control variates": Mistaken(
        "scaffnew",
        replace(
            _N.algorithm,
            client_update={**_N.algorithm.client_update, _N.h: _N.algorithm.client_update[_N.h] * (1 - _N.coin)},
        ),
    ),
    "a velocity that stays": Mistaken(
        "fedavgm", replace(_M.algorithm, at_optimum={_M.x: optimum, _M.v: optimum}), "single"
    ),
}


@pytest.mark.parametrize("what", FALSE)
def test_false_definitions_are_found_out(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel, which reads only the definition, rejects the claim, and in the engine the vectors move."""
    false = FALSE[what]
    monkeypatch.setattr(definitions, "definition", lambda _name: false.algorithm)
    found = check_certificate(find(f"landmarks:{false.name}.at-rest"), _rest(false.name, false.local_step))
    assert found.verdict == "broken"
    assert moved(KEYS[false.name] | {"name": false.name}, false.algorithm) > 0


def test_fixed_points_depend_on_the_step_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control variates that are proportional to the first step size do not cancel later steps of other sizes."""
    begun = {**_S.algorithm.at_optimum, _S.c_i: eta * Gradient(optimum)}
    step = Local(_S.y, start=_S.x, step=_S.y - eta * Gradient(_S.y) + _S.c_i)
    stays = replace(_S.algorithm, local=step, client_update={_S.c_i: _S.c_i}, at_optimum=begun)
    claim, keys = find("landmarks:scaffold.at-rest"), {"name": "scaffold", "local_steps": 4}
    monkeypatch.setattr(definitions, "definition", lambda _name: stays)
    assert moved(keys | {"local_step_size": "1/(8 + k)"}, stays) > 0
    assert check_certificate(claim, _rest("scaffold", "idle")).verdict == "broken"
    same = replace(claim, assumptions=(*claim.assumptions, a.same_step_size))
    assert moved(keys, stays) == 0
    assert check_certificate(same, _rest("scaffold", "idle")).verdict == "proved"


def _rest(name: str, local_step: Any) -> FixedPoint:
    return FixedPoint(claim=f"landmarks:{name}.at-rest", local_step=local_step)


def _claim(name: str, **changes: Any) -> Claim:
    return replace(find(f"landmarks:{name}.at-rest"), **changes)


_HALF = sp.Rational(1, 2)
TOO_MUCH: dict[str, tuple[Claim, FixedPoint]] = {
    "several local steps of FedAvg": (_claim("fedavg", conditions=()), _rest("fedavg", "single")),
    "an idle local step of FedAvg": (_claim("fedavg"), _rest("fedavg", "idle")),
    "two local steps of FedAvg": (
        _claim("fedavg", conditions=[sp.Symbol("tau", positive=True) <= 2]),
        _rest("fedavg", "single"),
    ),
    "several local steps with momentum": (_claim("fedavgm", conditions=()), _rest("fedavgm", "single")),
    "a single step of SCAFFOLD": (_claim("scaffold"), _rest("scaffold", "single")),
    "another number": (_claim("scaffold", rhs=_HALF), _rest("scaffold", "idle")),
    "another quantity": (_claim("scaffold", lhs=q.final_distance_sq), _rest("scaffold", "idle")),
    "less than nothing": (_claim("scaffold", relation="<"), _rest("scaffold", "idle")),
    "no algorithm": (_claim("scaffold", assumptions=()), _rest("scaffold", "idle")),
    "two algorithms": (_claim("scaffold", assumptions=(a.scaffold, a.scaffnew)), _rest("scaffold", "idle")),
    "an algorithm without a definition": (
        _claim("scaffold", assumptions=(a.of_algorithm("mine.py:own"),)),
        _rest("scaffold", "idle"),
    ),
    "an algorithm that says not where it rests": (_claim("scaffold", assumptions=(a.dsgd,)), _rest("scaffold", "idle")),
    "several relations": (
        _claim("scaffold", lhs=None, rhs=None, chain=(q.optimum_displacement_sq, "==", sp.S.Zero, "<=", _HALF)),
        _rest("scaffold", "idle"),
    ),
} | {
    f"momentum without {one.name}": (
        _claim("fedavgm", assumptions=[b for b in find("landmarks:fedavgm.at-rest").assumptions if b is not one]),
        _rest("fedavgm", "single"),
    )
    for one in (a.full_participation, a.importance_weights, a.same_step_size)
}


@pytest.mark.parametrize("what", TOO_MUCH)
def test_no_more_is_proved_than_is_true(what: str) -> None:
    claim, certificate = TOO_MUCH[what]
    assert check_certificate(claim, certificate).verdict == "broken"


def test_fixed_points_fail_without_their_conditions() -> None:
    """Two local steps, other weights, and different step sizes violate the claim without its conditions."""
    assert moved({"name": "fedavg", "local_steps": 2}) > 0
    assert moved({"name": "fedavgm", "momentum": "1/2", "local_steps": 2}) > 0
    assert moved({"name": "fedavgm", "momentum": "1/2", "aggregation": ["1/2", "1/2"]}) > 0
    assert moved({"name": "fedavgm", "momentum": "1/2", "local_step_size": ["1/8", "1/4"]}) > 0

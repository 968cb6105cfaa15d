"""Facts that proofs use about runs hold on exact runs, including edge cases with quantities zero or one.

Facts, and derivations from proved claims, become claims that are checked in rationals.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
import sympy as sp

from fedtheory import RATIONAL, parse_run
from fedtheory.engine.run import Run
from fedtheory.language import assumptions as a
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import Quantity
from fedtheory.language.registry import find
from fedtheory.proofs import Combination, certificates, prove
from fedtheory.proofs.decoding import FACTS
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.facts import Fact
from fedtheory.proofs.numbers import SymbolTable, divisors
from fedtheory.sources.lecture27.context.intervals import AtLastStep
from verify.check import check

TWO: dict[str, Any] = {"hessians": [[["1"]], [["3"]]], "linear": [["1"], ["-2"]], "start": ["3"]}
ONCE: dict[str, Any] = {"local_step_size": "1/7", "rounds": 3, "local_steps": 2}
IN_THE_PLANE: dict[str, Any] = {
    "hessians": [[["1", "0"], ["0", "2"]], [["3", "0"], ["0", "1"]]],
    "linear": [["1", "0"], ["0", "-2"]],
    "start": ["3", "1"],
}
SOME: dict[str, Any] = {"participation": {"kind": "uniform", "clients": 1}}
RUNS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "two clients": (TWO, ONCE),
    "noise": ({**TWO, "noise": "2"}, ONCE),
    "one client": ({"hessians": [[["2"]]], "linear": [["1"]], "start": ["3"]}, ONCE),
    "one local step": (TWO, {**ONCE, "local_steps": 1}),
    "one round": (TWO, {**ONCE, "rounds": 1}),
    "one step in all": ({**TWO, "noise": "1"}, {**ONCE, "rounds": 1, "local_steps": 1}),
    "flat objectives": ({"hessians": [[["0"]], [["0"]]], "linear": [["1"], ["-1"]], "start": ["1"]}, ONCE),
    "flat and at rest": ({"hessians": [[["0"]], [["0"]]], "linear": [["0"], ["0"]], "start": ["1"]}, ONCE),
    "from the optimum": ({**TWO, "linear": [["0"], ["0"]], "start": ["0"]}, ONCE),
    "the same clients": ({"hessians": [[["2"]], [["2"]]], "linear": [["1"], ["1"]], "start": ["3"]}, ONCE),
    "steps that grow": (TWO, {**ONCE, "local_step_size": "2"}),
    "a step to the optimum": ({**TWO, "hessians": [[["1"]], [["1"]]]}, {**ONCE, "local_step_size": "1"}),
    "a server step": ({**TWO, "noise": "1"}, {**ONCE, "server_step_size": "4/3"}),
    "one of two is drawn": ({**TWO, "noise": "1"}, {**ONCE, **SOME}),
    "one of one is drawn": ({"hessians": [[["2"]]], "linear": [["1"]], "start": ["3"]}, {**ONCE, **SOME}),
}
UPDATES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "updates in which nobody reports": (
        {**TWO, "noise": "1"},
        {**ONCE, "rounds": 4, "clock": {"policy": "fedfix", "interval": "1/2", "times": ["1", "1"]}},
    ),
    "stale updates": ({**TWO, "noise": "1"}, {**ONCE, "clock": {"policy": "async", "times": ["1", "3"]}}),
    "somebody never reports": (TWO, {**ONCE, "participation": {"kind": "fixed", "clients": [0]}}),
    "unequal weights": ({**TWO, "weights": ["1/5", "4/5"]}, ONCE),
}
OTHERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "momentum at the server": (TWO, {**ONCE, "name": "fedavgm", "momentum": "1/2"}),
    "a heavy proximal term": (TWO, {**ONCE, "name": "fedprox", "proximal": "20"}),
    "changes per step": (TWO, {**ONCE, "name": "fednova", "local_steps": [1, 3]}),
    "corrected clients": (TWO, {**ONCE, "name": "scaffold"}),
    "one of two coordinates": (IN_THE_PLANE, {**ONCE, "name": "compressed", "coordinates": 1}),
    "coins": (TWO, {**ONCE, "name": "scaffnew", "probability": "1/2", "local_steps": 1}),
    "neighbours": (TWO, {**ONCE, "name": "dsgd", "mixing": [["2/3", "1/3"], ["1/3", "2/3"]], "local_steps": 1}),
}
"""Runs of algorithms that are not settings of the update rule."""
THREE: dict[str, Any] = {"hessians": [[["1"]], [["2"]], [["1"]]], "linear": [["1"], ["-2"], ["4"]], "start": ["3"]}
ALIKE: dict[str, Any] = {"hessians": [[["2"]]] * 3, "linear": [["1"]] * 3, "start": ["3"]}


def _scheduled(policy: str, times: list[str], rounds: int, problem: Any = THREE, **more: Any) -> Any:
    """Return a run on a clock; `weights` are those of the aggregation, `clock` further keys of the clock."""
    clock = {"policy": policy, "times": times, **more.pop("clock", {})}
    return problem, {**ONCE, "rounds": rounds, "clock": clock, "aggregation": more.pop("weights", "time-based"), **more}


SINGLY = {"clock": {"ties": "one-by-one"}}
HALVES = {"clock": {"interval": "1/2"}}
SCHEDULES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "one by one": _scheduled("async", ["1", "2", "3"], 11, **SINGLY),
    "one by one for two cycles": _scheduled("async", ["2", "3"], 10, TWO, **SINGLY),
    "one by one, of one time": _scheduled("async", ["2", "2", "2"], 6, ALIKE, **SINGLY),
    "one by one, alone": _scheduled("async", ["2"], 3, RUNS["one client"][0], **SINGLY),
    "one by one, until somebody is done": _scheduled("async", ["2/3", "1", "5"], 7, **SINGLY),
    "one by one, where one does not count": _scheduled("async", ["1", "2"], 3, TWO, weights=["1", "0"], **SINGLY),
    "together": _scheduled("async", ["1", "2", "3"], 8),
    "intervals": _scheduled("fedfix", ["1", "3/4", "2"], 8, **HALVES),
    "intervals of one time": _scheduled("fedfix", ["1", "1", "1"], 4, ALIKE, **HALVES),
    "intervals that are long": _scheduled("fedfix", ["1/2", "1/4"], 3, TWO, **HALVES),
    "intervals, of which the last is cut": _scheduled("fedfix", ["1", "3/4", "2"], 7, weights="importance", **HALVES),
    "intervals, where one does not count": _scheduled("fedfix", ["1/2", "1"], 4, TWO, weights=["1", "0"], **HALVES),
    "intervals in which nobody reports": _scheduled("fedfix", ["3/2", "5"], 1, TWO, weights=["1/2", "0"], **HALVES),
    "rounds that wait": _scheduled("sync", ["1", "3/4", "2"], 3),
    "rounds of clients that are alike": _scheduled("sync", ["1", "3/4", "2"], 3, ALIKE),
    "two of three are drawn": (THREE, {**ONCE, "participation": {"kind": "uniform", "clients": 2}}),
    "three draws": (THREE, {**ONCE, "participation": {"kind": "multinomial", "clients": 3}}),
    "one draw": (TWO, {**ONCE, "participation": {"kind": "multinomial", "clients": 1}}),
}
ALL = RUNS | UPDATES | OTHERS | SCHEDULES


@cache
def run(name: str) -> Run:
    """Return an exact run."""
    problem, algorithm = ALL[name]
    return parse_run({"problem": {"kind": "quadratic", **problem}, "algorithm": algorithm}, RATIONAL)


class Recorded(SymbolTable):
    """Symbols that remember their quantities."""

    def __init__(self, where: Any) -> None:
        super().__init__(where)
        self.where = dict(where)

    def __call__(self, quantity: Quantity) -> sp.Symbol:
        """Return the symbol of a quantity."""
        symbol = super().__call__(quantity)
        self.where[symbol] = quantity
        return symbol


def verdicts(claim: Claim) -> dict[str, bool]:
    """Return whether a claim holds on each run to which it applies."""
    found = {name: check(claim, run(name)).holds for name in ALL}
    return {name: holds for name, holds in found.items() if holds is not None}


def about(slack: Any, symbol: Recorded, is_zero: bool, **stated: Any) -> Claim:
    """Return the claim that an expression is non-negative, or zero."""
    conditions = stated.pop("conditions", ())
    symbols = slack.free_symbols.union(*(one.free_symbols for one in conditions))
    used = {each: quantity for each, quantity in symbol.where.items() if each in symbols}
    plain = {each: sp.Symbol(quantity.name, real=True) for each, quantity in used.items()}
    conditions = [one.func(*(side.xreplace(plain) for side in one.args), evaluate=False) for one in conditions]
    where = {plain[each]: quantity for each, quantity in used.items()}
    operator = "==" if is_zero else ">="
    return Claim(
        id="t:lemma", lhs=slack.xreplace(plain), relation=operator, rhs=0, where=where, conditions=conditions, **stated
    )


OF_NO_RUN_HERE = {"the step size of the corollary"}
"""Facts for step sizes with roots, which no rational run has."""


@pytest.mark.parametrize("fact", FACTS.values(), ids=lambda fact: fact.name)
def test_facts_hold_on_runs_at_the_edge(fact: Fact) -> None:
    """Facts hold for one client, one step, one round, no noise, flat objectives, or no reports."""
    symbol = Recorded({})
    slack, zero = sp.sympify(fact.slack(symbol)), sp.sympify(fact.zero_condition(symbol))
    conditions = [] if zero == 0 else [sp.Eq(zero, 0, evaluate=False)]
    found = verdicts(about(slack, symbol, fact.is_zero, assumptions=fact.needs, conditions=conditions))
    assert all(found.values()), found
    assert len(found) > 1 or fact.name in OF_NO_RUN_HERE, fact.name


def derivations() -> dict[str, Derived]:
    """Return the derivations of recorded certificates from other claims, by kind and claim."""
    sums = [found for found in certificates().values() if isinstance(found, Combination)]
    parts = [part.premise for found in sums for link in found.links for part in link]
    known = [*parts, *(one for found in sums for one in found.known)]
    premises = [Derived(one) if isinstance(one, str) else one for one in known if isinstance(one, str | Derived)]
    return {f"{type(one).__name__} of {one.claim}, relation {one.link + 1}": one for one in premises}


DERIVED = {name: one for name, one in derivations().items() if not isinstance(one, AtLastStep)}
"""Derivations for the last step of a round, which concern its vectors and are no claims about a run."""


def derived_claim(derived: Derived) -> Claim:
    """Return the derived relation as a claim about a run, under all required premises."""
    premise = prove(find(derived.claim)).statement
    symbol = Recorded({**premise.where, **premise.notation})
    relation = premise.relations[derived.link]
    found = sp.sympify(derived.derive(symbol, premise.relations))
    needed = [sp.Ge(one, 0, evaluate=False) for one in derived.requires(symbol, relation.slack)]
    needed += [sp.Gt(one, 0, evaluate=False) for one in divisors([relation.slack])]
    is_zero = relation.operator == "==" and derived.keeps_equations
    assumptions = (*premise.assumptions, *derived.needs)
    return about(found, symbol, is_zero, conditions=(*premise.conditions, *needed), assumptions=assumptions)


@pytest.mark.parametrize("name", DERIVED)
def test_derived_claims_hold_on_runs_at_the_edge(name: str) -> None:
    """Derivations from steps to rounds, rounds to runs, and clients and steps of an update to averages hold."""
    found = verdicts(derived_claim(DERIVED[name]))
    assert all(found.values()), found
    # The step sizes of a corollary, and weights that are equal in all updates, need other runs.
    assert len(found) > 1 or type(DERIVED[name]) is Derived


SMALL_STEPS = {
    f"{name}, small steps": (problem, {**algorithm, "local_step_size": "1/1000"})
    for name, (problem, algorithm) in OTHERS.items()
}
ALL |= SMALL_STEPS


def test_proved_claims_concern_the_update_rule() -> None:
    """The proved claims, as user-defined ones, hold on runs of every algorithm, or do not apply."""
    for name in certificates():
        claim = replace(find(name), id="t:own")
        found = {other: check(claim, run(other)).holds for other in OTHERS | SMALL_STEPS}
        assert False not in found.values(), (name, found)


def test_the_server_step_size_of_a_run_of_another_algorithm() -> None:
    """The server step size of another algorithm may be one, although its server does not simply add the average
    change.
    """
    momentum = run("momentum at the server")
    assert a.server_step_of_one.failure(momentum) is None
    assert "is not a setting of it" in str(a.unit_server_step.failure(momentum))
    assert "is not a setting of it" in str(a.aggregation_scheme.failure(momentum))

"""Bad definitions and bad keys of algorithms give one line that names the error."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.errors import InputError
from fedtheory.federation.algorithms import definition, names
from fedtheory.federation.definition import (
    Average,
    Compressed,
    FederatedAlgorithm,
    Gradient,
    Local,
    Mixed,
    Parameter,
    Weighted,
    eta,
    optimum,
    start,
)
from fedtheory.language.targets import resolve
from fedtheory.runfile import parse_run, run_table
from verify.check import check

x, y, c, z = sp.symbols("x y_i c_i z_i", real=True)
LOCAL = Local(y, start=x, step=y - eta * Gradient(y))


def _definition(**changes: Any) -> FederatedAlgorithm:
    given: dict[str, Any] = {
        "server": {x: start},
        "local": LOCAL,
        "server_update": {x: x + Weighted(y - x)},
        "model": x,
    }
    return FederatedAlgorithm("mine", **(given | changes))


BAD = {
    "a product of vectors": ({"server_update": {x: x + Weighted(y * x)}}, "the term x*y_i is none"),
    "a power": ({"local": Local(y, x, y - eta * Gradient(y) ** 2)}, "linear combination"),
    "a number": ({"server_update": {x: x + 1}}, "the term 1 is none"),
    "an unknown letter": (
        {"server_update": {x: sp.Symbol("alpha") * x}},
        "undeclared symbol alpha: expected a vector, a number of the run such as eta, or a number of the algorithm",
    ),
    "a sum in a local step": (
        {"client": {c: 0}, "local": Local(y, x, y - eta * Weighted(c))},
        "not known here: clients are combined at the end of a round; the server can keep the result",
    ),
    "no start of a client": ({"client_update": {c: y - x}}, "mine: c_i: has no start: add it to `client`"),
    "no start of the server": ({"server_update": {c: x}}, "c_i: has no start: add it to `server`"),
    "two points": (
        {"client": {c: start}, "local": Local(y, x, y - eta * (Gradient(y) + Gradient(c)))},
        "expected gradients at one point in a local step, got c_i, y_i: two points are not supported; a client",
    ),
    "a client at the server": ({"server_update": {x: y}}, "y_i is not known here"),
    "a gradient at the end": (
        {"server_update": {x: x - Gradient(x)}},
        "not known here: gradients are taken in local steps",
    ),
    "a start elsewhere": ({"client": {c: x}}, "x is not known here"),
    "a start at a multiple that differs": (
        {"server": {x: eta * start}},
        r"expected a multiple of x^0 as start, got one with the symbol \eta_i",
    ),
    "a client's number": ({"server_update": {x: x + eta * Weighted(y - x)}}, "the same for all clients"),
    "no Local": ({"local": "y"}, "mine: expected `local` to be Local(vector, start, step), got 'y'"),
    "no steps": ({"local": ()}, "mine: expected `local` to be Local(vector, start, step), got ()"),
    "a list": ({"server": [x]}, "mine: expected `server` to be a dictionary, got [x]"),
    "no expression": ({"server_update": {x: None}}, "mine: x: expected a symbol and an expression, got None"),
    "a rest elsewhere": ({"at_optimum": {x: y}}, "mine: x: `at_optimum` cannot depend on y_i"),
    "a gradient at the server's rest": (
        {"at_optimum": {x: Gradient(optimum)}},
        "`at_optimum` cannot depend on Gradient(x^*)",
    ),
    "a client's number at the server's rest": ({"at_optimum": {x: eta * optimum}}, "in `at_optimum`"),
    "a coin at the rest": (
        {"coins": {z: sp.S.Half}, "at_optimum": {x: z * optimum}},
        "undeclared symbol z_i in `at_optimum`",
    ),
    "a rest of some vectors": (
        {"client": {c: 0}, "at_optimum": {x: optimum}},
        "mine: c_i: expected all vectors of the server and of the clients in `at_optimum`",
    ),
    "the optimum in a step": ({"server_update": {x: optimum}}, "is not known here"),
    "a letter twice": ({"client": {x: start}}, "mine: x: has two meanings"),
    "the server's vector at the clients": ({"local": Local(x, x, x - eta * Gradient(x))}, "x: has two meanings"),
    "a letter of the run": (
        {"parameters": (Parameter(eta, "own", "a number", sp.Interval(0, 1)),)},
        "has two meanings",
    ),
    "two vectors of one name": ({"client": {sp.Symbol("x", positive=True): start}}, "mine: x: has two meanings"),
    "two numbers of one name": (
        {
            "parameters": tuple(
                Parameter(sp.Symbol("a", real=True, positive=sign), key, "", sp.Interval(0, 1), 0)
                for sign, key in ((None, "first"), (True, "second"))
            )
        },
        "mine: a: has two meanings",
    ),
    "the name of a letter of the run": (
        {"parameters": (Parameter(sp.Symbol(eta.name), "own", "a number", sp.Interval(0, 1)),)},
        "has two meanings",
    ),
    "a key twice": (
        {"parameters": tuple(Parameter(one, "momentum", "", sp.Interval(0, 1), 0) for one in (c, z))},
        "mine: expected different keys for the parameters, got momentum twice",
    ),
    "a vector as chance": ({"coins": {z: c}}, "the probability has the symbol c_i, which is not a parameter"),
    "a vector as count": (
        {"server_update": {x: x + Weighted(Compressed(y - x, y))}},
        "the number of coordinates has the symbol y_i, which is not a parameter",
    ),
    "a gradient of a gradient": ({"local": Local(y, x, y - Gradient(Gradient(y)))}, "Gradient(y_i) is not known here"),
    "divided by a vector": ({"local": Local(y, x, y / Gradient(y))}, "the term y_i/Gradient(y_i) is none"),
    "a number that starts": ({"server": {x: start + 1}}, "the term 1 is none"),
    "a sum in a sum": ({"server_update": {x: Weighted(Weighted(y))}}, "not known here"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_definitions(name: str) -> None:
    changes, message = BAD[name]
    with pytest.raises(InputError, match=re.escape(message)):
        _definition(**changes)


PROBLEM = {"kind": "quadratic", "hessians": [[["2", "0"], ["0", "1"]]] * 2, "linear": [["1", "0"], ["-1", "0"]]}
KEYS: dict[str, Any] = {"local_step_size": "1/20", "rounds": 3}
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "unknown": ({"name": "scafold"}, "algorithm.name: expected one of compressed, distributed-gd, dsgd, fedavg"),
    "zero": ({"name": "scaffnew", "probability": 0}, "algorithm.probability: expected a number in (0, 1], got 0"),
    "above one": ({"name": "scaffnew", "probability": "3/2"}, "algorithm.probability: expected a number in (0, 1]"),
    "no probability": ({"name": "scaffnew"}, "algorithm.probability: is missing"),
    "momentum": ({"name": "fedavgm", "momentum": 1}, "algorithm.momentum: expected a number in [0, 1), got 1"),
    "flag": ({"name": "fedavgm", "momentum": 0, "nesterov": 1}, "algorithm.nesterov: expected true or false"),
    "proximal": ({"name": "fedprox", "proximal": -1}, "algorithm.proximal: expected a number in [0, infinity)"),
    "local steps": (
        {"name": "dsgd", "mixing": [["1", "0"], ["0", "1"]], "local_steps": 2},
        "algorithm.local_steps: expected 1 with dsgd",
    ),
    "rows": (
        {"name": "dsgd", "mixing": [["1/2", "1/3"], ["1/2", "1/2"]]},
        "algorithm.mixing: expected a doubly stochastic matrix; row 0 sums to 5/6",
    ),
    "columns": (
        {"name": "dsgd", "mixing": [["1/3", "2/3"], ["1/2", "1/2"]]},
        "algorithm.mixing: expected a doubly stochastic matrix; column 0 sums to 5/6",
    ),
    "negative": ({"name": "dsgd", "mixing": [["2", "-1"], ["-1", "2"]]}, "algorithm.mixing: expected numbers that are"),
    "shape": ({"name": "dsgd", "mixing": [["1"]]}, "algorithm.mixing: expected 2 x 2 numbers, got 1 x 1"),
    "drawn": (
        {"name": "scaffnew", "probability": 1, "participation": {"kind": "uniform", "clients": 1}},
        "algorithm.participation: expected full participation with scaffnew",
    ),
    "clock": (
        {"name": "scaffold", "clock": {"policy": "async"}},
        "algorithm.clock: expected the synchronous clock with scaffold: its clients keep vectors between rounds",
    ),
    "coordinates": (
        {"name": "compressed", "coordinates": 3},
        "algorithm.coordinates: expected a whole number of coordinates from 1 to 2, got 3",
    ),
    "half a coordinate": ({"name": "compressed", "coordinates": "3/2"}, "algorithm.coordinates: expected a number in"),
    "no server": (
        {"name": "scaffnew", "probability": 1, "server_step_size": 2},
        "algorithm.server_step_size: expected none with scaffnew, got 2",
    ),
    "no weights": (
        {"name": "dsgd", "mixing": [["1", "0"], ["0", "1"]], "aggregation": "identical"},
        'algorithm.aggregation: expected "importance" with dsgd, whose server does not weight clients',
    ),
    "another's key": ({"name": "scaffold", "momentum": 0}, "algorithm.momentum: unknown key"),
    "formula": ({"local_step_size": "1/(1+m)"}, "algorithm.local_step_size: expected numbers, n, k, pi, + - * /"),
    "not positive": ({"local_step_size": "1 - n"}, "expected positive numbers, got 0 from 1 - n at n = 1"),
    "no value": ({"local_step_size": "1/n"}, "1/n has no value at n = 0, k = 0"),
    "a call": ({"local_step_size": "__import__('os')"}, "expected numbers, n, k, pi, + - * / // % **, brackets"),
    "a root": (
        {"local_step_size": "1/(1+n)**(1/2)"},
        "irrational values: expected rational ones with exact arithmetic",
    ),
    "a formula elsewhere": ({"name": "sgd", "local_step_size": "1/(1+n)"}, "only fedavg accepts formulas"),
}


@pytest.mark.parametrize("name", WRONG)
def test_bad_keys(name: str) -> None:
    changes, message = WRONG[name]
    with pytest.raises(InputError, match=re.escape(message)):
        _ = parse_run({"problem": PROBLEM, "algorithm": KEYS | changes}, RATIONAL).trajectory


def test_a_root_is_fine_in_floats() -> None:
    run = parse_run({"problem": PROBLEM, "algorithm": KEYS | {"local_step_size": "1/(4+n)**(1/2)"}}, FLOAT)
    assert run.trajectory.divergence is None


@pytest.mark.parametrize("name", names())
def test_every_definition_says_what_it_is(name: str) -> None:
    found = definition(name)
    assert found.name == name
    assert found.description


MINE = """
import sympy as sp
from fedtheory.federation.definition import *

x, y = sp.symbols("x y_i", real=True)
halves = FederatedAlgorithm(
    "halves", server={x: start}, local=Local(y, x, y - eta*Gradient(y)),
    server_update={x: (x + Weighted(y)) / 2}, model=x,
)
"""


def test_an_algorithm_of_ones_own(tmp_path: Path) -> None:
    """A step halfway to the client average is FedAvg with a server step of one half."""
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    own, fedavg = (
        parse_run(
            {"problem": PROBLEM | {"start": ["3", "5"], "noise": 1}, "algorithm": KEYS | keys}, RATIONAL, tmp_path
        )
        for keys in ({"name": "mine.py:halves"}, {"server_step_size": "1/2"})
    )
    assert (own.trajectory.moments == fedavg.trajectory.moments).all()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mine.py:other", "other: expected the name of a FederatedAlgorithm: halves"),
        ("none.py:halves", "no such file"),
    ],
)
def test_files_without_that_algorithm(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(message)):
        parse_run({"problem": PROBLEM, "algorithm": KEYS | {"name": name}}, RATIONAL, tmp_path)


@pytest.mark.parametrize(
    ("chance", "message"),
    [
        ("sp.Integer(2)", "expected a probability in (0, 1] for theta, got 2 with halves"),
        ("-sp.S.Half", "expected a probability in (0, 1] for theta, got -1/2"),
        ("sp.S.Zero", "expected a probability in (0, 1] for theta, got 0"),
        ("sp.sin(1)", "algorithm halves: expected numbers, symbols, + - * / and integer powers, got sin(1)"),
    ],
)
def test_chances_are_probabilities(tmp_path: Path, chance: str, message: str) -> None:
    tossed = MINE.replace("model=x,", f'model=x, coins={{sp.Symbol("theta"): {chance}}},')
    (tmp_path / "mine.py").write_text(tossed, encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(message)):
        parse_run({"problem": PROBLEM, "algorithm": KEYS | {"name": "mine.py:halves"}}, RATIONAL, tmp_path)


def test_an_algorithm_that_is_not_one(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(MINE.replace("Weighted(y)", "Weighted(y*x)"), encoding="utf-8")
    with pytest.raises(InputError, match=r"bad\.py: halves: x: expected a linear combination .*x\*y_i"):
        parse_run({"problem": PROBLEM, "algorithm": KEYS | {"name": "bad.py:halves"}}, RATIONAL, tmp_path)


@pytest.mark.parametrize(
    "keys",
    [{"name": "scaffold"}, {"name": "scaffnew", "probability": "1/2"}, {"name": "fedavgm", "momentum": "1/2"}],
    ids=lambda keys: keys["name"],
)
def test_steps_that_are_too_large_diverge(keys: dict[str, Any]) -> None:
    run = parse_run({"problem": PROBLEM, "algorithm": KEYS | {"local_step_size": 5} | keys}, FLOAT)
    assert run.attempted_trajectory.divergence is not None
    settled = parse_run({"problem": PROBLEM, "algorithm": KEYS | {"rounds": 30} | keys}, FLOAT)
    assert settled.attempted_trajectory.divergence is None


def test_mixed_vectors_and_averages_may_be_combined() -> None:
    """Clients that combine messages of neighbours with the average keep the average unchanged."""
    own = FederatedAlgorithm(
        "both",
        client={c: start},
        local=Local(y, start=c, step=y - eta * Gradient(y)),
        client_update={c: (Mixed(y) + Average(y)) / 2},
        model=Average(c),
    )
    assert own.needs_all_clients


WRITTEN: list[dict[str, Any]] = [
    {"name": "fedprox", "proximal": "1/2"},
    {"name": "fedavgm", "momentum": "1/2", "nesterov": True},
    {"name": "dsgd", "mixing": [["2/3", "1/3"], ["1/3", "2/3"]]},
    {"local_step_size": "1/(10 + 2*n)", "local_steps": 2},
]


@pytest.mark.parametrize("keys", WRITTEN, ids=str)
def test_a_run_can_be_written_and_read_again(keys: dict[str, Any]) -> None:
    third = RATIONAL.number("1/3", "")
    run = parse_run({"problem": PROBLEM, "algorithm": KEYS | keys}, RATIONAL).with_step_factor(third)
    again = parse_run(run_table(run), RATIONAL)
    assert (again.trajectory.moments == run.trajectory.moments).all()


def test_claims_of_papers_are_about_the_update_rule() -> None:
    run = parse_run({"problem": PROBLEM, "algorithm": KEYS | {"name": "scaffold"}}, RATIONAL)
    found = check(resolve("renard2022:thm-2.1"), run)
    assert not found.applicable
    assert "scaffold is not a setting of it" in found.reason

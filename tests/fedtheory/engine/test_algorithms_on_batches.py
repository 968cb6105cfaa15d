"""Output of `simulate` for algorithms on mini-batches, against all outcomes of programs in their standard form.

Batches of two rows, sampled with and without replacement, with full participation and client sampling, give equal
rationals.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import algorithm_programs as programs
import enumeration as brute
import pytest
import sympy as sp
from algorithm_programs import Choose, Clients, Program, Setting
from enumeration import Point, plus
from flint import fmpq

from fedtheory.cli import run as run_command


@dataclass(frozen=True)
class Batches(Clients):
    """Clients whose stochastic gradients are averages over two of their rows."""

    replacement: bool = True

    def gradient(self, choose: Choose, i: int, at: Point) -> Point:
        """Return the gradient of a uniform mini-batch."""
        rows = self.rows[i]
        batches = itertools.product(rows, repeat=2) if self.replacement else itertools.combinations(rows, 2)
        drawn = list(batches)
        found = self.zero
        for x, y in choose([(fmpq(1, len(drawn)), batch) for batch in drawn]):
            found = plus(found, x, brute.dot(x, at) - y)
        return found


ROWS = [
    [(brute.point("1", "1/2"), fmpq(2)), (brute.point("1/2", "-1"), fmpq(-1)), (brute.point("0", "1"), fmpq(1))],
    [(brute.point("2/3", "1"), fmpq(0)), (brute.point("1", "-1/3"), fmpq(1))],
]
IMPORTANCE = brute.point("1/3", "2/3")
START = brute.point("3", "-1")
_SHARES = [fmpq(1, len(rows)) for rows in ROWS]


def _clients(replacement: bool) -> Batches:
    """F_i(x) = mean over the rows of (<a, x> - b)^2."""
    axes = range(len(START))
    hessians = [
        [[2 * share * sum((a[j] * a[k] for a, _ in rows), fmpq(0)) for k in axes] for j in axes]
        for share, rows in zip(_SHARES, ROWS, strict=True)
    ]
    linear = [
        [2 * share * sum((a[j] * b for a, b in rows), fmpq(0)) for j in axes]
        for share, rows in zip(_SHARES, ROWS, strict=True)
    ]
    return Batches(hessians, linear, IMPORTANCE, START, [], ROWS, replacement)


EVERYBODY = [(fmpq(1), [(p, 1) for p in IMPORTANCE])]
ONE = [(chance, [(w, int(w != 0)) for w in weights]) for chance, weights in brute.uniform_weights(IMPORTANCE, 1)]
W = [["2/3", "1/3"], ["1/3", "2/3"]]
Made = Callable[[Setting], Program]
SERVERS: dict[str, tuple[dict[str, Any], Made]] = {
    "fedavg": ({"name": "fedavg"}, programs.server_program),
    "fedprox": (
        {"name": "fedprox", "proximal": "3/2"},
        lambda setting: programs.server_program(setting, proximal=fmpq(3, 2)),
    ),
    "fednova": ({"name": "fednova"}, lambda setting: programs.server_program(setting, normalised=True)),
    "momentum": (
        {"name": "fedavgm", "momentum": "2/5"},
        lambda setting: programs.server_program(setting, momentum=fmpq(2, 5)),
    ),
    "nesterov": (
        {"name": "fedavgm", "momentum": "2/5", "nesterov": True},
        lambda setting: programs.server_program(setting, momentum=fmpq(2, 5), nesterov=True),
    ),
    "rand-k": ({"name": "compressed", "coordinates": 1}, lambda setting: programs.server_program(setting, kept=1)),
    "scaffold": ({"name": "scaffold"}, programs.scaffold),
}
CLIENTS: dict[str, tuple[dict[str, Any], Made]] = {
    "scaffnew": (
        {"name": "scaffnew", "probability": "1/3"},
        lambda setting: programs.scaffnew(setting, fmpq(1, 3)),
    ),
    "dsgd": (
        {"name": "dsgd", "mixing": W},
        lambda setting: programs.dsgd(setting, [brute.point(*row) for row in W]),
    ),
}
FULL = {**SERVERS, **CLIENTS}


def _print_it(folder: Path, replacement: bool, keys: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> Any:
    """Return `server` of the command's output."""
    problem = {
        "kind": "least-squares",
        "inputs": [[list(map(str, a)) for a, _ in rows] for rows in ROWS],
        "outputs": [[str(b) for _, b in rows] for rows in ROWS],
        "weights": list(map(str, IMPORTANCE)),
        "start": list(map(str, START)),
        "batch": 2,
        "replacement": replacement,
    }
    drawn = keys.pop("participation", None)
    parts = {"problem": problem, "algorithm": keys} | ({"algorithm.participation": drawn} if drawn else {})
    lines = [
        line
        for part, entries in parts.items()
        for line in (f"[{part}]", *(f"{key} = {json.dumps(value)}" for key, value in entries.items()))
    ]
    file = folder / "run.toml"
    file.write_text("\n".join(lines) + "\n")
    assert run_command(["simulate", str(file), "--arithmetic", "rational", "--json"]) == 0
    return json.loads(capsys.readouterr().out)["server"]


def _optimum(clients: Clients) -> Point:
    hessian, linear = sp.zeros(2), sp.zeros(2, 1)
    for p, rows, entries in zip(IMPORTANCE, clients.hessians, clients.linear, strict=True):
        share = sp.Rational(str(p))
        hessian += share * sp.Matrix(2, 2, [sp.Rational(str(h)) for row in rows for h in row])
        linear += share * sp.Matrix([sp.Rational(str(b)) for b in entries])
    return brute.point(*map(str, hessian.LUsolve(linear)))


def _assert_printed(
    made: Made, keys: dict[str, Any], participation: brute.Law, replacement: bool, printed: Callable[..., Any]
) -> None:
    clients, steps = _clients(replacement), keys.get("local_steps", 1)
    counts = steps if isinstance(steps, list) else [steps] * 2
    size, server = brute.number(keys["local_step_size"]), brute.number(keys.get("server_step_size", 1))
    setting = Setting(clients, keys["rounds"], counts, lambda _i, _n, _k: size, server, participation)
    found = programs.truth(made(setting), clients, _optimum(clients))
    assert printed(keys) == {
        name: [list(map(str, v)) if name == "mean" else str(v) for v in values] for name, values in found.items()
    }


@pytest.mark.parametrize("replacement", [True, False], ids=["with replacement", "without"])
@pytest.mark.parametrize("name", FULL)
def test_everybody(name: str, replacement: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys, made = FULL[name]
    keys = {"local_step_size": "1/4", "rounds": 1 if replacement and name == "rand-k" else 2} | keys
    if not replacement and name in SERVERS:
        keys |= {"local_steps": [2, 1], "server_step_size": "3/2"}
    _assert_printed(made, keys, EVERYBODY, replacement, lambda keys: _print_it(tmp_path, replacement, keys, capsys))


@pytest.mark.parametrize("replacement", [True, False], ids=["with replacement", "without"])
@pytest.mark.parametrize("name", SERVERS)
def test_one_of_two(name: str, replacement: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two clients of which one participates need a third round to see control variates."""
    keys, made = SERVERS[name]
    rounds = 2 if replacement and name != "scaffold" else 3
    keys = {"local_step_size": "1/4", "rounds": rounds} | keys
    drawn = {"participation": {"kind": "uniform", "clients": 1}}
    _assert_printed(made, keys, ONE, replacement, lambda keys: _print_it(tmp_path, replacement, keys | drawn, capsys))

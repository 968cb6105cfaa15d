"""`fedtheory simulate` on good run files: keys and shapes of the document, and rationals against floats."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from cli_support import DIGITS, QUADRATIC, ROWS, Changes, results, run_text, shape


@dataclass(frozen=True)
class Good:
    """A good run file and the shape of its results."""

    name: str
    base: dict[str, str]
    changes: Changes
    clients: int
    dimension: int
    rounds: int
    local_steps: int | None
    """The number of local steps; None if it differs between clients."""
    small: bool = True
    """Whether the run is also simulated in rationals."""


def quadratic(name: str, changes: Changes, rounds: int = 8, local_steps: int | None = 5) -> Good:
    """Return a variant of the quadratic example of the documentation."""
    return Good(name, QUADRATIC, changes, 2, 2, rounds, local_steps)


def shipped(name: str, changes: Changes, clients: int = 10, dimension: int = 65) -> Good:
    """Return least squares on a data set of scikit-learn."""
    return Good(name, DIGITS, {f"problem.{k}": v for k, v in changes.items()}, clients, dimension, 4, 3, small=False)


def own(name: str, changes: Changes, clients: int = 3) -> Good:
    """Return least squares on a user's file."""
    return Good(name, ROWS, {f"problem.{k}": v for k, v in changes.items()}, clients, 3, 4, 3)


def participation(name: str, value: str) -> Good:
    """Return the quadratic example with a participation law."""
    return quadratic(name, {"algorithm.participation": value})


def timed(name: str, time: str, times: str | None, rounds: int) -> Good:
    """Return the quadratic example with a time instead of rounds."""
    clock = '{ policy = "sync" }' if times is None else f'{{ policy = "sync", times = {times} }}'
    return quadratic(name, {"algorithm.rounds": None, "algorithm.time": time, "algorithm.clock": clock}, rounds=rounds)


OPTIONAL = (
    "problem.constants",
    "problem.weights",
    "problem.start",
    "problem.noise",
    "algorithm.name",
    "algorithm.server_step_size",
    "algorithm.participation",
    "algorithm.clock",
    "algorithm.aggregation",
)

CASES = [
    quadratic("the contract's example", {}),
    quadratic("required keys only", dict.fromkeys(OPTIONAL)),
    quadratic("one local step by default", {"algorithm.local_steps": None}, local_steps=1),
    quadratic("one round", {"algorithm.rounds": "1"}, rounds=1),
    quadratic("decimals", {"problem.start": "[3.25, -2e-1]", "algorithm.local_step_size": "0.05"}),
    quadratic("rationals with spaces and signs", {"problem.start": '[" 7/2 ", "-0.5"]'}),
    quadratic("noise for each client", {"problem.noise": '["1/3", 0]'}),
    quadratic("unequal weights", {"problem.weights": "[0.3, 0.7]"}),
    quadratic("a flat direction", {"problem.hessians": '[[["2",0],[0,0]], [["1",0],[0,0]]]'}),
    quadratic("start at zeros", {"problem.start": '"zeros"'}),
    quadratic("step size for each client", {"algorithm.local_step_size": '["1/20", "1/30"]'}),
    quadratic("local steps for each client", {"algorithm.local_steps": "[2, 5]"}, local_steps=None),
    quadratic("local steps for each client, all equal", {"algorithm.local_steps": "[3, 3]"}, local_steps=3),
    quadratic("server step", {"algorithm.server_step_size": '"1/2"'}),
    participation("full", '{ kind = "full" }'),
    participation("uniform", '{ kind = "uniform", clients = 1 }'),
    participation("uniform, all", '{ kind = "uniform", clients = 2 }'),
    participation("multinomial", '{ kind = "multinomial", clients = 2 }'),
    participation("multinomial, more draws than clients", '{ kind = "multinomial", clients = 5 }'),
    participation("fixed", '{ kind = "fixed", clients = [1] }'),
    participation("fixed, all", '{ kind = "fixed", clients = [0, 1] }'),
    quadratic("clock with times", {"algorithm.clock": '{ policy = "sync", times = [2, "7/2"] }'}),
    timed("time", "6", None, 6),
    timed("time that is no multiple", '"20/3"', "[1, 2]", 3),
    timed("time that is a multiple of a decimal", '"3/10"', '["1/10", "1/20"]', 3),
    timed("time of one round", "0.7", "[0.7, 0.1]", 1),
    shipped("digits", {}),
    shipped("digits, dirichlet", {"split": '"dirichlet"', "concentration": "0.1", "seed": "3"}),
    shipped("digits, dirichlet by default concentration", {"split": '"dirichlet"'}),
    shipped("digits, batch", {"batch": "8", "replacement": "true"}, clients=10),
    shipped("digits, batch without replacement", {"batch": "8", "replacement": "false", "clients": "4"}, clients=4),
    shipped("breast cancer", {"data": '"breast_cancer"', "clients": "3"}, clients=3, dimension=31),
    shipped("diabetes", {"data": '"diabetes"', "split": '"dirichlet"', "concentration": '"1/2"'}, dimension=11),
    shipped("diabetes by defaults", {"data": '"diabetes"', "split": None, "seed": None, "start": None}, dimension=11),
    own("npz", {}),
    own("npz with a batch", {"batch": "2"}),
    own("npz with a batch without replacement", {"batch": "2", "replacement": "false"}),
    own("npz split anew", {"clients": "2", "split": '"iid"', "seed": "4"}, clients=2),
    own("npz without a client column", {"data": '"no_client.npz"', "clients": "4"}, clients=4),
    own("npz split by dirichlet", {"clients": "3", "split": '"dirichlet"', "concentration": '"1/10"'}),
    own("csv", {"data": '"good.csv"'}),
    own("csv with a batch", {"data": '"good.csv"', "batch": "1", "start": '["1/2", 0, -1]'}),
    own("weights of an npz", {"weights": '["1/2", "1/3", "1/6"]'}),
    own(
        "data in the run file",
        {"data": None, "inputs": '[[["1", 2, 0]], [[0, "1/2", 1], [1, 1, 1]]]', "outputs": '[[1], ["1/3", 0]]'},
        clients=2,
    ),
]

CONSTANTS = {
    "clients",
    "dimension",
    "smoothness",
    "strong_convexity",
    "initial_gap",
    "initial_distance",
    "noise_deviation",
    "gradient_dissimilarity",
}


def names(cases: list[Good]) -> list[str]:
    """Return identifiers of cases."""
    return [case.name.replace(",", "").replace(" ", "-") for case in cases]


def written(case: Good, folder: Path) -> Path:
    """Return the run file of a case, next to the data files."""
    path = folder / "good run.toml"
    path.write_text(run_text(case.base, case.changes), encoding="utf-8")
    return path


def assert_shapes(document: dict[str, Any], case: Good) -> None:
    """Assert that keys are as documented, and lists have entries for rounds, local steps and clients."""
    assert {"arithmetic", "constants", "optimum", "optimal_value", "server", "local", "times"} <= document.keys()
    assert document["constants"].keys() >= CONSTANTS
    assert (int(document["constants"]["clients"]), int(document["constants"]["dimension"])) == (
        case.clients,
        case.dimension,
    )
    assert shape(document["optimum"]) == (case.dimension,)
    server = document["server"]
    assert shape(server["mean"]) == (case.rounds + 1, case.dimension)
    for name in ("suboptimality", "distance_sq", "gradient_sq"):
        assert shape(server[name]) == (case.rounds + 1,)
    assert shape(document["times"]) == (case.rounds,)
    if case.local_steps is None:
        assert document["local"] is None
    else:
        assert shape(document["local"]["suboptimality"]) == (case.rounds, case.local_steps + 1)
        assert shape(document["local"]["drift"]) == (case.rounds, case.local_steps + 1, case.clients)
    assert document["diverges"] is None


@pytest.mark.parametrize("case", CASES, ids=names(CASES))
def test_document_in_floats(case: Good, command, data_folder: Path) -> None:
    """Every number is a finite JSON number, every list has its documented length."""
    outcome = command("simulate", written(case, data_folder), "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.document["arithmetic"] == "float"
    assert_shapes(outcome.document, case)
    for name, leaves in results(outcome.document).items():
        assert all(type(leaf) in (int, float) and math.isfinite(leaf) for leaf in leaves), name


SMALL = [case for case in CASES if case.small]


@pytest.mark.parametrize("case", SMALL, ids=names(SMALL))
def test_rationals_agree_with_floats(case: Good, command, data_folder: Path) -> None:
    """Exact results are strings p/q in lowest terms, within 1e-9 of the floats."""
    path = written(case, data_folder)
    outcome = command("simulate", path, "--json", "--arithmetic", "rational")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.document["arithmetic"] == "rational"
    assert_shapes(outcome.document, case)
    exact, floats = results(outcome.document), results(command("simulate", path, "--json").document)
    assert exact.keys() == floats.keys()
    for name, leaves in exact.items():
        assert len(leaves) == len(floats[name])
        values = [Fraction(leaf) for leaf in leaves if isinstance(leaf, str)]
        assert [str(value) for value in values] == leaves, name
        scale = max(1.0, *(abs(float(value)) for value in values))
        assert all(abs(float(a) - b) <= 1e-9 * scale for a, b in zip(values, floats[name], strict=True)), name


def test_constants_agree(command, write_run) -> None:
    """Constants are strings in rationals, numbers in floats, and agree; an irrational root is null."""
    path = write_run()
    exact = command("simulate", path, "--json", "--arithmetic", "rational").document["constants"]
    floats = command("simulate", path, "--json").document["constants"]
    assert exact.keys() == floats.keys()
    texts = {name: value for name, value in exact.items() if isinstance(value, str)}
    assert texts["smoothness"] == "2"
    assert texts["initial_distance_sq"] == "13"
    assert exact["initial_distance"] is None
    assert all(abs(float(Fraction(text)) - floats[name]) <= 1e-9 for name, text in texts.items())


def test_times_of_the_slowest_client(command, write_run) -> None:
    """A synchronous round takes as long as its slowest client."""
    path = write_run({"algorithm.clock": '{ policy = "sync", times = [2, "7/2"] }', "algorithm.rounds": "3"})
    assert command("simulate", path, "--json", "--arithmetic", "rational").document["times"] == ["7/2", "7", "21/2"]
    assert command("simulate", path, "--json").document["times"] == [3.5, 7.0, 10.5]


def test_any_folder(command, data_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Data files are relative to the run file, not to the working directory."""
    path = written(next(case for case in CASES if case.name == "csv"), data_folder)
    there = command("simulate", path, "--json").document
    monkeypatch.chdir(tmp_path)
    assert command("simulate", path, "--json").document == there
    monkeypatch.chdir(data_folder)
    assert command("simulate", path.name, "--json").document == there


def test_npz_and_csv_agree(command, data_folder: Path) -> None:
    """Equal rows in both formats give the same run."""
    by_name = {case.name: case for case in CASES}
    documents = [command("simulate", written(by_name[name], data_folder), "--json").document for name in ("npz", "csv")]
    assert documents[0] == documents[1]


def test_seed_decides_the_split(command, write_run) -> None:
    """One seed gives one split, another seed another split."""
    base = {"problem.data": '"diabetes"', "problem.split": '"dirichlet"'}
    changes = [base | {"problem.seed": seed} for seed in ("1", "1", "2")]
    first, again, other = (command("simulate", write_run(c, DIGITS), "--json").document["server"] for c in changes)
    assert first == again != other


def test_for_people(command, write_run) -> None:
    """Without --json the output is a table, in both arithmetics."""
    for arithmetic in ("float", "rational"):
        outcome = command("simulate", write_run(), "--arithmetic", arithmetic)
        assert (outcome.code, outcome.err) == (0, "")
        assert "smoothness: 2" in outcome.out
        assert "suboptimality" in outcome.out
        assert "diverges" not in outcome.out


def test_byte_order_mark(command, tmp_path: Path) -> None:
    """A run file with a byte order mark is read, or rejected in one line."""
    path = tmp_path / "run.toml"
    path.write_text("\ufeff" + run_text(QUADRATIC), encoding="utf-8")
    outcome = command("simulate", path, "--json")
    if outcome.code:
        assert str(path) in outcome.complaint()


# Divergence.


@pytest.mark.parametrize("name", ["fedavg", "fedprox"])
def test_ten_thousand_clients_are_simulated(name: str, tmp_path: Path, command: Any) -> None:
    """For ten thousand clients, lists about each client are omitted with a remark."""
    clients = 10_000
    own = "proximal = 1\n" if name == "fedprox" else ""
    (tmp_path / "many.toml").write_text(
        f'[problem]\nkind = "quadratic"\nhessians = {[[[1.0]]] * clients}\nlinear = {[[1.0]] * clients}\n'
        "start = [2.0]\n"
        f'[algorithm]\nname = "{name}"\n{own}local_step_size = 0.01\nlocal_steps = 3\nrounds = 1100\n'
    )
    document = command("simulate", str(tmp_path / "many.toml"), "--json").document
    assert len(document["server"]["suboptimality"]) == 1101
    assert document["local"] is None
    assert any("too many to list" in note for note in document["notes"])

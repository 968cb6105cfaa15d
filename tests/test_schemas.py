"""The JSON Schemas contain exactly the keys that are read and printed."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from jsonschema import Draft202012Validator

from fedtheory import FLOAT, RATIONAL, InputError, parse_run
from fedtheory.cli import app
from fedtheory.cli import run as run_command
from fedtheory.runfile import run_table, run_toml
from fedtheory.runfile.table import TomlTable

ROOT = Path(__file__).parent.parent
SCHEMAS = {
    name: json.loads((ROOT / f"docs/schemas/{name}.schema.json").read_text()) for name in ("run-file", "outputs")
}
RUN_FILE = Draft202012Validator(SCHEMAS["run-file"])
STORED = sorted(
    set((ROOT / "fedtheory/sources").rglob("*.toml")) - set((ROOT / "fedtheory/sources").rglob("index.toml"))
)
"""All run files of the sources: counterexamples and runs of largest ratios, without the indices of the latter."""

QUADRATIC = {"kind": "quadratic", "hessians": [[["2"]], [[1]]], "linear": [["1"], [-1]], "start": ["3"], "noise": "1"}
HUBER = {"kind": "huber", "terms": [[{"width": "1/2"}], [{"width": 1, "centre": "2"}]]}
HAMPEL = {"kind": "hampel", "terms": [[{"width": 1}, {"width": "1/2", "centre": "-1"}]], "noise": "1/2"}
SOFTPLUS = {"kind": "softplus", "terms": [[{"width": 1, "reflected": True}, {"width": 1}]]}
INLINE = {"kind": "least-squares", "inputs": [[["1"], ["2"]], [[1]]], "outputs": [["1", "0"], [2]], "batch": 1}
FILE = {
    "kind": "least-squares",
    "data": "mine.csv",
    "target": "y",
    "clients": 2,
    "split": "dirichlet",
    "concentration": 1,
}
CLASSES = {"kind": "logistic", "inputs": [[[1], [2]], [[1]]], "outputs": [[1, 0], [0]], "ridge": "1/2", "batch": 1}
ROBUST = {"kind": "huber", "data": "mine.csv", "target": "y", "clients": 2, "ridge": "1/2", "width": 2}
BY_NAME = {"kind": "least-squares", "data": "named.csv", "target": "y", "client": "who", "shares": "samples"}
PROBLEMS = {
    "quadratic": QUADRATIC,
    "huber": HUBER,
    "softplus": SOFTPLUS,
    "hampel": HAMPEL,
    "inline": INLINE,
    "file": FILE,
    "by name": BY_NAME,
}
ON_DATA = {"classes": CLASSES, "robust": ROBUST}
"""Problems that are available in floats only."""
STEP = {"local_step_size": "1/20", "rounds": 2}
ALGORITHMS = {
    "fedavg": STEP,
    "sampled": {**STEP, "participation": {"kind": "uniform", "clients": 1}, "local_steps": 3},
    "coins": {**STEP, "participation": {"kind": "bernoulli", "probability": "1/2", "weights": "normalised"}},
    "fedfix": {**STEP, "clock": {"policy": "fedfix", "interval": "1/2"}, "aggregation": "time-based"},
    "decreasing": {**STEP, "local_step_size": "1/(10 + 2*n)"},
    "fedprox": {**STEP, "name": "fedprox", "proximal": "1/2"},
    "fedavgm": {**STEP, "name": "fedavgm", "momentum": "9/10", "nesterov": True},
    "scaffnew": {**STEP, "name": "scaffnew", "probability": "1/5"},
    "dsgd": {**STEP, "name": "dsgd", "mixing": [["2/3", "1/3"], ["1/3", "2/3"]]},
    "compressed": {**STEP, "name": "compressed", "coordinates": 1},
    "scaffold": {**STEP, "name": "scaffold"},
    "fedbuff": {"local_step_size": 0.1, "time": 4, "clock": {"policy": "fedbuff", "buffer": 1, "ties": "one-by-one"}},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the data files."""
    (tmp_path / "mine.csv").write_text("x,y\n" + "".join(f"{n},{n % 3}\n" for n in range(40)))
    (tmp_path / "named.csv").write_text("who,x,y\n" + "".join(f"{n % 2},{n},{n % 3}\n" for n in range(8)))
    return tmp_path


def runs() -> dict[str, dict[str, Any]]:
    """Return a run file for each kind of problem, and for each kind of algorithm."""
    problems = PROBLEMS | ON_DATA
    by_problem = {name: {"problem": problem, "algorithm": STEP} for name, problem in problems.items()}
    by_algorithm = {name: {"problem": QUADRATIC, "algorithm": keys} for name, keys in ALGORITHMS.items()}
    return by_problem | by_algorithm


def test_the_schemas_are_schemas() -> None:
    """The schemas are valid in their draft of JSON Schema."""
    for schema in SCHEMAS.values():
        Draft202012Validator.check_schema(schema)


def test_keys_that_are_read_are_in_the_schema(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over all runs the reader requests each key of the schema, and no other."""
    asked: dict[str, set[str]] = {}
    has = TomlTable.has

    def noting(table: TomlTable, name: str) -> bool:
        asked.setdefault(table.key.partition("[")[0], set()).add(name)
        return has(table, name)

    monkeypatch.setattr(TomlTable, "has", noting)
    for run in runs().values():
        parse_run(run, FLOAT, folder)
    defined = SCHEMAS["run-file"]["$defs"]
    kinds = ("quadratic", "least_squares", "linear_models", "losses")
    known = {"problem": {key for kind in kinds for key in defined[kind]["properties"]}}
    known["problem.terms"] = set(defined["term"]["properties"])
    known["algorithm"] = set(defined["algorithm"]["properties"])
    for name in ("clock", "participation"):
        known[f"algorithm.{name}"] = set(defined["algorithm"]["properties"][name]["properties"])
    for table, names in known.items():
        assert asked[table] == names, table


@pytest.mark.parametrize("name", runs())
def test_runs_are_valid(name: str, folder: Path) -> None:
    """Run files are valid as written by people, and as written by the project."""
    RUN_FILE.validate(runs()[name])
    RUN_FILE.validate(run_table(parse_run(runs()[name], FLOAT, folder)))
    if name not in ON_DATA:
        RUN_FILE.validate(run_table(parse_run(runs()[name], RATIONAL, folder)))


def test_stored_counterexamples_are_valid() -> None:
    """All stored counterexamples are valid."""
    assert STORED
    for file in STORED:
        RUN_FILE.validate(tomllib.loads(file.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "keys",
    [{"speed": 1}, {"rounds": 0}, {"participation": {"kind": "half"}}, {"clock": {"policy": "later"}}],
)
def test_refused_run_files_are_invalid(keys: dict[str, Any]) -> None:
    """The schema and the reader reject the same mistakes."""
    run = {"problem": QUADRATIC, "algorithm": STEP | keys}
    assert not RUN_FILE.is_valid(run)
    with pytest.raises(InputError):
        parse_run(run, FLOAT)


DESIGN = """
claims = ["renard2022:thm-2.1"]
errors = ["final_suboptimality"]
[grid]
algorithm.local_step_size = ["1/20", 4]
"""
COMMANDS = {
    "claims": ["claims", "--source", "lecture27"],
    "show": ["show", "lecture27:lemma-4"],
    "simulate": ["simulate", "run.toml"],
    "check": ["check", "renard2022:thm-2.1", "run.toml"],
    "verify": ["verify", "renard2022:property-2.4", "--jobs", "1"],
    "falsify": ["falsify", "renard2022:property-2.4", "--budget", "1"],
    "prove": ["prove", "renard2022:property-2.5", "--term"],
    "errata": ["errata", "--source", "lecture27"],
    "quantities": ["quantities", "drift"],
    "assumptions": ["assumptions", "step"],
    "inequalities": ["inequalities", "smooth"],
    "plan": ["plan", "run.toml", "--claim", "comparator:average-error", "--target", "1/2"],
    "data": ["data", "named.csv", "--target", "y", "--client", "who"],
    "budget": ["budget", "quiet.toml", "--local-cost", "1", "--aggregation-cost", "10", "--budget", "100"],
    "sweep": ["sweep", "design.toml", "--jobs", "1"],
    "worst-case": ["worst-case", "renard2022:lemma-2.3", "--local-steps", "2"],
    "rocq": ["rocq", "renard2022:property-2.5", "lecture27:lemma-4", "-o", "rocq"],
    "report": ["report", "renard2022:property-2.4", "-o", "pages", "--jobs", "1"],
    "course list": ["course", "list"],
    "course new": ["course", "new", "drift-recursion", "--student", "Jürgen Groß", "-o", "out"],
    "course check": ["course", "check", "submissions/ana.py"],
    "course points": ["course", "points", "graded", "--from", "given.csv"],
    "course grade": ["course", "grade", "submissions", "-o", "grades", "--jobs", "1"],
    "new-source": ["new-source", "paper"],
    "cache": ["cache"],
}
EXACTLY = ("simulate", "check")
"""Commands with a choice between floats and rationals."""
NEEDED = {"worst-case": "PEPit", "sweep": "pyarrow", "course check": "nbformat", "course grade": "nbformat"}


def written() -> set[str]:
    """Return the commands that print a document."""
    commands = typer.main.get_command(app).commands
    return {" ".join([name, *part]) for name, one in commands.items() for part in _parts(one)}


def _parts(command: Any) -> list[list[str]]:
    return [[name] for name in command.commands] if hasattr(command, "commands") else [[]]


def test_every_command_has_a_schema() -> None:
    """The schemas describe every document of a command, and each is tested below."""
    described = set(SCHEMAS["outputs"]["$defs"]) - {"number"}
    assert described == set(COMMANDS) == written()


@pytest.fixture
def inputs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the input files of the commands."""
    monkeypatch.chdir(folder)
    Path("run.toml").write_text(run_toml({"problem": QUADRATIC, "algorithm": STEP}))
    quiet = {key: value for key, value in QUADRATIC.items() if key != "noise"}
    Path("quiet.toml").write_text(run_toml({"problem": quiet, "algorithm": STEP}))
    Path("design.toml").write_text(DESIGN + run_toml({"problem": QUADRATIC, "algorithm": {"rounds": 2}}))
    Path("graded").mkdir()
    Path("graded/graded.json").write_text('{"labels": [], "points": ""}')
    Path("given.csv").write_text("student,question,points\n")
    Path("submissions").mkdir()
    Path("submissions/ana.py").write_text("# fedtheory assignment: drift-recursion (copy of ana)\n")
    return folder


@pytest.mark.usefixtures("inputs")
@pytest.mark.parametrize("name", COMMANDS)
def test_outputs_are_valid(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The output of each command satisfies its schema, in floats and, if available, in rationals."""
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    schema = {"$ref": f"#/$defs/{name}", "$defs": SCHEMAS["outputs"]["$defs"]}
    for options in ([], ["--arithmetic", "rational"]) if name in EXACTLY else ([],):
        assert run_command([*COMMANDS[name], *options, "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        Draft202012Validator(schema).validate(document)
        assert list(_undescribed(SCHEMAS["outputs"]["$defs"][name], document, name)) == []


def _undescribed(shape: dict[str, Any], document: Any, place: str) -> Iterator[str]:
    """Yield keys of a document that its schema does not describe."""
    shape = next((option for option in shape.get("oneOf", ()) if _is_of(option, document)), shape)
    if isinstance(document, list):
        for part in document:
            yield from _undescribed(shape.get("items", {}), part, f"{place}[]")
    elif isinstance(document, dict) and "properties" in shape:
        for key, value in document.items():
            if key not in shape["properties"]:
                yield f"{place}.{key}"
            yield from _undescribed(shape["properties"].get(key, {}), value, f"{place}.{key}")


def _is_of(option: dict[str, Any], document: Any) -> bool:
    kinds = {dict: "object", list: "array"}
    return option.get("type") == kinds.get(type(document))


def test_a_schema_refuses_what_lacks_a_key() -> None:
    """A document without a required key is invalid, so that the tests are not vacuous."""
    for name, shape in SCHEMAS["outputs"]["$defs"].items():
        entry = shape.get("items", shape)
        if "required" in entry:
            assert not Draft202012Validator({**entry, "$defs": SCHEMAS["outputs"]["$defs"]}).is_valid({}), name

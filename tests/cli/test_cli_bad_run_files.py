"""Bad run files give one line on standard error with the file and the key, exit code 2, and no other output."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from cli_support import DIGITS, QUADRATIC, ROWS, Changes, run_text


@dataclass(frozen=True)
class Bad:
    """A run file with a mistake, and the key that the error message must name."""

    name: str
    key: str
    changes: Changes
    base: dict[str, str]
    words: tuple[str, ...] = ()
    """Further words of the error message."""


def quadratic(name: str, key: str, changes: Changes, *words: str) -> Bad:
    """Return a mistake in the quadratic example of the documentation."""
    return Bad(name, key, changes, QUADRATIC, words)


def problem(name: str, key: str, value: str | None, *words: str) -> Bad:
    """Return a wrong value of one key of `[problem]`; `key` may point into it."""
    return quadratic(name, f"problem.{key}", {f"problem.{key.partition('[')[0]}": value}, *words)


def algorithm(name: str, key: str, value: str | None, *words: str) -> Bad:
    """Return a wrong value of one key of `[algorithm]`; `key` may point into it."""
    stem = key.partition("[")[0].partition(".")[0]
    return quadratic(name, f"algorithm.{key}", {f"algorithm.{stem}": value}, *words)


def digits(name: str, key: str, changes: Changes, *words: str) -> Bad:
    """Return a mistake in a least-squares run on a shipped data set."""
    return Bad(name, f"problem.{key}", {f"problem.{k}": v for k, v in changes.items()}, DIGITS, words)


def own_file(name: str, file: str, *words: str, key: str = "data") -> Bad:
    """Return a bad data file; the error message names it."""
    return Bad(name, f"problem.{key}", {"problem.data": f'"{file}"'}, ROWS, (file, *words))


def split(name: str, key: str, changes: Changes, *words: str) -> Bad:
    """Return a mistake in the split or the reading of a good file of 12 rows."""
    return Bad(name, f"problem.{key}", {f"problem.{k}": v for k, v in changes.items()}, ROWS, words)


def inline(name: str, key: str, inputs: str, outputs: str) -> Bad:
    """Return a mistake in data inside the run file."""
    changes = {"problem.data": None, "problem.inputs": inputs, "problem.outputs": outputs}
    return Bad(name, f"problem.{key}", changes, ROWS)


IDENTITY = '[["1","0"],["0","1"]]'

CASES = [
    # Unknown and missing keys, at every level.
    quadratic("unknown table", "extra", {"extra.speed": "1"}, "unknown"),
    quadratic("unknown top-level key", "speed", {"speed": "1"}, "unknown"),
    problem("unknown problem key", "hessian", "1", "unknown"),
    algorithm("unknown algorithm key", "step_size", "1", "unknown"),
    algorithm("unknown participation key", "participation.m", '{ kind = "full", m = 2 }', "unknown"),
    algorithm("unknown clock key", "clock.speed", '{ policy = "sync", speed = 2 }', "unknown"),
    problem("key of another kind", "batch", "2", "unknown"),
    quadratic("no problem", "problem", {key: None for key in QUADRATIC if key.startswith("problem")}, "missing"),
    quadratic("no algorithm", "algorithm", {key: None for key in QUADRATIC if key.startswith("algorithm")}, "missing"),
    quadratic("empty file", "problem", dict.fromkeys(QUADRATIC), "missing"),
    problem("no kind", "kind", None, "missing"),
    problem("no hessians", "hessians", None, "missing"),
    problem("no linear", "linear", None, "missing"),
    algorithm("no step size", "local_step_size", None, "missing"),
    algorithm("neither rounds nor time", "rounds", None, "missing"),
    algorithm("participation without clients", "participation.clients", '{ kind = "uniform" }', "missing"),
    digits("no data", "data", {"data": None}, "missing"),
    digits("no clients", "clients", {"clients": None}, "missing"),
    # Values that should be tables.
    quadratic("problem is a number", "problem", {**dict.fromkeys(k for k in QUADRATIC if k[0] == "p"), "problem": "3"}),
    algorithm("participation is a string", "participation", '"full"', "table"),
    algorithm("clock is a list", "clock", "[1, 2]", "table"),
    # Names.
    problem("unknown kind", "kind", '"cubic"', "quadratic", "least-squares"),
    problem("kind is a number", "kind", "2"),
    algorithm("unknown name", "name", '"fedopt"', "fedavg"),
    algorithm("unknown participation kind", "participation.kind", '{ kind = "lottery", clients = 1 }', "multinomial"),
    algorithm("unknown clock policy", "clock.policy", '{ policy = "sundial" }', "sync"),
    algorithm("unknown aggregation", "aggregation", '"median"', "importance"),
    # Hessians.
    problem("not symmetric", "hessians[1]", f'[{IDENTITY}, [["1","1"],["0","1"]]]', "symmetric"),
    problem("ragged matrix", "hessians[1][1]", f'[{IDENTITY}, [["1","0"],["0"]]]'),
    problem("matrices of different sizes", "hessians[1]", f'[{IDENTITY}, [["1"]]]'),
    problem("not square", "hessians", '[[["1","0","0"],["0","1","0"]], [["1","0","0"],["0","1","0"]]]'),
    problem("zero clients", "hessians", "[]"),
    problem("empty matrix", "hessians[0]", "[[], []]"),
    problem("empty row", "hessians[0][0]", "[[[]], [[]]]"),
    problem("a matrix too few brackets", "hessians[0][0]", IDENTITY),
    problem("a matrix too many brackets", "hessians[0][0][0]", '[[[["1"]]], [[["1"]]]]'),
    problem("hessians is a number", "hessians", "2"),
    problem("hessians is a table", "hessians", "{ a = 1 }"),
    # Other shapes.
    problem("linear for one client", "linear", '[["1","0"]]'),
    problem("linear of other dimension", "linear", '[["1"], ["-1"]]'),
    problem("linear ragged", "linear[1]", '[["1","0"], ["-1"]]'),
    problem("constants for three clients", "constants", "[0, 0, 0]"),
    problem("weights for three clients", "weights", '["1/3", "1/3", "1/3"]'),
    problem("start of other dimension", "start", '["3"]'),
    problem("start empty", "start", "[]"),
    problem("start is a word", "start", '"ones"'),
    problem("start is a number", "start", "3"),
    problem("noises for three clients", "noise", "[1, 1, 1]"),
    problem("noises empty", "noise", "[]"),
    problem("noise is a table", "noise", "{ a = 1 }"),
    # Numbers.
    problem("NaN in a matrix", "hessians[0][1][1]", '[[["2","0"],["0",nan]], [["2","0"],["0","1"]]]'),
    problem("infinity in linear", "linear[1][0]", '[["1","0"], [-inf,"0"]]'),
    problem("NaN in the start", "start[1]", '["3", nan]'),
    problem("NaN noise", "noise[0]", "[nan, 1]"),
    problem("word nan", "start[0]", '["nan", "1"]'),
    problem("boolean in a matrix", "hessians[0][0][0]", f"[[[true, 0],[0, 1]], {IDENTITY}]"),
    problem("boolean start", "start[0]", "[true, 1]"),
    problem("garbage in linear", "linear[0][1]", '[["1","zero"], ["-1","0"]]'),
    problem("zero denominator", "start[0]", '["1/0", "1"]'),
    problem("decimal over decimal", "start[0]", '["1.5/2", "1"]'),
    problem("empty string", "start[1]", '["1", ""]'),
    problem("date", "start[1]", '["1", 2020-01-01]'),
    problem("too large a string for a float", "start[0]", '["1e400", "1"]'),
    problem("too large a whole number for a float", "start[0]", f"[1{'0' * 400}, 1]"),
    problem("negative noise", "noise", "-1"),
    problem("one negative noise", "noise", '["1", "-1/2"]'),
    problem("weights too small", "weights", '["1/2", "1/3"]', "sum"),
    problem("weights negative", "weights", '["3/2", "-1/2"]', "positive"),
    problem("weight zero", "weights", '["1", "0"]', "positive"),
    problem("weights is a number", "weights", "1"),
    quadratic(
        "no minimiser",
        "problem.linear",
        {
            "problem.hessians": '[[["1","0"],["0","0"]], [["1","0"],["0","0"]]]',
            "problem.linear": '[["0","1"], ["0","0"]]',
        },
        "minimiser",
    ),
    # The algorithm's numbers.
    algorithm("step size zero", "local_step_size", "0", "positive"),
    algorithm("step size negative", "local_step_size", '"-1/20"', "positive"),
    algorithm("step size NaN", "local_step_size", "nan"),
    algorithm("step size infinite", "local_step_size", "inf"),
    algorithm("step size a boolean", "local_step_size", "true"),
    algorithm("step size garbage", "local_step_size", '"small"'),
    algorithm("step size of powers of powers", "local_step_size", '"((10**1000)**1000)**1000 / (10 + n)"', "bits"),
    algorithm("step size of powers below", "local_step_size", '"1/(1 + ((7**999)**999)**(n + 1))"', "bits"),
    algorithm("step size beyond floats", "local_step_size", '"1e999/(1 + n)"', "has no value"),
    algorithm("step size over zero", "local_step_size", '"1/0"'),
    algorithm("step size a table", "local_step_size", "{ a = 1 }"),
    algorithm("one step size negative", "local_step_size", "[0.1, -0.1]", "positive"),
    algorithm("one step size garbage", "local_step_size[1]", '[0.1, "x"]'),
    algorithm("three step sizes", "local_step_size", "[0.1, 0.1, 0.1]"),
    algorithm("no step sizes", "local_step_size", "[]"),
    algorithm("server step zero", "server_step_size", "0", "positive"),
    algorithm("server step negative", "server_step_size", "-1", "positive"),
    algorithm("server step a list", "server_step_size", "[1, 1]"),
    algorithm("server step infinite", "server_step_size", "inf"),
    algorithm("local steps a float", "local_steps", "2.5", "whole number"),
    algorithm("local steps a whole float", "local_steps", "2.0", "whole number"),
    algorithm("local steps a string", "local_steps", '"5"', "whole number"),
    algorithm("local steps zero", "local_steps", "0", "whole number"),
    algorithm("local steps a boolean", "local_steps", "true", "whole number"),
    algorithm("one local steps negative", "local_steps[1]", "[2, -2]", "whole number"),
    algorithm("three local steps", "local_steps", "[2, 2, 2]"),
    algorithm("no local steps", "local_steps", "[]"),
    algorithm("rounds zero", "rounds", "0", "whole number"),
    algorithm("rounds negative", "rounds", "-3", "whole number"),
    algorithm("rounds a float", "rounds", "3.0", "whole number"),
    algorithm("rounds a boolean", "rounds", "true", "whole number"),
    quadratic("rounds and time", "algorithm.time", {"algorithm.time": "10"}, "rounds"),
    quadratic("time too short", "algorithm.time", {"algorithm.rounds": None, "algorithm.time": '"1/2"'}),
    quadratic("time negative", "algorithm.time", {"algorithm.rounds": None, "algorithm.time": "-4"}),
    quadratic("time garbage", "algorithm.time", {"algorithm.rounds": None, "algorithm.time": '"long"'}),
    # Participation and clock.
    algorithm("uniform zero", "participation.clients", '{ kind = "uniform", clients = 0 }'),
    algorithm("uniform too many", "participation.clients", '{ kind = "uniform", clients = 3 }', "1 to 2"),
    algorithm("uniform a list", "participation.clients", '{ kind = "uniform", clients = [0] }'),
    algorithm("multinomial zero", "participation.clients", '{ kind = "multinomial", clients = 0 }'),
    algorithm("multinomial a float", "participation.clients", '{ kind = "multinomial", clients = 1.5 }'),
    algorithm("fixed out of range", "participation.clients", '{ kind = "fixed", clients = [0, 2] }', "0 to 1"),
    algorithm("fixed negative", "participation.clients[0]", '{ kind = "fixed", clients = [-1] }'),
    algorithm("fixed empty", "participation.clients", '{ kind = "fixed", clients = [] }'),
    algorithm("fixed a number", "participation.clients", '{ kind = "fixed", clients = 1 }', "list"),
    algorithm("fixed twice the same", "participation.clients", '{ kind = "fixed", clients = [0, 0] }'),
    algorithm("times of three clients", "clock.times", '{ policy = "sync", times = [1, 2, 3] }'),
    algorithm("time zero", "clock.times", '{ policy = "sync", times = [1, 0] }', "positive"),
    algorithm("times a number", "clock.times", '{ policy = "sync", times = 1 }'),
    # Data sets by name.
    digits("unknown data set", "data", {"data": '"iris"'}, "digits:A-B", "breast_cancer", "diabetes"),
    digits("data is a number", "data", {"data": "3"}),
    digits("digits without classes", "data", {"data": '"digits"'}, "digits:3-8"),
    digits("the same digit twice", "data", {"data": '"digits:3-3"'}, "different"),
    digits("digits that are letters", "data", {"data": '"digits:a-b"'}),
    digits("digits above nine", "data", {"data": '"digits:3-10"'}),
    digits("digits in superscript", "data", {"data": '"digits:³-8"'}),
    digits("classes where there are none", "data", {"data": '"diabetes:1-2"'}, "without classes"),
    digits("more clients than rows", "clients", {"clients": "5000"}, "rows"),
    digits("zero clients of a data set", "clients", {"clients": "0"}),
    digits("negative seed", "seed", {"seed": "-1"}),
    digits("bad split", "split", {"split": '"alphabetical"'}, "iid", "dirichlet"),
    digits("concentration zero", "concentration", {"split": '"dirichlet"', "concentration": "0"}, "positive"),
    digits("concentration negative", "concentration", {"split": '"dirichlet"', "concentration": "-0.1"}, "positive"),
    digits("concentration NaN", "concentration", {"split": '"dirichlet"', "concentration": "nan"}),
    digits("concentration with the iid split", "concentration", {"concentration": "0.1"}, "dirichlet"),
    digits("batch zero", "batch", {"batch": "0"}),
    digits("batch a float", "batch", {"batch": "2.5"}),
    digits("replacement a word", "replacement", {"batch": "2", "replacement": '"no"'}, "true or false"),
    digits("start of other dimension than the data", "start", {"start": "[0, 0]"}),
    digits("weights of other number than clients", "weights", {"weights": "[0.5, 0.5]"}),
    # Data files.
    own_file("no npz", "nowhere.npz", "no such file"),
    own_file("no csv", "nowhere.csv", "no such file"),
    own_file("folder for a csv", "folder.csv"),
    own_file("npz without X", "no_x.npz", "missing X"),
    own_file("npz without y", "no_y.npz", "missing y"),
    own_file("npz with NaN", "nan.npz", "X[1, 1] = nan"),
    own_file("npz with infinity", "inf.npz", "y[4] = inf"),
    own_file("npz with text", "text.npz", "numbers"),
    own_file("npz with flat X", "flat.npz"),
    own_file("npz with too short y", "short_y.npz"),
    own_file("npz with too short client", "short_client.npz"),
    own_file("npz without rows", "no_rows.npz"),
    own_file("npz of objects", "objects.npz"),
    own_file("npz cut in half", "truncated.npz"),
    own_file("npz of no bytes", "empty.npz"),
    own_file("npz of text", "garbage.npz"),
    own_file("npz that is an npy", "array.npz"),
    own_file("csv with text", "text.csv", "column 'c': expected a number, got 'three'"),
    own_file("csv with a short row", "ragged.csv"),
    own_file("csv with two columns", "two_columns.csv", "three columns"),
    own_file("csv with a header only", "header_only.csv"),
    own_file("csv of no bytes", "empty.csv"),
    own_file("csv with NaN", "nan.csv", "row 3, column 'a': missing value"),
    own_file("csv with a client NaN", "nan_client.csv", "row 3, column 'client': missing client"),
    own_file("csv of bytes", "binary.csv"),
    Bad("file without client column and no clients", "problem.clients", {"problem.data": '"no_client.npz"'}, ROWS),
    split("large batch without replacement", "batch", {"batch": "3", "replacement": "false"}, "at most 2"),
    split("more clients than rows of a file", "clients", {"clients": "13"}, "12"),
    # Data written into the run file.
    inline("no inputs", "inputs", "[]", "[]"),
    inline("inputs are a number", "inputs", "3", "[]"),
    inline("outputs of too few clients", "outputs", "[[[1]], [[1]]]", "[[1]]"),
    inline("outputs of too few rows", "outputs[0]", "[[[1], [2]]]", "[[1]]"),
    inline("inputs of different widths", "inputs[1]", "[[[1]], [[1, 2]]]", "[[1], [1]]"),
    inline("a garbage input", "inputs[0][1][0]", '[[[1], ["x"]]]', "[[1, 1]]"),
]


def test_names_are_unique() -> None:
    """Every case of the table can be picked by its name."""
    assert len({case.name for case in CASES}) == len(CASES) >= 45


IN_BOTH = [case for case in CASES if case.base is QUADRATIC and "too large" not in case.name]
"""Mistakes that both arithmetics detect: numbers depend on the arithmetic, data sets and files do not."""

TABLE = [(case, "float") for case in CASES] + [(case, "rational") for case in IN_BOTH]


@pytest.mark.parametrize(
    ("case", "arithmetic"), TABLE, ids=[f"{case.name}-{arithmetic}".replace(" ", "-") for case, arithmetic in TABLE]
)
def test_one_line_names_file_and_key(case: Bad, arithmetic: str, command, data_folder: Path) -> None:
    """The error message is one line with the file, the key and the expected value."""
    path = data_folder / "bad run.toml"
    path.write_text(run_text(case.base, case.changes), encoding="utf-8")
    complaint = command("simulate", path, "--arithmetic", arithmetic, "--json").complaint()
    assert complaint.startswith(f"fedtheory: {path}: {case.key}: ")
    assert all(word in complaint for word in case.words), complaint


@pytest.mark.parametrize("arguments", [("simulate",), ("check", "renard2022:lemma-2.3")], ids=lambda a: a[0])
def test_people_get_the_same_line(arguments: tuple[str, ...], command, write_run) -> None:
    """Without --json, and in other commands that read run files, the error message is the same."""
    path = write_run({"algorithm.rounds": "0"})
    complaint = command(*arguments, path).complaint()
    assert complaint == f"fedtheory: {path}: algorithm.rounds: expected a whole number of at least 1, got 0"


def _text_of_long_number() -> str:
    return run_text(QUADRATIC, {"problem.start": f"[{'7' * 5000}, 1]"})


NOT_TOML = {
    "prose": b"Dear reader,\nthis is a letter.\n",
    "half a list": b"[problem]\nhessians = [[1, 2\n",
    "key twice": b"[problem]\nkind = 'quadratic'\nkind = 'quadratic'\n",
    "json": b'{"problem": {}}',
    "bytes": bytes(range(256)),
    "npz": b"PK\x03\x04\x14\x00\x00\x00\x08\x00\xff\xfe\x00",
    "latin-1": "# Größe\n[problem]\n".encode("latin-1"),
    "utf-16": "[problem]\n".encode("utf-16"),
    "a number of 5000 digits": _text_of_long_number().encode(),
    "5000 brackets": b"[problem]\nhessians = " + b"[" * 5000 + b"]" * 5000 + b"\n",
}


@pytest.mark.parametrize("content", NOT_TOML.values(), ids=[name.replace(" ", "-") for name in NOT_TOML])
def test_not_toml(content: bytes, command, tmp_path: Path) -> None:
    """A file that is not TOML, or not even text, gives one line with its name."""
    path = tmp_path / "letter.toml"
    path.write_bytes(content)
    assert command("simulate", path, "--json").complaint().startswith(f"fedtheory: {path}: ")


def test_folder_instead_of_a_file(command, tmp_path: Path) -> None:
    """A folder in place of a run file gives one line."""
    assert str(tmp_path) in command("simulate", tmp_path, "--json").complaint()


@pytest.mark.parametrize("name", ["nowhere.toml", "no folder/nowhere.toml", "a" * 300, "with\nnewline.toml", ""])
def test_no_such_file(name: str, command, tmp_path: Path) -> None:
    """A missing run file is named."""
    complaint = command("simulate", f"{tmp_path}/{name}" if name else "", "--json").complaint()
    assert "cannot be read" in complaint
    assert " ".join(name.split()) in complaint


@pytest.mark.parametrize("arithmetic", ["decimal", "", "Float", "nan"])
@pytest.mark.parametrize("arguments", [("simulate",), ("check", "renard2022:lemma-2.3")], ids=lambda a: a[0])
def test_unknown_arithmetic(arithmetic: str, arguments: tuple[str, ...], command, write_run) -> None:
    """An unknown arithmetic gives one line with the two known ones."""
    complaint = command(*arguments, write_run(), "--arithmetic", arithmetic).complaint()
    assert "arithmetic" in complaint
    assert "float, rational" in complaint


USAGE = [
    (["simulate"], "RUN"),
    (["check", "renard2022:lemma-2.3"], "RUN"),
    (["show"], "ID"),
    (["simulat", "run.toml"], "simulat"),
    (["simulate", "run.toml", "--jason"], "--jason"),
    (["claims", "--source"], "--source"),
    (["verify", "renard2022:lemma-2.3", "--jobs", "two"], "--jobs"),
    (["verify", "renard2022:lemma-2.3", "--jobs", "0"], "jobs"),
    (["simulate", "run.toml", "more"], "more"),
]


@pytest.mark.parametrize(("arguments", "word"), USAGE, ids=[" ".join(arguments) for arguments, _ in USAGE])
def test_wrong_usage(arguments: list[str], word: str, command) -> None:
    """A wrong command line gives one line."""
    assert word in command(*arguments).complaint()

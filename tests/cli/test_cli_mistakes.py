"""Run files with several mistakes: one line names all, and suggests keys for synonyms of other tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from fedtheory import FLOAT, InputError, parse_run
from fedtheory.runfile.synonyms import find_key

ROWS = "age,price,hospital\n30,1.5,A\n40,2.5,B\n35,2.0,A\n"
MANY = """
[problem]
kind = "least-squares"
data = "mine.csv"
batch_size = 8
ridge = "much"
standardise = true
[algorithm]
lr = 0.1
local_epochs = 3
rounds = "x"
participation = 5
"""


@pytest.fixture
def written(tmp_path: Path):
    """Return a function that writes a run file next to a data file."""
    (tmp_path / "mine.csv").write_text(ROWS)

    def write(text: str) -> Path:
        (tmp_path / "run.toml").write_text(text)
        return tmp_path / "run.toml"

    return write


def test_all_mistakes_at_once(command, written) -> None:
    """Each wrong key is named once with its sentence; correct keys are not mentioned."""
    line = command("simulate", written(MANY)).complaint()
    for part in (
        "problem.batch_size: unknown key; batch_size is called batch here",
        "problem.ridge: expected a number",
        "problem.standardise: unknown key; standardise is called standardize here",
        "algorithm.local_step_size: is missing; lr is called local_step_size here",
        "algorithm.local_epochs: unknown key; local_epochs is called local_steps here (an epoch",
        "algorithm.rounds: expected a whole number of at least 1, got 'x'",
        'algorithm.participation: expected a table, got 5: write { kind = "uniform", clients = 5 }',
    ):
        assert line.count(part) == 1, part
    assert line.count("; also ") == 6
    assert "algorithm.lr:" not in line


def test_values_behind_other_names_are_read(command, written) -> None:
    """The value of a synonym is read under the correct key."""
    line = command("simulate", written('problem.kind = "least-squares"\nproblem.data = "mine.csv"\n'
        'algorithm.eta = "fast"\nalgorithm.rounds = 3\n')).complaint()  # fmt: skip
    assert "eta is called local_step_size here" in line
    assert "also algorithm.local_step_size: expected numbers, n, k" in line


def test_the_algorithm_is_read_beside_a_broken_problem(command, written) -> None:
    """The algorithm's unknown and missing keys are named also if the problem is broken."""
    line = command("simulate", written(MANY.replace("mine.csv", "none.csv"))).complaint()
    assert "no such file" in line
    assert "lr is called local_step_size here" in line


def test_consequences_of_a_mistake_are_not_reported(command, written) -> None:
    """A concentration needs a split, so that for a misspelt split only the split is named."""
    keys = 'problem.clients = 2\nproblem.split = "dirichlett"\nproblem.concentration = 1\n'
    run = 'problem.kind = "least-squares"\nproblem.data = "mine.csv"\n'
    algorithm = "algorithm.local_step_size = 1\nalgorithm.rounds = 1\n"
    line = command("simulate", written(run + keys + algorithm)).complaint()
    assert "problem.split: expected one of iid, dirichlet" in line
    assert "also" not in line


def test_a_file_of_data_is_no_run_file(command, written, tmp_path: Path) -> None:
    """For a data file the message has the command that writes a run file."""
    written("")
    for name in ("simulate", "check liu2022:thm-1"):
        line = command(*name.split(), tmp_path / "mine.csv").complaint()
        assert f"`fedtheory data {tmp_path / 'mine.csv'} --save run.toml` writes a run file" in line


def test_keys_of_data_on_the_command_line(command, written, tmp_path: Path) -> None:
    """Keys of data on the command line have the same synonyms."""
    written("")
    line = command("plan", tmp_path / "mine.csv", "target=price", "client=hospital", "learning_rate=0.1").complaint()
    assert "learning_rate: learning_rate is called local_step_size here" in line


def test_batches_larger_than_a_client(command, written) -> None:
    """Batches that are larger than a client's data are noted, since they are not full gradients."""
    text = 'problem.kind = "least-squares"\nproblem.data = "mine.csv"\nproblem.batch = {}\n' + (
        "algorithm.local_step_size = 0.0001\nalgorithm.rounds = 1\n"
    )
    found = [command("simulate", written(text.format(batch)), "--json").document["notes"] for batch in (1, 2, 3)]
    assert [any("fewer rows" in note for note in notes) for notes in found] == [False, True, True]
    assert any(note.startswith("a client has fewer rows (1) than a batch of 2") for note in found[1])
    assert any(note.startswith("2 clients have fewer rows (1) than a batch of 3") for note in found[2])


def test_tables_in_python() -> None:
    """In Python only the first mistake is reported, because runs are tried by the thousand."""
    with pytest.raises(InputError) as caught:
        parse_run({"problem": {"kind": "quadratic"}, "algorithm": {}}, FLOAT)
    assert "also" not in str(caught.value)


def test_names_are_looked_up_among_known_keys() -> None:
    """A known key in a wrong table is not explained as a synonym."""
    assert find_key("lr", ["local_step_size"]) == "local_step_size"
    assert find_key("LR", ["local_step_size"]) == "local_step_size"
    assert find_key("lr", ["rounds"]) is None
    assert find_key("speed", ["local_step_size"]) is None


@pytest.mark.parametrize("kind", ["least-squares", "huber", "logistic"])
def test_an_unknown_column_does_not_make_data_missing(command, written, kind: str) -> None:
    """A client column that does not exist is one error; the data are not reported as missing."""
    text = f'[problem]\nkind = "{kind}"\ndata = "mine.csv"\ntarget = "price"\nclient = "clinic"\n'
    line = command("simulate", written(text + "[algorithm]\nlocal_step_size = 0.1\nrounds = 'x'\n")).complaint()
    assert "has no column 'clinic'" in line
    assert "is missing" not in line

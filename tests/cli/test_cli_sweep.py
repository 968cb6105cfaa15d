"""`fedtheory sweep`: its document, errors in one line, and a table for other programs."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path

import pytest
from cli_support import QUADRATIC, run_text

SPEC = """
run = "run.toml"
claims = ["renard2022:thm-2.1", "renard2022:lemma-2.3"]
[grid]
algorithm.local_steps = [1, 2, 5]
algorithm.local_step_size = ["1/20", "1/2", 200]
[random]
count = 2
problem.noise = {law = "uniform", low = 0, high = 2}
"""


@pytest.fixture
def spec(tmp_path: Path, write_run) -> Path:
    """A sweep next to its base run."""
    write_run()
    path = tmp_path / "sweep.toml"
    path.write_text(SPEC)
    return path


def test_the_document_counts_the_rows_of_the_table(command, spec: Path) -> None:
    """Verdicts, the largest ratio and its row agree with the table as read by pyarrow."""
    import pyarrow.parquet as pq

    outcome = command("sweep", spec, "--json", "--jobs", 1)
    assert (outcome.code, outcome.err) == (0, "")
    document = outcome.document
    assert document["file"] == str(spec.with_suffix(".parquet"))
    assert (document["runs"], document["rows"], document["stored"]) == (18, 36, 0)
    rows = pq.read_table(document["file"]).to_pylist()
    assert list(rows[0]) == [
        *("row", "algorithm.local_steps", "algorithm.local_step_size", "problem.noise"),
        *("claim", "verdict", "reason", "lhs", "rhs", "ratio", "seconds"),
    ]
    for entry in document["claims"]:
        own = [row for row in rows if row["claim"] == entry["claim"]]
        assert entry["verdicts"] == Counter(row["verdict"] for row in own)
        worst = max((row for row in own if row["ratio"] is not None), key=lambda row: row["ratio"])
        assert (entry["worst_ratio"], entry["worst_row"]) == (worst["ratio"], worst["row"])
    again = command("sweep", spec, "--json").document
    assert {**again, "seconds": 0} == {**document, "stored": 18, "seconds": 0}


def test_a_table_for_people(command, spec: Path, tmp_path: Path) -> None:
    """Without --json the output is a table with counts, and the path of the results."""
    outcome = command("sweep", spec, "-o", tmp_path / "out" / "mine.parquet", "--jobs", 2)
    assert (outcome.code, outcome.err) == (0, "")
    assert "18 runs" in outcome.out
    assert "holds" in outcome.out
    assert (tmp_path / "out" / "mine.parquet").is_file()


def test_reasons_stand_below_the_table(command, spec: Path) -> None:
    """The command prints why some runs are invalid, and why a claim applies to none."""
    spec.write_text(SPEC.replace('"1/20", "1/2", 200', "-1, 200"))
    outcome = command("sweep", spec)
    words = " ".join(outcome.out.split())
    assert "invalid, as in row 0: algorithm.local_step_size: expected" in words
    assert "applies to no run: renard2022:thm-2.1" in words
    assert "condition" in words[words.index("applies to no run") :]


def test_finite_errors_of_diverging_runs_are_marked(command, spec: Path) -> None:
    """A step size beyond 2/L gives a finite error in eight rounds, with the note that the run diverges."""
    spec.write_text('run = "run.toml"\nerrors = "final_distance_sq"\n[grid]\nalgorithm.local_step_size = ["1/20", 2]\n')
    shown = [line for line in command("sweep", spec).out.splitlines() if line.startswith("│")]
    assert ["diverges" in line for line in shown] == [False, True]
    errors = command("sweep", spec, "--json").document["errors"]
    assert [error["runs"] for error in errors] == [2]


def test_mistakes_are_one_line(command, spec: Path) -> None:
    """An error is one line with file, key and expected value; nothing is run or written."""
    spec.write_text(SPEC.replace("local_steps", "local_step"))
    complaint = command("sweep", spec).complaint()
    assert complaint.startswith(f"fedtheory: {spec}: algorithm.local_step: unknown key; expected one of aggregation")
    assert not spec.with_suffix(".parquet.parts").exists()
    assert (
        command("sweep", spec.with_name("no.toml")).complaint().endswith("cannot be read (No such file or directory)")
    )


def test_a_changed_sweep_says_what_to_do(command, spec: Path) -> None:
    """The table of another sweep is rejected with a suggestion, which works."""
    assert command("sweep", spec, "--jobs", 1).code == 0
    (spec.parent / "run.toml").write_text(run_text(QUADRATIC, {"algorithm.rounds": "9"}))
    assert "--restart throws them away" in command("sweep", spec).complaint()
    assert command("sweep", spec, "--restart", "--jobs", 1, "--json").document["stored"] == 0


def test_bad_options_are_one_line(command, spec: Path) -> None:
    """Zero processes, an unwritable output, or an unreachable scheduler gives one line."""
    assert "expected a number of processes" in command("sweep", spec, "--jobs", 0).complaint()
    assert "cannot be written" in command("sweep", spec, "-o", spec / "x.parquet").complaint()
    assert "--dask: no scheduler answers at 'nonsense'" in command("sweep", spec, "--dask", "nonsense").complaint()


@pytest.mark.parametrize(("module", "extra"), [("pyarrow", "sweep"), ("distributed", "dask")])
def test_missing_extras_are_named(
    command, spec: Path, monkeypatch: pytest.MonkeyPatch, module: str, extra: str
) -> None:
    """Without one of its libraries a sweep names the extra that provides it."""
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == module else found(name))
    complaint = command("sweep", spec, "--dask", "tcp://127.0.0.1:1").complaint()
    assert complaint.endswith(f"needs the optional extra: pip install 'fedtheory[{extra}]'")

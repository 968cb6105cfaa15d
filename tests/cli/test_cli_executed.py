"""Text on the command line and in files is data, and is never executed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from fuzzing import answer, fuzz
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.runfile.loading import load_file, load_folder

ATTACKS = [
    "__import__('os').system('touch {file}')",
    "().__class__.__base__.__subclasses__()",
    "open('{file}', 'w')",
    "exec(\"open('{file}', 'w')\")",
    "lambda: 0",
    "1 if open('{file}', 'w') else 2",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_settings_are_numbers(attack: str, tmp_path: Path) -> None:
    """`--set L=...` and NAME=VALUE accept a number; anything else is rejected without evaluation."""
    text = attack.format(file=tmp_path / "touched")
    for arguments in (["--set", f"L={text}"], [f"L={text}"], ["--set", "L=1", "--target", text]):
        complaint = answer("plan", *arguments, "--json").complaint()
        assert "expected a number" in complaint
    assert not (tmp_path / "touched").exists()


@pytest.mark.parametrize("attack", ATTACKS)
def test_names_are_looked_up(attack: str, tmp_path: Path) -> None:
    """A name that is no symbol of a bound, in an expression or in `--map`, and an unknown id are rejected."""
    text = attack.format(file=tmp_path / "touched")
    constants = [
        "--set",
        "L=1",
        "--set",
        "M=10",
        "--set",
        "tau=5",
        "--set",
        "T=100",
        "--set",
        "D=2",
        "--set",
        "sigma=1",
    ]
    constants += ["--set", "zeta=0.5", "--claim", "renard2022:thm-2.1"]
    assert answer("plan", "--set", f"{text}=1", "--json").code == 2
    assert answer("plan", *constants, "--map", f"eta,{text}", "-o", tmp_path / "map.svg", "--json").code == 2
    assert answer("show", text, "--json").code == 2
    assert not (tmp_path / "touched").exists()


@pytest.mark.parametrize("attack", ATTACKS)
def test_run_files_are_data(attack: str, tmp_path: Path, write_run) -> None:
    """A string in place of a number is rejected without evaluation."""
    import json

    text = json.dumps(attack.format(file=tmp_path / "touched"))
    for key in ("problem.start", "problem.noise", "algorithm.local_step_size", "algorithm.rounds", "algorithm.name"):
        answer("simulate", write_run({key: f"[{text}, 1]" if key == "problem.start" else text})).complaint()
    assert not (tmp_path / "touched").exists()


values = st.sampled_from(["1", "0", "-1", "1e400", "1e-400", "nan", "1/0", "1/3", "", "=", "1e60", "x", "1e30", "0.5"])
settings_given = st.dictionaries(
    st.sampled_from(["L", "M", "tau", "T", "D", "sigma", "zeta", "eta", "", "ghost", "local_step_size", "G"]), values
)


@fuzz(max_examples=40)
@given(settings_given, st.none() | values)
def test_settings_of_all_kinds(given_numbers: dict[str, str], target: str | None) -> None:
    """Any combination of constants gives a plan, or one line."""
    numbers = {"L": "1", "M": "10", "tau": "5", "T": "100", "D": "2", "sigma": "1", "zeta": "1/2"} | given_numbers
    arguments = [part for name, value in numbers.items() for part in ("--set", f"{name}={value}")]
    arguments += ["--claim", "renard2022:thm-2.1"] + ([] if target is None else ["--target", target])
    answer("plan", *arguments, "--json")


def test_a_file_is_executed_as_it_is_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A changed file is executed again, even if its size and its time in seconds are equal."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file, folder = tmp_path / "mine.py", tmp_path / "paper"
    folder.mkdir()
    for word in ("one", "two"):
        file.write_text(f"word = {word!r}")
        os.utime(file, (1, 1))
        assert load_file(file).word == word
    (folder / "__init__.py").write_text("from .statements import word")
    (folder / "statements.py").write_text("word = 'one'")
    assert load_folder(folder).word == "one"
    assert not list(tmp_path.rglob("*.pyc"))

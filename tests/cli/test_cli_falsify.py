"""`fedtheory falsify`: the search for a violation of a claim."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from cli_claims import CONTRACT, MINE
from cli_support import read_json

from fedtheory.runfile import run_toml

KEYS = {"id", "verdict", "best_ratio", "lhs", "rhs", "run"}


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A file with the user's own claims."""
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


def test_a_users_bound_stands(command, tmp_path: Path) -> None:
    """The bound of the documentation is not refuted; the run of its largest ratio reproduces the ratio."""
    file = tmp_path / "drift.py"
    file.write_text(CONTRACT)
    outcome = command("falsify", f"{file}:drift", "--budget", "1", "--json")
    assert outcome.code == 0
    document = outcome.document
    assert document.keys() >= KEYS
    assert (document["id"], document["verdict"]) == ("mine:drift", "not refuted")
    assert 0 < document["best_ratio"] < 1
    run_file = tmp_path / "run.toml"
    run_file.write_text(run_toml(document["run"]))
    checked = command("check", f"{file}:drift", run_file, "--arithmetic", "rational", "--json").document
    assert checked["holds"] is True
    assert (checked["lhs"], checked["rhs"]) == (document["lhs"], document["rhs"])


def test_a_false_claim_is_refuted_by_its_run_file(command, mine: Path, tmp_path: Path) -> None:
    """The printed run violates the claim in rationals; without a recorded verdict the exit code is 0."""
    outcome = command("falsify", f"{mine}:steps_are_huge", "--budget", "20", "--json")
    assert outcome.code == 0
    document = outcome.document
    assert document["verdict"] == "refuted"
    assert document["best_ratio"] > 1
    run_file = tmp_path / "run.toml"
    run_file.write_text(run_toml(document["run"]))
    checked = command("check", f"{mine}:steps_are_huge", run_file, "--arithmetic", "rational", "--json").document
    assert (checked["applicable"], checked["holds"]) == (True, False)
    assert (checked["lhs"], checked["rhs"]) == (document["lhs"], document["rhs"])


@pytest.mark.parametrize(
    ("target", "code", "verdict"),
    [("wrongly_supported", 1, "refuted"), ("right", 0, "not refuted"), ("wrong", 0, "not refuted")],
)
def test_exit_code(command, mine: Path, target: str, code: int, verdict: str) -> None:
    """The exit code is 1 only if a claim is refuted that is recorded as true."""
    outcome = command("falsify", f"{mine}:{target}", "--budget", "1", "--json")
    assert (outcome.code, outcome.document["verdict"]) == (code, verdict)


def test_a_refuted_claim_of_a_source(command) -> None:
    """A recorded refutation gives exit code 0."""
    outcome = command("falsify", "renard2022:observation-2.1", "--budget", "20", "--json")
    assert outcome.code == 0
    assert (outcome.document["verdict"], outcome.document["recorded"]) == ("refuted", "refuted")


def test_for_people(command, mine: Path) -> None:
    """Without --json the output has the number of runs, the sides, and the run in a few lines; on request its file."""
    saved = mine.with_name("run.toml")
    outcome = command("falsify", f"{mine}:wrongly_supported", "--budget", "20", "--save", saved)
    assert outcome.code == 1
    assert "refuted (recorded: supported)" in " ".join(outcome.out.split())
    assert "runs tried" in outcome.out
    assert "confirmed in rationals" in outcome.out
    assert "[problem]" not in outcome.out
    assert f"  written to {saved}" in outcome.out
    assert tomllib.loads(saved.read_text()).keys() == {"problem", "algorithm"}


def test_for_people_where_the_claim_stands(command, mine: Path) -> None:
    """The run with the largest ratio is printed; standard error is empty outside a terminal."""
    outcome = command("falsify", f"{mine}:small_steps", "--budget", "1")
    assert outcome.code == 0
    assert outcome.err == ""
    assert "not refuted" in outcome.out
    assert "the simplest run with nearly the largest ratio" in outcome.out
    assert "step size" in outcome.out


def test_no_time_no_run(command, mine: Path) -> None:
    """Without a budget nothing is tried, and the result is null, not an error."""
    document = command("falsify", f"{mine}:small_steps", "--budget", "0", "--json").document
    assert (document["verdict"], document["run"], document["best_ratio"], document["lhs"]) == (
        "not refuted",
        None,
        None,
        None,
    )


def test_the_same_seed_finds_the_same(command, mine: Path) -> None:
    """With equal seeds all output except the seconds is equal."""
    target = f"{mine}:steps_are_huge"
    found = [command("falsify", target, "--budget", "60", "--seed", "3", "--json").out for _ in range(2)]
    first, second = (read_json(text) | {"seconds": 0} for text in found)
    assert json.dumps(first) == json.dumps(second)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["mine.py:bare"], "no relation to violate"),
        (["mine.py:unbound"], "mine:unbound"),
        (["mine.py:outside"], "mine:outside"),
        (["mine.py"], "NAME"),
        (["nowhere.py:x"], "no such file"),
        (["renard2022:nothing"], "no claim is called"),
        (["renard2022:thm-2.1", "--budget", "-1"], "budget"),
        (["renard2022:thm-2.1", "--budget", "nan"], "budget"),
        (["renard2022:thm-2.1", "--seed", "-1"], "seed"),
        (["renard2022:thm-2.1", "--budget", "long"], "budget"),
    ],
)
def test_mistakes_are_one_line(command, mine: Path, arguments: list[str], complaint: str) -> None:
    """An invalid target or option gives exit code 2 and one line."""
    target = arguments[0].replace("mine.py", str(mine))
    assert complaint in command("falsify", target, *arguments[1:], "--json").complaint()


def test_a_typed_relation(command) -> None:
    """A typed relation concerns plain FedAvg, like a user-defined claim without setting."""
    document = command("falsify", "max_drift <= local_step_size**2", "--budget", "2", "--json").document
    assert document["verdict"] == "refuted"
    assert document["assumed"]


def test_a_lower_bound_is_about_some_problem(command, tmp_path: Path) -> None:
    """For a refuted claim with >= the output explains the usual meaning, and how to search for it."""
    (tmp_path / "mine.py").write_text(
        "from fedtheory import Claim, quantities as q\n"
        "lower = Claim(id='mine:lower', lhs=q.clients, relation='>=', rhs=2)\n"
    )
    out = " ".join(command("falsify", f"{tmp_path / 'mine.py'}:lower", "--budget", "1").out.split())
    assert "turn the relation round" in out

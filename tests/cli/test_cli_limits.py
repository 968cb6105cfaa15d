"""Run files that would take hours are rejected; long runs of small problems are accepted."""

from __future__ import annotations

import pytest
from cli_support import QUADRATIC, ROWS, Changes
from fuzzing import answer


def algorithm(words: str, key: str, **changes: str | None) -> tuple[str, Changes, str]:
    """Return a key of the algorithm that is rejected, changes of its table, and words of the message."""
    return f"algorithm.{key}", {f"algorithm.{name}": value for name, value in changes.items()}, words


def drawn(policy: str, times: str) -> str:
    """Return a clock with random times."""
    return f'{{ policy = {policy}, law = "exponential", times = {times} }}'


DRAWS = '{ kind = "multinomial", clients = 1_000_000_000 }'
SELECTED = '{ kind = "uniform", clients = 1_000_000_000 }'
ONE_OF_TWO = '{ kind = "uniform", clients = 1 }'
HUGE = [
    algorithm("at most 10000000", "rounds", rounds=str(10**15)),
    algorithm("at most 10000000", "rounds", rounds=f"1{'0' * 400}"),
    algorithm("more rounds", "local_steps", local_steps=str(10**12)),
    algorithm("more rounds", "local_steps", local_steps=f"[1, {10**9}]"),
    algorithm("fewer rounds", "rounds", time='"1e30"', rounds=None),
    algorithm("shorter time", "time", time="1e15", rounds=None, clock='{ policy = "async" }'),
    algorithm("from 1 to 2", "participation.clients", participation=SELECTED),
    algorithm("10000", "participation.clients", participation=DRAWS),
    algorithm("where rounds differ", "rounds", rounds="5_000_000", participation=ONE_OF_TWO),
    algorithm("finite", "clock.times[1]", clock=drawn('"async"', '[1, "1e400"]')),
    algorithm("floats", "clock.times[0]", clock=drawn('"async"', '["1e-400", 1]')),
    algorithm("finite", "clock.interval", clock=drawn('"fedfix", interval = "1e400"', "[1, 2]")),
]


@pytest.mark.long
@pytest.mark.parametrize(("key", "changes", "words"), HUGE, ids=[f"{n}-{key}" for n, (key, _, _) in enumerate(HUGE)])
@pytest.mark.parametrize("command", ["simulate", "check", "plan"])
def test_huge_runs_are_refused(key: str, changes: Changes, words: str, command: str, write_run) -> None:
    """A huge run is rejected at once, in one line with the key, the limit and a suggestion."""
    target = ["renard2022:thm-2.1"] if command == "check" else []
    complaint = answer(command, *target, write_run(changes)).complaint()
    assert f"{key}: " in complaint
    assert words in complaint


def test_long_exact_runs_are_refused(write_run) -> None:
    """A long exact run is rejected with a suggestion, because its numbers grow with every step."""
    path = write_run({"algorithm.rounds": "100_000"})
    assert "--arithmetic float" in answer("simulate", path, "--arithmetic", "rational").complaint()


def test_a_million_rounds_of_a_small_problem(write_run) -> None:
    """A run of a million identical rounds is computed without a loop over rounds."""
    document = answer("check", "renard2022:thm-2.1", write_run({"algorithm.rounds": "1_000_000"}), "--json").document
    assert (document["applicable"], document["holds"]) == (True, True)


def test_lists_of_all_rounds_have_an_end(write_run) -> None:
    """Simulate rejects an output of more numbers than fit into memory."""
    path = write_run({"algorithm.rounds": "10_000_000"}, QUADRATIC)
    assert "algorithm.rounds: " in answer("simulate", path, "--json").complaint()


def test_wide_data_are_followed_in_the_span_of_their_rows(tmp_path) -> None:
    """A problem with 20,000 columns and two rows is simulated without its Hessians."""
    import numpy as np
    from cli_support import run_text

    np.savez(tmp_path / "good.npz", X=np.ones((2, 20_000)), y=np.ones(2), client=np.array([0, 1]))
    (tmp_path / "run.toml").write_text(run_text(ROWS))
    facts = answer("simulate", tmp_path / "run.toml", "--json").document
    assert len(facts["optimum"]) == 20_000

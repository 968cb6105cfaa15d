"""Mini-batch runs in rationals: the feasible number of steps is computed in advance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from fedtheory import FLOAT, RATIONAL, InputError, parse_run
from fedtheory.engine.moments import MOST_EXACT_STEPS, exact_length, is_too_long_for_rationals, require_short
from fedtheory.federation.oracles import ExactOracle
from fedtheory.runfile import limits

ROWS = {
    "kind": "least-squares",
    "inputs": [[[1, 2], [3, -1]], [["1/2", 0]]],
    "outputs": [[1, 4], ["3/4"]],
    "batch": 1,
}
STEPS = {"local_step_size": "1/20", "local_steps": 2, "rounds": 3}


def _run(arithmetic: Any = RATIONAL, **changes: Any) -> Any:
    return parse_run({"problem": ROWS, "algorithm": {**STEPS, **changes}}, arithmetic)


def test_products_of_samples_by_hand() -> None:
    """Three rows in two dimensions give 3 x 3 and 2 x 2 products each; full gradients give none."""
    assert _run().problem.oracle.sample_products == 3 * (9 + 4)
    assert ExactOracle().sample_products == 0


def test_bits_by_hand() -> None:
    """Rows of at most 4 have 3 bits, two rows 2, a batch of one 1, a step of 1/20 five, the start none or one."""
    run = _run()
    start = max(int(part).bit_length() for number in run.problem.start for part in (number.p, number.q))
    assert exact_length._count_bits(run.problem, run.problem.oracle, run.algorithm) == (
        2 * 2 * (2 * 3 + 2) + 2 * start,
        4 * 3 + 2 + 1 + 2 * 5,
    )


def test_the_most_steps_that_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Step s multiplies 1 + (first + s growth)/64 words: the limit is the last number of steps whose sum is allowed."""
    run = _run()
    first, growth = exact_length._count_bits(run.problem, run.problem.oracle, run.algorithm)
    for words in range(1, 60):
        monkeypatch.setattr(exact_length, "MOST_WORDS", words * 39)
        sums = np.cumsum([64 + first + growth * s for s in range(1, 100)])
        assert exact_length.limit_exact_steps(run.problem, run.algorithm) == int((sums <= 64 * words).sum())


def test_limits_hold_for_rationals_and_batches_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits apply to rationals with mini-batches only; floats and full gradients do not grow."""
    monkeypatch.setattr(exact_length, "MOST_WORDS", 0)
    full = {name: value for name, value in ROWS.items() if name != "batch"}
    for run in (_run(FLOAT), parse_run({"problem": full, "algorithm": STEPS}, RATIONAL)):
        assert exact_length.limit_exact_steps(run.problem, run.algorithm) == MOST_EXACT_STEPS
    assert exact_length.limit_exact_steps(_run().problem, _run().algorithm) == 0


@pytest.mark.parametrize(
    ("most", "way_out"),
    [
        (5, "got 6: shorten the run to at most 2 rounds, or use floats"),
        (1, "got 6: shorten the run to at most 1 local steps, or use floats"),
        (0, "got 6: use floats"),
    ],
)
def test_a_refusal_says_what_fits(most: int, way_out: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message gives the feasible rounds, or the feasible steps if no round is feasible."""
    monkeypatch.setattr(exact_length, "limit_exact_steps", lambda *_: most)
    run = _run()
    assert is_too_long_for_rationals(run.problem, run.algorithm)
    for refused in (lambda: require_short(run.problem, run.algorithm), lambda: run.trajectory):
        with pytest.raises(InputError) as error:
            refused()
        expected = f"expected at most {most} rounds times local steps in rationals with these mini-batches (39 products"
        assert expected in str(error.value)
        assert way_out in str(error.value)


def test_short_runs_are_as_in_floats() -> None:
    """Short runs have the errors of floats, up to rounding."""
    exact, near = (run.trajectory.server_suboptimality for run in (_run(), _run(FLOAT)))
    assert isinstance(exact[-1], fmpq)
    assert np.allclose([float(error) for error in exact], near, rtol=1e-12)


def test_files_that_are_too_long_for_rationals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that are too long for rationals are rejected when they are read; in floats they are not."""
    np.savez(tmp_path / "d.npz", X=np.eye(3), y=np.ones(3), client=[0, 1, 1])
    table = {"problem": {"kind": "least-squares", "data": "d.npz", "intercept": True}, "algorithm": STEPS}
    monkeypatch.setattr(limits, "MOST_EXACT_NUMBERS", 12)
    assert parse_run(table, RATIONAL, tmp_path).problem.dimension == 4
    monkeypatch.setattr(limits, "MOST_EXACT_NUMBERS", 11)
    with pytest.raises(InputError, match=r"at most 11 numbers in rationals \(rows x columns\), got 3 x 4: use fewer"):
        parse_run(table, RATIONAL, tmp_path)
    assert parse_run(table, FLOAT, tmp_path).problem.dimension == 4

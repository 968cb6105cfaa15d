"""Values at the virtual iterates: joint sums and forward moments equal single forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fedtheory.arithmetic import FLOAT, RATIONAL, Array
from fedtheory.engine.run import Run
from fedtheory.runfile import parse_run

LAWS: dict[str, Any] = {
    "all": None,
    "uniform": {"kind": "uniform", "clients": 2},
    "normalised": {"kind": "uniform", "clients": 2, "weights": "normalised"},
    "bernoulli": {"kind": "bernoulli", "probability": "1/2"},
    "multinomial": {"kind": "multinomial", "clients": 2},
}


ROWS = [[[1, 2], [0, 1]], [[1, 0], [2, 1]], [[1, 1], [1, -1]], [[0, 2], [1, 1]]]
OUTPUTS = [[1, 2], [0, 1], [3, -1], [1, 1]]


def run_of(law: Any, *, arithmetic: Any = FLOAT, clock: Any = None, rows: Any = ROWS, outputs: Any = OUTPUTS) -> Run:
    """Return clients with different rows, and mini-batches of one row."""
    algorithm: dict[str, Any] = {"local_step_size": "1/20", "local_steps": 3, "rounds": 3}
    algorithm |= {} if law is None else {"participation": law}
    algorithm |= {} if clock is None else {"clock": clock}
    problem = {"kind": "least-squares", "inputs": rows, "outputs": outputs, "batch": 1}
    return parse_run({"problem": problem, "algorithm": algorithm}, arithmetic)


def each_by_itself(run: Run, forms: Array) -> Array:
    """Return expectations of forms at the virtual iterates, each computed alone."""
    return np.concatenate([run.trajectory.evaluate_at_virtual_iterates(form[None]) for form in forms], axis=2)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_moments_forward_are_forms_backward(law: Any) -> None:
    """Many forms are evaluated by moments, few by the backward recursion, with equal values."""
    run = run_of(law)
    forms = run.gradient_forms.squares
    assert len(forms) > run.algorithm.rounds
    assert np.allclose(run.trajectory.evaluate_at_virtual_iterates(forms), each_by_itself(run, forms), rtol=1e-12)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_moments_of_clients_with_few_rows(law: Any) -> None:
    """Noise is computed in the dimensions that a client's rows span."""
    draw = np.random.default_rng(1).normal
    rows, outputs = draw(size=(5, 3, 20)).tolist(), draw(size=(5, 3)).tolist()
    run = run_of(law, rows=rows, outputs=outputs)
    assert run.trajectory.recursion._row_spaces
    forms = run.gradient_forms.squares
    assert np.allclose(run.trajectory.evaluate_at_virtual_iterates(forms), each_by_itself(run, forms), rtol=1e-10)


@pytest.mark.parametrize("clock", [None, {"policy": "async", "times": [1, 2, 1, 3]}], ids=["together", "stale"])
def test_a_weighted_sum_is_the_sum_of_the_clients(clock: Any) -> None:
    """Both ways are equal in rationals."""
    run = run_of(None, arithmetic=RATIONAL, clock=clock)
    weights = run.arithmetic.array([["1/2", "1/3", "0", "1/6"], ["1", "-1", "2", "0"]])
    each = run.virtual_values(run.arithmetic.identity(run.problem.clients))
    assert (run.virtual_values(weights) == each @ weights.T).all()


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_many_forms_in_rationals_are_exactly_what_each_is(law: Any) -> None:
    """Many forms are evaluated through the entries of a moment, exactly."""
    run = run_of(law, arithmetic=RATIONAL)
    numbers = np.random.default_rng(2).integers(-9, 9, size=(7, 3, 3))
    forms = RATIONAL.array((numbers + numbers.swapaxes(1, 2)).tolist())
    together = run.trajectory.evaluate_at_virtual_iterates(forms)
    assert "_virtual_moments" in vars(run.trajectory)
    assert (together == each_by_itself(run, forms)).all()
    largest = max(each_by_itself(run, forms)[:, 1:].ravel())
    assert run.trajectory.largest_after_local_steps(forms) == largest

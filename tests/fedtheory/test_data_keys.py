"""Keys of a least-squares problem: columns by name, shares of the clients, and what is done to the columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import fmpq

from fedtheory.arithmetic import FLOAT, RATIONAL, Arithmetic
from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.federation.problem.least_squares import note_on_shares
from fedtheory.runfile import parse_run, run_table

ALGORITHM = {"local_step_size": "1/50", "local_steps": 2, "rounds": 3}
INPUTS = [[["1", "1/2"], ["0", "2"], ["-1", "1"]], [["2", "1"]]]
OUTPUTS = [["1", "0", "3"], ["-1/3"]]


def _given(arithmetic: Arithmetic = RATIONAL, **problem: Any) -> Run:
    """The run of rows that are written into the run file."""
    rows = {"kind": "least-squares", "inputs": INPUTS, "outputs": OUTPUTS}
    return parse_run({"problem": {**rows, **problem}, "algorithm": ALGORITHM}, arithmetic)


def test_shares_by_rows() -> None:
    """With shares = "samples" the objective is the mean over all rows, exactly; with "equal" clients count alike."""
    problem = _given(shares="samples").problem
    assert problem.weights.tolist() == [fmpq(3, 4), fmpq(1, 4)]
    at = RATIONAL.array(["2/3", "-1"])
    inputs, outputs = (RATIONAL.array([*first, *second]) for first, second in (INPUTS, OUTPUTS))
    assert problem.value(at) == ((inputs @ at - outputs) ** 2).sum() / 4
    assert note_on_shares(problem) is None
    for equal in (_given(), _given(shares="equal")):
        assert equal.problem.weights.tolist() == [fmpq(1, 2)] * 2
        assert "1 to 3 rows" in str(note_on_shares(equal.problem))


def test_weights_of_ones_own_are_no_shares() -> None:
    """Either shares or weights, and shares are one of two words."""
    with pytest.raises(InputError, match=r"problem\.shares: expected either shares or weights"):
        _given(shares="samples", weights=["1/2", "1/2"])
    with pytest.raises(InputError, match=r"problem\.shares: expected one of equal, samples"):
        _given(shares="rows")


def test_a_ridge_is_half_its_square_for_every_client() -> None:
    """Values, gradients, Hessians and the optimum, as equal rationals."""
    plain, run = _given(shares="samples").problem, _given(shares="samples", ridge="2/7").problem
    ridge, at = fmpq(2, 7), RATIONAL.array(["2/3", "-1"])
    assert run.value(at) == plain.value(at) + ridge * (at @ at) / 2
    everywhere = np.tile(at, (2, 1))
    assert (run.gradients(everywhere) == plain.gradients(everywhere) + ridge * at).all()
    assert (run.hessians - plain.hessians == ridge * RATIONAL.identity(2)).all()
    assert (plain.hessian @ run.optimum + ridge * run.optimum == plain.mean_linear).all()
    assert run.optimal_value == run.value(run.optimum)
    # Away from the data's optimum in its own coordinates, the ridge is not centred there.
    assert run.centred.optimum.tolist() == [0, 0]


@pytest.mark.parametrize("arithmetic", [FLOAT, RATIONAL], ids=["float", "rational"])
def test_a_ridge_is_in_the_constants_of_the_run(arithmetic: Arithmetic) -> None:
    """Curvatures of clients and samples rise by it; noise does not change at a given point."""
    plain, run = (_given(arithmetic, batch=1, ridge=ridge) for ridge in (0, "2/7"))
    two_sevenths = arithmetic.number("2/7", "ridge")
    for name in ("smoothness", "strong_convexity", "sample_smoothness"):
        assert getattr(run, name) - getattr(plain, name) == pytest.approx(two_sevenths)
    moments = np.stack([np.outer(v, v) for v in [arithmetic.array([1, 2, "-1/3"])] * 2])
    covariances = [given.problem.noise_covariances(moments) for given in (run, plain)]
    assert np.abs(covariances[0] - covariances[1]).max() <= (0 if arithmetic is RATIONAL else 1e-12)


def test_a_ridge_is_written_into_run_files() -> None:
    """And read back; without one the key is not there."""
    table = run_table(_given(ridge="1/3", shares="samples"))
    assert table["problem"]["ridge"] == "1/3"
    assert table["problem"]["weights"] == ["3/4", "1/4"]
    assert run_table(parse_run(table, RATIONAL)) == table
    assert "ridge" not in run_table(_given())["problem"]


@pytest.mark.parametrize("ridge", ["-1/3", "much", [1]])
def test_a_ridge_is_a_number_that_is_not_negative(ridge: object) -> None:
    """Anything else is refused with its key."""
    with pytest.raises(InputError, match=r"problem\.ridge"):
        _given(ridge=ridge)

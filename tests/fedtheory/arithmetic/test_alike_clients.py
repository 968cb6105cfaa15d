"""Quantities of identical clients are computed once, and equal those of each client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from flint import arb, fmpq
from random_problems import random_problem

from fedtheory import parse_run
from fedtheory.arithmetic import (
    CERTIFIED,
    FLOAT,
    RATIONAL,
    Arithmetic,
    Array,
    group_equal_rows,
    map_equal_rows,
    plain_floats,
)
from fedtheory.arithmetic.enclosures import Enclosure
from fedtheory.engine import gradient_forms
from fedtheory.engine.region import bound_supremum_on_ball
from fedtheory.engine.run import Run
from fedtheory.errors import InputError
from fedtheory.federation import fedavg

COPIES = 3


def rows(*values: object) -> Array:
    """Return rationals, one in each row."""
    return RATIONAL.array(list(values))[:, None]


def test_rows_that_are_alike() -> None:
    """Rows of one kind agree in every part, in floats and in rationals; zeros of both signs are one number."""
    assert group_equal_rows(rows("1/2", 1, "2/4"), np.array([0, 0, 0])) == ([0, 1], [0, 1, 0])
    assert group_equal_rows(np.array([[1.0], [1.0]]), rows(1, 2)) == ([0, 1], [0, 1])
    assert group_equal_rows(np.array([0.0, -0.0, 1.0])) == ([0, 2], [0, 0, 1])


def test_enclosures_are_alike_only_if_they_are_one() -> None:
    """Two intervals that look the same may stand for different numbers."""
    one, other = Enclosure(arb(1, 0.5)), Enclosure(arb(1, 0.5))
    assert group_equal_rows(np.array([[one], [other], [one]], dtype=object)) == ([0, 1], [0, 1, 0])
    assert group_equal_rows(CERTIFIED.array(rows(1, 1))) == ([0, 1], [0, 1])


def test_a_function_is_called_once_for_each_kind() -> None:
    """The results of a function are placed at every row of the kind."""
    called = list[Any]()

    def double(row: Array) -> Any:
        called.append(row[0])
        return 2 * row[0]

    assert map_equal_rows(double, rows(1, 2, 1, 1)) == [2, 4, 2, 2]
    assert called == [1, 2]


def run() -> Run:
    """Return three clients of different curvature, in a ball that contains the run."""
    problem = random_problem(np.random.default_rng(4), 3, 2)
    return Run(problem, fedavg(problem, rounds=3, local_step_size=fmpq(1, 5), local_steps=2))


CONSTANTS: dict[str, Callable[[Run], Array]] = {
    "dissimilarities": lambda each: each.client_dissimilarities_sq.value,
    "smoothness": lambda each: each.client_smoothness,
    "strong convexity": lambda each: each.client_strong_convexity,
    "mean square smoothness": lambda each: each.client_mean_square_smoothness,
    "optima": lambda each: each.problem.client_optima,
}


@pytest.mark.parametrize("find", CONSTANTS.values(), ids=CONSTANTS)
def test_constants_of_copies(find: Callable[[Run], Array]) -> None:
    """Values of repeated clients agree with those of the clients: exactly in rationals, nearly in floats."""
    single = run()
    of_one, of_copies = find(single), find(single.with_copies(COPIES))
    assert (of_copies == np.concatenate([of_one] * COPIES)).all()
    assert np.allclose(find(single.with_copies(COPIES).as_floats()), plain_floats(of_copies), rtol=1e-4)


@pytest.mark.parametrize("arithmetic", [FLOAT, RATIONAL], ids=["floats", "rationals"])
def test_suprema_are_found_once_for_each_kind(arithmetic: Arithmetic, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thirty clients of three kinds need three suprema."""
    asked = list[Array]()

    def counted(form: Array, *others: Any) -> Any:
        asked.append(form)
        return bound_supremum_on_ball(form, *others)

    monkeypatch.setattr(gradient_forms, "bound_supremum_on_ball", counted)
    copies = run().with_copies(10)
    found = (copies if arithmetic is RATIONAL else copies.as_floats()).client_dissimilarities_sq
    assert len(found.value) == 30
    assert len(asked) == 3


def test_values_at_virtual_iterates() -> None:
    """Values at virtual iterates are computed together for identical clients, and equal those of each form."""
    copies = run().with_copies(COPIES)
    forms, trajectory = copies.gradient_forms.stochastic, copies.trajectory
    each = [trajectory.evaluate_at_virtual_iterates(form[None]) for form in forms]
    assert (trajectory.evaluate_at_virtual_iterates(forms) == np.concatenate(each, axis=2)).all()


def test_lists_that_stand_for_many_clients() -> None:
    """A repeated entry of a list is read once, and an error in it names its first position."""
    hessian, line = [["1"]], ["0"]
    table: dict[str, Any] = {
        "problem": {"kind": "quadratic", "hessians": [hessian] * 3, "linear": [line] * 3, "start": ["1"]},
        "algorithm": {"local_step_size": "1/2", "rounds": 1},
    }
    assert (parse_run(table, FLOAT).problem.hessians == 1).all()
    line[0] = "zero"
    with pytest.raises(InputError, match=r"problem.linear\[0\]\[0\]"):
        parse_run(table, FLOAT)
    table["problem"]["hessians"] = [hessian, hessian[0]]
    with pytest.raises(InputError, match=r"problem.hessians\[1\]"):
        parse_run(table, FLOAT)

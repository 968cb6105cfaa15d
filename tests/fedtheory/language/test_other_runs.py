"""Quantities of a second run, against that run itself."""

from __future__ import annotations

import pytest

import fedtheory as ft
from fedtheory import on_another_run
from fedtheory import quantities as q
from fedtheory.arithmetic import RATIONAL
from fedtheory.errors import InputError, NotApplicable

_PROBLEM = {
    "kind": "quadratic",
    "hessians": [[["1"]], [["2"]]],
    "linear": [["1"], ["-1"]],
    "start": ["3"],
    "noise": "1",
}
_ALGORITHM = {"local_step_size": "1/8", "local_steps": 2, "rounds": 3}
_RUN = ft.parse_run({"problem": _PROBLEM, "algorithm": _ALGORITHM}, RATIONAL)


def test_another_algorithm_on_the_same_problem() -> None:
    other = ft.parse_run({"problem": _PROBLEM, "algorithm": {**_ALGORITHM, "name": "scaffold"}}, RATIONAL)
    found = on_another_run("scaffold_error", q.final_suboptimality, {"algorithm.name": "scaffold"})
    assert found.on(_RUN) == q.final_suboptimality.on(other) != q.final_suboptimality.on(_RUN)


def test_values_may_depend_on_the_run() -> None:
    changes = {
        "problem.noise": lambda run: str(run.problem.clients),
        "algorithm.rounds": lambda run: 2 * run.algorithm.rounds,
    }
    other = ft.parse_run({"problem": {**_PROBLEM, "noise": "2"}, "algorithm": {**_ALGORITHM, "rounds": 6}}, RATIONAL)
    found = on_another_run("long_error", q.final_suboptimality, changes)
    assert found.on(_RUN) == q.final_suboptimality.on(other)


def test_a_run_that_there_is_not_makes_a_claim_inapplicable() -> None:
    found = on_another_run("no_error", q.final_suboptimality, {"algorithm.local_stepz": 1})
    with pytest.raises(NotApplicable, match="local_stepz"):
        found.on(_RUN)


@pytest.mark.parametrize(
    ("name", "of", "key", "message"),
    [
        ("rounds", q.final_suboptimality, "algorithm.rounds", "expected a new name"),
        ("mine", q.suboptimality_at_step, "algorithm.rounds", "one value for the whole run"),
        ("mine", q.final_suboptimality, "rounds", "expected keys such as algorithm.local_steps"),
    ],
    ids=["known name", "many values", "no key"],
)
def test_a_mistake_is_named(name: str, of: q.RunQuantity, key: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        on_another_run(name, of, {key: 1})

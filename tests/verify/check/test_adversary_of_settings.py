"""Published claims on unusual laws of participation, for which they are easily read too widely."""

from __future__ import annotations

from typing import Any

import pytest

from fedtheory import RATIONAL, parse_run
from fedtheory.engine.run import Run
from fedtheory.language.registry import find
from verify.check import check

PROBLEM = {"kind": "quadratic", "hessians": [[["1"]], [["2"]]], "linear": [["1"], ["0"]], "start": ["1"]}


def make_run(weights: list[str], **participation: Any) -> Run:
    """Return one round of two clients."""
    algorithm = {"local_step_size": "1/4", "local_steps": 2, "rounds": 1, "participation": participation}
    return parse_run({"problem": {**PROBLEM, "weights": weights}, "algorithm": algorithm}, RATIONAL)


@pytest.mark.parametrize("name", ["renard2022:algorithm-1", "lecture27:algorithm.dgd"])
def test_a_round_without_clients_is_impossible_where_all_participate(name: str) -> None:
    """An outcome of probability zero does not violate a statement about all outcomes of a round."""
    found = check(find(name), make_run(["1/2", "1/2"], kind="bernoulli", probability=1))
    assert found.applicable
    assert found.holds


def test_the_excess_of_sampled_weights_is_about_a_fixed_number_of_clients() -> None:
    """If each client participates independently, the pairing is one, and the excess is not zero."""
    claim = find("fraboni2022:sampling.unbiased.fixed")
    result = check(claim, make_run(["1/2", "1/2"], kind="bernoulli", probability="1/2"))
    assert not result.applicable
    assert "the number of participants is random" in str(result.reason)
    for law in ({"kind": "uniform", "clients": 1}, {"kind": "multinomial", "clients": 3}):
        assert check(claim, make_run(["1/3", "2/3"], **law)).holds


def test_updates_without_reports_are_checked_for_losses_too() -> None:
    terms = [[{"coordinate": 0, "weight": weight, "centre": centre, "width": "1"}] for weight, centre in ("12", "20")]
    clock = {"policy": "fedfix", "interval": "1/2", "times": ["1", "2"]}
    algorithm = {"local_step_size": "1/8", "local_steps": 2, "rounds": 3, "clock": clock}
    run = parse_run({"problem": {"kind": "huber", "terms": terms, "start": ["1"]}, "algorithm": algorithm}, RATIONAL)
    found = check(find("fraboni2022:eq-6"), run)
    assert found.applicable
    assert found.holds

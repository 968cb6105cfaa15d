"""Claims on runs of clients in types: exactly as on the runs in which every client is written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import fmpq

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.engine.run import Run
from fedtheory.language.targets import expand_targets, resolve
from fedtheory.planner import plan
from fedtheory.runfile import parse_run
from verify.check import check
from verify.check.one_run import _check_unmerged

PROBLEM: dict[str, Any] = {
    "kind": "least-squares",
    "inputs": [[["1", "0"], ["1/2", "1"], ["0", "-1"]], [["1", "1"], ["2", "0"]]],
    "outputs": [["1", "0", "2"], ["-1", "1"]],
    "batch": 1,
    "ridge": "1/5",
}
ALGORITHM: dict[str, Any] = {"local_step_size": "1/40", "local_steps": 2, "rounds": 2}
UNIFORM = {"kind": "uniform", "clients": 2}


def _run(counts: list[int], arithmetic: Any = RATIONAL, **keys: Any) -> Run:
    return parse_run({"problem": PROBLEM | {"count": counts}, "algorithm": ALGORITHM | keys}, arithmetic)


@pytest.mark.parametrize("claim_id", ["comparator:average-error", "renard2022:thm-2.1", "liu2022:lemma-1"])
def test_sides_are_those_of_single_clients(claim_id: str) -> None:
    run, claim = _run([3, 2]), resolve(claim_id)
    found, expected = (check(claim, one) for one in (run, run.follow_all_clients()))
    assert found.worst is not None
    assert expected.worst is not None
    assert found.applicable
    assert (found.worst.lhs, found.worst.rhs) == (expected.worst.lhs, expected.worst.rhs)
    assert [c.holds for c in found.conditions] == [c.holds for c in expected.conditions]


def test_statements_about_single_clients_write_few_of_them_out() -> None:
    """At local steps each client has its own noise: a million clients are refused with the reason."""
    claim = resolve("comparator:one-step")
    found, expected = (check(claim, one) for one in (_run([3, 2]), _run([3, 2]).follow_all_clients()))
    assert found.worst is not None
    assert expected.worst is not None
    assert (found.worst.lhs, found.worst.rhs) == (expected.worst.lhs, expected.worst.rhs)
    many = check(claim, _run([600_000, 400_000], FLOAT))
    assert not many.applicable
    assert "of the 1000000 clients one of each type is followed" in str(many.reason)


def test_a_million_clients_are_checked_by_types() -> None:
    """The error is smaller than that of five clients: noise averages out."""
    claim = resolve("comparator:average-error")
    found, few = (check(claim, _run(counts, FLOAT)) for counts in ([600_000, 400_000], [3, 2]))
    assert found.holds
    assert found.worst is not None
    assert few.worst is not None
    assert found.worst.lhs < few.worst.lhs


@pytest.mark.long
@pytest.mark.parametrize("law", [{"kind": "full"}, UNIFORM], ids=["full", "uniform"])
def test_plans_are_those_of_single_clients(law: dict[str, Any]) -> None:
    """Plans cover the run by the same bounds, with equal guarantees up to rounding."""
    run = _run([3, 2], FLOAT, participation=law, rounds=20)
    found, expected = (plan(one, accuracy=None) for one in (run, run.follow_all_clients()))
    assert [one.claim.id for one in found.claims] == [one.claim.id for one in expected.claims]
    for one, other in zip(found.claims, expected.claims, strict=True):
        assert (one.bound is None) == (other.bound is None)
        if one.bound is not None and other.bound is not None:
            np.testing.assert_allclose(one.bound.value(), other.bound.value(), rtol=1e-6, err_msg=one.claim.id)


@pytest.mark.long
@pytest.mark.parametrize(
    ("counts", "law"), [([3, 2], {"kind": "full"}), ([1, 3], UNIFORM)], ids=["full participation", "uniform sampling"]
)
def test_every_claim_is_checked_as_on_single_clients(counts: list[int], law: dict[str, Any]) -> None:
    """All claims of all sources, both sides in rationals; those that types do not decide say so."""
    run = _run(counts, participation=law)
    single, compared = run.follow_all_clients(), 0
    for claim in map(resolve, expand_targets(None, None)):
        if claim.rate is not None:
            continue
        found = _check_unmerged(claim, run, ())
        if "one of each type is followed" in str(found.reason):
            continue
        expected = _check_unmerged(claim, single, ())
        assert (found.applicable, found.holds) == (expected.applicable, expected.holds), claim.id
        if found.worst is not None and expected.worst is not None:
            assert (found.worst.lhs, found.worst.rhs) == (expected.worst.lhs, expected.worst.rhs), claim.id
            compared += 1
    assert compared > 50


def test_the_number_of_clients_is_that_of_all() -> None:
    run = _run([3, 2])
    assert (run.clients, run.client_weights.tolist()) == (5, [fmpq(1, 5)] * 2)

"""Landmarks: where algorithms settle, against long runs, and claims of one's own about such algorithms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

from fedtheory import Claim
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.arithmetic import FLOAT, RATIONAL, plain_float
from fedtheory.engine.joint import JointTrajectory, limiting_mean
from fedtheory.errors import NotApplicable
from fedtheory.federation.algorithms import definition, names
from fedtheory.language.registry import find
from fedtheory.language.typesetting import latex
from fedtheory.runfile import parse_run
from fedtheory.sources.landmarks.exhibits import ROUNDS, curve, page, typeset
from verify.check import check
from verify.instances import families_for
from verify.instances.family import FAMILIES

PROBLEM = {
    "kind": "quadratic",
    "hessians": [[["2", "1/2"], ["1/2", "1"]], [["1", "0"], ["0", "3"]]],
    "linear": [["1", "0"], ["-1", "2"]],
    "weights": ["1/3", "2/3"],
    "start": ["3", "-2"],
    "noise": "1",
}
SETTLING: dict[str, dict[str, Any]] = {
    "scaffold": {"local_steps": [3, 1]},
    "scaffnew": {"probability": "1/3"},
    "fednova": {"local_steps": [3, 1]},
    "fedprox": {"local_steps": 3, "proximal": "1/2"},
    "fedavgm": {"local_steps": 3, "momentum": "1/2", "nesterov": True},
    "dsgd": {"mixing": [["2/3", "1/3"], ["1/3", "2/3"]]},
}


def _joint(keys: dict[str, Any], arithmetic: Any, rounds: int) -> JointTrajectory:
    algorithm = {"local_step_size": "1/8", "rounds": rounds} | keys
    found = parse_run({"problem": PROBLEM, "algorithm": algorithm}, arithmetic).trajectory
    assert isinstance(found, JointTrajectory)
    return found


@pytest.mark.parametrize("name", SETTLING)
def test_the_limit_is_where_long_runs_are(name: str) -> None:
    keys = SETTLING[name] | {"name": name}
    exactly = limiting_mean(_joint(keys, RATIONAL, 1))
    long = _joint(keys, FLOAT, 400)
    assert np.allclose([plain_float(x) for x in exactly], long.server_mean[-1] - long.problem.optimum, atol=1e-9)


def test_too_large_steps_have_no_limit() -> None:
    with pytest.raises(NotApplicable, match="the step size is too large"):
        limiting_mean(_joint({"name": "scaffnew", "probability": 1, "local_step_size": 2}, RATIONAL, 1))


@pytest.mark.parametrize("name", ["scaffnew.contraction", "dsgd.one-hessian", "compressed.price", "scaffold.settles"])
def test_no_instance_violates_a_landmark(name: str) -> None:
    claim = find(f"landmarks:{name}")
    drawn = [instance.run() for family in families_for(claim) for instance in FAMILIES[family].instances[::4]]
    found = [check(claim, run) for run in drawn]
    assert sum(one.applicable for one in found) >= 5
    assert all(one.holds for one in found if one.applicable)


def test_a_landmark_is_about_its_algorithm() -> None:
    run = parse_run({"problem": PROBLEM, "algorithm": {"local_step_size": "1/8", "rounds": 2}}, RATIONAL)
    found = check(find("landmarks:scaffnew.contraction"), run)
    assert not found.applicable
    assert "the algorithm is fedavg, not scaffnew" in (found.reason or "")


D, T = sp.symbols("D T", positive=True)
HALVED = Claim(
    id="mine:halved",
    lhs=q.final_distance_sq,
    rhs=D**2 / 2**T,
    where={D: q.initial_distance, T: q.rounds},
    assumptions=[a.scaffold],
)


def test_claims_of_ones_own_are_checked_on_such_runs() -> None:
    """Whether SCAFFOLD halves the error in every round depends on the run."""
    (family,) = families_for(HALVED)
    assert family == "SCAFFOLD"
    found = {check(HALVED, instance.run()).holds for instance in FAMILIES[family].instances}
    assert found == {True, False}


@pytest.mark.parametrize("name", names())
def test_definitions_are_typeset(name: str) -> None:
    """Every vector appears with what it starts as and becomes."""
    words = typeset(definition(name))
    assert "Start:" in words
    assert words.count("$") % 2 == 0
    vectors = [vector for vector, _ in definition(name).expressions() if str(vector) != "model"]
    assert all(rf"${latex(vector)}\leftarrow" in words for vector in vectors)


def test_a_page_shows_an_algorithm_beside_fedavg() -> None:
    pytest.importorskip("sklearn")
    shown = page("scaffold")
    assert [len(chart.parts) for chart in shown.charts] == [2, 2]
    scaffold, fedavg = curve("scaffold"), curve("fedavg")
    assert len(scaffold.errors) == len(fedavg.errors) == ROUNDS + 1
    assert scaffold.errors[-1] < fedavg.errors[-1]
    assert (scaffold.sent == 2 * fedavg.sent).all()

"""Claims that assume smoothness alone are tried on objectives that are not convex, and false ones fail there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import fmpq

from fedtheory import Claim, norm_sq
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.arithmetic import RATIONAL
from fedtheory.kernel.expressions import Gradient, Value, inner
from fedtheory.language.registry import all_claims, find
from fedtheory.runfile import parse_run
from verify.check import check
from verify.instances import FAMILIES, families_for
from verify.instances.nonconvex import negate_curvature, nonconvex_problem, nonconvex_problem_table
from verify.verdict import verify

NONCONVEX = tuple(name for name, family in FAMILIES.items() if family.meant_for is a.smooth)
L, eta, T, tau = sp.symbols("L eta T tau", positive=True)
D = sp.Symbol("D", nonnegative=True)
x, y, F = sp.symbols("x y F", real=True)
OF_POINTS: dict[str, Any] = {
    "where": {F: q.objective, x: q.point, y: q.second_point, L: q.smoothness},
    "place": "points",
    "assumptions": (a.smooth,),
}
COCOERCIVE = Claim(
    id="mine:cocoercive",
    lhs=norm_sq(Gradient(F, x) - Gradient(F, y)),
    rhs=L * inner(Gradient(F, x) - Gradient(F, y), x - y),
    **OF_POINTS,
)
"""A bound that holds if F is convex."""
LIPSCHITZ = Claim(
    id="mine:lipschitz", lhs=norm_sq(Gradient(F, x) - Gradient(F, y)), rhs=L**2 * norm_sq(x - y), **OF_POINTS
)
DESCENT = Claim(
    id="mine:descent",
    lhs=Value(F, y),
    rhs=Value(F, x) + inner(Gradient(F, x), y - x) + L / 2 * norm_sq(y - x),
    **OF_POINTS,
)
RATE = Claim(
    id="mine:rate",
    lhs=q.final_suboptimality,
    rhs=D**2 / (2 * eta * T),
    where={D: q.initial_distance, eta: q.local_step_size, T: q.rounds, tau: q.local_steps, L: q.smoothness},
    conditions=[eta <= 1 / L, tau <= 1],
    assumptions=(
        a.same_local_work,
        a.unit_server_step,
        a.full_participation,
        a.uniform_shares,
        a.smooth,
        a.full_gradients,
    ),
)
"""A rate of gradient descent that holds if F is convex."""


def test_there_are_enough_instances() -> None:
    """There are 200 instances of bounded losses, which all have a minimiser, and as many quadratics; none is convex."""
    members = {name: [member.run() for member in FAMILIES[name].instances] for name in NONCONVEX}
    assert not any(run.problem.has_convex_clients for runs in members.values() for run in runs)
    quadratics = members["quadratics that are not convex"]
    losses = [run for runs in members.values() for run in runs if run not in quadratics]
    assert min(len(quadratics), len(losses)) >= 200
    assert all(run.problem.is_bounded_below for run in losses)
    bounded = sum(run.problem.is_bounded_below for run in quadratics)
    assert min(bounded, len(quadratics) - bounded) >= 50


def test_the_families_serve_claims_without_convexity() -> None:
    """The families keep their other instances, and claims that assume convexity, or no smoothness, get no new ones."""
    assert set(NONCONVEX) < set(families_for(RATE))
    assert set(NONCONVEX) < set(families_for(find("liu2022:thm-1")))
    for claim in all_claims().values():
        assumes = a.smooth in claim.assumptions and a.IMPLY_CONVEXITY.isdisjoint(claim.assumptions)
        tried = not set(NONCONVEX).isdisjoint(families_for(claim))
        assert tried == (assumes and claim.is_testable and claim.rate is None), claim.id
        if tried:
            assert not set(families_for(claim)).issubset(NONCONVEX), claim.id


@pytest.mark.long
@pytest.mark.parametrize("claim", [COCOERCIVE, RATE], ids=["cocoercive", "rate"])
def test_claims_that_need_convexity_are_refuted(claim: Claim) -> None:
    """An exact run on an objective that is not convex refutes the claim."""
    (found,) = verify(claim)
    assert found.verdict == "refuted"
    assert found.witness is not None
    assert found.evidence is not None
    assert found.witness.arithmetic is RATIONAL
    assert not found.witness.problem.has_convex_clients
    assert found.evidence.holds is False


@pytest.mark.parametrize("claim", [LIPSCHITZ, DESCENT], ids=["lipschitz", "descent"])
def test_claims_that_need_none_hold(claim: Claim) -> None:
    """The claims hold on members of each family."""
    for name in NONCONVEX:
        checks = [check(claim, member.run()) for member in FAMILIES[name].instances[:12]]
        assert all(found.applicable and found.holds is not False for found in checks), name


def test_a_counterexample_by_hand() -> None:
    """F = -x^2/2 at 0 and 1: |grad F(0) - grad F(1)|^2 = 1, and the inner product is -1."""
    table = {"kind": "quadratic", "hessians": [[["-1"]]], "linear": [["0"]], "start": ["1"]}
    found = check(
        COCOERCIVE, parse_run({"problem": table, "algorithm": {"local_step_size": "1", "rounds": 1}}, RATIONAL)
    )
    assert found.holds is False
    # Hampel losses of weights 1/2 and 2 at 1 and -1: at 1 the gradient vanishes, 3/2 above the minimum at -1.
    terms = [[{"width": 1, "weight": "1/2", "centre": 1}, {"width": 1, "weight": 2, "centre": -1}]]
    problem = {"kind": "hampel", "terms": terms, "start": ["1"]}
    run = parse_run({"problem": problem, "algorithm": {"local_step_size": "1/2", "rounds": 3}}, RATIONAL)
    found = check(RATE, run)
    assert found.holds is False
    assert (found.worst.lhs, found.worst.rhs) == (fmpq(3, 2), fmpq(4, 3))


def test_problems_for_a_search() -> None:
    """Tables of run files: none is convex, those of shape 0 have a minimiser, those of shape 1 share a Hessian."""
    generator = np.random.default_rng(5)
    for clients, dimension in ((1, 1), (2, 1), (3, 2)):
        for _ in range(6):
            table = nonconvex_problem_table(generator, clients, dimension, fmpq(1))
            run = parse_run({"problem": table, "algorithm": {"local_step_size": "1/8", "rounds": 1}}, RATIONAL)
            assert not run.problem.has_convex_clients
            assert (run.problem.clients, run.problem.dimension) == (clients, dimension)
    assert nonconvex_problem(generator, 3, 2, 0).is_bounded_below
    shared = nonconvex_problem(generator, 3, 2, 1).hessians
    assert (shared == shared[0]).all()


def test_negating_the_curvature_of_a_client() -> None:
    """[[1]], [[1]] becomes [[1]], [[-1/2]]; its stationary point stays, and Huber losses become Hampel's."""
    table = {"kind": "quadratic", "hessians": [[["1"]], [["1"]]], "linear": [["0"], ["2"]], "start": ["1"]}
    bent = negate_curvature(table, 1)
    assert bent["hessians"] == [[["1"]], [[fmpq(-1, 2)]]]
    assert bent["linear"] == [["0"], [fmpq(-1)]]
    huber = {"kind": "huber", "terms": [[{"width": 1}]]}
    assert negate_curvature(huber, 0) == huber | {"kind": "hampel"}
    assert negate_curvature({"kind": "log-cosh"}, 0) == {"kind": "log-cosh"}

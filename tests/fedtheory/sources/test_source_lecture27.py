"""Lecture 27: symbolic identities behind its claims, and small runs by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import fmpq
from tiny_runs import quadratics

from fedtheory import RATIONAL, InputError, Run
from fedtheory.federation import SETTINGS, fedavg
from fedtheory.federation.problem import quadratic
from fedtheory.federation.settings import distributed_gd
from fedtheory.kernel.expressions import Value, norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.claim import Relation
from fedtheory.language.registry import claims_of, find
from fedtheory.proofs import check_certificate, prove
from fedtheory.proofs.certificates_of_papers import certificate_of
from fedtheory.runfile import run_table
from fedtheory.sources.lecture27.budget import Budget, compute_drift_bounds, descend_fixed
from fedtheory.sources.lecture27.statements.notation import (
    F,
    T,
    beta,
    eta,
    growth,
    omega,
    per_divergence,
    tau,
    v,
    v_next,
    w,
    w_t_next,
)
from verify.check import Check, check
from verify.falsify import falsify

n = sp.Symbol("n", integer=True, nonnegative=True)


def two_clients(step: str = "1/4", steps: int = 2, rounds: int = 1) -> Run:
    """Return F_1 = x^2/2 - 2x and F_2 = 3x^2/2 + 2x with equal weights, so F = x^2, from x = 1."""
    return quadratics([[["1"]], [["3"]]], [[2], [-2]], [1], eta=step, steps=steps, rounds=rounds).engine


def sides(claim_id: str, run: Run, link: int = 0) -> tuple[object, object, bool | None]:
    """Return both sides of one link at its worst place, and whether it holds there."""
    found: Check = check(find(f"lecture27:{claim_id}"), run)
    assert found.applicable, found.reason
    compared = found.comparisons[link]
    return compared.lhs, compared.rhs, compared.holds


# Identities for all symbols.


def test_the_recursion_of_g() -> None:
    """(eta beta + 1) g_i(x) + eta delta_i = g_i(x + 1), and g_i(0) = 0."""
    step = (eta * beta + 1) * growth(n) + eta - growth(n + 1)
    assert sp.simplify(sp.expand_power_exp(sp.expand(step))) == 0
    assert growth(sp.Integer(0)) == 0


def test_h_is_the_geometric_sum() -> None:
    """h(0) = h(1) = 0, and h grows from x to x + 1 by eta delta ((eta beta + 1)^x - 1): thm-1.sum by induction."""
    assert sp.simplify(per_divergence(sp.Integer(0))) == sp.simplify(per_divergence(sp.Integer(1))) == 0
    increment = per_divergence(n + 1) - per_divergence(n)
    expected = eta * ((eta * beta + 1) ** n - 1)
    assert sp.simplify(sp.expand_power_exp(sp.expand(increment - expected))) == 0


def test_h_is_convex() -> None:
    """The second difference of h is eta^2 beta delta (eta beta + 1)^x."""
    second = per_divergence(n + 2) - 2 * per_divergence(n + 1) + per_divergence(n)
    assert sp.simplify(sp.expand_power_exp(sp.expand(second)) - eta**2 * beta * (eta * beta + 1) ** n) == 0


def test_the_budgets_h_is_the_lectures() -> None:
    """The sum in the controller agrees with the closed form, in floats."""
    values = {eta: 0.1, beta: 3.0}
    closed = [2.5 * float(per_divergence(sp.Integer(x)).subs(values)) for x in range(12)]
    assert compute_drift_bounds(11, 0.1, 3.0, 2.5) == pytest.approx(closed, rel=1e-12, abs=1e-14)


def test_the_explicit_bound_solves_theorem_2() -> None:
    """epsilon_0 = the explicit bound without its last term: epsilon T (eta phi - rho h / (tau epsilon^2)) = 1."""
    phi, loss = sp.symbols("phi loss", positive=True)
    epsilon = 1 / (2 * eta * phi * T) + sp.sqrt(1 / (4 * eta**2 * phi**2 * T**2) + loss / (eta * phi * tau))
    assert sp.simplify(sp.expand(eta * phi * epsilon**2 - epsilon / T - loss / tau)) == 0


def test_lemma_4_from_descent_and_convexity() -> None:
    """With theta' = theta - s g^2 and theta <= g / sqrt(omega), 1/theta' - 1/theta >= s g^2 / theta^2 >= s omega."""
    theta, s, g = sp.symbols("theta s g", positive=True)
    after = theta - s * g**2
    excess = (1 / after - 1 / theta) - s * g**2 / theta**2
    assert sp.simplify(excess - s**2 * g**4 / (theta**2 * after)) == 0
    assert sp.simplify(s * g**2 / (g / sp.sqrt(omega)) ** 2 - s * omega) == 0


# A run by hand.


def test_constants_by_hand() -> None:
    """On the ball of radius 2, |grad F_i - grad F| = |x + 2| gives delta = 4, and |grad F_2| = |3x + 2| gives rho =
    8.
    """
    run = two_clients()
    assert run.ball.radius == 2
    assert q.mean_divergence.measure(run) == 4
    assert q.lipschitz.measure(run) == 64
    assert q.objective_lipschitz.measure(run) == 16
    assert (q.smallest_gap.measure(run), q.nearest_start.measure(run)) == (fmpq(1, 16), 1)


def test_delta_is_a_weighted_mean() -> None:
    """With weights 1/4 and 3/4 and equal Hessians the divergences are 3 and 1, everywhere, and delta is 3/2."""
    run = quadratics([[["1"]]] * 2, [[3], [-1]], [1], importance=["1/4", "3/4"]).engine
    assert q.client_dissimilarity.measure(run).ravel().tolist() == [9, 1]
    assert q.mean_divergence.measure(run) == fmpq(3, 2)


def test_the_drift_of_a_client_by_hand() -> None:
    """One step takes client 1 to 5/4 and the centralised model to 1/2; g_1(1) = eta delta_1 = 1."""
    assert sides("thm-1.g", two_clients()) == (fmpq(9, 16), 1, True)


def test_an_aggregation_by_hand() -> None:
    """w(2) = 7/16 and v(2) = 1/4, so gaps 49/256 and 1/16; rho h(2) = 8 * 4 * 3 / 16 = 6."""
    run = two_clients()
    assert sides("thm-2.jump", run)[:2] == (fmpq(256, 49) - 16, fmpq(256, 49) - 16)
    assert sides("thm-2.jump", run, 1) == (fmpq(256, 49) - 16, -6 * 16 * fmpq(256, 49), True)
    # 1/theta grows from 1 to 16; the lemma promises 2 * (1/4) (1 - 3/8) = 5/16.
    assert sides("thm-2.interval", run) == (15, fmpq(5, 16), True)


def test_condition_2_fails_where_clients_differ_much() -> None:
    """eta phi = 5/32 is less than rho h / (tau eps^2) = 768, so Theorem 2 does not apply, with a reason."""
    found = check(find("lecture27:thm-2"), two_clients())
    assert not found.applicable
    assert [condition.slack for condition in found.conditions] == [fmpq(1, 12), fmpq(5, 32) - 768]


def test_theorem_2_with_one_local_step() -> None:
    """tau = 1: h = 0, and 1 / (T eta phi) = 1 / (2 * 5/32) bounds the gap 1/16."""
    run = two_clients(steps=1, rounds=2)
    assert sides("thm-2", run) == (fmpq(1, 16), fmpq(16, 5), True)


def test_lemma_4_needs_positive_gaps() -> None:
    """A step 1/beta of one client reaches the optimum, where 1/theta is undefined."""
    run = quadratics([[["2"]]], [[0]], [1], eta="1/2").engine
    for claim_id in ("lemma-4", "thm-2"):
        assert not check(find(f"lecture27:{claim_id}"), run).applicable
    assert check(find("lecture27:lemma-3"), run).holds is True


_ANY_POINT = find("lecture27:lemma-3.any-point")


@pytest.mark.long
@pytest.mark.parametrize(
    "change",
    [
        {"rhs": _ANY_POINT.rhs - eta * (Value(F, v_next) - Value(F, w))},
        {"rhs": _ANY_POINT.rhs - 2 * eta * (Value(F, v) - Value(F, v_next))},
        {"conditions": [eta <= 11 / (10 * beta)]},
        {"conditions": []},
    ],
    ids=["half as much again", "the gap before the step", "a wider condition", "no condition"],
)
def test_descent_towards_any_point_is_no_faster(change: dict[str, Any]) -> None:
    """The certificate does not prove false variants, and a short search refutes each."""
    false = replace(_ANY_POINT, **change)
    assert prove(_ANY_POINT).verdict == "proved"
    assert prove(false).verdict != "proved"
    assert falsify(replace(false, verdict=None), 20).verdict == "refuted"


def test_a_strict_decrease_needs_a_gap_to_start_from() -> None:
    """A step from theta = 1 reaches zero; from there the decrease is not strict."""
    once, twice = (quadratics([[["2"]]], [[0]], [1], eta="1/2", steps=steps).engine for steps in (1, 2))
    for claim_id in ("lemma-4.consequence", "lemma-3.proof"):
        assert check(find(f"lecture27:{claim_id}"), once).holds is True
        assert not check(find(f"lecture27:{claim_id}"), twice).applicable


_STEP = find("lecture27:lemma-3.proof")


@pytest.mark.parametrize(("step", "change"), [("1/4", fmpq(-3, 4)), ("1/3", fmpq(-8, 9))], ids=["inside", "1/beta"])
def test_the_step_towards_the_optimum_is_strict(step: str, change: fmpq) -> None:
    """F = x^2 from 1: theta = 1, and the squared distance falls to 1/4 or, at eta = 1/beta, to 1/9."""
    run = two_clients(step=step, steps=1)
    assert sides("lemma-3.proof", run, 5) == (change, -2 * fmpq(step), True)
    assert sides("lemma-3.proof", run, 6) == (-2 * fmpq(step), 0, True)


def test_the_step_towards_the_optimum_is_no_longer() -> None:
    """F = x^2 and a step of 1/beta attain 2 eta theta, so that 3 eta theta is neither proved nor true."""
    attained = quadratics([[["2"]]], [[0]], [1], eta="1/2").engine
    assert sides("lemma-3.proof", attained, 5) == (-1, -1, True)
    left = _STEP.also[4].left
    false = replace(_STEP, also=(*_STEP.also[:4], Relation(left, "<=", -3 * eta), _STEP.also[5]), verdict=None)
    assert check(false, attained).holds is False
    certificate = certificate_of(_STEP.id)
    assert certificate is not None
    assert check_certificate(_STEP, certificate).verdict == "proved"
    assert check_certificate(false, certificate).verdict != "proved"
    assert check_certificate(replace(_STEP, conditions=()), certificate).verdict != "proved"


@pytest.mark.parametrize(("steps", "distance_sq"), [(1, 0), (2, fmpq(9, 256))])
def test_an_interval_does_not_end_where_the_next_starts(steps: int, distance_sq: fmpq) -> None:
    """v_[1](2) = 1/4 and v_[2](2) = w(2) = 7/16; with one local step both are 1/2."""
    same = replace(find("lecture27:thm-1"), lhs=norm_sq(w_t_next - v_next), relation="==", rhs=0, also=())
    found = check(same, two_clients(steps=steps))
    assert found.comparisons[0].lhs == distance_sq
    assert found.holds is (distance_sq == 0)


@pytest.mark.parametrize("name", ["thm-2", "thm-2.explicit", "tau-choice"])
def test_a_statement_that_the_notes_do_not_have_is_not_called_printed(name: str) -> None:
    """Statements from Wang et al. have no published form in the notes, and name their origin."""
    claim = find(f"lecture27:{name}")
    assert claim.printed is None
    assert "paper that they follow" in claim.note or "Wang et al." in claim.note


def test_noise_is_outside_the_lecture() -> None:
    """Every claim with a relation needs full gradients."""
    run = quadratics([[["1"]]], [[0]], [1], deviation=1, eta="1/8").engine
    for claim in claims_of("lecture27"):
        if claim.relations:
            assert "full gradients" in str(check(claim, run).reason)


# The budget, and the named setting.


@pytest.mark.parametrize("local_steps", [1, 2, 3])
def test_a_run_costs_what_the_lecture_says(local_steps: int) -> None:
    """The cost is T (c + b / tau), and at most R."""
    budget = Budget("1/3", "5/2", "17")
    run = descend_fixed(two_clients().problem, "1/4", budget, local_steps)
    whole = [steps for steps in run.local_steps if steps == local_steps]
    updates = fmpq(len(whole) * local_steps)
    assert run.spent[len(whole) - 1] == updates * (fmpq(1, 3) + fmpq(5, 2) / local_steps)
    assert run.spent[-1] <= 17


def test_distributed_gd_is_fedavg_with_full_gradients() -> None:
    """Distributed gradient descent has the trajectory of FedAvg, and keeps its name in run files."""
    problem = two_clients().problem
    keys = {"rounds": 2, "local_step_size": fmpq(1, 4), "local_steps": 3}
    run, same = Run(problem, distributed_gd(problem, **keys)), Run(problem, fedavg(problem, **keys))
    assert np.array_equal(run.trajectory.server_mean, same.trajectory.server_mean)
    assert SETTINGS[run_table(run)["algorithm"]["name"]] is distributed_gd


def test_distributed_gd_refuses_what_it_is_not() -> None:
    """Noise and server step sizes are rejected for distributed gradient descent."""
    noisy = quadratic(RATIONAL.array([[[1]]]), RATIONAL.array([[0]]), RATIONAL.array([1]), noise=RATIONAL.array([1]))
    with pytest.raises(InputError, match="full gradients"):
        distributed_gd(noisy, rounds=1, local_step_size=fmpq(1))
    with pytest.raises(InputError, match="server_step_size"):
        distributed_gd(two_clients().problem, rounds=1, local_step_size=fmpq(1, 4), server_step_size=2)

"""Worst cases over classes of functions: closed forms, exact instances below them, and what is refused.

What needs a solver is skipped without the extra `worst-case`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import fmpq
from worst_cases import LAST_ITERATE, WHERE, D, L, eta, needs_solver, tau

from fedtheory.arithmetic import plain_float
from fedtheory.errors import NotApplicable
from fedtheory.federation.problem.generators import draw_quadratics
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Claim
from fedtheory.language.families import with_fedavg
from fedtheory.language.registry import all_claims, find
from verify.cache import VARIABLE
from verify.check import check
from verify.worst_case import Case, find_worst_case
from verify.worst_case.solvers import SOLVERS, SolverAnswer
from verify.worst_case.statement import iterate_statements

DRIFT, THEOREM = find("renard2022:lemma-2.3"), find("renard2022:thm-2.1")


def only_case(claim: Claim, clients: int, local_steps: int) -> Case:
    """The one case of a claim, which is solved."""
    found = find_worst_case(claim, clients, local_steps)
    assert found.reason is None
    (case,) = found.cases
    assert case.status == found.status == "solved"
    return case


def largest(claim: Claim, clients: int, local_steps: int) -> float:
    """The worst case where there is one case."""
    value = only_case(claim, clients, local_steps).worst_case
    assert value is not None
    return value


@needs_solver
@pytest.mark.parametrize("local_steps", [1, 2, 4])
def test_one_client_is_gradient_descent(local_steps: int) -> None:
    """F(x_tau) - F* = L D^2 / (4 tau + 2) at the step size 1/L, as is known and attained."""
    case = only_case(LAST_ITERATE, 1, local_steps)
    assert case.worst_case == pytest.approx(1 / (4 * local_steps + 2), rel=1e-4)
    assert case.ratio == pytest.approx(1, rel=1e-4)
    assert case.constants["local_step_size"] == "1"


@needs_solver
@pytest.mark.parametrize("assumption", [a.one_client, a.one_type], ids=["client", "type"])
def test_one_client_may_be_assumed(assumption: Assumption) -> None:
    """With one client the assumption holds, and with more it is named."""
    claim = find("renard2022:lemma-2.3")
    own = replace(claim, id="own", assumptions=(*claim.assumptions, assumption), is_published=False)
    alone = [statement.bound for statement in iterate_statements(own, 1, 2)]
    assert alone == [statement.bound for statement in iterate_statements(claim, 1, 2)]
    with pytest.raises(NotApplicable, match="with --clients 1 alone"):
        list(iterate_statements(own, 2, 2))


def test_strongly_convex_clients_contract() -> None:
    """One client is gradient descent: with eta = 2/(L + mu) the worst case is (1 - eta mu)^(2 tau), attained."""
    mu = sp.Symbol("mu", positive=True)
    contracts = Claim(
        id="mine:contracts",
        lhs=q.final_distance_sq,
        rhs=(1 - eta * mu) ** (2 * tau) * D**2,
        where=WHERE | {mu: q.strong_convexity},
        assumptions=[a.strongly_convex_clients],
        conditions=[eta <= 2 / (L + mu)],
    )
    found = find_worst_case(contracts, clients=1, local_steps=2)
    assert found.functions == "strongly convex and L-smooth"
    assert [case.constants["strong_convexity"] for case in found.cases] == ["1/10", "1/2"]
    assert [case.ratio for case in found.cases] == pytest.approx([1, 1], rel=1e-3)


@needs_solver
def test_one_local_step_of_several_clients_is_gradient_descent() -> None:
    """Whatever the clients are, the average of their first steps is a step on F."""
    assert largest(LAST_ITERATE, 3, 1) == pytest.approx(1 / 6, rel=1e-4)


@needs_solver
@pytest.mark.parametrize("local_steps", [1, 2, 4])
def test_two_clients_drift_at_most_as_far_as_lines_do(local_steps: int) -> None:
    """The drift is at most tau^2 eta^2 zeta^2, which two linear functions attain; the printed factor is 18."""
    case = only_case(DRIFT, 2, local_steps)
    assert case.worst_case == pytest.approx(local_steps**2 / 16, rel=1e-4)
    assert case.ratio == pytest.approx(1 / 18, rel=1e-4)


@needs_solver
def test_more_clients_can_drift_farther_than_lines_do() -> None:
    """Four clients reach 1.0526 tau^2 eta^2 zeta^2 with three local steps."""
    assert largest(DRIFT, 4, 3) == pytest.approx(1.05256 * 9 / 16, rel=1e-4)


@needs_solver
def test_drift_inside_a_round_of_one_step_is_zero() -> None:
    """The sum over k = 1 .. tau - 1 is empty; with two steps it is half the drift of one step."""
    claim = find("renard2022:thm-2.1.proof.drift-term")
    assert largest(claim, 2, 1) == pytest.approx(0, abs=1e-5)
    assert largest(claim, 2, 2) == pytest.approx(1 / 32, rel=1e-4)


@needs_solver
def test_one_client_has_no_drift() -> None:
    """A single client equals its average, and its gradient is that of F."""
    case = only_case(DRIFT, 1, 3)
    assert case.constants["gradient_dissimilarity"] == "0"
    assert (case.bound, case.ratio) == (0, None)
    assert case.worst_case == pytest.approx(0, abs=1e-5)


@needs_solver
def test_clients_that_are_alike_are_one_client() -> None:
    """Without dissimilarity the error of two clients is that of gradient descent, 2 L D^2 / (tau + 5) at 1/(4L)."""
    alike = find_worst_case(THEOREM, 2, 2).cases[1]
    (alone,) = (case for case in find_worst_case(THEOREM, 1, 2).cases if case.constants["initial_distance"] == "1")
    assert alike.constants["gradient_dissimilarity"] == "0"
    assert alike.worst_case == pytest.approx(2 / 7, rel=1e-4)
    assert alone.worst_case == pytest.approx(2 / 7, rel=1e-4)


@needs_solver
def test_functions_that_are_smooth_alone() -> None:
    """|grad F(x)|^2 <= 2 L (F(x) - F*), attained; the drift of bounded gradients is that of lines pulling apart."""
    s, gap = sp.symbols("s gap", positive=True)
    slope = Claim(
        id="mine:slope",
        lhs=q.average_local_gradient_sq,
        rhs=2 * gap,
        where={s: q.local_step_size, gap: q.initial_gap},
        assumptions=[a.smooth],
    )
    assert find_worst_case(slope, 2, 1).functions == "L-smooth"
    assert largest(slope, 2, 1) == pytest.approx(2, rel=1e-4)
    assert only_case(find("liu2022:lemma-1"), 2, 3).ratio == pytest.approx(1 / 4, rel=1e-4)


@needs_solver
@pytest.mark.parametrize("number", range(6))
def test_no_exact_quadratic_exceeds_the_worst_case(number: int) -> None:
    """Two clients with one Hessian: the drift of every exact run is within that of the class, in its own units."""
    generator = np.random.default_rng([20, number])
    spectrum = [fmpq(1), fmpq(1, int(generator.integers(1, 9)))]
    problem = draw_quadratics(generator, [spectrum] * 2, shared=True, heterogeneity=fmpq(1), noise=fmpq(0))
    run = with_fedavg(problem, fmpq(1), 3, 1)
    found = check(DRIFT, run)
    assert found.worst is not None
    drift = plain_float(found.worst.lhs / run.dissimilarity_sq.value) * plain_float(run.smoothness) ** 2
    assert 0 < drift <= largest(DRIFT, 2, 3) * 1.0001


@pytest.mark.long
@needs_solver
def test_no_true_claim_is_exceeded() -> None:
    """Every claim that is recorded as proved or supported bounds the worst case, for three clients and two steps."""
    true = [claim for claim in all_claims().values() if claim.verdict in ("proved", "supported")]
    values = [(claim.id, case.worst_case, case.bound) for claim in true for case in find_worst_case(claim, 3, 2).cases]
    solved = [(claim_id, value, bound) for claim_id, value, bound in values if value is not None]
    assert len(solved) > 12
    assert [claim_id for claim_id, value, bound in solved if value > bound * 1.0001 + 1e-5] == []


@needs_solver
def test_measured_right_sides_count_on_the_left() -> None:
    """The proved progress of a round leaves nothing above zero; with twice the gap on the left something is."""
    proved = find("renard2022:lemma-2.2.fixed")
    assert largest(proved, 2, 2) == pytest.approx(0, abs=1e-5)
    doubled = replace(proved, id="mine:doubled", lhs=16 * proved.relations[0].left, corrects=None)
    assert largest(doubled, 2, 2) > 0.1


@needs_solver
def test_a_left_side_without_a_bound_is_said_to_be_unbounded() -> None:
    """Drift without dissimilarity in the claim: nothing keeps the clients together."""
    loose = Claim(id="mine:loose", lhs=q.max_drift, rhs=tau, where=WHERE)
    found = find_worst_case(loose, 2, 2)
    assert found.status == "unbounded"
    assert found.decisive is not None
    assert found.decisive.worst_case is None


@needs_solver
def test_solvers_that_fail_or_disagree_give_a_status_and_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """No number in silence."""
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setitem(SOLVERS, "CLARABEL", lambda _: SolverAnswer("failed"))
    monkeypatch.setitem(SOLVERS, "SCS", lambda _: SolverAnswer("failed"))
    assert find_worst_case(DRIFT, 2, 1).status == "failed"
    monkeypatch.setitem(SOLVERS, "CLARABEL", lambda _: SolverAnswer("inaccurate", 1.0, 1.0))
    monkeypatch.setitem(SOLVERS, "SCS", lambda _: SolverAnswer("optimal", 1.1, 1.1))
    case = find_worst_case(DRIFT, 2, 1).cases[0]
    assert (case.status, case.worst_case, case.ratio) == ("inaccurate", None, None)


def test_the_bound_is_evaluated_at_the_edge_of_the_conditions() -> None:
    """For every choice of the constants the bound is evaluated at the largest step size that its conditions allow."""
    stated = list(iterate_statements(THEOREM, 2, 3))
    assert [statement.step_size for statement in stated] == [1 / 4] * 3
    assert [statement.bound for statement in stated] == [2 / 3 + 162 / 16, 2 / 3, 162 / 16]
    assert {statement.step_size for statement in iterate_statements(find("liu2022:thm-3"), 2, 4)} == {1 / 24}


@needs_solver
@pytest.mark.parametrize("solver_name", SOLVERS)
def test_a_problem_as_rows_is_that_of_pepit(solver_name: str) -> None:
    """Each solver finds the value that PEPit finds with CVXPY, which gets every constraint alone."""
    from PEPit import PEP
    from PEPit.functions import SmoothConvexFunction

    from verify.worst_case.modelling import convert_to_program

    problem = PEP()
    one, other = (problem.declare_function(SmoothConvexFunction, L=1) for _ in range(2))
    start, optimum = problem.set_initial_point(), (one + other).stationary_point()
    problem.set_initial_condition((start - optimum) ** 2 <= 1)
    problem.add_constraint(one.gradient(optimum) ** 2 == 1)
    end = start - (one.gradient(start) + other.gradient(start)) / 2
    problem.set_performance_metric((one + other)(end) - (one + other)(optimum))
    answer = SOLVERS[solver_name](convert_to_program(problem))
    expected = problem.solve(wrapper="cvxpy", verbose=0, solver="CLARABEL")
    assert answer.verdict == "optimal"
    assert [answer.above, answer.below] == pytest.approx([expected, expected], rel=1e-4)


@needs_solver
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate:UserWarning")
def test_cases_of_a_theorem_are_those_that_pepit_solves_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Worst cases agree with PEPit's own wrapper, which hands CVXPY every constraint alone."""
    monkeypatch.setenv(VARIABLE, "")
    found = find_worst_case(THEOREM, 2, 2)

    def by_cvxpy(problem: Any, solver: str) -> SolverAnswer:
        value = problem.solve(wrapper="cvxpy", verbose=0, solver=solver)
        return SolverAnswer("optimal", value, value)

    monkeypatch.setattr("verify.worst_case._solve", by_cvxpy)
    alone = find_worst_case(THEOREM, 2, 2)
    assert [case.status for case in found.cases] == [case.status for case in alone.cases]
    values = [case.worst_case for case in alone.cases]
    assert [case.worst_case for case in found.cases] == pytest.approx(values, rel=1e-4, abs=1e-6)


@needs_solver
def test_claims_that_differ_in_their_bounds_share_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A second claim with the same left side asks no solver again."""
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    first = find_worst_case(DRIFT, 2, 2)
    monkeypatch.setattr("verify.worst_case._build_problem", lambda *_: pytest.fail("asked again"))
    looser = replace(DRIFT, id="mine:looser", rhs=2 * DRIFT.relations[0].right, corrects=None)
    second = find_worst_case(looser, 2, 2)
    assert [case.worst_case for case in second.cases] == [case.worst_case for case in first.cases]
    assert [case.bound for case in second.cases] == [2 * case.bound for case in first.cases]

"""Programs of two clients that can change places: of half the size, with the same value; others are left unchanged.

What needs a solver is skipped without the extra `worst-case`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fedtheory.language.registry import find
from verify.cache import VARIABLE
from verify.worst_case import WorstCase, find_worst_case
from verify.worst_case.one_round import NoiselessRound
from verify.worst_case.solvers import SOLVERS, SolverAnswer
from verify.worst_case.symmetry import find_involution


def small_round(clients: int = 2) -> NoiselessRound:
    """Two local steps of convex clients, from a start at distance one at most."""
    pytest.importorskip("PEPit")
    round_ = NoiselessRound(clients, 2, 0.25, convex=True, at_optimum=False)
    round_.problem.add_constraint(round_.distance_sq(0) <= 1)
    return round_


def sizes(round_: NoiselessRound, asked: Any) -> tuple[int, ...]:
    """Those of the matrices of the program that asks for an expression."""
    from verify.worst_case.modelling import convert_to_program

    round_.problem.set_performance_metric(asked)
    return tuple(convert_to_program(round_.problem).sizes)


@pytest.mark.parametrize(
    "claim_id",
    [
        "renard2022:lemma-2.3",
        "renard2022:thm-2.1",
        "liu2022:lemma-1.run",
        "liu2022:thm-1",
        "liu2022:thm-3.sharp",
    ],
)
def test_a_half_has_the_value_of_the_whole(claim_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Convex or not, from anywhere or from the optimum: worst cases of bounds on drift, errors and gradients."""
    pytest.importorskip("PEPit")
    monkeypatch.setenv(VARIABLE, "")
    halved = _solve_with_matrices(2, claim_id, monkeypatch)
    monkeypatch.setattr("verify.worst_case.modelling._exchange", lambda _: None)
    whole = _solve_with_matrices(1, claim_id, monkeypatch)
    assert halved.status == whole.status == "solved"
    expected = [case.worst_case for case in whole.cases]
    assert [case.worst_case for case in halved.cases] == pytest.approx(expected, rel=1e-4, abs=1e-5)


def _solve_with_matrices(count: int, claim_id: str, monkeypatch: pytest.MonkeyPatch) -> WorstCase:
    """Return the worst case; each program of several clients must have `count` matrices."""
    asked = []

    def counted(problem: Any, solver: str) -> SolverAnswer:
        from verify.worst_case.modelling import convert_to_program

        program = convert_to_program(problem)
        if len(problem.list_of_functions) > 1:
            asked.append(len(program.sizes))
        return SOLVERS[solver](program)

    monkeypatch.setattr("verify.worst_case._solve", counted)
    found = find_worst_case(find(claim_id), 2, 3)
    assert asked
    assert set(asked) == {count}
    return found


def test_halves_are_even_and_odd_vectors() -> None:
    """Start, optimum, and for each visited point the gradients' sum and difference; the sum vanishes at the optimum."""
    round_ = small_round()
    assert sizes(round_, round_.distance_sq(-1)) == (4, 3)


def test_two_clients_drift_alike() -> None:
    """The average of two clients is the middle, so that constraints on the first client hold for the other too."""
    round_ = small_round()
    assert len(sizes(round_, round_.drifts(-1)[0])) == 2


def test_constraints_on_one_client_stay() -> None:
    """The distance of the first client alone from the optimum stays, and so does a constraint on it alone."""
    round_ = small_round()
    assert len(sizes(round_, (round_.iterates[-1][0] - round_.optimum) ** 2)) == 1
    round_ = small_round()
    round_.problem.add_constraint(round_.own_gradients_sq()[0] <= 1)
    assert len(sizes(round_, round_.distance_sq(-1))) == 1


def test_clients_that_know_other_points_are_left_as_they_are() -> None:
    """A gradient of one client at a place where the other was not asked, or was asked for its own."""
    for asked_too in (False, True):
        round_ = small_round()
        round_.objectives[0].gradient(round_.start + round_.averages[1])
        if asked_too:
            round_.objectives[1].gradient(round_.start - round_.averages[1])
        assert len(sizes(round_, round_.distance_sq(-1))) == 1


@pytest.mark.parametrize("clients", [1, 3])
def test_other_numbers_of_clients_are_left_as_they_are(clients: int) -> None:
    """One matrix of all inner products."""
    round_ = small_round(clients)
    assert len(sizes(round_, round_.distance_sq(-1))) == 1


def test_an_involution_takes_rows_to_each_other() -> None:
    """Blocks in no row stay; there is no involution if a row would have to go to two places."""
    ones, others = np.array([[1.0, 0, 0], [1, 1, 0]]), np.array([[-1.0, 0, 0], [-1, 1, 0]])
    found = find_involution(ones, others)
    assert found is not None
    np.testing.assert_array_equal(found, np.diag([-1, 1, 1]))
    assert find_involution(np.array([[1.0, 0], [2, 0]]), np.array([[0, 1.0], [0, 1]])) is None

"""Numbers of steps in a report, work of reading terms, constants that are not resolved, and names of new symbols."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp

from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.errors import Unresolved
from fedtheory.federation.algorithms import definition
from fedtheory.kernel import Rejected
from fedtheory.kernel.work import NODE, limit_work
from fedtheory.language.claim import Claim, Relation
from fedtheory.planner.description import DataDescription
from fedtheory.proofs.definitions import _name_numbers
from fedtheory.proofs.proof import Proof
from fedtheory.proofs.terms.proof_of_claim import TermProof, check_terms
from fedtheory.proofs.terms.rules.sign import Sign
from fedtheory.proofs.terms.shapes import TYPES

eta, tau = sp.symbols("eta tau", positive=True)


def _prove_nothing(name: str) -> Proof:
    raise Rejected(f"nothing is proved of {name}")


def test_relations_are_numbered_from_one() -> None:
    """Relations are numbered in the order of the claim, and there are as many terms as relations."""
    where = {eta: q.local_step_size, tau: q.local_steps}
    work = (a.same_local_work, a.unit_server_step, a.full_participation)
    relations = (Relation(sp.S.Zero, "<=", eta), Relation(sp.S.One, "<=", tau))
    claim = Claim(id="mine:two", also=relations, where=where, assumptions=work)
    terms = (Sign(eta), Sign(tau - 1))
    steps = list(check_terms(claim, TermProof(claim.id, terms), _prove_nothing))
    assert [(step.text, step.holds) for step in steps] == [("relation 1 follows", True), ("relation 2 follows", True)]
    with pytest.raises(Rejected, match="each of the 2 relations of the claim, got 1"):
        list(check_terms(claim, TermProof(claim.id, terms[:1]), _prove_nothing))
    with pytest.raises(Rejected):
        list(check_terms(claim, TermProof(claim.id, terms[::-1]), _prove_nothing))


@dataclass(frozen=True)
class _Named:
    name: str
    other: str = "none"


def test_every_table_that_is_read_costs_work() -> None:
    """Each table counts as work, so that endless documents are refused before they are read."""
    shape = TYPES.record(_Named)
    with limit_work(None) as meter:
        assert shape.read({"name": "x"}, None, "here") == _Named("x")  # type: ignore[arg-type]
    first = meter.spent
    assert first >= NODE
    with limit_work(None) as meter:
        for _ in range(3):
            shape.read({"name": "x"}, None, "here")  # type: ignore[arg-type]
    assert meter.spent == 3 * first


@pytest.mark.parametrize("resolved", [True, False])
def test_clients_whose_curvature_is_not_resolved(*, resolved: bool) -> None:
    """Each has its summary, without the smallest curvature where floats do not tell it from zero."""

    class Run:
        """Constants of three clients."""

        client_smoothness = np.array([2.0, 3.0, 5.0])

        @property
        def client_strong_convexity(self) -> Any:
            """The smallest curvatures."""
            if not resolved:
                raise Unresolved("too close to zero")
            return np.array([0.5, -1e-18, 1.0])

    matrices = np.array([[[2.0]], [[3.0]], [[4.0]]])
    points = {"start": np.zeros(1), "optimum": np.zeros(1)}
    problem = SimpleNamespace(
        **points, clients=3, gradients=lambda at: at + 3.0, hessians=matrices, hessian=matrices.mean(axis=0)
    )
    given: Any = SimpleNamespace(
        problem=problem,
        run=Run(),
        labels=["a", "b", "c"],
        rows=[[0], [1, 2], [3]],
        kind="least-squares",
        _outputs=np.array([1.0, 2.0, 4.0, 8.0]),
    )
    given._measure_curvature_differences = partial(DataDescription._measure_curvature_differences, given)
    found = [tuple(vars(one).values()) for one in DataDescription.clients.fget(given)]  # type: ignore[attr-defined]
    least = [0.5, 0.0, 1.0] if resolved else [None] * 3
    assert found == [
        ("a", 1, 1.0, 2.0, least[0], 3.0, 1.0),
        ("b", 2, 3.0, 3.0, least[1], 3.0, 0.0),
        ("c", 1, 8.0, 5.0, least[2], 3.0, 1.0),
    ]


def test_new_symbols_of_an_algorithm_are_written_as_its_own() -> None:
    """One symbol for each parameter that the claim does not name, with the letter of the definition."""
    claim = Claim(id="mine:new", lhs=eta, rhs=1, where={eta: q.local_step_size})
    algorithm = definition("fedprox")
    (parameter,) = algorithm.parameters
    (shared, own), (again, _) = _name_numbers(claim, algorithm), _name_numbers(claim, algorithm)
    assert shared[parameter.letter].name == parameter.letter.name
    assert again[parameter.letter] is shared[parameter.letter]
    # Each algorithm has its own.
    assert _name_numbers(claim, replace(algorithm, name="mine"))[0][parameter.letter] != shared[parameter.letter]
    assert all(symbol.name == letter.name for letter, symbol in own.items() if isinstance(symbol, sp.Dummy))

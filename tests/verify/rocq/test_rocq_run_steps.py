"""Statements about steps that use a drift: only a bound on the largest one of all clients says something of each."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp

from fedtheory.kernel import InequalityRef, square
from fedtheory.kernel.expressions import Selected, norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from verify.rocq.export import export_id
from verify.rocq.papers.liu2022.run_steps import _find_bound
from verify.rocq.refusals import NotExported
from verify.rocq.round_scalars import OutcomeScalars

G, K, s, g, eta, tau = sp.symbols("G K s g eta tau", positive=True)
WHERE = {G: q.second_moment, K: q.local_steps, s: q.local_step_size}
DRIFT = 9 * s**2 * (K - 1) * G
OWN = Claim(id="t:steps", lhs=eta, rhs=tau * g, where={eta: q.local_step_size, tau: q.local_steps, g: q.second_moment})


def test_the_bound_on_the_largest_drift_in_other_symbols() -> None:
    found = _find_bound(OWN, Claim(id="t:drift", chain=(q.max_drift, "<=", DRIFT), where=WHERE))
    assert found == 9 * eta**2 * (tau - 1) * g


@pytest.mark.parametrize(
    "chain",
    [
        (q.max_drift, ">=", DRIFT),
        (q.max_drift, "==", DRIFT),
        (q.average_round_drift, "<=", DRIFT),
        (2 * q.max_drift.symbol, "<=", DRIFT),
    ],
    ids=["from below", "an equation", "a mean", "twice it"],
)
def test_other_statements_bound_no_drift(chain: tuple[object, ...]) -> None:
    """An equation would do, and is refused as well: nothing but what is used is read."""
    with pytest.raises(NotExported, match="t:drift does not bound the drift of each client"):
        _find_bound(OWN, Claim(id="t:drift", chain=chain, where=WHERE))


@pytest.mark.parametrize("claim_id", ["liu2022:lemma-1.run", "liu2022:thm-1.run"])
def test_the_second_moment_of_a_run_bounds_its_own_steps_only(claim_id: str) -> None:
    """The sequence of steps in Rocq has no end, and gradients after the run may be larger than those in it."""
    hypotheses = {one.name: one.type for one in export_id(claim_id).theorem.binders}
    of_run = "forall n k, (n < rounds_of A)%nat -> (k < steps_of A)%nat -> bounded_second_moment (step_at A n k) G_run"
    assert hypotheses["second_moment_in_run_A"] == of_run


def test_only_squares_of_participants_are_facts_of_a_draw() -> None:
    """Other inequalities about participants, and squares of vectors of all clients, are refused."""
    v = sp.Symbol("v", real=True)
    writer: Any = SimpleNamespace(reader=SimpleNamespace(vocabulary=None))
    for reason in (square(v), square(norm_sq(v) * v), InequalityRef("cocoercivity", (Selected(v), v))):
        assert OutcomeScalars.list_participant_facts(writer, reason) is None
    writer.reader.vocabulary = SimpleNamespace(claim=OWN)
    with pytest.raises(NotExported, match="normalised step sizes"):
        OutcomeScalars.list_participant_facts(writer, square(Selected(v)))

"""Claims as papers write them: kinds and verdicts by name, one link or several, corrected versions."""

from __future__ import annotations

from typing import get_args

import pytest
import sympy as sp

from fedtheory import quantities as q
from fedtheory.language.claim import Claim, Kind
from fedtheory.language.statements import Notation, Statements

eta = sp.Symbol("eta", positive=True)
claim = Statements("t", {eta: q.local_step_size}, conditions=[eta <= 1])


def test_a_notation_maps_its_symbols_to_quantities() -> None:
    """A symbol has the given LaTeX, else that of its quantity; a notation without it leaves the first one as it is."""
    notation = Notation({eta: q.local_step_size})
    clients, rounds = notation.add(q.clients, positive=True), notation.add(q.rounds, r"\rho", integer=True)
    assert clients == sp.Symbol(q.clients.latex, positive=True)
    assert rounds == sp.Symbol(r"\rho", integer=True)
    assert notation == {eta: q.local_step_size, clients: q.clients, rounds: q.rounds}
    assert notation.without([eta, rounds]) == {clients: q.clients}
    assert len(notation) == 3


@pytest.mark.parametrize("verdict", ["proved", "supported", "asymptotic", "refuted"])
@pytest.mark.parametrize("kind", get_args(Kind))
def test_a_claim_has_the_kind_and_the_verdict_of_its_name(kind: str, verdict: str) -> None:
    made = getattr(getattr(claim, verdict), kind)("one")(lhs=eta, rhs=2 * eta)
    assert (made.kind, made.verdict, made.conditions) == (kind, verdict, (eta <= 1,))
    assert made.notation == {eta: q.local_step_size}


def test_definitions_have_their_own_verdict() -> None:
    assert claim.algorithm("one")().verdict == "definition"
    assert claim.bound("one")().verdict is None


def test_another_kind_is_named() -> None:
    with pytest.raises(AttributeError, match=r"expected a kind of claim .*, got 'theorem'"):
        _ = claim.proved.theorem


def test_a_chain_of_one_link_is_two_sides() -> None:
    made = Claim(id="t:one", chain=(eta, ">=", 2 * eta))
    assert (made.lhs, made.relation, made.rhs, made.chain) == (eta, ">=", 2 * eta, ())


def test_a_correction_copies_the_unchanged_fields() -> None:
    printed, repaired = claim.refuted.step("one", "One", "(1)")(
        chain=(eta, ">=", 2 * eta), place="step", note="False.", printed="p"
    ).with_repair(rhs=eta / 2, verdict="proved")
    assert (printed.id, printed.verdict, printed.corrects) == ("t:one", "refuted", None)
    assert (repaired.id, repaired.title, repaired.locator) == ("t:one.fixed", "One, corrected", "(1), corrected")
    assert (repaired.corrects, repaired.verdict, repaired.kind, repaired.place) == ("t:one", "proved", "step", "step")
    (link,) = repaired.relations
    assert (link.left, link.operator, link.right) == (eta, ">=", eta / 2)
    assert (repaired.note, repaired.printed, repaired.conditions) == ("", None, (eta <= 1,))


def test_a_repair_may_state_several_links() -> None:
    _, repaired = claim.refuted.step("one")(lhs=eta, rhs=0).with_repair(chain=(0, "<=", eta, "<=", 1))
    assert [(link.left, link.right) for link in repaired.relations] == [(0, eta), (eta, 1)]

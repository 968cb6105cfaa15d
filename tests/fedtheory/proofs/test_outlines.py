"""Outlines of certificates show the checked steps."""

from __future__ import annotations

from random import Random

import pytest
import sympy as sp

from fedtheory.kernel.expressions import ClientSum, Expr
from fedtheory.kernel.identities import is_same
from fedtheory.kernel.quotients import is_zero
from fedtheory.language.registry import find
from fedtheory.proofs import Certificate, Combination, certificates
from fedtheory.proofs.cases import Cases
from fedtheory.proofs.certificate import BothWays, build_known_context
from fedtheory.proofs.induction import POWER
from fedtheory.proofs.links import Positive, Products
from fedtheory.proofs.outline import Outline, document, outline
from fedtheory.proofs.plain_symbols import use_plain_symbols


def _is_rational(expression: Expr) -> bool:
    """Return whether an expression is a rational function of its symbols."""
    return not expression.has(ClientSum) and all(power.exp.is_integer for power in expression.atoms(sp.Pow))


def _sums(claim_id: str) -> list[tuple[Expr, Expr]]:
    """Return the slack of each relation, and the displayed sum."""
    claim, shown = find(claim_id), outline(find(claim_id))
    assert shown is not None
    by_statement = {group.statement: group for group in shown.groups}
    plain = use_plain_symbols(claim)
    with claim.typesetting():
        groups = [by_statement[relation.latex] for relation in plain.relations]
    totals = [sp.Add(*(entry.coefficient * entry.factor for entry in group.entries)) for group in groups]
    return list(zip((relation.slack for relation in plain.relations), totals, strict=True))


COMBINATIONS = [claim_id for claim_id, found in certificates().items() if isinstance(found, Combination)]


@pytest.mark.long
@pytest.mark.parametrize("claim_id", COMBINATIONS)
def test_the_entries_of_a_sum_add_up(claim_id: str) -> None:
    """The displayed coefficients times terms sum to the slack of each relation."""
    for slack, total in _sums(claim_id):
        if _is_rational(slack) and _is_rational(total):
            assert is_zero(slack - total)


def _show(claim_id: str) -> Outline:
    shown = outline(find(claim_id))
    assert shown is not None
    return shown


def _at_random(expression: Expr, values: dict[sp.Symbol, sp.Rational]) -> sp.Rational:
    """Return a rational function at random positive rationals."""
    for symbol in sorted(expression.free_symbols, key=str):
        values.setdefault(symbol, sp.Rational(Random(str(symbol)).randint(2, 40), 7))
    return sp.nsimplify(expression.xreplace(values))


@pytest.mark.parametrize("claim_id", COMBINATIONS[::3])
def test_the_entries_of_a_sum_add_up_at_a_point(claim_id: str) -> None:
    """The displayed coefficients times terms sum to the slack of each relation, at random numbers."""
    for slack, total in _sums(claim_id):
        if _is_rational(slack) and _is_rational(total):
            values: dict[sp.Symbol, sp.Rational] = {}
            assert _at_random(slack, values) == _at_random(total, values)


LINKS = [
    (claim_id, number)
    for claim_id, found in certificates().items()
    if isinstance(found, Certificate) and claim_id.startswith(("comparator", "fraboni2022", "lecture27", "renard2022"))
    if find(claim_id).place != "run"
    for number, link in enumerate(found.links)
    if isinstance(link, list | tuple | BothWays)
]


@pytest.mark.parametrize(("claim_id", "number"), LINKS[::4])
def test_the_entries_of_a_link_add_up(claim_id: str, number: int) -> None:
    """For vectors, the displayed sum and the slack have one normal form; an equation shows both directions."""
    claim, certificate = use_plain_symbols(find(claim_id)), certificates()[claim_id]
    assert isinstance(certificate, Certificate)
    relation, link = claim.relations[number], certificate.links[number]
    context = build_known_context(claim, relation, certificate.roots, [find(name) for name in certificate.lemmas])
    entries = _show(claim_id).groups[number].entries
    parts = [entry.coefficient * entry.factor for entry in entries]
    halves = [parts[: len(link.at_most)], parts[len(link.at_most) :]] if isinstance(link, BothWays) else [parts]
    for half, sign in zip(halves, (1, -1), strict=False):
        assert is_same(sp.Add(*half), sign * relation.slack, context)


def test_products_are_shown_with_their_facts() -> None:
    """The slack of each link is a sum of products of the named facts."""
    claim_id = "lecture27:smooth-property-2"
    certificate = certificates()[claim_id]
    assert isinstance(certificate, Certificate)
    shown = _show(claim_id).groups
    for link, group in zip(certificate.links, shown, strict=False):
        if isinstance(link, Products):
            assert [entry.coefficient for entry in group.entries] == [sp.sympify(p.coefficient) for p in link.parts]
            assert [entry.reason for entry in group.entries] == [", ".join(part.facts) for part in link.parts]
        elif isinstance(link, Positive):
            assert [entry.coefficient for entry in group.entries] == [1]
    assert sum(isinstance(link, Products) for link in certificate.links) > 0


def test_powers_are_written_out_in_inductions() -> None:
    """The symbol that stands for (1 + L eta)^k in an induction is shown as that power."""
    entries = [entry for group in _show("lecture27:thm-1.g").groups for entry in group.entries]
    parts = [part for entry in entries for part in (entry.coefficient, entry.factor)]
    assert not any(part.has(POWER) for part in parts)
    assert any(not power.exp.is_number for part in parts for power in part.atoms(sp.Pow))


def test_each_case_names_its_largest_number() -> None:
    (claim_id,) = (one for one, found in certificates().items() if isinstance(found, Cases))
    certificate = certificates()[claim_id]
    assert isinstance(certificate, Cases)
    statements = [group.statement for group in _show(claim_id).groups]
    half = len(statements) // 2
    endings = [
        {statement.split(r",\quad\text{where }")[1] for statement in part}
        for part in (statements[:half], statements[half:])
    ]
    assert [len(ending) for ending in endings] == [1, 1]
    assert endings[0] != endings[1]
    assert all(statement.endswith(r"\text{ is largest}") for statement in statements)


def test_entries_are_listed_with_the_number_of_their_link() -> None:
    shown = _show("lecture27:thm-1.g")
    rows = document(shown)
    counts = [len(group.entries) for group in shown.groups]
    assert [row["link"] for row in rows] == [0] * counts[0] + [1] * counts[1]
    assert {row["statement"] for row in rows} == {group.statement for group in shown.groups}
    assert [row["reason"] for row in rows] == [e.reason for group in shown.groups for e in group.entries]


def test_unproved_claims_have_no_outline() -> None:
    assert outline(find("renard2022:lemma-2.2")) is None

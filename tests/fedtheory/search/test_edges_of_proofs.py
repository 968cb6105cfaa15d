"""Edge cases of the proof search, against values by hand: termination, omissions, and contents of documents."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from own_claims import CONVEX, LOOSE, L, M, error_bound, eta, sigma, tau

from fedtheory import quantities as q
from fedtheory.kernel import Numbers, Rejected
from fedtheory.kernel.expressions import Average, Gradient, Value, norm_sq
from fedtheory.kernel.quotients import ONE, quotient
from fedtheory.language.claim import Relation
from fedtheory.language.registry import find
from fedtheory.proofs.certificate import BothWays
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.search import (
    NotFound,
    blocks,
    candidates,
    certificate_terms,
    chains,
    coefficients,
    contractions,
    premises,
    remainders,
    restated,
)
from fedtheory.search.blocks import SHARED, Blocks
from fedtheory.search.certificate_terms import find_link
from fedtheory.search.dimensions import Dimensions
from fedtheory.search.positivity import SignFacts, split_into_products, split_with_squares
from fedtheory.search.proof_outcome import Found
from fedtheory.search.samples import Samples, draw_inner_points, draw_samples, is_feasible
from fedtheory.search.workspace import le
from verify import searches

NUMBERS = Numbers(symbols=frozenset({eta, L, sigma, tau, M}), at_least={tau: 1, M: 2}, integer=frozenset({tau, M}))
SIGNS = SignFacts(NUMBERS, [eta <= 1 / (4 * L)])
PROVED = Found(SimpleNamespace(), ["known"], (), 1)  # type: ignore[arg-type]
OPEN = NotFound("nothing")


@pytest.mark.parametrize("family", [chains.search_chains, certificate_terms.search_terms])
def test_assumptions_are_supposed_one_by_one_until_a_proof_is_found(
    family: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first attempt has no additional assumption; the search stops at the first proof, and reports the last
    reason.
    """
    module: Any = chains if family is chains.search_chains else certificate_terms
    monkeypatch.setattr(chains, "_is_fit", lambda _: True)
    monkeypatch.setattr(module, "list_supposable", lambda _: ["a", "b"])
    for proved_by, tried in (((), [()]), (("a",), [(), ("a",)]), (("c",), [(), ("a",), ("b",)])):
        asked: list[Any] = []

        def search(_: Any, missing: Any, asked: list[Any] = asked, proved_by: Any = proved_by) -> Any:
            asked.append(missing)
            return PROVED if missing == proved_by else NotFound(f"not by {missing}")

        monkeypatch.setattr(module, "_search", search)
        monkeypatch.setattr(certificate_terms, "_search_by_lemmas", lambda _: NotFound("no lemma"))
        found = family(None)
        assert asked == tried
        assert found == (PROVED if tried[-1] == proved_by else NotFound("not by ('b',)"))


def test_claims_that_are_no_bound_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chains, "_is_fit", lambda _: False)
    monkeypatch.setattr(chains, "_search", lambda *_: PROVED)
    assert isinstance(chains.search_chains(None), NotFound)  # type: ignore[arg-type]


def test_a_claim_without_a_proof_comes_back_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = error_bound(LOOSE)
    monkeypatch.setattr(searches, "find_proof", lambda *_: OPEN)
    proof, rest = searches.search_proof(claim)
    assert proof is None
    assert rest is claim
    assert searches.find_premises(claim) is None


def test_facts_with_a_condition_need_an_equation_for_it() -> None:
    """A fact with a condition needs an equation, such as a count of one, on either side."""
    claim = use_plain_symbols(error_bound(LOOSE))
    names = {quantity: symbol for symbol, quantity in claim.notation.items()}
    steps = names[q.local_steps]

    def is_where(where: sp.Expr, *conditions: sp.Expr, quantities: Any = frozenset()) -> bool:
        fact: Any = SimpleNamespace(where=where, quantities=frozenset(quantities), zero_condition=lambda _: where)
        given: Any = SimpleNamespace(conditions=conditions, where=claim.where, notation=claim.notation)
        return premises.has_required_equation(fact, None, given)  # type: ignore[arg-type]

    assert is_where(sp.S.Zero)
    assert is_where(sp.S.Zero, quantities=[q.max_drift])
    assert not is_where(steps - 1)
    assert is_where(steps - 1, sp.Eq(steps, 1))
    assert is_where(steps - 1, sp.Eq(2, steps + 1))
    assert not is_where(steps - 1, sp.Eq(steps, 2))
    assert not is_where(steps - 1, sp.Le(steps, 1))
    assert not is_where(steps - 1, sp.Eq(steps, 1), quantities=[q.max_drift])


def test_only_orderings_are_met_by_samples() -> None:
    """Equations and inequations are not conditions for random samples."""
    strange = [sp.Ne(eta, 5), sp.Ne(eta, 1, evaluate=False), sp.Eq(eta, L)]
    assert is_feasible({eta: sp.Integer(3), L: sp.Integer(1)}, NUMBERS, strange)
    assert is_feasible({eta: sp.Integer(1), L: sp.Integer(3)}, NUMBERS, strange)
    assert draw_inner_points([eta, L], NUMBERS, strange, 9).at.shape == (2, 9)
    assert draw_samples([eta, L], NUMBERS, strange, 9).at.shape == (2, 9)


def test_numbers_of_clients_are_drawn_once() -> None:
    own = sp.Symbol("p", positive=True)
    numbers = Numbers(symbols=frozenset((eta,)), of_clients=frozenset((own,)))
    drawn = draw_inner_points([own, eta], numbers, [], 4)
    assert list(drawn.symbols) == [eta]
    assert list(drawn.of_clients) == [own]
    averaged = draw_inner_points([own, eta], numbers, [sp.Le(Average(own), eta)], 4, single_client=True)
    assert list(averaged.of_clients) == [own]


def test_points_are_rational() -> None:
    """Powers of two and their inverses are exact, and thirds are found."""
    points = Samples([eta, L], np.array([[0.25, 1 / 3], [8.0, 1e-3]]))
    assert points.point(0) == {eta: sp.Rational(1, 4), L: sp.Integer(8)}
    assert points.point(1) == {eta: sp.Rational(1, 3), L: sp.Rational(1, 1000)}


def test_counts_are_counted_from_their_least() -> None:
    """(tau - 1)(1 - 4 eta L) and (M - 2)(tau - 1) have a unique sum of products; each summand has its value."""
    for number in ((tau - 1) * (1 - 4 * eta * L), (M - 2) * (tau - 1) ** 2 * sigma, (tau - 1) ** 3):
        found = split_into_products(sp.expand(number), SIGNS)
        assert found is not None
        assert sp.expand(sp.Add(*found) - number) == 0
    for number in (tau - 2, M - 3, (M - 2) * (tau - 2)):
        assert split_into_products(sp.expand(number), SIGNS) is None


def test_remainders_of_squares_are_sums_of_products() -> None:
    """Coefficients with an evident sign are removed first; products cover the remainder."""
    for rest in (sigma, (tau - 1) * (1 - 4 * eta * L)):
        number = sp.expand((sigma - L) ** 2 + rest)
        found = split_with_squares(number, SIGNS)
        assert found is not None
        assert sp.expand(sp.Add(*found) - number) == 0
        assert (sigma - L) ** 2 in found or (L - sigma) ** 2 in found


def test_long_denominators_are_refused() -> None:
    """Products of numbers with long denominators are rejected, because their length adds up."""
    symbols = sp.symbols("p_0:64", positive=True)
    long, longer = (quotient(1 / sp.Add(*symbols[:count])) for count in (63, 64))
    assert blocks.multiply_numbers(long, long)
    with pytest.raises(Rejected, match="more than 4000 terms"):
        blocks.multiply_numbers(long, longer)
    with pytest.raises(Rejected, match="more than 4000 terms"):
        blocks.add_numbers(longer, ONE * longer)


def test_equations_are_shown_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    """Identities need no terms; an equation is not proved if one direction has no terms."""
    x, y = sp.symbols("x y")
    answers: dict[tuple[Any, Any], Any] = {}
    monkeypatch.setattr(
        certificate_terms, "find_terms", lambda _, relation, _lemmas: answers[relation.left, relation.right]
    )

    def link(there: Any, back: Any, operator: Any = "==") -> Any:
        answers.update({(x, y): there, (y, x): back})
        return find_link(None, Relation(x, operator, y))  # type: ignore[arg-type]

    assert link([], []) == []
    for there, back in ((["a"], ["b"]), (["a"], []), ([], ["b"])):
        both = link(there, back)
        assert isinstance(both, BothWays)
        found: list[Any] = [both.at_most, both.at_least]
        assert found == [there, back]
    assert link(None, ["b"]) is link(["a"], None) is link(None, []) is link([], None) is None
    assert link(["a"], None, "<=") == ["a"]
    assert link(["a"], None, ">=") == ["a"]
    assert link(["a"], ["b"], "<") is None


def test_squares_and_a_number_alone() -> None:
    """A number is a term if it is not zero; rows and negative numbers need more."""
    x = sp.Symbol("x", real=True)
    context: Any = SimpleNamespace(numbers=NUMBERS, means={})
    square = {(SHARED, x, x): ONE}
    one = sp.S.One

    def alone(rows: Any) -> Any:
        found = certificate_terms._show_alone(
            Blocks({row: quotient(n) for row, n in rows.items()}, square), context, SIGNS
        )
        return None if found is None else [(term.reason.kind, term.coefficient) for term in found]

    assert alone({}) == [("square", 1)]
    assert alone({one: 3 * eta}) == [("square", 1), ("one", 3 * eta)]
    assert alone({one: -eta}) is None
    assert alone({sp.Symbol("F"): ONE.expression}) is None


def test_products_of_a_known_dimension() -> None:
    """All products are used if the dimension of a symbol is not known."""
    dimensions = Dimensions(error_bound(LOOSE))
    powers = np.array([(1, 0), (0, 1), (1, 1), (0, 0)])

    def fits(symbols: Any, expected: Any) -> list[bool]:
        found = dimensions.fit(symbols, powers, expected)
        assert found.shape == (4, 1)
        return [bool(one) for one in found[:, 0]]

    assert fits([eta, L], (0, 0)) == [False, False, True, True]
    assert fits([eta, L], (2, -1)) == [True, False, False, False]
    assert fits([eta, L], None) == [True] * 4
    assert fits([eta, sp.Symbol("new")], (0, 0)) == [True] * 4


def test_plausible_remainders_are_not_called_false(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search for numbers below all bounds starts only if every remainder is refuted."""
    monkeypatch.setattr(remainders, "prove_remainder", lambda *_: None)
    monkeypatch.setattr(remainders, "_find_below", lambda _: {eta: 1})

    def remainder(number: sp.Expr) -> Any:
        goal = SimpleNamespace(signs=SignFacts(NUMBERS, []))
        return SimpleNamespace(goal=goal, number=number, parts=[])

    refuted, plausible, averaged = remainder(-eta), remainder(eta), remainder(Average(eta) - L)
    for some, below in (([refuted], {eta: 1}), ([refuted, plausible], None), ([averaged], None), ([plausible], None)):
        found = remainders.search_products(some)
        assert isinstance(found, NotFound)
        assert found.below == below


def test_known_lemmas_are_not_searched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []
    monkeypatch.setattr(contractions, "certify_step", lambda claim, _: searched.append(claim.id))
    for name, found in (("there", "there"), ("new", None)):
        searched.clear()
        work: Any = SimpleNamespace(proofs={"there": 1}, claim_of=lambda _, name=name: SimpleNamespace(id=name))
        statement: Any = SimpleNamespace(relation=None)
        assert contractions._prove_step(work, statement) == found
        assert searched == ([] if found else [name])


def test_the_largest_drift_is_averaged_over_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    """2 eta L V is at most 2 eta L times its bound, plus the noise; without a bound there is no term."""
    bound = sp.Symbol("bound")
    monkeypatch.setattr(contractions, "_find_numbers", lambda _: (eta, sp.Symbol("mu"), L))
    monkeypatch.setattr(contractions, "_list_conditions", lambda _: ["small"])
    monkeypatch.setattr(contractions, "_average_noise", lambda _: sigma)
    relation = le(sp.Symbol("drift"), bound)
    work: Any = SimpleNamespace(
        claim=None, proofs={"lemma": SimpleNamespace(claim=SimpleNamespace(relations=[relation]))}
    )
    for towards, there, count in (("t", "lemma", 2), (None, "lemma", 0), ("t", None, 0)):
        monkeypatch.setattr(contractions, "_prove_progress", lambda _, towards=towards: towards)
        monkeypatch.setattr(contractions, "restate", lambda *_, there=there: there)
        kinds = list(contractions._bound_by_largest_drift(work))
        assert len(kinds) == count
        for kind in kinds:
            assert (list(kind.lemmas), kind.conditions, kind.potential) == (["t", "lemma"], ["small"], 0)
            assert sp.expand(kind.offset - sigma - 2 * eta * L * bound) == 0
            first, second = kind.terms
            assert (first.coefficient, first.averaged) == (1, False)
            assert (second.coefficient, second.averaged) == (2 * eta * L, True)


def test_lemmas_at_the_optimum_have_a_name_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """One claim about a comparator and about the optimum becomes two lemmas with different names."""
    named: list[str] = []

    def lemma_id(_: Any, name: str) -> str:
        named.append(name)
        raise Rejected("seen")

    monkeypatch.setattr(restated, "lemma_id", lemma_id)
    work: Any = SimpleNamespace(claim=None)
    for words in ({}, {"iterations": "(local_steps*rounds)"}, restated.AT_OPTIMUM):
        with pytest.raises(Rejected):
            restated.restate(work, "renard2022:lemma-2.3.sharp", words)
    assert named == ["renard2022-lemma-2-3-sharp"] * 2 + ["at-optimum-renard2022-lemma-2-3-sharp"]


def test_one_quantity_at_a_comparator_is_enough_for_the_optimum() -> None:
    """A bound with a comparator is restated for the comparator and the optimum, each with two ways to count steps."""
    name = "comparator:average-error"
    with_noise = [step.replacements for step in chains._list_steps_by(find(name)) if step.fits_noise]
    counted = [(len(each) > 1, "iterations" in each) for each in with_noise]
    assert counted == [(False, False), (False, True), (True, False), (True, True)]
    plain = [
        ("comparator" in step.replacements, "iterations" in step.replacements)
        for step in chains._list_steps_by(find("liu2022:thm-1"))
    ]
    assert plain == [(False, False), (False, True)]


def test_points_of_candidates_are_in_order() -> None:
    """Candidates have the same order on every machine: pairs of points are sorted by name."""
    x, y, z, f = sp.symbols("x y z F", real=True)
    relation = Relation(Value(f, x) + Value(f, z), "<=", 2 * Value(f, y))
    context: Any = SimpleNamespace(
        means={}, client_objectives=frozenset(), minimisers={}, visited=frozenset(), definitions={}, assumed=[]
    )
    context.convex, context.smooth, context.strongly_convex, context.objectives = {f}, {}, {}, {f}
    patches = {"differs": lambda *_: False, "write_form": lambda one: one, "vector": lambda one, _: one}
    with pytest.MonkeyPatch.context() as patch:
        for one, instead in patches.items():
            patch.setattr(candidates, one, instead)
        patch.setattr(candidates, "use_average_gradients", lambda one, _: one)
        found = [
            one for one in candidates._list_inequalities(context, {}, relation, False, []) if one.kind == "convexity"
        ]
    assert [one.about[1:] for one in found] == [(x, y), (x, z), (y, x), (y, z), (z, x), (z, y)]


def test_terms_of_documents_name_the_quantities_that_lemmas_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Added terms appear without lemmas, named ones with lemmas; empty lists are omitted."""
    monkeypatch.setattr(remainders, "document_of", lambda *_: {"parts": ["drift"]})
    work: Any = SimpleNamespace(entries=lambda names: [f"lemma about {name}" for name in names])

    def document(quantities: list[str], names: list[str], workspace: Any, *stated: Any) -> Any:
        claim = SimpleNamespace(notation={one: SimpleNamespace(name=one) for one in stated})
        goal: Any = SimpleNamespace(claim=claim, quantities=quantities, workspace=workspace)
        return remainders._write_document(goal, None, names)  # type: ignore[arg-type]

    assert document(["drift", "noise"], [], None) == {"parts": ["drift"], "quantities": ["drift", "noise"]}
    assert document([], [], None) == {"parts": ["drift"]}
    assert document(["drift", "noise"], [], work) == {"parts": ["drift"], "quantities": ["drift", "noise"]}
    whole = document(["drift", "noise", "gap"], ["gap"], work)
    assert whole == {"parts": ["drift"], "quantities": ["drift", "gap"], "lemmas": ["lemma about gap"]}
    assert document(["noise"], ["gap"], work) == {"parts": ["drift"], "lemmas": ["lemma about gap"]}
    named = {"parts": ["drift"], "quantities": ["noise"], "lemmas": ["lemma about gap"]}
    assert document(["noise"], ["gap"], work, "noise") == named


def test_numbers_that_equations_replace() -> None:
    """2 a + b with a = b - 1 is 3 b - 2; a symbol under a root is kept."""
    one, other = sp.symbols("a b", positive=True)
    premise: Any = SimpleNamespace(written=one - other + 1, name="equation")
    goal: Any = SimpleNamespace(signs=SIGNS)

    def left(number: sp.Expr) -> Any:
        remainder = remainders.Remainder(goal, [], quotient(number), number)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(remainders, "_list_replaceable", lambda *_: [(premise, one, other - 1)])
            premise.form = {sp.S.One: quotient(premise.written)}
            return remainders._replace_vanishing(remainder, [])

    replaced = left(2 * one + other)
    assert sp.expand(replaced.number - 3 * other + 2) == 0
    assert len(replaced.parts) == 1
    assert not left(other + 1).parts
    assert not left(sp.sqrt(one) + other).parts


def test_conditions_solved_for_the_step_size_replace_those_of_the_claim() -> None:
    """Divisors that a certificate needs are allowed; curvatures that may be zero are not."""
    assert remainders.make_goal(error_bound(LOOSE, assumptions=CONVEX), []).relaxed is None
    assert remainders.make_goal(error_bound(LOOSE, [4 * L * eta <= 1]), []).relaxed is None
    relaxed = remainders.make_goal(error_bound(LOOSE, [4 * L * eta <= 1], assumptions=CONVEX), []).relaxed
    assert relaxed is not None
    assert {str(one) for one in relaxed} >= {"eta <= 1/(4*L)"}


def test_norms_have_the_dimension_of_their_vectors() -> None:
    x, objective = sp.symbols("x F", real=True)
    dimensions = Dimensions(error_bound(LOOSE))
    for vector, number, expected in ((x, L, (-1, 1)), (Gradient(objective, x), sp.S.One, (-1, 1)), (x, eta, (3, -1))):
        norm = sp.sqrt(norm_sq(vector))
        assert dimensions.find_dimension(Blocks({norm: quotient(number)}, {})) == expected
    assert dimensions.find_dimension(Blocks({Value(objective, x): ONE}, {})) == (0, 1)
    assert dimensions.find_dimension(Blocks({sp.S.One: ONE}, {})) == (0, 0)
    assert dimensions.find_dimension(Blocks({sp.Symbol("other"): ONE}, {})) is None


def test_only_proved_bounds_on_runs_are_premises() -> None:
    """Refuted claims, steps, rates, and claims without certificate are no premises."""
    known = premises._list_bounds()
    assert "renard2022:thm-2.1" in known
    for name in known:
        claim = find(name)
        assert (claim.verdict, claim.place, claim.rate) == ("proved", "run", None)
    assert q.average_suboptimality in known["renard2022:thm-2.1"]


@pytest.mark.parametrize(
    ("equations", "solvable", "ends"), [([], False, True), (["x"], True, True), (["x"], False, False)]
)
def test_systems_are_reduced_until_an_equation_fails(equations: Any, solvable: int, ends: bool) -> None:
    left = list(equations)
    system: Any = SimpleNamespace(rest=lambda: None, impose=lambda _: bool(solvable) and left.pop() is not None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coefficients, "_list_equations", lambda _: list(left))
        assert coefficients.cancel_linear_parts(system) is ends

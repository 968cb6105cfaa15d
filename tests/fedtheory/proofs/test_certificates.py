"""Every certificate is accepted, and rejected after a change of a coefficient, sign, inequality or condition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from fedtheory.kernel import Step, Term, assumption, square
from fedtheory.kernel.expressions import Expectation, Gradient, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Rate, Relation
from fedtheory.language.registry import find
from fedtheory.proofs import (
    Certificate,
    Combination,
    MeanCertificate,
    Proof,
    Recursion,
    certificates,
    check_certificate,
    prove,
)
from fedtheory.proofs.certificate import BothWays
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.links import Induction, Nonnegative, Positive, PrefixSum, Products, Squared

IDS = sorted(certificates())
TERMS = {claim_id: found for claim_id, found in certificates().items() if isinstance(found, Certificate)}
MEANS = {claim_id: found for claim_id, found in certificates().items() if isinstance(found, MeanCertificate)}
SUMS = {claim_id: found for claim_id, found in certificates().items() if isinstance(found, Combination)}
RECURSIONS = {claim_id: found for claim_id, found in certificates().items() if isinstance(found, Recursion)}
CHANGES = (2, sp.Rational(1, 2), -1)


@pytest.mark.long
@pytest.mark.parametrize("claim_id", IDS)
def test_the_kernel_accepts(claim_id: str) -> None:
    """The certificate proves the claim as encoded, and the claim is recorded as proved."""
    proof = prove(find(claim_id))
    assert proof.verdict == "proved", [step for step in proof.steps if not step.holds]
    assert find(claim_id).verdict == "proved"


def test_claims_recorded_as_proved_have_a_certificate() -> None:
    """No claim is recorded as proved without one."""
    from fedtheory.language.registry import all_claims

    assert {claim.id for claim in all_claims().values() if claim.verdict == "proved"} == set(IDS)


def changed(items: Sequence[Any]) -> Iterator[list[Any]]:
    """Yield terms or parts with one of them removed, doubled, halved, or negated."""
    for place, item in enumerate(items):
        before, after = items[:place], items[place + 1 :]
        yield [*before, *after]
        yield from ([*before, replace(item, coefficient=factor * item.coefficient), *after] for factor in CHANGES)


def is_broken(claim: Claim, certificate: Any) -> bool:
    """Return whether some step fails."""
    return not all(step.holds for step in check_certificate(claim, certificate).steps)


def mutants(certificate: Any) -> Iterator[Any]:
    """Yield certificates with one changed coefficient."""
    for number, items in enumerate(certificate.links):
        others = certificate.links[:number], certificate.links[number + 1 :]
        if any(items is other for other in others[0]):
            # Both links have the same induction.
            continue
        mutated = CHANGED.get(type(items), changed)(items)
        yield from (replace(certificate, links=[*others[0], found, *others[1]]) for found in mutated)


def changed_inductions(induction: Induction) -> Iterator[Induction]:
    """Yield inductions with a changed coefficient, factor, offset or bound."""
    yield from (replace(induction, terms=terms) for terms in changed(induction.terms))
    yield from (replace(induction, first=terms) for terms in changed(induction.first or ()))
    yield from (replace(induction, start=terms) for terms in changed(induction.start))
    for change in CHANGES:
        yield replace(induction, factor=change * induction.factor)
        yield from [replace(induction, offset=change * induction.offset)] * (induction.offset != 0)
        yield replace(induction, bound=change * induction.bound)
    yield replace(induction, measured=2 * induction.measured)
    if induction.first is not None:
        yield replace(induction, first=None)


def changed_squares(squared: Squared) -> Iterator[Squared]:
    """Yield squares with a changed coefficient, or of another term."""
    yield from (replace(squared, terms=terms) for terms in changed(squared.terms))
    for change in CHANGES:
        yield replace(squared, bound=change * squared.bound)
        yield replace(squared, length=change * squared.length)


def changed_products(products: Products) -> Iterator[Products]:
    """Yield products with a changed coefficient, or of other facts."""
    yield from (replace(products, parts=parts) for parts in changed(products.parts))
    yield from [replace(products, divided_by=products.divided_by[1:])] * bool(products.divided_by)
    for name, fact in products.facts.items():
        if isinstance(fact, Nonnegative):
            mutated = [replace(fact, terms=terms) for terms in changed(fact.terms)]
            mutated += [replace(fact, slack=change * fact.slack) for change in CHANGES]
            yield from (replace(products, facts={**products.facts, name: other}) for other in mutated)


def changed_equations(equation: BothWays) -> Iterator[BothWays]:
    """Yield equations with a changed coefficient in one direction."""
    yield from (replace(equation, at_most=terms) for terms in changed(equation.at_most))
    yield from (replace(equation, at_least=terms) for terms in changed(equation.at_least))


CHANGED: dict[type, Any] = {
    BothWays: changed_equations,
    Induction: changed_inductions,
    Squared: changed_squares,
    Products: changed_products,
    Positive: lambda _items: (),
    PrefixSum: lambda _items: (),
}
"""Functions that change links that are no sums of terms."""


LONG = {
    "vlaski2023:thm-5.1.recursion.explicit",
    "vlaski2023:eq-5.61.fixed",
    "vlaski2023:eq-5.62.explicit",
    "vlaski2023:eq-5.59-5.60",
    "lecture27:thm-1.g",
    "fraboni2022:lemma-2.fixed",
    "fraboni2022:lemma-3.eq-64-66.fixed",
}
"""Certificates with many coefficients, for which a change of each takes long."""


def one_each(found: Iterator[Any]) -> Iterator[Any]:
    """Yield a quarter of the changes, with the ways of changing in turn."""
    for number, mutant in enumerate(found):
        if number % 4 == number // 4 % 4:
            yield mutant


@pytest.mark.long
@pytest.mark.parametrize("claim_id", [name for name in TERMS | SUMS if name not in LONG])
def test_no_mutant_survives(claim_id: str) -> None:
    """A change of a coefficient breaks the identity."""
    for mutant in one_each(mutants((TERMS | SUMS)[claim_id])):
        assert is_broken(find(claim_id), mutant)


@pytest.mark.slow
@pytest.mark.parametrize("claim_id", TERMS | SUMS)
def test_no_mutant_of_any_kind_survives(claim_id: str) -> None:
    """Every other change is rejected as well."""
    for mutant in mutants((TERMS | SUMS)[claim_id]):
        assert is_broken(find(claim_id), mutant)


def mutated_recursions(certificate: Recursion) -> Iterator[Recursion]:
    """Yield recursions with a changed coefficient, factor or offset, or a smaller bound or sum."""
    yield from (replace(certificate, terms=terms) for terms in changed(certificate.terms))
    yield from (replace(certificate, first=terms) for terms in changed(certificate.first or ()))
    for factor in CHANGES:
        yield replace(certificate, factor=factor * certificate.factor)
        yield replace(certificate, offset=factor * certificate.offset)
        if certificate.total is not None:
            yield replace(certificate, total=factor * certificate.total)
    yield replace(certificate, bound=certificate.bound / 2)
    yield replace(certificate, bound=-certificate.bound)
    yield replace(certificate, first=None if certificate.first is not None else certificate.terms)


@pytest.mark.long
@pytest.mark.parametrize("claim_id", RECURSIONS)
def test_no_mutated_recursion_survives(claim_id: str) -> None:
    """A recursion is accepted only unchanged, for its claim, and under the required assumptions."""
    claim, certificate = find(claim_id), RECURSIONS[claim_id]
    for mutant in mutated_recursions(certificate):
        assert is_broken(claim, mutant)
    assert is_broken(replace(claim, rhs=claim.rhs / 100), certificate)
    for needed in (a.same_local_work, a.full_participation, *certificate.measure.needs):
        fewer = tuple(one for one in claim.assumptions if one is not needed)
        assert is_broken(replace(claim, assumptions=fewer), certificate)


def some(claim_ids: Iterable[str]) -> list[Any]:
    """Return all claims, or one in three for the fast tests."""
    return [pytest.param(one, marks=[pytest.mark.long] * (number % 3 > 0)) for number, one in enumerate(claim_ids)]


@pytest.mark.parametrize("claim_id", some(sorted(TERMS | SUMS)))
def test_a_mutated_claim_is_not_proved(claim_id: str) -> None:
    """A claim with a scaled right side, or with a square subtracted, is not proved."""
    claim, certificate = find(claim_id), (TERMS | SUMS)[claim_id]
    for relation in claim.relations:
        wrong = [_scale(r) if r is relation else r for r in claim.relations]
        if _scale(relation).right == relation.right:
            continue
        mutant = replace(claim, lhs=None, rhs=None, chain=(), also=tuple(wrong))
        assert check_certificate(mutant, certificate).verdict == "broken"


def _scale(relation: Any) -> Any:
    return replace(relation, right=sp.Rational(9, 10) * relation.right)


def conditions_of(claim_id: str) -> list[Any]:
    """Return the conditions that a certificate uses: its own, or else the claim's."""
    relaxed = TERMS[claim_id].relaxed
    return list(find(claim_id).conditions if relaxed is None else relaxed)


@pytest.mark.long
@pytest.mark.parametrize("claim_id", some(claim_id for claim_id in TERMS if conditions_of(claim_id)))
def test_conditions_are_needed(claim_id: str) -> None:
    """The certificate fails without its conditions, and under bounds that are three times as wide, unless zero."""
    claim, certificate = find(claim_id), TERMS[claim_id]
    conditions = conditions_of(claim_id)
    wider = [condition.func(condition.lhs, 3 * condition.rhs) for condition in conditions]
    for weaker in ([], wider) if wider != conditions else ([],):
        assert check_certificate(claim, replace(certificate, relaxed=weaker)).verdict == "broken"
        assert (
            check_certificate(replace(claim, conditions=weaker), replace(certificate, relaxed=None)).verdict == "broken"
        )


@pytest.mark.parametrize("claim_id", MEANS)
def test_no_mutated_mean_is_proved(claim_id: str) -> None:
    """Another right side, no conditions, fewer assumptions, or an unproved step breaks the average."""
    claim, certificate = find(claim_id), MEANS[claim_id]
    scaled = replace(claim, lhs=None, rhs=None, chain=(), also=[_scale(relation) for relation in claim.relations])
    for mutant in (scaled, replace(claim, assumptions=claim.assumptions[1:])):
        assert check_certificate(mutant, certificate).verdict == "broken"
    assert check_certificate(claim, certificate, unproved).verdict == "broken"
    assert check_certificate(claim, replace(certificate, span=_OTHER[certificate.span])).verdict == "broken"


@pytest.mark.parametrize(
    "claim_id", some(claim_id for claim_id in MEANS | SUMS | RECURSIONS if find(claim_id).conditions)
)
def test_conditions_of_the_premises_are_needed(claim_id: str) -> None:
    """Uses of a proved claim need its conditions, and a drift that is not amplified needs a small step."""
    claim, certificate = find(claim_id), certificates()[claim_id]
    if getattr(certificate, "relaxed", None) == []:
        return
    assert check_certificate(replace(claim, conditions=()), certificate).verdict == "broken"


@pytest.mark.parametrize("claim_id", [claim_id for claim_id, found in SUMS.items() if "renard2022:thm" in claim_id])
def test_premises_have_to_be_proved(claim_id: str) -> None:
    """A combination with an unproved claim is not proved; one of facts only needs no claims."""
    relies = any(isinstance(part.premise, str | Derived) for parts in SUMS[claim_id].links for part in parts)
    expected = "broken" if relies else "proved"
    assert check_certificate(find(claim_id), SUMS[claim_id], unproved).verdict == expected


def unproved(claim_id: str) -> Proof:
    """Return a proof with a step that fails."""
    proof = prove(find(claim_id))
    return replace(proof, steps=(*proof.steps, Step("something else", False)))


_OTHER: dict[Any, Any] = {"round": "run", "run": "round"}


eta, L, sigma = sp.symbols("eta L sigma", positive=True)
x_i, x, x_star, g_i, F, F_i = sp.symbols("x_i x x^* g_i F F_i", real=True)
NOTATION: dict[sp.Symbol, Any] = {
    eta: q.local_step_size,
    L: q.smoothness,
    sigma: q.noise_deviation,
    x_i: q.local_iterate,
    x: q.point,
    x_star: q.optimum,
    g_i: q.stochastic_gradient,
    F: q.objective,
    F_i: q.client_objective,
}
VARIANCE = norm_sq(g_i - Gradient(F_i, x_i))
NOISY = (a.unbiased_bounded_variance,)
CLOSER = Term(1 / L - eta, square(x))


def verdict(*links: list[Term], relaxed: Any = None, where: Any = None, **stated: Any) -> str:
    """Return the kernel verdict on a small claim, about points unless stated otherwise."""
    given = {"place": "points", **stated}
    claim = Claim(id="t:claim", where=NOTATION if where is None else {**NOTATION, **where}, **given)
    return check_certificate(claim, Certificate(claim=claim.id, links=links, relaxed=relaxed)).verdict


def test_variance_is_bounded_in_expectation_only() -> None:
    """The variance at a local step is bounded; a single deviation along a path is not."""
    bounded = [Term(sp.S.One, assumption("bounded variance"))]
    at_step = {"lhs": Expectation(VARIANCE), "rhs": sigma**2, "place": "step"}
    assert verdict(bounded, assumptions=NOISY, **at_step) == "proved"
    assert verdict(bounded, **at_step) == "broken"
    assert verdict(bounded, assumptions=NOISY, lhs=VARIANCE, rhs=sigma**2, place="path") == "broken"


@pytest.mark.parametrize("place", ["round", "run", "step", "path", "points"])
def test_an_expectation_is_not_its_argument(place: Any) -> None:
    """An equation of an expectation and its argument is rejected: for outcomes of a round, on a path, and elsewhere."""
    assert verdict([], lhs=Expectation(norm_sq(x_i)), relation="==", rhs=norm_sq(x_i), place=place) == "broken"


def test_relaxed_conditions_have_to_be_weaker() -> None:
    """A relaxation cannot introduce conditions that the claim does not make."""
    sides = {"lhs": eta * norm_sq(x), "rhs": norm_sq(x) / L}
    half = [eta <= 1 / (2 * L)]
    assert verdict([CLOSER], conditions=half, relaxed=[eta <= 1 / L], **sides) == "proved"
    assert verdict([CLOSER], relaxed=[eta <= 1 / L], **sides) == "broken"
    assert verdict([CLOSER], conditions=[eta <= 2 / L], relaxed=[eta <= 1 / L], **sides) == "broken"
    assert verdict([CLOSER], conditions=half, relaxed=[sp.Ne(eta, 1)], **sides) == "broken"


def test_two_symbols_of_one_quantity() -> None:
    """A claim with two symbols for one quantity is not proved, because one of them would be ignored."""
    G_i, y = sp.symbols("G_i y", real=True)
    assert verdict([], lhs=norm_sq(x), relation="==", rhs=norm_sq(x)) == "proved"
    for second in ({G_i: q.client_objective}, {y: q.point}):
        assert verdict([], lhs=norm_sq(x), relation="==", rhs=norm_sq(x), where=second) == "broken"


def test_declared_signs_are_those_of_the_values() -> None:
    """The sign of a quantified symbol is that of its values."""
    theta = sp.Symbol("theta", positive=True)
    sides = {"lhs": sp.S.Zero, "rhs": theta * norm_sq(x)}
    assert verdict([Term(theta, square(x))], for_all={theta: [1, 2]}, **sides) == "proved"
    assert verdict([Term(theta, square(x))], for_all={theta: [1, -1]}, **sides) == "broken"


def test_counts_are_at_least_one() -> None:
    """There is at least one client; a whole number under a quantifier may be zero."""
    M, k = sp.Symbol("M", positive=True), sp.Symbol("k", integer=True, nonnegative=True)
    several = {"lhs": norm_sq(x), "rhs": M * norm_sq(x)}
    assert verdict([Term(M - 1, square(x))], where={M: q.clients}, **several) == "proved"
    assert verdict([Term(M - 1, square(x))], where={M: q.smoothness, L: q.clients}, **several) == "broken"
    sides = {"lhs": norm_sq(x), "rhs": k * norm_sq(x)}
    assert verdict([Term(k - 1, square(x))], for_all={k: [0, 1]}, **sides) == "broken"


def test_rates_have_no_certificate() -> None:
    """A rate in addition to a relation is not proved with the relation."""
    T = sp.Symbol("T", positive=True)
    rate = Rate(measured=q.average_suboptimality.symbol, order=T**-100, variable=T)
    assert verdict([], rate=rate, also=[Relation(norm_sq(x), "==", norm_sq(x))], where={T: q.rounds}) == "broken"


def test_links_of_another_claim() -> None:
    """A certificate with more links than the claim has relations is broken."""
    assert verdict([], [], lhs=norm_sq(x), relation="==", rhs=norm_sq(x)) == "broken"


def mean_verdict(claim: Claim, step: Claim) -> str:
    """Return the verdict on the corrected Lemma 2.2 with another step."""
    by_step = replace(TERMS["renard2022:lemma-2.2.proof.last.fixed"], claim=step.id)
    certificate = MeanCertificate(claim=claim.id, step=step.id, span="round")
    return check_certificate(claim, certificate, lambda _step: check_certificate(step, by_step)).verdict


def test_rounds_end_where_the_average_ends() -> None:
    """Without a unit server step or full participation, and outside of runs, the progress does not telescope."""
    step, claim = (find(f"renard2022:lemma-2.2{end}") for end in (".proof.last.fixed", ".fixed"))
    assert mean_verdict(claim, step) == "proved"
    for lost in (a.unit_server_step, a.full_participation):
        weaker = [replace(c, assumptions=tuple(x for x in c.assumptions if x is not lost)) for c in (claim, step)]
        assert mean_verdict(*weaker) == "broken"
    assert mean_verdict(replace(claim, place="path"), step) == "broken"


def test_a_symbol_means_the_same_in_step_and_mean() -> None:
    """The symbol of the noise deviation cannot denote the strong convexity in the average."""
    step, claim = (find(f"renard2022:lemma-2.2{end}") for end in (".proof.last.fixed", ".fixed"))
    symbol = next(symbol for symbol, quantity in claim.where.items() if quantity is q.noise_deviation)
    assert mean_verdict(replace(claim, where={**claim.where, symbol: q.strong_convexity}), step) == "broken"

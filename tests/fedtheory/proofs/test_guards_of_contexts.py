"""Contexts of proofs contain no more than their claims: results of clients fluctuate, and a step index may be zero."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp

from fedtheory.errors import InputError
from fedtheory.kernel import Numbers, Rejected, is_nonnegative, is_positive, scalar, vector
from fedtheory.kernel.expressions import Expectation, Gradient, LocalSum, Selected, Value, inner, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.proofs.document.reading import _require_definition
from fedtheory.proofs.document.shapes import Named
from fedtheory.proofs.numbers import SymbolTable, numbers_of, symbols_of
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.proofs.rounds import _flatten_powers, build_round_context
from fedtheory.proofs.terms.places import numbers_at_steps
from fedtheory.proofs.terms.proof_of_claim import context_of
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.rules.product import Multiply, Scalar
from fedtheory.proofs.terms.rules.sum_over import SumOver
from fedtheory.proofs.terms.run_form import RunForm
from fedtheory.sources.liu2022.context.restarts import SECOND_MOMENT, VARIANCE, build_iteration_context
from fedtheory.sources.vlaski2023.context.small_steps import _bound_bias


def test_results_of_clients_keep_their_fluctuation() -> None:
    """Squares of results are those of the expectation plus those of the independent fluctuation."""
    claim = use_plain_symbols(find("vlaski2023:lemma-5.1"))
    context, result = build_round_context(claim, claim.relations[0]), symbols_of(claim)(q.local_result)
    parts = set(vector(result, context))
    assert len(parts) == 2
    assert len(parts & context.noise) == 1
    square = scalar(Expectation(norm_sq(result)), context)
    assert len(square) == 2
    assert {symbol for monomial in square for symbol in monomial.free_symbols} == parts


@pytest.mark.parametrize("first", [0, 1])
def test_numbers_of_steps_begin_at_the_first(first: int) -> None:
    """The index of the first step may be zero, so it is no denominator."""
    claim = use_plain_symbols(find("liu2022:lemma-1"))
    context = context_of(claim, claim.relations[0], lambda _: None, [])  # type: ignore[arg-type, return-value]
    index, numbers = context.index, numbers_at_steps(context, first)
    assert is_nonnegative(index - first, numbers)
    assert not is_nonnegative(index - first - 1, numbers)
    assert is_positive(index, numbers) is (first == 1)
    assert is_positive(context.process.steps, numbers)


def test_numbers_of_terms_have_a_sign_that_is_shown() -> None:
    """Coefficients need a proved sign under the claim's conditions; others are rejected."""
    claim = use_plain_symbols(find("liu2022:lemma-1"))
    context = context_of(claim, claim.relations[0], lambda _: None, [])  # type: ignore[arg-type, return-value]
    eta = symbols_of(claim)(q.local_step_size)
    assert context.require_nonnegative(2 * eta) == 2 * eta
    for number in (-eta, eta - 1, -sp.S.One):
        with pytest.raises(Rejected, match="is not shown under the conditions"):
            context.require_nonnegative(number)
    with pytest.raises(Rejected):
        context.require_nonnegative(1 / (1 - eta))


def test_values_without_a_name_are_not_written() -> None:
    known = Named({"one": 1, "other": [2]})
    assert known.write(1, None) == "one"  # type: ignore[arg-type]
    with pytest.raises(InputError, match="expected one of one, other"):
        known.write([2], None)  # type: ignore[arg-type]


@pytest.mark.parametrize(("each", "total"), [(">", ">="), (">=", ">="), ("==", "==")])
def test_sums_of_positive_numbers_may_vanish(each: Any, total: str) -> None:
    """A weight may be zero, so that a sum is not strictly larger than its terms."""
    claim = use_plain_symbols(find("liu2022:lemma-1"))
    context = context_of(claim, claim.relations[0], lambda _: None, [])  # type: ignore[arg-type, return-value]
    eta = symbols_of(claim)(q.local_step_size)
    body: Any = SimpleNamespace(check=lambda _: Proved(eta, each))
    found = SumOver("numbers of clients", sp.S.One, body).check(replace(context, vectors=None))
    assert (found.comparison, found.expression) == (total, symbols_of(claim)(q.clients) * eta)


@pytest.mark.parametrize(
    ("symbol", "refusal"),
    [
        (sp.Symbol("s", real=True), None),
        (sp.Symbol("s", nonnegative=True), "s has a sign that its quantity need not have"),
        (sp.Symbol("s", nonpositive=True), "s has a sign that its quantity need not have"),
        (sp.Symbol("eta", positive=True), "eta has more than one meaning"),
        (sp.Symbol("x", real=True), "x has more than one meaning"),
    ],
)
def test_symbols_of_products_have_no_sign_and_no_other_meaning(symbol: sp.Symbol, refusal: str | None) -> None:
    """Symbols of products have neither a declared sign nor another meaning."""
    eta, x, y = sp.Symbol("eta", positive=True), *sp.symbols("x y", real=True)
    asked: list[Any] = []
    context: Any = SimpleNamespace(numbers=Numbers(symbols=frozenset({eta})), require_expression=asked.append)
    meaning = inner(x, y)
    product: Any = SimpleNamespace(scalars=(Scalar(symbol, meaning),))
    if refusal is None:
        assert Multiply._list_meanings(product, context) == {symbol: meaning}
    else:
        with pytest.raises(Rejected, match=refusal):
            Multiply._list_meanings(product, context)
    assert asked == [meaning]


def test_numbers_stand_outside_of_inverses() -> None:
    """The inverse of D + eta D is 1/(1 + eta) times the inverse of D, which changes between rounds."""
    claim = use_plain_symbols(find("liu2022:lemma-1"))
    process = context_of(claim, claim.relations[0], lambda _: None, []).process  # type: ignore[arg-type, return-value]
    changing, eta = (symbols_of(claim)(of) for of in (q.round_drift, q.local_step_size))
    form = RunForm(process, numbers_of(claim)).form((changing + eta * changing) ** -1)
    assert [sp.cancel(number.expression - 1 / (1 + eta)) for number in form.values()] == [0]
    assert list(form) == [1 / changing]


def test_powers_of_an_indicator_are_the_indicator() -> None:
    """Powers of an indicator are the indicator; expressions with vectors and denominators are not changed."""
    one, x, y = sp.symbols("one x y")
    assert _flatten_powers(one**3 * x + 2 * one * y + y, one) == one * (x + 2 * y) + y
    assert _flatten_powers((one + x) ** 2, one) == one * (1 + 2 * x) + x**2
    assert _flatten_powers(x / one, one) == x / one
    for inside in (inner(x, y), Gradient(sp.Symbol("F"), x), Value(sp.Symbol("F"), x), LocalSum(x), Selected(x)):
        assert _flatten_powers(one**2 * inside, one) == one**2 * inside


def test_no_bias_is_bounded_that_the_claim_does_not_name() -> None:
    """A bias is bounded only if the claim names it."""
    bias, size = sp.symbols("b eta", positive=True)
    assert _bound_bias(SymbolTable({size: q.local_step_size})) == {}
    found = _bound_bias(SymbolTable({size: q.local_step_size, bias: q.small_step_bias}))
    assert sum(found.values()) == 0
    assert found["small-step bias"].coeff(bias, 2) == 1


def test_the_loop_bounds_gradients_and_noise_where_they_are_observed() -> None:
    """G^2 bounds the gradient with its noise, and sigma^2 the noise alone."""
    claim = Claim(
        id="mine:loop",
        lhs=sp.Symbol("e"),
        rhs=1,
        where={sp.Symbol("e"): q.loop_gradient_sq},
        assumptions=(a.same_local_work,),
    )
    assumed, symbol = build_iteration_context(claim, []).assumed, symbols_of(claim)
    noise = symbol(q.gradient_noise)
    observed = Gradient(symbol(q.client_objective), symbol(q.local_iterate)) + noise
    assert assumed[SECOND_MOMENT] == symbol(q.loop_second_moment) ** 2 - norm_sq(observed)
    assert assumed[VARIANCE] == symbol(q.loop_noise_deviation) ** 2 - norm_sq(noise)


def test_a_document_for_a_definition_needs_a_claim_about_one() -> None:
    """A document for a definition is rejected for a claim about no algorithm."""
    claim = find("renard2022:thm-2.1")
    assert _require_definition(claim, {}) is None  # type: ignore[func-returns-value]
    with pytest.raises(InputError, match="expected none, for no algorithm as it is now, got 'abc'"):
        _require_definition(claim, {"definition": "abc"})
    with pytest.raises(InputError, match="expected none"):
        _require_definition(claim, {"definition": None})

"""User-defined bounds from proved claims: the kernel accepts found proofs, and false bounds have none."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp
from own_claims import CONVEX, LOOSE, SMALL_STEPS, TOO_FAST, WHERE, D, L, M, T, error_bound, eta, sigma, tau, zeta

from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.registry import all_claims
from fedtheory.proofs import check_certificate
from fedtheory.search import Found, NotFound, find_proof


def test_a_loose_bound_is_proved_from_its_statement() -> None:
    """A loose bound follows from a published theorem; additional assumptions are named, and the kernel accepts the
    document.
    """
    found = find_proof(error_bound(LOOSE))
    assert isinstance(found, Found)
    assert found.uses == ["renard2022:thm-2.1.sharp"]
    assert found.supposed == (a.convex_and_smooth,)
    claim = error_bound(LOOSE, assumptions=[*CONVEX, a.unbiased_bounded_variance, a.bounded_dissimilarity])
    assert check_certificate(claim, found.proof.document).verdict == "proved"


def test_additional_assumptions_do_not_prove_the_claim() -> None:
    """A document with an additional assumption is broken for the claim without it."""
    found = find_proof(error_bound(LOOSE))
    assert isinstance(found, Found)
    assert check_certificate(error_bound(LOOSE), found.proof.document).verdict == "broken"


@pytest.mark.long
def test_a_false_bound_has_numbers_below_every_known_one() -> None:
    """The numbers satisfy the conditions, and are a start for a search of violations."""
    found = find_proof(error_bound(TOO_FAST))
    assert isinstance(found, NotFound)
    assert found.nearest is not None
    assert found.below is not None
    at = {symbol.name: value for symbol, value in found.below.items()}
    assert at.keys() == {symbol.name for symbol in WHERE}
    assert 4 * at["eta"] * at["L"] <= 1


RENAMED = dict(zip((eta, tau, T, M, zeta, sigma, L, D), sp.symbols("s K R N h v beta r", positive=True), strict=True))
SWAPPED = {**dict.fromkeys(()), eta: L, L: eta, tau: T, T: tau}


@pytest.mark.parametrize("symbols", [RENAMED, SWAPPED], ids=["others", "swapped"])
def test_other_symbols_for_the_same_quantities(symbols: dict[sp.Symbol, sp.Symbol]) -> None:
    """A claim in other symbols is proved, even if a symbol has another meaning in the theorem."""
    rest, start, condition = (
        one.subs(symbols, simultaneous=True) for one in (LOOSE, D**2 / (2 * eta * tau * T), SMALL_STEPS[0])
    )
    where = {symbols.get(symbol, symbol): quantity for symbol, quantity in WHERE.items()}
    assert isinstance(find_proof(error_bound(0, [condition], rhs=start + rest, where=where)), Found)


def test_a_quantity_that_the_claim_does_not_name() -> None:
    """A bound that does not name the number of clients is proved; the document names it."""
    rest, where = LOOSE, {symbol: quantity for symbol, quantity in WHERE.items() if symbol != M}
    claim = error_bound(rest, where=where, assumptions=[*CONVEX, a.unbiased_bounded_variance, a.bounded_dissimilarity])
    found = find_proof(claim)
    assert isinstance(found, Found)
    assert found.proof.document is not None
    assert found.proof.document["quantities"] == ["clients"]
    assert check_certificate(claim, found.proof.document).verdict == "proved"


@pytest.mark.parametrize(
    "condition", [4 * eta * L <= 1, eta * L <= sp.Rational(1, 5), 1 / eta >= 8 * L], ids=["4 L eta", "L eta", "4 L"]
)
def test_conditions_on_products(condition: sp.Rel) -> None:
    """A condition on a product with the step size is solved for the step size."""
    assert isinstance(find_proof(error_bound(LOOSE, [condition])), Found)


def test_denominators_that_vanish_at_the_edge_of_a_condition() -> None:
    """A denominator with 1 - rho^2 is positive under rho < 1, so that twice such a bound is proved."""
    claim = all_claims()["landmarks:dsgd.consensus"]
    twice = replace(claim, id="mine:twice", rhs=2 * claim.relations[0].right, is_published=False)
    assert isinstance(find_proof(twice), Found)


@pytest.mark.long
@pytest.mark.parametrize("factor", [2, sp.Rational(5, 4)], ids=str)
def test_powers_with_the_number_of_iterations(factor: sp.Expr) -> None:
    """A bound with (1 - c eta mu)^K follows with a larger constant, but with no smaller one."""
    claim = all_claims()["comparator:strongly-convex.last-model"]

    def scaled(by: sp.Expr) -> Claim:
        return replace(claim, id="mine:scaled", rhs=by * claim.relations[0].right, is_published=False)

    assert isinstance(find_proof(scaled(factor)), Found)
    assert isinstance(find_proof(scaled(1 / factor)), NotFound)


def test_averages_over_clients_are_numbers() -> None:
    """A bound with the average of the clients' constants follows with one more term."""
    claim = all_claims()["vlaski2023:claim.steady-state-noise"]
    larger = claim.relations[0].right
    more = larger + next(iter(symbol for symbol in larger.free_symbols if symbol.name == "mu"))
    assert isinstance(find_proof(replace(claim, id="mine:more", rhs=more, is_published=False)), Found)


FALSE = {
    "no condition": (LOOSE, (), CONVEX),
    "a larger step": (LOOSE, (eta <= 3 / L,), CONVEX),
    "smooth alone": (LOOSE, SMALL_STEPS, (*CONVEX[:-1], a.smooth)),
    "no dissimilarity": (eta * sigma**2 + 4 * tau * eta**2 * L * sigma**2, SMALL_STEPS, CONVEX),
    "half of the noise": (LOOSE - eta * sigma**2 + eta * sigma**2 / (4 * M), SMALL_STEPS, CONVEX),
    "no noise": (18 * tau**2 * eta**2 * L * zeta**2, SMALL_STEPS, CONVEX),
}


@pytest.mark.long
@pytest.mark.parametrize("name", FALSE)
def test_false_claims_are_not_proved(name: str) -> None:
    """No proof is found with too few assumptions or conditions."""
    rest, conditions, assumptions = FALSE[name]
    claim = error_bound(
        rest, conditions, assumptions=[*assumptions, a.unbiased_bounded_variance, a.bounded_dissimilarity]
    )
    assert isinstance(find_proof(claim), NotFound)


def test_no_assumption_lets_a_quantity_vanish() -> None:
    """A bound without its noise term is not proved by additionally assuming full gradients."""
    claim = error_bound(L * eta**2 * zeta**2 * (tau - 1) * (2 * tau - 1), lhs=q.average_suboptimality)
    assert isinstance(find_proof(claim), NotFound)


def test_effort_counts_work() -> None:
    """A search with little work ends at the same place each time, and says so."""
    one, other = (find_proof(error_bound(LOOSE), effort=10_000) for _ in range(2))
    assert isinstance(one, NotFound)
    assert one.is_exhausted
    assert one == other

"""False relations with square roots: radicands that may be negative, and symbols with another meaning."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from fedtheory.kernel import Numbers, is_nonnegative
from fedtheory.kernel.quotients import is_zero
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.proofs import Certificate, Combination, Part, certificates, check_certificate
from fedtheory.proofs.facts import CURVATURE, ONE
from fedtheory.proofs.roots import Root

nu, delta, sigma = sp.symbols("nu delta sigma", positive=True)
r, free = sp.Symbol("r", nonnegative=True), sp.Symbol("r", positive=True)
WHERE: dict[sp.Symbol, Any] = {nu: q.smallest_curvature, delta: q.objective_smoothness, sigma: q.noise_deviation}
GAP = delta**2 - nu**2
SHOWN = Root(r, GAP, [Part(delta + nu, CURVATURE)])


def failures(parts: list[Part], root: Root, **stated: Any) -> list[str]:
    """Return the failing steps of a claim with one relation, for a combination with one root."""
    claim = Claim(id="t:root", **{"where": WHERE, **stated})
    proof = check_certificate(claim, Combination(claim=claim.id, links=[parts], roots=[root]))
    return [step.text for step in proof.steps if not step.holds]


ROOTED: dict[str, Any] = {"lhs": sp.sqrt(GAP), "rhs": delta, "assumptions": (a.strongly_convex_clients,)}
"""sqrt(delta^2 - nu^2) <= delta: the difference is nu^2 over the sum."""
ABOVE = [Part(nu**2 / (delta + r), ONE)]


def test_a_root_by_its_square() -> None:
    """The identity needs the square of the symbol to be the number; another number, or delta = 0, breaks it."""
    assert failures(ABOVE, SHOWN, **ROOTED) == []
    other = {**ROOTED, "lhs": sp.sqrt(2 * GAP)}
    assert failures(ABOVE, SHOWN, **other)
    assert any("delta" in text for text in failures(ABOVE, SHOWN, **{**ROOTED, "assumptions": ()}))
    assert failures([Part(2 * nu**2 / (delta + r), ONE)], SHOWN, **ROOTED)


@pytest.mark.parametrize(
    ("root", "because"),
    [
        (Root(r, GAP, []), "the sum"),
        (Root(r, -GAP, [Part(-delta - nu, CURVATURE)]), "coefficient ("),
        (Root(r, GAP - 1, [Part(delta + nu, CURVATURE)], least=-sp.S.One), "-1 >= 0"),
        (Root(free, GAP, [Part(delta + nu, CURVATURE)]), "> 0"),
        (Root(sp.Symbol("r", real=True), GAP, [Part(delta + nu, CURVATURE)]), "not a symbol for a root"),
    ],
)
def test_roots_that_are_none(root: Root, because: str) -> None:
    """Radicands without a proved sign, and symbols with another meaning, are rejected."""
    assert any(because in text for text in failures([Part(nu**2 / (delta + root.letter), ONE)], root, **ROOTED))


def test_a_symbol_of_a_root_is_its_own() -> None:
    """A symbol of a root has only its own meaning, whatever its name and declaration."""
    for symbol in (sp.Symbol(sigma.name, nonnegative=True), sp.Symbol("r", nonnegative=True, integer=True)):
        assert not failures([Part(symbol, ONE)], Root(symbol, GAP, SHOWN.parts), lhs=0, rhs=sp.sqrt(GAP))
        assert failures([Part(symbol, ONE)], Root(symbol, GAP, SHOWN.parts), lhs=0, rhs=sigma - 1)


def test_a_root_that_may_be_zero_divides_nothing() -> None:
    """The root of delta^2 - nu^2 may be zero, so it is no denominator."""
    assert any("may be zero" in text for text in failures([Part(1 / r, ONE)], SHOWN, lhs=0, rhs=sp.sqrt(GAP)))
    assert any("coefficient (" in text for text in failures([Part(1 / r, ONE)], SHOWN, lhs=0, rhs=1 / sp.sqrt(GAP)))


def test_only_its_own_root_becomes_the_symbol() -> None:
    """The root of another number is not replaced, and its sign is not known."""
    lost = {"lhs": 0, "rhs": sp.sqrt(GAP - nu)}
    assert failures([Part(r, ONE)], SHOWN, **lost)
    assert failures([Part(sp.sqrt(GAP - nu), ONE)], SHOWN, **lost)


SIGNS: dict[str, Callable[[Any], Any]] = {
    "an even power": lambda x: (x - 1) ** 2,
    "a fourth power": lambda x: nu * (x - 1) ** 4,
}
NO_SIGNS: dict[str, Callable[[Any], Any]] = {
    "an odd power": lambda x: (x - 1) ** 3,
    "a square below": lambda x: 1 / (x - 1) ** 2,
    "minus a square": lambda x: -((x - 1) ** 2),
    "a square of an imaginary number": lambda x: (x - sp.I) ** 2,
    "a square of what has a pole": lambda x: (1 / (x - 1)) ** 2,
    "a square times what has a pole": lambda x: (x - 1) ** 2 / (x - 2),
}


@pytest.mark.parametrize("name", SIGNS | NO_SIGNS)
def test_squares_of_numbers(name: str) -> None:
    """An even power of a polynomial is non-negative; other powers are not."""
    numbers = Numbers(symbols=frozenset({nu, delta}))
    assert is_nonnegative((SIGNS | NO_SIGNS)[name](delta), numbers) is (name in SIGNS)


def test_squares_of_symbols_that_may_be_anything() -> None:
    """The square of a symbol that may be complex may be negative."""
    anything = sp.Symbol("c")
    assert not is_nonnegative((anything - 1) ** 2, Numbers(symbols=frozenset({anything})))


@pytest.mark.parametrize(
    ("number", "vanishes"),
    [
        (r**2 * (1 + delta) - nu, True),
        (r**5 * (1 + delta) ** 2 - nu**2 * r, True),
        (1 / (1 - r) - (1 + r) * (1 + delta) / (1 + delta - nu), True),
        (r**2 * (1 + delta) + nu, False),
        (r * (1 + delta) - nu, False),
        (r**2 - nu, False),
        (r, False),
        (delta - nu, False),
    ],
)
def test_powers_of_roots_are_reduced(number: Any, vanishes: bool) -> None:
    """Even powers of a root are powers of its square, and odd ones are multiples of the root."""
    assert is_zero(number, {r: nu / (1 + delta)}) is vanishes
    assert not is_zero(number)


def test_conditions_on_what_is_under_a_root() -> None:
    """Conditions on a radicand become conditions on the root if they compare with a square, else on its square."""
    expected = {
        sp.Ge(GAP, sp.Rational(1, 4)): sp.Ge(r, sp.Rational(1, 2)),
        sp.Lt(GAP, 1): sp.Lt(r, 1),
        sp.Le(GAP, 2): sp.Le(r**2, 2),
        sp.Le(GAP, sigma): sp.Le(r**2, sigma),
        sp.Le(nu, delta): sp.Le(nu, delta),
    }
    assert {condition: SHOWN.substitute_in_condition(condition) for condition in expected} == expected


def test_roots_in_certificates() -> None:
    """The explicit form of Theorem 5.1 needs the lower bound on lambda, and an unused symbol for the root."""
    claim, certificate = find("vlaski2023:eq-5.62.explicit"), certificates()["vlaski2023:eq-5.62.explicit"]
    assert isinstance(certificate, Certificate)
    (root,) = certificate.roots
    lossy = replace(claim, conditions=[*claim.conditions[:2], root.of >= 0])
    assert any("> 0" in step.text for step in check_certificate(lossy, certificate).steps if not step.holds)
    other = replace(root, of=root.of + 1)
    for wrong in ([], [other], [replace(root, parts=[])], [root, root]):
        assert not all(step.holds for step in check_certificate(claim, replace(certificate, roots=wrong)).steps)

"""The kernel accepts only valid relations: identities, signs, independence of noise, averages over clients."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sympy as sp

from fedtheory import kernel
from fedtheory.kernel import (
    Context,
    Numbers,
    Rejected,
    Term,
    assumption,
    check,
    cocoercivity,
    convexity,
    interpolation,
    is_nonnegative,
    is_positive,
    lipschitz_gradient,
    optimality,
    scalar,
    smoothness,
    square,
    vector,
)
from fedtheory.kernel.expressions import Average, Expectation, Gradient, Value, inner, norm_sq

M = sp.Symbol("M", positive=True, integer=True)
eta, L, sigma = sp.symbols("eta L sigma", positive=True)
a, b, x_star, c_i, d_i, n_i, m_i, F, F_i = sp.symbols("a b x^* c_i d_i n_i m_i F F_i", real=True)
w_i = sp.Symbol("w_i", positive=True)

NUMBERS = Numbers(symbols=frozenset({M, eta, L, sigma}), at_least={M: 1}, maybe_zero=frozenset({sigma}))
THEORY = Context(
    numbers=NUMBERS,
    vectors=frozenset({a, b, x_star}),
    client_vectors=frozenset({c_i, d_i, n_i, m_i}),
    noise=frozenset({n_i, m_i}),
    clients=M,
    share=1 / M,
    objectives=frozenset({F}),
    means={F: F_i},
    client_objectives=frozenset({F_i}),
    convex=frozenset({F_i}),
    smooth={F_i: L},
    minimisers={F: x_star},
    assumed={"bounded variance": sigma**2 - norm_sq(n_i)},
)


def holds(lhs: Any, rhs: Any, *terms: Term, conditions: tuple[Any, ...] = ()) -> bool:
    """Return whether the kernel accepts ``lhs <= rhs`` with these terms."""
    return all(step.holds for step in check(lhs, rhs, terms, THEORY, conditions))


IDENTITIES = {
    "bilinear": (inner(2 * a + b, a - b), 2 * norm_sq(a) - inner(a, b) - norm_sq(b)),
    "mean of a shared vector": (Average(inner(c_i, a)), inner(Average(c_i), a)),
    "spread about the mean": (Average(norm_sq(c_i - Average(c_i))), Average(norm_sq(c_i)) - norm_sq(Average(c_i))),
    "F is the mean": (Value(F, a), Average(Value(F_i, a))),
    "gradient of F": (inner(Gradient(F, a), b), Average(inner(Gradient(F_i, a), b))),
    "gradient at the minimiser": (inner(Gradient(F, x_star), b), sp.S.Zero),
    "mean gradient at the minimiser": (Average(inner(Gradient(F_i, x_star), b)), sp.S.Zero),
    "noise and the past": (Expectation(inner(n_i, c_i)), sp.S.Zero),
    "noises of two names": (Expectation(inner(n_i, m_i)), sp.S.Zero),
    "mean of noises": (Expectation(norm_sq(Average(n_i))), Expectation(Average(norm_sq(n_i))) / M),
    "own noise in the mean": (Expectation(inner(Average(n_i), n_i)), Expectation(norm_sq(n_i)) / M),
}


@pytest.mark.parametrize("name", IDENTITIES)
def test_identities(name: str) -> None:
    """Both sides have the same normal form, and twice a non-zero side does not."""
    left, right = IDENTITIES[name]
    assert holds(left, right)
    assert holds(right, left)
    assert not holds(left, right + norm_sq(a))


NO_IDENTITIES = {
    "client vectors do not leave the mean": (Average(norm_sq(c_i)), norm_sq(Average(c_i))),
    "noise and a point that contains it": (inner(n_i, Gradient(F_i, a - n_i)), sp.S.Zero),
    "noise and itself": (norm_sq(n_i), sp.S.Zero),
    "a client's gradient at the minimiser": (inner(Gradient(F_i, x_star), b), sp.S.Zero),
}


@pytest.mark.parametrize("name", NO_IDENTITIES)
def test_variants_of_rules_are_refused(name: str) -> None:
    """Variants of the rules are not equal."""
    left, right = NO_IDENTITIES[name]
    assert not holds(left, right)


def test_gradients_are_not_linear() -> None:
    """grad f(a + b) is not grad f(a) + grad f(b)."""
    apart = Gradient(F_i, a + b) - Gradient(F_i, a) - Gradient(F_i, b)
    assert not holds(norm_sq(apart), sp.S.Zero)


INEQUALITIES = {
    "square": (square(a - 2 * b), sp.S.Zero, norm_sq(a - 2 * b)),
    "convexity": (convexity(F_i, a, b), Value(F_i, b) + inner(Gradient(F_i, b), a - b), Value(F_i, a)),
    "smoothness": (
        smoothness(F_i, a, b),
        Value(F_i, a),
        Value(F_i, b) + inner(Gradient(F_i, b), a - b) + L / 2 * norm_sq(a - b),
    ),
    "co-coercivity": (
        cocoercivity(F_i, a, b),
        Value(F_i, b) + inner(Gradient(F_i, b), a - b) + norm_sq(Gradient(F_i, a) - Gradient(F_i, b)) / (2 * L),
        Value(F_i, a),
    ),
    "interpolation": (
        interpolation(F_i, a, b),
        L * (Value(F_i, b) + inner(Gradient(F_i, b), a - b)) + norm_sq(Gradient(F_i, a) - Gradient(F_i, b)) / 2,
        L * Value(F_i, a),
    ),
    "Lipschitz gradient": (
        lipschitz_gradient(F_i, a, b),
        norm_sq(Gradient(F_i, a) - Gradient(F_i, b)),
        L**2 * norm_sq(a - b),
    ),
    "optimality": (optimality(F, a), Value(F, x_star), Value(F, a)),
    "assumption": (assumption("bounded variance"), norm_sq(n_i), sigma**2),
}


@pytest.mark.parametrize("name", INEQUALITIES)
def test_reasons(name: str) -> None:
    """Each inequality is accepted with coefficient one, and not reversed."""
    reason, smaller, larger = INEQUALITIES[name]
    assert holds(smaller, larger, Term(sp.S.One, reason))
    assert not holds(smaller, larger, Term(sp.Rational(1, 2), reason))
    assert not holds(smaller, larger)
    assert not holds(larger, smaller, Term(-sp.S.One, reason))


@pytest.mark.parametrize("reason", [convexity(F, a, b), cocoercivity(F, a, b), smoothness(F, a, b), assumption("luck")])
def test_reasons_that_the_theory_does_not_give(reason: Any) -> None:
    """Convexity, smoothness and assumptions must be in the context."""
    with pytest.raises(Rejected):
        reason.instantiate(THEORY)
    with pytest.raises(Rejected):
        optimality(F_i, a).instantiate(THEORY)


FOLLOW = [
    (eta / L, ()),
    (1 / (2 * eta) - L, (eta <= 1 / (2 * L),)),
    (1 / (2 * eta) - L, (eta < 1 / (2 * L),)),
    (1 / (2 * eta) - L, (sp.Ge(1 / (2 * L), eta),)),
    (1 - eta * L * M, (eta <= 1 / (2 * L * M), M >= 2)),
    (1 - eta * L, (sigma >= L, eta <= 1 / sigma)),
    (M - 1, ()),
    (M - 2, (M >= 2,)),
    (1 / (M - 1), (M >= 2,)),
    (sigma / M, ()),
    (sp.S.Zero, ()),
    (-eta / (-L), ()),
    # Powers of non-zero numbers, and of one that may be zero.
    (1 / (1 - sigma) ** 2, (sigma < 1,)),
    (eta / (1 - sigma) ** 3, (sigma < 1,)),
    # Squares of real numbers of any sign.
    ((eta - 1) ** 2, ()),
    (sp.Symbol("n", integer=True, negative=True) ** 2, ()),
]
OPEN = [
    (eta - L, ()),
    (1 / (2 * eta) - L, (eta <= 1 / L,)),
    (1 / (2 * eta) - L, (eta >= 1 / (2 * L),)),
    (1 / (2 * eta) - L, ()),
    (1 / L - eta, (sp.Ne(1 / L, eta),)),
    (1 / L - eta, (sp.And(eta <= 1 / L, eta >= L),)),
    (eta - L, (sp.true,)),
    (M - 2, ()),
    (1 - M, ()),
    (-eta, ()),
    ((eta - 1) ** 3, ()),
    # Poles: at one client, at no noise, and at the edge of the condition.
    (1 / (M - 1), ()),
    (1 / sigma, ()),
    (1 / (1 / L - eta), (eta <= 1 / L,)),
    (1 / (1 - sigma) ** 2, ()),
    (1 / (1 - sigma) ** 2, (sigma <= 1,)),
    (1 / (1 - sigma) ** 3, (sigma > 1,)),
    # Symbols that may be negative, or without known sign.
    (sp.Symbol("p", real=True), ()),
    (sp.Symbol("n", integer=True) - 1, ()),
    (sp.Symbol("n", integer=True, negative=True) ** 3, ()),
    (sp.Symbol("n", integer=True, nonnegative=True) - 1, ()),
    (sp.Symbol("L", integer=True, positive=True) - 1, ()),
    # Possible names of auxiliary symbols.
    (M - sp.Symbol("M_more", positive=True), ()),
    (eta - sp.Symbol("s_0", positive=True), (eta >= 1,)),
    # Numbers that are not rational, exact or finite.
    (sp.sqrt(eta) - 1, ()),
    (sp.exp(eta) - 1, ()),
    (eta**L, ()),
    (sp.Float(0.5) * eta, ()),
    (sp.oo, ()),
    (sp.zoo, ()),
    (sp.nan, ()),
]


def name_symbols_of(*expressions: Any) -> Numbers:
    """Return the numbers in expressions."""
    return replace(NUMBERS, symbols=NUMBERS.symbols.union(*(sp.sympify(e).free_symbols for e in expressions)))


@pytest.mark.parametrize(("coefficient", "conditions"), FOLLOW)
def test_signs_that_follow(coefficient: Any, conditions: tuple[Any, ...]) -> None:
    """Rational functions with non-negative coefficients once the conditions are built in."""
    assert is_nonnegative(coefficient, name_symbols_of(coefficient, *conditions), conditions)


@pytest.mark.parametrize(("coefficient", "conditions"), OPEN)
def test_signs_that_stay_open(coefficient: Any, conditions: tuple[Any, ...]) -> None:
    """Poles, symbols without a sign and inexact numbers give no answer."""
    assert not is_nonnegative(coefficient, name_symbols_of(coefficient, *conditions), conditions)


def test_symbols_that_are_no_numbers_have_no_sign() -> None:
    """Symbols that are no numbers have no sign, whatever is declared for them."""
    unknown = sp.Symbol("u", positive=True)
    assert is_nonnegative(unknown, name_symbols_of(unknown))
    assert not is_nonnegative(unknown, NUMBERS)
    assert is_nonnegative(eta - 1, name_symbols_of(unknown), (eta >= 1 + unknown,))
    assert not is_nonnegative(eta - 1, NUMBERS, (eta >= 1 + unknown,))
    assert not is_positive(eta - 1, NUMBERS, (eta >= 1 + unknown,))
    assert not is_positive(unknown, NUMBERS)


@pytest.mark.parametrize("coefficient", [sp.zoo, sp.oo, sp.nan, sp.Float(2.0)])
def test_coefficients_are_finite_and_exact(coefficient: Any) -> None:
    """Infinite and rounded coefficients are rejected, also in statements."""
    with pytest.raises(Rejected):
        check(sp.S.Zero, norm_sq(a), [Term(coefficient, square(a))], THEORY, ())
    with pytest.raises(Rejected):
        scalar(coefficient * norm_sq(a) + coefficient, THEORY)


def test_whole_numbers_of_python_are_numbers() -> None:
    """A coefficient may be a Python integer."""
    assert holds(sp.S.Zero, 2 * norm_sq(a), Term(2, square(a)))


@pytest.mark.parametrize("objective", [sp.Symbol("G"), a, c_i, 2 * F_i])
def test_objectives_have_to_be_declared(objective: Any) -> None:
    """An unknown symbol, a vector or a multiple is no objective."""
    for expression in (Value(objective, a), inner(Gradient(objective, a), b)):
        with pytest.raises(Rejected):
            scalar(expression, THEORY)


@pytest.mark.parametrize(
    "roles",
    [
        {"vectors": frozenset({a, F})},
        {"vectors": frozenset({a, eta})},
        {"vectors": frozenset({a, c_i})},
        {"definitions": {a: 2 * b}},
        {"client_objectives": frozenset({F, F_i})},
        {"noise": frozenset({sp.Symbol("unknown")})},
    ],
)
def test_symbols_have_one_role(roles: Any) -> None:
    """A symbol with two roles, or noise that is no vector, is rejected."""
    with pytest.raises(Rejected):
        replace(THEORY, **roles)


@pytest.mark.parametrize(
    "expression",
    [
        norm_sq(a) * norm_sq(b),
        norm_sq(a) ** 2,
        sp.sqrt(norm_sq(a)),
        Average(w_i * norm_sq(c_i)),
        w_i * norm_sq(a),
        norm_sq(sp.Symbol("unknown", real=True)),
        inner(a, b) / norm_sq(a),
    ],
)
def test_outside_the_language(expression: Any) -> None:
    """Products of random scalars, numbers that differ between clients, and unknown symbols are rejected."""
    with pytest.raises(Rejected):
        scalar(expression, THEORY)


@pytest.mark.parametrize("expression", [a * b, a + 1, norm_sq(a), w_i * a, sp.S.One])
def test_no_vectors(expression: Any) -> None:
    """Products of vectors, sums with numbers, and numbers are not vectors."""
    with pytest.raises(Rejected):
        vector(expression, THEORY)


def test_public_names_are_those_of_their_homes() -> None:
    """Public names are those of their modules, and there are no others."""
    tree = ast.parse(Path(str(kernel.__file__)).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    of_types = {one.name for node in imports if str(node.module).startswith("fedtheory.kernel.") for one in node.names}
    assert set(kernel.__all__) == of_types
    for name in kernel.__all__:
        home = importlib.import_module(f"fedtheory.kernel.{kernel._HOME_OF[name]}")
        assert getattr(kernel, name) is vars(home)[name]
    with pytest.raises(AttributeError, match="has no attribute 'luck'"):
        kernel.luck  # noqa: B018


def test_statements_are_read_without_the_judge() -> None:
    """Reading statements imports only their language."""
    asked = "import sys, fedtheory.language.claim; print('fedtheory.kernel.identities' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"

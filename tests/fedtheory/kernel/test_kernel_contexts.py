"""Normal forms are cached by context, and contexts are equal only if all their contents are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import pytest
import sympy as sp

from fedtheory.kernel import Context, Numbers, scalar
from fedtheory.kernel.expressions import Average, Expectation, Gradient, LocalSum, inner, norm_sq

M, K = sp.symbols("M K", positive=True, integer=True)
L = sp.Symbol("L", positive=True)
x, y, c_i, n_i, m_i, F, F_i = sp.symbols("x y c_i n_i m_i F F_i", real=True)

NUMBERS = Numbers(symbols=frozenset({M, K, L}), at_least={M: 1, K: 1})
THEORY = Context(
    numbers=NUMBERS,
    vectors=frozenset({x}),
    client_vectors=frozenset({c_i, n_i, m_i}),
    noise=frozenset({n_i, m_i}),
    clients=M,
    share=1 / M,
    local_steps=K,
    objectives=frozenset({F}),
    client_objectives=frozenset({F_i}),
    smooth={F_i: L},
)
OTHERWISE: Mapping[str, Any] = {
    "numbers": replace(NUMBERS, at_least={M: 2, K: 1}),
    "vectors": frozenset({x, y}),
    "client_vectors": frozenset({c_i, n_i, m_i, y}),
    "step_vectors": frozenset({c_i}),
    "noise": frozenset({n_i}),
    "common_random_numbers": frozenset({frozenset({n_i, m_i})}),
    "random": frozenset({c_i}),
    "depends_on_current_noise": frozenset({c_i}),
    "clients": K,
    "share": 1 / K,
    "of_a_round": True,
    "participants": K,
    "step_number": K,
    "local_steps": M,
    "objectives": frozenset(),
    "client_objectives": frozenset(),
    "means": {F: F_i},
    "convex": frozenset({F}),
    "strongly_convex": {F: L},
    "smooth": {F_i: 2 * L},
    "lipschitz": {F: L},
    "visited": frozenset({x}),
    "minimisers": {F: x},
    "weighted_minimisers": frozenset({L * Gradient(F_i, x)}),
    "definitions": {y: 2 * x},
    "assumed": {"a bound": L - norm_sq(x)},
}
"""Another value for each entry of a context."""


@pytest.mark.parametrize("what", [one.name for one in fields(Context)])
def test_theories_differ_in_all_that_they_know(what: str) -> None:
    """A context with another entry is different; a rebuilt one is equal."""
    other = replace(THEORY, **{what: OTHERWISE[what]})
    assert other not in {THEORY}
    assert replace(other, **{what: getattr(THEORY, what)}) in {THEORY}


@pytest.mark.parametrize(
    ("what", "expression"),
    {
        "noise": Expectation(inner(m_i, c_i)),
        "common_random_numbers": Expectation(inner(n_i, m_i)),
        "share": Expectation(norm_sq(Average(n_i))),
        "step_vectors": LocalSum(norm_sq(c_i)),
        "local_steps": LocalSum(norm_sq(c_i)),
        "means": inner(Gradient(F, x), x),
    }.items(),
)
def test_forms_of_one_theory_are_not_those_of_another(what: str, expression: Any) -> None:
    """A value cached in one context is not used in another one."""
    here, other = scalar(expression, THEORY), replace(THEORY, **{what: OTHERWISE[what]})
    assert scalar(expression, other) != here
    assert scalar(expression, THEORY) == here

"""Symbols with signs, and sparse polynomials, for tests of the search for proofs."""

from __future__ import annotations

import sympy as sp

from fedtheory.kernel import Numbers

eta, L, tau, M, sigma = sp.symbols("eta L tau M sigma", positive=True)
NUMBERS = Numbers(
    symbols=frozenset({eta, L, tau, M, sigma}),
    at_least={tau: 1, M: 2},
    integer=frozenset({tau, M}),
    maybe_zero=frozenset({sigma}),
)

"""A claim on the last iterate whose worst case is known, and the mark of tests that need a solver."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
import sympy as sp

from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim

SYMBOLS = sp.symbols("eta L D tau M zeta", positive=True)
eta, L, D, tau, M, zeta = SYMBOLS
WHERE = dict(
    zip(
        SYMBOLS,
        (
            q.local_step_size,
            q.smoothness,
            q.initial_distance,
            q.local_steps,
            q.clients,
            q.gradient_dissimilarity,
        ),
        strict=True,
    )
)
LAST_ITERATE = Claim(
    id="mine:last",
    lhs=q.final_suboptimality,
    rhs=L * D**2 / (4 * tau + 2),
    where=WHERE,
    assumptions=[a.convex_and_smooth],
    conditions=[eta <= 1 / L],
)
"""Drori and Teboulle 2014: gradient descent on convex functions, attained."""

needs_solver = pytest.mark.skipif(find_spec("PEPit") is None, reason="PEPit, of the extra worst-case, is not installed")

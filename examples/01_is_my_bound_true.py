"""Is my bound on the drift of clients true on this run?

A bound is a claim with two sides.  In rationals the answer has no rounding.
"""

import sympy as sp

import fedtheory as ft
from fedtheory import quantities as q

eta, tau, zeta, L = sp.symbols("eta tau zeta L", positive=True)
drift = ft.Claim(
    id="mine:drift",
    lhs=q.max_drift,
    rhs=tau * eta**2 * zeta**2,
    where={eta: q.local_step_size, tau: q.local_steps, zeta: q.gradient_dissimilarity, L: q.smoothness},
    conditions=[eta <= 1 / (4 * L)],
)
run = {
    "problem": {"kind": "quadratic", "hessians": [[["1"]], [["1"]]], "linear": [["1"], ["-1"]], "start": ["0"]},
    "algorithm": {"local_step_size": "1/4", "local_steps": 2, "rounds": 1},
}
found = ft.check(drift, run, arithmetic="rational")
print(found)
print(found.worst.lhs, "is not below", found.worst.rhs)

# It prints:
# <Check mine:drift: violated>
# 49/256 is not below 1/8

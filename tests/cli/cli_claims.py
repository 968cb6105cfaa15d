"""Files with a user's own claims, as text."""

from __future__ import annotations

CONTRACT = """\
import sympy as sp
from fedtheory import Claim
from fedtheory.language import quantities as q

eta, tau, zeta, sigma, L = sp.symbols("eta tau zeta sigma L", positive=True)
drift = Claim(
    id="mine:drift",
    lhs=q.max_drift,
    rhs=18 * tau**2 * eta**2 * zeta**2 + 4 * tau * eta**2 * sigma**2,
    where={eta: q.local_step_size, tau: q.local_steps, zeta: q.gradient_dissimilarity, sigma: q.noise_deviation, L: q.smoothness},
    conditions=[eta <= 1 / (4 * L)],
)
"""  # noqa: E501
"""The user-defined claim of the documentation."""

MINE = """\
import sympy as sp
from fedtheory import Claim
from fedtheory.language import quantities as q

eta, tau, T, D, gap, L, rho = sp.symbols("eta tau T D gap L rho", positive=True)
where = {eta: q.local_step_size, tau: q.local_steps, T: q.rounds, D: q.initial_distance, gap: q.initial_gap}
where[L] = q.smoothness
number = 3

# True, and false, of every run.
steps_are_positive = Claim(id="mine:positive", lhs=0, relation="<", rhs=eta, where=where)
steps_are_huge = Claim(id="mine:huge", lhs=10**9, rhs=eta, where=where)
# True and false, with a recorded verdict.
right = Claim(id="mine:right", lhs=0, relation="<", rhs=eta, where=where, verdict="supported")
wrong = Claim(id="mine:wrong", lhs=0, relation="<", rhs=eta, where=where, verdict="refuted")
wrongly_supported = Claim(id="mine:huge", lhs=10**9, rhs=eta, where=where, verdict="supported")
# With conditions and several terms.
small_steps = Claim(id="mine:small", lhs=eta, rhs=1 / L + T, where=where, conditions=[eta <= 1 / (4 * L), T >= 2])
progress = Claim(id="mine:progress", lhs=q.final_suboptimality, rhs=gap, where=where)
# Ties of the step size 1/10.
tie = Claim(id="mine:tie", lhs=3 * eta, rhs=sp.Rational(3, 10), where=where)
equal = Claim(id="mine:equal", lhs=3 * eta, relation="==", rhs=sp.Rational(3, 10), where=where)
strict = Claim(id="mine:strict", lhs=3 * eta, relation="<", rhs=sp.Rational(3, 10), where=where)
above = Claim(id="mine:above", lhs=3 * eta, relation=">", rhs=sp.Rational(3, 10), where=where)
little = sp.Rational(1, 10**15)
just_below = Claim(id="mine:below", lhs=3 * eta, rhs=sp.Rational(3, 10) - little, where=where)
just_above = Claim(id="mine:room", lhs=3 * eta, relation="<", rhs=sp.Rational(3, 10) + little, where=where)
edge = Claim(id="mine:edge", lhs=0, rhs=eta, where=where, conditions=[3 * eta <= sp.Rational(3, 10)])
over_the_edge = Claim(
    id="mine:over", lhs=0, rhs=eta, where=where, conditions=[3 * eta <= sp.Rational(3, 10) - sp.Rational(1, 10**15)]
)
root = Claim(id="mine:root", lhs=D**2, relation="==", rhs=13, where=where)
# Mistakes.
unbound = Claim(id="mine:unbound", lhs=eta, rhs=rho + gap, where={eta: q.local_step_size})
unbound_condition = Claim(id="mine:condition", lhs=eta, rhs=eta, where={eta: q.local_step_size}, conditions=[rho <= 1])
outside = Claim(id="mine:outside", lhs=eta, rhs=sp.sin(eta), where=where)
float_power = Claim(id="mine:power", lhs=eta, rhs=eta**sp.pi, where=where)
decimal = Claim(id="mine:decimal", lhs=0, rhs=0.5 * eta, where=where)
bare = Claim(id="mine:bare", kind="definition", title="Nothing to check")
"""
"""Claims that are true, false, ties, or invalid."""

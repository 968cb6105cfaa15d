"""An instructor's exercise with a claim, a text and their own solutions."""

OWN = """
import sympy as sp
from fedtheory import Claim, exercises as ex, quantities as q

eta, tau, zeta, sigma, L, M = sp.symbols("eta tau zeta sigma L M", positive=True)
drift = Claim(
    id="mine:drift",
    lhs=q.max_drift,
    rhs=18 * tau**2 * eta**2 * zeta**2 + 4 * tau * eta**2 * sigma**2,
    where={eta: q.local_step_size, tau: q.local_steps, zeta: q.gradient_dissimilarity, sigma: q.noise_deviation,
           L: q.smoothness},
    conditions=[eta <= 1 / (4 * L)],
)
exercise = ex.Assignment(
    id="my-drift",
    title="How far do clients drift?",
    claims=(),
    draw=ex.same_for_all(
        "FedAvg with step size $\\\\eta\\\\le 1/(4L)$.",
        [
            ex.BoundQuestion(name="bound", title="The drift", text="Bound it.", points=6, claim=drift,
                             names=ex.letters_of(eta, tau, zeta, sigma)),
            ex.NumberQuestion(name="half", title="A number", text="What is a half of 3?", points=2,
                              solution=sp.Rational(3, 2)),
            ex.ManualQuestion(name="proof", title="Why", text="Prove it.", points=4, solution="Young."),
        ],
    ),
)
"""

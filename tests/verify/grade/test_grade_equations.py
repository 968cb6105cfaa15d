"""Claims with an equation among their conditions, such as one local step: their bounds are graded like all others."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import sympy as sp

from fedtheory import Claim
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.language.exercises import BoundQuestion
from verify.grade.equations import eliminate_equations
from verify.grade.looseness import measure_looseness

eta, mu, L, sigma, M, T, D, tau = sp.symbols("eta mu L sigma M T D tau", positive=True)
FLOOR = eta * sigma**2 / (M * mu)
REFERENCE = (1 - eta * mu) ** T * D**2 + FLOOR
MINIBATCH = Claim(
    id="own:minibatch",
    lhs=q.final_distance_sq,
    rhs=REFERENCE,
    where={
        eta: q.local_step_size,
        mu: q.strong_convexity,
        L: q.smoothness,
        sigma: q.noise_deviation,
        M: q.clients,
        T: q.rounds,
        D: q.initial_distance,
        tau: q.local_steps,
    },
    conditions=[eta <= 1 / L, sp.Eq(tau, 1)],
    assumptions=[a.strongly_convex_clients, a.unbiased_bounded_variance, a.full_participation, a.unit_server_step],
)


def test_an_equation_is_solved_for_a_symbol() -> None:
    """An equation is solved for a symbol that stands alone, else for the first one in which it is linear."""
    assert eliminate_equations([eta <= tau, sp.Eq(tau, 1)], [tau * eta]) == ([eta <= 1], (eta,))
    assert eliminate_equations([sp.Eq(2 * eta * L, 1)], [L]) == ([], (1 / (2 * eta),))
    assert eliminate_equations([sp.Eq(eta**2, L), eta <= 1], [L]) == ([eta <= 1], (eta**2,))
    assert eliminate_equations([sp.Ne(eta, 1), eta <= 1], [eta]) == ([eta <= 1], (eta,))
    assert eliminate_equations([sp.Eq(eta, 2 / (mu + L)), sp.Eq(mu, L)], [eta]) == ([], (1 / mu,))


def test_an_equation_that_cannot_be_solved() -> None:
    """If an equation cannot be solved, there are no values to compare, and only the runs decide."""
    assert eliminate_equations([sp.Eq(sp.exp(eta), tau**2)], [eta]) is None
    assert eliminate_equations([sp.Or(eta <= 1, tau <= 1)], [eta]) is None
    assert measure_looseness(replace(MINIBATCH, conditions=(sp.Eq(eta**2, mu**2),)), FLOOR) is None


@pytest.mark.parametrize(
    ("answer", "excess"),
    [
        (REFERENCE, 1.0),
        (3 * REFERENCE, 3.0),
        ((1 - eta * mu) ** (2 * T) * D**2 + FLOOR, 1.0),
        (REFERENCE + M * FLOOR, math.inf),
    ],
)
def test_the_excess_of_a_bound_for_one_local_step(answer: sp.Expr, excess: float) -> None:
    """The excess of a bound is measured over the values that satisfy the equation."""
    found = measure_looseness(MINIBATCH, answer)
    assert found is not None
    assert found.excess == pytest.approx(excess)


def test_a_condition_about_a_symbol_that_is_not_asked_for_says_what_it_is() -> None:
    """A condition explains its symbol if the answer does not use it, so that the text need not introduce it."""
    names = {str(symbol): symbol for symbol in (eta, mu, L, sigma, M, T, D)}
    question = BoundQuestion(name="bound", title="", text="", points=1, claim=MINIBATCH, names=names)
    assert question.option_list.endswith(
        "and $\\tau = 1$. Here $\\tau$ is: local steps per round, the same for all clients."
    )
    assert "Here" not in replace(question, names=names | {"tau": tau}).option_list

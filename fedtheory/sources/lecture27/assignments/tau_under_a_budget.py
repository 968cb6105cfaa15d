"""Assignment: the number of local steps under a budget of computation and communication."""

from __future__ import annotations

from math import sqrt

import sympy as sp

from fedtheory.language import exercises as ex

_SYMBOLS = (("tau", "c", "b", "R"), ("K", "a", "m", "B"), ("E", "u", "v", "W"), ("H", "p", "q", "R"))
_MOST = 40
tau, c, b, R = sp.symbols("tau c b R", positive=True)


def compute_drift(steps: int, size: float, smoothness: float, divergence: float) -> float:
    """Return h(tau) in floats."""
    return divergence / smoothness * ((size * smoothness + 1) ** steps - 1) - size * divergence * steps


def find_best_steps(costs: tuple[int, int, int], constants: tuple[float, float, float, float, float]) -> int:
    """Return the integer tau up to 40 with the smallest bound, for costs (c, b, R) and (eta, beta, delta, rho, phi)."""
    step_cost, round_cost, budget = costs
    size, smoothness, divergence, lipschitz, progress = constants

    def bound(steps: int) -> float:
        iterations = budget * steps / (step_cost * steps + round_cost)
        lost = lipschitz * compute_drift(steps, size, smoothness, divergence)
        first = 1 / (2 * size * progress * iterations)
        return first + sqrt(first**2 + lost / (size * progress * steps)) + lost

    return min(range(1, _MOST + 1), key=bound)


def _write_questions(draw: ex.Draw) -> tuple[str, str, tuple[ex.Question, ...]]:
    """Return introduction, worked example and questions, with random symbols and numbers."""
    symbols = draw.choice("letters", _SYMBOLS)
    names = dict(zip(symbols, (tau, c, b, R), strict=True))
    count, local, global_, budget = map(ex.tex, symbols)
    costs = (draw.integer("c", 1, 4), draw.integer("b", 10, 90), draw.integer("R", 20, 90) * 1000)
    size, divergence = sp.Rational(1, draw.integer("size", 20, 60)), sp.Rational(1, draw.integer("divergence", 5, 30))
    constants = (float(size), 1.0, float(divergence), 1.0, 0.5)
    local_steps = draw.integer("steps", 2, 9)
    spent = R * tau / (c * tau + b)
    one = "one local step"
    introduction = (
        f"A local step costs ${local}$, an aggregation ${global_}$, and the budget is ${budget}$ "
        f"(lecture 27 and Wang et "
        f"al. 2019). There is an aggregation after every ${count}$ local steps; $T$ counts local "
        f"steps. The bound on the "
        r"best aggregated model is $\frac1{2\eta\varphi T}+\sqrt{\frac1{4\eta^2\varphi^2T^2}+"
        rf"\frac{{\rho h({count})}}{{\eta\varphi {count}}}}}+\rho h({count})$ with "
        r"$h(x)=\frac\delta\beta[(\eta\beta+1)^x-1]-\eta\delta x$."
    )
    worked = rf"A run of $T$ local steps has $T/{count}$ aggregations, so that it costs $T({local}+{global_}/{count})$."
    questions: tuple[ex.Question, ...] = (
        ex.ExpressionQuestion.worth(3, "iterations", "Local steps within the budget")(
            text="How many local steps $T$ does the whole budget pay for?",
            solution=spent,
            names=names,
        ),
        ex.ExpressionQuestion.worth(2, "aggregations", "Aggregations")(
            text="And how many aggregations?",
            solution=R / (c * tau + b),
            names=names,
        ),
        ex.NumberQuestion.worth(2, "number", "In numbers")(
            text=(
                f"What is $T$, as a fraction, for ${local}={costs[0]}$, ${global_}={costs[1]}$, "
                f"${budget}={costs[2]}$ and "
                f"${count}={local_steps}$?"
            ),
            solution=spent.subs({c: costs[0], b: costs[1], R: costs[2], tau: local_steps}),
        ),
        ex.NumberQuestion.worth(5, "best", "The best number of local steps")(
            text=(
                rf"With these costs, $\eta={size}$, $\beta=1$, $\delta={divergence}$, $\rho=1$ and $\varphi=\frac12$: "
                rf"which whole ${count}$ from 1 to {_MOST} makes the bound smallest?"
            ),
            solution=sp.Integer(find_best_steps(costs, constants)),
        ),
        ex.ChoiceQuestion.worth(1, "free", "Free communication")(
            text=f"Which ${count}$ is best where an aggregation costs nothing?",
            options=draw.shuffled("free", (one, "as many as possible", "it does not matter", "two local steps")),
            solution=one,
            why="then T does not depend on the number of local steps, and h(1) = 0",
        ),
    )
    return introduction, worked, questions


ASSIGNMENT = ex.Assignment(
    "tau-under-a-budget",
    "Choose the number of local steps under a budget",
    ("lecture27:resource", "lecture27:thm-2.explicit", "lecture27:tau-choice"),
    _write_questions,
    level="intermediate",
)

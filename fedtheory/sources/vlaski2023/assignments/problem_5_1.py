"""Problem 5.1 of the chapter: the limit point of federated averaging without normalisation."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from fedtheory.language import exercises as ex

_SYMBOLS = ("mu", "eta", "gamma", "alpha")
E_1, E_2, h_1, h_2, w_1, w_2, step = sp.symbols("E_1 E_2 h_1 h_2 w_1 w_2 step", positive=True)


def compute_limiting_point(steps: list[int], curvatures: list[int], optima: list[int]) -> Fraction:
    """Return the minimiser of sum_k E_k h_k (w - w_k)^2 / 2."""
    weights = [e * h for e, h in zip(steps, curvatures, strict=True)]
    return Fraction(sum(a * w for a, w in zip(weights, optima, strict=True)), sum(weights))


def _write_questions(draw: ex.Draw) -> tuple[str, str, tuple[ex.Question, ...]]:
    """Return introduction, worked example and questions, with random symbols and numbers."""
    symbol = draw.choice("letter", _SYMBOLS)
    names = {"E_1": E_1, "E_2": E_2, "h_1": h_1, "h_2": h_2, "w_1": w_1, "w_2": w_2, symbol: step}
    steps = [draw.integer(f"E{k}", 1, 6) for k in range(3)]
    curvatures = [draw.integer(f"h{k}", 1, 5) for k in range(3)]
    optima = [draw.integer(f"w{k}", -7, 7) for k in range(3)]
    data = ", ".join(
        f"$E_{k}={e}$, $h_{k}={h}$, $w_{k}={w}$"
        for k, (e, h, w) in enumerate(zip(steps, curvatures, optima, strict=True), 1)
    )
    mu = ex.tex(symbol)
    introduction = (
        f"Agents $k=1,\\dots,K$ take $E_k$ local steps with a common step size ${mu}$, without the normalisation "
        f"$\\mu_k={mu}/E_k$, and a server averages (Problem 5.1 of the chapter). On the line, let "
        r"$J_k(w)=\frac{h_k}2(w-w_k)^2$."
    )
    worked = (
        f"For small ${mu}$ an agent's update is $-{mu} E_kJ_k'(w)$ up to $O({mu}^2)$: the step of a gradient method "
        "on another cost."
    )
    exact, plain = (
        compute_limiting_point(steps, curvatures, optima),
        compute_limiting_point([1, 1, 1], curvatures, optima),
    )
    questions: tuple[ex.Question, ...] = (
        ex.ExpressionQuestion.worth(4, "limit", "The limiting point of two agents")(
            text=rf"To which point do the iterates tend as ${mu}\to0$, for $K=2$?",
            solution=(E_1 * h_1 * w_1 + E_2 * h_2 * w_2) / (E_1 * h_1 + E_2 * h_2),
            names=names,
        ),
        ex.NumberQuestion.worth(3, "point", "Three agents")(
            text=f"Let $K=3$, {data}. What is the limiting point?",
            solution=sp.Rational(exact),
        ),
        ex.NumberQuestion.worth(3, "cost", "How far it is from the optimum")(
            text=r"How far is that from the minimiser of $\frac1K\sum_kJ_k$?",
            solution=sp.Rational(abs(exact - plain)),
        ),
        ex.ExpressionQuestion.worth(2, "repair", "The repair")(
            text=f"Which step size of agent 1 makes its part of the limit independent of $E_1$, with ${mu}$ as scale?",
            solution=step / E_1,
            names=names,
        ),
        ex.ManualQuestion.worth(3, "why", "The cost that is minimised")(
            text="Find the cost for which the approximation is unbiased for any number of agents, and say why.",
            solution=(
                r"$\frac1K\sum_kE_kJ_k$: agents are drawn uniformly, each local step is unbiased for $\nabla J_k$, and "
                r"there are $E_k$ of them, so that the expected update at $w$ is "
                rf"$-{mu}\frac1K\sum_kE_k\nabla J_k(w)$."
            ),
            criteria=("the cost is named (1)", "the expectation over agents and over samples is taken (2)"),
        ),
    )
    return introduction, worked, questions


ASSIGNMENT = ex.Assignment(
    "problem-5.1",
    "Problem 5.1: averaging without normalisation",
    ("vlaski2023:problem-5.1", "vlaski2023:problem-5.1.limit"),
    _write_questions,
    level="introductory",
)

"""From the lemmas to the theorem, and the step size that the theorem suggests."""

from __future__ import annotations

import sympy as sp

from fedtheory.language import exercises as ex
from fedtheory.language.registry import find
from fedtheory.sources.renard2022.assignments.step_symbols import SYMBOLS
from fedtheory.sources.renard2022.statements.notation import D, L, M, T, eta, sigma, tau, zeta


def _write_questions(draw: ex.Draw) -> tuple[str, str, tuple[ex.Question, ...]]:
    """Return introduction, worked example and questions, with random symbols and numbers."""
    step, steps = draw.choice("letters", SYMBOLS)
    names = {step: eta, steps: tau, "zeta": zeta, "sigma": sigma, "L": L, "M": M, "T": T, "D": D}
    symbol, count = ex.tex(step), ex.tex(steps)
    clients, rounds, local, factor = (
        draw.integer("clients", 2, 6),
        draw.integer("rounds", 10, 60),
        draw.integer("local", 2, 8),
        draw.integer("factor", 2, 5),
    )
    best = D * sp.sqrt(M) / (sigma * sp.sqrt(2 * tau * T))
    value = {D: factor, sigma: 1, M: clients, tau: local, T: rounds}
    stays = "it tends to a positive number that depends on the step size"
    introduction = (
        f"FedAvg, $T$ rounds of ${count}$ local steps of size ${symbol}\\le\\frac1{{4L}}$; $D=\\|x^{{(0)}}-x^*\\|$. "
        rf"The left side is $\mathbb E\left[\frac1{{{count} T}}\sum_{{t=0}}^{{T-1}}\sum_{{k=1}}^{count}"
        r"F(\bar x^{(t,k)})-F(x^*)\right]$, as in Theorem 2.1 of Renard 2022."
    )
    worked = (
        rf"Average the progress of all rounds: the distances telescope to $\frac{{D^2}}{{2{symbol}{count} T}}$, the "
        rf"noise stays $\frac{{{symbol}\sigma^2}}M$, and the drift of a round enters with the factor $L$."
    )
    questions: tuple[ex.Question, ...] = (
        ex.BoundQuestion.worth(6, "bound", "Assemble the theorem")(
            text=rf"Put the pieces together: give a bound for all ${symbol}\le\frac1{{4L}}$.",
            claim=find("renard2022:thm-2.1"),
            names=names,
        ),
        ex.ExpressionQuestion.worth(3, "best_step", "Choose the step size")(
            text=(rf"Which ${symbol}$ makes $\frac{{D^2}}{{2{symbol}{count} T}}+\frac{{{symbol}\sigma^2}}M$ smallest?"),
            solution=best,
            names=names,
        ),
        ex.ExpressionQuestion.worth(2, "best_value", "The bound at this step size")(
            text="What are these two terms together at that step size?",
            solution=D * sigma * sp.sqrt(2) / sp.sqrt(M * tau * T),
            names=names,
        ),
        ex.NumberQuestion.worth(2, "step_size", "In numbers")(
            text=(
                rf"What is that step size for $D={factor}$, $\sigma=1$, $M={clients}$, ${count}={local}$ and "
                f"$T={rounds}$?"
            ),
            solution=best.subs(value),
            tolerance=sp.Rational(1, 1000),
        ),
        ex.ChoiceQuestion.worth(2, "limit", "More rounds")(
            text=r"What becomes of the bound as $T\to\infty$ at a constant step size, where $\sigma>0$?",
            options=draw.shuffled(
                "limit",
                ("it tends to zero like $1/T$", r"it tends to zero like $1/\sqrt T$", stays, "it grows without bound"),
            ),
            solution=stays,
            why="only the first term depends on T; the others are a noise floor independent of T",
        ),
    )
    return introduction, worked, questions


ASSIGNMENT = ex.Assignment(
    "theorem-and-step-size",
    "Assemble the theorem and choose the step size",
    ("renard2022:thm-2.1", "renard2022:thm-2.1.rate"),
    _write_questions,
    level="advanced",
)

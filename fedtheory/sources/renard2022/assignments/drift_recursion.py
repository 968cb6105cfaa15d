"""The recursion of the client drift, its solution, and the bound that follows from it."""

from __future__ import annotations

import sympy as sp

from fedtheory.language import exercises as ex
from fedtheory.language.registry import find
from fedtheory.sources.renard2022.assignments.step_symbols import SYMBOLS
from fedtheory.sources.renard2022.statements.notation import L, M, eta, sigma, tau, zeta


def _write_questions(draw: ex.Draw) -> tuple[str, str, tuple[ex.Question, ...]]:
    """Return introduction, worked example and questions, with random symbols and numbers."""
    step, steps = draw.choice("letters", SYMBOLS)
    names = {step: eta, steps: tau, "zeta": zeta, "sigma": sigma, "L": L, "M": M}
    number, offset = draw.integer("steps", 3, 9), draw.integer("offset", 2, 12)
    k, c = sp.Symbol("k", positive=True), sp.Symbol("c", positive=True)
    growth = 1 + 1 / tau
    solved = tau * c * (growth**k - 1)
    value = solved.subs({tau: number, c: offset, k: number})
    symbol, count = ex.tex(step), ex.tex(steps)
    introduction = (
        "FedAvg on convex and smooth functions, as in Theorem 2.1 of Renard 2022: $M$ clients make "
        f"${count}$ local steps of size ${symbol}\\le\\frac1{{4L}}$ between averages; the stochastic gradients are "
        r"unbiased with variance at most $\sigma^2$, and $\|\nabla F_i(x)-\nabla F(x)\|\le\zeta$."
    )
    worked = (
        r"For two clients $i,j$ let $a_k=\mathbb E\|x_i^{(t,k)}-x_j^{(t,k)}\|^2$; $a_0=0$. Expand the square after one "
        "step, use that the noises are independent, and Young's inequality with weights that add a "
        rf"factor $1+\frac1{{{count}}}$: $a_{{k+1}}\le\left(1+\frac1{{{count}}}\right)a_k+c$, where $c$ does "
        "not depend on $k$."
    )
    tried = tuple((str(number), str(offset), str(at)) for at in (0, 1, 2, number))
    expected = tuple(str(solved.subs({tau: number, c: offset, k: at})) for at in (0, 1, 2, number))
    questions: tuple[ex.Question, ...] = (
        ex.ExpressionQuestion.worth(4, "solved", "Solve the recursion")(
            text=(
                rf"Let $a_{{k+1}}=\left(1+\frac1{{{count}}}\right)a_k+c$ and $a_0=0$. Give $a_k$ in closed form, with "
                f"the symbols `k`, `c` and `{steps}`."
            ),
            solution=solved,
            names={"k": k, "c": c, steps: tau},
        ),
        ex.CodeQuestion.worth(3, "iterate", "Iterate the recursion")(
            text=f"Write a function that returns $a_k$ by iterating, for given ${count}$, $c$ and $k$.",
            arguments=("steps", "c", "k"),
            tried=tried,
            expected=expected,
            body="    a = 0\n    for _ in range(int(k)):\n        a = (1 + 1 / steps) * a + c\n    return a",
        ),
        ex.NumberQuestion.worth(2, "last", "The last step")(
            text=f"What is $a_k$ for $k={count}={number}$ and $c={offset}$?",
            solution=value,
        ),
        ex.BoundQuestion.worth(6, "drift", "Bound the drift")(
            text=(
                r"Give an upper bound for $\max_{t,k,i}\mathbb E\|x_i^{(t,k)}-\bar x^{(t,k)}\|^2$ that holds for all "
                f"step sizes ${symbol}\\le\\frac1{{4L}}$."
            ),
            claim=find("renard2022:lemma-2.3"),
            names=names,
        ),
    )
    return introduction, worked, questions


ASSIGNMENT = ex.Assignment(
    "drift-recursion",
    "Find the drift recursion and solve it",
    ("renard2022:lemma-2.3",),
    _write_questions,
    level="intermediate",
)

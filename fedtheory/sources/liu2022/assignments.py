"""Assignment on linear speed-up: the step size, the limit on local steps, and its cost in rounds."""

from __future__ import annotations

import sympy as sp

from fedtheory.language import exercises as ex
from fedtheory.language.registry import find
from fedtheory.sources.liu2022.statements.notation import G, K, L, N, T, gap, s, sigma

_SYMBOLS = (("s", "K"), ("eta", "H"), ("gamma", "E"), ("alpha", "Q"))


def _write_questions(draw: ex.Draw) -> tuple[str, str, tuple[ex.Question, ...]]:
    """Return introduction, worked example and questions, with random symbols and numbers."""
    step, steps = draw.choice("letters", _SYMBOLS)
    names = {step: s, steps: K, "N": N, "T": T, "L": L, "G": G, "sigma": sigma, "gap": gap}
    symbol, count = ex.tex(step), ex.tex(steps)
    clients, most = draw.integer("clients", 2, 6), draw.integer("most", 2, 5)
    iterations = clients**3 * most**4 + draw.integer("more", 0, clients**3)
    quarter, three = sp.Rational(1, 4), sp.Rational(3, 4)
    right = "half as many"
    introduction = (
        f"FedAvg: $N$ clients, an average after every ${count}$ local steps, $T$ iterations in all (Theorem 1 and "
        r"Corollary 2 of Liu 2022): $L$-smooth functions, unbiased gradients with variance at most $\sigma^2$ and "
        r"second moment at most $G^2$. The left side is $\frac1T\sum_{t=1}^T\mathbb E\|\nabla f(\bar x^{t-1})\|^2$, "
        r"and `gap` is $f(\bar x^0)-f^*$."
    )
    worked = (
        r"The descent lemma for $\bar x^t$ gives $\mathbb E f(\bar x^t)\le\mathbb E f(\bar x^{t-1})-\frac"
        rf"{{{symbol}}}2\mathbb E\|\nabla f(\bar x^{{t-1}})\|^2+\frac{{{symbol} L^2}}2\,(\text{{drift}})+"
        rf"\frac{{L{symbol}^2\sigma^2}}{{2N}}$ for ${symbol}\le\frac1L$, and no client is further from the mean than "
        rf"${count}$ steps bring it: the drift is at most $4{symbol}^2{count}^2G^2$."
    )
    questions: tuple[ex.Question, ...] = (
        ex.BoundQuestion.worth(5, "bound", "The theorem")(
            text=rf"Divide, sum over $t$, and give a bound for all ${symbol}\le\frac1L$.",
            claim=find("liu2022:thm-1"),
            names=names,
        ),
        ex.ExpressionQuestion.worth(2, "tuned", "The bound at the step size of the corollary")(
            text=rf"Insert ${symbol}=\frac{{\sqrt N}}{{L\sqrt T}}$ into $\frac2{{{symbol} T}}\,$`gap`$+4{symbol}^2"
            rf"{count}^2G^2L^2+\frac LN{symbol}\sigma^2$.",
            solution=2 * L * gap / sp.sqrt(N * T) + 4 * N * K**2 * G**2 / T + sigma**2 / sp.sqrt(N * T),
            names=names,
        ),
        ex.ExpressionQuestion.worth(3, "most_steps", "The limit on local steps")(
            text=rf"Up to which ${count}$ is the middle term at most $\frac{{4G^2}}{{\sqrt{{NT}}}}$?",
            solution=T**quarter / N**three,
            names=names,
        ),
        ex.NumberQuestion.worth(2, "whole", "In numbers")(
            text=rf"What is the largest whole ${count}$ for $N={clients}$ and $T={iterations}$?",
            solution=sp.Integer(_find_largest(iterations, clients)),
        ),
        ex.ExpressionQuestion.worth(2, "fewest_rounds", "Rounds")(
            text="How many rounds does a run of $T$ iterations take at that limit?",
            solution=T**three * N**three,
            names=names,
        ),
        ex.ChoiceQuestion.worth(1, "speedup", "Twice the clients")(
            text=r"As long as the limit is kept, how many iterations reach the same accuracy with twice the clients?",
            options=draw.shuffled("speedup", ("as many", right, r"$1/\sqrt2$ times as many", "a quarter")),
            solution=right,
            why="the bound depends on N and T by NT only",
        ),
    )
    return introduction, worked, questions


def _find_largest(iterations: int, clients: int) -> int:
    """Return the largest K with K^4 N^3 <= T."""
    found = 0
    while (found + 1) ** 4 * clients**3 <= iterations:
        found += 1
    return found


ASSIGNMENTS = [
    ex.Assignment(
        "linear-speedup",
        "Linear speed-up: the limit on local steps",
        ("liu2022:thm-1", "liu2022:cor-2.step", "liu2022:cor-2.K"),
        _write_questions,
        level="advanced",
    )
]

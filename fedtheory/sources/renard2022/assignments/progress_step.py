"""The progress of one round: the step-size condition, Young's inequality, and the bound."""

from __future__ import annotations

import sympy as sp

from fedtheory.language import exercises as ex
from fedtheory.language.registry import find
from fedtheory.sources.renard2022.assignments.step_symbols import SYMBOLS
from fedtheory.sources.renard2022.statements.notation import *


def _write_questions(draw: ex.Draw) -> tuple[str, str, tuple[ex.Question, ...]]:
    """Return introduction, worked example and questions, with random symbols and numbers."""
    step, steps = draw.choice("letters", SYMBOLS)
    names = {step: eta, steps: tau, "zeta": zeta, "sigma": sigma, "L": L, "M": M}
    symbols = {**names, "before": distance_before, "after": distance_after, "drift": round_drift}
    symbol, count = ex.tex(step), ex.tex(steps)
    clients, curvature, deviation = (
        draw.integer("clients", 2, 9),
        draw.integer("curvature", 2, 9),
        draw.integer("deviation", 1, 5),
    )
    introduction = (
        f"One round of FedAvg with $M$ clients and ${count}$ local steps of size ${symbol}$ on convex, $L$-smooth "
        r"functions with unbiased gradients of variance at most $\sigma^2$. The mean suboptimality over the round is "
        rf"$\mathbb E\left[\frac1{count}\sum_{{k=1}}^{count}F(\bar x^{{(t,k)}})-F(x^*)\right]$ (Lemma 2.2 of Renard "
        r"2022). Let `before` be $\mathbb E\|\bar x^{(t,0)}-x^*\|^2$, `after` be "
        rf"$\mathbb E\|\bar x^{{(t,{count})}}-x^*\|^2$, and `drift` be "
        rf"$\frac1{{M{count}}}\sum_{{i=1}}^M\sum_{{k=1}}^{{{count}-1}}\mathbb E\|x_i^{{(t,k)}}-\bar x^{{(t,k)}}\|^2$."
    )
    worked = (
        "For one local step, smoothness and convexity give, with the averaged stochastic gradient $g$ and its noise "
        rf"$n$: $F(\bar x')-F(x^*)\le\langle g,\bar x'-x^*\rangle+\langle n,\bar x'-x^*\rangle+L\|\bar x'-\bar x\|^2"
        r"+\frac LM\sum_i\|\bar x-x_i\|^2$. The first product is "
        rf"$\frac1{{2{symbol}}}(\|\bar x-x^*\|^2-\|\bar x'-\bar x\|^2-\|\bar x'-x^*\|^2)$."
    )
    questions: tuple[ex.Question, ...] = (
        ex.ExpressionQuestion.worth(2, "largest_step", "The condition on the step size")(
            text=rf"Up to which step size is $\frac1{{2{symbol}}}-L\ge\frac1{{4{symbol}}}$?",
            solution=1 / (4 * L),
            names=names,
        ),
        ex.ExpressionQuestion.worth(2, "weight", "Young's inequality")(
            text=(
                r"Young's inequality is $\langle a,b\rangle\le\frac{w}2\|a\|^2+\frac1{2w}\|b\|^2$. Which weight $w$ "
                rf"makes the last term $\frac1{{4{symbol}}}\|b\|^2$?"
            ),
            solution=2 * eta,
            names=names,
        ),
        ex.NumberQuestion.worth(2, "floor", "The noise term")(
            text=(
                rf"What does the noise add to the bound for $M={clients}$, $\sigma={deviation}$ and the largest "
                rf"admissible step size, where $L={curvature}$?"
            ),
            solution=sp.Rational(deviation**2, 4 * curvature * clients),
        ),
        ex.BoundQuestion.worth(6, "progress", "The progress of one round")(
            text=rf"Give an upper bound for the progress that holds for all ${symbol}\le\frac1{{4L}}$.",
            claim=find("renard2022:lemma-2.2.fixed"),
            names=symbols,
        ),
        ex.ManualQuestion.worth(5, "proof", "Prove it")(
            text="Prove the bound of one local step, and sum it over the round.",
            solution=(
                rf"Insert the product. The move $\|\bar x'-\bar x\|^2$ has the factor $L-\frac1{{2{symbol}}}\le"
                rf"-\frac1{{4{symbol}}}$. Given the past, the noise has mean zero, so $\bar x'-x^*$ may be replaced "
                rf"by $\bar x'-\bar x$; Young's inequality bounds it by ${symbol}\,\mathbb E\|n\|^2+\frac1{{4{symbol}}}"
                rf"\mathbb E\|\bar x'-\bar x\|^2$, and $\mathbb E\|n\|^2\le\sigma^2/M$. The moves cancel. Sum over $k$ "
                rf"and divide by ${count}$: the distances telescope."
            ),
            criteria=(
                "the step-size condition is used for the move (2)",
                "the noise is independent of the past and averaged over clients (2)",
                "the sum telescopes (1)",
            ),
        ),
    )
    return introduction, worked, questions


ASSIGNMENT = ex.Assignment(
    "progress-step",
    "The per-round progress step",
    ("renard2022:lemma-2.2", "renard2022:lemma-2.2.fixed"),
    _write_questions,
    level="intermediate",
)

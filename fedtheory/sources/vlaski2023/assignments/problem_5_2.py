"""Problem 5.2 of the chapter: the variance of an average over sampled agents."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import sympy as sp

from fedtheory.language import exercises as ex

_SYMBOLS = (("K", "L"), ("M", "m"), ("N", "S"), ("K", "P"))
everyone, drawn, spread, noise = sp.symbols("everyone drawn spread noise", positive=True)


def compute_sampled_variance(values: list[int], size: int) -> Fraction:
    """Return E|mean of a uniform subset - mean of all|^2, by enumeration."""
    middle = Fraction(sum(values), len(values))
    subsets = list(combinations(values, size))
    return sum(((Fraction(sum(s), size) - middle) ** 2 for s in subsets), Fraction(0)) / len(subsets)


def _write_questions(draw: ex.Draw) -> tuple[str, str, tuple[ex.Question, ...]]:
    """Return introduction, worked example and questions, with random symbols and numbers."""
    K, L = draw.choice("letters", _SYMBOLS)
    names = {K: everyone, L: drawn, "spread": spread, "noise": noise}
    values = [draw.integer(f"a{k}", -8, 8) for k in range(5)]
    size = draw.integer("size", 2, 4)
    factor = (everyone - drawn) / (drawn * (everyone - 1))
    tried = tuple((str(k), str(n)) for k, n in ((5, 2), (7, 3), (4, 4), (9, 1)))
    expected = tuple(str(factor.subs({everyone: int(k), drawn: int(n)})) for k, n in tried)
    introduction = (
        f"Of ${K}$ agents a server draws ${L}$ uniformly without replacement, and averages their vectors $\\psi_k$ "
        r"(Lemma 5.1 of the chapter). $\mathbb 1_k$ says whether agent $k$ is drawn; `spread` is "
        rf"$\frac1{K}\sum_k\|\bar\psi-\mathbb E\psi_k\|^2$ with $\bar\psi=\frac1{K}\sum_k\mathbb E\psi_k$, and `noise` "
        rf"is $\frac1{K}\sum_k\mathbb E\|\psi_k-\mathbb E\psi_k\|^2$. The $\psi_k$ are independent of "
        rf"each other and of "
        "who is drawn."
    )
    worked = rf"$\mathbb E\mathbb 1_k=\frac{{{L}}}{{{K}}}$, because all subsets are equally likely."
    questions: tuple[ex.Question, ...] = (
        ex.ExpressionQuestion.worth(2, "pair", "Two agents at once")(
            text=r"What is $\mathbb E\mathbb 1_k\mathbb 1_l$ for $k\neq l$?",
            solution=drawn * (drawn - 1) / (everyone * (everyone - 1)),
            names=names,
        ),
        ex.ExpressionQuestion.worth(4, "sampling", "The sampling term")(
            text=r"Without noise, what is the expected squared distance of the average from $\bar\psi$?",
            solution=factor * spread,
            names=names,
        ),
        ex.ExpressionQuestion.worth(3, "both", "With noise")(
            text="What is it with noise?",
            solution=factor * spread + noise / drawn,
            names=names,
        ),
        ex.CodeQuestion.worth(2, "factor", "The factor")(
            text=f"Write a function that returns the factor of `spread` for given ${K}$ and ${L}$.",
            arguments=("everyone", "drawn"),
            tried=tried,
            expected=expected,
            body="    return (everyone - drawn) / (drawn * (everyone - 1))",
        ),
        ex.NumberQuestion.worth(2, "subset", "Five agents")(
            text=(
                f"Let the vectors be the numbers {', '.join(map(str, values))}, and ${L}={size}$. What is the variance?"
            ),
            solution=sp.Rational(compute_sampled_variance(values, size)),
        ),
        ex.ManualQuestion.worth(4, "proof", "Prove it")(
            text="Prove the formula with noise.",
            solution=(
                rf"With $a_k=\mathbb E\psi_k-\bar\psi$, so that $\sum_ka_k=0$: $\mathbb "
                rf"E\|\frac1{L}\sum_k\mathbb 1_ka_k"
                rf"\|^2=\frac1{{{L}^2}}(\frac{{{L}}}{{{K}}}-\mathbb E\mathbb 1_k\mathbb 1_l)\sum_k\|a_k\|^2$, because "
                r"$\sum_{k\neq l}\langle a_k,a_l\rangle=-\sum_k\|a_k\|^2$. The noises are independent "
                r"of each other and "
                rf"of the draw: they add $\frac1{{{L}^2}}\frac{{{L}}}{{{K}}}\sum_k\mathbb E\|\psi_k-\mathbb "
                rf"E\psi_k\|^2$, and no "
                "cross term."
            ),
            criteria=("pairs are treated (2)", "the cross term with the noise vanishes, with the reason (2)"),
        ),
    )
    return introduction, worked, questions


ASSIGNMENT = ex.Assignment(
    "problem-5.2",
    "Problem 5.2: the average of sampled agents",
    ("vlaski2023:problem-5.2", "vlaski2023:lemma-5.1"),
    _write_questions,
    level="intermediate",
)

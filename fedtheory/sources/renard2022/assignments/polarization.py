"""Assignment: the polarization identity, its proof, its misprint in the notes, and its use in a progress step."""

from __future__ import annotations

import sympy as sp

from fedtheory.language import exercises as ex

_SYMBOLS = (("A", "B", "C", "D"), ("P", "Q", "R", "S"), ("U", "V", "W", "Z"), ("X", "Y", "G", "H"))
first, second, plus, minus = sp.symbols("first second plus minus", positive=True)


def _write_questions(draw: ex.Draw) -> tuple[str, str, tuple[ex.Question, ...]]:
    """Return introduction, worked example and questions, with random symbols and numbers."""
    symbols = draw.choice("letters", _SYMBOLS)
    names = dict(zip(symbols, (first, second, plus, minus), strict=True))
    a, b, c, d = map(ex.tex, symbols)
    u = [draw.integer(f"u{place}", -6, 6) for place in range(3)]
    v = [draw.integer(f"v{place}", 1, 7) for place in range(3)]
    of_u, of_v = (sum(x * x for x in vector) for vector in (u, v))
    of_sum = sum((x + y) ** 2 for x, y in zip(u, v, strict=True))
    introduction = (
        rf"Let $a,b\in\mathbb R^d$. Write ${a}=\|a\|^2$, ${b}=\|b\|^2$, ${c}=\|a+b\|^2$ and ${d}=\|a-b\|^2$. The "
        r"polarization identity expresses $\langle a,b\rangle$ by squares; Property 2.4 of Renard 2022 prints it as "
        r"$\langle a,b\rangle=\frac12\|a+b\|^2-\|a\|^2-\|b\|^2=\frac12\|a\|^2+\|b\|^2-\|a-b\|^2$."
    )
    worked = rf"Expand one square: ${c}=\|a+b\|^2={a}+2\langle a,b\rangle+{b}$."
    questions: tuple[ex.Question, ...] = (
        ex.ManualQuestion.worth(4, "proof", "Prove the identity")(
            text=r"Prove both forms of the identity, with the brackets that the print has lost.",
            solution=(
                rf"From ${c}={a}+2\langle a,b\rangle+{b}$: $\langle a,b\rangle=\frac12({c}-{a}-{b})$. "
                rf"From ${d}={a}-2\langle a,b\rangle+{b}$: $\langle a,b\rangle=\frac12({a}+{b}-{d})$."
            ),
            criteria=("each square is expanded (2)", "both forms are solved for the inner product (2)"),
        ),
        ex.ExpressionQuestion.worth(2, "by_difference", "By the difference")(
            text=rf"Give $\langle a,b\rangle$ in terms of ${a}$, ${b}$ and ${d}$.",
            solution=(first + second - minus) / 2,
            names=names,
        ),
        ex.ExpressionQuestion.worth(3, "slip", "The error of the print")(
            text=(
                r"The first form as printed is $\frac12\|a+b\|^2-\|a\|^2-\|b\|^2$. What is it minus "
                rf"$\langle a,b\rangle$, in terms of ${a}$ and ${b}$?"
            ),
            solution=-(first + second) / 2,
            names=names,
        ),
        ex.NumberQuestion.worth(2, "product", "Squares to a product")(
            text=rf"Let ${a}={of_u}$, ${b}={of_v}$ and ${c}={of_sum}$. What is $\langle a,b\rangle$?",
            solution=sp.Rational(of_sum - of_u - of_v, 2),
        ),
        ex.ExpressionQuestion.worth(3, "step", "One local step")(
            text=(
                rf"Now ${a}=\|\bar x-x^*\|^2$ before a step, ${b}=\|\bar x'-x^*\|^2$ after it, and "
                rf"${d}=\|\bar x-\bar x'\|^2$. Give $\langle\bar x-\bar x',\ \bar x'-x^*\rangle$ in these three."
            ),
            solution=(first - second - minus) / 2,
            names=names,
        ),
    )
    return introduction, worked, questions


ASSIGNMENT = ex.Assignment(
    "polarization",
    "Prove the polarization identity",
    ("renard2022:property-2.4", "renard2022:lemma-2.2.proof.polarize"),
    _write_questions,
    level="introductory",
)

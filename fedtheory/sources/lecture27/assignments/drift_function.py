"""The drift function h(x) of distributed gradient descent, and its properties."""

from __future__ import annotations

import sympy as sp

from fedtheory.language import exercises as ex

_SYMBOLS = (("eta", "beta", "delta"), ("gamma", "L", "zeta"), ("s", "L", "delta"), ("alpha", "beta", "kappa"))
x, eta, beta, delta = sp.symbols("x eta beta delta", positive=True)
h = delta / beta * ((eta * beta + 1) ** x - 1) - eta * delta * x


def _write_questions(draw: ex.Draw) -> tuple[str, str, tuple[ex.Question, ...]]:
    """Return introduction, worked example and questions, with random symbols and numbers."""
    symbols = draw.choice("letters", _SYMBOLS)
    names = {"x": x, **dict(zip(symbols, (eta, beta, delta), strict=True))}
    step, smooth, bound = map(ex.tex, symbols)
    local = draw.integer("local", 3, 6)
    data = {
        eta: sp.Rational(1, draw.integer("fraction", 3, 12)),
        beta: draw.integer("smoothness", 1, 3),
        delta: draw.integer("divergence", 1, 5),
    }
    numbers = tuple(str(data[symbol]) for symbol in (eta, beta, delta))
    tried = tuple((str(at), *numbers) for at in (0, 1, 2, local, local + 3))
    expected = tuple(str(h.subs({**data, x: int(case[0])})) for case in tried)
    zero = "$h(0)=h(1)=0$"
    introduction = (
        f"Distributed gradient descent with step size ${step}$ on ${smooth}$-smooth losses whose gradients differ from "
        f"that of the average by at most ${bound}$. Theorem 1 of lecture 27: after $x$ local steps the average is no "
        "further than $h(x)$ from centralised gradient descent, and $h$ comes from a geometric sum."
    )
    worked = (
        rf"One client: $g(x)=\frac{bound}{smooth}\left[({step}{smooth}+1)^x-1\right]$ solves "
        rf"$g(x+1)=({step}{smooth}+1)g(x)+{step}{bound}$, $g(0)=0$. For the average there is no offset, and "
        rf"the clients' distances determine the increase: $h(x+1)=h(x)+{step}{smooth}\,g(x)$, $h(0)=0$."
    )
    questions: tuple[ex.Question, ...] = (
        ex.ExpressionQuestion.worth(4, "closed", "The closed form")(
            text="Give $h(x)$ in closed form.",
            solution=h,
            names=names,
        ),
        ex.CodeQuestion.worth(3, "sum_up", "As a sum")(
            text=(
                f"Write a function that returns $h(x)$ from the recursion, for given $x$, ${step}$, "
                f"${smooth}$, ${bound}$."
            ),
            arguments=("x", "step", "smoothness", "divergence"),
            tried=tried,
            expected=expected,
            body=(
                "    g = h = 0\n    for _ in range(int(x)):\n        h += step * smoothness * g\n"
                "        g = (step * smoothness + 1) * g + step * divergence\n    return h"
            ),
        ),
        ex.ExpressionQuestion.worth(2, "increase", "How fast it grows")(
            text="Give $h(x+1)-h(x)$ in closed form.",
            solution=eta * delta * ((eta * beta + 1) ** x - 1),
            names=names,
        ),
        ex.NumberQuestion.worth(2, "value", "In numbers")(
            text=f"What is $h({local})$ for ${step}={data[eta]}$, ${smooth}={data[beta]}$ and ${bound}={data[delta]}$?",
            solution=h.subs({**data, x: local}),
        ),
        ex.ChoiceQuestion.worth(1, "zeros", "One local step")(
            text="Why does nothing drift apart with one local step?",
            options=draw.shuffled("zeros", (zero, "$h(0)=0<h(1)$", "$h$ is concave", f"${bound}=0$")),
            solution=zero,
            why="the average of the clients after one step is the centralised step",
        ),
        ex.ManualQuestion.worth(3, "shape", "Its shape")(
            text=r"Prove that $h(x)\ge0$, and that $h$ does not decrease and is convex over whole $x\ge0$.",
            solution=(
                rf"$h(x+1)-h(x)={step}{bound}\left[({step}{smooth}+1)^x-1\right]\ge0$ grows with $x$: so $h$ does not "
                "decrease and is convex, and $h(0)=0$ makes it non-negative."
            ),
            criteria=("the difference is computed (1)", "its sign (1)", "its growth (1)"),
        ),
    )
    return introduction, worked, questions


ASSIGNMENT = ex.Assignment(
    "drift-function",
    "h(x) and its properties",
    ("lecture27:h", "lecture27:thm-1"),
    _write_questions,
    level="introductory",
)

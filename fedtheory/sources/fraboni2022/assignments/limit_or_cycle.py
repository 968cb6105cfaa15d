"""An assignment on Examples 1 and 2: does the model converge, or does it approach a cycle?"""

from __future__ import annotations

import sympy as sp

from fedtheory.language import exercises as ex

_SYMBOLS = (("q_1", "q_2", "phi"), ("a", "b", "s"), ("u", "v", "c"), ("w_1", "w_2", "r"))
first, second, phi, eta, K = sp.symbols("first second phi eta K", positive=True)
odd = second / (first + second + first * second * phi)
even = odd * (1 + first * phi)
"""Points of the cycle at odd and at even updates, for client optima 0 and 1."""


def _write_questions(draw: ex.Draw) -> tuple[str, str, tuple[ex.Question, ...]]:
    """Return introduction, worked example and questions, with random symbols and numbers."""
    symbols = draw.choice("letters", _SYMBOLS)
    names = {**dict(zip(symbols, (first, second, phi), strict=True)), "eta": eta, "K": K}
    q_1, q_2, part = map(ex.tex, symbols)
    data = {
        first: sp.Rational(draw.integer("q1", 1, 4), 4),
        second: sp.Rational(draw.integer("q2", 1, 4), 5),
        phi: sp.Rational(draw.integer("phi", 1, 5), 6),
    }
    given = ", ".join(f"${name}={data[s]}$" for name, s in zip((q_1, q_2, part), (first, second, phi), strict=True))
    cycle, point = "a cycle of two different points", r"the point $\bar\theta$"
    both = f"if and only if $0<{part}<1$"
    introduction = (
        r"Clients have $\mathcal L_i(\theta)=\frac12\|\theta-\theta_i^*\|^2$ and take $K$ local steps of size $\eta$, "
        rf"which move the model a part ${part}$ of the way to $\theta_i^*$. In **Example 1** two pairs of clients "
        rf"report in turn, and the errors obey $e_{{n+2}}-e_{{n+1}}+{part}e_n=0$. In **Example 2** two single clients "
        rf"report in turn, with weights ${q_1}$ and ${q_2}$, each from a model that is one update old."
    )
    worked = (
        rf"In Example 2, at even updates $\theta^{{n+1}}=\theta^n+{q_1}{part}(\theta_1^*-\theta^{{n-1}})$, at odd ones "
        rf"the same with ${q_2}$ and $\theta_2^*$. In a cycle the models at even updates are all the same point $a$, "
        r"those at odd updates all the same point $b$."
    )
    questions: tuple[ex.Question, ...] = (
        ex.ExpressionQuestion.worth(2, "moved", "A part of the way")(
            text=rf"What is ${part}$ in terms of $\eta$ (`eta`) and $K$?",
            solution=1 - (1 - eta) ** K,
            names=names,
        ),
        ex.ChoiceQuestion.worth(2, "example_1", "Example 1")(
            text="When do the errors of Example 1 vanish for every start?",
            options=draw.shuffled(
                "example_1", (both, "always", f"if and only if $0<{part}<2$", "never: there is a cycle")
            ),
            solution=both,
            why="the roots of r^2 - r + phi lie inside the unit circle exactly then",
        ),
        ex.ChoiceQuestion.worth(2, "example_2", "Example 2: limit or cycle?")(
            text=(
                rf"Let $\bar\theta=\frac{{{q_1}\theta_1^*+{q_2}\theta_2^*}}{{{q_1}+{q_2}}}$. If the models of Example "
                r"2 stay bounded, what do they tend to for $\theta_1^*\neq\theta_2^*$?"
            ),
            options=draw.shuffled(
                "example_2", (cycle, point, r"the optimum $\frac12(\theta_1^*+\theta_2^*)$", "nothing")
            ),
            solution=cycle,
            why="a client's update at its own turn does not vanish at the weighted mean",
        ),
        ex.ExpressionQuestion.worth(4, "at_odd", "The point of odd updates")(
            text=r"Let $\theta_1^*=0$ and $\theta_2^*=1$ on the line. What is $b$?",
            solution=odd,
            names=names,
        ),
        ex.ExpressionQuestion.worth(2, "at_even", "The point of even updates")(
            text="And what is $a$?",
            solution=even,
            names=names,
        ),
        ex.NumberQuestion.worth(2, "jump", "In numbers")(
            text=f"What is $|a-b|$ for {given}?",
            solution=(even - odd).subs(data),
        ),
        ex.ManualQuestion.worth(2, "why", "Small steps")(
            text=rf"Both points tend to $\bar\theta$ as ${part}\to0$. Show it, and say how fast.",
            solution=rf"$b-\bar\theta$ and $a-\bar\theta$ have the factor ${part}$: the distance is $O({part})$.",
            criteria=("the difference is computed (1)", "the order (1)"),
        ),
    )
    return introduction, worked, questions


ASSIGNMENT = ex.Assignment(
    "limit-or-cycle",
    "Examples 1 and 2: limit or cycle?",
    ("fraboni2022:example-1", "fraboni2022:example-2", "fraboni2022:example-2.fixed"),
    _write_questions,
    level="intermediate",
)

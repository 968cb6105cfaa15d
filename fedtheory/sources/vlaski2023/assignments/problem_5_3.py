"""Problem 5.3 of the chapter: the limiting performance of federated least mean squares."""

from __future__ import annotations

import sympy as sp

from fedtheory.language import exercises as ex

_SYMBOLS = ("mu", "eta", "gamma", "alpha")
step, H, C, K, L, E, B, U = sp.symbols("step H C K L E B U", positive=True)


def _write_questions(draw: ex.Draw) -> tuple[str, str, tuple[ex.Question, ...]]:
    """Return introduction, worked example and questions, with random symbols and numbers."""
    symbol = draw.choice("letter", _SYMBOLS)
    names = {symbol: step, "H": H, "C": C, "K": K, "L": L, "E": E, "B": B, "U": U}
    mu = ex.tex(symbol)
    noise = step * C / (2 * H * L * E * B)
    sampling = step * (K - L) * U / (2 * H * L * (K - 1))
    data = {
        K: draw.integer("agents", 4, 9),
        L: draw.integer("drawn", 2, 3),
        E: draw.integer("steps", 1, 5),
        B: draw.integer("batch", 1, 8),
        H: draw.integer("power", 1, 4),
        C: draw.integer("noise", 1, 6),
        U: draw.integer("spread", 1, 9),
        step: sp.Rational(1, draw.integer("fraction", 50, 200)),
    }
    given = ", ".join(f"${mu if each is step else each}={value}$" for each, value in data.items())
    half = "it halves"
    introduction = (
        rf"Federated least mean squares (Problem 5.3 of the chapter) with step size ${mu}/E$ in each "
        rf"of $E$ local steps, "
        r"on the line: $J_k(w)=\frac12\mathbb E|\gamma_k-h_kw|^2$. All agents have the power "
        r"$H=\mathbb E h_k^2$ and use "
        r"mini-batches of $B$ samples; $L$ of $K$ agents are drawn uniformly. At the optimum $w^o$ let $C$ be the "
        r"variance of $h_k(\gamma_k-h_kw^o)$, the same for all agents, and "
        r"$U=\frac1K\sum_k|J_k'(w^o)|^2$. Asked is the "
        rf"limit of $\mathbb E|\widetilde w_i|^2$ to first order in ${mu}$."
    )
    worked = (
        rf"Near $w^o$ one round is $\widetilde w'\approx(1-{mu} H)\widetilde w+{mu} s$ with a "
        rf"zero-mean $s$ of variance "
        rf"$R$. In the limit $m=(1-{mu} H)^2m+{mu}^2R$, so that $m\approx\frac{{{mu}}}2\frac RH$."
    )
    questions: tuple[ex.Question, ...] = (
        ex.ExpressionQuestion.worth(4, "noise_part", "Full participation")(
            text="What is the limit for $L=K$, written with $L$?",
            solution=noise,
            names=names,
        ),
        ex.ExpressionQuestion.worth(4, "drawing_part", "The term of client sampling")(
            text="Which term does the sampling of agents add?",
            solution=sampling,
            names=names,
        ),
        ex.NumberQuestion.worth(3, "limit", "In numbers")(
            text=f"What is the whole limit for {given}?",
            solution=(noise + sampling).subs(data),
        ),
        ex.ChoiceQuestion.worth(1, "half", "Half the step size")(
            text=rf"What becomes of the limit, to first order, when ${mu}$ is halved?",
            options=draw.shuffled("half", (half, "it is a quarter", "it stays", "it doubles")),
            solution=half,
            why="the variance enters squared, and the contraction divides by the step size once",
        ),
        ex.ManualQuestion.worth(3, "why", "The two sources")(
            text="Why do the two parts add up without a cross term, and why does sampling add nothing for $L=K$?",
            solution=(
                "The sampling of agents is independent of the data, whose noise has mean zero given the model; so the "
                "cross term vanishes. For $L=K$ the average is over all agents, whose gradients at $w^o$ sum to zero."
            ),
            criteria=("independence (2)", "the sum of the gradients at the optimum vanishes (1)"),
        ),
    )
    return introduction, worked, questions


ASSIGNMENT = ex.Assignment(
    "problem-5.3",
    "Problem 5.3: federated least mean squares",
    ("vlaski2023:problem-5.3",),
    _write_questions,
    level="intermediate",
)

"""Assignment: find the first line of a published proof that fails, and correct it."""

from __future__ import annotations

import sympy as sp

from fedtheory.language import exercises as ex
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.proofs.published_proofs import list_printed_steps
from fedtheory.sources.renard2022.statements.notation import *

_PROOF = "renard2022:lemma-2.2"
_LINES = 4
move, way = sp.symbols("move way", positive=True)


def draw_published_lines(draw: ex.Draw) -> list[Claim]:
    """Return some lines of the published proof in order, of which at least one is refuted."""
    lines = [find(step) for step in list_printed_steps(_PROOF)]
    false = draw.choice("false", [line for line in lines if line.verdict == "refuted"])
    others = draw.shuffled("others", [line for line in lines if line is not false])[: _LINES - 1]
    return sorted((false, *others), key=lines.index)


def _write_questions(draw: ex.Draw) -> tuple[str, str, tuple[ex.Question, ...]]:
    """Return introduction, worked example and questions, with random symbols and numbers."""
    lines = draw_published_lines(draw)
    options = tuple(f"{line.title}: ${line.statement}$" for line in lines)
    first = next(place for place, line in enumerate(lines) if line.verdict == "refuted")
    names = {"eta": eta, "tau": tau, "sigma": sigma, "L": L, "M": M}
    round_names = {**names, "before": distance_before, "after": distance_after, "drift": round_drift}
    introduction = (
        "Some lines from the printed proof of Lemma 2.2 of Renard 2022, in their order. The lemma is about FedAvg with "
        r"$M$ clients and step size $\eta\le\frac1{4L}$ on convex, $L$-smooth functions. Not every line is true. The "
        r"lemma bounds $\mathbb E[\frac1\tau\sum_kF(\bar x^{(t,k)})-F(x^*)]$; its print ends with the drift "
        r"$\frac1{M\tau}\sum_i\sum_k\mathbb E\|x_i^{(t,k)}-\bar x^{(t,k)}\|^2$ (`drift`), without a factor."
    )
    worked = (
        "Look at the units first: if the loss is measured in other units, or the model, both sides of a line have to "
        "change alike. Then try the line on one client with one local step and no noise."
    )
    questions: tuple[ex.Question, ...] = (
        ex.ChoiceQuestion.worth(4, "line", "The first false line")(
            text="Which of these lines is the first that is false as it stands?",
            options=options,
            solution=options[first],
            why=lines[first].note.replace("\n", " ") or "exact runs refute it",
        ),
        ex.ManualQuestion.worth(4, "counterexample", "Why it is false")(
            text="Give a run, or vectors, for which the line fails, and say what has to stand in its place.",
            solution=f"{lines[first].note} A run that refutes it is shown by `fedtheory errata`: {lines[first].id}.",
            criteria=("the example violates the line (2)", "the corrected line is true and serves the proof (2)"),
        ),
        ex.ExpressionQuestion.worth(2, "factor", "The factor of the drift")(
            text="Which factor does the drift of the lemma lack?",
            solution=L,
            names=names,
        ),
        ex.ExpressionQuestion.worth(2, "regrouped", "Regrouping")(
            text=(
                r"The proof regroups $\frac1{2\eta}$`way`$-\frac1{2\eta}$`move`$+L\,$`move`, with `way` for "
                r"$\mathbb E\|\bar x-x^*\|^2$ and `move` for $\mathbb E\|\bar x'-\bar x\|^2$. Write "
                r"it as one multiple of "
                "`way` minus one of `move`."
            ),
            solution=way / (2 * eta) - (1 / (2 * eta) - L) * move,
            names={**names, "way": way, "move": move},
        ),
        ex.BoundQuestion.worth(4, "repaired", "The lemma, corrected")(
            text=(
                "Give a true upper bound for the left side of the lemma, with `before` and `after` for the expected "
                "squared distances of the average from the optimum before and after the round."
            ),
            claim=find("renard2022:lemma-2.2.fixed"),
            names=round_names,
        ),
    )
    return introduction, worked, questions


ASSIGNMENT = ex.Assignment(
    "find-the-error",
    "Find the error in a printed proof",
    (_PROOF, "renard2022:lemma-2.2.fixed"),
    _write_questions,
    level="advanced",
)

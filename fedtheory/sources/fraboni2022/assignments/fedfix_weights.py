"""An assignment: derive the aggregation weights of FedFix and of asynchronous FedAvg."""

from __future__ import annotations

from math import ceil

import sympy as sp

from fedtheory.language import exercises as ex

_SYMBOLS = (("t", "D", "p"), ("tau", "Delta", "p"), ("s", "W", "r"), ("u", "I", "q"))
time, interval, importance, total = sp.symbols("time interval importance total", positive=True)


def _write_questions(draw: ex.Draw) -> tuple[str, str, tuple[ex.Question, ...]]:
    """Return introduction, worked example and questions, with random symbols and numbers."""
    symbols = draw.choice("letters", _SYMBOLS)
    names = {**dict(zip(symbols, (time, interval, importance), strict=True)), "total": total}
    t, wait, p = map(ex.tex, symbols)
    times = [draw.integer(f"t{i}", 1, 12) for i in range(3)]
    interval_length = draw.integer("interval", 2, 5)
    parts = [draw.integer(f"p{i}", 1, 6) for i in range(3)]
    shares = [sp.Rational(part, sum(parts)) for part in parts]
    client = draw.integer("client", 0, 2)
    tried = tuple((str(t_i), str(interval_length), str(share)) for t_i, share in zip(times, shares, strict=True))
    expected = tuple(str(ceil(t_i / interval_length) * share) for t_i, share in zip(times, shares, strict=True))
    rate = sum((sp.Rational(1, t_i) for t_i in times), sp.Integer(0))
    given_times = ", ".join(
        f"${t}_{i}={t_i}$, ${p}_{i}={share}$" for i, (t_i, share) in enumerate(zip(times, shares, strict=True), 1)
    )
    synchronous = f"when ${wait}\\ge\\max_i{t}_i$"
    introduction = (
        f"Client $i$ needs the time ${t}_i$ for its local work and has the importance ${p}_i$. In FedFix the server "
        f"updates after every interval of ${wait}$ with the clients that are done; a client that is done waits for the "
        "end of the interval. In asynchronous FedAvg it updates whenever a client is done, one report at a time. A "
        "client's report is multiplied by its weight $d_i$ (Section 4 of Fraboni et al. 2022)."
    )
    worked = (
        "Over a long time the weights of client $i$ add up to its number of reports times $d_i$. The surrogate problem "
        f"is the true one if, per server update, this is ${p}_i$ for FedFix and for asynchronous FedAvg alike."
    )
    questions: tuple[ex.Question, ...] = (
        ex.ExpressionQuestion.worth(4, "fedfix", "FedFix")(
            text=f"Which $d_i$ does this require in FedFix, with `{symbols[0]}`, `{symbols[1]}`, `{symbols[2]}` for "
            f"${t}_i$, ${wait}$, ${p}_i$? Rounding up is `ceil`, in LaTeX `\\lceil ... \\rceil`.",
            solution=sp.ceiling(time / interval) * importance,
            names=names,
        ),
        ex.ExpressionQuestion.worth(3, "asynchronous", "Asynchronous FedAvg")(
            text=rf"And in asynchronous FedAvg, with `total` for $\sum_j1/{t}_j$?",
            solution=total * time * importance,
            names=names,
        ),
        ex.CodeQuestion.worth(2, "weight", "As a function")(
            text="Write a function that returns the weight of a client in FedFix.",
            arguments=("time", "interval", "importance"),
            tried=tried,
            expected=expected,
            body="    rounds = -(-time // interval)\n    return rounds * importance",
        ),
        ex.NumberQuestion.worth(2, "number", "In numbers")(
            text=f"Let {given_times}. What is $d_{client + 1}$ in asynchronous FedAvg?",
            solution=rate * times[client] * shares[client],
        ),
        ex.ChoiceQuestion.worth(1, "regime", "Between the two")(
            text="When is FedFix synchronous FedAvg?",
            options=draw.shuffled(
                "regime", (synchronous, f"when ${wait}\\le\\min_i{t}_i$", "for identical data", "for small step sizes")
            ),
            solution=synchronous,
            why="then all clients report in every update, and all weights are the importances",
        ),
        ex.ManualQuestion.worth(3, "derive", "Derive them")(
            text="Derive both weights from how often a client reports.",
            solution=(
                rf"In FedFix client $i$ reports in every $\lceil {t}_i/{wait}\rceil$-th update; its weight makes up "
                rf"for that. In asynchronous FedAvg there are $\sum_j1/{t}_j$ updates per unit of time, of which "
                rf"$1/{t}_i$ are of client $i$."
            ),
            criteria=("how often a client reports (2)", "per server update (1)"),
        ),
    )
    return introduction, worked, questions


ASSIGNMENT = ex.Assignment(
    "fedfix-weights",
    "Derive the weights of FedFix",
    ("fraboni2022:eq-40", "fraboni2022:eq-36"),
    _write_questions,
    level="advanced",
)

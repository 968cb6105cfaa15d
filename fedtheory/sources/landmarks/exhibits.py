"""A page for each algorithm: its definition, and its exact error compared with FedAvg's on real data; one page for
all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from fedtheory.arithmetic import FLOAT, Array
from fedtheory.engine.run import Run
from fedtheory.federation.algorithms import definition
from fedtheory.federation.definition import Average, FederatedAlgorithm, Mixed, Participants, Weighted
from fedtheory.federation.problem import Problem
from fedtheory.language.assumptions.algorithms import OfAlgorithm
from fedtheory.language.assumptions.assumption import Assumption
from fedtheory.language.exhibits import Axis, Chart, Line, Page, RunFile, Table
from fedtheory.language.numbers import decimal
from fedtheory.language.typesetting import latex
from fedtheory.runfile import parse_run, run_with
from fedtheory.sources.landmarks.block_matrices import BlockMap, local_step, round_end
from fedtheory.sources.landmarks.statements import CLAIMS

CLIENTS, LOCAL_STEPS, ROUNDS = 5, 5, 30
DATA = {
    "kind": "least-squares",
    "data": "digits:3-8",
    "clients": CLIENTS,
    "split": "dirichlet",
    "concentration": 0.1,
    "ridge": "1/100",
}
_RING = [[["0", "1/3"][abs(i - j) in (0, 1, CLIENTS - 1)] for j in range(CLIENTS)] for i in range(CLIENTS)]
_SHARES = (0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5)
"""Step sizes that are tried, in units of 1/L, up to those that are unstable."""
_FEW_SHARES = (2.0,)
"""Step sizes that are tried for slow runs: the edge of stability."""
_PROGRAM = "from fedtheory.sources.landmarks.exhibits import find_best_curve"
_SKIPPED = 0.2
"""The communication probability of Scaffnew."""


@dataclass(frozen=True)
class ShownAlgorithm:
    """An algorithm on the pages: its keys, and the number of models that each client sends per round."""

    label: str
    keys: dict[str, Any]
    sent: float
    """Number of models that a client sends per round."""
    shares: Sequence[float] = _SHARES


def _list_algorithms() -> dict[str, ShownAlgorithm]:
    """List the algorithms of the figures, each with its settings on the common problem."""
    local = {"local_steps": LOCAL_STEPS, "rounds": ROUNDS}
    single = {"rounds": ROUNDS * LOCAL_STEPS}
    return {
        "fedavg": ShownAlgorithm("FedAvg", local, 1),
        "fedprox": ShownAlgorithm("FedProx", local | {"proximal": "1/2"}, 1),
        "fednova": ShownAlgorithm("FedNova", local | {"local_steps": [3, 4, 5, 6, 7]}, 1),
        "fedavgm": ShownAlgorithm("FedAvgM", local | {"momentum": "1/2"}, 1),
        "scaffold": ShownAlgorithm("SCAFFOLD", local, 2),
        "scaffnew": ShownAlgorithm("Scaffnew", single | {"probability": "1/5"}, _SKIPPED, _FEW_SHARES),
        "dsgd": ShownAlgorithm("DSGD on a ring", single | {"mixing": _RING}, 2),
        "compressed": ShownAlgorithm("rand-k, a quarter of the coordinates", local | {"coordinates": 16}, 0.25),
    }


@dataclass(frozen=True, eq=False)
class Curve:
    """An algorithm at its best step size."""

    shown: ShownAlgorithm
    share: float
    """The step size in units of 1/L."""
    errors: Array
    """E F(x^n) - F*, (rounds + 1,)."""

    @property
    def sent(self) -> Array:
        """Return the expected number of models that a client has sent."""
        return np.arange(len(self.errors)) * self.shown.sent


@cache
def _load_problem() -> Problem:
    """Return the digits, split by Dirichlet(0.1); raises `MissingExtra` without scikit-learn."""
    keys = {"name": "fedavg", "local_step_size": 1, "rounds": 1}
    return parse_run({"problem": DATA, "algorithm": keys}, FLOAT).problem


@cache
def find_best_curve(name: str) -> Curve:
    """Return the curve of the tried step size with the smallest final error."""
    shown = _list_algorithms()[name]
    found = [Curve(shown, share, compute_errors(name, share)) for share in shown.shares]
    return min(found, key=lambda one: float(one.errors[-1]) if len(one.errors) > ROUNDS else np.inf)


def compute_errors(name: str, share: float) -> Array:
    """Return E F(x^n) - F* at a step size in units of 1/L, up to the end or overflow of the run."""
    smoothness = Run(_load_problem(), run_with(_load_problem(), _list_keys(name, 1.0)).algorithm).smoothness
    found: Array = run_with(
        _load_problem(), _list_keys(name, share / smoothness)
    ).attempted_trajectory.server_suboptimality
    return found


def _list_keys(name: str, size: float) -> dict[str, Any]:
    return {"name": name, "local_step_size": size} | _list_algorithms()[name].keys


def _draw_charts(curves: list[Curve]) -> list[Chart]:
    names = " and ".join(one.shown.label for one in curves) if len(curves) == 2 else "all algorithms"
    error = Axis(r"$\mathbb{E}\,F(x^n)-F^*$", "log")
    over: dict[str, tuple[Axis, Callable[[Curve], Array]]] = {
        "rounds": (Axis("rounds"), lambda one: np.arange(len(one.errors))),
        "models sent": (Axis("models that a client has sent, in the mean"), lambda one: one.sent),
    }
    return [
        Chart(
            name=f"errors over {what}".replace(" ", "-"),
            x=axis,
            y=error,
            parts=[Line(at(one), one.errors, one.shown.label, n, n) for n, one in enumerate(curves)],
            caption=f"Exact error of {names} over {what}, each at the best of its step sizes.",
        )
        for what, (axis, at) in over.items()
    ]


def _make_table(curves: list[Curve]) -> Table:
    columns: list[tuple[str, Callable[[Curve], str]]] = [
        (r"step size, in units of $1/L$", lambda one: decimal(one.share)),
        ("models that a client sends in a round", lambda one: decimal(one.shown.sent)),
        ("rounds", lambda one: str(len(one.errors) - 1)),
        ("error at the end", lambda one: decimal(one.errors[-1])),
    ]
    rows = [(one.shown.label, [value(one) for _, value in columns]) for one in curves]
    return Table([name for name, _ in columns], rows)


def typeset(algorithm: FederatedAlgorithm) -> list[tuple[str, str]]:
    """Return a definition as pairs of a description and a formula."""
    starts = [*algorithm.server.items(), *algorithm.client.items()]
    ends = [*algorithm.client_update.items(), *algorithm.server_update.items()]
    lines = {
        "Start:": starts,
        "Local work starts at:": [(one.vector, one.start) for one in algorithm.steps],
        "A local step:": [(one.vector, one.step) for one in algorithm.steps],
        "The end of a round:": ends,
    }
    coins = ", ".join(rf"\mathbb P({latex(coin)}=1)={latex(chance)}" for coin, chance in algorithm.coins.items())
    tossed = [("Coins, 1 or 0 for all clients at once, anew in every round:", coins)] if coins else []
    return [(words, _assign(pairs)) for words, pairs in lines.items()] + tossed


def _assign(pairs: list[tuple[Any, Any]]) -> str:
    return r",\qquad ".join(rf"{latex(vector)}\leftarrow {latex(value)}" for vector, value in pairs)


def list_landmarks(name: str) -> list[str]:
    """Return the ids of the landmarks about an algorithm."""
    return [claim.id for claim in CLAIMS if any(_names_algorithm(one, name) for one in claim.assumptions)]


def _names_algorithm(assumption: Assumption, name: str) -> bool:
    """Return whether an assumption names an algorithm."""
    return isinstance(assumption, OfAlgorithm) and name in assumption.names


_SUMS: dict[type[Any], str] = {
    Weighted: r"\sum_jw_j",
    Participants: r"\sum_{j\in S}p_j",
    Average: r"\sum_jp_j",
    Mixed: r"\sum_jW_{ij}",
}


def list_matrices(algorithm: FederatedAlgorithm) -> list[tuple[str, str]]:
    """Return the block matrices of a local step and of the end of a round, with descriptions."""
    words = (
        r"A local step in the mean, on $F_i(x)=\frac12x^\top H_ix-b_i^\top x$:",
        "The end of a round, for clients that take part, in the mean over what compression leaves out:",
    )
    return list(zip(words, map(_format_blocks, (local_step(algorithm), round_end(algorithm))), strict=True))


def _format_blocks(found: BlockMap) -> str:
    terms = [
        ("" if one.over is None else _SUMS[one.over])
        + _format_matrix(one.matrix.tolist())
        + _format_matrix([[vector] for vector in one.columns])
        for one in found.terms
    ]
    return _format_matrix([[vector] for vector in found.rows]) + r"\leftarrow " + "+".join(terms)


def _format_matrix(rows: list[list[Any]]) -> str:
    return r"\begin{pmatrix}" + r"\\".join("&".join(map(latex, row)) for row in rows) + r"\end{pmatrix}"


def _format_exact(algorithm: FederatedAlgorithm) -> str:
    """Return the table of an algorithm's exact properties and their costs."""
    counted = f"{len(algorithm.server)} of the server, {len(algorithm.client)} of each client"
    price = (
        "The clients keep nothing between rounds, so that a round costs the same for any number of them."
        if not algorithm.client
        else "The second moments between the vectors of any two clients are propagated, or, where only gradients are "
        "random, the model's alone from its end."
    )
    apart = " So is how far clients are apart, inside rounds and between them."
    inside = apart if isinstance(algorithm.model, Average) else " So is how far clients drift apart inside rounds."
    return f"First and second moments of its vectors ({counted}) are exact on quadratics.{inside} {price}"


_SETTING = (
    f"Digits, 3 against 8, least squares with a small ridge, split over {CLIENTS} clients by Dirichlet(0.1), full "
    f"gradients; {LOCAL_STEPS} local steps and {ROUNDS} rounds, or as many single steps."
)


_TRIED = (
    f"of {len(_SHARES)} from {_SHARES[0]} to {_SHARES[-1]}, in units of 1/L, the largest of which are unstable; for "
    f"Scaffnew of {' and '.join(map(str, _FEW_SHARES))}."
)


def make_page(name: str) -> Page:
    """Return the page of one algorithm, compared with FedAvg; raises `MissingExtra` without scikit-learn."""
    algorithm, own = definition(name), find_best_curve(name)
    curves = [own, find_best_curve("fedavg")]
    return Page(
        name=f"algorithm-{name}",
        title=own.shown.label,
        occasion=f"The algorithm {own.shown.label}",
        contents="its definition, and its exact error beside FedAvg's on digits",
        locator=f"fedtheory/federation/algorithms/{name}.py",
        introduction=f"{algorithm.description} {_format_exact(algorithm)} {_SETTING}",
        formulas=[*typeset(algorithm), *list_matrices(algorithm)],
        claims=list_landmarks(name),
        charts=_draw_charts(curves),
        table=_make_table(curves),
        program=f'{_PROGRAM}\n\nprint(find_best_curve("{name}").errors)',
        run_file=RunFile(f"{name}.toml", "A run file of such a run, with mini-batches", _run_file(name)),
    )


def compare_algorithms() -> Page:
    """Return the page of all algorithms on one problem; raises `MissingExtra` without scikit-learn."""
    curves = [find_best_curve(name) for name in _list_algorithms()]
    return Page(
        name="algorithms",
        title="Algorithms side by side",
        occasion="All algorithms on one problem",
        contents="their exact errors over rounds and over models sent",
        locator="fedtheory/federation/algorithms",
        introduction=f"Every algorithm at its own best step size: {_TRIED} {_SETTING}",
        charts=_draw_charts(curves),
        table=_make_table(curves),
    )


def _run_file(name: str) -> str:
    from fedtheory.runfile import run_toml

    return run_toml({"problem": DATA | {"batch": 8}, "algorithm": _list_keys(name, 0.02)})


PAGES = (*(partial(make_page, name) for name in _list_algorithms() if name != "fedavg"), compare_algorithms)

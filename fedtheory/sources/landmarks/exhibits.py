"""Pages of the algorithms: definitions, and exact errors on real data compared with those of FedAvg."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from fedtheory.arithmetic import FLOAT, Array
from fedtheory.federation.algorithms import definition
from fedtheory.federation.definition import Average, FederatedAlgorithm, Mixed, Participants, Weighted
from fedtheory.federation.problem import Problem
from fedtheory.language.assumptions.algorithms import OfAlgorithm
from fedtheory.language.exhibits import Axis, Chart, Line, Page, RunFile, Table
from fedtheory.language.numbers import format_decimal
from fedtheory.language.typesetting import latex
from fedtheory.runfile import parse_run, run_toml, run_with
from fedtheory.sources.landmarks.block_matrices import BlockMap, build_local_step, build_round_end
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
_STEP_SIZES = (0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5)
"""Step sizes of the search for the best one, in units of 1/L, up to unstable ones."""
_FEW_STEP_SIZES = (2.0,)
"""The same for slow runs: only the step size at the edge of stability."""
_PROGRAM = "from fedtheory.sources.landmarks.exhibits import find_best_curve"


@dataclass(frozen=True)
class ShownAlgorithm:
    """An algorithm on the pages, with the keys of its run file."""

    label: str
    keys: dict[str, Any]
    sent: float
    """Expected number of models that a client sends per round."""
    step_sizes: Sequence[float] = _STEP_SIZES


_SEVERAL_STEPS = {"local_steps": LOCAL_STEPS, "rounds": ROUNDS}
_SINGLE_STEPS = {"rounds": ROUNDS * LOCAL_STEPS}
_ALGORITHMS = {
    "fedavg": ShownAlgorithm("FedAvg", _SEVERAL_STEPS, 1),
    "fedprox": ShownAlgorithm("FedProx", _SEVERAL_STEPS | {"proximal": "1/2"}, 1),
    "fednova": ShownAlgorithm("FedNova", _SEVERAL_STEPS | {"local_steps": [3, 4, 5, 6, 7]}, 1),
    "fedavgm": ShownAlgorithm("FedAvgM", _SEVERAL_STEPS | {"momentum": "1/2"}, 1),
    "scaffold": ShownAlgorithm("SCAFFOLD", _SEVERAL_STEPS, 2),
    "scaffnew": ShownAlgorithm("Scaffnew", _SINGLE_STEPS | {"probability": "1/5"}, 0.2, _FEW_STEP_SIZES),
    "dsgd": ShownAlgorithm("DSGD on a ring", _SINGLE_STEPS | {"mixing": _RING}, 2),
    "compressed": ShownAlgorithm("rand-k, a quarter of the coordinates", _SEVERAL_STEPS | {"coordinates": 16}, 0.25),
}
"""The algorithms of the figures, each with its settings on the common problem."""


@dataclass(frozen=True, eq=False)
class Curve:
    """An algorithm at its best step size."""

    shown: ShownAlgorithm
    step_size: float
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
    """Return the curve with the smallest final error among the step sizes of the search."""
    shown = _ALGORITHMS[name]
    found = [Curve(shown, size, compute_errors(name, size)) for size in shown.step_sizes]
    return min(found, key=lambda one: float(one.errors[-1]) if len(one.errors) > ROUNDS else np.inf)


def compute_errors(name: str, step_size: float) -> Array:
    """Return E F(x^n) - F* at a step size in units of 1/L, up to the end or overflow of the run."""
    problem = _load_problem()
    smoothness = run_with(problem, _list_keys(name, 1.0)).smoothness
    run = run_with(problem, _list_keys(name, step_size / smoothness))
    errors: Array = run.attempted_trajectory.server_suboptimality
    return errors


def _list_keys(name: str, size: float) -> dict[str, Any]:
    return {"name": name, "local_step_size": size} | _ALGORITHMS[name].keys


def _draw_charts(curves: list[Curve]) -> list[Chart]:
    """Draw errors over rounds and over models sent."""
    names = " and ".join(one.shown.label for one in curves) if len(curves) == 2 else "all algorithms"
    error = Axis(r"$\mathbb{E}\,F(x^n)-F^*$", "log")
    over: dict[str, tuple[Axis, Callable[[Curve], Array]]] = {
        "rounds": (Axis("rounds"), lambda one: np.arange(len(one.errors))),
        "models sent": (Axis("expected number of models that a client has sent"), lambda one: one.sent),
    }
    return [
        Chart(
            name=f"errors over {what}".replace(" ", "-"),
            x=axis,
            y=error,
            parts=[Line(at(one), one.errors, one.shown.label, n, n) for n, one in enumerate(curves)],
            caption=f"Exact error of {names} over {what}, each at its best step size.",
        )
        for what, (axis, at) in over.items()
    ]


def _make_table(curves: list[Curve]) -> Table:
    columns: list[tuple[str, Callable[[Curve], str]]] = [
        (r"step size, in units of $1/L$", lambda one: format_decimal(one.step_size)),
        ("models that a client sends in a round", lambda one: format_decimal(one.shown.sent)),
        ("rounds", lambda one: str(len(one.errors) - 1)),
        ("error at the end", lambda one: format_decimal(one.errors[-1])),
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
    coin_lines = [("Coins, 1 or 0 for all clients at once, drawn in every round:", coins)] if coins else []
    return [(words, _format_updates(pairs)) for words, pairs in lines.items()] + coin_lines


def _format_updates(pairs: list[tuple[Any, Any]]) -> str:
    return r",\qquad ".join(rf"{latex(vector)}\leftarrow {latex(value)}" for vector, value in pairs)


def list_landmarks(name: str) -> list[str]:
    """List the ids of the landmarks that assume an algorithm."""
    named = ((claim, one.names) for claim in CLAIMS for one in claim.assumptions if isinstance(one, OfAlgorithm))
    return [claim.id for claim, names in named if name in names]


_SUMS: dict[type[Any], str] = {
    Weighted: r"\sum_jw_j",
    Participants: r"\sum_{j\in S}p_j",
    Average: r"\sum_jp_j",
    Mixed: r"\sum_jW_{ij}",
}


def list_matrices(algorithm: FederatedAlgorithm) -> list[tuple[str, str]]:
    """Return the block matrices of a local step and of the end of a round, with descriptions."""
    words = (
        r"The expected local step on $F_i(x)=\frac12x^\top H_ix-b_i^\top x$:",
        "The end of a round for participants, in expectation over the compression:",
    )
    return list(zip(words, map(_format_blocks, (build_local_step(algorithm), build_round_end(algorithm))), strict=True))


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
    """Describe which moments of an algorithm are exact, and the cost of a round."""
    counted = f"{len(algorithm.server)} of the server, {len(algorithm.client)} of each client"
    price = (
        "The clients have no state between rounds, so that a round costs the same for any number of clients."
        if not algorithm.client
        else "The second moments between the vectors of any two clients are propagated; where only gradients "
        "are random, only those that the last model needs."
    )
    consensus = " So is the consensus error, inside rounds and between them."
    inside = consensus if isinstance(algorithm.model, Average) else " So is the client drift inside rounds."
    return f"First and second moments of its vectors ({counted}) are exact on quadratics.{inside} {price}"


_SETTING = (
    f"Digits, 3 against 8, least squares with a small ridge, split over {CLIENTS} clients by Dirichlet(0.1), full "
    f"gradients; {LOCAL_STEPS} local steps and {ROUNDS} rounds, or as many single steps."
)


_TRIED = (
    f"the best of {len(_STEP_SIZES)} from {_STEP_SIZES[0]} to {_STEP_SIZES[-1]}, in units of 1/L, the largest of which "
    f"are unstable; for Scaffnew of {' and '.join(map(str, _FEW_STEP_SIZES))}."
)


def make_page(name: str) -> Page:
    """Return the page of one algorithm, compared with FedAvg; raises `MissingExtra` without scikit-learn."""
    algorithm, curve = definition(name), find_best_curve(name)
    curves = [curve, find_best_curve("fedavg")]
    return Page(
        name=f"algorithm-{name}",
        title=curve.shown.label,
        occasion=f"The algorithm {curve.shown.label}",
        contents="its definition, and its exact error beside FedAvg's on digits",
        locator=f"fedtheory/federation/algorithms/{name}.py",
        introduction=f"{algorithm.description} {_format_exact(algorithm)} {_SETTING}",
        formulas=[*typeset(algorithm), *list_matrices(algorithm)],
        claims=list_landmarks(name),
        charts=_draw_charts(curves),
        table=_make_table(curves),
        program=f'{_PROGRAM}\n\nprint(find_best_curve("{name}").errors)',
        run_file=RunFile(f"{name}.toml", "A run file of such a run, with mini-batches", _write_run_file(name)),
    )


def compare_algorithms() -> Page:
    """Return the page that compares all algorithms on one problem; raises `MissingExtra` without scikit-learn."""
    curves = [find_best_curve(name) for name in _ALGORITHMS]
    return Page(
        name="algorithms",
        title="Algorithms side by side",
        occasion="All algorithms on one problem",
        contents="their exact errors over rounds and over models sent",
        locator="fedtheory/federation/algorithms",
        introduction=f"Every algorithm at its best step size: {_TRIED} {_SETTING}",
        charts=_draw_charts(curves),
        table=_make_table(curves),
    )


def _write_run_file(name: str) -> str:
    return run_toml({"problem": DATA | {"batch": 8}, "algorithm": _list_keys(name, 0.02)})


PAGES = (*(partial(make_page, name) for name in _ALGORITHMS if name != "fedavg"), compare_algorithms)

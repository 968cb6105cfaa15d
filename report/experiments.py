"""The experiments of fraboni2022 for their pages: figures, and which of the printed findings reproduce.

All results are exact expectations; each is computed once for all pages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from fedtheory.errors import MissingExtra
from fedtheory.language.claim import Claim
from fedtheory.sources.fraboni2022.experiments.digits import SPLITS
from fedtheory.sources.fraboni2022.experiments.figure_2 import WeightsCompared, figure_2
from fedtheory.sources.fraboni2022.experiments.figure_3 import LocalWorkCompared, figure_3
from fedtheory.sources.fraboni2022.experiments.figure_4 import SplitCompared, figure_4
from fedtheory.sources.fraboni2022.experiments.findings import (
    Finding,
    findings_2,
    findings_3,
    findings_4,
    findings_5_to_7,
)
from report.figures import experiments as draw
from report.figures.style import Figure

MANY_CLIENTS = 50
MANY_CLIENTS_HORIZON, MANY_CLIENTS_STEPS = 10, tuple(2.0**-power for power in range(11, -1, -2))
"""A shorter run and a coarser search, as the cost grows with the square of the number of clients."""


@dataclass(frozen=True)
class Experiment:
    """What a page shows of an experiment."""

    setting: str
    figures: Sequence[Figure]
    findings: Sequence[Finding]


@cache
def _weights() -> tuple[WeightsCompared, ...]:
    return tuple(figure_2(split) for split in SPLITS)


@cache
def _local_work() -> LocalWorkCompared:
    return figure_3(_weights()[-1].step_size)


@cache
def _twenty_clients() -> tuple[SplitCompared, ...]:
    return tuple(figure_4(split) for split in SPLITS)


@cache
def _fifty_clients() -> tuple[SplitCompared, ...]:
    keys = {"clients": MANY_CLIENTS, "horizon": MANY_CLIENTS_HORIZON}
    return (figure_4("Dirichlet", step_sizes=MANY_CLIENTS_STEPS, **keys),)


def _figure_2(slug: str) -> list[Experiment]:
    drawn = (draw.federated_loss, draw.federated_spread, draw.surrogate_loss, draw.surrogate_spread)
    figures = [figure(slug, _weights()) for figure in drawn]
    return [Experiment("10 clients", figures, findings_2(*_weights()))]


def _figure_3(slug: str) -> list[Experiment]:
    return [Experiment("10 clients", [draw.over_local_steps(slug, _local_work())], findings_3(_local_work()))]


_SIZES: tuple[tuple[str, Callable[[], tuple[SplitCompared, ...]]], ...] = (
    ("20 clients", _twenty_clients),
    (f"{MANY_CLIENTS} clients", _fifty_clients),
)


def _figure_4(slug: str) -> list[Experiment]:
    shown = []
    for name, results in _SIZES:
        compared = [each for result in results() for each in result.by_hardware]
        figures = [draw.at_best_step_sizes(f"{slug}-{name.replace(' ', '-')}", each) for each in compared]
        shown.append(Experiment(name, figures, findings_4(results())))
    return shown


def _figures_5_to_7(slug: str) -> list[Experiment]:
    shown = []
    for name, results in _SIZES:
        heterogeneous = [result.by_hardware[-1] for result in results()]
        figures = [draw.over_step_sizes(f"{slug}-{name.replace(' ', '-')}", each) for each in heterogeneous]
        shown.append(Experiment(name, figures, findings_5_to_7(results())))
    return shown


_EXPERIMENTS: dict[str, Callable[[str], list[Experiment]]] = {
    "fraboni2022:fig-2": _figure_2,
    "fraboni2022:fig-3": _figure_3,
    "fraboni2022:fig-4": _figure_4,
    "fraboni2022:fig-5-7": _figures_5_to_7,
}


def experiments_for(claim: Claim) -> list[Experiment]:
    """The experiments of a claim about a figure; none for other claims, and none without scikit-learn's data."""
    if claim.id not in _EXPERIMENTS:
        return []
    try:
        return _EXPERIMENTS[claim.id](claim.slug)
    except MissingExtra:
        return []

"""Which algorithm a claim is about, where it is not the update rule of federated averaging."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.engine.run import Run
from fedtheory.language.assumptions.assumption import Assumption, expect


@dataclass(frozen=True)
class OfAlgorithm(Assumption):
    """That the run is one of an algorithm, by its name in run files."""


def of_algorithm(*names: str) -> OfAlgorithm:
    """The assumption that a run's algorithm has one of these names."""
    words = " or ".join(names)

    def require(run: Run) -> None:
        expect(run.algorithm.name in names, f"the algorithm is {run.algorithm.name}, not {words}")

    return OfAlgorithm(words, f"the algorithm is {words}", require)


scaffold, scaffnew, dsgd = of_algorithm("scaffold"), of_algorithm("scaffnew"), of_algorithm("dsgd")
compressed, server_momentum = of_algorithm("compressed"), of_algorithm("fedavgm")
fedprox, fednova = of_algorithm("fedprox"), of_algorithm("fednova")


def _update_rule(run: Run) -> None:
    run.algorithm.require_update_rule("a claim that names no algorithm is about the update rule")


update_rule = OfAlgorithm(
    "update rule", "the algorithm is a setting of the update rule of federated averaging", _update_rule
)

"""The adaptive controller of lecture27 against fixed local steps on real data, at one budget."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from fedtheory.arithmetic import FLOAT
from fedtheory.engine.budget import Budget, Comparison, compare
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.federation.problem import least_squares
from fedtheory.federation.problem.datasets import load
from fedtheory.federation.problem.split import dirichlet_split, iid_split
from fedtheory.runfile.problems import split_data

LOCAL_COST, AGGREGATION_COST, TOTAL = 1, 10, 2200
CLIENTS, SHARE_OF_LIMIT, CONCENTRATION = 10, 0.5, 0.1
DATA = {"digits": "digits:3-8", "breast cancer": "breast_cancer"}


@dataclass(frozen=True)
class BudgetCase:
    """One data set in one split."""

    name: str
    comparison: Comparison

    @property
    def words(self) -> str:
        """The costs, in words."""
        return (
            f"$c={LOCAL_COST}$ for a local update, $b={AGGREGATION_COST}$ for an aggregation, budget $R={TOTAL}$, "
            f"{CLIENTS} clients, $\\eta={SHARE_OF_LIMIT}/\\beta$"
        )


@cache
def budget_cases() -> tuple[BudgetCase, ...]:
    """Each data set, split evenly and unevenly; `MissingExtra` without scikit-learn."""
    return tuple(_case(name, split) for name in DATA for split in ("iid", "Dirichlet"))


def _case(name: str, split: str) -> BudgetCase:
    data = load(DATA[name])
    count = len(data.outputs)
    if split == "iid":
        rows = iid_split(count, CLIENTS, seed=0)
    else:
        rows = dirichlet_split(data.outputs, CLIENTS, CONCENTRATION, seed=0)
    shares = FLOAT.array([len(chosen) / count for chosen in rows])
    problem = least_squares(
        split_data(data, rows, FLOAT), FLOAT.zeros(data.inputs.shape[1]), weights=shares, description=name
    )
    smoothness = Run(problem, fedavg(problem, rounds=1, local_step_size=1.0)).smoothness
    budget = Budget(LOCAL_COST, AGGREGATION_COST, TOTAL)
    return BudgetCase(f"{name}, {split}", compare(problem, SHARE_OF_LIMIT / smoothness, budget))

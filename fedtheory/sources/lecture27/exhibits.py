"""A chart that compares the adaptive controller with fixed numbers of local steps on real data, at one budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from fedtheory.arithmetic import FLOAT, plain_float
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.federation.problem import least_squares
from fedtheory.federation.problem.datasets import load
from fedtheory.federation.problem.split import split_by_dirichlet, split_iid
from fedtheory.language.exhibits import Axis, Chart, Display, Exhibit, Legend, Line, Part, Span
from fedtheory.runfile.problems import split_data
from fedtheory.sources.lecture27.budget import Budget, BudgetComparison, compare

LOCAL_COST, AGGREGATION_COST, TOTAL = 1, 10, 2200
CLIENTS, STEP_FRACTION, CONCENTRATION = 10, 0.5, 0.1
DATA = {"digits": "digits:3-8", "breast cancer": "breast_cancer"}


@dataclass(frozen=True)
class BudgetCase:
    """The comparison on one data set with one split."""

    name: str
    comparison: BudgetComparison


@cache
def compute_budget_cases() -> tuple[BudgetCase, ...]:
    """Return each data set, split evenly and unevenly; raises `MissingExtra` without scikit-learn."""
    return tuple(_make_case(name, split) for name in DATA for split in ("iid", "Dirichlet"))


def _make_case(name: str, split: str) -> BudgetCase:
    """Compare the runs on a data set, at a fraction of the largest step size."""
    data = load(DATA[name])
    count = len(data.outputs)
    if split == "iid":
        rows = split_iid(count, CLIENTS, seed=0)
    else:
        rows = split_by_dirichlet(data.outputs, CLIENTS, CONCENTRATION, seed=0)
    weights = FLOAT.array([len(part) / count for part in rows])
    problem = least_squares(
        split_data(data, rows, FLOAT), FLOAT.zeros(data.inputs.shape[1]), weights=weights, description=name
    )
    smoothness = Run(problem, fedavg(problem, rounds=1, local_step_size=1.0)).smoothness
    budget = Budget(LOCAL_COST, AGGREGATION_COST, TOTAL)
    return BudgetCase(f"{name}, {split}", compare(problem, STEP_FRACTION / smoothness, budget))


def draw_budget_chart(cases: Sequence[BudgetCase]) -> Chart:
    """Draw the final loss over fixed tau, log-log; the adaptive run is a line from its smallest to its largest tau."""
    costs = (
        f"$c={LOCAL_COST}$ for a local update, $b={AGGREGATION_COST}$ for an aggregation, budget $R={TOTAL}$, "
        f"{CLIENTS} clients, $\\eta={STEP_FRACTION}/\\beta$"
    )
    return Chart(
        name="budget",
        x=Axis(r"local steps $\tau$ between aggregations", "log"),
        y=Axis(r"$F(w(T))-F^*$ when the budget is used", "log"),
        parts=[part for number, case in enumerate(cases) for part in _draw_parts(case, number)],
        caption=(
            f"Final loss at equal cost ({costs}): points for each fixed $\\tau$, thick levels for the controller, "
            f"drawn from the smallest to the largest $\\tau$ it chose.  {' '.join(_describe(case) for case in cases)}"
        ),
        legend=Legend(size=8),
    )


def _draw_parts(case: BudgetCase, number: int) -> Iterator[Part]:
    fixed, adaptive = case.comparison.fixed, case.comparison.adaptive
    losses = [plain_float(run.final) for run in fixed.values()]
    yield Line(list(fixed), losses, case.name, number, number, marker="o", size=3.5)
    yield Span(min(adaptive.local_steps), max(adaptive.local_steps), plain_float(adaptive.final), number)


def _describe(case: BudgetCase) -> str:
    """Describe the loss of the adaptive schedule relative to that of the best fixed number of local steps."""
    comparison = case.comparison
    adaptive, best = comparison.adaptive, comparison.best_fixed
    ratio = plain_float(adaptive.final) / plain_float(comparison.fixed[best].final)
    return (
        f"{case.name}: {ratio:.3g} times the loss of the best fixed $\\tau$, which is {best} in hindsight; spent "
        f"{adaptive.spent[-1]} of {adaptive.budget.total}."
    )


EXHIBITS = (
    Exhibit(
        lambda claim: claim.implemented_by == "fedtheory.sources.lecture27.budget:descend_adaptively",
        lambda _claim: Display([draw_budget_chart(compute_budget_cases())]),
    ),
)

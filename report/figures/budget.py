"""Loss at equal cost: every fixed number of local steps, and the number chosen as the run goes."""

from __future__ import annotations

from collections.abc import Sequence

from fedtheory.arithmetic import plain_float
from report.budgets import BudgetCase
from report.figures.style import CYCLE, DASHES, Figure, drawing, finish


def over_local_steps(slug: str, cases: Sequence[BudgetCase]) -> Figure:
    """Final loss over fixed tau, log-log; the adaptive run as a level, from its smallest to its largest tau."""
    with drawing() as (canvas, axes):
        for number, case in enumerate(cases):
            colour, dash = CYCLE[number % len(CYCLE)], DASHES[number % len(DASHES)]
            fixed = case.comparison.fixed
            losses = [plain_float(run.final) for run in fixed.values()]
            axes.loglog(list(fixed), losses, dash, color=colour, marker="o", markersize=3.5, label=case.name)
            adaptive = case.comparison.adaptive
            level = plain_float(adaptive.final)
            span = (min(adaptive.local_steps), max(adaptive.local_steps))
            axes.loglog(span, (level, level), color=colour, linewidth=4, alpha=0.45, solid_capstyle="butt")
        axes.set_xlabel(r"local steps $\tau$ between aggregations")
        axes.set_ylabel(r"$F(w(T))-F^*$ when the budget is used")
        axes.legend(fontsize=8)
    caption = (
        f"Final loss at equal cost ({cases[0].words}): points for each fixed $\\tau$, thick levels for the controller, "
        f"drawn from the smallest to the largest $\\tau$ it chose.  {' '.join(_words(case) for case in cases)}"
    )
    return finish(canvas, f"{slug}-budget", caption)


def _words(case: BudgetCase) -> str:
    comparison = case.comparison
    adaptive, best = comparison.adaptive, comparison.best_fixed
    ratio = plain_float(adaptive.final) / plain_float(comparison.fixed[best].final)
    return (
        f"{case.name}: {ratio:.3g} times the loss of the best fixed $\\tau$, which is {best} in hindsight; spent "
        f"{adaptive.spent[-1]} of {adaptive.budget.total}."
    )

"""`fedtheory budget`: compare an adaptive number of local steps with fixed numbers at equal cost."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fedtheory.cli.output import (
    Json,
    NoCode,
    RunFile,
    escape,
    name_file_in_errors,
    print_json,
    print_lines,
    print_table,
    short,
)

NAME = "budget"

LocalCost = Annotated[str, typer.Option("--local-cost", help="Cost c of one local update: a number or 1/2.")]
AggregationCost = Annotated[str, typer.Option("--aggregation-cost", help="Cost b of one aggregation.")]
Total = Annotated[str, typer.Option("--budget", help="Total cost R of local updates and aggregations.")]


def run(
    run_file: RunFile,
    local_cost: LocalCost,
    aggregation_cost: AggregationCost,
    total: Total,
    *,
    _no_code: NoCode = False,
    as_json: Json = False,
) -> None:
    """Spend a budget on gradient descent, with fixed numbers of local steps and with an adaptive number.

    The problem and the step size come from the run file; its rounds, local steps and mini-batches are ignored.
    """
    from fedtheory.arithmetic import FLOAT
    from fedtheory.engine.run import Run
    from fedtheory.language.paper_parts import import_parts
    from fedtheory.runfile import read_run

    (controller,) = import_parts("budget")
    budget = controller.Budget(local_cost, aggregation_cost, total)
    given = read_run(run_file, FLOAT)
    with name_file_in_errors(run_file):
        quiet = given.problem.with_full_gradients()
        comparison = controller.compare(quiet, controller.get_step_size(Run(quiet, given.algorithm)), budget)
    notes = [] if quiet is given.problem else [_FULL]
    if as_json:
        print_json(controller.write_document(comparison, budget) | {"notes": notes})
        return
    print_text(comparison, budget, given.problem.description)
    print_lines(*notes)


_FULL = "full gradients are used: distributed gradient descent is without the run file's noise or mini-batches"


def print_text(comparison: Any, budget: Any, description: str) -> None:
    """Print a comparison for a terminal."""
    adaptive = comparison.adaptive
    runs = {**{str(steps): done for steps, done in comparison.fixed.items()}, "adaptive": adaptive}
    best = min((name for name, done in runs.items() if not done.diverges), key=lambda n: runs[n].final, default=None)
    names = {name: name for name in runs} | {"adaptive": f"adaptive, {_format_range(adaptive.local_steps)}"}
    rows = [
        [f"[bold green]{names[name]} *[/bold green]" if name == best else names[name], *_format_row(done)]
        for name, done in runs.items()
    ]
    columns = ["local steps", "intervals", "updates", "spent", "final loss gap", "best"]
    costs = f"{short(budget.local_cost)} an update, {short(budget.aggregation_cost)} an aggregation"
    print_lines(f"[bold]{escape(description)}[/bold], {short(budget.total)} to spend, {costs}")
    print_table("F - F* of the last and of the best aggregated model", columns, rows, whole=tuple(columns))
    if best is not None:
        print_lines(f"* ends lowest, at {short(runs[best].final)}")
    better = sum(bool(done.final < adaptive.final) for done in comparison.fixed.values())
    print_lines(f"{better} of {len(comparison.fixed)} fixed numbers of local steps end lower than the adaptive run")


def _format_row(done: Any) -> list[str]:
    counts = [str(len(done.local_steps)), str(sum(done.local_steps)), short(done.spent[-1])]
    return [*counts, "[bold red]diverges[/bold red]" if done.diverges else short(done.final), short(done.best)]


def _format_range(local_steps: tuple[int, ...]) -> str:
    """Format the range of the numbers of local steps."""
    low, high = min(local_steps), max(local_steps)
    return str(low) if low == high else f"{low} to {high}"

"""`fedtheory plan`: recommendations for a run, for data, or for constants alone."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fedtheory.cli.output import (
    Json,
    NoCode,
    SourceKey,
    name_file_in_errors,
    print_json,
    print_lines,
    progress,
    write_text,
)
from fedtheory.cli.plan_document import encode_plan
from fedtheory.cli.plan_tables import print_guarantees, print_plan, print_recommendation
from fedtheory.errors import InputError

if TYPE_CHECKING:
    from fedtheory.engine.run import Run
    from fedtheory.language.claim import Claim
    from fedtheory.planner import Costs, Plan
    from report.figures.style import Figure

NAME = "plan"

Inputs = Annotated[
    list[str] | None,
    typer.Argument(metavar="[RUN] [NAME=VALUE]...", help="A run file, or data (csv, Parquet, npz) with its keys."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A constant, by its symbol or name, instead of a run file."),
]
Accuracy = Annotated[
    str | None, typer.Option("--target", help="Plan the rounds until F - F* is at most this, or 1% for 1 % of F*.")
]
Error = Annotated[
    str, typer.Option("--error", help="The error to reduce: final (of the last iterate), or average (over the path).")
]
Margin = Annotated[
    float, typer.Option("--margin", help="Margin below the smallest diverging step size, as a fraction.")
]
Vary = Annotated[
    str | None,
    typer.Option("--vary", metavar="WHAT", help="A table of other settings: some of steps,batch,algorithm."),
]
LocalCost = Annotated[str, typer.Option("--local-cost", help="Cost of a local step, for --vary: a number or 1/2.")]
RoundCost = Annotated[str, typer.Option("--aggregation-cost", help="Cost of a round's messages, for --vary.")]
All = Annotated[bool, typer.Option("--all", help="Also the bounds that do not apply, why, and all details.")]
Claims = Annotated[list[str] | None, typer.Option("--claim", help="Only this claim; may be repeated.")]
Map = Annotated[str | None, typer.Option("--map", metavar="X,Y", help="Map the dominating term over two symbols.")]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="The plan as a page (.html), or its map alone (.svg)."),
]


def run(
    inputs: Inputs = None,
    *,
    settings: Settings = None,
    target: Accuracy = None,
    error: Error = "final",
    margin: Margin = 0.1,
    vary: Vary = None,
    local_cost: LocalCost = "0",
    aggregation_cost: RoundCost = "1",
    source: SourceKey = None,
    claim: Claims = None,
    map_over: Map = None,
    output: Output = None,
    show_all: All = False,
    _no_code: NoCode = False,
    as_json: Json = False,
) -> None:
    """Recommend step size and rounds from exact errors, and show the guarantees for them.

    The output begins with the step size and the rounds to use, the best bound, and what limits both; then the bounds
    that cover the run follow. With a run file every true bound is evaluated; with constants (`--set L=1 M=10 tau=5
    ...`) every bound whose symbols are given; with a data file the constants are those of least squares on its rows,
    and NAME=VALUE sets a key of a run file: target=price client=hospital rounds=100 local_steps=5, and others.
    """
    files, given = _separate_inputs([*(inputs or []), *(settings or [])], settings or [])
    _require_output(output, map_over)
    accuracy = None if target is None else _read_accuracy(target)
    chosen = _choose(source, claim or [])
    if map_over is not None:
        _require_symbols(_read_symbols(map_over), chosen)
    kinds = tuple(part.strip() for part in (vary or "").split(",") if part.strip())
    options = _PlanOptions(accuracy, error, margin, kinds, _read_costs(local_cost, aggregation_cost), as_json)
    found, planned = _plan(files, given, chosen, options)
    written = _write_files(found, planned, map_over, output, files[0] if files else "constants")
    if as_json:
        print_json({**encode_plan(found), "files": written})
        return
    print_plan(found, planned, reasons=show_all or bool(claim), details=bool(claim))
    print_lines(*(f"wrote {path}" for path in written))


def _separate_inputs(given: list[str], settings: list[str]) -> tuple[list[str], dict[str, str]]:
    """Separate file names from settings of the form NAME=VALUE."""
    named = [text for text in given if text in settings or ("=" in text and not Path(text).exists())]
    read: dict[str, str] = {}
    for text in named:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise InputError("set", f"expected NAME=VALUE, got {text!r}")
        read[name.strip()] = value.strip()
    return [text for text in given if text not in named], read


@dataclass(frozen=True)
class _Accuracy:
    """A target: a number, or a fraction of F*."""

    number: float
    is_part: bool

    def evaluate(self, run: Run) -> float:
        """Return the number on a run; raise `InputError` for a fraction of an F* that is not positive."""
        from fedtheory.arithmetic import plain_float

        if not self.is_part:
            return self.number
        lowest = plain_float(run.problem.optimal_value)
        if not lowest > 0:
            start = plain_float(run.initial_gap)
            raise InputError(
                "target",
                f"expected a number, as F* is {lowest:g} so a percentage of it has no meaning; {start / 100:.3g} is 1% "
                "of F - F* at the start",
            )
        return self.number * lowest


@dataclass(frozen=True)
class _PlanOptions:
    """Options of a plan: error, margin from the edge of divergence, varied settings, costs."""

    accuracy: _Accuracy | None
    error: str
    margin: float
    vary: tuple[str, ...]
    costs: Costs
    is_json: bool


def _read_costs(local: str, aggregation: str) -> Costs:
    """Return the costs of a local step and of a round's messages."""
    from fedtheory.arithmetic import FLOAT
    from fedtheory.planner import Costs

    each, messages = FLOAT.number(local, "local-cost"), FLOAT.number(aggregation, "aggregation-cost")
    if min(each, messages) < 0 or each + messages == 0:
        raise InputError(
            "local-cost", f"expected costs that are not negative, and not both 0, got {local}, {aggregation}"
        )
    return Costs(each, messages)


def _read_accuracy(text: str) -> _Accuracy:
    """Read an accuracy: a number, or a percentage of F*."""
    from fedtheory.arithmetic import FLOAT

    is_part = text.endswith("%")
    try:
        number = FLOAT.number(text.removesuffix("%").strip(), "target") / (100 if is_part else 1)
    except InputError:
        raise InputError(
            "target", f"expected a number such as 0.1, or a percentage of F* such as 1%, got {text!r}"
        ) from None
    if not number > 0:
        raise InputError("target", f"expected a positive number, got {number:g}")
    return _Accuracy(number, is_part)


def _choose(source: str | None, ids: list[str]) -> list[Claim] | None:
    """Return the selected bounds, None for all; raise `InputError` for a claim that bounds no error of a run."""
    if source is None and not ids:
        return None
    from fedtheory.language.registry import claims_of
    from fedtheory.language.targets import expand, resolve
    from fedtheory.planner import covering_claims
    from fedtheory.planner.measurements import require_bounded_error

    if ids:
        named = [resolve(claim_id) for claim_id in expand(ids)]
        for claim in named:
            require_bounded_error(claim)
        return named
    wanted = {claim.id for claim in claims_of(source)}
    return [claim for claim in covering_claims() if claim.id in wanted]


def _plan(
    files: list[str],
    given: dict[str, str],
    claims: list[Claim] | None,
    options: _PlanOptions,
) -> tuple[Plan, Run | None]:
    """Return the plan and its run; the run is None if only constants are given."""
    from fedtheory import planner
    from fedtheory.arithmetic import FLOAT
    from fedtheory.federation.problem.datasets import FILES
    from fedtheory.planner.data import build_run_from_data
    from fedtheory.runfile import read_run

    accuracy = options.accuracy
    if len(files) > 1:
        raise InputError(files[1], "expected one file only")
    if not files:
        if not given:
            raise InputError("RUN", "expected a run file, a data file or constants, such as --set L=1")
        numbers = {name: FLOAT.number(value, name) for name, value in given.items()}
        if accuracy is not None and accuracy.is_part:
            raise InputError("target", "expected a number: F* does not follow from constants alone")
        return planner.plan_numbers(numbers, None if accuracy is None else accuracy.number, claims), None
    if files[0].endswith(FILES):
        run = build_run_from_data(files[0], given)
    elif given:
        raise InputError(next(iter(given)), "expected either a run file or constants, got both")
    else:
        run = read_run(files[0], FLOAT)
    with name_file_in_errors(files[0]), progress("planning") as tell:
        number = None if accuracy is None else accuracy.evaluate(run)
        found = planner.plan(
            run,
            number,
            claims,
            error=options.error,
            margin=options.margin,
            vary=options.vary,
            costs=options.costs,
            jobs=-1,
            on_progress=tell,
            on_answer=None if options.is_json else partial(print_recommendation, run),
            on_bounds=None if options.is_json else print_guarantees,
        )
    return found, run


_PAGE, _MAP = ".html", "regimes.svg"


def _require_output(output: str | None, map_over: str | None) -> None:
    """Raise `InputError` for an output file that cannot be written, before anything is computed."""
    from fedtheory.cli.figure import require_pages

    if output is None and map_over is None:
        return
    require_pages()
    if output is not None and not Path(output).parent.is_dir():
        raise InputError("--output", f"cannot be written: there is no directory {Path(output).parent}", output)
    if map_over is None and not str(output).endswith(_PAGE):
        raise InputError("--output", f"expected a page, such as plan.html, or --map for a map alone, got {output}")


def _write_files(found: Plan, planned: Run | None, over: str | None, output: str | None, name: str) -> list[str]:
    """Write the requested files, and return their names."""
    if output is None and over is None:
        return []
    maps = [] if over is None else [_draw_map(found, over)]
    if output is None or not output.endswith(_PAGE):
        return [write_text(output or _MAP, maps[0].svg, "--output")]
    from report.user_plan import make_user_plan_page

    return [write_text(output, make_user_plan_page(found, planned, maps, name, _format_command()), "--output")]


def _format_command() -> str:
    """Return the command line as it was typed."""
    return shlex.join(["fedtheory", *sys.argv[1:]])


def _draw_map(found: Plan, over: str) -> Figure:
    """Return the map of the recommended bound, or of the first bound that is a formula in constants alone."""
    from fedtheory.planner import regime_map
    from report.step_size_page import draw_regimes

    bounded = [plan for plan in [found.recommended, *found.claims] if plan is not None and plan.bound is not None]
    shown = next((plan for plan in bounded if found.cost is None or not plan.measures_the_run), None)
    if not bounded:
        raise InputError("map", "no bound covers this run")
    if shown is None or shown.bound is None:
        measured = ", ".join(bounded[0].measures_the_run)
        raise InputError(
            "map",
            f"expected a bound that is a formula in {over}; {bounded[0].claim.id} has {measured}, measured on a run",
        )
    return draw_regimes(shown.claim, regime_map(shown.bound, *_read_symbols(over)))


def _read_symbols(over: str) -> list[str]:
    """Return the two symbols of a map."""
    symbols = [part.strip() for part in over.split(",")]
    if len(symbols) != 2:
        raise InputError("map", f"expected two symbols such as eta,tau, got {over!r}")
    return symbols


def _require_symbols(symbols: list[str], chosen: list[Claim] | None) -> None:
    """Raise `InputError` for symbols that no bound has; the recommended bound is checked later, when it is known."""
    from fedtheory.planner import covering_claims
    from fedtheory.planner.coverage import collect_meanings

    known = collect_meanings(covering_claims() if chosen is None else chosen)
    unknown = next((symbol for symbol in symbols if symbol not in known), None)
    if unknown is not None:
        raise InputError("map", f"no bound has a symbol or a quantity {unknown!r}; expected two such as eta,tau")

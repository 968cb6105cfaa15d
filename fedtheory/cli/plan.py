"""`fedtheory plan`: what the theory recommends for a run, for data, or for constants alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from fedtheory.cli.output import Json, SourceKey, about, print_json, print_lines, print_table, progress, short

if TYPE_CHECKING:
    from fedtheory.claim import Claim
    from fedtheory.planner import ClaimPlan, Comparison, Edge, Plan, RoundCost, Target
    from fedtheory.planner.bound import Slack

NAME = "plan"

Inputs = Annotated[
    list[str] | None,
    typer.Argument(metavar="[RUN] [NAME=VALUE]...", help="A run file, or data (npz, csv); numbers as with --set."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A constant, by its symbol or name, instead of a run file."),
]
Accuracy = Annotated[str | None, typer.Option("--target", help="Ask for the rounds to this accuracy.")]
Claims = Annotated[list[str] | None, typer.Option("--claim", help="Only this claim; may be repeated.")]
Map = Annotated[str | None, typer.Option("--map", metavar="X,Y", help="Map the dominating term over two symbols.")]
Output = Annotated[str, typer.Option("--output", "-o", help="Where the map is written (SVG).")]


def run(
    inputs: Inputs = None,
    *,
    settings: Settings = None,
    target: Accuracy = None,
    source: SourceKey = None,
    claim: Claims = None,
    map_over: Map = None,
    output: Output = "regimes.svg",
    as_json: Json = False,
) -> None:
    """Ask the theory for step sizes, local steps and rounds, and how far they are from the exact optimum.

    With a run file every true bound that covers the run is asked; with constants (`--set L=1 M=10 tau=5 ...`) every
    bound whose symbols are given; with a data file the constants are those of least squares on its rows, and NAME=VALUE
    sets rounds, local_steps, local_step_size, server_step_size or batch.
    """
    from fedtheory.arithmetic import FLOAT

    files, numbers = _inputs([*(inputs or []), *(settings or [])], settings or [])
    accuracy = None if target is None else _positive(FLOAT.number(target, "target"))
    found = _planned(files, numbers, accuracy, _chosen(source, claim or []))
    written = [] if map_over is None else [_write_map(found, map_over, output)]
    if as_json:
        print_json({**document(found), "files": written})
        return
    for_people(found, details=bool(claim))
    print_lines(*(f"wrote {path}" for path in written))


def _inputs(given: list[str], settings: list[str]) -> tuple[list[str], dict[str, float]]:
    """Files and numbers among the arguments."""
    from pathlib import Path

    from fedtheory.arithmetic import FLOAT
    from fedtheory.errors import InputError

    numbers = [text for text in given if text in settings or ("=" in text and not Path(text).exists())]
    read: dict[str, float] = {}
    for text in numbers:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise InputError("set", f"expected NAME=VALUE, got {text!r}")
        read[name.strip()] = FLOAT.number(value.strip(), name.strip())
    return [text for text in given if text not in numbers], read


def _positive(accuracy: float) -> float:
    from fedtheory.errors import InputError

    if not accuracy > 0:
        raise InputError("target", f"expected a positive number, got {accuracy:g}")
    return accuracy


def _chosen(source: str | None, ids: list[str]) -> list[Claim]:
    """The bounds to ask; `InputError` for a claim that is no bound on an error of a run."""
    from fedtheory.errors import InputError
    from fedtheory.planner import covering_claims
    from fedtheory.planner.coverage import error_of
    from fedtheory.registry import claims_of
    from fedtheory.targets import resolve

    if ids:
        named = [resolve(claim_id) for claim_id in ids]
        for claim in named:
            if error_of(claim) is None:
                raise InputError(claim.id, "expected a bound on an error of a run as a whole")
        return named
    wanted = {claim.id for claim in claims_of(source)}
    return [claim for claim in covering_claims() if claim.id in wanted]


def _planned(files: list[str], numbers: dict[str, float], accuracy: float | None, claims: list[Claim]) -> Plan:
    from fedtheory import planner
    from fedtheory.arithmetic import FLOAT
    from fedtheory.errors import InputError
    from fedtheory.planner.data import SUFFIXES, run_of_data
    from fedtheory.runfile import read_run

    if len(files) > 1:
        raise InputError(files[1], "expected one file only")
    if not files:
        if not numbers:
            raise InputError("RUN", "expected a run file, a data file or constants, such as --set L=1")
        return planner.plan_numbers(numbers, accuracy, claims)
    if files[0].endswith(SUFFIXES):
        given = run_of_data(files[0], numbers)
    elif numbers:
        raise InputError(next(iter(numbers)), "expected either a run file or constants, got both")
    else:
        given = read_run(files[0], FLOAT)
    with about(files[0]), progress("planning") as tell:
        return planner.plan(given, accuracy, claims, on_progress=tell)


def _write_map(found: Plan, over: str, output: str) -> str:
    """The regime map of the recommended claim, or of the first that has a bound, as an SVG file."""
    from pathlib import Path

    from fedtheory.errors import InputError
    from fedtheory.planner import regime_map
    from report.planning import regime_figure

    symbols = [part.strip() for part in over.split(",")]
    shown = found.recommended or next((plan for plan in found.claims if plan.bound is not None), None)
    if len(symbols) != 2:
        raise InputError("map", f"expected two symbols such as eta,tau, got {over!r}")
    if shown is None or shown.bound is None:
        raise InputError("map", "no bound covers this run")
    figure = regime_figure(shown.claim, regime_map(shown.bound, *symbols))
    try:
        Path(output).write_text(figure.svg, encoding="utf-8")
    except OSError as error:
        raise InputError("output", f"cannot be written ({error.strerror})", output) from None
    return output


def document(found: Plan) -> dict[str, Any]:
    """The JSON document of a plan.

    ``{claims: [...], recommended, exact, refuted: [{id, repair}], round: {time, messages}}``: `exact` and `recommended`
    are of the claim at whose best step size the exact error is smallest.  Numbers are floats, null where infinite
    or unknown.
    """
    from fedtheory.planner import repair_of

    best = found.recommended
    repairs = {claim.id: repair_of(claim) for claim in found.refuted}
    return {
        "claims": [_claim(plan, found.cost) for plan in found.claims],
        "recommended": None if best is None else best.claim.id,
        "exact": None if best is None else _exact(best.exact),
        "refuted": [{"id": name, "repair": None if repair is None else repair.id} for name, repair in repairs.items()],
        "round": None if found.cost is None else {"time": found.cost.time, "messages": found.cost.messages},
    }


def _claim(plan: ClaimPlan, cost: RoundCost | None) -> dict[str, Any]:
    best, anew, local = plan.optimum, plan.remeasured, plan.paying_local_steps
    return {
        "id": plan.claim.id,
        "title": plan.claim.title,
        "verdict": plan.claim.verdict,
        "error": plan.error.name,
        "applicable": plan.applicable,
        "reason": plan.reason,
        "assumptions": [assumption.name for assumption in plan.claim.assumptions],
        "conditions": [_condition(slack) for slack in plan.conditions],
        **_numbers(plan),
        **_edge("largest_local_step_size", plan.step),
        **_edge("largest_server_step_size", plan.server_step),
        **_edge("largest_local_steps", plan.local_steps),
        "best_step_size": None if best is None else _number(best.step_size),
        "best_step_size_formula": None if best is None or best.formula is None else _latex(best.formula),
        "best_step_size_numeric": None if best is None else _number(best.numeric),
        "best_is_largest": None if best is None else best.at_edge,
        "bound_at_best": None if best is None else _number(best.value),
        "remeasured": None
        if anew is None
        else {
            "changed": list(anew.changed),
            "bound_at_best": _number(anew.value),
            "best_step_size": _number(anew.step_size),
            "bound_at_its_best": _number(anew.value_at_step),
        },
        "target": _target(plan.target, cost),
        "target_at_best": _target(plan.target_at_best, cost),
        "linear_speed_up_clients": _number(plan.linear_clients),
        "local_steps_that_pay": None
        if local is None
        else {"local_steps": local.steps, "bound": _number(local.value), "smallest_bound": _number(local.smallest)},
        "exact": _exact(plan.exact),
    }


def _numbers(plan: ClaimPlan) -> dict[str, Any]:
    """The bound, its terms and its symbols."""
    from fedtheory.planner.planning import terms_by_value

    if plan.bound is None:
        return {"step_size": None, "bound": None, "terms": [], "dominating": None, "symbols": []}
    terms = terms_by_value(plan.bound)
    symbols = [
        {"symbol": _latex(symbol), "name": name, "value": _number(plan.bound.values.get(name))}
        for symbol, name in plan.bound.names.items()
    ]
    return {
        "step_size": _number(plan.bound.values.get("local_step_size")),
        "bound": _number(plan.bound.value()),
        "terms": [{"term": _latex(term), "value": _number(value)} for term, value in terms],
        "dominating": _latex(terms[0][0]),
        "symbols": symbols,
    }


def _condition(slack: Slack) -> dict[str, Any]:
    return {"condition": _latex(slack.condition), "holds": slack.holds, "slack": _number(slack.slack)}


def _edge(key: str, edge: Edge | None) -> dict[str, Any]:
    formula = None if edge is None or edge.formula is None else _latex(edge.formula)
    return {key: None if edge is None else _number(edge.value), f"{key}_formula": formula}


def _target(target: Target | None, cost: RoundCost | None) -> dict[str, Any] | None:
    if target is None:
        return None
    spent: tuple[float | None, float | None] = (None, None)
    if cost is not None and target.rounds is not None:
        spent = cost.time * target.rounds, cost.messages * target.rounds
    return {
        "accuracy": target.accuracy,
        "rounds": target.rounds,
        "step_size": _number(target.step_size),
        "time": _number(spent[0]),
        "messages": _number(spent[1]),
        "reason": target.reason,
        "floor": _number(target.floor),
    }


def _exact(compared: Comparison | None) -> dict[str, Any] | None:
    if compared is None:
        return None
    return {
        "best_step_size": _number(compared.exact.step_size),
        "error": _number(compared.exact.error),
        "error_at_choice": _number(compared.error_at_choice),
        "ratio": _number(compared.ratio),
        "error_ratio": _number(compared.error_ratio),
    }


def _number(value: float | None) -> float | None:
    from fedtheory.arithmetic import FLOAT

    found: float | None = None if value is None else FLOAT.text(value)
    return found


def _latex(expression: Any) -> str:
    from fedtheory.expressions import latex

    return latex(expression)


def for_people(found: Plan, details: bool) -> None:
    """Print a plan for a terminal: all bounds in a table, why others do not apply, the recommended one in detail."""
    usable = [plan for plan in found.claims if plan.bound is not None]
    columns = ["bound", "holds", "value", "largest step", "best step", "value there", "rounds", "exact best"]
    if usable:
        roomy = ("value", "largest step", "value there", "exact best")
        print_table("bounds", columns, [_row(plan) for plan in usable], whole=tuple(columns), roomy=roomy)
    _print_others(found)
    shown = usable if details else [plan for plan in [found.recommended] if plan is not None]
    for plan in shown:
        _print_details(plan, found.cost, recommended=plan is found.recommended)


def _row(plan: ClaimPlan) -> list[str]:
    assert plan.bound is not None
    best, asked = plan.optimum, plan.target_at_best or plan.target
    return [
        plan.claim.id,
        "[green]yes[/green]" if plan.applicable else "[yellow]no[/yellow]",
        short(plan.bound.value()),
        "-" if plan.step is None else _limit(plan.step),
        "-" if best is None else short(best.step_size),
        "-" if best is None else short(best.value),
        "-" if asked is None or asked.rounds is None else str(asked.rounds),
        "-" if plan.exact is None else short(plan.exact.exact.step_size),
    ]


def _limit(edge: Edge) -> str:
    import math

    return "any" if math.isinf(edge.value) else short(edge.value)


def _print_others(found: Plan) -> None:
    """Why claims do not cover the run as it is planned, one line for each reason."""
    from rich.markup import escape

    from fedtheory.planner.bound import NOT_GIVEN

    reasons: dict[str, list[str]] = {}
    lacking = [plan for plan in found.claims if (plan.reason or "").startswith(NOT_GIVEN)]
    for plan in found.claims:
        if plan.reason is not None and plan not in lacking:
            reasons.setdefault(plan.reason, []).append(plan.claim.id)
    if lacking:
        print_lines(f"{len(lacking)} bounds need numbers that are not given; --json names them")
    for reason, ids in reasons.items():
        print_lines(f"[bold]{', '.join(ids)}[/bold]: {escape(reason)}")
    if found.refuted:
        print_lines(f"not used, because they are refuted: {', '.join(claim.id for claim in found.refuted)}")


def _print_details(plan: ClaimPlan, cost: RoundCost | None, recommended: bool) -> None:
    from rich.markup import escape

    from fedtheory.planner.planning import terms_by_value

    assert plan.bound is not None
    words = plan.claim.in_words
    print_lines("", f"[bold]{plan.claim.id}[/bold]  {escape(plan.claim.title)}{', recommended' if recommended else ''}")
    print_lines(f"  bounds {plan.error.name}: {escape(plan.error.meaning)}")
    lines = [f"condition {words(slack.condition)}: slack {short(slack.slack)}" for slack in plan.conditions]
    lines += [f"{short(value)}  {words(term)}" for term, value in terms_by_value(plan.bound)]
    lines += _advice(plan) + _rounds(plan, cost)
    print_lines(*(f"  {escape(line)}" for line in lines))


def _advice(plan: ClaimPlan) -> list[str]:
    lines = []
    for edge, name in ((plan.step, "step size"), (plan.server_step, "server step"), (plan.local_steps, "local steps")):
        if edge is not None:
            formula = "" if edge.formula is None else f", from {plan.claim.in_words(edge.formula)}"
            lines.append(f"largest {name}: {_limit(edge)}{formula}")
    if plan.optimum is not None:
        formula = "" if plan.optimum.formula is None else f" = {plan.claim.in_words(plan.optimum.formula)}"
        lines.append(f"best step size: {short(plan.optimum.step_size)}{formula}; bound {short(plan.optimum.value)}")
    if plan.remeasured is not None and plan.remeasured.changed:
        changed = ", ".join(plan.remeasured.changed)
        lines.append(f"at that step size {changed} differ; with them the bound is {short(plan.remeasured.value)}")
    if plan.exact is not None:
        exact = plan.exact.exact
        lines.append(f"exact: best step size {short(exact.step_size)}, error {short(exact.error)}")
        lines.append(f"theory / exact: step size {short(plan.exact.ratio)}, error {short(plan.exact.error_ratio)}")
    if plan.linear_clients is not None:
        lines.append(f"linear speed-up: up to {plan.linear_clients:g} clients, by this bound")
    if plan.paying_local_steps is not None:
        lines.append(f"local steps that pay at the same rounds, by this bound: {plan.paying_local_steps.steps}")
    return lines


def _rounds(plan: ClaimPlan, cost: RoundCost | None) -> list[str]:
    lines = []
    for target, where in ((plan.target, "as planned"), (plan.target_at_best, "best step sizes")):
        if target is None:
            continue
        lead = f"accuracy {short(target.accuracy)}, {where}: "
        if target.rounds is None:
            lines.append(f"{lead}never, {target.reason}")
            continue
        spent = (
            "" if cost is None else f", time {target.rounds * cost.time:g}, {target.rounds * cost.messages:g} models"
        )
        lines.append(f"{lead}{target.rounds} rounds at step size {short(target.step_size)}{spent}")
    return lines

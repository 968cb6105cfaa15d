"""`fedtheory worst-case`: compare a claim's bound with the worst case over a class of functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from fedtheory.cli.output import Json, NoCode, Target, escape, print_json, print_lines, print_table, progress, short
from fedtheory.cli.setting import encode_setting, print_setting

if TYPE_CHECKING:
    from verify.worst_case import Case, WorstCase

NAME = "worst-case"

Clients = Annotated[int, typer.Option("--clients", help="Number of clients; the time grows with its fourth power.")]
LocalSteps = Annotated[int, typer.Option("--local-steps", help="Local steps of the round.")]


def run(
    target: Target,
    clients: Clients = 2,
    local_steps: LocalSteps = 3,
    *,
    _no_code: NoCode = False,
    as_json: Json = False,
) -> None:
    """Compute the exact worst case of one noiseless round over all smooth functions, and the claim's bound on it."""
    from fedtheory.language.targets import resolve
    from verify.worst_case import find_worst_case

    with progress("cases") as report:
        found = find_worst_case(resolve(target), clients, local_steps, on_progress=report)
    if as_json:
        print_json(encode_worst_case(found))
    else:
        print_text(found)


def encode_worst_case(found: WorstCase) -> dict[str, Any]:
    """Return the JSON document: the decisive case, and all of them."""
    from verify.worst_case import KNOWN_ASSUMPTIONS

    decisive = found.decisive
    nothing = dict.fromkeys(("constants", "worst_case", "bound", "ratio", "seconds", "status"))
    return {
        "id": found.claim.id,
        "clients": found.clients,
        "local_steps": found.local_steps,
        "applicable": found.reason is None,
        "reason": found.reason,
        "functions": found.functions,
        "relaxed": found.relaxed,
        "known_assumptions": list(KNOWN_ASSUMPTIONS),
        **(nothing if decisive is None else _encode_case(decisive)),
        "status": found.status,
        "cases": [_encode_case(case) for case in found.cases],
        **encode_setting(found.claim),
    }


def _encode_case(case: Case) -> dict[str, Any]:
    """Return a case as a JSON object."""
    return {
        "constants": dict(case.constants),
        "worst_case": case.worst_case,
        "bound": case.bound,
        "ratio": case.ratio,
        "seconds": round(case.seconds, 3),
        "status": case.status,
    }


def print_text(found: WorstCase) -> None:
    """Print the cases for a terminal, with the assumptions on which they are based."""
    from verify.worst_case import KNOWN_ASSUMPTIONS

    if found.reason is not None:
        print_lines(
            f"[bold]{found.claim.id}[/bold] is outside: {escape(found.reason)}",
            f"assumptions that a worst case knows: {', '.join(KNOWN_ASSUMPTIONS)}",
        )
        return
    print_lines(
        f"[bold]{found.claim.id}[/bold]  {escape(found.claim.title)}",
        f"one round without noise, clients: {found.clients}, local steps: {found.local_steps}, "
        f"all functions that are {found.functions}, L = 1",
    )
    print_setting([(found.claim.id, found.claim)])
    rows = [
        [_describe_scales(case), _format_value(case), short(case.bound), _format_ratio(case)] for case in found.cases
    ]
    columns = ["constants", "worst case", "bound", "ratio"]
    print_table("the largest left side", columns, rows, whole=tuple(columns[1:]))
    print_lines(
        *(
            f"{status}: {_STATUS_MEANINGS[status]}"
            for status in _STATUS_MEANINGS
            if any(c.status == status for c in found.cases)
        )
    )
    if found.relaxed:
        words = " and ".join(name.replace("_", " ") for name in found.relaxed)
        print_lines(f"{words}: imposed at the points of the round alone, so the worst case is never too small")


_STATUS_MEANINGS = {
    "unbounded": "the constraints on the functions leave the left side unbounded",
    "inaccurate": "the two solvers do not agree on a value",
    "failed": "neither solver found a value, often because there is no bound; `fedtheory falsify` looks for runs",
}
"""Meaning of a case without a value."""


def _describe_scales(case: Case) -> str:
    """Describe step size and scales; the numbers of clients and local steps are printed above."""
    counted = ("clients", "local_steps", "iterations", "rounds", "smoothness", "server_step_size", "noise_deviation")
    return ", ".join(f"{name} = {value}" for name, value in case.constants.items() if name not in counted)


def _format_value(case: Case) -> str:
    """Return the worst case as text, or the solver's status if it found none."""
    return short(case.worst_case) if case.status == "solved" else f"[yellow]{case.status}[/yellow]"


def _format_ratio(case: Case) -> str:
    """Format the ratio of worst case and bound; in red if it exceeds 1 by more than the tolerance."""
    from verify.worst_case import OF_THE_VALUE

    exceeds = case.ratio is not None and case.ratio > 1 + OF_THE_VALUE
    return f"[bold red]{short(case.ratio)}[/bold red]" if exceeds else short(case.ratio)

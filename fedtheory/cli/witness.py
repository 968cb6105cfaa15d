"""The run that a verdict rests on, for a terminal, and as a run file where one is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fedtheory.cli.output import print_lines, short

if TYPE_CHECKING:
    from verify.check import Check
    from verify.check.climbs import Rung

Save = Annotated[
    str | None, typer.Option("--save", metavar="FILE", help="Write the run that is shown as a run file (TOML).")
]


def print_witness(found: Check, table: dict[str, Any], counterexample: str | None, saved: str) -> None:
    """Print a run with both sides there: a counterexample, called so, or the run of the largest ratio.

    `saved` is the last line, of `name_saved_file` or `explain_saving`.
    """
    from fedtheory.cli.run_in_words import describe_run
    from verify.shown_place import choose_place, describe_points, has_only_free_vectors

    confirmed = f"{counterexample}, confirmed in {found.arithmetic.numbers}"
    title = "the simplest run with nearly the largest ratio" if counterexample is None else confirmed
    in_floats = "" if found.arithmetic.is_rigorous else ", in floats"
    shown = choose_place(found)
    sides = "" if shown is None else f": left side {_exact(shown.lhs)}, right side {_exact(shown.rhs)}"
    print_lines(f"[bold]{title}{in_floats}[/bold]{sides}")
    if counterexample is not None and _is_lower_bound(found):
        print_lines(_LOWER_BOUND)
    points = describe_points(found.claim, shown) if shown is not None else ""
    of_run = [_ANY_RUN] if has_only_free_vectors(found.claim) else describe_run(table)
    # Not through Rich: who copies a line wants it whole.
    for line in [*([f"at {points}"] if points else []), *_document_ladders(found), *of_run]:
        print(f"  {line}")
    print(f"  {saved}")


def explain_saving(command: str = "") -> str:
    """Return the line with the command that writes a run, without its option; as was typed if empty."""
    return f"`{command}--save run.toml` writes it as a run file"


def name_saved_file(file: str | None) -> str:
    """Return the line that names the file of a run, or says how to write one."""
    return explain_saving() if file is None else f"written to {file}"


def save_witness(text: str | None, found: Check | None, file: str | None) -> None:
    """Write a run file where one is asked for; raise `InputError` if there is none, or nowhere to write it.

    A comment in it says at which points a claim that leaves points free is evaluated.
    """
    from fedtheory.errors import InputError
    from verify.shown_place import points_as_comment

    if file is None:
        return
    if text is None:
        raise InputError("--save", "there is no run to write: the claim applies to none of those tried")
    try:
        Path(file).write_text(text if found is None else points_as_comment(found) + text, encoding="utf-8")
    except OSError as error:
        raise InputError("--save", f"cannot write {file} ({error.strerror})") from None


_LOWER_BOUND = (
    "a claim holds on all runs; where a paper says that some problem is as bad as its right side, turn the relation"
    " round: `fedtheory falsify` of the claim with <= looks for such a problem"
)


def _is_lower_bound(found: Check) -> bool:
    """Return whether a claim bounds a quantity from below by something else than zero."""
    return any(relation.operator in (">=", ">") and relation.right != 0 for relation in found.claim.relations)


_ANY_RUN = "for statements about free vectors the run does not matter"
_LONGEST = 44
"""Symbols of a fraction that is shown unchanged."""


def _exact(value: Any) -> str:
    """Return a side as an exact fraction where it is no longer than half a line, with its decimals where these help."""
    text, decimals = str(value), short(value)
    return decimals if text == decimals or isinstance(value, float) or len(text) > _LONGEST else f"{text} ({decimals})"


def _document_ladders(found: Check) -> list[str]:
    """Return the numbers that decide about a rate on its ladders."""
    from verify.check.ladders import ladders_of

    rate = found.rate
    if rate is None or not rate.rungs:
        return []
    words = [found.claim.in_words(variable) for variable in ladders_of(found.claim)]
    lines = [f"{_describe_rung(words, rung)}: {_describe_value(rung)}" for climb in rate.climbs for rung in climb.rungs]
    reason = rate.reason(found.claim.in_words)
    if reason is not None:
        lines.append(reason)
    if rate.growth is not None and rate.growth.exceeds and rate.growth.power == 0:
        return lines
    slopes = [
        f"slope of the left side {climb.slope:.2f} in {', '.join(map(found.claim.in_words, climb.variables))}"
        for climb in rate.climbs
        if climb.slope is not None
    ]
    return lines + ([f"{'; '.join(slopes)}; largest ratio {short(rate.constant)}"] if slopes else [])


def _describe_rung(words: Sequence[str], rung: Rung) -> str:
    """Describe the values of a rate's variables on a rung."""
    return ", ".join(f"{word} = {short(value)}" for word, value in zip(words, rung.values, strict=True))


def _describe_value(rung: Rung) -> str:
    """Describe the left side on a rung, and its ratio to the order."""
    return f"left side {short(rung.measured)}, ratio to the order {short(rung.measured / rung.order)}"

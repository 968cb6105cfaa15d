"""Prints the run that is the evidence of a verdict, and writes it as a run file on request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fedtheory.cli.output import print_lines, short, write_text
from fedtheory.errors import InputError

if TYPE_CHECKING:
    from verify.check import Check
    from verify.check.measured_ladders import LadderLevel

Save = Annotated[
    str | None, typer.Option("--save", metavar="FILE", help="Write the run that is shown as a run file (TOML).")
]


def print_witness(found: Check, table: dict[str, Any], counterexample: str | None, saved: str) -> None:
    """Print a run with both sides of the claim: a counterexample, or the run with the largest ratio.

    `saved` is the last line, from `name_saved_file` or `explain_saving`.
    """
    from fedtheory.cli.run_in_words import describe_run
    from verify.shown_place import choose_place, describe_points, has_only_free_vectors

    confirmed = f"{counterexample}, confirmed in {found.arithmetic.numbers}"
    title = "the simplest run with nearly the largest ratio" if counterexample is None else confirmed
    in_floats = "" if found.arithmetic.is_rigorous else ", in floats"
    shown = choose_place(found)
    sides = "" if shown is None else f": left side {_format_exact(shown.lhs)}, right side {_format_exact(shown.rhs)}"
    print_lines(f"[bold]{title}{in_floats}[/bold]{sides}")
    if counterexample is not None and _is_lower_bound(found):
        print_lines(_LOWER_BOUND)
    points = describe_points(found.claim, shown) if shown is not None else ""
    of_run = [_ANY_RUN] if has_only_free_vectors(found.claim) else describe_run(table)
    # Printed without Rich, so that the line is not wrapped and can be copied.
    for line in [*([f"at {points}"] if points else []), *_describe_ladders(found), *of_run]:
        print(f"  {line}")
    print(f"  {saved}")


def explain_saving(command: str = "") -> str:
    """Return the line with the command that writes a run; `command` is the typed command by default."""
    return f"`{command}--save run.toml` writes it as a run file"


def name_saved_file(file: str | None) -> str:
    """Return the line that names the file of a run, or explains how to write one."""
    return explain_saving() if file is None else f"written to {file}"


def save_witness(text: str | None, found: Check | None, file: str | None) -> None:
    """Write a run file, if one is requested; raise `InputError` if there is no run or the file cannot be written.

    If the claim leaves points free, a comment in the file lists the points of the evaluation.
    """
    from verify.shown_place import write_points_as_comment

    if file is None:
        return
    if text is None:
        raise InputError("--save", "there is no run to save: the claim does not apply to any tested run")
    write_text(file, text if found is None else write_points_as_comment(found) + text, "--save")


_LOWER_BOUND = (
    "a claim holds on all runs; where a paper says that some problem is as bad as its right side, turn the relation"
    " round: `fedtheory falsify` of the claim with <= looks for such a problem"
)


def _is_lower_bound(found: Check) -> bool:
    """Return whether a claim bounds a quantity from below by a value other than zero."""
    return any(relation.operator in (">=", ">") and relation.right != 0 for relation in found.claim.relations)


_ANY_RUN = "for statements about free vectors the run does not matter"
_LONGEST = 44
"""Length in characters of a fraction that is printed exactly."""


def _format_exact(value: Any) -> str:
    """Return a side as an exact fraction if it is short, with its decimals if these help."""
    text, decimals = str(value), short(value)
    return decimals if text == decimals or isinstance(value, float) or len(text) > _LONGEST else f"{text} ({decimals})"


def _describe_ladders(found: Check) -> list[str]:
    """Return the sequences of runs that are the evidence on a rate."""
    from verify.check.ladders import list_ladders

    rate = found.rate
    if rate is None or not rate.levels:
        return []
    words = [found.claim.in_words(variable) for variable in list_ladders(found.claim)]
    lines = [
        f"{_describe_level(words, level)}: {_describe_value(level)}"
        for ladder in rate.ladders
        for level in ladder.levels
    ]
    reason = rate.reason(found.claim.in_words)
    if reason is not None:
        lines.append(reason)
    if rate.growth is not None and rate.growth.exceeds and rate.growth.power == 0:
        return lines
    slopes = [
        f"slope of the left side {ladder.slope:.2f} in {', '.join(map(found.claim.in_words, ladder.variables))}"
        for ladder in rate.ladders
        if ladder.slope is not None
    ]
    return lines + ([f"{'; '.join(slopes)}; largest ratio {short(rate.constant)}"] if slopes else [])


def _describe_level(words: Sequence[str], level: LadderLevel) -> str:
    """Describe the values of a rate's variables on a run of its sequence."""
    return ", ".join(f"{word} = {short(value)}" for word, value in zip(words, level.values, strict=True))


def _describe_value(level: LadderLevel) -> str:
    """Describe the left side on a run of the sequence, and its ratio to the order."""
    return f"left side {short(level.measured)}, ratio to the order {short(level.measured / level.order)}"

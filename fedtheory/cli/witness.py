"""The run that a verdict rests on, for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fedtheory.cli.output import print_lines, short

if TYPE_CHECKING:
    from verify.check import Check


def print_witness(found: Check, run_file: str, counterexample: str | None) -> None:
    """Print a run with both sides there: a counterexample, called so, or the run of the largest ratio."""
    confirmed = f"{counterexample}, confirmed in {found.arithmetic.numbers}"
    title = "where the ratio is largest" if counterexample is None else confirmed
    in_floats = "" if found.arithmetic.is_rigorous else ", in floats"
    worst = found.worst
    sides = "" if worst is None else f": left side {short(worst.lhs)}, right side {short(worst.rhs)}"
    print_lines(f"[bold]{title}{in_floats}[/bold]{sides}")
    # Not through Rich: a run file must not be wrapped.
    print(run_file)

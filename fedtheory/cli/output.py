"""Output: one JSON document on standard output, or tables for people; progress on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from fedtheory.api.progress import progress as progress  # noqa: PLC0414 - all commands print through this module
from fedtheory.cli.tables import print_table as print_table  # noqa: PLC0414
from fedtheory.errors import Diverging, InputError, NotApplicable
from fedtheory.shown import short as short  # noqa: PLC0414

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output.")]
ArithmeticName = Annotated[
    str,
    typer.Option("--arithmetic", help="float, or rational: exact numbers, or enclosures if there are none."),
]
RunFile = Annotated[str, typer.Argument(metavar="RUN", help="A run file (TOML).")]
Target = Annotated[str, typer.Argument(metavar="ID", help="A claim's id, or file.py:NAME for a user-defined claim.")]
Targets = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[TARGET]...",
        help="Ids, patterns such as 'liu2022:thm-*', sources, a paper's folder, file.py or file.py:NAME; all if none.",
    ),
]
SourceKey = Annotated[str | None, typer.Option("--source", help="Only the claims of this source.")]
FigureFile = Annotated[
    str | None,
    typer.Option("--figure", metavar="FILE", help="Also write a figure: .svg, .png or .pdf, one column wide."),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Compute everything again, and store nothing.")]
Jobs = Annotated[int, typer.Option("--jobs", help="Processes; -1 for all cores.")]


def _refuse_code(context: typer.Context, wanted: bool) -> bool:
    """Refuse Python files for as long as the command runs."""
    if wanted:
        from fedtheory.runfile.loading import refusing_code

        context.with_resource(refusing_code())
    return wanted


NoCode = Annotated[
    bool,
    typer.Option(
        "--no-code",
        callback=_refuse_code,
        is_eager=True,
        help="Execute no Python file or folder, whether you name it or a run file does.",
    ),
]

_STYLES = {
    "supported": "green",
    "proved": "bold green",
    "asymptotic": "green",
    "refuted": "bold red",
    "undecided": "yellow",
    "not applicable": "yellow",
}


def print_json(document: Any) -> None:
    """Print one JSON document; refuse NaN and infinity, which JSON does not have."""
    json.dump(document, sys.stdout, indent=2, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")


def print_lines(*lines: str) -> None:
    """Print lines with Rich markup; long ones are not cut."""
    from rich.console import Console

    console = Console(highlight=False, emoji=False)
    for line in lines:
        console.print(line, overflow="ignore", crop=False)


def escape(text: str) -> str:
    """Return a text with its brackets escaped, which Rich would read as markup."""
    from rich.markup import escape as escape_markup

    return escape_markup(text)


def style_verdict(verdict: str | None) -> str:
    """Return a verdict with its colour."""
    if verdict is None:
        return ""
    style = _STYLES.get(verdict)
    return f"[{style}]{verdict}[/{style}]" if style else verdict


def write_text(file: str, text: str, option: str) -> str:
    """Write a text file and return its name; raise `InputError` with the option that names it if that fails."""
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(option, f"cannot be written ({error.strerror})", file) from None
    return file


@contextmanager
def name_file_in_errors(file: str) -> Iterator[None]:
    """Add a file's name to errors that are raised inside; turn other errors of the user into an `InputError`."""
    try:
        yield
    except InputError as error:
        raise error.in_file(file) from None
    except (NotApplicable, Diverging) as reason:
        raise InputError("", str(reason), file) from None

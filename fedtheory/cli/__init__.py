"""The command line: one small module for each command.

Modules here import heavy libraries inside functions, so that ``--help`` is fast.

Uses `api`, `planner`, `proofs`, `search`, `kernel`, `language`, `runfile`, `engine`, `federation`, `arithmetic`.
"""

from __future__ import annotations

import errno
import functools
import sys
from typing import Annotated, Any

import typer

from fedtheory.cli import (
    assumptions,
    budget,
    cache,
    check,
    claims,
    course,
    data,
    errata,
    falsify,
    inequalities,
    new_source,
    plan,
    prove,
    quantities,
    report,
    rocq,
    show,
    simulate,
    sweep,
    verify,
    worst_case,
)
from fedtheory.errors import FedtheoryError, Interrupted

app = typer.Typer(
    name="fedtheory",
    help="Check theorems of federated optimisation: exact simulation, counterexamples, certificates.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"fedtheory {version('fedtheory')}")
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")]


@app.callback()
def front_door(version: Version = False) -> None:
    """Check theorems of federated optimisation: exact simulation, counterexamples, certificates."""


for command in (
    claims,
    show,
    quantities,
    assumptions,
    inequalities,
    data,
    simulate,
    plan,
    budget,
    check,
    sweep,
    verify,
    falsify,
    prove,
    rocq,
    errata,
    report,
    worst_case,
    new_source,
    cache,
):
    app.command(command.NAME)(command.run)
app.add_typer(course.app)


_INTERRUPTED = 130
"""Exit code after Ctrl-C."""


@functools.cache
def _build_commands() -> Any:
    """Return all commands with their options, built once per process."""
    return typer.main.get_command(app)


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit code.

    A mistake of the user is reported in one line on standard error.
    """
    try:
        code = _build_commands()(args=arguments, standalone_mode=False)
        # Some versions of Typer turn an interruption into this code.
        return _complain("interrupted", code) if code == _INTERRUPTED else code if isinstance(code, int) else 0
    except Interrupted as interruption:
        return _complain(str(interruption), _INTERRUPTED)
    except FedtheoryError as error:
        return _complain(str(error))
    except (KeyboardInterrupt, typer.Abort):
        return _complain("interrupted", _INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except Exception as error:
        message = _describe_error(error)
        if message is None:
            raise
        return _complain(message)


def _describe_error(error: Exception) -> str | None:
    """Return the message on a mistake in the arguments or a full disk; None for errors that the user did not cause."""
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return f"cannot write: {error.strerror}"
    # The base classes of Typer's usage errors differ between versions; all have the method `format_message`.
    message = getattr(error, "format_message", None)
    return None if message is None else message() or "a command is missing; see `fedtheory --help`"


def _complain(message: str, code: int = 2) -> int:
    print("fedtheory: " + " ".join(message.split()), file=sys.stderr)
    return code

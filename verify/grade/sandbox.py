"""Execute submitted code in a sandbox; return its answers, and a message for every failure."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import filterfalse
from pathlib import Path
from subprocess import Popen
from typing import Any

from verify.grade.code_repair import is_python, replace_surrogates
from verify.grade.confinement import USUAL, Launch, Limits, NoSandbox, import_path
from verify.grade.literals import list_bound_names, read_literals, read_unquoted_formulas

_CHILD = Path(__file__).with_name("sandbox_child.py")
_RESTARTS = 4
_LONGEST_MESSAGE = 300
_UNKNOWN_NAME = ": NameError: "
_TYPED = re.compile(": (?:NameError|SyntaxError)\\b")
"""Errors of formulas that are typed without quotes."""
_ANSWERED = re.compile(r"^(?:def\s+)?(\w+)\s*[=(:]", re.MULTILINE)
"""Names that code assigns, found also in invalid Python."""


@dataclass(frozen=True)
class Answers:
    """The values of a submission's names, and errors."""

    values: Mapping[str, str]
    """Answers as text, by name."""
    calls: Mapping[str, tuple[str, ...]]
    """Values of functions at their cases, by name; fewer than the cases if one failed."""
    troubles: tuple[str, ...]
    """Error messages, one sentence each."""
    troubles_of: Mapping[str, str] = field(default_factory=dict)
    """Error messages by name."""
    unknown: frozenset[str] = frozenset()
    """Names whose values need an execution."""


def run_code(
    units: Sequence[str],
    wanted: Sequence[str],
    calls: Mapping[str, Any],
    launch: Launch | NoSandbox,
    limits: Limits = USUAL,
) -> Answers:
    """Execute the units of a submission and collect names and function values.

    `calls` maps the name of a function to its cases, each a list of rationals as text. If a unit ends the process, the
    other units are executed again without it, so that only answers that depend on it are lost. Answers that are
    literals are read in any case; without a sandbox only these are.
    """
    literals = {name: text for name, text in read_literals(units).items() if name in wanted}
    for unit in filterfalse(is_python, units):
        typed = read_unquoted_formulas(unit)
        literals |= {name: text for name, text in typed.items() if name in wanted and not literals.get(name)}
    if isinstance(launch, NoSandbox):
        unknown = frozenset(list_bound_names(units).intersection([*wanted, *calls]) - literals.keys())
        message = (
            f"{', '.join(sorted(unknown))}: the code was not executed, because there is no sandbox ({launch.reason})"
        )
        return Answers(literals, {}, (message,) if unknown else (), unknown=unknown)
    cases = {**dict.fromkeys(wanted), **calls}
    outcomes = _execute(units, cases, launch, limits)
    of_units = {
        unit: f"{_find_first_line(unit)}: {error}" for unit, (_, error) in zip(units, outcomes, strict=False) if error
    }
    missed = {name: trouble for unit, trouble in of_units.items() for name in _ANSWERED.findall(unit) if name in cases}
    of_names = dict(zip(cases, outcomes[len(units) :], strict=True))
    troubles_of = {name: f"{name}: {error}" for name, (_, error) in of_names.items() if error}
    values = {name: found[0] for name, (found, _) in of_names.items() if found and name in wanted}
    for unit in [unit for unit, trouble in of_units.items() if _TYPED.search(trouble)]:
        typed = {name: text for name, text in read_unquoted_formulas(unit).items() if name in wanted}
        if typed and not any(values.get(name) for name in typed):
            values |= typed
            trouble = of_units.pop(unit)
            # The error is reported if the text is not a formula either.
            missed = {**missed, **dict.fromkeys(typed, "" if _UNKNOWN_NAME in trouble else trouble)}
    functions = {name: found for name, (found, _) in of_names.items() if found and name in calls}
    troubles = tuple(dict.fromkeys((*of_units.values(), *troubles_of.values())))
    reasons = {name: trouble for name, trouble in {**missed, **troubles_of}.items() if trouble}
    return Answers({**literals, **values}, functions, troubles, reasons)


Outcome = tuple[tuple[str, ...], str]
"""The result of a step, and its error."""


def _execute(units: Sequence[str], cases: Mapping[str, Any], launch: Launch, limits: Limits) -> list[Outcome]:
    """Return the outcome of each step: first the units, then the names."""
    stopped: dict[int, Outcome] = {}
    for _ in range(_RESTARTS):
        job = {"units": units, "cases": cases, "skipped": list(stopped), "import_path": import_path()}
        answered, ending = _run(launch, json.dumps(job).encode(), limits)
        begun, done = _read_records(answered)
        if not begun:
            raise OSError(f"no process starts for the code: {replace_surrogates(str(answered[-_LONGEST_MESSAGE:]))}")
        if begun <= done.keys():
            break
        stopped[min(begun - done.keys())] = ((), ending)
    given_up: Outcome = ((), f"not executed, because {_RESTARTS} earlier parts were stopped")
    return [{**done, **stopped}.get(step, given_up) for step in range(len(units) + len(cases))]


def _run(launch: Launch, job: bytes, limits: Limits) -> tuple[bytes, str]:
    """Return the output of one process, and the reason of its end."""
    with launch(_CHILD.read_text(encoding="utf-8"), limits) as process, _end_after(limits.waiting, process) as late:
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError), process.stdin as given:
            given.write(job)
        answered = process.stdout.read(limits.output)
        if len(answered) == limits.output:
            _end(process)
        code = process.wait()
    if late.is_set():
        return answered, f"the code was stopped after {limits.waiting} seconds of waiting"
    if len(answered) == limits.output:
        return answered, f"the code prints more than {limits.output:,} bytes"
    return answered, _describe_ending(code, limits)


def _describe_ending(code: int, limits: Limits) -> str:
    # If signal N ended the program, the exit code is 128 + N for bubblewrap, and -N for `Popen`.
    if code in (-signal.SIGKILL, 128 + signal.SIGKILL):
        return f"the code was stopped after {limits.seconds} seconds: does it loop without end?"
    return (
        "the code ended the process: leave out exit() and quit()"
        if code == 0
        else f"the code crashed the process (exit code {code})"
    )


@contextmanager
def _end_after(seconds: float, process: Popen[bytes]) -> Iterator[threading.Event]:
    """End a process and its children after some seconds; the event tells whether this happened."""
    late = threading.Event()

    def stop() -> None:
        late.set()
        _end(process)

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()
        timer.join()
        _end(process)


def _end(process: Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)


def _read_records(answered: bytes) -> tuple[set[int], dict[int, Outcome]]:
    """Return the steps that have begun, and the outcomes of finished ones; lines that are no records are ignored."""
    begun, done = set(), {}
    for line in answered.splitlines():
        with suppress(ValueError, OverflowError, RecursionError, TypeError):
            step, values, error = json.loads(line)
            begun.add(int(step))
            if values is not None:
                done[int(step)] = (
                    tuple(replace_surrogates(str(value)) for value in values),
                    replace_surrogates(str(error))[:_LONGEST_MESSAGE],
                )
    return begun, done


def _find_first_line(unit: str) -> str:
    """Return the first line of a unit that is no comment, as its name."""
    lines = [line.strip() for line in unit.splitlines() if line.strip()]
    first = next((line for line in lines if not line.startswith("#")), lines[0] if lines else "")
    return f"at `{first[:60]}`"

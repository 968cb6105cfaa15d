"""Student code in a process of its own: with little time, little memory, no files, and a message for every failure."""

from __future__ import annotations

import ast
import json
import os
import signal
import site
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import fedtheory
from fedtheory.language.registry import papers
from verify.grade.assignments import PART

_THEORY = Path(fedtheory.__file__).resolve().parent
_HOME = Path(__file__).resolve().parents[2]
"""Where the floors above the theory are: beside it, or inside it once it is installed."""
_CHILD = Path(__file__).with_name("sandbox_child.py")
_FLOORS = ("verify", "report")
_RESTARTS = 4
_NEEDED = ("PATH", "LANG", "SYSTEMROOT")


@dataclass(frozen=True)
class Limits:
    """What the code of one submission may use."""

    seconds: int = 3
    """Of computing."""
    waiting: int = 15
    """Seconds until the end, computing or not."""
    memory: int = 1 << 30
    """In bytes."""
    output: int = 1 << 20
    """In bytes, of everything that is printed."""


USUAL = Limits()


@dataclass(frozen=True)
class Answers:
    """What running a submission has brought to light."""

    values: Mapping[str, str]
    """Answers as text, by name."""
    calls: Mapping[str, tuple[str, ...]]
    """Values of functions at their cases, by name; shorter than the cases where one failed."""
    troubles: tuple[str, ...]
    """What went wrong, one sentence each."""
    troubles_of: Mapping[str, str] = field(default_factory=dict)
    """What went wrong with a name."""


def run_code(units: Sequence[str], wanted: Sequence[str], calls: Mapping[str, Any], limits: Limits = USUAL) -> Answers:
    """Execute the units of a submission and collect names and function values.

    `calls` maps the name of a function to the cases it is tried on, each a list
    of rationals as text.  A unit that takes the process down is left out when
    the others are run again, so that it costs only what depends on it; answers
    that are written as literals survive in any case.
    """
    job: dict[str, Any] = {"units": list(units), "wanted": list(wanted), "calls": dict(calls)}
    skipped_units: list[int] = []
    skipped_names: list[str] = []
    troubles: list[str] = []
    troubles_of: dict[str, str] = {}
    for _ in range(_RESTARTS):
        records, ending = _one_process({**job, "skipped_units": skipped_units, "skipped_names": skipped_names}, limits)
        unit, name = _interrupted(records)
        if unit is not None:
            skipped_units.append(unit)
            troubles.append(f"{_where(units[unit])}: {ending}")
        elif name is not None:
            skipped_names.append(name)
            troubles_of[name] = f"{name}: {ending}"
        else:
            break
    found = _collected(records, units, calls)
    literals = {name: text for name, text in literal_answers(units).items() if name in wanted}
    seen = tuple(dict.fromkeys((*troubles, *found.troubles, *troubles_of.values())))
    return replace(
        found,
        values={**literals, **found.values},
        troubles=seen,
        troubles_of={**found.troubles_of, **troubles_of},
    )


def _one_process(job: dict[str, Any], limits: Limits) -> tuple[list[dict[str, Any]], str]:
    """The records of one process, and how it ended."""
    with tempfile.TemporaryDirectory() as folder:
        job_file, records_file = Path(folder, "job.json"), Path(folder, "records")
        hidden = _hidden()
        job |= {"import_path": _import_path(), "readable": _readable(), "grants": _grants(hidden)}
        job |= {"hidden": hidden, "hidden_modules": _hidden_modules()}
        job |= {"seconds": limits.seconds, "memory": limits.memory, "output": limits.output}
        job_file.write_text(json.dumps(job), encoding="utf-8")
        with records_file.open("wb") as records, Path(folder, "printed").open("wb") as printed:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_CHILD), str(records.fileno()), str(job_file)],
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env=_environment(),
                pass_fds=[records.fileno()],
                start_new_session=True,
            )
            ending = _wait(process, limits)
        return _read_records(records_file), ending


def _environment() -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if key in _NEEDED}
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**kept, **one_thread, "PYTHONHASHSEED": "0"}


def _wait(process: subprocess.Popen[bytes], limits: Limits) -> str:
    late = threading.Event()

    def stop() -> None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
            late.set()

    # To wait with a limit is to look again and again, in pauses as long as most submissions take.
    timer = threading.Timer(limits.waiting, stop)
    timer.daemon = True
    timer.start()
    try:
        code = process.wait()
    finally:
        timer.cancel()
        timer.join()
    if late.is_set():
        return f"the code was stopped after {limits.waiting} seconds of waiting"
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"the code was stopped after {limits.seconds} seconds: does it loop without end?"
    if code == -signal.SIGXFSZ:
        return "the code prints more than it may"
    return "the code ended the process" if code == 0 else f"the code crashed the process (exit code {code})"


def _read_records(path: Path) -> list[dict[str, Any]]:
    """The lines that are records: the file belongs to a process that runs a stranger's code."""
    found = []
    for line in path.read_bytes().splitlines():
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            found.append(record)
    return found


def _written(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """A record whose texts can be written to any file: no halves of characters."""
    readable: Mapping[str, Any] = json.loads(json.dumps(record, ensure_ascii=False).encode("utf-8", "replace"))
    return readable


def _interrupted(records: Sequence[Mapping[str, Any]]) -> tuple[int | None, str | None]:
    """The unit or the name at which the process went down."""
    begun = [record["begin"] for record in records if "begin" in record]
    ended = {record["end"] for record in records if "end" in record}
    open_units = [number for number in begun if number not in ended]
    asked = [record["naming"] for record in records if "naming" in record]
    answered = {record["named"] for record in records if "named" in record}
    open_names = [name for name in asked if name not in answered]
    return (open_units[0] if open_units else None), (open_names[0] if open_names else None)


def _collected(records: Sequence[Mapping[str, Any]], units: Sequence[str], calls_wanted: Mapping[str, Any]) -> Answers:
    values: dict[str, str] = {}
    calls: dict[str, tuple[str, ...]] = {}
    troubles: list[str] = []
    troubles_of: dict[str, str] = {}
    for record in map(_written, records):
        error = record.get("error")
        if "end" in record and error:
            troubles.append(f"{_where(units[record['end']])}: {error}")
        if "named" in record:
            name, found = str(record["named"]), [str(value) for value in record["values"]]
            if error:
                troubles_of[name] = f"{name}: {error}"
            if name in calls_wanted:
                calls[name] = tuple(found)
            elif found:
                values[name] = found[0]
        troubles += [f"the code {reason}, which answers must not do" for reason in record.get("refused", ())]
    told = [text for text in troubles if not any(text != other and text in other for other in troubles)]
    return Answers(values, calls, tuple(dict.fromkeys((*told, *troubles_of.values()))), troubles_of)


def _where(unit: str) -> str:
    """The first line of a unit, as a way to name it."""
    first = next((line.strip() for line in unit.splitlines() if line.strip()), "")
    return f"at `{first[:60]}`"


def literal_answers(units: Sequence[str]) -> dict[str, str]:
    """The names that are assigned a text or a number, read without running anything."""
    found: dict[str, str] = {}
    for unit in units:
        try:
            statements = ast.parse(unit).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for statement in statements:
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
                value = statement.value.value
                for target in statement.targets:
                    if isinstance(target, ast.Name) and type(value) in (str, int, float):
                        found[target.id] = str(value).encode("utf-8", "replace").decode()
    return found


def _import_path() -> list[str]:
    """Where the student's code finds SymPy and `fedtheory`."""
    return [*site.getsitepackages(), sysconfig.get_path("purelib"), str(_THEORY.parent)]


def _readable() -> list[str]:
    """The folders from which the student's code may import."""
    folders = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    base = {os.path.dirname(os.__file__), *site.getsitepackages(), str(_THEORY)}
    return sorted({os.path.realpath(folder) + os.sep for folder in folders | base})


_SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache", "/dev/null", "/dev/urandom")
"""What the libraries of extension modules need."""


@cache
def _grants(hidden: tuple[str, ...]) -> list[str]:
    """Folders and files for the kernel to let through: everything readable, without what is hidden."""
    wanted = [Path(os.path.realpath(folder)) for folder in (*_readable(), *_SYSTEM, sys.base_prefix + "/lib")]
    return sorted({str(path) for folder in wanted for path in _without(folder, [Path(place) for place in hidden])})


def _without(folder: Path, hidden: Sequence[Path]) -> Iterator[Path]:
    """A folder, or its parts where something inside it is hidden."""
    if folder in hidden:
        return
    if not any(folder in path.parents for path in hidden):
        yield folder
        return
    for part in folder.iterdir():
        yield from _without(part, hidden)


def _hidden() -> tuple[str, ...]:
    """Where solutions are: the folders of the grader, and the assignments of every paper, source and bytecode."""
    homes = [paper.folder for paper in papers().values()]
    folders = [*(_HOME / name for name in _FLOORS), *(home / PART for home in homes)]
    modules = [str(home / f"{PART}.py") for home in homes]
    files = [*modules, *(cache_from_source(module) for module in modules)]
    return (*(os.path.realpath(folder) + os.sep for folder in folders), *(os.path.realpath(file) for file in files))


def _hidden_modules() -> list[str]:
    """The names under which they would be imported."""
    return [*_FLOORS, *(f"{paper.package}.{PART}" for paper in papers().values())]

"""The process in which a student's code runs: under limits, behind an audit hook, with nothing to lose.

Started as a script, with the number of an open file for its reports and the
name of its job.  It knows neither solutions nor points: it executes the parts
of a submission one by one and reports what the wanted names are.

The hook answers mistakes and mischief with a sentence; code that knows the
interpreter can get round it.  Where the kernel has Landlock (Linux from 5.13),
it refuses the same again, and there is no way round that.
"""

from __future__ import annotations

import ast
import contextlib
import ctypes
import errno
import io
import json
import os
import resource
import struct
import sys
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

_LONGEST = 4_000
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_REFUSED = {
    "socket.": "uses the network",
    "subprocess.": "starts another program",
    "os.system": "starts another program",
    "os.exec": "starts another program",
    "os.spawn": "starts another program",
    "os.posix_spawn": "starts another program",
    "os.startfile": "starts another program",
    "pty.": "starts another program",
    "os.fork": "starts another process",
    "os.kill": "sends a signal to a process",
    "signal.": "sends a signal to a process",
    "_thread.start": "starts a thread",
    "os.remove": "changes files",
    "os.rename": "changes files",
    "os.rmdir": "changes files",
    "os.mkdir": "changes files",
    "os.chmod": "changes files",
    "os.chown": "changes files",
    "os.link": "changes files",
    "os.symlink": "changes files",
    "os.truncate": "changes files",
    "os.utime": "changes files",
    "shutil.": "changes files",
    "tempfile.": "changes files",
    "sqlite3.": "opens a file",
    "ctypes.": "calls code outside Python",
    "resource.": "changes its limits",
    "gc.get": "looks into the grader's memory",
    "sys.addaudithook": "changes its limits",
    "sys._current_frames": "looks into the grader's memory",
    "urllib.": "uses the network",
    "ftplib.": "uses the network",
    "http.": "uses the network",
}
"""Events of the interpreter, by how they begin, and what the student is told."""


class Refused(PermissionError):
    """What the code did that answers must not do."""


class Guard:
    """The audit hook, and what it has refused."""

    def __init__(self, job: Mapping[str, Any]) -> None:
        self._readable, self._listable = tuple(job["readable"]), tuple(job["import_path"])
        self._hidden, self._modules = tuple(job["hidden"]), tuple(f"{name}." for name in job["hidden_modules"])
        self.refused: list[str] = []

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            self._check_file(*arguments)
        elif event == "import":
            self._check_module(str(arguments[0]))
        elif event in ("os.listdir", "os.scandir"):
            self._check_folder(arguments[0])
        else:
            reason = next((text for name, text in _REFUSED.items() if event.startswith(name)), None)
            if reason is not None:
                self._refuse(f"{reason} ({event})")

    def _check_file(self, path: Any, mode: Any, flags: Any) -> None:
        writes = (isinstance(mode, str) and set(mode) & set("wax+")) or (isinstance(flags, int) and flags & _WRITING)
        if writes:
            self._refuse(f"opens a file for writing ({path})")
        if isinstance(path, int):
            self._refuse(f"opens a file of the grader ({path})")
        if os.fsdecode(path).startswith("<"):
            # Where code has no file, the interpreter looks for one to quote it in messages.
            raise FileNotFoundError(path)
        place = os.path.realpath(os.fsdecode(path))
        if place.startswith(self._hidden):
            self._refuse("reads the grader's own files")
        if not place.startswith(self._readable):
            self._refuse(f"opens a file ({path})")

    def _check_folder(self, path: Any) -> None:
        # The import system lists the folders that it searches.
        if path not in self._listable and not (os.path.realpath(str(path)) + os.sep).startswith(self._readable):
            self._refuse(f"lists a folder ({path})")

    def _check_module(self, name: str) -> None:
        if f"{name}.".startswith(self._modules):
            self._refuse(f"imports the grader or its solutions ({name})")

    def _refuse(self, reason: str) -> None:
        self.refused.append(reason)
        raise Refused(f"the code {reason}, which answers must not do")


def limit(seconds: int, memory: int, output: int) -> None:
    """Bound the time, memory, output and processes of this process, for good."""
    for kind, most in (
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, output),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 0),
    ):
        resource.setrlimit(kind, (most, most))


_RULESET, _RULE, _RESTRICT = 444, 445, 446
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
"""How many kinds of access to files each edition of Landlock knows; later ones have 16."""


def confine(grants: list[str], listable: list[str]) -> bool:
    """Let the kernel refuse all files but those in `grants`, and all connections; False where it cannot.

    What is open already stays open.
    """
    if not sys.platform.startswith("linux"):
        return False
    kernel = ctypes.CDLL(None, use_errno=True).syscall
    edition = kernel(_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    if edition < 1:
        return False
    handled = (1 << _FILE_RIGHTS.get(edition, 16)) - 1
    attributes = struct.pack("QQQ", handled, 3, 3)[: 8 if edition < 4 else 16 if edition < 6 else 24]
    ruleset = kernel(_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0))
    for path in (*grants, *listable):
        _grant(kernel, ruleset, path, _READ_DIR if path in listable else _READ_FILE | _READ_DIR)
    no_new_privileges = ctypes.CDLL(None).prctl(38, 1, 0, 0, 0) == 0
    return bool(no_new_privileges and kernel(_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0)) == 0)


def _grant(kernel: Callable[..., int], ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not os.path.isdir(path):
        rights &= _READ_FILE
    rule = struct.pack("=Qi", rights, descriptor)
    kernel(_RULE, ctypes.c_int(ruleset), ctypes.c_int(1), rule, ctypes.c_uint32(0))
    os.close(descriptor)


class Reporter:
    """Writes one line of JSON for each thing that happens, past anything the student's code can replace."""

    def __init__(self, descriptor: int) -> None:
        self._write: Callable[[int, bytes], int] = os.write
        self._dumps, self._descriptor = json.dumps, descriptor

    def __call__(self, **record: Any) -> None:
        self._write(self._descriptor, self._dumps(record).encode() + b"\n")


def execute(units: list[str], skipped: list[int], report: Reporter) -> dict[str, Any]:
    """Execute the parts of a submission in one namespace; a part that fails is reported and costs nothing else."""
    space: dict[str, Any] = {"__name__": "__main__"}
    for number, source in enumerate(units):
        if number in skipped:
            continue
        report(begin=number)
        report(end=number, error=_failure_of(partial(_run, source, space)))
    return space


def _run(source: str, space: dict[str, Any]) -> None:
    exec(compile(ast.parse(source), "<answers>", "exec"), space)
    flush = getattr(sys.stdout, "flush", None)
    if flush is not None:
        flush()


class _Nowhere(io.TextIOBase):
    """Takes what is printed once no more may be printed."""

    def write(self, text: str) -> int:
        return len(text)


def _failure_of(action: Callable[[], object]) -> str | None:
    """What went wrong with an action, in words; None where nothing did."""
    try:
        action()
    except NotImplementedError:
        # What a cell that is not answered yet raises, by convention.
        return None
    except BaseException as error:
        return _in_words(error)
    return None


def _in_words(error: BaseException) -> str:
    if isinstance(error, Refused):
        return str(error)
    if isinstance(error, MemoryError):
        return "the code needs more memory than it may have"
    if isinstance(error, RecursionError):
        return "the code calls itself without end"
    if isinstance(error, OSError) and error.errno == errno.EFBIG:
        sys.stdout = sys.stderr = _Nowhere()
        return "the code prints more than it may"
    return f"{type(error).__name__}: {error}"[:300]


def as_text(value: Any) -> str:
    """An answer as text: a string as it is, a number or a SymPy expression in Python's notation."""
    if value is None or value is Ellipsis:
        return ""
    text = str(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def answer(space: Mapping[str, Any], wanted: list[str], calls: Mapping[str, Any], job: Any, report: Reporter) -> None:
    """Report the wanted names, and the values of the wanted functions at their cases."""
    for name in (*wanted, *calls):
        if name in job["skipped_names"] or name not in space:
            continue
        report(naming=name)
        values: list[str] = []
        error = _failure_of(partial(ask, space[name], calls.get(name), values))
        report(named=name, values=values, error=error)


def ask(value: Any, cases: list[list[str]] | None, values: list[str]) -> None:
    """Put an answer into `values`, or what a function says of each of its cases."""
    if cases is None:
        values.append(as_text(value))
        return
    for case in cases:
        values.append(as_text(value(*[Fraction(part) for part in case])))


def main(descriptor: int, job_file: str) -> None:
    """Do one job; the process ends here, whatever the student's code has left behind."""
    with open(job_file, encoding="utf-8") as file:
        job = json.load(file)
    report = Reporter(descriptor)
    sys.path[:0] = job["import_path"]
    sys.dont_write_bytecode = True
    sys.stdin = io.StringIO()
    confine(job["grants"], job["import_path"])
    limit(job["seconds"], job["memory"], job["output"])
    guard = Guard(job)
    sys.addaudithook(guard)
    leave = os._exit
    with contextlib.suppress(BaseException):
        space = execute(job["units"], job["skipped_units"], report)
        answer(space, job["wanted"], job["calls"], job, report)
    report(refused=guard.refused[:5])
    leave(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])

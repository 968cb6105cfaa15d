"""Start the process in which submitted code runs, confined by bubblewrap, with limits that are set in advance.

Bubblewrap (Debian's package `bubblewrap`) gives the process its own namespaces. The code sees no other process, no
network, and only the files of Python, its packages and `fedtheory`, read-only and without solutions. `prlimit` limits
one process; libseccomp's filter forbids further processes and system calls that the two do not limit.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from shutil import which

import fedtheory
from fedtheory.language.registry import papers
from verify.grade.assignments import PART


@dataclass(frozen=True)
class Limits:
    """Resources that the code of one submission may use."""

    seconds: int = 3
    """Processor time in seconds."""
    waiting: int = 60
    """Seconds of real time until the end, much longer than the processor time for busy machines."""
    memory: int = 1 << 30
    """Memory in bytes."""
    files: int = 1 << 26
    """Size in bytes of all files in its temporary folder."""
    output: int = 1 << 20
    """Size in bytes of its output."""


USUAL = Limits()

Launch = Callable[[str, Limits], "subprocess.Popen[bytes]"]
"""Function that starts a Python program, given as text, with pipes for its input and output."""


@dataclass(frozen=True)
class NoSandbox:
    """Reason why the sandbox is not available on this machine."""

    reason: str


def find_launch(unsafe: bool = False) -> Launch | NoSandbox:
    """Return the launcher of the sandbox, or of plain processes if `unsafe`, or the reason why there is none."""
    reason = _try_sandbox()
    if reason is None:
        return launch_confined
    return launch_plain if unsafe else NoSandbox(reason)


def launch_plain(program: str, _limits: Limits) -> subprocess.Popen[bytes]:
    """Start a program without any sandbox, with the rights of the user."""
    return _start([sys.executable, *_PYTHON_OPTIONS, program])


def launch_confined(program: str, limits: Limits) -> subprocess.Popen[bytes]:
    """Start a program in the sandbox; all its processes end with the returned one, or with this one."""
    with tempfile.TemporaryFile() as rules:
        rules.write(_filter())
        rules.seek(0)
        bounds = [f"--as={limits.memory}", f"--cpu={limits.seconds}", f"--fsize={limits.files}"]
        start = ["prlimit", *bounds, "--nofile=64", "--core=0", "--memlock=0", "--msgqueue=0"]
        start += [
            which("bwrap") or "bwrap",
            *_NAMESPACES,
            *_list_view_options(limits),
            "--seccomp",
            str(rules.fileno()),
        ]
        return _start([*start, "--", _PYTHON, *_PYTHON_OPTIONS, program], (rules.fileno(),))


def import_path() -> list[str]:
    """Return the folders from which submitted code imports `fedtheory` and the installed packages."""
    return [*_list_packages(), str(_THEORY.parent)]


def _list_packages() -> list[str]:
    installed = [folder for folder in sys.path if folder.endswith(("site-packages", "dist-packages"))]
    return [os.path.realpath(folder) for folder in installed]


_THEORY = Path(fedtheory.__file__).resolve().parent
_FLOORS = [Path(__file__).resolve().parents[2] / name for name in ("verify", "report")]
_PYTHON = os.path.realpath(str(getattr(sys, "_base_executable", sys.executable)))
_PYTHON_OPTIONS = ("-sSPB", "-c")
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_NEEDED = {key: os.environ[key] for key in ("SYSTEMROOT",) if key in os.environ}
_ENVIRONMENT = {"HOME": "/tmp", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0", **_ONE_THREAD, **_NEEDED}
_NAMESPACES = ("--unshare-user", "--unshare-all", "--cap-drop", "ALL", "--die-with-parent", "--new-session")
_SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache")
"""Libraries of extension modules."""


def _start(command: Sequence[str], descriptors: Sequence[int] = ()) -> subprocess.Popen[bytes]:
    # Only pipes are passed: the owner of an open file, even /dev/null, could change its mode.
    return subprocess.Popen(
        [which(command[0]) or command[0], *command[1:]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=_ENVIRONMENT,
        pass_fds=descriptors,
        start_new_session=True,
    )


def _list_view_options(limits: Limits) -> Iterator[str]:
    """Yield the options for the files of the sandbox: all read-only, except an empty folder for temporary files."""
    shown = _list_visible_folders()
    yield from ("--size", str(limits.files), "--tmpfs", "/tmp")
    for place in shown:
        yield from ("--ro-bind-try", place, place)
    for hidden in _list_solutions():
        if hidden.exists() and any(Path(place) in hidden.parents for place in shown):
            yield from ("--tmpfs", str(hidden)) if hidden.is_dir() else ("--ro-bind", os.devnull, str(hidden))
            if hidden.is_dir():
                yield from ("--remount-ro", str(hidden))
    yield from ("--remount-ro", "/", "--chdir", "/tmp")


def _list_visible_folders() -> list[str]:
    """List the folders of Python, its packages and `fedtheory`; folders come before their contents."""
    library = (sysconfig.get_path("stdlib"), sys.base_prefix + "/lib")
    found = {os.path.realpath(place) for place in (*library, *_list_packages(), str(_THEORY))}
    return sorted({*_SYSTEM, _PYTHON, *found})


def _list_solutions() -> Iterator[Path]:
    """Yield the files of the grader and of all assignments, as sources and compiled."""
    yield from _FLOORS
    for paper in papers().values():
        home = paper.folder.resolve()
        yield from (home / PART, home / f"{PART}.py", home / "__pycache__")


_PROCESSES = ("fork", "vfork", "clone", "clone3", "unshare", "setns", "ptrace", "kcmp", "pidfd_getfd")
_MEMORY = ("shmget", "msgget", "semget", "memfd_create", "process_vm_readv", "process_vm_writev", "userfaultfd")
_SERVICES = ("socket", "socketpair", "keyctl", "add_key", "request_key", "bpf", "perf_event_open", "io_uring_setup")
"""System calls that could evade the limits or the namespaces: other processes, sockets, memory and keys."""
_ALLOW, _NOT_PERMITTED = 0x7FFF0000, 0x00050001


@cache
def _filter() -> bytes:
    """Return the filter of system calls in the kernel's format; raises `OSError` without libseccomp."""
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(_ALLOW))
    with tempfile.TemporaryFile() as file:
        for name in (*_PROCESSES, *_MEMORY, *_SERVICES):
            number = library.seccomp_syscall_resolve_name(name.encode())
            # An older library does not know all names; the kernel seldom has such a call.
            if number != -1 and library.seccomp_rule_add(context, _NOT_PERMITTED, number, 0) != 0:
                raise OSError(f"libseccomp does not filter {name}")
        if library.seccomp_export_bpf(context, file.fileno()) != 0:
            raise OSError("libseccomp writes no filter")
        library.seccomp_release(context)
        file.seek(0)
        return file.read()


_READY = b"ready"


def _try_sandbox() -> str | None:
    """Return the reason why the sandbox does not start; None if it does."""
    missing = [program for program in ("bwrap", "prlimit") if which(program) is None]
    if missing:
        return f"{' and '.join(missing)} cannot be found (Debian's packages bubblewrap and util-linux)"
    try:
        process = launch_confined(f"print({_READY.decode()!r})", USUAL)
        said = process.communicate(timeout=60)[0].strip()
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None if said == _READY else said.decode("utf-8", "replace")[-200:] or "it ends at once"

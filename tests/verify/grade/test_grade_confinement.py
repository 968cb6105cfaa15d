"""Hostile code reads, writes, changes and reaches nothing outside the sandbox, and leaves no process behind."""

from __future__ import annotations

import csv
import os
import platform
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from fedtheory.language.registry import papers
from tests.verify.attacks import ATTACKS, FRAMES
from tests.verify.sandboxes import require_sandbox
from verify.grade import Launch, Limits, assignments, confinement, grade_folder, run_code
from verify.grade import notebooks as n
from verify.grade.confinement import USUAL, launch_confined
from verify.grade.sandbox import Answers
from verify.grade.submission import header

SECRET = "the secret of the grader"
NUMBERED = platform.machine() == "x86_64"
CALLS = {
    "CLONES": [56, 57, 58, 435],
    "TRACES": [101, 310, 311, 312, 438],
    "SHARED": [29, 64, 68, 323],
    "KEYS": [248, 249, 250, 298, 321, 425],
    "NAMESPACES": [272, 308],
}
"""Numbers of system calls on 64-bit processors of Intel and AMD."""


@pytest.fixture(scope="module")
def launch() -> Launch:
    """Return the sandbox, on machines that support it."""
    return require_sandbox()


@dataclass
class Victims:
    """Targets of an attack."""

    names: dict[str, Any]
    file: Path
    process: subprocess.Popen[bytes]
    listeners: list[socket.socket]

    def state(self) -> list[Any]:
        """Return everything that an attack must not change."""
        about = [self.file, Path(os.devnull), Path(confinement.__file__), *confinement._THEORY.glob("*.py")]
        files = [(p.stat().st_mode, p.stat().st_mtime, p.stat().st_nlink, p.stat().st_size) for p in about]
        ids = (self.process.pid, os.getpid())
        kinds = (resource.RLIMIT_FSIZE, resource.RLIMIT_CPU, resource.RLIMIT_AS)
        limits = [resource.prlimit(pid, kind) for pid in ids for kind in kinds]
        priorities = [os.getpriority(os.PRIO_PROCESS, pid) for pid in ids]
        cores = [os.sched_getaffinity(pid) for pid in ids]
        beside = sorted(path.name for path in self.file.parent.iterdir())
        return [self.file.read_text(), beside, files, limits, priorities, cores, self.process.poll(), self._arrive()]

    def _arrive(self) -> list[str]:
        found = []
        for listener in self.listeners:
            try:
                listener.recv(10) if listener.type == socket.SOCK_DGRAM else listener.accept()
            except BlockingIOError:
                continue
            found.append(str(listener.getsockname()))
        return found


@pytest.fixture
def victims(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Victims]:
    """Create a file, a process, and listening sockets of the grader."""
    monkeypatch.setenv("GRADER_SECRET", SECRET)
    file = tmp_path / "secret.txt"
    file.write_text(SECRET)
    udp, tcp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.socket()
    unix, abstract = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    addresses = ("127.0.0.1", 0), ("127.0.0.1", 0), str(tmp_path / "socket"), f"\0{uuid4()}"
    listeners = [udp, tcp, unix, abstract]
    for listener, address in zip(listeners, addresses, strict=True):
        listener.bind(address)
        listener.setblocking(False)
        if listener.type != socket.SOCK_DGRAM:
            listener.listen()
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
    solutions = [f"{paper.package}.assignments" for paper in papers().values()]
    names = {
        "FILE": str(file),
        "PROCESS": process.pid,
        "UDP": udp.getsockname()[1],
        "TCP": tcp.getsockname()[1],
        "UNIX": addresses[2],
        "ABSTRACT": addresses[3],
        "SOLUTIONS": [*solutions, "verify.grade", "verify.grade.assignments", "report"],
        **CALLS,
    }
    yield Victims(names, file, process, listeners)
    process.kill()
    process.wait()
    for listener in listeners:
        listener.close()


def attack(launch: Launch, code: str, **names: object) -> Answers:
    """Run an attack between two honest units; what it has done is the answer `done`."""
    known = "\n".join(f"{name} = {value!r}" for name, value in names.items())
    return run_code(["a = 1", f"done = []\n{known}", code, "b = 2"], ["a", "b", "done"], {}, launch, Limits(seconds=30))


SLOW = ("imports the solutions", "reads the solutions")


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.long) if n in SLOW else n for n in ATTACKS])
def test_an_attack_reaches_nothing(launch: Launch, victims: Victims, name: str) -> None:
    """No secret comes to light, no victim changes, and the answers around the attack survive."""
    if any(numbers in ATTACKS[name] for numbers in CALLS) and not NUMBERED:
        pytest.skip("system calls have other numbers on this processor")
    state = victims.state()
    found = attack(launch, ATTACKS[name], **victims.names)
    assert found.values.get("done", "[]") == "[]"
    assert victims.state() == state
    assert (found.values["a"], found.values["b"]) == ("1", "2")


@pytest.mark.parametrize("name", ["limits its parent", "forks", "sends UDP", "changes a priority"])
def test_no_guard_in_python_can_be_replaced(launch: Launch, victims: Victims, name: str) -> None:
    """Code that rewrites the frames around it loses its own records at most."""
    state = victims.state()
    found = attack(launch, FRAMES + ATTACKS[name], **victims.names)
    assert found.values.get("done", "[]") == "[]"
    assert victims.state() == state


def test_the_frames_are_replaced() -> None:
    """The attack of the test before does replace the frames if they can be replaced."""
    space: dict[str, Any] = {"__name__": "__main__"}
    exec("class Guard:\n    def __call__(self):\n        return 1\nguard = Guard()\n" + FRAMES, space)
    assert space["guard"]() is None


@pytest.mark.parametrize(
    ("code", "most"),
    [
        ("kept = []\nwhile True:\n    kept.append(bytearray(10**6)); a = 10**6 * len(kept)", 3e8),
        ("import mmap\nkept = []\nwhile True:\n    kept.append(mmap.mmap(-1, 10**6)); a = 10**6 * len(kept)", 3e8),
        ("a = 0\nwhile True:\n    a += open(f'/tmp/{a}', 'wb').write(bytes(10**5))", 1e7),
        ("file = open('/tmp/x', 'wb', 0)\na = 0\nwhile True: a += file.write(bytes(10**5))", 1e7),
        ("import os\nfile = open('/tmp/x', 'wb')\na = 10**6\nwhile True:\n    file.truncate(2 * a); a *= 2", 1e7),
        ("import os\na = 0\nwhile True:\n    os.pipe(); a += 2", 64),
    ],
    ids=["memory", "mapped memory", "many files", "a file", "a sparse file", "open files"],
)
def test_resources_of_submissions_are_bounded(launch: Launch, code: str, most: float) -> None:
    """Memory, files and open files end at their limits; what was reached is the answer."""
    limits = Limits(seconds=20, memory=3 * 10**8, files=10**7)
    found = run_code(["a = 0", code], ["a"], {}, launch, limits)
    assert 0 < int(found.values["a"]) <= most
    assert len(found.troubles) == 1


def test_output_is_bounded(launch: Launch) -> None:
    """A process with too much output is ended."""
    found = run_code(["a = 1", "import os\nwhile True: os.write(1, b'x' * 1000)"], ["a"], {}, launch)
    assert (found.values, len(found.troubles)) == ({"a": "1"}, 1)
    assert "prints more than" in found.troubles[0]


def test_only_temporary_files_can_be_written(launch: Launch) -> None:
    """Only temporary files can be written: every other folder refuses writes."""
    code = (
        "import fedtheory, os, sympy\na = []\n"
        "places = [os.path.dirname(module.__file__) for module in (fedtheory, os, sympy)]\n"
        "for place in ['/tmp', '/', *places, *('/' + name for name in os.listdir('/'))]:\n"
        "    try: open(place + '/x', 'w'); a.append(place)\n    except OSError: pass"
    )
    assert run_code([code], ["a"], {}, launch, Limits(seconds=20)).values == {"a": "['/tmp', '/tmp']"}


def processes_with(mark: str) -> list[str]:
    """Return the processes of the machine whose command line contains a mark."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark.encode() in (entry / "cmdline").read_bytes():
                found.append(entry.name)
        except OSError:
            continue
    return found


def wait_for(mark: str, count: int) -> list[str]:
    """Return the processes with a mark, as soon as there are as many as expected, or after a long time."""
    for _ in range(600):
        found = processes_with(mark)
        if (len(found) > 0) is (count > 0):
            return found
        time.sleep(0.1)
    return found


SLEEPING = (
    "import signal, time\nfor n in range(1, 32):\n    try: signal.signal(n, signal.SIG_IGN)\n    except OSError: pass"
)
SLEEPING += "\nprint('sleeps', flush=True)\ntime.sleep(300)  # "


def test_the_whole_sandbox_ends_with_its_process(launch: Launch) -> None:
    """A sandbox that is ended from outside leaves no process behind, whatever signals its code ignores."""
    mark = str(uuid4())
    with launch(SLEEPING + mark, USUAL) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"sleeps\n"
        assert wait_for(mark, 1)
        process.kill()
    assert wait_for(mark, 0) == []


@pytest.mark.long
def test_the_sandbox_ends_with_the_grader(launch: Launch) -> None:
    """A grader that is killed ends its sandbox."""
    assert launch is launch_confined
    mark = str(uuid4())
    program = f"""
from verify.grade.confinement import USUAL, launch_confined
process = launch_confined({SLEEPING + mark!r}, USUAL)
print(process.stdout.readline(), flush=True)
process.wait()
"""
    path = os.pathsep.join(sys.path)
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path}) as grader:
        assert grader.stdout is not None
        grader.stdout.readline()
        os.kill(grader.pid, signal.SIGKILL)
    assert wait_for(mark, 0) == []


@pytest.mark.long
def test_code_that_waits_is_ended(launch: Launch) -> None:
    """No process of the code is left when its time is over."""
    found = run_code(["a = 1", "import time; time.sleep(300)"], ["a"], {}, launch, Limits(waiting=3))
    assert found.values == {"a": "1"}
    assert "seconds of waiting" in found.troubles[0]


HOSTILE = [
    "signals every process",
    "limits its parent",
    "writes its result",
    "changes open files",
    "reads the environment",
    "starts threads",
    "lists folders",
]


@pytest.mark.long
def test_every_other_submission_is_graded_as_alone(launch: Launch, victims: Victims, tmp_path: Path) -> None:
    """Beside hostile files and notebooks, an honest submission has the same result, byte by byte."""
    assert launch is launch_confined
    drift = assignments()["drift-recursion"]
    honest = [header(drift.id, "ana"), *(question.solution_cell for question in drift.copy("ana").questions)]
    alone, crowd = tmp_path / "alone", tmp_path / "crowd"
    for folder in (alone, crowd):
        folder.mkdir()
        (folder / "ana.py").write_text("\n".join(honest))
    known = "\n".join(["done = []", *(f"{name} = {value!r}" for name, value in victims.names.items())])
    for number, name in enumerate(HOSTILE):
        for prefix, student in (("", f"before{number}"), (FRAMES, f"zoe{number}")):
            copy = drift.copy(student)
            code = "\n".join([known, prefix, ATTACKS[name], "last = str(done)"])
            if number % 2:
                (crowd / f"{student}.py").write_text(f"{header(drift.id, student)}\n{code}\n")
                continue
            notebook = n.build_student_notebook(drift, copy)
            cell = next(c for c in notebook["cells"] if c["metadata"]["nbgrader"]["grade_id"] == "last")
            cell["source"] = code
            (crowd / f"{student}.ipynb").write_text(n.write_notebook(notebook))
    state = victims.state()
    grade_folder(alone, tmp_path / "one")
    grade_folder(crowd, tmp_path / "two", jobs=2)
    assert victims.state() == [state[0], sorted([*state[1], "one", "two"]), *state[2:]]
    same = [(tmp_path / place / "results" / "ana.json").read_text() for place in ("one", "two")]
    assert same[0] == same[1]
    with (tmp_path / "two" / "points.csv").open(encoding="utf-8") as file:
        points = {row["student"]: row["points"] for row in csv.DictReader(file)}
    assert points == {"ana": "15"} | {name: "0" for name in points if name != "ana"}
    assert len(points) == 1 + 2 * len(HOSTILE)


def test_missing_files_are_not_hidden(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file that is missing in a read-only folder is not hidden: the sandbox would not start."""
    there = tmp_path / "there"
    there.mkdir()
    monkeypatch.setattr(confinement, "_list_visible_folders", lambda: [str(tmp_path)])
    monkeypatch.setattr(confinement, "_list_solutions", lambda: iter([there, tmp_path / "missing.py"]))
    view = list(confinement._list_view_options(USUAL))
    assert str(there) in view
    assert str(tmp_path / "missing.py") not in view


@pytest.mark.parametrize("fails", [None, "seccomp_rule_add", "seccomp_export_bpf"])
def test_a_filter_that_cannot_be_made_is_an_error(fails: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that the library knows and does not filter is an error, and so is a filter that it does not write."""

    class Function:
        def __init__(self, name: str) -> None:
            self.name = name

        def __call__(self, *given: Any) -> int:
            if self.name == "seccomp_export_bpf":
                os.write(given[1], b"the filter")
            return 1 if self.name == fails else 0

    class Library:
        def __init__(self, _file: str) -> None:
            self.seccomp_init = Function("seccomp_init")

        def __getattr__(self, name: str) -> Function:
            return Function(name)

    monkeypatch.setattr(confinement.ctypes, "CDLL", Library)  # type: ignore[attr-defined]
    make = confinement._filter.__wrapped__
    if fails is None:
        assert make() == b"the filter"
    else:
        with pytest.raises(OSError, match="filter"):
            make()

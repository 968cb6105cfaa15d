"""Student code runs apart: whatever it does, the grader gets its other answers and a sentence."""

from __future__ import annotations

import ctypes
import sys

import pytest

from fedtheory.sources.liu2022 import assignments
from verify.grade import Limits, rule, run_code
from verify.grade.sandbox import USUAL, Answers, literal_answers

KERNEL = sys.platform.startswith("linux") and ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1) > 0
"""Whether the kernel can confine a process to some files."""
SHORT = Limits(seconds=1, waiting=3)


def run(*units: str, limits: Limits = USUAL) -> Answers:
    """Units that may answer `a` and `b`, and the function `f`."""
    return run_code(units, ["a", "b"], {"f": [["1"], ["3/2"]]}, limits)


def test_answers_of_all_kinds() -> None:
    """Texts, numbers and SymPy expressions come back as text; functions are called with rationals."""
    found = run(
        "import sympy as sp\nx = sp.Symbol('x')",
        "a = x**2 + sp.Rational(1, 2)",
        "b = r'\\frac12'",
        "def f(x):\n    return x * x",
    )
    assert found == Answers({"a": "x**2 + 1/2", "b": r"\frac12"}, {"f": ("1", "9/4")}, ())


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("open('/etc/passwd').read()", "opens a file"),
        ("import os; os.open('/etc/passwd', os.O_RDONLY)", "opens a file"),
        ("open('x', 'w')", "opens a file for writing"),
        ("import pathlib; pathlib.Path('x').write_text('1')", "opens a file for writing"),
        ("import os; os.listdir('/')", "lists a folder"),
        ("import os; os.remove('x')", "changes files"),
        ("import shutil; shutil.rmtree('/tmp/x')", "changes files"),
        ("import os; os.fork()", "starts another process"),
        ("import os; os.system('true')", "starts another program"),
        ("import os; os.execv('/bin/true', ['true'])", "starts another program"),
        ("import subprocess; subprocess.run(['true'])", "starts another program"),
        ("import multiprocessing as m; m.Process(target=print).start()", "starts another process"),
        ("import socket; socket.socket()", "uses the network"),
        ("import ctypes; ctypes.CDLL(None)", "calls code outside Python"),
        ("import ctypes; ctypes.string_at(0)", "calls code outside Python"),
        ("import os; os.kill(1, 9)", "sends a signal"),
        ("import gc; gc.get_objects()", "looks into the grader's memory"),
        ("import resource; resource.setrlimit(resource.RLIMIT_CPU, (9, 9))", "changes its limits"),
        ("import verify.grade.assignments", "imports the grader or its solutions"),
        ("from verify.grade import find_assignment", "imports the grader or its solutions"),
        ("import importlib; importlib.import_module('verify.grade')", "the grader"),
        ("import report", "imports the grader or its solutions"),
        ("import fedtheory.sources.renard2022.assignments.polarization", "imports the grader or its solutions"),
        ("from fedtheory.sources.liu2022 import assignments", "imports the grader or its solutions"),
        ("import importlib as i; i.import_module('fedtheory.sources.liu2022.assignments')", "the grader"),
        (
            "open(__import__('fedtheory').__path__[0] + '/sources/liu2022/assignments.py')",
            "reads the grader's own files",
        ),
        ("open(__import__('fedtheory').__file__ + '/../../verify/grade/rule.py')", "reads the grader's own files"),
        ("raise SystemExit", "SystemExit"),
        ("1 / 0", "ZeroDivisionError"),
        ("syntax error(", "SyntaxError"),
        ("def g(): return g()\ng()", "calls itself without end"),
        ("x = bytearray(10**12)", "needs more memory"),
        ("print('x' * 10**7)", "prints more than it may"),
        ("while True: print('x' * 1000)", "prints more than it may"),
    ],
)
def test_mischief_costs_its_own_unit_only(code: str, told: str) -> None:
    """What is refused or fails is told, and the answers around it survive."""
    found = run("a = 1", code, "b = 2")
    assert (found.values["a"], found.values["b"]) == ("1", "2")
    assert told in " ".join(found.troubles)


ROUND_THE_HOOK = (
    "import sys\nframe = sys._getframe()\nwhile frame:\n    for value in list(frame.f_locals.values()):\n"
    "        if type(value).__name__ == 'Guard':\n            value._readable, value._hidden = ('/',), ('no',)\n"
    "    frame = frame.f_back"
)


@pytest.mark.skipif(not KERNEL, reason="this kernel has no Landlock")
def test_the_kernel_stands_behind_the_hook() -> None:
    """Code that disarms the hook reads neither other files nor the solutions; it can still import what it may."""
    found = run(
        ROUND_THE_HOOK,
        "a = open('/etc/passwd').read()",
        f"b = open({str(rule.__file__)!r}).read()",
        f"b = open({str(assignments.__file__)!r}).read()",
        "import sympy, numpy\nfrom fedtheory import Claim\na = Claim.__name__",
    )
    assert found.values == {"a": "Claim"}
    assert [trouble.count("PermissionError") for trouble in found.troubles] == [1, 1, 1]


def test_the_theory_can_be_imported() -> None:
    """Code may use fedtheory, also its papers, as far as they hold no solutions."""
    found = run("from fedtheory.sources.liu2022 import SOURCE", "a = SOURCE.key")
    assert found == Answers({"a": "liu2022"}, {}, ())


def test_caught_refusals_are_told() -> None:
    """Code that hides the refusal from itself does not hide it from the grader."""
    found = run("try:\n    open('/etc/passwd')\nexcept Exception:\n    a = 1")
    assert found.values == {"a": "1"}
    assert "opens a file" in found.troubles[0]


@pytest.mark.long
@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("while True: pass", "does it loop without end?"),
        ("import time; time.sleep(60)", "of waiting"),
        ("import os; os._exit(0)", "ended the process"),
        ("import sys; sys.setrecursionlimit(10**9)\ndef g(): g()\ng()", "at `import sys"),
    ],
)
def test_what_takes_the_process_down_is_left_out(code: str, told: str) -> None:
    """The others are run again without it, and keep their answers."""
    found = run("a = 1", code, "b = a + 1", limits=SHORT)
    assert found.values == {"a": "1", "b": "2"}
    assert told in found.troubles[0]


def test_a_function_that_loops_costs_itself_only() -> None:
    """A function is left out as a unit is, and the trouble is filed under its name."""
    found = run("a = 1", "def f(x):\n    while True: pass", limits=SHORT)
    assert (found.values, found.calls) == ({"a": "1"}, {})
    assert "loop without end" in found.troubles_of["f"]


def test_literal_answers_survive_what_follows_in_their_unit() -> None:
    """A text that is assigned needs no running to be read."""
    found = run("a = 'tau**2'\nwhile True: pass", limits=SHORT)
    assert found.values == {"a": "tau**2"}
    assert literal_answers(["a = 'x'\nb = f()", "c = 2", "not python("]) == {"a": "x", "c": "2"}


def test_a_value_that_will_not_be_written() -> None:
    """An object whose text never comes costs its own name."""
    found = run("class A:\n    def __str__(self):\n        while True: pass", "a = A()", "b = 1", limits=SHORT)
    assert found.values == {"b": "1"}
    assert "loop" in found.troubles_of["a"]


def test_records_cannot_be_forged_into_a_crash() -> None:
    """Rubbish among the reports of the process is passed over."""
    found = run(
        "import os\nfor n in range(3, 30):\n    try:\n        os.write(n, b'{]\\n[1]\\n')\n    except OSError: pass",
        "a = 1",
    )
    assert found.values == {"a": "1"}


def test_the_environment_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables of the grader's environment are not passed on."""
    monkeypatch.setenv("GRADER_SECRET", "42")
    assert run("import os; a = os.environ.get('GRADER_SECRET', 'none')").values == {"a": "none"}


def test_what_is_not_answered_yet_is_no_trouble() -> None:
    """The marker of an empty cell is not an error to report."""
    assert run("# YOUR CODE HERE\nraise NotImplementedError()", "a = 1") == Answers({"a": "1"}, {}, ())

"""Student code runs apart: whatever it does, the grader gets its other answers and a sentence."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.verify.sandboxes import missing_part, require_sandbox
from verify.grade import Limits, NoSandbox, confinement, find_launch, run_code
from verify.grade.confinement import USUAL, launch_plain
from verify.grade.literals import list_bound_names, read_literals
from verify.grade.sandbox import Answers

SHORT = Limits(seconds=1, waiting=3)


def run(*units: str, limits: Limits = USUAL) -> Answers:
    """Execute units that may answer `a` and `b` and define `f`; in the sandbox if it exists."""
    launch = launch_plain if missing_part() else require_sandbox()
    return run_code(units, ["a", "b"], {"f": [["1"], ["3/2"]]}, launch, limits)


def test_fractions_are_known_and_objects_have_no_address() -> None:
    """`Fraction` is known, as questions mention it; the text of a returned object is the same in each execution."""
    found = run("a = Fraction(1, 120)", "def f(x):\n    yield x")
    assert found.values["a"] == "1/120"
    assert found.calls["f"] == ("<generator object f>",) * 2
    assert found.troubles == ()


def test_answers_of_all_kinds() -> None:
    """Texts, numbers and SymPy expressions are returned as text; functions are called with rationals."""
    found = run(
        "import sympy as sp\nx = sp.Symbol('x')",
        "a = x**2 + sp.Rational(1, 2)",
        "b = r'\\frac12'",
        "def f(x):\n    return x * x",
    )
    assert found == Answers({"a": "x**2 + 1/2", "b": r"\frac12"}, {"f": ("1", "9/4")}, ())


def test_a_comma_behind_an_answer_changes_nothing() -> None:
    """A trailing comma makes a tuple of one, whose entry is the answer; longer tuples are not answers."""
    found = run("a = 'tau**2',", "x = 'eta'\nb = [x]", "def f(x):\n    return x,")
    assert found == Answers({"a": "tau**2", "b": "eta"}, {"f": ("1", "3/2")}, ())
    assert read_literals(["a = 'x',", "b = ['y']", "c = 1, 2", "d = ()"]) == {"a": "x", "b": "y"}


def test_functions_count_with_whole_arguments() -> None:
    """A whole argument counts as an integer and divides as a fraction; another argument is named."""
    code = "def f(x):\n    return sum(1 / (x + 1) for _ in range(x + 1)) + [5, 7][x]"
    found = run(code)
    assert found.calls == {"f": ("8",)}
    assert "expected a whole number, got 5/2" in found.troubles[0]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("open('missing')", "uses files, processes or the network"),
        ("import no_such_module", "No module named 'no_such_module"),
        ("raise SystemExit", "SystemExit"),
        ("1 / 0", "ZeroDivisionError"),
        ("syntax error(", "SyntaxError"),
        ("def g(): return g()\ng()", "calls itself without end"),
        ("x = bytearray(10**15)", "needs more memory"),
        ("raise ValueError('x' * 10**6)", "ValueError: xxx"),
    ],
)
def test_a_failure_costs_its_own_unit_only(code: str, message: str) -> None:
    """A failure is reported in one short sentence, and the answers around it are kept."""
    found = run("a = 1", code, "b = 2")
    assert (found.values["a"], found.values["b"]) == ("1", "2")
    assert message in found.troubles[0]
    assert len(found.troubles[0]) < 400


def test_printed_text_is_discarded() -> None:
    """Printed text is discarded, however long it is."""
    assert run("print('x' * 10**7)", "import sys; sys.stderr.write('x')", "a = 1") == Answers({"a": "1"}, {}, ())


def test_the_theory_can_be_imported() -> None:
    """Code may import fedtheory and its papers."""
    found = run("from fedtheory.sources.liu2022.source import SOURCE", "a = SOURCE.key")
    assert found == Answers({"a": "liu2022"}, {}, ())


def test_pictures_can_be_drawn() -> None:
    """Matplotlib has a folder to write to, and no screen."""
    pytest.importorskip("matplotlib")
    found = run("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\na = 1", limits=Limits(seconds=30))
    assert found == Answers({"a": "1"}, {}, ())


@pytest.mark.long
@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import time; time.sleep(60)", "of waiting"),
        ("import os; os._exit(0)", "ended the process"),
        ("import os; os.abort()", "crashed the process"),
        ("import os\nwhile True: os.write(1, b'x' * 1000)", "prints more than"),
    ],
)
def test_units_that_end_the_process_are_skipped(code: str, message: str) -> None:
    """If a unit ends the process, the others run again without it, and keep their answers."""
    found = run("a = 1", code, "b = a + 1", limits=SHORT)
    assert found.values == {"a": "1", "b": "2"}
    assert message in found.troubles[0]


@pytest.mark.long
def test_code_that_computes_without_end() -> None:
    """Units and functions that do not end are left out; the message for a function is stored under its name."""
    launch = require_sandbox()
    units, limits = ("a = 1", "while True: pass", "def f(x):\n    while True: pass"), Limits(seconds=1)
    found = run_code(units, ["a"], {"f": [["1"]]}, launch, limits)
    assert (found.values, found.calls) == ({"a": "1"}, {})
    assert ["loop without end" in trouble for trouble in found.troubles] == [True, True]
    assert "loop without end" in found.troubles_of["f"]


def test_literal_answers_survive_what_follows_in_their_unit() -> None:
    """An assigned text is read without running its unit."""
    found = run("a = 'tau**2'\nimport os; os._exit(0)")
    assert found.values == {"a": "tau**2"}


def test_literal_answers() -> None:
    """A name with literal texts or numbers only is read; a name that is computed somewhere is not."""
    assert read_literals(["a = 'x'\nb = f()", "c = 2", "not python("]) == {"a": "x", "c": "2"}
    assert read_literals(["a = 'x'", "a = 'y'"]) == {"a": "y"}
    assert read_literals(["a = 'x'", "a += 'y'", "b = 1\nfor b in c: pass", "c = 1\ndef c(): pass"]) == {}
    assert list_bound_names(["a, b = 1, 2\ndef f(): pass", "import c.d\nfrom e import g as h", "("]) == set("abfch")


@pytest.mark.parametrize(
    "record",
    ["{]", "[1]", "{}", "[1e999, [], 0]", "[0, 3, 3]", "['x', [], '']", "[-5, [1], '']", "[" * 5000, "[7, ['y'], 8]"],
    ids=range(9),
)
def test_records_cannot_be_forged_into_a_crash(record: str) -> None:
    """Invalid lines among the reports of the process are skipped."""
    code = (
        f"import os\nfor n in range(30):\n    try: os.write(n, {record.encode()!r} + b'\\n')\n    except OSError: pass"
    )
    assert run(code, "a = 1").values["a"] == "1"


def test_the_environment_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables of the grader's environment are not passed on."""
    monkeypatch.setenv("GRADER_SECRET", "42")
    assert run("import os; a = os.environ.get('GRADER_SECRET', 'none')").values == {"a": "none"}


def test_empty_cells_are_not_reported() -> None:
    """The marker of an empty cell is not reported as an error."""
    assert run("# YOUR CODE HERE\nraise NotImplementedError()", "a = 1") == Answers({"a": "1"}, {}, ())


def test_without_a_sandbox_nothing_is_executed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Literals are answers, unanswered questions stay so, and all others are named, with the reason."""
    monkeypatch.setattr(confinement, "which", lambda _name: None)
    launch = find_launch()
    assert launch == NoSandbox("bwrap and prlimit cannot be found (Debian's packages bubblewrap and util-linux)")
    units = ("a = 'x'", f"open({str(tmp_path / 'x')!r}, 'w')", "b = 1 + 1", "def f(x): return x")
    found = run_code(units, ["a", "b", "c"], {"f": [], "g": []}, launch)
    assert (found.values, found.calls, found.unknown) == ({"a": "x"}, {}, {"b", "f"})
    assert found.troubles[0].startswith(
        "b, f: the code was not executed, because there is no sandbox (bwrap and prlimit"
    )
    assert list(tmp_path.iterdir()) == []
    assert run_code(["a = 'x'"], ["a", "b"], {}, launch) == Answers({"a": "x"}, {}, ())


def test_the_instructor_may_do_without_a_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a sandbox, code is executed if the instructor says so; its failures cost as much as in the sandbox."""
    monkeypatch.setattr(confinement, "which", lambda _name: None)
    launch = find_launch(unsafe=True)
    assert launch is launch_plain
    found = run_code(("a = 1 + 1", "import os; os._exit(3)", "b = a"), ["a", "b"], {}, launch)
    assert found.values == {"a": "2", "b": "2"}
    assert "exit code 3" in found.troubles[0]


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo 'bwrap: No permissions to create new namespace'; exit 1", "No permissions to create new namespace"),
        ("exit 1", "ends at once"),
        ("echo ready to fail", "ready to fail"),
    ],
)
def test_a_sandbox_that_does_not_start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, reason: str
) -> None:
    """One trial detects that user namespaces are forbidden, or that bubblewrap is too old."""
    program = tmp_path / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(confinement, "which", lambda _name: str(program))
    launch = find_launch()
    assert isinstance(launch, NoSandbox)
    assert reason in launch.reason


@pytest.mark.skipif(missing_part() is not None, reason=f"there is no sandbox: {missing_part()}")
@pytest.mark.parametrize("rules", [b"", b"\0" * 7])
def test_a_broken_sandbox_is_no_missing_one(rules: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """If bubblewrap starts and the filter of system calls is broken, tests that need the sandbox fail."""
    monkeypatch.setattr(confinement, "_filter", lambda: rules)
    with pytest.raises(AssertionError, match="bubblewrap starts, the sandbox does not"):
        require_sandbox()


def test_a_process_that_does_not_start() -> None:
    """A failure of the grader is not an empty submission."""

    def broken(_program: str, limits: Limits) -> subprocess.Popen[bytes]:
        return launch_plain("print('no memory')", limits)

    with pytest.raises(OSError, match="no memory"):
        run_code(["a = 1"], ["a"], {}, broken)


def test_formulas_without_quotes_are_read_as_typed() -> None:
    """A formula with symbols unknown to Python is read as typed; a value is kept; other failures are reported."""
    found = run("# My answer.\na = 4*tau**2", "b = c")
    assert (found.values, found.troubles) == ({"a": "4*tau**2", "b": "c"}, ())
    found = run("tau = 3\na = 4*tau**2", "b = f(1)\nprint(x)")
    assert found.values == {"a": "36", "b": "f(1)"}
    assert run("import math\na = 4*math.tua").values == {}


def test_a_part_is_named_by_its_first_line_of_code() -> None:
    """A part is named by its first line of code, not by a comment before it."""
    (trouble,) = run("# Your answer goes here.\n\na = 1/0").troubles
    assert trouble == "at `a = 1/0`: ZeroDivisionError: division by zero"


def test_a_line_inside_a_function_that_is_no_python_is_named() -> None:
    """An invalid line inside a function is named, not the first line of the function."""
    (trouble,) = run("def f(x):\n    while True\n        x = 1").troubles
    assert trouble == "at `def f(x):`: SyntaxError at `while True`: expected ':'"


def test_formulas_that_are_no_python_are_read_as_typed() -> None:
    """Formulas that are not valid Python are read as typed; other errors stay errors."""
    units = ('a = ""', "a = 2 tau T", 'b = "4*tau', "def f(x:\n    return x")
    found = run(*units)
    assert found.values == {"a": "2 tau T", "b": "4*tau"}
    assert "SyntaxError" in found.troubles_of["a"]
    assert "SyntaxError" in found.troubles_of["f"]
    assert run_code(units, ["a"], {}, NoSandbox("none")).values == {"a": "2 tau T"}

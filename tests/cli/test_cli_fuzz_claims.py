"""Arbitrary claim files give a verdict, or one line with the file, the claim or the field."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import QUADRATIC, run_text
from fuzzing import answer, fuzz, torn
from hypothesis import given
from hypothesis import strategies as st

from fedtheory.language.targets import resolve

HEADER = """\
import sympy as sp
from fedtheory import Claim, Expectation, Rate, Relation, inner, norm_sq
from fedtheory.language import quantities as q
from fedtheory.language import assumptions as a

eta, tau, T, L, D, ghost = sp.symbols("eta tau T L D ghost", positive=True)
x, v = sp.symbols("x v", real=True)
where = {eta: q.local_step_size, tau: q.local_steps, T: q.rounds, L: q.smoothness, D: q.initial_distance}
"""

NUMBERS = [
    "eta", "0", "1", "0.5", "tau * eta**2", "D**2 / (eta * tau * T)", "q.max_drift", "q.final_suboptimality", "1 / L",
    "sp.Rational(1, 3) * T", "(1 - eta * L) ** (tau * T)", "sp.Max(eta, tau)", "sp.sqrt(eta)", "-eta", "eta - eta",
    "q.initial_distance", "sp.sqrt(D)", "1e-300", "1e300", "10**40", "1 / (eta - sp.Rational(1, 20))",
]  # fmt: skip
"""Sides with a numerical value."""
MISTAKES = [
    "sp.oo", "sp.nan", "sp.zoo", "float('inf')", "float('nan')", "10**5000", "sp.sin(eta)", "sp.Function('f')(eta)",
    "ghost", "eta ** sp.Rational(1, 3)", "eta ** ghost", "'eta'", "None", "[eta]", "True", "sp.true", "sp.I", "eta < 1",
    "q.local_iterate", "q.point", "sp.Matrix([eta])", "eta / 0", "lambda: 1", "q", "Claim", "1 / (T - T)", "x", "v",
    "sp.Piecewise((eta, eta > 1), (0, True))", "sp.Sum(eta, (tau, 1, 3))", "eta ** (10**9)", "tau ** tau ** tau ** tau",
    "sp.factorial(tau)", "sp.Integral(eta, eta)", "sp.Derivative(eta**2, eta)", "sp.sqrt(-eta)", "sp.log(eta)",
    "(1 - eta) ** (tau * 10**9)", "T ** (10**7)", "(T + 1) ** -(10**8)", "norm_sq(v)", "Expectation(norm_sq(v))",
    "inner(x, x)", "object()", "b'x'", "2 ** sp.Symbol('k')", "sp.Symbol('eta')", "__import__('sys').exit(3)", "1 +",
    "eta)", "undefined", "sp.floor(eta)", "sp.Abs(eta)", "sp.Float('1e9999')", "1j", "sp.E", "sp.pi * eta", "{}",
    "sp.Rational(1, 10**3000)", "T ** eta", "eta ** T", "sp.Min(eta)", "sp.Max()", "sp.sqrt(eta - 1)", "0 ** -eta",
]  # fmt: skip
RELATIONS = ["'<='", "'<'", "'=='", "'>='", "'>'", "'=<'", "'!='", "None", "3", "['<=']"]
CONDITIONS = [
    "[]", "[eta <= 1 / L]", "[eta < 0]", "[True]", "[eta]", "['eta <= 1']", "eta <= 1", "None", "[ghost <= 1]",
    "[sp.Eq(eta, tau)]", "[sp.Ne(eta, tau)]", "[sp.And(eta < 1, tau < 9)]", "[~(eta < 1)]", "[eta <= sp.oo]", "[[]]",
    "[sp.sin(eta) <= 1]", "[lambda: 1]", "(eta <= 1,)", "{eta <= 1}", "[sp.Symbol('x') > 0]", "'eta <= 1'",
    "[T > 10**9]",
]  # fmt: skip
WHERE = [
    "where", "{}", "None", "{eta: 3}", "{'eta': q.local_step_size}", "{**where, ghost: q.smoothness}", "{eta: q}",
    "{**where, eta: q.local_iterate}", "{**where, v: q.local_iterate}", "{**where, x: q.point}", "[eta]", "{1: 2}",
]  # fmt: skip
OTHERS = [
    "id=3", "id=''", "kind='theorem'", "place='moon'", "place='step'", "place='path'", "place='points'",
    "place='round'",
    "assumptions=[a.smooth]", "assumptions=[1]", "assumptions=a.smooth", "assumptions=[a.full_gradients]", "title=None",
    "for_all={ghost: [1, 2]}", "for_all={ghost: []}", "for_all={ghost: ['x']}", "for_all={ghost: [eta]}", "for_all=3",
    "chain=[eta, '<=', tau]", "chain=[eta, '<=']", "chain=[eta, '?', tau]", "chain=[eta]", "chain='abc'", "rate=3",
    "also=[Relation(eta, '<=', tau)]", "also=[3]", "also=[Relation(eta, '?', tau)]", "verdict='maybe'", "verdict=None",
    "rate=Rate(measured=eta, order=1 / T, variable=T)", "rate=Rate(measured='eta', order=1 / T, variable=T)", "note=[]",
    "rate=Rate(measured=eta, order=sp.oo, variable=3)", "fault='x'", "corrects=3", "speed=1", "printed=b''",
]  # fmt: skip


@st.composite
def claim_files(draw: st.DrawFn) -> str:
    """Generate a file with one claim, correct or with errors, sometimes with a damaged text."""
    side = st.sampled_from(NUMBERS) | st.sampled_from(MISTAKES)
    fields = [
        f"lhs={draw(st.sampled_from(NUMBERS))}",
        f"rhs={draw(side)}",
        f"where={draw(st.just('where') | st.sampled_from(WHERE))}",
    ]
    if draw(st.booleans()):
        fields.append(f"relation={draw(st.sampled_from(RELATIONS))}")
    if draw(st.booleans()):
        fields.append(f"conditions={draw(st.sampled_from(CONDITIONS))}")
    fields += draw(st.lists(st.sampled_from(OTHERS), max_size=1))
    identity = "" if any(field.startswith("id=") for field in fields) else "id='mine:claim', "
    text = f"{HEADER}claim = Claim({identity}{', '.join(fields)})\n"
    return draw(torn(text)) if draw(st.integers(0, 6)) == 0 else text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a good run file; the claim file is rewritten for each case."""
    made = tmp_path_factory.mktemp("claims")
    (made / "run.toml").write_text(run_text(QUADRATIC, {"algorithm.rounds": "2", "algorithm.local_steps": "2"}))
    return made


def target(folder: Path, text: str) -> str:
    """Return the command-line target for the claim of a file with this text."""
    (folder / "mine.py").write_text(text, encoding="utf-8", errors="surrogatepass")
    resolve.cache_clear()
    return f"{folder / 'mine.py'}:claim"


@pytest.mark.long
@fuzz(max_examples=312)
@given(claim_files())
def test_check(folder: Path, text: str) -> None:
    """Every file gives a verdict or one line, and verdicts in floats and in rationals do not contradict each other."""
    named, run_file = target(folder, text), folder / "run.toml"
    floats = answer("check", named, run_file, "--json")
    exact = answer("check", named, run_file, "--json", "--arithmetic", "rational")
    assert floats.code == exact.code
    if floats.code == 2:
        assert "claim" in floats.err or "mine" in floats.err
        return
    verdicts = floats.document["holds"], exact.document["holds"]
    assert None in verdicts or verdicts[0] == verdicts[1]


@pytest.mark.long
@fuzz(max_examples=100)
@given(claim_files(), st.sampled_from(["show", "prove", "plan"]))
def test_show_prove_plan(folder: Path, text: str, command: str) -> None:
    """The other commands that read claims give an answer or one line."""
    named = target(folder, text)
    arguments = ["plan", folder / "run.toml", "--claim", named] if command == "plan" else [command, named]
    answer(*arguments, "--json")


def test_strings_are_never_run_as_python(folder: Path) -> None:
    """A string as side or condition is rejected, because SymPy would execute it."""
    (folder / "touched").unlink(missing_ok=True)
    attack = f"\"__import__('pathlib').Path('{folder / 'touched'}').touch()\""
    for field in (f"rhs={attack}", f"rhs=0, conditions=[{attack}]", f"rhs=0, chain=[eta, '<=', {attack}]"):
        named = target(folder, f"{HEADER}claim = Claim(id='mine:claim', lhs=eta, where=where, {field})\n")
        assert answer("check", named, folder / "run.toml", "--json").code == 2
    assert not (folder / "touched").exists()


def test_output_of_a_claim_file_stays_out_of_the_answer(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Output of a claim file goes to standard error."""
    from fedtheory.cli import run

    named = target(folder, f"{HEADER}print('hello')\nclaim = Claim(id='mine:claim', lhs=0, rhs=eta, where=where)\n")
    assert run(["check", named, str(folder / "run.toml"), "--json"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("{")
    assert captured.err == "hello\n"

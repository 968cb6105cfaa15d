"""User-defined claims: modules next to their file, errors in one line, assumptions that return booleans."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest
import sympy as sp

from fedtheory import RATIONAL, parse_run
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.runfile.loading import load_file
from verify.check import check

RUN = """
[problem]
kind = "quadratic"
hessians = [[["1"]]]
linear = [["1"]]
start = ["0"]

[algorithm]
name = "fedavg"
local_step_size = "1/2"
local_steps = 1
rounds = 3
"""


def test_modules_beside_a_file_can_be_imported(tmp_path: Path) -> None:
    """Each file imports the modules of its own folder, even if two have one name, and none stays importable."""
    for word in ("one", "two"):
        folder = tmp_path / word
        folder.mkdir()
        (folder / "neighbour.py").write_text(f"WORD = {word!r}")
        (folder / "mine.py").write_text("from neighbour import WORD")
        module = load_file(folder / "mine.py")
        assert vars(module)["WORD"] == word
    assert "neighbour" not in sys.modules
    assert not [path for path in sys.path if path.startswith(str(tmp_path))]


CLAIM = """
import sympy as sp
from fedtheory import Claim, quantities as q
from fedtheory.language.assumptions import Assumption

eta, D, T = sp.symbols("eta D T", real=True)

def odd(run):
    {body}

mine = Claim(
    id="mine:bound", lhs=q.final_suboptimality, rhs=D**2 / eta, where={{eta: q.local_step_size, D: q.initial_distance}},
    conditions=[{condition}], assumptions=[Assumption("odd", "something odd", odd)],
)
"""


def test_mistakes_of_own_claims_are_one_line(command, tmp_path: Path) -> None:
    """Chained conditions give a suggestion; an assumption that raises an error is reported with its line."""
    run = tmp_path / "run.toml"
    run.write_text(RUN)
    chained, raising = tmp_path / "chained.py", tmp_path / "raising.py"
    chained.write_text(CLAIM.format(body="return True", condition="0 < eta <= 1 / D"))
    raising.write_text(CLAIM.format(body="return run.nothing > 3", condition="eta <= 1"))
    complaint = command("check", f"{chained}:mine", str(run)).err
    assert f"{chained}, line 13: cannot be executed: TypeError" in complaint
    assert "as two conditions: [0 < eta, eta <= 1/L]" in complaint
    complaint = command("check", f"{raising}:mine", str(run)).err
    assert f"{raising}, line 9: cannot be executed: AttributeError" in complaint
    assert "Traceback" not in complaint


def test_an_assumption_may_return_whether_it_holds(command, tmp_path: Path) -> None:
    """If an assumption returns False, the claim does not apply; conditions may be joined by `And`."""
    run = tmp_path / "run.toml"
    run.write_text(RUN)
    for body, verdict in (("return False", "not applicable"), ("return True", "holds")):
        file = tmp_path / f"{verdict.replace(' ', '_')}.py"
        file.write_text(CLAIM.format(body=body, condition="sp.And(eta <= 1, D >= 0)"))
        assert verdict in command("check", f"{file}:mine", str(run)).out


QUANTITIES = """
from fedtheory import Claim, on_another_run, quantities as q

steep = q.RunQuantity("steepness", "s", "largest curvature", lambda run: run.problem.nothing)
fast = on_another_run("fast", q.final_suboptimality, {"algorithm.local_steps": lambda run: run.nothing})
mine = Claim(id="mine:one", lhs=steep, rhs=1)
other = Claim(id="mine:two", lhs=q.final_suboptimality, rhs=fast)
"""


def test_a_quantity_of_ones_own_that_raises_is_one_line(command, tmp_path: Path) -> None:
    """A user-defined quantity or function that raises an error gives one line."""
    run, file = tmp_path / "run.toml", tmp_path / "mine.py"
    run.write_text(RUN)
    file.write_text(QUANTITIES)
    for name, line in (("mine", 4), ("other", 5)):
        complaint = command("check", f"{file}:{name}", str(run)).err
        assert f"{file}, line {line}: cannot be executed: AttributeError" in complaint
        assert "Traceback" not in complaint


def test_an_unknown_argument_is_answered_by_the_known_ones(command, tmp_path: Path) -> None:
    """The message lists the arguments of the class or function that was called, however it was imported."""
    run, file = tmp_path / "run.toml", tmp_path / "mine.py"
    run.write_text(RUN)
    for code, expected in (
        ("from fedtheory import Claim\nc = Claim(left=1)", "'left'; expected some of id, kind, title, locator, lhs,"),
        ("from fedtheory import exercises as ex\nc = ex.Assignment(name='x')", "'name'; expected some of id, title,"),
        ("def f(a, b): ...\nc = f(c=1)", "'c'; expected some of a, b"),
        ("c = [3, 1]\nc.sort(by=1)", "'by'"),
    ):
        file.write_text(code)
        assert expected in command("check", f"{file}:c", str(run)).err


ALGORITHM = """
import sympy as sp
from fedtheory.federation.definition import FederatedAlgorithm, Gradient, Local, Weighted, eta, start

x, y = sp.symbols("x y_i", real=True)
step = y - eta * (Gradient(y) + sp.Symbol("decay") * y)
local = Local(y, start=x, step=step)
mine = FederatedAlgorithm("mine", server={x: start}, local=local, server_update={x: Weighted(y)}, model=x)
"""


def test_a_mistake_in_an_algorithm_is_no_further_one_of_the_run_file(command, tmp_path: Path) -> None:
    """A mistake in an algorithm is reported for the algorithm only; the run file is not blamed."""
    (tmp_path / "mine.py").write_text(ALGORITHM)
    run = tmp_path / "run.toml"
    run.write_text(RUN.replace('"fedavg"', '"mine.py:mine"'))
    complaint = command("simulate", str(run)).err
    assert "undeclared symbol decay" in complaint
    assert "also" not in complaint


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("from fedtheory.claims import Claim", "from fedtheory import Claim"),
        ("from fedtheory import claim", "from fedtheory import Claim"),
        ("from fedtheory import quantities as q\nhalf = q.max_drift / 2", "quantities.max_drift.symbol"),
        ("from fedtheory import quantities as q\nsmall = q.max_drift <= 2", "relation='<='"),
        ("from fedtheory import Claim\nmine = Claim('mine:bound', 1, 2)", "Claim(id='mine:bound', lhs=..."),
        (
            "import sympy as sp\nfrom fedtheory import Claim\neta = sp.Symbol('eta')\n"
            "mine = Claim(id='mine:bound', lhs=eta, rhs=1, where={eta: 'local_step_size'})",
            "where: expected quantities.local_step_size for eta, without quotes",
        ),
        (
            "from fedtheory import assumptions as a\nmine = a.convex",
            "is 'convex_and_smooth' or 'strongly_convex_clients' meant?",
        ),
        ("mine = (3).count", "'int' object has no attribute 'count'"),
        (
            "from fedtheory import Claim, quantities as q\nT = q.rounds.symbol\n"
            "mine = Claim(id='mine:bound', lhs=q.max_drift, rhs=T, where={q.rounds: T})",
            "where: expected SymPy symbols as keys, as in where={eta: quantities.local_step_size}",
        ),
        (
            "from fedtheory import Claim, quantities as q\nT = q.rounds.symbol\n"
            "mine = Claim(id='mine:bound', lhs=q.max_drift, rhs=T, where={T: q.rounds}, conditions='T <= 2')",
            "conditions: expected a list of relations without quotes, such as [eta <= 1/(4*L)], got 'T <= 2'",
        ),
        (
            "import sympy as sp\nfrom fedtheory import Claim, quantities as q\nT = q.rounds.symbol\n"
            "mine = Claim(id='mine:bound', lhs=q.max_drift, rhs=sp.factorial(T), where={T: q.rounds})",
            "functions with a value are sqrt, exp, log, Abs, Max, Min, floor, ceiling, Piecewise and Sum",
        ),
        (
            "from fedtheory import Claim, Rate, quantities as q\nT = q.rounds.symbol\n"
            "mine = Claim(id='mine:both', lhs=T, rhs=1, where={T: q.rounds}, rate=Rate(q.max_drift, 1 / T, T))",
            "rate: expected a rate alone",
        ),
    ],
)
def test_frequent_mistakes_have_a_hint(command, tmp_path: Path, written: str, hint: str) -> None:
    """The one line of an error says what to write instead."""
    path = tmp_path / "mine.py"
    path.write_text(written)
    assert hint in command("verify", f"{path}:mine").complaint()


def test_exponents_may_be_floats() -> None:
    """A power of 2.0 is a square, also in rationals; 0.5 is a root."""
    x = sp.Symbol("x", positive=True)
    run = parse_run(tomllib.loads(RUN), RATIONAL)
    for power in (sp.Float(2.0), sp.Float(0.5)):
        exact = sp.Rational(str(power))
        claim = Claim(id="t:power", lhs=x**power, relation="==", rhs=x**exact, where={x: q.local_step_size})
        assert check(claim, run).holds is True


TWICE = """
import sympy as sp
from fedtheory import Claim, quantities as q
T = sp.Symbol("T", positive=True)
one = Claim(id="mine:bound", lhs=q.max_drift, rhs=T, where={T: q.rounds})
alias = one
two = Claim(
    lhs=q.max_drift,
    rhs=2 * T,
    id="mine:bound",
    where={T: q.rounds},
)
"""


def test_two_claims_of_a_file_have_different_ids(command, tmp_path: Path) -> None:
    """A second claim with the id of another is refused with the line of the id; another name of a claim is not."""
    path = tmp_path / "mine.py"
    path.write_text(TWICE)
    complaint = command("prove", str(path), "--no-search").complaint()
    assert f"{path}, line 10: id: 'mine:bound' is the id of {path}:one as well" in complaint
    assert "such as 'mine:two'" in complaint
    assert "mine:bound" in command("prove", f"{path}:one", "--no-search").out
    path.write_text(TWICE.partition("two =")[0])
    assert "mine:bound" in command("prove", str(path), "--no-search").out

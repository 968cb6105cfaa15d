"""User-defined claims: modules beside their file, mistakes in one line, assumptions that return whether they hold."""

from __future__ import annotations

import sys
from pathlib import Path

from fedtheory.runfile.loading import load_file

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
    """Each file has its own neighbours, also where two have one name, and none stays importable."""
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
    """Chained conditions say what to write; an assumption that raises is reported with its line."""
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
    """Where it returns False the claim does not apply; conditions may be joined by `And`."""
    run = tmp_path / "run.toml"
    run.write_text(RUN)
    for body, verdict in (("return False", "not applicable"), ("return True", "holds")):
        file = tmp_path / f"{verdict.replace(' ', '_')}.py"
        file.write_text(CLAIM.format(body=body, condition="sp.And(eta <= 1, D >= 0)"))
        assert verdict in command("check", f"{file}:mine", str(run)).out

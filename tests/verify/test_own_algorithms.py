"""Claims about user-defined algorithms: runs of their definitions, with numbers that their parameters can have."""

from __future__ import annotations

from pathlib import Path

import pytest

from fedtheory.arithmetic import RATIONAL
from fedtheory.errors import InputError
from fedtheory.language.families import FAMILIES
from fedtheory.language.targets import resolve
from fedtheory.runfile import parse_run, run_table
from verify.check import check
from verify.digests import digest_target
from verify.instances import families_for

ALGORITHM = """
import sympy as sp
from fedtheory.federation.definition import FederatedAlgorithm, Gradient, Local, Parameter, Weighted, eta, start

x, m, y = sp.symbols("x m y_i", real=True)
pull, flag = sp.Symbol("lambda", nonnegative=True), sp.Symbol("f", nonnegative=True)
algorithm = FederatedAlgorithm(
    name="lookahead",
    server={x: start, m: start},
    local=Local(y, start=x, step=y - eta * Gradient(y)),
    server_update={m: m + pull * (x - m), x: x + Weighted(y - x) + flag * pull * (m - x)},
    model=x,
    parameters=(
        Parameter(pull, "pull", "how far the models pull each other", sp.Interval(0, 1)),
        Parameter(flag, "both", "whether both do", sp.Interval(0, 1), 1, is_flag=True),
    ),
)
"""
CLAIMS = """
import sympy as sp
from fedtheory import Claim, assumptions as a, quantities as q

T, D = sp.symbols("T D", positive=True)
NOTATION = {T: q.rounds, D: q.initial_distance}
OWN = [a.of_algorithm("own.py:algorithm")]
halved = Claim(id="mine:halved", lhs=q.final_distance_sq, rhs=D**2 / 2**T, where=NOTATION, assumptions=OWN)
length = Claim(id="mine:length", lhs=0, rhs=q.final_distance_sq, where=NOTATION, assumptions=OWN)
nowhere = Claim(id="mine:nowhere", lhs=0, rhs=D, where=NOTATION, assumptions=[a.of_algorithm("missing.py:algorithm")])
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an algorithm in one file and claims in another."""
    (tmp_path / "own.py").write_text(ALGORITHM)
    (tmp_path / "claims.py").write_text(CLAIMS)
    monkeypatch.chdir(tmp_path)
    resolve.cache_clear()
    return tmp_path


def test_a_family_varies_the_algorithms_own_numbers() -> None:
    assert families_for(resolve("claims.py:halved")) == ("own.py:algorithm",)
    runs = [instance.run() for instance in FAMILIES["own.py:algorithm"].instances[:24]]
    defined = [run.algorithm.defined for run in runs]
    values = [tuple(map(str, one.values.values())) for one in defined if one is not None]
    assert len(values) == len(runs)
    assert len({pull for pull, _ in values}) >= 4
    assert {flag for _, flag in values} == {"0", "1"}
    assert {max(run.algorithm.work.steps) for run in runs} == {1, 2, 3}


def test_claims_are_tried_on_it() -> None:
    runs = [instance.run() for instance in FAMILIES["own.py:algorithm"].instances[:12]]
    halved, length = ([check(resolve(f"claims.py:{name}"), run) for run in runs] for name in ("halved", "length"))
    assert all(one.applicable and one.holds for one in length)
    assert any(one.holds is False for one in halved)


def test_its_runs_can_be_written_and_read() -> None:
    """Runs of a user-defined algorithm can be written to a file and read again, as searches that change runs do."""
    run = FAMILIES["own.py:algorithm"].instances[3].run()
    table = run_table(run)
    assert table["algorithm"]["name"] == "own.py:algorithm"
    again = parse_run(table, RATIONAL)
    assert (again.trajectory.server_mean == run.trajectory.server_mean).all()


def test_a_missing_file_is_named() -> None:
    digest_target.cache_clear()
    assert digest_target("claims.py:nowhere")
    with pytest.raises(InputError, match=r"missing\.py"):
        FAMILIES["missing.py:algorithm"].instances[0].run()
    with pytest.raises(KeyError):
        FAMILIES["no family"]


def test_cached_results_depend_on_the_algorithms_file(folder: Path) -> None:
    before = digest_target("claims.py:halved")
    (folder / "own.py").write_text(ALGORITHM.replace("lookahead", "looking ahead"))
    digest_target.cache_clear()
    assert digest_target("claims.py:halved") != before

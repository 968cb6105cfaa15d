"""User-defined quantities in a file of claims are checked, searched and proved from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_support import Command

MINE = """\
import sympy as sp
from fedtheory import Average, Claim, Expectation, Value, assumptions as a, norm_sq, quantity, quantities as q

F, x, x_i, best, after, t = sp.symbols("F x x_i best after t")
eta, tau, T, M, zeta, sigma, L, D = sp.symbols("eta tau T M zeta sigma L D", positive=True)
where = {F: q.objective, x: q.average_iterate, x_i: q.local_iterate, best: q.optimum, after: q.next_average_iterate,
         eta: q.local_step_size, tau: q.local_steps, T: q.rounds, M: q.clients, zeta: q.gradient_dissimilarity,
         sigma: q.noise_deviation, L: q.smoothness, D: q.initial_distance}
gap = Expectation(Value(F, after) - Value(F, best))

error = quantity("own_error", gap, where, over="run")
drift = 20 * tau**2 * eta**2 * L * zeta**2 + 5 * tau * eta**2 * L * sigma**2
fedavg = [a.full_participation, a.uniform_shares, a.same_local_work, a.unit_server_step, a.convex_and_smooth,
          a.unbiased_bounded_variance, a.bounded_dissimilarity]
loose = Claim(id="mine:loose", lhs=error, where=where, assumptions=fedavg, conditions=[eta <= 1 / (4 * L)],
              rhs=D**2 / (2 * eta * tau * T) + eta * sigma**2 + drift)

spread = quantity("own_spread", Average(Expectation(norm_sq(x_i - x))), where)
distances = quantity("own_distances", Average(Expectation(norm_sq(x_i - best))), where)
closer = Claim(id="mine:closer", lhs=spread, rhs=distances, where=where, place="step")
farther = Claim(id="mine:farther", lhs=distances, rhs=spread, where=where, place="step")

weighted = quantity("weighted_error", gap, where, over="run", weights=(1 + t)**2, index=t)
late = Claim(id="mine:late", lhs=weighted, rhs=error, where=where)
"""
RUN = """\
[problem]
kind = "quadratic"
hessians = [[["1"]], [["1/2"]]]
linear = [["1"], ["-1"]]
start = ["2"]

[algorithm]
local_step_size = "1/8"
local_steps = 2
rounds = 2
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """Return a file with claims about its own quantities, next to a run."""
    (tmp_path / "run.toml").write_text(RUN)
    file = tmp_path / "mine.py"
    file.write_text(MINE)
    return file


@pytest.mark.parametrize("name", [pytest.param("loose", marks=pytest.mark.long), "closer"])
def test_a_bound_on_an_own_quantity_is_proved(command: Command, mine: Path, name: str) -> None:
    """The saved certificate is accepted again, without a search."""
    saved = mine.parent / "proof.json"
    found = command("prove", f"{mine}:{name}", "--save", str(saved), "--json")
    assert (found.code, found.document["verdict"], found.document["found"]) == (0, "proved", True)
    again = command("prove", f"{mine}:{name}", "--certificate", str(saved), "--json")
    assert (again.code, again.document["verdict"]) == (0, "proved")


@pytest.mark.parametrize("name", ["farther", "late"])
def test_false_or_unknown_claims_are_not_proved(command: Command, mine: Path, name: str) -> None:
    outcome = command("prove", f"{mine}:{name}", "--json")
    assert outcome.document["verdict"] == "no certificate"


def test_a_weighted_error_is_checked(command: Command, mine: Path) -> None:
    """On a run with decreasing errors, an average with larger weights of later rounds is smaller."""
    outcome = command("check", f"{mine}:late", str(mine.parent / "run.toml"), "--arithmetic", "rational", "--json")
    assert (outcome.code, outcome.document["holds"]) == (0, True)
    assert "weights (t + 1)**2" in command("show", f"{mine}:late").out


@pytest.mark.long
def test_a_false_relation_is_refuted(command: Command, mine: Path) -> None:
    outcome = command("falsify", f"{mine}:farther", "--json")
    assert outcome.document["verdict"] == "refuted"

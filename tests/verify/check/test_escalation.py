"""Near ties and violations in floats are decided in rationals."""

from __future__ import annotations

from pathlib import Path

import pytest
import sympy as sp
from flint import fmpq

from fedtheory import FLOAT, Claim, parse_run, read_run
from fedtheory.arithmetic import ENCLOSED, RATIONAL
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.federation.problem import quadratic
from fedtheory.kernel.expressions import Expectation, norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.registry import find
from fedtheory.runfile import run_table, run_toml
from verify.check import check
from verify.check.escalation import check_and_escalate, check_rigorously, escalate, make_decidable
from verify.instances import Instance

eta, tau, zeta, sigma = sp.symbols("eta tau zeta sigma", positive=True)
DRIFT = Claim(
    id="t:drift",
    lhs=q.max_drift,
    rhs=2 * tau**2 * eta**2 * zeta**2 + tau * eta**2 * sigma**2,
    where={
        eta: q.local_step_size,
        tau: q.local_steps,
        zeta: q.gradient_dissimilarity,
        sigma: q.noise_deviation,
    },
)


def run_file(folder: Path, instance: Instance) -> str:
    """Write an instance to a run file, and return its path."""
    path = folder / "run.toml"
    path.write_text(run_toml(run_table(instance.run())))
    return str(path)


def test_a_violation_at_the_level_of_rounding_is_taken_back(tmp_path: Path) -> None:
    """Six equal clients do not drift: floats see 7.7e-32 above 7.1e-32, rationals see 0 and 0."""
    path = run_file(tmp_path, Instance("wide quadratics", 68))
    found = check(DRIFT, read_run(path, FLOAT))
    assert found.holds is False
    settled = escalate(found, lambda: read_run(path, RATIONAL))
    assert settled.holds is True
    assert settled.final_decision is not None
    assert (found.decided_in, settled.decided_in) == ("in floats", "in rationals")


def test_a_true_violation_is_confirmed(tmp_path: Path) -> None:
    """Lemma 2.2 as printed fails on its counterexample in both arithmetics."""
    path = run_file(tmp_path, Instance("by hand", 106))
    settled = escalate(check(find("renard2022:lemma-2.2"), read_run(path, FLOAT)), lambda: read_run(path, RATIONAL))
    assert settled.holds is False
    assert settled.final_decision is not None


def test_unaffordable_rationals_leave_a_check_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A violation in floats that rationals and enclosures do not confirm is undecided."""
    monkeypatch.setattr("verify.check.escalation._BUDGET", 0)
    path = run_file(tmp_path, Instance("wide quadratics", 68))
    settled = escalate(check(DRIFT, read_run(path, FLOAT)), lambda: read_run(path, RATIONAL))
    assert (settled.holds, settled.decided_in) == (None, None)
    assert settled.final_decision is not None
    assert settled.final_decision.reason.startswith("floats alone see a violation, and the run is too large to repeat")
    assert "equal, or closer than enclosures" in settled.final_decision.reason


def test_a_violation_is_confirmed_in_enclosures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If rationals cost too much, disjoint intervals of floats confirm the violation."""
    monkeypatch.setattr("verify.check.escalation._BUDGET", 0)
    path = run_file(tmp_path, Instance("by hand", 106))
    settled = escalate(check(find("renard2022:lemma-2.2"), read_run(path, FLOAT)), lambda: read_run(path, RATIONAL))
    assert (settled.holds, settled.decided_in) == (False, "in enclosures")


@pytest.mark.parametrize("limit", ["_MOST_PRODUCTS", "_MOST_OF_CONSTANTS"])
def test_unaffordable_enclosures_leave_a_check_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    """Comparisons that cost rationals and enclosures more than a minute or two stay undecided."""
    monkeypatch.setattr("verify.check.escalation._BUDGET", 0)
    monkeypatch.setattr(f"verify.check.escalation.{limit}", 0)
    path = run_file(tmp_path, Instance("by hand", 106))
    settled = escalate(check(find("renard2022:lemma-2.2"), read_run(path, FLOAT)), lambda: read_run(path, RATIONAL))
    assert (settled.holds, settled.decided_in) == (None, None)


LONG = {
    "problem": {"kind": "quadratic", "hessians": [[["1"]]] * 32, "linear": [["0"]] * 32, "start": ["0"], "noise": "1"},
    "algorithm": {"local_step_size": "1/4096", "local_steps": 1, "rounds": 40_000},
}
"""More rounds than rationals can have, of which a client average keeps ``eta sigma^2 / (4 M)``."""


@pytest.mark.parametrize(("denominator", "verdict"), [(5, False), (3, True)])
def test_long_runs_are_decided_in_enclosures(denominator: int, verdict: bool) -> None:
    """A violation that only floats see is confirmed, whatever the number of rounds and whichever numbers are asked."""
    clients = sp.Symbol("M", positive=True)
    where = {eta: q.local_step_size, sigma: q.noise_deviation, clients: q.clients}
    floor = Claim(id="t:floor", lhs=q.average_suboptimality, rhs=eta * sigma**2 / (denominator * clients), where=where)
    exact = parse_run(LONG, RATIONAL)
    assert check(floor, exact).holds is verdict
    assert check(floor, make_decidable(exact)).holds is verdict
    asked = check_and_escalate(floor, exact, lambda: exact)
    assert (asked.holds, asked.decided_in) == (verdict, "in enclosures of 53 bits")
    found = check_and_escalate(floor, parse_run(LONG, FLOAT), lambda: exact)
    assert (found.holds, found.decided_in) == (verdict, "in floats" if verdict else "in enclosures")


def test_only_a_proof_of_the_claim_decides_a_tie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another statement with the name of a proved one stays open."""
    monkeypatch.setattr("verify.check.escalation._BUDGET", 0)
    path = run_file(tmp_path, Instance("wide quadratics", 68))
    proved = find("fraboni2022:eq-7.distances")
    settled = escalate(check(proved, read_run(path, FLOAT)), lambda: read_run(path, RATIONAL))
    assert (settled.holds, settled.decided_in) == (True, "by its proof")
    distance = q.final_distance_sq.symbol
    posing = Claim(
        id=proved.id,
        lhs=distance,
        rhs=distance * (1 + sp.Rational(1, 10**25)),
        relation=">=",
        where={distance: q.final_distance_sq},
    )
    assert escalate(check(posing, read_run(path, FLOAT)), lambda: read_run(path, RATIONAL)).holds is None


@pytest.mark.parametrize("apart", [fmpq(1, 10**25), fmpq(1, 10**13)], ids=["no float apart", "some floats apart"])
def test_a_proof_decides_nothing_where_an_assumption_fails(apart: fmpq) -> None:
    """Step sizes that floats take for equal, and rationals do not: the claim says nothing of the run."""
    hessians = RATIONAL.array([[[1, 0], [0, 1]]] * 2)
    problem = quadratic(hessians, RATIONAL.array([[1, 0]] * 2), RATIONAL.array([3, 0]))
    sizes = RATIONAL.array([fmpq(1, 4), fmpq(1, 4) + apart])
    run = Run(problem, fedavg(problem, rounds=1000, local_step_size=sizes))
    for name in ("lecture27:thm-1.g", "vlaski2023:eq-5.30"):
        found = check_and_escalate(find(name), run.as_floats(), lambda: run)
        assert (found.applicable, found.holds) == (False, None), name


@pytest.mark.parametrize(("bound", "verdict"), [(1, True), (sp.Rational(1, 2), False)])
def test_long_runs_are_decided_in_rationals_where_enclosures_answer_nothing(bound: sp.Expr, verdict: bool) -> None:
    """Rationals decide vectors of single local steps, which are not enclosed."""
    model = sp.Symbol("x")
    claim = Claim(
        id="t:distance", lhs=Expectation(norm_sq(model)), rhs=bound, where={model: q.average_iterate}, place="step"
    )
    problem = {"kind": "quadratic", "hessians": [[["1"]]], "linear": [["0"]], "start": ["1"]}
    algorithm = {"local_step_size": "1/2", "local_steps": 2, "rounds": 1100}
    exact = parse_run({"problem": problem, "algorithm": algorithm}, RATIONAL)
    assert make_decidable(exact).arithmetic is ENCLOSED
    assert check(claim, make_decidable(exact)).holds is None
    found = check_rigorously(claim, exact)
    assert (found.holds, found.arithmetic) == (verdict, RATIONAL)

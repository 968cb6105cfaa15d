"""Claims on many runs at once have the answers of checks on one run at a time."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.federation.problem import quadratic
from fedtheory.kernel.expressions import Average, Expectation, norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Rate
from fedtheory.language.registry import claims_of, find
from verify.check import check
from verify.check.joint_checks import CheckResult, RunsTogether, compute_ratios
from verify.instances import FAMILIES, families_for

x, y, z = sp.symbols("x y z", real=True)
v, w = sp.symbols("v w")


def _claim(chain: tuple[Any, str, Any], where: dict[sp.Symbol, q.Quantity], *conditions: sp.Basic) -> Claim:
    return Claim(id="mine:claim", chain=chain, where=where, conditions=conditions)


def _run(noise: int, clients: int = 2, rounds: int = 2) -> Run:
    array = RATIONAL.array
    shares = array(range(1, clients + 1))
    problem = quadratic(
        array([[[1 + i]] for i in range(clients)]),
        array([[i] for i in range(clients)]),
        array([3]),
        noise=array([noise * i for i in range(clients)]),
        weights=shares / shares.sum(),
    )
    return Run(problem, fedavg(problem, rounds=rounds, local_step_size=RATIONAL.number("1/8", "step")))


def _alone(claim: Claim, run: Run) -> CheckResult:
    found = check(claim, run)
    return CheckResult(found.applicable, found.everywhere, found.holds, found.ratio)


PLACES = {
    "run": ["small schedules", "by hand", "sampled clients", "wide quadratics", "graphs"],
    "step": ["small schedules", "small data", "steps up to 1/L", "long short rounds"],
    "path": ["full gradients", "asynchronous cycles"],
    "points": ["small quadratics", "sampled clients"],
    "round": ["sampled clients", "steps up to 1/L"],
}


@pytest.mark.parametrize(("place", "name"), [(place, name) for place, names in PLACES.items() for name in names])
def test_answers_are_those_of_checks(place: str, name: str) -> None:
    """Answers agree in rationals to the last digit, in floats up to rounding; few runs are left out."""
    family = FAMILIES[name]
    made = [instance.run() for instance in family.instances[:8]]
    runs = [run.as_floats() if family.in_floats else run for run in made]
    claims = [claim for claim in claims_of() if name in families_for(claim) and claim.place == place]
    found = RunsTogether(runs).check_claims(claims)
    answered = 0
    for claim in claims[:: 1 + len(claims) // 40]:
        for row, answer in found.get(claim, {}).items():
            alone = _alone(claim, runs[row])
            assert (answer.applicable, answer.holds) == (alone.applicable, alone.holds)
            assert answer.everywhere == alone.everywhere
            assert answer.ratio == (pytest.approx(alone.ratio) if family.in_floats else alone.ratio)
            answered += 1
    assert answered > 0


def test_a_division_by_zero_concerns_its_run_alone() -> None:
    """A division by zero concerns its own run, and the other runs are answered."""
    claim = _claim((x, "<=", x + x / y), {x: q.smoothness, y: q.noise_deviation})
    runs = [_run(1), _run(0), _run(4)]
    found = RunsTogether(runs).check_claims([claim])[claim]
    assert set(found) == {0, 2}
    assert not check(claim, runs[1]).applicable
    assert all(answer.holds for answer in found.values())


def test_conditions_exclude_run_by_run() -> None:
    """A condition that fails on one run leaves the others; the sides are then compared on these."""
    claim = _claim((y, "<", x), {x: q.smoothness, y: q.noise_deviation}, y >= 1)
    runs = [_run(1), _run(0), _run(64)]
    found = RunsTogether(runs).check_claims([claim])[claim]
    assert [found[row].applicable for row in range(3)] == [True, False, True]
    assert [found[row].holds for row in range(3)] == [True, None, False]
    assert found[2] == _alone(claim, runs[2])


def test_the_condition_that_fails_is_named() -> None:
    """The failing one of two conditions is named as in a check alone, at any position; of several the first."""
    where = {x: q.smoothness, y: q.noise_deviation, z: q.clients}
    runs = [_run(1), _run(0), _run(64), _run(0, clients=3)]
    for conditions in ((y >= 1, x >= 0, z <= 2), (z <= 2, y >= 1, x >= 0), (x >= 0, z <= 2, y >= 1)):
        claim = _claim((y, "<=", 9 * x), where, *conditions)
        found = RunsTogether(runs).check_claims([claim])[claim]
        names = [check(claim, run).excluded_by for run in runs]
        assert [found[row].excluded for row in range(4)] == names
        assert [bool(name) for name in names] == [False, True, False, True]
        assert names[1] == "y >= 1"
        assert names[3] == next(claim.in_words(one) for one in conditions if one != (x >= 0))


def test_claims_without_a_comparison_are_skipped() -> None:
    """A remark has no sides, and a rate asks for a ladder of runs."""
    runs = [_run(1), _run(2)]
    remark = find("renard2022:assumption-1")
    rate = Claim(id="mine:rate", rate=Rate(q.final_distance_sq, 1 / x, x), where={x: q.rounds})
    compared = _claim((x, "<=", x), {x: q.smoothness})
    assert set(RunsTogether(runs).check_claims([remark, rate, compared])) == {compared}
    assert compute_ratios(remark, runs) == [None, None]


def test_runs_of_several_shapes() -> None:
    """Quantities of rounds have as many values as a run has rounds; means are over each run's own clients."""
    claim = _claim((Average(z), "<=", x), {x: q.server_distance_sq, z: q.client_smoothness})
    runs = [_run(1, clients, rounds) for clients in (1, 2, 3) for rounds in (1, 2)] * 2
    found = RunsTogether(runs).check_claims([claim])[claim]
    assert found == {row: _alone(claim, run) for row, run in enumerate(runs)}


def test_near_ties_are_checked_alone() -> None:
    """Floats do not decide an equality, which is left to a check of the run alone."""
    claim = _claim((x, "<=", y), {x: q.smoothness, y: q.objective_smoothness})
    runs = [_run(1, 1).as_floats(), _run(1, 2).as_floats(), _run(1, 1).as_floats()]
    assert set(RunsTogether(runs).check_claims([claim])[claim]) == {1}


def test_quantified_symbols_have_all_their_values_at_each_place() -> None:
    """A claim that holds for the first value of a symbol and fails for the second one fails, alone and together."""
    claim = Claim(
        id="mine:claim",
        chain=(Expectation(norm_sq(w)) * (z - 1) * (z - 2), "==", 0),
        where={w: q.server_model},
        place="step",
        for_all={z: (1, 2, 3)},
    )
    runs = [_run(1), _run(2), _run(1, rounds=1)]
    assert [check(claim, run).holds for run in runs] == [False, False, False]
    found = RunsTogether(runs).check_claims([claim])[claim]
    assert found == {row: _alone(claim, run) for row, run in enumerate(runs)}


def test_quantified_symbols_have_all_their_values_on_whole_runs() -> None:
    """A claim that fails for one value of a symbol fails, and where it is tightest for another one is its ratio."""
    runs = [_run(noise, rounds=rounds) for noise in (1, 2) for rounds in (1, 3)]
    answers = []
    for bound in (x * z, (z - 1) ** 2 * (z - 3) ** 2 * x):
        where = {x: q.server_distance_sq}
        claim = Claim(id="mine:claim", chain=(x, "<=", bound), where=where, for_all={z: (2, 3, 1)})
        found = RunsTogether(runs).check_claims([claim])[claim]
        assert found == {row: _alone(claim, run) for row, run in enumerate(runs)}
        answers.append({answer.holds for answer in found.values()})
    assert answers == [{True}, {False}]


def test_runs_with_other_places_are_distinguished() -> None:
    """Runs with different rounds, steps or step sizes are each evaluated at their own places."""
    where = {w: q.local_iterate, v: q.server_model, x: q.smoothness}
    claim = Claim(id="mine:claim", chain=(Expectation(norm_sq(w - v)), "<=", x), where=where, place="step")
    runs = [_run(1, rounds=rounds) for rounds in (1, 2, 3)]
    runs += [run.with_work((2, 2), RATIONAL.number(size, "step")) for run in runs for size in ("1/3", "1/9")]
    found = RunsTogether(runs).check_claims([claim])[claim]
    assert found == {row: _alone(claim, run) for row, run in enumerate(runs)}
    assert len({answer.ratio for answer in found.values()}) > 2


def test_places_are_taken_together_as_far_as_memory_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The results of parts of runs equal those of all runs together."""
    name = "small data"
    runs = [instance.run() for instance in FAMILIES[name].instances[:12]]
    claims = [claim for claim in claims_of() if name in families_for(claim) and claim.place == "step"][:6]
    whole = RunsTogether(runs).check_claims(claims)
    monkeypatch.setattr("verify.check.runs_at_places._MOST", 1)
    assert RunsTogether(runs).check_claims(claims) == whole
    assert any(whole.values())

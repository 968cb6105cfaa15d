"""Smaller counterexamples: still violations in rationals, of every kind of claim, and no more than a reader needs."""

from __future__ import annotations

import sys

import pytest
from claim_symbols import WHERE, D, L, M, T, eta, tau

from fedtheory import Claim
from fedtheory.arithmetic import RATIONAL
from fedtheory.language.registry import find
from fedtheory.runfile import parse_run, run_table, run_toml
from verify.check import check
from verify.effort import measure_work
from verify.falsify import shrink
from verify.falsify.run_tables import Table
from verify.falsify.shrink import Keeps, ReadingEffort, _measure_effort, measure_reading_effort, simplify
from verify.instances import FAMILIES, Instance, families_for

pytestmark = pytest.mark.long

LONG = 60.0
"""Seconds that exceed the time of every shrinking here."""

KINDS = [
    "renard2022:lemma-2.2",
    "renard2022:observation-2.1",
    "renard2022:eq-9",
    "renard2022:goal-rate",
    "fraboni2022:table-2.fedfix.beta",
    "fraboni2022:algorithm-1.ties",
    "lecture27:lemma-3.proof.factor",
    "liu2022:eq-3",
    "vlaski2023:eq-5.21",
    "vlaski2023:eq-5.41",
]
"""Refuted claims about whole runs, points, steps, paths and rounds, a rate, clocks, data, sampled clients."""


def violation(claim: Claim) -> Instance:
    """Return the first instance of the claim's families that violates the claim."""
    for name in families_for(claim):
        for number in range(FAMILIES[name].size):
            if check(claim, Instance(name, number).run()).holds is False:
                return Instance(name, number)
    raise AssertionError(claim.id)


@pytest.mark.parametrize("claim_id", KINDS)
def test_shrunk_runs_are_smaller_violations(claim_id: str) -> None:
    """The shrunk run is a run file, violates the claim in rationals, weighs less, and does not shrink further."""
    claim = find(claim_id)
    before = run_table(violation(claim).run())
    after = shrink(claim, before, measure_work() + LONG)
    assert check(claim, parse_run(after, RATIONAL)).holds is False
    assert run_table(parse_run(after, RATIONAL)) == after
    lighter, heavier = measure_reading_effort(claim, after), measure_reading_effort(claim, before)
    assert lighter is not None
    assert heavier is not None
    assert lighter <= heavier
    assert shrink(claim, after, measure_work() + LONG) == after


def test_a_claim_that_is_never_true_shrinks_to_nothing_but_zeros() -> None:
    """The claim shrinks to one client, one dimension, one step of size one, and zeros."""
    huge = Claim(id="t:huge", lhs=10**9 * eta, rhs=eta, where=WHERE)
    for instance in (Instance("wide quadratics", 3), Instance("small data", 7), Instance("small schedules", 12)):
        after = shrink(huge, run_table(instance.run()), measure_work() + LONG)
        run = parse_run(after, RATIONAL)
        assert (run.problem.clients, run.problem.dimension, run.algorithm.rounds) == (1, 1, 1)
        assert run.algorithm.work.steps == (1,)
        assert run.algorithm.work.step_sizes[0] == 1
        assert (run.problem.start == 0).all()
        assert (run.problem.hessians == 0).all()
        assert set(after["algorithm"]) == {"name", "local_step_size", "local_steps", "rounds"}


def test_shrinking_keeps_required_counts() -> None:
    """At least three clients, two local steps, two rounds and curvature 2 are kept, and nothing more."""
    conditions = [M >= 3, tau >= 2, T >= 2, L >= 2]
    needy = Claim(id="t:needy", lhs=M + tau + T, rhs=6, where=WHERE, conditions=conditions)
    after = shrink(needy, run_table(violation(needy).run()), measure_work() + LONG)
    run = parse_run(after, RATIONAL)
    assert run.problem.clients + max(run.algorithm.work.steps) + run.algorithm.rounds == 7
    assert run.smoothness == 2
    assert run.problem.dimension == 1


def test_a_run_that_is_no_violation_is_given_back() -> None:
    """A run that is no violation is returned as it is."""
    true = Claim(id="t:true", lhs=0, relation="<", rhs=eta, where=WHERE)
    table = run_table(Instance("small quadratics", 5).run())
    assert shrink(true, table, measure_work() + LONG) is table


def test_the_deadline_is_kept() -> None:
    """Shrinking changes nothing after the deadline."""
    huge = Claim(id="t:huge", lhs=10**9 * eta, rhs=eta, where=WHERE)
    table = run_table(Instance("small quadratics", 5).run())
    assert shrink(huge, table, measure_work() - 1) == table


def test_shrinking_shows_that_it_lives() -> None:
    """Shrinking reports progress at each try, and each report before the deadline follows an evaluated run."""
    huge = Claim(id="t:huge", lhs=10**9 * eta, rhs=eta, where=WHERE)
    table = run_table(Instance("small quadratics", 5).run())
    ticks: list[float] = []
    after = shrink(huge, table, measure_work() + LONG, lambda: ticks.append(measure_work()))
    assert after == shrink(huge, table, measure_work() + LONG)
    assert len(ticks) > 10
    late: list[float] = []
    shrink(huge, table, measure_work() - 1, lambda: late.append(measure_work()))
    assert len(late) == 1


def test_no_run_is_checked_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that was refused is not checked again when the last steps are tried once more."""
    module = sys.modules[shrink.__module__]
    checked: list[str] = []

    def weigh(claim: Claim, table: Table, keeps: Keeps) -> ReadingEffort | None:
        checked.append(repr(table))
        return _measure_effort(claim, table, keeps)

    monkeypatch.setattr(module, "_measure_effort", weigh)
    huge = Claim(id="t:huge", lhs=10**9 * eta, rhs=eta, where=WHERE)
    shrink(huge, run_table(Instance("small quadratics", 5).run()), measure_work() + LONG)
    assert len(checked) == len(set(checked)) > 10


def test_counterexamples_with_a_ratio_come_first() -> None:
    """D^2 <= D/2 fails for many D; the rest has a ratio, and sides that are short in print."""
    claim = Claim(id="t:ratio", lhs=D**2, rhs=D / 2, where=WHERE)
    after = shrink(claim, run_table(Instance("by hand", 12).run()), measure_work() + LONG)
    found = check(claim, parse_run(after, RATIONAL))
    assert found.holds is False
    assert found.ratio is not None
    assert found.worst is not None
    assert (found.worst.lhs, found.worst.rhs) == (4, 1)


def test_a_run_that_attains_a_ratio_becomes_simpler() -> None:
    """The mean drift without noise is attained; a run that attains it keeps its ratio, with smaller numbers."""
    claim = find("renard2022:lemma-2.3.mean.quiet")
    table = {
        "problem": {
            "kind": "quadratic",
            "hessians": [[["3/7"]], [["3/7"]]],
            "linear": [["5/3"], ["-11/13"]],
            "start": ["0"],
        },
        "algorithm": {"name": "fedavg", "local_step_size": "7/6", "local_steps": 2, "rounds": 1},
    }
    before = check(claim, parse_run(table, RATIONAL))
    simpler = simplify(claim, table, measure_work() + 20)
    after = check(claim, parse_run(simpler, RATIONAL))
    assert after.holds is True
    assert before.ratio == after.ratio == 1
    assert len(run_toml(simpler)) < len(run_toml(table))

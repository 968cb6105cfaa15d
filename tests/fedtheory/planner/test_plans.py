"""Complete plans of runs, constants and data, compared with the exact optimum."""

from __future__ import annotations

import math
import os
import pickle
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from planned_runs import LECTURE, SHARP, THEOREM, a_run

from fedtheory import FLOAT, InputError, Run, fedavg, planner, quadratic
from fedtheory.language import quantities as q
from fedtheory.language.registry import find
from fedtheory.planner import worker
from fedtheory.planner.bound import STEP
from fedtheory.planner.data import build_run_from_data
from fedtheory.planner.pickling import pack, unpack
from fedtheory.planner.plan_rows import list_details
from fedtheory.planner.sentences import describe_answer
from fedtheory.planner.target import compute_round_cost
from verify.check import check


def test_exact_optimum() -> None:
    """No step size of a fine grid has a smaller exact error than the optimum found."""
    run = a_run(rounds=20)
    errors = planner.ExactErrors(run)
    found = errors.best(q.average_suboptimality)
    assert found is not None
    assert found.error == float(q.average_suboptimality.on(errors.run_with(found.step_size)))
    assert found.error <= min(errors.error(q.average_suboptimality, step) for step in np.geomspace(0.01, 1, 120)) * (
        1 + 1e-4
    )
    assert errors.error(q.average_suboptimality, 1e6) == math.inf


def test_exact_optimum_of_a_known_problem() -> None:
    """Without noise, |x^1 - x*| of one full step is smallest at the step size 1/h."""
    setting = quadratic(FLOAT.array([[[4.0]]]), FLOAT.array([[0.0]]), FLOAT.array([1.0]))
    run = Run(setting, fedavg(setting, rounds=1, local_step_size=0.01))
    found = planner.ExactErrors(run).best(q.final_distance_sq)
    assert found.step_size == pytest.approx(0.25, rel=1e-3)


@pytest.mark.parametrize("step", ["1/4", "2"])
def test_means_over_clients_are_read_in_a_line_of_text(step: str) -> None:
    """A condition on an average of the clients' curvatures is printed as in `show`."""
    claim = find("comparator:curvatures.average-error")
    found = planner.plan(a_run().with_work((3, 3), FLOAT.number(step, "step")), claims=[claim])
    (plan,) = found.claims
    words = [*(line for _, line in describe_answer(found)), *list_details(plan, None), plan.reason or ""]
    assert any("Average(L_i)" in line for line in words)
    assert not any("\\" in line for line in words)


def test_plan_of_a_run() -> None:
    """The plan of a run: what covers it, what does not and why, and a recommendation that is admissible and exact."""
    found = planner.plan(a_run(), accuracy=0.2, claims=[THEOREM, SHARP, LECTURE])
    by_id = {plan.claim.id: plan for plan in found.claims}
    assert by_id[LECTURE.id].reason == "full gradients: the gradients are noisy"
    assert by_id[LECTURE.id].bound is None
    best = found.recommended
    assert best is by_id[SHARP.id]
    assert best.optimum.step_size <= best.step.value == 0.25
    assert best.measurements.value == pytest.approx(best.optimum.value)
    assert best.exact.error_at_choice <= best.optimum.value
    assert best.exact.error_ratio >= 1
    assert found.cost == compute_round_cost(a_run())
    assert (found.cost.time, found.cost.messages) == (1, 4)
    assert [claim.verdict for claim in found.refuted] == ["refuted"] * len(found.refuted)


@pytest.mark.long
def test_searches_in_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search in another process gives the same result; if that process is killed, it is repeated here."""
    here = planner.plan(a_run(), accuracy=0.2, claims=[SHARP])
    monkeypatch.setattr(worker, "_LONG", 0)
    there = planner.plan(a_run(), accuracy=0.2, claims=[SHARP], jobs=2)
    monkeypatch.setattr(worker, "_compute_packed", _end)
    ended = planner.plan(a_run(), accuracy=0.2, claims=[SHARP], jobs=2)
    for found in (there, ended):
        assert found.answer.best == here.answer.best
        # Step sizes that differ only by rounding share the first run.
        assert found.claims[0].exact.ratio == pytest.approx(here.claims[0].exact.ratio)
        assert found.claims[0].exact.error_ratio == pytest.approx(here.claims[0].exact.error_ratio)


def _end(*_asked: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_step_size_that_is_too_large() -> None:
    """If only the planned step size violates an assumption, the plan is for smaller ones."""
    claim = find("fraboni2022:cor-1.fixed")
    plan = planner.plan(a_run(step_size=0.05), claims=[claim]).claims[0]
    assert not plan.applicable
    assert "larger than (98) allows" in plan.reason
    assert plan.optimum.step_size == pytest.approx(1 / (48 * 5 * 2 * 3), rel=1e-12)
    checked = check(claim, a_run(step_size=plan.optimum.step_size))
    assert checked.applicable
    assert checked.comparisons[0].holds


def test_targets_where_nothing_is_promised() -> None:
    """At a step size that violates a condition there is no number of rounds; at the best ones there may be."""
    plan = planner.plan(a_run(step_size=0.2), 0.5, claims=[THEOREM]).claims[0]
    assert not plan.applicable
    assert plan.target.rounds is None
    assert plan.target.reason == plan.reason == "the condition eta <= 1/(4*L) does not hold"
    assert plan.target_at_best.step_size <= 0.125
    at_best = plan.bound.value({"rounds": plan.target_at_best.rounds, STEP: plan.target_at_best.step_size})
    assert at_best <= 0.5


def test_a_bound_above_the_error_at_the_start_is_no_promise() -> None:
    """If the bound on the last model's error exceeds the initial gap, but that on its distance does not, this is
    said.
    """
    run = a_run(step_size=0.05).with_rounds(4)
    both = [find(f"comparator:{name}") for name in ("last-model.error", "strongly-convex.last-model")]
    alone, beside = (planner.plan(run, 0.5, claims=claims) for claims in (both[:1], both))
    assert alone.answer.promise.is_vacuous
    assert "which promises nothing: the error is" in dict(describe_answer(alone))["promised:"]
    assert beside.answer.promise.plan.claim is both[1]
    assert not beside.answer.promise.is_vacuous


def test_measurements_of_the_run_are_made_anew() -> None:
    """A bound with measured quantities is minimised with the quantities at each step size."""
    claim = find("liu2022:thm-1.mean")
    plan = planner.plan(a_run(), accuracy=0.5, claims=[claim]).claims[0]
    assert "total_descent" in plan.measurements.changed
    for step in (plan.optimum.step_size, plan.step.value):
        assert plan.optimum.value <= check(claim, a_run(step_size=step)).worst.rhs * (1 + 1e-9)
    assert plan.optimum.value == pytest.approx(check(claim, a_run(step_size=plan.optimum.step_size)).worst.rhs)
    assert plan.target is plan.target_at_best is None


def test_plan_of_numbers() -> None:
    """Constants by symbol or by name give the same plan; what is missing is named."""
    constants = {"D": 2, "L": 1, "M": 10, "T": 100, "tau": 5, "sigma": 1, "zeta": 0.5}
    names = [THEOREM.notation[symbol].name for name in constants for symbol in THEOREM.notation if str(symbol) == name]
    plans = [
        planner.plan_numbers(numbers, claims=[THEOREM]).claims[0]
        for numbers in (constants, dict(zip(names, constants.values(), strict=True)))
    ]
    assert plans[0].optimum.step_size == plans[1].optimum.step_size
    assert plans[0].applicable
    del constants["zeta"]
    missing = planner.plan_numbers(constants, claims=[THEOREM]).claims[0]
    assert missing.reason == "not given: zeta (gradient_dissimilarity)"


def test_without_a_best_step_size() -> None:
    """A bound that only grows with the step size needs one; its largest step size does not."""
    lemma = find("renard2022:lemma-2.3")
    constants = {"L": 1.0, "tau": 5.0, "sigma": 1.0, "zeta": 0.5}
    plan = planner.plan_numbers(constants, claims=[lemma]).claims[0]
    assert (plan.applicable, plan.reason) == (False, "not given: a step size, and none is best")
    assert plan.step.value == 0.25
    assert planner.plan_numbers({**constants, "eta": 0.1}, claims=[lemma]).claims[0].applicable


def test_rounds_follow_from_the_target() -> None:
    """Without rounds the plan uses those for the accuracy, or says that it is out of reach."""
    constants = {"D": 2.0, "L": 1.0, "M": 10.0, "tau": 5.0, "sigma": 1.0, "zeta": 0.5}
    plan = planner.plan_numbers(constants, 0.1, claims=[THEOREM]).claims[0]
    assert plan.bound.values["rounds"] == plan.target_at_best.rounds
    assert plan.bound.value() <= 0.1
    assert "rounds" in planner.plan_numbers(constants, claims=[THEOREM]).claims[0].reason
    fixed = planner.plan_numbers({**constants, "eta": 0.25, "T": 10}, 1e-3, claims=[THEOREM]).claims[0]
    assert fixed.target.rounds is None
    assert fixed.target.floor > 1e-3


def test_numbers_that_contradict_an_assumption() -> None:
    """A bound for full gradients is not used with noise, nor an averaging one with another server step."""
    constants = {"D": 2.0, "L": 1.0, "M": 10.0, "T": 9.0, "tau": 5.0, "sigma": 1.0, "zeta": 0.5}
    quiet = find("renard2022:thm-2.1.quiet")
    assert "noisy" in planner.plan_numbers(constants, claims=[quiet]).claims[0].reason
    assert planner.plan_numbers({**constants, "sigma": 0}, claims=[quiet]).claims[0].applicable
    served = planner.plan_numbers(
        {**constants, "server_step_size": 2}, claims=[find("fraboni2022:cor-1.fixed"), THEOREM]
    )
    assert "the server step size is 2, not 1" in served.claims[1].reason


@pytest.mark.parametrize(("name", "value"), [("tau", 5.5), ("local_steps", 0.5), ("M", 2.5), ("rounds", 0.3)])
def test_numbers_that_count_are_whole(name: str, value: float) -> None:
    """Counts such as 5.5 local steps are rejected."""
    constants = {"L": 1.0, "M": 10.0, "tau": 5.0, "T": 100.0, "D": 2.0, "sigma": 1.0, "zeta": 0.5}
    with pytest.raises(InputError, match=f"{name}: expected a whole number, got {value}"):
        planner.plan_numbers({**constants, name: value})


def test_a_symbol_that_counts_in_one_paper_only() -> None:
    """T is a number of rounds for Renard et al., and a time for Fraboni et al."""
    plans = planner.plan_numbers({"L": 1.0, "M": 10.0, "tau": 5.0, "T": 99.5, "D": 2.0, "sigma": 1.0, "zeta": 0.5})
    reasons = {plan.claim.id: plan.reason for plan in plans.claims}
    assert reasons["renard2022:thm-2.1"] == "expected a whole number: rounds"


def test_unknown_numbers() -> None:
    """An unknown name, and a negative number, are rejected."""
    with pytest.raises(InputError, match="speed"):
        planner.plan_numbers({"speed": 1.0})
    with pytest.raises(InputError, match="not negative"):
        planner.plan_numbers({"zeta": -1.0})


def test_every_covering_claim_bounds_an_error() -> None:
    """Claims in plans are true statements about a whole run; refuted ones are listed separately with corrections."""
    covering, refuted = planner.covering_claims(), planner.refuted_bounds()
    assert {claim.verdict for claim in covering} == {"proved", "supported"}
    assert {claim.id for claim in covering} >= {"renard2022:thm-2.1", "liu2022:thm-1", "lecture27:thm-2"}
    assert not {claim.id for claim in covering} & {claim.id for claim in refuted}
    assert all(planner.repair_of(claim) is not None for claim in refuted)


def test_run_of_data(tmp_path: Path) -> None:
    """A data file alone is a run: its step size is 1/(4L) unless it is given."""
    generator = np.random.default_rng(2)
    rows = generator.normal(size=(30, 3))
    np.savez(tmp_path / "mine.npz", X=rows, y=rows @ [1.0, -1.0, 2.0], client=np.repeat([0, 1, 2], 10))
    run = build_run_from_data(str(tmp_path / "mine.npz"), {"rounds": 7, "local_steps": 2})
    assert (run.problem.clients, run.algorithm.rounds, run.algorithm.work.steps) == (3, 7, (2, 2, 2))
    assert run.algorithm.work.step_sizes[0] == pytest.approx(1 / (4 * run.smoothness))
    assert build_run_from_data(str(tmp_path / "mine.npz"), {"name": "scaffold"}).algorithm.name == "scaffold"
    assert (
        build_run_from_data(str(tmp_path / "mine.npz"), {"local_step_size": 0.01}).algorithm.work.step_sizes[0] == 0.01
    )
    with pytest.raises(InputError, match="whole"):
        build_run_from_data(str(tmp_path / "mine.npz"), {"rounds": 7.5})
    with pytest.raises(InputError, match="expected one of"):
        build_run_from_data(str(tmp_path / "mine.npz"), {"zeta": 1})


def test_pickled_claims_of_plans() -> None:
    """Pickled claims and errors are those of the reading process; user-defined claims are not sent."""
    found = planner.plan(a_run(), claims=[SHARP]).claims[0]
    again = unpack(pack(found))
    assert again.claim is found.claim
    assert again.error is found.error
    assert again.bound.value() == found.bound.value()
    assert again.optimum == found.optimum
    with pytest.raises(pickle.PicklingError, match="which is in no paper of the package"):
        pack(replace(SHARP, id="mine:own"))

"""The last round of strongly convex clients: its bound holds and is tight, and no smaller one is proved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import fmpq
from lasting_runs import DRAWN, RUNS, a_run, is_proved

from fedtheory import FLOAT
from fedtheory.kernel import Step
from fedtheory.kernel.expressions import Expectation, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.evaluation import compile_expression, whole_run
from fedtheory.language.registry import find
from fedtheory.proofs import Proof, certificate_of, check_certificate
from fedtheory.sources.comparator.exhibits.floors import CASES, LAST_ROUND, compare_floor
from fedtheory.sources.comparator.statements import last_rounds as last
from fedtheory.sources.comparator.statements.notation import D, K, L, T, average_error, ell, eta, k, mu, rho, tau, xbar
from fedtheory.sources.comparator.statements.notation import x_star as best
from verify.check import check

GAPS_SUFFICE = last.COSTS.conditions[1]
STEP, LAST = find("comparator:last-round.one-step"), find("comparator:last-round.error")


def test_the_last_round_is_what_one_more_round_adds() -> None:
    """The errors of the last round are the increase of the sum of errors by one round."""
    run = a_run(rounds=3)
    errors = [q.average_suboptimality.on(run.with_rounds(count)) * count for count in (2, 3)]
    assert q.last_round_suboptimality.on(run) == errors[1] - errors[0]


def test_one_local_step_ends_with_the_last_model() -> None:
    """With full participation the average after one local step is the model."""
    run = a_run(local_steps=1)
    assert q.last_round_suboptimality.on(run) == q.final_suboptimality.on(run)


@pytest.mark.parametrize("changes", RUNS.values(), ids=RUNS)
def test_the_ends_of_the_range(changes: dict[str, Any]) -> None:
    """All edge cases satisfy the conditions and the bound."""
    run = a_run(**changes)
    for claim in (STEP, LAST):
        assert check(claim, run).holds, claim.id


def test_runs_with_the_same_draws_come_together() -> None:
    """Runs with common random numbers contract by one minus eta times the curvature per step, by hand."""
    alike: dict[str, Any] = {"hessians": [[["1"]]] * 2, "linear": [["1/10"], ["-1/10"]], "participation": DRAWN}
    near, far = (a_run(**alike, start=[start]).trajectory.server_mean[-1][0] for start in ("0", "2"))
    assert far - near == 2 * (1 - fmpq(1, 200)) ** 4


def test_both_are_proved() -> None:
    """Both unchanged claims are proved, so that the changes below cause the rejections."""
    assert is_proved(STEP)
    assert is_proved(LAST)


STEP_CHANGES: dict[str, dict[str, Any]] = {
    "a faster rate": {"rhs": STEP.rhs - eta * mu / 100 * Expectation(norm_sq(xbar - best))},
    "nine tenths of the floor": {"rhs": STEP.rhs - last.gain * last.COSTS.step_floor / 10},
    "as if nobody were drawn": {"rhs": STEP.rhs.subs(rho, 0)},
    "half of the gaps is not enough": {"conditions": [last.COUPLING_STEP, last.SLOW_CONTRACTION]},
    "long rounds": {"conditions": [last.COUPLING_STEP, GAPS_SUFFICE]},
    "long steps": {"conditions": [GAPS_SUFFICE, last.SLOW_CONTRACTION]},
}


@pytest.mark.parametrize("change", STEP_CHANGES.values(), ids=STEP_CHANGES)
def test_no_stronger_step_is_proved(change: dict[str, Any]) -> None:
    """A faster rate, a lower floor, or a missing condition is not proved."""
    assert not is_proved(replace(STEP, **change))


def without(assumption: a.Assumption) -> dict[str, Any]:
    """Return the claim without an assumption."""
    return {"assumptions": [one for one in LAST.assumptions if one is not assumption]}


SMALLER: dict[str, dict[str, Any]] = {
    "the floor alone": {"rhs": 25 * last.COSTS.floor / 24},
    "nothing added to the floor": {"rhs": last.COSTS.floor + last.start},
    "half the start": {"rhs": LAST.rhs - last.start / 2},
    "a faster rate": {"rhs": LAST.rhs.xreplace({(1 - eta * mu) ** K: (1 - 2 * eta * mu) ** K})},
    "as if it began at the optimum": {"rhs": LAST.rhs.subs(D, 0)},
    "as if nobody were drawn": {"rhs": LAST.rhs.subs(rho, 0)},
    "as if noise were the same everywhere": {
        "conditions": [eta <= 1 / L, GAPS_SUFFICE.subs(ell, 0), last.SLOW_CONTRACTION]
    },
    "the mean over all rounds": {"lhs": average_error, "where": {**LAST.where, average_error: q.average_suboptimality}},
    "not strongly convex": without(a.strongly_convex_clients),
    "rough noise": without(a.smooth_noise),
    "other rounds": without(a.averaged_participants),
    "long rounds": {"conditions": [last.COUPLING_STEP, GAPS_SUFFICE]},
    "runs that do not come together": {"conditions": [GAPS_SUFFICE, last.SLOW_CONTRACTION]},
    "a condition on how long the run is": {"conditions": [*last.COSTS.conditions, sp.Le(T, 5, evaluate=False)]},
    "an assumption about where a run is": {"assumptions": [*LAST.assumptions, a.bounded_dissimilarity]},
}


@pytest.mark.parametrize("change", SMALLER.values(), ids=SMALLER)
def test_no_smaller_bound_is_proved(change: dict[str, Any]) -> None:
    """A missing term or rate, another average, or changed premises are not proved."""
    assert not is_proved(replace(LAST, **change))


OTHER: dict[str, dict[str, Any]] = {
    "another factor": {"factor": last.factor**2},
    "a factor that is none": {"factor": sp.Integer(1)},
    "more gain": {"gain": 3 * eta},
    "no gain": {"gain": sp.Integer(0)},
    "a smaller offset": {"offset": eta * last.COSTS.step_floor},
    "the offset of the last step": {"offset": last.gain * last.COSTS.step_floor.subs(k, tau - 1)},
    "another potential": {"potential": 2 * last.COSTS.drift_potential},
    "nothing for the draw": {"potential": last.COSTS.drift_potential.subs(rho, 0)},
    "a smaller share": {"share": sp.Rational(1, 25)},
    "a larger share": {"share": sp.Rational(1, 23)},
    "no share": {"share": sp.Integer(0)},
    "less than nothing": {"share": sp.Integer(-1)},
    "another step": {"step": "comparator:forgetting.at-optimum.one-step"},
    "a step for any point": {"step": "comparator:forgetting.one-step"},
    "no step": {"step": LAST.id},
}


@pytest.mark.parametrize("change", OTHER.values(), ids=OTHER)
def test_a_certificate_says_what_the_step_says(change: dict[str, Any]) -> None:
    """Numbers that differ from those of the step are rejected."""
    certificate: Any = certificate_of(LAST.id)
    assert check_certificate(LAST, replace(certificate, **change)).verdict == "broken"


def test_no_step_may_take_away_what_another_one_adds() -> None:
    """Each step inside a round may only add to the distance from the optimum."""
    certificate: Any = certificate_of(LAST.id)
    traded = 2 * k - tau + 1
    other = replace(certificate, offset=certificate.offset + traded)
    granted = Proof(replace(STEP, rhs=STEP.rhs + traded), certificate=object(), steps=(Step("granted", True),))
    failing = [step.text for step in check_certificate(LAST, other, lambda _id: granted).steps if not step.holds]
    assert len(failing) == 1
    assert failing[0].endswith(">= 0 at every step")


NEEDED = {
    "runs with common random numbers contract towards each other; missing: smooth noise": a.smooth_noise,
    "a round ends where its average ends; missing: averaged participants": a.averaged_participants,
}
"""Assumptions on the run, by the step that fails without them."""


@pytest.mark.parametrize("missing", NEEDED)
def test_a_step_alone_does_not_make_runs_come_together(missing: str) -> None:
    """A contracting step bounds the last round only with smooth noise, and rounds that end at an average."""
    certificate: Any = certificate_of(LAST.id)
    fewer = without(NEEDED[missing])
    granted = Proof(replace(STEP, **fewer), certificate=object(), steps=(Step("granted", True),))
    checked = check_certificate(replace(LAST, **fewer), certificate, lambda _id: granted)
    assert [step.text for step in checked.steps if not step.holds] == [missing]


@pytest.mark.parametrize("name", CASES)
def test_the_floor_is_near_the_stationary_error(name: str) -> None:
    """The floor is within a factor of four on three quadratics and on ridge regression, for all curvatures."""
    ratio = compare_floor(CASES[name], LAST_ROUND)
    assert ratio is not None
    assert 1 < ratio < 4


def test_a_stationary_run_attains_a_quarter_of_the_bound() -> None:
    """The error of a long run is its limit, and the bound is its floor."""
    run = a_run(FLOAT, rounds=3000, start=[0.0])
    bound = float(np.ravel(compile_expression(LAST.rhs, LAST.notation)(whole_run(run)))[0])
    error = q.last_round_suboptimality.on(run)
    assert error == pytest.approx(q.limiting_suboptimality.on(run), rel=1e-6)
    assert 1 < bound / error < 4

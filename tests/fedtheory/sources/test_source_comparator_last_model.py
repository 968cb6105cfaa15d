"""The last model of strongly convex clients: its bound holds, is tight at the floor, and no smaller one is proved."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import sympy as sp
from lasting_runs import RUNS as ENDS
from lasting_runs import a_run as of_two_clients
from lasting_runs import is_proved

from fedtheory import FLOAT
from fedtheory.kernel import Step
from fedtheory.kernel.expressions import Average, Expectation, Value, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.evaluation import compile_expression, whole_run
from fedtheory.language.registry import find
from fedtheory.proofs import Proof, certificate_of, check_certificate
from fedtheory.sources.comparator.exhibits.floors import CASES, LAST_MODEL, compare_floor
from fedtheory.sources.comparator.statements import last_model as last
from fedtheory.sources.comparator.statements.last_rounds import factor, gain
from fedtheory.sources.comparator.statements.notation import (
    D,
    F,
    K,
    L,
    T,
    ell,
    eta,
    k,
    mu,
    rho,
    tau,
    x_i,
    x_i_next,
    xbar,
    xbar_next,
)
from fedtheory.sources.comparator.statements.notation import last_error as round_error
from fedtheory.sources.comparator.statements.notation import x_star as best
from verify.check import check

STEP, MODEL = find("comparator:last-model.one-step"), find("comparator:last-model.error")
COUPLING_STEP, GAPS_SUFFICE, SLOW_CONTRACTION = last.COSTS.conditions


a_run = partial(of_two_clients, local_steps=3)
RUNS = {**ENDS, "one long round": {"local_steps": 12, "rounds": 1}}


@pytest.mark.parametrize("changes", RUNS.values(), ids=RUNS)
def test_the_ends_of_the_range(changes: dict[str, Any]) -> None:
    """All edge cases satisfy the conditions and the bound."""
    run = a_run(**changes)
    for claim in (STEP, MODEL):
        assert check(claim, run).holds, claim.id


def test_for_one_local_step_and_everybody_the_floor_is_that_of_the_last_round() -> None:
    """For one local step and full participation the floor is that of the last round, with the cost of noise only."""
    of_model, of_round = (
        compile_expression(claim.rhs, claim.notation) for claim in (MODEL, find("comparator:last-round.error"))
    )
    run = a_run(local_steps=1)
    assert of_model(whole_run(run)) == of_round(whole_run(run))


@pytest.mark.long
def test_both_are_proved() -> None:
    """Both unchanged claims are proved, so that the changes below cause the rejections."""
    assert is_proved(STEP)
    assert is_proved(MODEL)


_ERROR, _NEXT_ERROR = (Expectation(Value(F, at) - Value(F, best)) for at in (xbar, xbar_next))
STEP_CHANGES: dict[str, dict[str, Any]] = {
    "a faster rate": {"rhs": STEP.rhs - eta * mu / 100 * Expectation(norm_sq(xbar - best))},
    "nine tenths of the floor": {"rhs": STEP.rhs - gain * last.COSTS.step_floor / 10},
    "as if nobody were drawn": {"rhs": STEP.rhs.subs(rho, 0)},
    "more errors kept than there were": {"rhs": STEP.rhs - gain * factor * k * _ERROR / 100},
    "more errors kept": {"lhs": STEP.lhs + gain * _NEXT_ERROR / 100},
    "half of the gaps is not enough": {"conditions": [COUPLING_STEP, SLOW_CONTRACTION]},
    "long rounds": {"conditions": [COUPLING_STEP, GAPS_SUFFICE]},
    "long steps": {"conditions": [GAPS_SUFFICE, SLOW_CONTRACTION]},
}


@pytest.mark.parametrize("change", STEP_CHANGES.values(), ids=STEP_CHANGES)
def test_no_stronger_step_is_proved(change: dict[str, Any]) -> None:
    """A faster rate, a lower floor, more errors, or a missing condition is not proved."""
    assert not is_proved(replace(STEP, **change))


def without(assumption: a.Assumption) -> dict[str, Any]:
    """Return the claim without an assumption."""
    return {"assumptions": [one for one in MODEL.assumptions if one is not assumption]}


SMALLER: dict[str, dict[str, Any]] = {
    "the floor alone": {"rhs": last.floor},
    "nothing added to the floor": {"rhs": 24 * last.floor / 25 + last.COSTS.start},
    "the floor of a mean over steps": {"rhs": last.kept_fraction * last.floor + last.COSTS.start},
    "half the start": {"rhs": MODEL.rhs - last.COSTS.start / 2},
    "a faster rate": {"rhs": MODEL.rhs.xreplace({(1 - eta * mu) ** K: (1 - 2 * eta * mu) ** K})},
    "as if it began at the optimum": {"rhs": MODEL.rhs.subs(D, 0)},
    "as if nobody were drawn": {"rhs": MODEL.rhs.subs(rho, 0)},
    "as if noise were the same everywhere": {"conditions": [eta <= 1 / L, GAPS_SUFFICE.subs(ell, 0), SLOW_CONTRACTION]},
    "the mean over the last round": {
        "lhs": round_error,
        "where": {**MODEL.where, round_error: q.last_round_suboptimality},
    },
    "not strongly convex": without(a.strongly_convex_clients),
    "not smooth": without(a.convex_and_smooth),
    "rough noise": without(a.smooth_noise),
    "other rounds": without(a.averaged_participants),
    "long rounds": {"conditions": [COUPLING_STEP, GAPS_SUFFICE]},
    "runs that do not come together": {"conditions": [GAPS_SUFFICE, SLOW_CONTRACTION]},
    "a condition on how long the run is": {"conditions": [*last.COSTS.conditions, sp.Le(T, 5, evaluate=False)]},
    "an assumption about where a run is": {"assumptions": [*MODEL.assumptions, a.bounded_dissimilarity]},
}


@pytest.mark.parametrize("change", SMALLER.values(), ids=SMALLER)
def test_no_smaller_bound_is_proved(change: dict[str, Any]) -> None:
    """A missing term or rate, another error, or changed premises are not proved."""
    assert not is_proved(replace(MODEL, **change))


OTHER: dict[str, dict[str, Any]] = {
    "another factor": {"factor": factor**2},
    "a factor that is none": {"factor": sp.Integer(1)},
    "more is kept": {"kept": gain * k},
    "nothing is kept": {"kept": sp.Integer(0)},
    "one error more": {"kept": gain * (last.accumulated + 1)},
    "an error of a step that has none": {"kept": gain * last.accumulated / (k - 1)},
    "a smaller offset": {"offset": eta * last.COSTS.step_floor},
    "the offset of the last step": {"offset": gain * last.COSTS.step_floor.subs(k, tau - 1)},
    "another potential": {"potential": 2 * last.COSTS.drift_potential},
    "nothing for the draw": {"potential": last.COSTS.drift_potential.subs(rho, 0)},
    "a smaller share": {"share": sp.Rational(1, 25)},
    "a larger share": {"share": sp.Rational(1, 23)},
    "no share": {"share": sp.Integer(0)},
    "less than nothing": {"share": sp.Integer(-1)},
    "another step": {"step": "comparator:last-round.one-step"},
    "no step": {"step": MODEL.id},
}


@pytest.mark.parametrize("change", OTHER.values(), ids=OTHER)
def test_a_certificate_says_what_the_step_says(change: dict[str, Any]) -> None:
    """Numbers that differ from those of the step are rejected."""
    certificate: Any = certificate_of(MODEL.id)
    assert check_certificate(MODEL, replace(certificate, **change)).verdict == "broken"


def granted(**changes: Any) -> Proof:
    """Return the step as a proved claim."""
    return Proof(replace(STEP, **changes), certificate=object(), steps=(Step("granted", True),))


def failing(step: Proof, **changes: Any) -> list[str]:
    """Return the failing steps of the changed certificate, for a proved step."""
    certificate: Any = certificate_of(MODEL.id)
    found = check_certificate(MODEL, replace(certificate, **changes), lambda _id: step)
    return [one.text for one in found.steps if not one.holds]


def test_errors_of_the_previous_round_are_refused() -> None:
    """A step with an additional error before and after it would also count the error of the start."""
    more = gain * last.kept_fraction
    step = granted(lhs=STEP.lhs + more * _NEXT_ERROR, rhs=STEP.rhs + factor * more * _ERROR)
    assert any("nothing is kept" in text for text in failing(step, kept=gain * last.accumulated + more))


def test_undefined_steps_break_the_chain() -> None:
    """A step that is undefined at one of its places breaks the chain there."""
    broken, now, later = last.accumulated / (k - 1), last.accumulated, last.accumulated.subs(k, k + 1)
    step = granted(
        lhs=STEP.lhs + gain * (broken.subs(k, k + 1) - later) * _NEXT_ERROR,
        rhs=STEP.rhs + factor * gain * (broken - now) * _ERROR,
    )
    assert any("may be zero" in text for text in failing(step, kept=gain * broken))


def test_the_potential_bounds_the_sampling_error_of_errors() -> None:
    """The error of an average of participants exceeds that of all clients; the potential bounds the difference."""
    spent = last.COSTS.drift_potential.subs(rho, rho / last.drift_factor)
    spared = last.COSTS.drift_potential - spent
    step = granted(
        lhs=STEP.lhs - Expectation(spared.subs(k, k + 1) * Average(norm_sq(x_i_next - xbar_next))),
        rhs=STEP.rhs - Expectation(factor * spared * Average(norm_sq(x_i - xbar))),
    )
    (found,) = failing(step, potential=spent)
    assert found.endswith("after the last step of a round")


@pytest.mark.parametrize("name", CASES)
def test_the_floor_is_near_the_stationary_error(name: str) -> None:
    """The floor is within a factor of four on three quadratics and on ridge regression."""
    ratio = compare_floor(CASES[name])
    assert ratio is not None
    assert 1 < ratio < 4


def test_long_rounds_are_not_covered() -> None:
    """If a condition fails, the bound has no floor."""
    settling = next(iter(CASES.values()))
    assert LAST_MODEL.divide_by_error(replace(settling, local_steps=5, length=0.9).run) is None


def test_a_stationary_run_attains_a_quarter_of_the_bound() -> None:
    """The error of a long run is its limit, and the bound is its floor."""
    run = a_run(FLOAT, rounds=3000, start=[0.0])
    bound = float(np.ravel(compile_expression(MODEL.rhs, MODEL.notation)(whole_run(run)))[0])
    error = q.final_suboptimality.on(run)
    assert error == pytest.approx(q.limiting_model_suboptimality.on(run), rel=1e-6)
    assert 1 < bound / error < 4


def test_two_fifths_of_the_floor_are_refuted() -> None:
    """A stationary run of one client with noise refutes two fifths of the floor."""
    run = a_run(hessians=[[["1"]]], linear=[["0"]], start=["0"], local_step_size="1/20", local_steps=1, rounds=400)
    assert check(MODEL, run).holds
    assert check(replace(MODEL, rhs=MODEL.rhs - 3 * last.floor / 5), run).holds is False

"""A discounted average error: its definition, its bounds, and no smaller ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import lasting_runs
import numpy as np
import pytest
import sympy as sp
from flint import fmpq
from lasting_runs import is_proved

from fedtheory import FLOAT, RATIONAL, parse_run
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.kernel.expressions import Expectation, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.evaluation import compile_expression, whole_run
from fedtheory.language.registry import find
from fedtheory.proofs import certificate_of, check_certificate
from fedtheory.sources.comparator.statements import discounted_averages as forgetting
from fedtheory.sources.comparator.statements.full_rounds import SHORT_STEP
from fedtheory.sources.comparator.statements.notation import average_error, eta, mu, rho, sigma_star, xbar, y
from verify.check import check

STEP, MEAN = find("comparator:forgetting.one-step"), find("comparator:forgetting.mean-error")
BEST_STEP, BEST = find("comparator:forgetting.at-optimum.one-step"), find("comparator:forgetting.at-optimum")


def a_run(arithmetic: Any = RATIONAL, **changes: Any) -> Run:
    """Return two clients in one dimension with slightly different linear terms, and steps twice as long."""
    return lasting_runs.a_run(arithmetic, **{"local_step_size": "1/100", **changes})


def test_later_steps_count_more() -> None:
    """The weighted sum of errors agrees with other quantities, round by round."""
    run = a_run(local_steps=1, rounds=3)
    factor = 1 - fmpq(1, 100) * 1 / 2
    errors = [q.average_suboptimality.on(run.with_rounds(count)) * count for count in (1, 2, 3)]
    at_step = [errors[0], errors[1] - errors[0], errors[2] - errors[1]]
    weights = [1 / factor ** (1 + number) for number in range(3)]
    expected = sum(weight * error for weight, error in zip(weights, at_step, strict=True)) / sum(weights)
    assert q.discounted_suboptimality.on(run) == expected


@pytest.mark.parametrize(
    ("size", "reason"),
    [
        ("2", "divides by a quantity that is zero"),
        ("3", "expected weights that are not negative"),
        (["1/100", "1/50"], "different step sizes"),
        ("1/(100 + n)", "changing step sizes"),
    ],
)
def test_a_mean_without_weights_is_refused(size: object, reason: str) -> None:
    """The average is rejected if its factor is not positive, or not a single number."""
    with pytest.raises(NotApplicable, match=reason):
        q.discounted_suboptimality.on(a_run(local_step_size=size))


RUNS = lasting_runs.RUNS | {"one of two is drawn": {"participation": lasting_runs.DRAWN, "local_step_size": "1/200"}}


@pytest.mark.parametrize("changes", RUNS.values(), ids=RUNS)
def test_the_ends_of_the_range(changes: dict[str, Any]) -> None:
    """All edge cases satisfy the conditions and the bound."""
    run = a_run(**changes)
    for claim in (STEP, MEAN, BEST_STEP, BEST):
        assert check(claim, run).holds, claim.id


STEP_CHANGES: dict[str, dict[str, Any]] = {
    "a faster rate": {"rhs": STEP.rhs - eta * mu / 20 * Expectation(norm_sq(xbar - y))},
    "half the floor": {"rhs": STEP.rhs - eta * forgetting.ANY.floor},
    "as if nobody were drawn": {"rhs": STEP.rhs.subs(rho, 0)},
    "half of the gaps is not enough": {"conditions": [SHORT_STEP, forgetting.SLOW_CONTRACTION, forgetting.SMALL_STEP]},
    "long rounds": {"conditions": [SHORT_STEP, forgetting.GAPS_SUFFICE, forgetting.SMALL_STEP]},
}


@pytest.mark.parametrize("change", STEP_CHANGES.values(), ids=STEP_CHANGES)
def test_no_stronger_step_is_proved(change: dict[str, Any]) -> None:
    """A faster rate, a lower floor, or a missing condition is not proved."""
    assert is_proved(STEP)
    assert not is_proved(replace(STEP, **change))


SMALLER: dict[str, tuple[Claim, dict[str, Any]]] = {
    "half the start": (MEAN, {"rhs": MEAN.rhs - forgetting.ANY.start / 2}),
    "half the floor": (MEAN, {"rhs": MEAN.rhs - forgetting.ANY.floor / 2}),
    "no comparator": (MEAN, {"rhs": MEAN.rhs - q.comparator_suboptimality.symbol}),
    "half the start, at the optimum": (BEST, {"rhs": BEST.rhs - forgetting.BEST.start / 2}),
    "half the floor, at the optimum": (BEST, {"rhs": BEST.rhs - forgetting.BEST.floor / 2}),
    "the plain mean": (BEST, {"lhs": average_error, "where": {**BEST.where, average_error: q.average_suboptimality}}),
    "not strongly convex": (
        BEST,
        {"assumptions": [one for one in BEST.assumptions if one is not a.strongly_convex_clients]},
    ),
    "long steps": (BEST, {"conditions": [SHORT_STEP, forgetting.GAPS_SUFFICE, forgetting.SLOW_CONTRACTION]}),
}


@pytest.mark.parametrize(("claim", "change"), SMALLER.values(), ids=SMALLER)
def test_no_smaller_bound_is_proved(claim: Claim, change: dict[str, Any]) -> None:
    """Each term halved, another average, or a missing premise is not proved."""
    assert is_proved(claim)
    assert not is_proved(replace(claim, **change))


OTHER: dict[str, dict[str, Any]] = {
    "another factor": {"factor": forgetting.factor**2},
    "a factor that is none": {"factor": sp.Integer(1)},
    "more gain": {"gain": 3 * eta},
    "no gain": {"gain": sp.Integer(0)},
    "a smaller offset": {"offset": eta * forgetting.BEST.floor},
    "another potential": {"potential": 2 * forgetting.COSTS.drift_potential},
    "nothing for the draw": {"potential": forgetting.COSTS.drift_potential.subs(rho, 0)},
    "another step": {"step": STEP.id},
}


@pytest.mark.parametrize("change", OTHER.values(), ids=OTHER)
def test_a_certificate_says_what_the_step_says(change: dict[str, Any]) -> None:
    """Numbers that differ from those of the step are rejected."""
    certificate: Any = certificate_of(BEST.id)
    assert check_certificate(BEST, replace(certificate, **change)).verdict == "broken"


def test_half_the_start_fails_on_a_run() -> None:
    """For short times both bound and error are F(x^0) - eta tau T |grad F(x^0)|^2 / 2, so half the start fails."""
    run = a_run(hessians=[[["1"]]], linear=[["0"]], noise="0", local_step_size="1/1000", local_steps=1, rounds=20)
    assert check(MEAN, run).holds
    assert check(replace(MEAN, rhs=MEAN.rhs - forgetting.ANY.start / 2), run).holds is False


@pytest.mark.parametrize("ridge", [0.1, 20])
def test_the_floor_is_near_the_error_of_ridge_regression(ridge: float) -> None:
    """For small local steps the floor is within a factor of four of the stationary error."""
    problem = {"kind": "least-squares", "data": "diabetes", "clients": 5, "split": "iid", "batch": 8, "ridge": ridge}
    algorithm = {"local_step_size": 1e-4, "local_steps": 1, "rounds": 100}
    run = parse_run({"problem": problem, "algorithm": algorithm}, FLOAT)
    assert check(BEST, run).holds
    floor = float(np.ravel(compile_expression(forgetting.BEST.floor, BEST.notation)(whole_run(run)))[0])
    assert 1 < floor / q.limiting_suboptimality.on(run) < 4
    assert BEST.notation[sigma_star] is q.noise_at_optimum

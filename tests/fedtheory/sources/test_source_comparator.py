"""Bounds for any comparator: the best point, its noise and dissimilarity, and no smaller bounds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from comparator_runs import line_run
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory import FLOAT, RATIONAL
from fedtheory.engine import gradient_forms
from fedtheory.engine.comparator import Comparator, QuadraticComparator
from fedtheory.engine.expected_smoothness import find_least_multiple
from fedtheory.engine.run import Run
from fedtheory.federation import fedavg
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.problem import least_squares
from fedtheory.kernel.expressions import Average, Expectation, norm_sq
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import smooth, smooth_noise
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.proofs import certificate_of, check_certificate
from fedtheory.sources.comparator.statements import full_rounds as full
from fedtheory.sources.comparator.statements import strong_convexity as strong
from fedtheory.sources.comparator.statements.notation import (
    D,
    D_y,
    K,
    L,
    M,
    T,
    ell,
    eta,
    mu,
    p_max,
    sigma_y,
    tau,
    x_i,
    x_star,
    xbar,
    zeta_y,
)
from verify.check import check

ROWS = [[[1, 0], [2, 1], [0, 1]], [[1, 1], [-1, 2], [1, 0]]]
OUTCOMES = [[1, 0, 2], [-1, 1, 0]]


def data_run(**algorithm: Any) -> Run:
    """Return least squares on three rows for each of two clients, batches of two."""
    batches = {"batch": 2, "replacement": algorithm.pop("replacement", True)}
    clients = ClientData(
        tuple(RATIONAL.array(rows) for rows in ROWS), tuple(RATIONAL.array(outcome) for outcome in OUTCOMES)
    )
    problem = least_squares(clients, RATIONAL.array([3, -2]), **batches)
    return Run(problem, fedavg(problem, **{"rounds": 2, "local_step_size": fmpq(1, 60), "local_steps": 2, **algorithm}))


def value_at(run: Run, y: Comparator) -> Any:
    """Return the right side of the theorem at a point, by hand."""
    size, steps, rounds = run.algorithm.work.step_sizes[0], run.algorithm.work.steps[0], run.algorithm.rounds
    clients, smooth = run.problem.clients, run.smoothness
    first = y.suboptimality + y.distance_sq / (2 * size * steps * rounds)
    apart = (steps - 1) * (steps + 2) * (clients - 1) / RATIONAL.number(8 * clients, "8M")
    noise = size * (1 + smooth * size) / clients + smooth * size * size * apart
    return first + noise * y.noise_sq + smooth * size * size * (steps * steps - 1) * y.dissimilarity_sq / 3


def test_the_comparator_is_the_minimiser() -> None:
    """The gradient of F(y) + |x^0 - y|^2 / (2 eta tau T) vanishes at the comparator."""
    run = data_run()
    y, time = run.comparator.point, run.algorithm.work.step_sizes[0] * 2 * 2
    assert (run.problem.hessian @ y * time + y - run.problem.centred.start == 0).all()
    with pytest.raises(Exception, match="different local steps"):
        _ = line_run(local_steps=[1, 2]).comparator


@settings(max_examples=30, deadline=None)
@given(st.tuples(st.integers(-8, 8), st.integers(-8, 8)), st.booleans())
def test_the_bound_holds_at_every_point(place: tuple[int, int], replacement: bool) -> None:
    """The bound holds at all points, not only at the best one or near the optimum."""
    run = data_run(replacement=replacement)
    point = RATIONAL.array([fmpq(part, 2) for part in place])
    assert q.average_suboptimality.on(run) <= value_at(run, QuadraticComparator(run.problem, run.gradient_forms, point))


ONE_CLIENT: dict[str, Any] = {"hessians": [[["2"]]], "linear": [["1"]], "weights": ["1"]}


@pytest.mark.parametrize("changes", [{"local_steps": 1}, ONE_CLIENT, {"noise": "0"}])
def test_the_ends_of_the_range(changes: dict[str, Any]) -> None:
    """The bound holds for one local step, one client, no noise, and at start and optimum."""
    run = line_run(**changes)
    found = check(find("comparator:average-error"), run)
    assert found.worst is not None
    assert found.holds
    assert found.worst.rhs == value_at(run, run.comparator)
    for point in (run.problem.centred.start, run.problem.centred.optimum):
        compared = QuadraticComparator(run.problem, run.gradient_forms, point)
        assert q.average_suboptimality.on(run) <= value_at(run, compared)


@pytest.mark.parametrize("replacement", [True, False])
def test_noise_smoothness_is_that_of_the_draws(replacement: bool) -> None:
    """The constant bounds the noise of all batches at any two points, and is tight; L_s/B is at least as large."""
    run = data_run(replacement=replacement)
    smooth = q.noise_smoothness.on(run)
    worst = []
    for direction in ([1, 0], [0, 1], [1, 1], [1, -1], [2, 1], [-1, 3], [1, 5], [3, -8]):
        for client in range(2):
            moved = RATIONAL.array([0, *direction])
            draws = run.problem.oracle.draws(client, run.problem.linear)
            changed = [p * ((m @ moved) @ (m @ moved)) for p, m in zip(draws.probabilities, draws.maps, strict=True)]
            curved = moved[1:] @ run.problem.hessians[client] @ moved[1:]
            assert sum(changed) <= smooth * curved
            worst.append(sum(changed) / curved / smooth)
    assert max(worst) > fmpq(9, 10)
    if replacement:
        assert smooth <= run.sample_smoothness / 2
    assert abs(float(FLOAT.number(smooth, "l")) - q.noise_smoothness.on(run.as_floats())) < 1e-6


def test_noise_smoothness_is_found_once_for_all_step_sizes(monkeypatch) -> None:
    """The constant belongs to the problem, and is computed once for all step sizes and rounds."""
    asked = []
    once = gradient_forms.find_noise_smoothness
    monkeypatch.setattr(gradient_forms, "find_noise_smoothness", lambda *given: asked.append(given) or once(*given))
    run = data_run(replacement=True)
    others = [run, run.with_step_factor(fmpq(1, 2)), run.with_step_factor(fmpq(1, 3)).with_rounds(7)]
    assert len({other.noise_smoothness for other in others}) == 1
    assert len(asked) == 1


def test_the_least_multiple() -> None:
    """The least multiple of a form is found for a smaller range, and refused for a form that leaves the range."""
    base, form = np.diag([2.0, 0.0]), np.diag([3.0, 0.0])
    assert find_least_multiple(form, base, FLOAT) == pytest.approx(1.5)
    with pytest.raises(Exception, match="not bounded"):
        find_least_multiple(RATIONAL.array([[1, 0], [0, 1]]), RATIONAL.array([[1, 0], [0, 0]]), RATIONAL)


def is_proved(claim: Claim) -> bool:
    """Return whether the recorded certificate proves a claim, including its steps."""
    return check_certificate(claim, certificate_of(claim.id)).verdict == "proved"  # type: ignore[arg-type]


STEP_CHANGES = {
    "noise halved": {"rhs": find("comparator:one-step").rhs - full.EQUAL_WEIGHTS.step_noise / 2},
    "dissimilarity halved": {"rhs": find("comparator:one-step").rhs - full.step_dissimilarity / 2},
    "first condition widened": {"conditions": [eta <= 2 / L, full.EQUAL_WEIGHTS.short_round]},
    "second condition widened": {
        "conditions": [full.SHORT_STEP, sp.Le(full.EQUAL_WEIGHTS.short_round.lhs, 2, evaluate=False)]
    },
    "no condition on rounds": {"conditions": [full.SHORT_STEP]},
    "no smooth noise": {"assumptions": find("comparator:one-step").assumptions[:-1]},
    "not convex": {"assumptions": [*find("comparator:one-step").assumptions[:4], smooth, smooth_noise]},
}


@pytest.mark.parametrize("change", STEP_CHANGES.values(), ids=STEP_CHANGES)
def test_no_stronger_step_is_proved(change: dict[str, Any]) -> None:
    """Smaller constants, wider conditions and fewer assumptions break the certificate of the local step."""
    assert is_proved(find("comparator:one-step"))
    assert not is_proved(replace(find("comparator:one-step"), **change))


STRONG_STEP, LAST = find("comparator:strongly-convex.one-step"), find("comparator:strongly-convex.last-model")
STRONG_CHANGES = {
    "a faster rate": {"rhs": STRONG_STEP.rhs - eta * mu / 20 * Expectation(norm_sq(xbar - x_star))},
    "a lower floor": {"rhs": STRONG_STEP.rhs - eta * strong.floor},
    "half of the gaps is not enough": {"conditions": [full.SHORT_STEP, strong.SLOW_CONTRACTION, strong.SMALL_STEP]},
    "large curvature": {"conditions": [full.SHORT_STEP, strong.GAPS_SUFFICE, strong.SLOW_CONTRACTION]},
    "long rounds": {"conditions": [full.SHORT_STEP, strong.GAPS_SUFFICE, strong.SMALL_STEP]},
}


@pytest.mark.parametrize("change", STRONG_CHANGES.values(), ids=STRONG_CHANGES)
def test_no_stronger_contraction_is_proved(change: dict[str, Any]) -> None:
    """A faster rate, a lower floor, or a missing condition is not proved."""
    assert is_proved(STRONG_STEP)
    assert not is_proved(replace(STRONG_STEP, **change))


LAST_CHANGES = {
    "half the floor": LAST.rhs - 3 * strong.floor / (4 * mu),
    "no floor": LAST.rhs - 3 * strong.floor / (2 * mu),
    "half the distance": LAST.rhs - strong.factor**K * D**2 / 2,
    "one step more": LAST.rhs + (strong.factor ** (K + 1) - strong.factor**K) * D**2,
}


@pytest.mark.parametrize("rhs", LAST_CHANGES.values(), ids=LAST_CHANGES)
def test_no_smaller_distance_is_proved(rhs: Any) -> None:
    """Each term halved, or a faster rate, is not proved."""
    assert is_proved(LAST)
    assert not is_proved(replace(LAST, rhs=rhs))


CONTRACTIONS: dict[str, dict[str, Any]] = {
    "another factor": {"factor": strong.factor**2},
    "another weight": {"weight": sp.Integer(1)},
    "another potential": {"potential": 2 * strong.drift_potential},
    "a potential that is left over": {"potential": strong.drift_potential + L},
    "a smaller offset": {"offset": eta * strong.floor},
}


@pytest.mark.parametrize("change", CONTRACTIONS.values(), ids=CONTRACTIONS)
def test_a_contraction_says_what_the_step_says(change: dict[str, Any]) -> None:
    """Numbers that differ from those of the step are rejected."""
    certificate: Any = certificate_of(LAST.id)
    assert check_certificate(LAST, replace(certificate, **change)).verdict == "broken"


SHARES = find("comparator:shares.one-step")
SHARES_CHANGES: dict[str, dict[str, Any]] = {
    "half the noise": {"rhs": SHARES.rhs - full.UNEQUAL_WEIGHTS.noise_in_average / 2},
    "half the drift": {"rhs": SHARES.rhs - full.step_dissimilarity / 2},
    "long rounds": {"conditions": [full.SHORT_STEP]},
    "as if the shares were equal": {"rhs": SHARES.rhs.subs(p_max, 1 / M)},
}


@pytest.mark.parametrize("change", SHARES_CHANGES.values(), ids=SHARES_CHANGES)
def test_no_stronger_step_for_unequal_shares_is_proved(change: dict[str, Any]) -> None:
    """Smaller constants, a missing condition, or 1/M for the largest weight are not proved."""
    assert is_proved(SHARES)
    assert not is_proved(replace(SHARES, **change))


DRIFT = find("comparator:drift.one-step")
DRIFT_CHANGES: dict[str, dict[str, Any]] = {
    "half the noise": {"rhs": DRIFT.rhs - full.EQUAL_WEIGHTS.noise_in_average / 2},
    "long steps": {"conditions": [full.GAPS_EXCEED_NOISE]},
    "rough noise": {"conditions": [full.SHORT_STEP]},
    "less drift": {"rhs": DRIFT.rhs - L / 10 * Expectation(Average(norm_sq(xbar - x_i)))},
}


@pytest.mark.parametrize("change", DRIFT_CHANGES.values(), ids=DRIFT_CHANGES)
def test_no_stronger_step_with_drift_is_proved(change: dict[str, Any]) -> None:
    """Smaller constants and wider conditions are not proved."""
    assert is_proved(DRIFT)
    assert not is_proved(replace(DRIFT, **change))


LESS_NOISE = find("comparator:drift.less-noise.one-step")
LESS_NOISE_CHANGES: dict[str, dict[str, Any]] = {
    "half the noise": {"rhs": LESS_NOISE.rhs - full.REDUCED_NOISE / 2},
    "long steps": {"conditions": [eta <= 2 / L, full.GAPS_EXCEED_REDUCED_NOISE]},
    "noise as rough as before": {"conditions": [full.SHORT_STEP, full.GAPS_EXCEED_NOISE]},
    "less drift": {"rhs": LESS_NOISE.rhs - L / 4 * Expectation(Average(norm_sq(xbar - x_i)))},
}


@pytest.mark.parametrize("change", LESS_NOISE_CHANGES.values(), ids=LESS_NOISE_CHANGES)
def test_no_stronger_step_with_less_noise_is_proved(change: dict[str, Any]) -> None:
    """Smaller constants, and the conditions of the bound with more noise, are not proved."""
    assert is_proved(LESS_NOISE)
    assert not is_proved(replace(LESS_NOISE, **change))


AVERAGE = find("comparator:average-error")
SMALLER = {
    "start": AVERAGE.rhs - full.start / 2,
    "noise": AVERAGE.rhs - full.EQUAL_WEIGHTS.noise / 2,
    "dissimilarity": AVERAGE.rhs - full.dissimilarity / 2,
    "comparator": AVERAGE.rhs - q.comparator_suboptimality.symbol,
}


@pytest.mark.parametrize("rhs", SMALLER.values(), ids=SMALLER)
def test_no_smaller_bound_is_proved(rhs: Any) -> None:
    """No bound with a halved term is proved."""
    assert not is_proved(replace(AVERAGE, rhs=rhs))


@pytest.mark.parametrize("potential", [full.potential, full.potential + L, 2 * full.potential, None])
def test_no_other_potential_gives_more(potential: Any) -> None:
    """A potential that is positive at the end of a round is rejected, and none proves a halved term."""
    claim, certificate = find("comparator:all-steps"), certificate_of("comparator:all-steps")
    changed: Any = replace(certificate, potential=potential)  # type: ignore[type-var]
    proved = check_certificate(claim, changed).verdict == "proved"
    assert proved is (potential != full.potential + L)
    smaller = replace(claim, rhs=claim.rhs - full.dissimilarity / 2)
    assert check_certificate(smaller, changed).verdict == "broken"


def test_half_the_first_term_fails_on_a_run() -> None:
    """For short times both the bound and the error are F(x^0) - eta tau T |grad F(x^0)|^2 / 2."""
    run = line_run(
        hessians=[[["1"]]], linear=[["0"]], weights=["1"], noise="0", local_step_size="1/1000", local_steps=1, rounds=20
    )
    found = check(AVERAGE, run)
    assert found.holds
    assert found.worst is not None
    assert found.worst.lhs > found.worst.rhs * fmpq(99, 100)
    assert check(replace(AVERAGE, rhs=AVERAGE.rhs - full.start / 2), run).holds is False


def test_the_statement_is_the_formula() -> None:
    """The formula on the page is the statement."""
    expected = (
        q.comparator_suboptimality.symbol
        + D_y**2 / (2 * eta * tau * T)
        + eta * (1 + L * eta) * sigma_y**2 / M
        + (1 - 1 / M) * L * eta**2 * (tau - 1) * (tau + 2) * sigma_y**2 / 8
        + L * eta**2 * (tau**2 - 1) * zeta_y**2 / 3
    )
    assert sp.expand(AVERAGE.rhs - expected) == 0
    assert ell in AVERAGE.conditions[1].free_symbols

"""Bounds for any comparator with client sampling: the sampling cost, and no smaller bounds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import fmpq

from fedtheory import FLOAT, RATIONAL, parse_run
from fedtheory.engine.run import Run
from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import Expectation, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.evaluation import compile_expression, whole_run
from fedtheory.language.registry import find
from fedtheory.proofs import certificate_of, check_certificate, facts
from fedtheory.proofs.checker import RECORDED
from fedtheory.proofs.parts import Part
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.proofs.terms.places import context_of_run, enter_step
from fedtheory.proofs.terms.rules.draw import Draw
from fedtheory.sources.comparator.statements import sampled_rounds as drawn
from fedtheory.sources.comparator.statements import sampled_strong_convexity as strong
from fedtheory.sources.comparator.statements.full_rounds import SHORT_STEP, start
from fedtheory.sources.comparator.statements.notation import (
    D,
    K,
    L,
    M,
    eta,
    mu,
    p_max,
    rho,
    sigma_y,
    tau,
    x_star,
    xbar,
    zeta_y,
)
from fedtheory.sources.comparator.statements.strong_convexity import factor
from verify.check import check

STEP, ALL, AVERAGE = (find(f"comparator:sampled.{name}") for name in ("one-step", "all-steps", "average-error"))
STRONG_STEP, LAST = find("comparator:sampled.strongly-convex.one-step"), find("comparator:sampled.last-model")


def a_run(arithmetic: Any = RATIONAL, **changes: Any) -> Run:
    """Return three clients in one dimension, of which two participate in a round."""
    problem: dict[str, Any] = {
        "kind": "quadratic",
        "hessians": [[["1"]], [["6/5"]], [["1"]]],
        "linear": [["1/10"], ["-1/10"], ["0"]],
        "start": ["2"],
        "noise": "1/2",
    }
    algorithm: dict[str, Any] = {"local_step_size": "1/400", "local_steps": 3, "rounds": 2}
    algorithm["participation"] = {"kind": "uniform", "clients": 2}
    problem |= {key: changes.pop(key) for key in (*problem, "weights") if key in changes}
    return parse_run({"problem": problem, "algorithm": algorithm | changes}, arithmetic)


SHARES = ["1/2", "1/3", "1/6"]
WITH_REPLACEMENT = {"kind": "multinomial", "clients": 2}
LAWS: dict[str, tuple[dict[str, Any], fmpq]] = {
    "two of three": ({}, fmpq(1, 4)),
    "one of three": ({"participation": {"kind": "uniform", "clients": 1}}, fmpq(1)),
    "two draws": ({"participation": WITH_REPLACEMENT, "weights": SHARES}, fmpq(1, 2)),
    "everybody": ({"participation": {"kind": "full"}, "weights": SHARES}, fmpq(0)),
    "one client": (
        {"participation": {"kind": "uniform", "clients": 1}, "hessians": [[["2"]]], "linear": [["1"]]},
        fmpq(0),
    ),
}


@pytest.mark.parametrize(("changes", "expected"), LAWS.values(), ids=LAWS)
def test_the_variance_of_a_draw_is_that_of_its_outcomes(changes: dict[str, Any], expected: fmpq) -> None:
    """The sampling variance is that of all outcomes, for vectors with average zero."""
    run = a_run(**changes)
    weights, law = run.problem.weights, run.algorithm.aggregation.participation
    rho_of_run = q.sampling_variance.on(run)
    assert rho_of_run == expected
    chances, outcomes = law.outcomes(weights)
    for seed in ([3, -1, 5], [1, 0, 0], [-2, 7, 1]):
        values = RATIONAL.array(seed[: len(weights)])
        values = values - values @ weights
        assert chances @ (outcomes @ values) ** 2 == rho_of_run * (weights @ values**2)


@pytest.mark.parametrize(("changes", "spread"), list(LAWS.values())[:3], ids=list(LAWS)[:3])
def test_all_draws_of_two_rounds(changes: dict[str, Any], spread: fmpq) -> None:
    """Expectations over all draws of two rounds, and the drift of participants beyond that of all clients."""
    run = a_run(noise="0", **changes)
    problem, size, y = run.problem, fmpq(1, 400), run.comparator.point[0] + run.problem.optimum[0]
    weights, optimum, bend = problem.weights, problem.optimum[0], problem.hessian[0, 0]
    chances, outcomes = run.algorithm.aggregation.participation.outcomes(weights)
    error = progress = fmpq(0)
    models = [(fmpq(1), fmpq(2))]
    for _ in range(2):
        later = []
        for chance, model in models:
            local = [RATIONAL.array([model] * len(weights))]
            for _ in range(3):
                slopes = problem.hessians[:, 0, 0] * local[-1] - problem.linear[:, 0]
                local.append(local[-1] - size * slopes)
            for at_step in local[1:]:
                taken, everybody = outcomes @ at_step, weights @ at_step
                apart = weights @ (at_step - everybody) ** 2
                assert chances @ (taken - y) ** 2 == (everybody - y) ** 2 + spread * apart
                error += chance * (everybody - optimum) ** 2 * bend / 12
            ends = outcomes @ local[-1]
            progress += chance * ((model - y) ** 2 - chances @ (ends - y) ** 2)
            later += [(chance * own, end) for own, end in zip(chances, ends, strict=True)]
        models = later
    assert error == q.average_suboptimality.on(run)
    assert progress == q.total_comparator_progress.on(run)
    assert sum(chance * (model - optimum) ** 2 for chance, model in models) == q.final_distance_sq.on(run)


@pytest.mark.parametrize(("changes", "_expected"), LAWS.values(), ids=LAWS)
@pytest.mark.parametrize("steps", [1, 3])
def test_every_law_and_the_ends_of_the_range(changes: dict[str, Any], _expected: fmpq, steps: int) -> None:
    """One local step, one client, and full participation satisfy the conditions and the bound."""
    run = a_run(**{"local_steps": steps, **changes})
    for claim in (STEP, AVERAGE, STRONG_STEP, LAST):
        assert check(claim, run).holds, claim.id


def test_a_run_that_starts_at_the_optimum() -> None:
    """From the optimum only the floor remains."""
    run = a_run()
    there = a_run(start=[str(run.problem.optimum[0])])
    for claim in (AVERAGE, LAST):
        assert check(claim, there).holds


REFUSED: dict[str, dict[str, Any]] = {
    "weights that do not add up to one": {"weights": SHARES},
    "always the same": {"participation": {"kind": "fixed", "clients": [0, 1]}},
}


@pytest.mark.parametrize("changes", REFUSED.values(), ids=REFUSED)
def test_other_draws_are_refused(changes: dict[str, Any]) -> None:
    """Laws are rejected whose expected next model is not the average of all clients."""
    assert not check(AVERAGE, a_run(**changes)).applicable


def is_proved(claim: Claim) -> bool:
    """Return whether the recorded certificate proves a claim, including its steps."""
    return check_certificate(claim, certificate_of(claim.id)).verdict == "proved"  # type: ignore[arg-type]


STEP_CHANGES: dict[str, dict[str, Any]] = {
    "half the noise": {"rhs": STEP.rhs - drawn.batch_noise * sigma_y**2 / 2},
    "half the dissimilarity": {"rhs": STEP.rhs - drawn.gradient_cost * zeta_y**2},
    "as if nobody were drawn": {"rhs": STEP.rhs.subs(rho, 0)},
    "as if the shares were equal": {"rhs": STEP.rhs.subs(p_max, 1 / M)},
    "long steps": {"conditions": [eta <= 2 / L, drawn.SHORT_ROUND]},
    "long rounds": {"conditions": [SHORT_STEP, sp.Le(drawn.SHORT_ROUND.lhs, 2, evaluate=False)]},
    "no smooth noise": {"assumptions": [one for one in STEP.assumptions if one is not a.smooth_noise]},
}


@pytest.mark.parametrize("change", STEP_CHANGES.values(), ids=STEP_CHANGES)
def test_no_stronger_step_is_proved(change: dict[str, Any]) -> None:
    """Smaller constants, wider conditions or fewer assumptions are not proved."""
    assert is_proved(STEP)
    assert not is_proved(replace(STEP, **change))


STRONG_CHANGES: dict[str, dict[str, Any]] = {
    "a faster rate": {"rhs": STRONG_STEP.rhs - eta * mu / 20 * Expectation(norm_sq(xbar - x_star))},
    "half the floor": {"rhs": STRONG_STEP.rhs - eta * strong.floor},
    "half of the gaps is not enough": {"conditions": [SHORT_STEP, strong.SLOW_CONTRACTION, strong.SMALL_STEP]},
    "large curvature": {"conditions": [SHORT_STEP, strong.GAPS_SUFFICE, strong.SLOW_CONTRACTION]},
    "long rounds": {"conditions": [SHORT_STEP, strong.GAPS_SUFFICE, strong.SMALL_STEP]},
}


@pytest.mark.parametrize("change", STRONG_CHANGES.values(), ids=STRONG_CHANGES)
def test_no_stronger_contraction_is_proved(change: dict[str, Any]) -> None:
    """A faster rate, a lower floor, or a missing condition is not proved."""
    assert is_proved(STRONG_STEP)
    assert not is_proved(replace(STRONG_STEP, **change))


BOUND_CHANGES = {
    "half the start": (AVERAGE, start / 2),
    "half the noise": (AVERAGE, drawn.batch_noise * sigma_y**2 / 2),
    "half the draw": (AVERAGE, drawn.sampling * eta**2 * zeta_y**2),
    "no comparator": (AVERAGE, q.comparator_suboptimality.symbol),
    "half the floor": (LAST, 3 * strong.floor / (4 * mu)),
    "half the distance": (LAST, factor**K * D**2 / 2),
}


@pytest.mark.parametrize(("claim", "less"), BOUND_CHANGES.values(), ids=BOUND_CHANGES)
def test_no_smaller_bound_is_proved(claim: Claim, less: Any) -> None:
    """No bound with a halved term is proved."""
    assert is_proved(claim)
    assert not is_proved(replace(claim, rhs=claim.rhs - less))


def changed(claim: Claim, **changes: Any) -> str:
    """Return the kernel verdict on a claim with another certificate."""
    certificate: Any = certificate_of(claim.id)
    return check_certificate(claim, replace(certificate, **changes)).verdict


def test_the_draw_has_to_be_paid() -> None:
    """A potential that is too small at the end of a round is rejected."""
    without = drawn.potential.subs(rho, 0)
    for potential in (without, (drawn.potential + without) / 2):
        assert changed(ALL, potential=potential) == "broken"
    for potential in (strong.COSTS.drift_potential.subs(rho, 0), strong.COSTS.drift_potential / 2):
        assert changed(LAST, potential=potential) == "broken"


@pytest.mark.parametrize(
    ("claim", "point", "said"),
    [
        ("comparator:sampled.all-steps", q.server_model, "the optimum or the comparator"),
        ("comparator:all-steps", q.comparator, "expected a claim about a run with sampled participants"),
    ],
)
def test_a_draw_is_one_of_participants_and_costs_distances_from_a_point(
    claim: str, point: q.Quantity, said: str
) -> None:
    """The sampling fact concerns participants, and distances from a fixed point."""
    context = context_of_run(use_plain_symbols(find(claim)), RECORDED)
    with pytest.raises(Rejected, match=said):
        Draw(context.symbols(point)).check(context)


def test_a_draw_is_one_of_each_round() -> None:
    """At a local step nothing has been sampled."""
    context = enter_step(context_of_run(use_plain_symbols(ALL), RECORDED))
    with pytest.raises(Rejected, match="expected a claim about a run with sampled participants"):
        Draw(context.symbols(q.comparator)).check(context)


def test_a_draw_is_not_full_participation() -> None:
    """Telescoping sums of full participation are not known for sampled participants."""
    certificate: Any = certificate_of(AVERAGE.id)
    (parts,) = certificate.links
    other = [part if part.coefficient == 1 else replace_fact(part) for part in parts]
    assert changed(AVERAGE, links=[other]) == "broken"
    for claim in (ALL, LAST):
        silent = [one for one in claim.assumptions if one is not a.averaged_participants]
        assert not is_proved(replace(claim, assumptions=silent))


def replace_fact(part: Part) -> Part:
    """Replace the fact about participants by that about full rounds."""
    return Part(part.coefficient, facts.TELESCOPED_FROM_COMPARATOR) if part.coefficient.is_negative else part


def test_a_tenth_of_the_draw_is_not_enough_for_a_run() -> None:
    """One of two clients with opposite gradients participates: the error from the optimum is due to sampling."""
    run = a_run(
        hessians=[[["1"]], [["1"]]],
        linear=[["4"], ["-4"]],
        noise="0",
        start=["0"],
        local_step_size="1/64",
        local_steps=1,
        rounds=400,
        participation={"kind": "uniform", "clients": 1},
    ).as_floats()
    assert check(AVERAGE, run).holds
    assert check(replace(AVERAGE, rhs=AVERAGE.rhs.subs(rho, rho / 10)), run).holds is False


@pytest.mark.parametrize(("changes", "_expected"), list(LAWS.values())[:3], ids=list(LAWS)[:3])
def test_the_floor_is_near_the_stationary_error(changes: dict[str, Any], _expected: fmpq) -> None:
    """The floor is within a factor of five of the stationary error, and never below it."""
    run = a_run(FLOAT, **changes)
    floor = compile_expression(3 * strong.floor / (2 * mu), LAST.notation)(whole_run(run))
    assert 1 < np.ravel(floor)[0] / q.limiting_distance_sq.on(run) < 5


def test_noise_of_long_rounds() -> None:
    """With full participation and long rounds, the noise term is smaller than in the bound of full rounds."""
    here, there = (
        sp.diff(find(f"comparator:{name}.average-error").rhs, sigma_y).subs({rho: 0, tau: 20})
        - 2 * sigma_y * drawn.batch_noise
        for name in ("sampled", "shares")
    )
    assert sp.cancel(there / here) == sp.Rational(22, 6)

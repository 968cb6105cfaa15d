"""Lecture Note 3-1: the published loop against enumerated outcomes, Corollary 4 and remarks by hand."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from tiny_runs import data, quadratics
from tiny_shapes import LINE, PLANE, ROWS

from fedtheory import Run
from fedtheory.errors import Diverging
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.registry import find
from fedtheory.proofs import check_certificate, prove
from fedtheory.proofs.certificates_of_papers import certificate_of
from fedtheory.proofs.combination import Combination
from fedtheory.sources.liu2022.exhibits import EXHIBITS
from fedtheory.sources.liu2022.exhibits.corollary_4 import (
    CLIENTS,
    ITERATIONS,
    MOST_LOCAL_STEPS,
    fit_order,
    measure_errors,
)
from fedtheory.sources.liu2022.exhibits.two_sided import ROUNDS, measure_curves, scale_errors
from fedtheory.sources.liu2022.messages import cross_device
from fedtheory.sources.liu2022.quantities.published_loop import compute_loop_moments
from verify.check import Check, check


def claim_of(name: str) -> Claim:
    return find(f"liu2022:{name}")


def sides(name: str, run: Run, link: int = 0) -> tuple[object, object, bool | None]:
    """Return both sides of one link at its worst place, and whether it holds there."""
    found: Check = check(claim_of(name), run)
    assert found.applicable, found.reason
    compared = found.comparisons[link]
    return compared.lhs, compared.rhs, compared.holds


# The loop over t as printed: gradients are observed before a restart.


def _enumerate(run: Run) -> Iterator[tuple[Any, list[Any], list[Any]]]:
    """Yield each outcome of the published loop: its probability, the iterates for t = 0 .. T, and the gradients."""
    problem, steps, sizes = run.problem.centred, run.algorithm.work.steps[0], run.algorithm.work.step_sizes
    laws = [problem.oracle.draws(client, problem.linear) for client in range(problem.clients)]
    noises = [*itertools.product(*(range(len(law.probabilities)) for law in laws))]
    for outcome in itertools.product(noises, repeat=run.algorithm.rounds * steps):
        probability, at = fmpq(1), [problem.start] * problem.clients
        iterates, gradients = [at], []
        for t, drawn in enumerate(outcome, start=1):
            observed = []
            for client, number in enumerate(drawn):
                probability *= laws[client].probabilities[number]
                point = np.concatenate([run.arithmetic.array([1]), at[client]])
                observed.append((problem.gradient_maps[client] + laws[client].maps[number]) @ point)
            average = sum(weight * x for weight, x in zip(problem.weights, at, strict=True))
            from_where = [average] * problem.clients if t % steps == 0 else at
            at = [x - size * g for x, size, g in zip(from_where, sizes, observed, strict=True)]
            iterates.append(at)
            gradients.append(observed)
        yield probability, iterates, gradients


def _expectations(run: Run) -> dict[str, Any]:
    """Return the four expectations of `loop_moments`, summed over all outcomes."""
    problem = run.problem.centred
    total: dict[str, Any] = {"gradient": 0, "consensus": 0, "second": 0, "noise": 0}
    for probability, iterates, gradients in _enumerate(run):
        averages = [sum(w * x for w, x in zip(problem.weights, at, strict=True)) for at in iterates]
        slopes = [problem.hessian @ average for average in averages[:-1]]
        full = [
            [h @ x - b for h, x, b in zip(problem.hessians, problem_at, problem.linear, strict=True)]
            for problem_at in iterates[:-1]
        ]
        found = {
            "gradient": [slope @ slope for slope in slopes],
            "consensus": [[(x - m) @ (x - m) for x in at] for at, m in zip(iterates[1:], averages[1:], strict=True)],
            "second": [[g @ g for g in observed] for observed in gradients],
            "noise": [
                [(g - e) @ (g - e) for g, e in zip(observed, expected, strict=True)]
                for observed, expected in zip(gradients, full, strict=True)
            ],
        }
        for name, values in found.items():
            total[name] = total[name] + probability * np.array(values, dtype=object)
    return total


ENUMERATED = {
    "no noise": quadratics(**LINE, steps=2, rounds=3).engine,
    "additive noise": quadratics(**LINE, deviation=[1, 2], eta="1/4", steps=2, rounds=2).engine,
    "unequal weights": quadratics(
        **LINE, deviation=[1, "1/2"], eta=["1/4", "1/3"], steps=3, rounds=1, importance=["1/3", "2/3"]
    ).engine,
    "one local step": quadratics(**LINE, deviation=1, eta="1/3", steps=1, rounds=3).engine,
    "plane": quadratics(**PLANE, eta="1/5", steps=3, rounds=2).engine,
    "batches": data(*ROWS, ["2"], batch=1, eta=["1/10", "1/7"], importance=["1/4", "3/4"], steps=2, rounds=1).engine,
}


@pytest.mark.parametrize("name", ENUMERATED)
def test_moments_of_the_loop_are_those_of_its_outcomes(name: str) -> None:
    """All four expectations agree for every iteration and client, as rationals."""
    run = ENUMERATED[name]
    found, expected = compute_loop_moments(run), _expectations(run)
    assert found.gradient_sq.tolist() == expected["gradient"].tolist()
    assert found.consensus_error.tolist() == expected["consensus"].tolist()
    assert found.stochastic_gradient_sq.tolist() == expected["second"].tolist()
    assert found.noise_sq.tolist() == expected["noise"].tolist()


def curved_and_flat(step: str = "1/2", rounds: int = 1) -> Run:
    """Return F_1 = x^2/2 and F_2 = 0 from x = 1, with two local steps per round."""
    return quadratics([[["1"]], [["0"]]], [[0], [0]], [1], eta=step, steps=2, rounds=rounds).engine


def test_the_loop_by_hand() -> None:
    """x = (1, 1), (1/2, 1), then from the average 3/4 to (1/2, 3/4): grad f is x/2."""
    run = curved_and_flat()
    assert q.loop_gradient_sq.on(run) == (fmpq(1, 4) + fmpq(9, 64)) / 2
    assert q.loop_consensus_error.on(run) == fmpq(1, 16)
    assert q.loop_second_moment.on(run) == 1
    assert q.loop_noise_deviation.on(run) == 0


def test_a_diverging_loop_raises() -> None:
    """A diverging loop raises an error in double precision, but not in rationals."""
    run = curved_and_flat(step="40", rounds=400).as_floats()
    with pytest.raises(Diverging, match="the loop diverges at iteration"):
        compute_loop_moments(run)


def test_statements_for_the_loop_by_hand() -> None:
    """Theorem 1: 25/128 against 2 (1/4)/(1/2 * 2) + 4 (1/4) 4; Lemma 1: 1/16 against 4 (1/4) 4."""
    run = curved_and_flat()
    assert sides("thm-1.loop", run) == (fmpq(25, 128), fmpq(9, 2), True)
    assert sides("lemma-1.loop", run) == (fmpq(1, 16), 4, True)


def test_the_loop_differs_from_fedavg_where_it_restarts() -> None:
    """FedAvg observes the third gradient at the average 5/8, the loop at each client's own iterate."""
    run = curved_and_flat(rounds=2)
    assert q.average_local_gradient_sq.on(run) != q.loop_gradient_sq.on(run)
    assert sides("prsgd", run)[2] is False


# Corollary 4 with explicit constants.


def tuned() -> Run:
    """Return N = 4 clients x^2/8 -+ x/8 in pairs, T = 64, K = 1: s = 1/4, L = 1/4 and f = x^2/8 from 4."""
    return quadratics([[["1/4"]]] * 4, [["1/8"], ["-1/8"]] * 2, [4], deviation=1, eta="1/4", rounds=64).engine


def test_explicit_constants_by_hand() -> None:
    """Gap 2, L = 1/4, sigma = 1, sigma_G = 1/8: 2 * 2 + 1/4 + (11/12)(1/16)(1 + 1/32) over sqrt(4 * 64) = 16."""
    run = tuned()
    assert (q.initial_gap.on(run), q.smoothness.on(run), q.mean_dissimilarity.on(run)) == (2, fmpq(1, 4), fmpq(1, 64))
    drift = fmpq(11, 12) * fmpq(1, 16) * (1 + fmpq(1, 32))
    assert sides("cor-4.explicit.sharp", run)[1:] == ((4 + fmpq(1, 4) + drift) / 16, True)
    assert sides("cor-4.K1.explicit.sharp", run)[1:] == ((4 + fmpq(1, 4)) / 16, True)


def test_explicit_constants_with_a_second_moment_by_hand() -> None:
    """Explicit constants are 4 G^2 L^2 + 9 L^2 sigma_G^2, with G the second moment on the ball of the run."""
    run = tuned()
    drift = (4 * q.second_moment.on(run) + 9 * fmpq(1, 64)) / 16
    for name in ("cor-4.explicit", "cor-4.explicit.T"):
        assert sides(name, run)[1:] == ((4 + fmpq(1, 4) + drift) / 16, True)
    assert sides("cor-4.K1.explicit", run)[1:] == ((4 + fmpq(1, 4)) / 16 + drift / 16, True)


def test_the_condition_of_the_corollary_does_not_give_that_of_theorem_3() -> None:
    """One client with L = s = K = T = 1 has T >= L^2 N, and 6 L s K = 6; N T >= (6 L)^4 excludes it."""
    run = quadratics([[["1"]]], [["0"]], [1], eta=1).engine
    assert not check(claim_of("cor-4.K.implied"), run).applicable
    assert not check(claim_of("cor-4.explicit"), run).applicable
    assert prove(claim_of("cor-4.K.implied")).verdict == "proved"


def test_largest_local_steps_are_the_largest() -> None:
    """Powers of two with K^4 N^3 <= T, and twice as many exceed it."""
    for clients, steps in zip(CLIENTS, MOST_LOCAL_STEPS, strict=True):
        assert steps**4 * clients**3 <= ITERATIONS < (2 * steps) ** 4 * clients**3


@pytest.mark.parametrize("most", [False, True])
def test_the_measured_error_falls_like_one_over_the_root_of_clients(most: bool) -> None:
    """The error has linear speed-up in N at the step size of Corollary 4, and is below the bound."""
    found = measure_errors(most_local_steps=most)
    assert fit_order(found) == pytest.approx(-0.5, abs=0.01)
    assert all(0 < one.error < one.bound for one in found)


def test_generalised_fedavg_keeps_the_speed_up_up_to_its_limit() -> None:
    """For K <= R/N the error is, up to a factor, a constant over sqrt(N K R)."""
    for curve in measure_curves():
        assert max(scale_errors(curve)) < 1.7 * min(scale_errors(curve))
    first, second = (
        dict(zip((n * curve.local_steps for n in curve.clients), scale_errors(curve), strict=False))
        for curve in measure_curves()[1:3]
    )
    shared = first.keys() & second.keys()
    assert max(shared) == ROUNDS
    for product in shared:
        assert first[product] == pytest.approx(second[product], rel=0.03)


@pytest.mark.parametrize(
    ("name", "chart"),
    [("cor-4.K", "speed-up"), ("cor-4.explicit", "speed-up"), ("cor-4.rounds", "two-sided"), ("thm-3", None)],
)
def test_charts_stand_on_their_pages(name: str, chart: str | None) -> None:
    """Each claim shows at most the chart that concerns it."""
    found = [exhibit.show(claim_of(name)) for exhibit in EXHIBITS if exhibit.suits(claim_of(name))]
    assert [chart.name for display in found for chart in display.charts] == ([chart] if chart else [])


# Remarks, margins and assumptions.


def test_local_steps_in_rounds_have_the_third_root() -> None:
    """With N = 2 and R = r^4 = 16: K = 1 has K^4 N^3 = 8, and R K = 16; with R = r^3 = 8 both are 8."""
    run = quadratics([[["1"]]] * 2, [["0"]] * 2, [1]).engine
    lhs, rhs, holds = sides("cor-4.rounds", run)
    assert holds is False
    assert lhs != rhs
    assert sides("cor-4.rounds.fixed", run)[2] is True
    assert claim_of("cor-4.rounds").fault == "misprint"


def test_the_second_moment_is_checked_and_not_only_the_variance() -> None:
    """F = x^2/2 from 2 without noise: sigma = 0, and |g| = 2 at the start, which is G."""
    run = quadratics([[["1"]]], [["0"]], [2], eta="1/2", rounds=2).engine
    assert sides("assumption-variance", run) == (0, 0, True)
    assert sides("assumption-variance", run, 1) == (4, 4, True)


def test_the_aggregation_of_fedavg_is_checked() -> None:
    """The two relations are the local step and the average of the participants' models."""
    assert len(claim_of("fedavg").relations) == 2
    run = quadratics(**LINE, deviation=1, steps=2).engine
    assert [sides("fedavg", run, link) for link in (0, 1)] == [(0, 0, True)] * 2


def test_only_published_formulas_are_called_published() -> None:
    """The figure of the ring is not called published, since the slides have no formula for it."""
    for name in ("architecture.rar", "cor-4.K.implied", "noniid.GB.B1", "cor-4.explicit"):
        assert claim_of(name).printed is None


def test_the_variance_is_what_a_mean_leaves_of_the_second_moment() -> None:
    """Gradients of F_1 = F_2 = x^2/2 at 1 with noise of variance 1 have the average's second moment 3/2 = 1/2 + 1."""
    run = quadratics([[["1"]]] * 2, [["0"]] * 2, [1], deviation=1).engine
    assert sides("eq-3.variance", run) == (fmpq(3, 2), fmpq(3, 2), True)


def test_sums_of_vectors_that_need_not_be_independent() -> None:
    """After a step of 1/2 the iterates are 1/2 and 1, the average 3/4: differences 1/4 and 0, so 1/16 against 2/16."""
    assert sides("eq-7.any-sum", curved_and_flat()) == (fmpq(1, 16), fmpq(1, 8), True)


def test_the_table_of_cross_device_federations_is_complete() -> None:
    """The table has all rows of Kairouz et al. for which the slide has numbers."""
    scale = cross_device()
    assert (scale.population, scale.devices_per_round) == ((10**6, 10**10), (50, 5000))
    assert (scale.participants, scale.rounds, scale.days) == ((10**5, 10**7), (500, 10000), (1, 10))


def test_a_known_upper_bound_serves_as_a_condition_only_where_it_holds() -> None:
    """The explicit Corollary 4 needs both of its conditions: without either the premise 6 L s K <= 1 fails."""
    claim = claim_of("cor-4.explicit.T")
    certificate = certificate_of(claim.id)
    assert isinstance(certificate, Combination)
    assert check_certificate(claim, certificate).verdict == "proved"
    for dropped in claim.conditions:
        left = [condition for condition in claim.conditions if condition != dropped]
        assert check_certificate(replace(claim, conditions=left), certificate).verdict == "broken"
    assert check_certificate(claim, replace(certificate, known=[])).verdict == "broken"

"""The proofs of Theorems 1 and 2 with asynchronous clients: counterexamples by hand, and implications."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from asynchronous_setups import PROOFS, Setup
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.frames import list_frames_at
from fedtheory.engine.run import Run
from fedtheory.federation import Full, Multinomial, Participation, Uniform, fedavg
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.clock import Asynchronous
from fedtheory.federation.participation import Fixed
from fedtheory.federation.problem import least_squares
from fedtheory.language import quantities as q
from fedtheory.language.quantities import client_spread, mean_square_gradient, round_gap, square_mean_gradient
from fedtheory.sources.fraboni2022.instances.asynchronous import make_one_of_two, make_rare_sample
from fedtheory.sources.fraboni2022.statements import (
    inequalities,
)
from verify.check import check

MODULES = (inequalities, *PROOFS)
CLAIMS = {claim.id.partition(":")[2]: claim for module in MODULES for claim in module.CLAIMS}


@dataclass(frozen=True)
class Samples:
    """One client with the samples x = 1 and x = 2 of the losses (x w)^2, from 1, mini-batches of one."""

    def run(self) -> Run:
        """Return the run in rationals."""
        data = ClientData((RATIONAL.array([[1], [2]]),), (RATIONAL.array([0, 0]),))
        problem = least_squares(data, RATIONAL.array([1]), batch=1)
        return Run(problem, fedavg(problem, rounds=1, local_step_size=fmpq(1, 100)))


@dataclass(frozen=True)
class RareSample:
    """One client with 40 samples, of which one has the loss (x w)^2 / 2 with x = 1 and the others zero."""

    def run(self) -> Run:
        """Return the run in rationals."""
        return make_rare_sample(40, 1)


OPPOSITE = Setup(minimisers=(1, -1), start=0)
"""Gradients -1 and 1, weights 1/2 each."""
ONE_OF_TWO = Setup(minimisers=(1, -1), start=0, local_steps=2, participation=Uniform(1))
"""Run of one of the two clients with two steps of 1/4: to 1/4 or -1/4, then to 7/16 or -7/16."""
OVERSHOOT = Setup(local_steps=2, server_step=20)
"""A run in which a client goes from 1 to 3/4, the virtual iterate to -4."""
SLOW = Setup(weights=["1/2"], variance=1)
"""A run with q(n) = 1/2: noise 1 at the optimum, of which Sigma has half."""
ALONE = Setup(weights=["2"], step_size="1/10000", policy=Asynchronous())
HEAVY = Setup(weights=["4"])
STALE = Setup(minimisers=(0, 0), weights=["1", "1/4"], step_size="1/1", rounds=2, policy=Asynchronous(), times=(2, 3))
"""A run in which the first client moves the server to the optimum, and the second reports from the start."""
COUNTEREXAMPLES = {
    # -(1/4 + 1/4) for the pair, and the gradients cancel.
    "lemma-1.remark": (OPPOSITE, "-1/2", "0"),
    "lemma-1.remark.alpha": (OPPOSITE, "0", "1/2"),
    # (49/256) / 2 against (1/16) beta S = (1/16) (25/32): D = 0 and R = 0.
    "lemma-2": (ONE_OF_TWO, "49/512", "25/512"),
    # 1/16 + (3/16)^2: theta^{0,1} goes the same way twice.
    "lemma-2.eq-57-58": (ONE_OF_TWO, "49/256", "25/256"),
    # From 1 to 3/4, against 1 + 2/4 + 1/16.
    "lemma-2.eq-59": (Setup(), "9/16", "25/16"),
    # (3/4 + 4)^2 / 2 against 4 D Z with D = 3/8, Z = (1 + 16)/4.
    "lemma-3.phi": (OVERSHOOT, "361/32", "51/8"),
    # The virtual iterate moves by 5, not by 1/4.
    "lemma-3.eq-63": (OVERSHOOT, "361/16", "0"),
    "lemma-3.eq-64-66": (OVERSHOOT, "361/16", "0"),
    # D phi + 2 D Z.
    "lemma-3.eq-70-71": (OVERSHOOT, "361/32", "1899/256"),
    # Curvatures 2 and 8: (4 + 64)/2 = 34, and 2 L Z = 2 * 5 * 5/2.
    "lemma-3.eq-67-68": (Samples(), "34", "25"),
    "lemma-5.steps": (Samples(), "204", "150"),
    # L = 1/20, and a draw in 40 has the gradient 2: R = S = 4/40, against 24 L Z = 24/20 times 1/40.
    "lemma-5": (RareSample(), "1/10", "3/100"),
    "lemma-6": (RareSample(), "5/2592", "1/864"),
    "lemma-6.steps": (RareSample(), "1/10", "3/100"),
    "thm-1.proof-86-90": (ONE_OF_TWO, "49/128", "25/128"),
    "thm-1.proof-86-90.86": (ONE_OF_TWO, "49/128", "25/128"),
    "eq-95-96": (SLOW, "1", "1/2"),
    # One report, so alpha = 0 and beta = 2.
    "A5.conditions": (ALONE, "2", "1"),
    # 4 / 4^2 times Z = 4/2.
    "eq-105": (HEAVY, "1", "1/2"),
}


@pytest.mark.parametrize("name", COUNTEREXAMPLES)
def test_a_counterexample_by_hand(name: str) -> None:
    """A run by hand refutes the published claim, with both sides in rationals."""
    setup, lhs, rhs = COUNTEREXAMPLES[name]
    found = check(CLAIMS[name], setup.run())
    assert found.holds is False
    worst = found.worst
    assert worst is not None
    assert (str(worst.lhs), str(worst.rhs)) == (lhs, rhs)


SELECTED = {
    "thm-1.proof-86-90.87": "decrease",
    "thm-1.proof-86-90.89": "gap",
    "thm-1.proof-86-90.90": "gap",
    "eq-93": "half gap",
    "eq-94": "half gap",
}


@pytest.mark.parametrize("name", SELECTED)
def test_a_selected_client_makes_all_its_steps_to_one_side(name: str) -> None:
    """One of two clients makes 64 steps of 1/4096 from the optimum 0: to +-64 (1 - (1 - 1/4096)^k) after k of them."""
    count, step, server = 64, fmpq(1, 4096), 64
    found = check(CLAIMS[name], make_one_of_two(count, 1, step, server))
    assert found.holds is False
    assert found.worst is not None
    squares = [(server * (1 - (1 - step) ** k)) ** 2 for k in range(count + 1)]
    mean_square = sum(squares[:-1], fmpq(0)) / count
    expected = {
        "decrease": squares[-1] / (count * server * step),
        "gap": mean_square,
        "half gap": mean_square / 2,
    }
    assert str(found.worst.lhs) == str(expected[SELECTED[name]])


def test_all_refuted_claims_have_a_counterexample_here() -> None:
    """Every refuted published claim has a counterexample here, or its own test."""
    elsewhere = {"lemma-3.S", "lemma-4", "eq-92", *SELECTED}
    assert {name for name, claim in CLAIMS.items() if claim.verdict == "refuted"} == set(COUNTEREXAMPLES) | elsewhere


@pytest.mark.parametrize("setup", [COUNTEREXAMPLES[name][0] for name in ("lemma-2", "lemma-3.phi", "eq-105")])
def test_the_repairs_hold_there(setup: Setup) -> None:
    """The corrections hold on the counterexamples of the published claims."""
    repairs = [claim for claim in CLAIMS.values() if claim.corrects or claim.id.endswith(".server-step")]
    outcomes = [check(claim, setup.run()).holds for claim in repairs]
    assert True in outcomes
    assert False not in outcomes


def stale(weight: str) -> Run:
    """Return the run STALE with another weight of the second client."""
    return replace(STALE, weights=["1", weight]).run()


def test_the_factor_q_of_lemma_3() -> None:
    """(61) bounds phi = 1 by 4 q(n) Q(n-1) = 4 q(n), which is 1/2 for a weight of 1/8."""
    found = check(CLAIMS["lemma-3.phi"], stale("1/8"))
    assert found.holds is False
    assert found.worst is not None
    assert (str(found.worst.lhs), str(found.worst.rhs)) == ("1", "1/2")
    assert check(CLAIMS["lemma-3.phi"], stale("1/4")).holds is True


def test_the_factor_q_of_the_second_moments() -> None:
    """(62) bounds S = 1 by 12 q(n) Q(n-1) = 12 q(n), which is 3/4 for a weight of 1/16."""
    found = check(CLAIMS["lemma-3.S"], stale("1/16"))
    assert found.holds is False
    assert found.worst is not None
    assert (str(found.worst.lhs), str(found.worst.rhs)) == ("1", "3/4")


def test_lemma_4_with_a_large_server_step() -> None:
    """(72) fails if the virtual iterate overshoots: -2 D = 2 against -2 Xi + 4 D Z with Xi = Z = 17/4, D = 3/8."""
    found = check(CLAIMS["lemma-4"], OVERSHOOT.run())
    assert found.holds is False
    assert found.worst is not None
    assert (str(found.worst.lhs), str(found.worst.rhs)) == ("2", "-17/8")


def test_the_virtual_iterate_is_a_sum_of_gradients() -> None:
    """The corrected (63) holds with the sums of all gradients of a sampled path, for stale models and eta_g = 20."""
    stale_and_noisy = replace(STALE, minimisers=(1, -1), variance=1, local_steps=3, step_size="1/64", rounds=5)
    run = replace(stale_and_noisy, server_step=20).run()
    size, total = fmpq(1, 64), None
    for frame in list_frames_at("path", run):
        if frame.index["step"] == 0:
            total = frame.constant(RATIONAL.zeros(2, 1))
        assert total is not None
        moved = frame.aggregate(total).scale(RATIONAL.array([-20 * size]))
        apart: Any = frame.virtual + (frame.server + moved).scale(RATIONAL.array([-1]))
        assert (apart.values == 0).all()
        own: Any = frame.local + (frame.received + total.scale(RATIONAL.array([-size]))).scale(RATIONAL.array([-1]))
        assert (own.values == 0).all()
        total = total + frame.gradient


def test_values_at_steps_have_the_means_of_the_updates() -> None:
    """f(n) is the average of f(n, k) over k."""
    setup = Setup(minimisers=(1, -1, 0), variance=1, local_steps=3, rounds=4, policy=Asynchronous(), times=(1, 2, 3))
    run = setup.run()
    shares = run.surrogate.shares[:, None, :]
    pairs = [
        ((q.stochastic_gradient_sq.measure(run) * shares).sum(axis=2, keepdims=True), mean_square_gradient),
        ((q.client_distance_sq.measure(run) * shares).sum(axis=2, keepdims=True), client_spread),
        (q.square_mean_gradient_at_step.measure(run), square_mean_gradient),
        (q.round_gap_at_step.measure(run), round_gap),
    ]
    for values, mean in pairs:
        assert (values.sum(axis=1, keepdims=True) == 3 * mean.measure(run)).all()


@pytest.mark.parametrize("law", [Full(), Uniform(1), Uniform(2), Multinomial(1), Multinomial(3), Fixed((0, 2))])
def test_squares_of_weights_by_enumeration(law: Participation) -> None:
    """Sums over all outcomes agree with the closed forms that the exact moments use."""
    run = Setup(minimisers=(1, 0, -1), participation=law).run()
    expected = law.moments(run.problem.weights).squares
    assert (q.expected_square_weight.measure(run) == expected).all()

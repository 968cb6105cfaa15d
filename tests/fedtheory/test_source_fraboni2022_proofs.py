"""The proofs of Theorems 1 and 2 with asynchronous clients: counterexamples by hand, and what follows from what."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
import sympy as sp
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.frames import frames_at
from fedtheory.engine.run import Run
from fedtheory.federation import Full, Multinomial, Participation, Uniform, fedavg
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.clock import Asynchronous, Clock, Policy, Synchronous
from fedtheory.federation.participation import Fixed
from fedtheory.federation.problem import least_squares, quadratic
from fedtheory.language import quantities as q
from fedtheory.language.quantities import client_spread, mean_square_gradient, round_gap, square_mean_gradient
from fedtheory.sources.fraboni2022.instances.asynchronous import one_of_two, rare_sample
from fedtheory.sources.fraboni2022.statements import (
    gradient_lemmas,
    inequalities,
    lemma_3,
    lemma_3_proof,
    lemma_4,
    step_size_conditions,
    theorem_1_bound,
    theorem_1_proof,
    theorem_2_proof,
    weights_lemmas,
)
from fedtheory.sources.fraboni2022.statements import notation as symbols
from verify.check import check

PROOFS = (
    weights_lemmas,
    lemma_3,
    lemma_3_proof,
    lemma_4,
    gradient_lemmas,
    theorem_1_proof,
    theorem_1_bound,
    step_size_conditions,
    theorem_2_proof,
)
MODULES = (inequalities, *PROOFS)
CLAIMS = {claim.id.partition(":")[2]: claim for module in MODULES for claim in module.CLAIMS}


@dataclass(frozen=True)
class Setup:
    """Clients (x - m_i)^2 / 2 in one dimension."""

    minimisers: Sequence[int] = (0,)
    start: int = 1
    weights: Sequence[str] | None = None
    variance: int = 0
    local_steps: int = 1
    step_size: str = "1/4"
    server_step: int = 1
    rounds: int = 1
    participation: Participation | None = None
    policy: Policy | None = None
    times: Sequence[int] | None = None

    def run(self) -> Run:
        """In rationals."""
        array, clients = RATIONAL.array, len(self.minimisers)
        problem = quadratic(
            array([[[1]]] * clients),
            array([[m] for m in self.minimisers]),
            array([self.start]),
            noise=array([self.variance] * clients),
        )
        times = tuple(fmpq(time) for time in self.times or [1] * clients)
        algorithm = fedavg(
            problem,
            rounds=self.rounds,
            local_step_size=fmpq(*map(int, self.step_size.split("/"))),
            local_steps=self.local_steps,
            server_step_size=fmpq(self.server_step),
            participation=self.participation or Full(),
            clock=Clock(self.policy or Synchronous(), times),
            aggregation=None if self.weights is None else array(list(self.weights)),
        )
        return Run(problem, algorithm)


@dataclass(frozen=True)
class Samples:
    """One client with the samples x = 1 and x = 2 of the losses (x w)^2, from 1, mini-batches of one."""

    def run(self) -> Run:
        """In rationals."""
        data = ClientData((RATIONAL.array([[1], [2]]),), (RATIONAL.array([0, 0]),))
        problem = least_squares(data, RATIONAL.array([1]), batch=1)
        return Run(problem, fedavg(problem, rounds=1, local_step_size=fmpq(1, 100)))


@dataclass(frozen=True)
class RareSample:
    """One client with 40 samples, of which one has the loss (x w)^2 / 2 with x = 1 and the others none."""

    def run(self) -> Run:
        """In rationals."""
        return rare_sample(40, 1)


OPPOSITE = Setup(minimisers=(1, -1), start=0)
"""Gradients -1 and 1, weights 1/2 each."""
ONE_OF_TWO = Setup(minimisers=(1, -1), start=0, local_steps=2, participation=Uniform(1))
"""One of them alone, two steps of 1/4: to 1/4 or -1/4, then to 7/16 or -7/16."""
OVERSHOOT = Setup(local_steps=2, server_step=20)
"""A client goes from 1 to 3/4, the virtual iterate to -4."""
SLOW = Setup(weights=["1/2"], variance=1)
"""q(n) = 1/2: noise 1 at the optimum, of which Sigma has half."""
ALONE = Setup(weights=["2"], step_size="1/10000", policy=Asynchronous())
HEAVY = Setup(weights=["4"])
STALE = Setup(minimisers=(0, 0), weights=["1", "1/4"], step_size="1/1", rounds=2, policy=Asynchronous(), times=(2, 3))
"""The first client takes the server to the optimum; the second one reports from the start."""
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
    """A run that a reader can follow refutes the print: the two sides, in rationals."""
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
    """One of two clients, 64 steps of 1/4096 from the optimum 0: to +-64 (1 - (1 - 1/4096)^k) after k of them."""
    count, step, server = 64, fmpq(1, 4096), 64
    found = check(CLAIMS[name], one_of_two(count, 1, step, server))
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


def test_all_refuted_prints_have_a_counterexample_here() -> None:
    """None is forgotten; some have a test of their own."""
    elsewhere = {"lemma-3.S", "lemma-4", "eq-92", *SELECTED}
    assert {name for name, claim in CLAIMS.items() if claim.verdict == "refuted"} == set(COUNTEREXAMPLES) | elsewhere


@pytest.mark.parametrize("setup", [COUNTEREXAMPLES[name][0] for name in ("lemma-2", "lemma-3.phi", "eq-105")])
def test_the_repairs_hold_there(setup: Setup) -> None:
    """No repair fails where the prints do."""
    repairs = [claim for claim in CLAIMS.values() if claim.corrects or claim.id.endswith(".server-step")]
    outcomes = [check(claim, setup.run()).holds for claim in repairs]
    assert True in outcomes
    assert False not in outcomes


def stale(weight: str) -> Run:
    """STALE with another weight of the second client."""
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
    """(72) fails where the virtual iterate overshoots: -2 D = 2 against -2 Xi + 4 D Z with Xi = Z = 17/4, D = 3/8."""
    found = check(CLAIMS["lemma-4"], OVERSHOOT.run())
    assert found.holds is False
    assert found.worst is not None
    assert (str(found.worst.lhs), str(found.worst.rhs)) == ("2", "-17/8")


def test_the_virtual_iterate_is_a_sum_of_gradients() -> None:
    """(63) as repaired, with the sums of all gradients of a sampled path, for stale models and eta_g = 20."""
    stale_and_noisy = replace(STALE, minimisers=(1, -1), variance=1, local_steps=3, step_size="1/64", rounds=5)
    run = replace(stale_and_noisy, server_step=20).run()
    size, total = fmpq(1, 64), None
    for frame in frames_at("path", run):
        if frame.index["step"] == 0:
            total = frame.constant(RATIONAL.zeros(2, 1))
        assert total is not None
        moved = frame.selected(total).scaled(RATIONAL.array([-20 * size]))
        apart: Any = frame.virtual + (frame.server + moved).scaled(RATIONAL.array([-1]))
        assert (apart.values == 0).all()
        own: Any = frame.local + (frame.received + total.scaled(RATIONAL.array([-size]))).scaled(RATIONAL.array([-1]))
        assert (own.values == 0).all()
        total = total + frame.gradient


def test_values_at_steps_have_the_means_of_the_updates() -> None:
    """f(n) is the mean of f(n, k)."""
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


def test_lemma_1_in_symbols() -> None:
    """(52)-(54) for three vectors on a line: diagonal terms, and alpha times the rest."""
    alpha = sp.Symbol("alpha")
    q, x, second = (sp.symbols(f"{name}1:4") for name in ("q", "x", "s"))
    gammas = [s - alpha * w**2 for s, w in zip(second, q, strict=True)]
    pairs = sum(q[i] * q[j] * x[i] * x[j] for i, j in itertools.permutations(range(3), 2))
    diagonal = sum(s * v**2 for s, v in zip(second, x, strict=True))
    mixed = sum(w * v for w, v in zip(q, x, strict=True)) ** 2
    claimed = sum(g * v**2 for g, v in zip(gammas, x, strict=True)) + alpha * mixed
    assert sp.expand(diagonal + alpha * pairs - claimed) == 0


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_sums_over_earlier_steps(steps: int) -> None:
    """The sums of (69) by plain loops over S(n, l), and their order, which S >= 0 gives."""
    run = Setup(minimisers=(1, 0, -1), local_steps=steps, rounds=2).run()
    spread = mean_square_gradient.measure(run)
    at_steps = q.past_mean_square_gradient.measure(run)
    assert at_steps.shape == (2, steps, 1)
    for n in range(2):
        x = [*(at_steps[n, k + 1, 0] - at_steps[n, k, 0] for k in range(steps - 1))]
        last = spread[n, 0, 0] * steps - sum(x, fmpq(0))
        past = [sum(x[:k], fmpq(0)) for k in range(steps)]
        assert at_steps[n, :, 0].tolist() == past
        chain = [
            sum((k * value for k, value in enumerate(past)), fmpq(0)),
            (steps - 1) * sum(past, fmpq(0)),
            (steps - 1) ** 2 * sum(x, fmpq(0)),
            (steps - 1) ** 2 * (sum(x, fmpq(0)) + last),
        ]
        measured = [
            q.weighted_past_sum.measure(run)[n, 0, 0],
            (steps - 1) * q.past_sum_of_sums.measure(run)[n, 0, 0],
            (steps - 1) ** 2 * q.sum_without_last.measure(run)[n, 0, 0],
            (steps - 1) ** 2 * steps * spread[n, 0, 0],
        ]
        assert measured == chain == sorted(chain)
    assert last > 0


def same(left: Any, right: Any) -> bool:
    """Whether two expressions are equal for all values."""
    return bool(sp.simplify(left - right) == 0)


def mean_of(expression: Any) -> Any:
    """The mean over the updates of an expression that is linear in what changes from update to update."""
    pairs = [
        (symbols.Z, symbols.Z_bar),
        (symbols.Xi, symbols.Xi_bar),
        (symbols.sigma_1, symbols.Sigma_1),
        (symbols.sigma_2, symbols.Sigma_2),
        (symbols.Q_past, symbols.tau * symbols.Q_bar),
    ]
    return expression.subs(pairs)


def test_lemma_6_follows_from_its_recursion() -> None:
    """Twice the mean of B(n) is the bound (82), and its repaired form; tau A is the left side of the condition."""
    assert same(2 * mean_of(gradient_lemmas.PRESENT), gradient_lemmas.mean_moves)
    assert same(2 * mean_of(gradient_lemmas.SERVER_STEP_PRESENT), gradient_lemmas.SERVER_STEP_MOVES)
    assert same(symbols.tau * gradient_lemmas.PAST_FACTOR, gradient_lemmas.SMALL_MOVES.lhs)


@pytest.mark.parametrize(
    ("one", "mean", "inserted", "moves"),
    [
        (theorem_1_proof.eq_87, theorem_1_proof.eq_89, theorem_1_proof.eq_90, gradient_lemmas.mean_moves),
        (
            theorem_1_proof.fixed_87,
            theorem_1_proof.fixed_89,
            theorem_1_proof.fixed_90,
            gradient_lemmas.SERVER_STEP_MOVES,
        ),
    ],
    ids=["printed", "repaired"],
)
def test_the_end_of_the_proof_of_theorem_1(one: Any, mean: Any, inserted: Any, moves: Any) -> None:
    """(89) is the mean of (87) with (88), and (90) is (89) with Lemma 6, term by term."""
    assert same(mean_of(one) + 2 * symbols.Xi_bar + theorem_1_proof.start, mean)
    assert same(mean.subs(symbols.Q_bar, moves), inserted)


def test_the_gap_is_solved_for() -> None:
    """(93) is (90) with (91), less the part that (92) leaves to the left side."""
    substituted = theorem_1_proof.eq_90.subs(symbols.Z_bar, symbols.Xi_bar + symbols.R_L)
    assert same(2 * symbols.Xi_bar - substituted, step_size_conditions.margin * symbols.Xi_bar - theorem_1_bound.eq_93)


a, b, c, weight_pairing, weight_excess, r = sp.symbols("a b c alpha beta r", nonnegative=True)
CORNERS = [dict(zip((a, b, c, weight_pairing), corner, strict=True)) for corner in itertools.product((0, 1), repeat=4)]


def in_shares(expression: Any) -> Any:
    """An expression with a, b and c for the three left sides of (97), and rho = 1 + r."""
    whole = sp.Symbol("rho", nonnegative=True)
    step = b / (144 * whole**2 * symbols.L)
    delay = c / (2304 * whole**3 * symbols.L**2)
    work = a / (48 * symbols.L**2)
    known = {
        symbols.eta_g: step / symbols.eta_l,
        symbols.tau: sp.sqrt(delay) / (step * symbols.K),
        symbols.alpha: weight_pairing,
        symbols.beta: weight_excess,
        symbols.rho: whole,
    }
    replaced = expression.subs(known).subs(symbols.eta_l, sp.sqrt(work) / (symbols.K - 1))
    return sp.simplify(sp.powdenest(replaced, force=True)).subs(whole, 1 + r)


@pytest.mark.parametrize("largest", [1, 1 + r], ids=["beta at most 1", "beta at most rho"])
def test_97_implies_the_conditions(largest: Any) -> None:
    """At the corners of 0 <= a, b, c, alpha <= 1 all slacks are quotients of polynomials in r >= 0 without minus.

    The slacks fall with a, b, c, alpha and beta, which have positive coefficients on the left sides.
    """
    for condition in step_size_conditions.LISTED:
        left, right = (in_shares(sp.sympify(side)) for side in (condition.lhs, condition.rhs))
        slack = (right - left if condition.rel_op == "<=" else left - right).subs(weight_excess, largest)
        for corner in CORNERS:
            numerator, denominator = sp.fraction(sp.together(sp.expand(slack.subs(corner))))
            assert all(coefficient >= 0 for coefficient in sp.Poly(numerator, r).coeffs())
            assert all(coefficient >= 0 for coefficient in sp.Poly(denominator, r).coeffs())


def test_97_leaves_nothing_of_92() -> None:
    """(92) is an equality where those of (97) are, for alpha = beta = rho = 1."""
    edge = in_shares(step_size_conditions.margin).subs({a: 1, b: 1, c: 1, weight_pairing: 1, weight_excess: 1, r: 0})
    assert edge == 1


def test_98_does_not_imply_92_for_sampled_clients() -> None:
    """One of 16 clients with importances 15/16 and 1/240: beta = 15, and 2 - 12 beta / 144 = 3/4."""
    clients, array = 16, RATIONAL.array
    importances = array([fmpq(15, 16), *[fmpq(1, 240)] * (clients - 1)])
    problem = quadratic(array([[[1]]] * clients), array([[0]] * clients), array([1]), weights=importances)
    run = Run(problem, fedavg(problem, rounds=1, local_step_size=fmpq(1, 144), participation=Uniform(1)))
    found = check(CLAIMS["eq-92"], run)
    assert found.holds is False
    assert found.worst is not None
    assert str(found.worst.lhs) == "3/4"


def test_98_implies_97() -> None:
    """The left sides of (97) at the step sizes of (98), each with the bound that serves it."""
    plain = 1 / (48 * symbols.K * symbols.L)
    shrunk = plain / (3 * symbols.rho**2 * symbols.eta_g * (symbols.tau + 1))
    first, second, third = (condition.lhs for condition in step_size_conditions.SUFFICIENT)
    count, delay = symbols.K, symbols.tau
    assert same(first.subs(symbols.eta_l, plain), (count - 1) ** 2 / (48 * count**2))
    assert same(second.subs(symbols.eta_l, shrunk), 1 / (count * (delay + 1)))
    assert same(third.subs(symbols.eta_l, shrunk), delay**2 / (9 * symbols.rho * (delay + 1) ** 2))

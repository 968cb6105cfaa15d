"""The proofs of Theorems 1 and 2 with asynchronous clients, in symbols: sums of steps, recursions, step sizes."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import sympy as sp
from asynchronous_setups import PROOFS, Setup
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.federation import Uniform, fedavg
from fedtheory.federation.problem import quadratic
from fedtheory.language import quantities as q
from fedtheory.language.quantities import mean_square_gradient
from fedtheory.sources.fraboni2022.statements import (
    gradient_lemmas,
    inequalities,
    step_size_conditions,
    theorem_1_bound,
    theorem_1_proof,
)
from fedtheory.sources.fraboni2022.statements import notation as symbols
from verify.check import check

MODULES = (inequalities, *PROOFS)
CLAIMS = {claim.id.partition(":")[2]: claim for module in MODULES for claim in module.CLAIMS}


def test_lemma_1_in_symbols() -> None:
    """(52)-(54) hold for three vectors in one dimension: diagonal terms, and alpha times the rest."""
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
    """The sums of (69) agree with plain loops over S(n, l), and are ordered for S >= 0."""
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
    """Return whether two expressions are equal for all values."""
    return bool(sp.simplify(left - right) == 0)


def mean_of(expression: Any) -> Any:
    """Return the average over updates of an expression that is linear in varying quantities."""
    pairs = [
        (symbols.Z, symbols.Z_bar),
        (symbols.Xi, symbols.Xi_bar),
        (symbols.sigma_1, symbols.Sigma_1),
        (symbols.sigma_2, symbols.Sigma_2),
        (symbols.Q_past, symbols.tau * symbols.Q_bar),
    ]
    return expression.subs(pairs)


def test_lemma_6_follows_from_its_recursion() -> None:
    """Twice the average of B(n) is the bound (82), and its corrected form; tau A is the left side of the condition."""
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
    """(89) is the average of (87) with (88), and (90) is (89) with Lemma 6, term by term."""
    assert same(mean_of(one) + 2 * symbols.Xi_bar + theorem_1_proof.start, mean)
    assert same(mean.subs(symbols.Q_bar, moves), inserted)


def test_the_gap_is_solved_for() -> None:
    """(93) is (90) with (91), less the part that (92) leaves to the left side."""
    substituted = theorem_1_proof.eq_90.subs(symbols.Z_bar, symbols.Xi_bar + symbols.R_L)
    assert same(2 * symbols.Xi_bar - substituted, step_size_conditions.margin * symbols.Xi_bar - theorem_1_bound.eq_93)


a, b, c, weight_pairing, weight_excess, r = sp.symbols("a b c alpha beta r", nonnegative=True)
CORNERS = [dict(zip((a, b, c, weight_pairing), corner, strict=True)) for corner in itertools.product((0, 1), repeat=4)]


def in_shares(expression: Any) -> Any:
    """Return an expression with a, b and c for the three left sides of (97), and rho = 1 + r."""
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


def test_97_makes_92_an_equality() -> None:
    """(92) is an equality if those of (97) are, for alpha = beta = rho = 1."""
    edge = in_shares(step_size_conditions.margin).subs({a: 1, b: 1, c: 1, weight_pairing: 1, weight_excess: 1, r: 0})
    assert edge == 1


def test_98_does_not_imply_92_for_sampled_clients() -> None:
    """One of 16 clients with client weights 15/16 and 1/240: beta = 15, and 2 - 12 beta / 144 = 3/4."""
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

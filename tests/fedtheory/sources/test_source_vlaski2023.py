"""Federated averaging with sampled agents: facts behind the claims, and counterexamples by hand."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
from flint import fmpq

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.frames import iterate_round_frames
from fedtheory.engine.run import Run
from fedtheory.federation import Uniform, fedavg
from fedtheory.federation.client_data import ClientData
from fedtheory.federation.problem import Problem, least_squares, quadratic
from fedtheory.kernel.expressions import Average, Expectation, Expr, LocalSum, norm_sq
from fedtheory.language.claim import Claim, Place
from fedtheory.language.evaluation import Site, compile_expression
from fedtheory.language.quantities import Quantity, leading_limiting_distance_sq, limiting_distance_sq, small_step_bias
from fedtheory.language.registry import claims_of, find
from fedtheory.sources.vlaski2023.statements.notation import (
    NOTATION,
    E_k,
    batch_gradient,
    g,
    grad,
    grad_k,
    mu_k,
    step,
)
from verify.check import check

mu, nu, h, excess, beta = sp.symbols("mu nu h excess beta", positive=True)


@dataclass(frozen=True)
class Setup:
    """Agents h_k/2 (w - m_k)^2 in one dimension without noise, of which L are sampled."""

    curvatures: Sequence[int] = (1, 1)
    minimisers: Sequence[int] = (1, -1)
    steps: tuple[int, ...] = (1, 1)
    sizes: Sequence[str] = ("1/2", "1/2")
    selected: int = 1
    start: int = 0

    def run(self) -> Run:
        """Return one round in rationals."""
        array = RATIONAL.array
        problem = quadratic(
            array([[[c]] for c in self.curvatures]),
            array([[c * m] for c, m in zip(self.curvatures, self.minimisers, strict=True)]),
            array([self.start]),
        )
        return one_round(problem, self.steps, self.sizes, self.selected)


def one_round(problem: Problem, steps: tuple[int, ...], sizes: Sequence[Any], selected: int) -> Run:
    """Return one round of federated averaging with sampled agents."""
    law, local = Uniform(selected), RATIONAL.array(list(sizes))
    return Run(problem, fedavg(problem, rounds=1, local_step_size=local, local_steps=steps, participation=law))


def first_round(expression: Expr, run: Run, where: Mapping[sp.Symbol, Quantity] = NOTATION) -> Any:
    """Return the value of an expression in the chapter's notation over a round from the run's start."""
    frame = next(iterate_round_frames(run))
    return compile_expression(expression, where)(Site(run, frame, frame.index, {}, {})).item()


SHARED = Setup(minimisers=(0, 0), steps=(2, 2), start=1)
"""Two equal agents, mu = 1 and mu_k = 1/2: a round leads from 1 to 1/4 by way of 1/2."""
OVERSHOOT = Setup(minimisers=(0, 0), steps=(2, 2), sizes=("3", "3"), selected=2, start=1)
"""mu = 6 and mu_k = 3: a round leads from 1 to 4 by way of -2."""
ONE_STEP = Setup(minimisers=(0, 0), sizes=("1/4", "1/4"), selected=2, start=1)
"""mu = 1/4, all agents, one step each: from 1 to 3/4."""
COUNTEREXAMPLES = {
    # d_{k,i} = (1/2)((-2) - 1) = -3/2, d_i = 6 d_{k,i} = -9, and mu d_i = -54: off by 45.
    "eq-5.21": (OVERSHOOT, "2025", "0"),
    "eq-5.25.participation-mean": (SHARED, "1/2", "2"),
    # Gradients 9 and -3 at 0, two steps each: E d_i = -(mu^2/8) sum_k h_k grad J_k = 0, and grad J = 3.
    "claim.di-biased": (Setup((1, 3), (-9, 1), (2, 2), ("1/4", "1/4")), "0", "0"),
    # No noise, L = K: (b) is 0, and the member behind (c) is 2 delta_k^2 |w_k^o - w|^2 / L = 1.
    "eq-5.38.steps-a-d": (ONE_STEP, "0", "1"),
    # One of two is sampled, d_{k,i} = (1/2)(1/2 - 1) = -1/4: its square, not half of half of it.
    "eq-5.41": (SHARED, "1/16", "1/64"),
    # From 1 to 1/2, squared; lambda_k = 1 - 2/2 + (1/4)/4 = 1/16.
    "eq-5.49": (SHARED, "1/4", "1/16"),
    # From 1 to -2, with lambda_k = 1 - 6 + 9/4 < 1.
    "eq-5.51": (OVERSHOOT, "4", "1"),
    # From the mean 1/4 after a round the first step leads to 1/8; no square on the left.
    "eq-5.52": (SHARED, "1/8", "1/16"),
    "eq-5.53": (OVERSHOOT, "9/4", "1"),
    # mu^2 (L/K^2) sum_k |d_{k,i}|^2 = (1/4)(2/16).
    "eq-5.54": (SHARED, "1/16", "1/32"),
    # mu = 6: the error -4 of the next model is (-1) + 6 - 9, and with mu d_i it would be (-1) + 6 - 54.
    "eq-5.58": (OVERSHOOT, "16", "2401"),
    # lambda / alpha = 2 (9/16), an upper bound.
    "eq-5.61": (ONE_STEP, "9/16", "9/8"),
    # mu = 1/4: 1 - sqrt(lambda) = 1/4 and 1 - lambda = 7/16.
    "eq-5.64": (ONE_STEP, "1/4", "1/7"),
    # nu = 2: mu = 1/2 is below nu/2, and lambda = (1 - mu nu)^2 = 0.
    "eq-5.65.step-condition": (Setup((2, 2), (0, 0), selected=2, start=1), "0", "1/4"),
}


@pytest.mark.parametrize("name", COUNTEREXAMPLES)
def test_a_counterexample_by_hand(name: str) -> None:
    """A run by hand refutes the published claim, with both sides in rationals."""
    setup, lhs, rhs = COUNTEREXAMPLES[name]
    found = check(find(f"vlaski2023:{name}"), setup.run())
    assert found.holds is False
    worst = found.worst
    assert worst is not None
    assert (str(worst.lhs), str(worst.rhs)) == (lhs, rhs)


LITERALLY: dict[str, tuple[Setup, Expr]] = {
    # Linear terms 1, -1 and 0 with 1, 1 and 2 steps: sum_k E_k J_k and sum_k J_k have the same minimiser 0.
    "claim.common-step-bias": (Setup((1, 1, 1), (1, -1, 0), (1, 1, 2), ("1/2",) * 3), small_step_bias.symbol),
    # Local models 1, -2 and 4: the average of their gradients is 1, the gradient at the first.
    "eq-5.13": (
        Setup(minimisers=(0, 0), steps=(3, 3), sizes=("3", "3"), selected=2, start=1),
        Expectation(norm_sq(LocalSum(g) / E_k - batch_gradient)),
    ),
    # Two agents with the same gradient; at mu = 1 the factors mu_k E_k / mu are 1/2 and 3/2, with the average one.
    "eq-5.26.only-if": (
        Setup(minimisers=(0, 0), steps=(1, 3), start=1),
        norm_sq(Average(mu_k * E_k * grad_k) - grad),
    ),
}


@pytest.mark.parametrize("name", LITERALLY)
def test_an_exception_to_a_literal_reading(name: str) -> None:
    """On the run of the claim's note the value that is said to be non-zero is zero."""
    setup, difference = LITERALLY[name]
    where = {**NOTATION, small_step_bias.symbol: small_step_bias}
    place: Place = "run" if difference.is_Symbol else "round"
    literal = Claim(id="mine:literal", lhs=difference, relation=">", rhs=0, where=where, place=place)
    found = check(literal, setup.run())
    assert found.holds is False
    assert found.worst is not None
    assert found.worst.lhs == 0


def test_other_factors_show_on_some_gradients() -> None:
    """Factors 1/2 and 3/2 at mu = 1, gradients -1/2 v and 1/2 v: both sides of (c) differ by v/4, at v = 1."""
    setup = Setup(minimisers=(0, 0), steps=(1, 3), start=1)
    published = find("vlaski2023:eq-5.26.only-if")
    found = check(replace(published, also=(), for_all={step: (sp.S.One,)}), setup.run())
    assert found.holds is True
    assert found.worst is not None
    assert (str(found.worst.lhs), str(found.worst.rhs)) == ("1/16", "1/16")


def test_the_recursion_with_one_index() -> None:
    """(5.55) as printed: mu (1 - mu)^2 is not at most 2 mu^3 times a constant, from a start at distance one."""
    found = check(find("vlaski2023:thm-5.1.recursion"), ONE_STEP.run())
    assert found.holds is False
    assert found.rate is not None
    after = RATIONAL.number("9/16", "after")
    assert abs(float(found.rate.levels[0].measured) - float(after / 4 / (1 + after))) < 1e-12


def samples(batch: int | None = None) -> Problem:
    """Return two agents with two samples each, least squares in one dimension from 0."""
    inputs = (RATIONAL.array([[1], [2]]), RATIONAL.array([[1], [-1]]))
    outputs = (RATIONAL.array([1, 1]), RATIONAL.array([1, 0]))
    return least_squares(ClientData(inputs, outputs), RATIONAL.array([0]), batch=batch)


def test_the_lms_gradient_lacks_a_factor_two() -> None:
    """(5.45) at 0 is half of grad J = -2 E h gamma: <half - whole, whole> = -|whole|^2 / 2."""
    found = check(find("vlaski2023:eq-5.44-5.45"), one_round(samples(), (1, 1), ("1/8", "1/8"), 2))
    assert found.holds is False
    worst = found.worst
    assert worst is not None
    # E h gamma is 3/2 for the first agent, 1/2 for the second.
    assert str(worst.lhs) in {"-9/2", "-1/2"}


def test_all_refuted_claims_have_a_counterexample_here() -> None:
    """Every refuted published claim has a counterexample here."""
    elsewhere = {"thm-5.1.recursion", "eq-5.44-5.45"}
    refuted = {claim.id.partition(":")[2] for claim in claims_of("vlaski2023") if claim.verdict == "refuted"}
    assert refuted == elsewhere | set(COUNTEREXAMPLES)


def test_problem_5_3_by_hand() -> None:
    """mu/2 tr(H^-1 R) from data statistics in one dimension is the limit of the exact error."""
    number = RATIONAL.number
    agents, selected, steps = 2, 1, (1, 2)
    pairs = [[(1, 1), (2, 1)], [(1, 1), (-1, 0)]]
    curvatures = [number(sum(x * x for x, _ in rows), "h") / 2 for rows in pairs]
    moments = [number(sum(x * y for x, y in rows), "r") / 2 for rows in pairs]
    optimum = sum(moments) / sum(curvatures)
    pulls = [c * optimum - r for c, r in zip(curvatures, moments, strict=True)]
    noises = [
        sum((x * (y - x * optimum) + pull) ** 2 for x, y in rows) / 2 for rows, pull in zip(pairs, pulls, strict=True)
    ]
    drawn = sum(c / e for c, e in zip(noises, steps, strict=True)) / (agents * selected)
    chosen = sum(u * u for u in pulls) * (agents - selected) / (agents * selected * (agents - 1))
    leading = (drawn + chosen) / (2 * sum(curvatures) / agents)
    for size in ("1/100", "1/1000"):
        # Our gradients are those of the squared error: half the step size.
        step = number(size, "mu")
        run = one_round(samples(batch=1), steps, [step / 2 / e for e in steps], selected)
        assert leading_limiting_distance_sq.measure(run) == step * leading
        assert abs(limiting_distance_sq.measure(run) - step * leading) < 20 * step**2


@pytest.mark.parametrize(("agents", "selected"), [(2, 1), (3, 2), (4, 2), (4, 3)])
def test_lemma_5_1_over_all_subsets(agents: int, selected: int) -> None:
    """Lemma 5.1 for fixed numbers is their variance over all subsets: a_k = k^2, without fluctuation."""
    numbers = [Fraction(k * k) for k in range(agents)]
    mean = sum(numbers) / agents
    subsets = list(itertools.combinations(numbers, selected))
    drawn = sum((sum(subset) / selected - mean) ** 2 for subset in subsets) / len(subsets)
    spread = sum((number - mean) ** 2 for number in numbers) / agents
    claim = find("vlaski2023:lemma-5.1")
    names = {quantity.name: symbol for symbol, quantity in claim.where.items()}
    # The term about the means of the agents is the one that full participation removes.
    (of_means,) = (term for term in claim.rhs.args if term.subs(names["participants"], names["clients"]) == 0)
    factor = sp.prod(part for part in of_means.args if not part.has(Average))
    values = {names["clients"]: agents, names["participants"]: selected}
    assert factor.subs(values) == sp.Rational(drawn.numerator, drawn.denominator) / sp.Rational(
        spread.numerator, spread.denominator
    )


def test_lemma_5_1_for_chosen_variables() -> None:
    """Three variables in the plane with two, one and three values, two of them sampled, by all outcomes."""
    number = RATIONAL.number
    values = [[(1, 0), (3, 2)], [(-1, 4)], [(0, 0), (2, -1), (4, 4)]]
    means = [[sum(v[j] for v in of) / number(len(of), "n") for j in range(2)] for of in values]
    overall = [sum(mean[j] for mean in means) / 3 for j in range(2)]
    noise = [
        sum(sum((v[j] - mean[j]) ** 2 for j in range(2)) for v in of) / len(of)
        for of, mean in zip(values, means, strict=True)
    ]
    apart = [sum((overall[j] - mean[j]) ** 2 for j in range(2)) for mean in means]
    expected = sum(noise) / (3 * 2) + sum(apart) / (3 * 2) * (3 - 2) / (3 - 1)
    outcomes = [
        sum(((a[j] + b[j]) / number(2, "two") - overall[j]) ** 2 for j in range(2)) / (3 * len(left) * len(right))
        for left, right in itertools.combinations(values, 2)
        for a, b in itertools.product(left, right)
    ]
    assert sum(outcomes) == expected
    # psi_{k,i} = h for a sample (h, 1) of least squares, one step of size 1/2 from 0.
    data = ClientData(
        tuple(RATIONAL.array([list(v) for v in of]) for of in values),
        tuple(RATIONAL.array([1] * len(of)) for of in values),
    )
    problem = least_squares(data, RATIONAL.array([0, 0]), batch=1)
    run = one_round(problem, (1, 1, 1), ("1/2", "1/2", "1/2"), 2)
    (relation, unbiased, _) = find("vlaski2023:lemma-5.1").relations
    assert [first_round(side, run) for side in relation.sides] == [expected, expected]
    assert first_round(unbiased.left, run) == 0


def test_the_variances_of_both_updates() -> None:
    """Gradients 1 and -1 at 0 without noise, mu = 1/2: all agents move the model to 0, one of them to -1/2 or 1/2."""
    sides = find("vlaski2023:eq-5.7.variances").chain[::2]
    values = [first_round(side.subs(step, sp.Rational(1, 2)), Setup().run()) for side in sides]
    assert [str(value) for value in values] == ["0", "0", "1/4", "1/4"]


def test_mean_square_smoothness_by_hand() -> None:
    """Samples (1, 0) and (1, 1) with outputs 1 and 0: one step of size 1/4 from 0 leads to (1/2, 0) or stays at 0.

    E|h|^2 h h' has 3/2 at the first place, so that half of (1/4)(3/2) is the expectation; E|h|^4 = 5/2.
    """
    data = ClientData((RATIONAL.array([[1, 0], [1, 1]]),), (RATIONAL.array([1, 0]),))
    run = one_round(least_squares(data, RATIONAL.array([0, 0]), batch=1), (2,), ("1/4",), 1)
    claimed = find("vlaski2023:eq-5.46")
    equation, bound, _ = claimed.relations
    sides = (equation.left, equation.right, bound.right)
    values = [first_round(Average(LocalSum(side)), run, claimed.where) for side in sides]
    assert [str(value) for value in values] == ["3/16", "3/16", "5/16"]


def test_the_error_after_a_round_by_hand() -> None:
    """From 1 to 3/4 at mu = 1/4 and nu = 1: 9/16 is at most 1 - mu nu = 3/4, the bound of both small-step claims."""
    recursion, limit = find("vlaski2023:thm-5.1.recursion.small-steps"), find("vlaski2023:thm-5.1.limit.explicit")
    for claimed in (recursion, limit):
        found = check(claimed, ONE_STEP.run())
        assert found.holds is True
        first = found.comparisons[0]
        assert (str(first.lhs), str(first.rhs)) == ("9/16", "3/4")
    # (1 + mu nu/2) lambda + (2/3) mu^4 (1 + 2/(mu nu)) = (9/8)(9/16) + (2/3)(9/256) against 3/4.
    (small,) = [condition for condition in found.conditions if condition.latex.count("nu") > 2]
    assert small.slack == sp.Rational(3, 4) - sp.Rational(81, 128) - sp.Rational(6, 256)


@pytest.mark.parametrize(("steps", "remainder"), [(1, "0"), (2, "0"), (3, "1/27"), (4, "15/256")])
def test_the_leading_bias_of_local_steps(steps: int, remainder: str) -> None:
    """E d_k = -mu (E - 1)/(2 E) h grad J_k + O(mu^2), without remainder for two steps.

    With h = 1, mu = 1, and so a = 1/E: the mean of (1 - a)^e - 1 over e < E is -(E - 1)/(2 E) and what is left over,
    a^2/3 for three steps and a^2 - a^3/4 for four.
    """
    array = RATIONAL.array
    problem = quadratic(array([[[1]]]), array([[0]]), array([1]))
    run = Run(problem, fedavg(problem, rounds=1, local_step_size=fmpq(1, steps), local_steps=steps))
    moved = run.trajectory.server_mean[1][0] - 1
    assert -moved - 1 == -fmpq(steps - 1, 2 * steps) + RATIONAL.number(remainder, "remainder")

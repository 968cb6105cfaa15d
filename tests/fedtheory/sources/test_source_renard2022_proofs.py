"""Renard 2022, proof steps and misprints: small runs by hand, and statements that certificates do not prove."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from flint import fmpq
from sympy import Symbol
from tiny_runs import quadratics

from fedtheory.arithmetic import RATIONAL
from fedtheory.engine.run import Run
from fedtheory.kernel.expressions import Average, Expectation, Value, inner
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Rate, Relation
from fedtheory.language.registry import find
from fedtheory.proofs import check_certificate, prove
from fedtheory.proofs.certificate import Certificate
from fedtheory.proofs.certificates_of_papers import certificate_of
from fedtheory.runfile import parse_run
from fedtheory.sources.renard2022.statements.lemma_2_2_noise import noise_at_optimum
from fedtheory.sources.renard2022.statements.notation import (
    D,
    F_i,
    L,
    deviation,
    eta,
    g_i,
    lam,
    round_error,
    tau,
    x,
    x_i,
    x_i_end,
    x_star,
    x_t,
    x_t_next,
    xbar_next,
    y,
)
from verify.check import check
from verify.counterexamples import find_counterexample, refutes


def half_square(deviation: int = 0, start: int = 1, rounds: int = 1) -> Run:
    """Return one client with F = x^2/2 and gradient noise of this variance; steps of 1/4."""
    return quadratics([[["1"]]], [[0]], [start], deviation=deviation, rounds=rounds).engine


def sides(name: str | Claim, run: Run, link: int = 0) -> tuple[object, object]:
    """Return both sides of one link at its worst place."""
    found = check(find(f"renard2022:{name}") if isinstance(name, str) else name, run)
    assert found.applicable, found.reason
    return found.comparisons[link].lhs, found.comparisons[link].rhs


def test_the_squares_of_one_step_by_hand() -> None:
    """The step goes from 1 to 3/4: gap 9/32, squares 2 (1 - 1/16 - 9/16), and L times the squared move 1/16."""
    for name in ("lemma-2.2.proof.squares.fixed", "lemma-2.2.proof.expected"):
        assert sides(name, half_square()) == (fmpq(9, 32), fmpq(3, 4) + fmpq(1, 16))


def test_the_expected_gap_by_hand() -> None:
    """With noise of variance 1: E x^2 = 10/16, squared move 1/8, and the deviation's term is eta = 1/4."""
    expected = 2 * (1 - fmpq(1, 8) - fmpq(10, 16)) + fmpq(1, 4) + fmpq(1, 8)
    assert sides("lemma-2.2.proof.expected", half_square(1)) == (fmpq(5, 16), expected)


def test_the_lost_nabla_by_hand() -> None:
    """F = x^2 - 8x from 0 with steps of 1/8: the gap 9 at 1 exceeds 0 + 2; the gradient -8 instead of F = 0 adds 24."""
    run = quadratics([[["2"]]], [[8]], [0], eta="1/8").engine
    for name in ("noise-split", "squares"):
        assert sides(f"lemma-2.2.proof.{name}", run) == (9, 2)
    assert sides("lemma-2.2.proof.noise-split.fixed", run) == (9, 26)


def test_the_deviation_has_expectation_zero_by_hand() -> None:
    """The deviation has expectation zero against fixed points and the present iterate; against the next one eta =
    1/4.
    """
    fixed, run = find("renard2022:eq-9.fixed"), half_square(1)
    assert [sides(fixed, run, link) for link in range(3)] == [(0, 0)] * 3
    later = Relation(Expectation(inner(deviation, xbar_next - x_star)), "==", 0)
    false = replace(fixed, also=(fixed.also[0], later))
    assert sides(false, run, 2) == (fmpq(1, 4), 0)
    certificate = certificate_of(fixed.id)
    assert certificate is not None
    assert check_certificate(false, certificate).verdict != "proved"


def test_the_marked_condition_by_hand() -> None:
    """At eta = L = 1 both differences are -3/4, and 1 is more than 1/(4L) though 1/(2 eta) + L is positive."""
    run = quadratics([[["1"]]], [[0]], [1], eta="1").engine
    assert sides("lemma-2.2.proof.mark.fixed", run) == (fmpq(-3, 4), fmpq(-3, 4))
    assert sides("lemma-2.2.proof.mark", run) == (1, fmpq(1, 4))


MISPRINTS = {
    "lemma-2.2": ((fmpq(1, 16), 0), (fmpq(1, 16), fmpq(31, 2))),
    "thm-2.1.proof.split": ((fmpq(1, 16), 0), (fmpq(1, 16), fmpq(31, 2))),
    "thm-2.1.proof.assemble": ((5, 2), (2, 2)),
}


@pytest.mark.parametrize(("name", "expected"), MISPRINTS.items(), ids=MISPRINTS)
def test_a_lost_factor_is_a_misprint(name: str, expected: Any) -> None:
    """The two clients end step 1 at 1 and -1, step 2 at 7/4 and -2: drift 1/2, which L = 32 makes 16."""
    printed, fixed = find(f"renard2022:{name}"), find(f"renard2022:{name}.fixed")
    assert printed.fault == "misprint"
    assert prove(fixed).verdict == "proved"
    table = find_counterexample(printed)
    assert table is not None
    assert refutes(printed, table)
    run = parse_run(table, RATIONAL)
    assert (sides(printed, run), sides(fixed, run)) == expected


@pytest.mark.parametrize("name", ["triangle", "young", "regroup", "drop", "last", "noise-split", "squares"])
def test_stored_runs_have_the_step_size_of_the_lemma(name: str) -> None:
    """The stored run refutes a proof step with eta <= 1/(4L), where the lemma applies."""
    printed = find(f"renard2022:lemma-2.2.proof.{name}")
    table = find_counterexample(printed)
    assert table is not None
    assert refutes(printed, table)
    run = parse_run(table, RATIONAL)
    assert 4 * q.smoothness.measure(run) * q.local_step_size.measure(run) <= 1


def test_the_progress_term_by_hand() -> None:
    """One round from 1 to 3/4: (1 - 9/16) / (2/4) = 7/8, at most D^2/(2 eta) = 2."""
    assert sides(find("renard2022:thm-2.1.proof.star"), half_square()) == (fmpq(7, 8), 2)


def test_the_error_of_a_round_is_not_of_order_one_over_tau() -> None:
    """From the optimum with noise the error is positive and D = 0; the rate holds only without the noise term."""
    goal, run = find("renard2022:lemma-2.2.goal"), half_square(1, start=0)
    assert check(goal, run).holds is True
    steps = Symbol("N", positive=True)
    rate = Rate(round_error, 1 / tau, steps, local_steps=steps, constant=D**2 / (2 * eta))
    literal = replace(goal, kind="rate", lhs=None, rhs=None, rate=rate, where={**goal.where, steps: q.iterations})
    assert check(literal, run).holds is False


def test_a_round_of_algorithm_1() -> None:
    """From 1, F_1 = x^2/2 - 2x and F_2 = 3x^2/2 + 2x end at 23/16 and -9/16: the server adds the average change."""
    run = quadratics([[["1"]], [["3"]]], [[2], [-2]], [1], steps=2).engine
    algorithm = find("renard2022:algorithm-1")
    assert check(algorithm, run).holds is True
    half = Relation(inner(x_t_next - x_t - Average(x_i_end - x_t) / 2, x_t_next - x_t), "==", 0)
    assert sides(replace(algorithm, also=(half,)), run, 1) == (fmpq(9, 16) ** 2 / 2, 0)


def test_the_converse_needs_no_convexity() -> None:
    """The converse is an identity whose certificate uses no inequality."""
    converse = find("renard2022:property-2.2.converse")
    certificate = certificate_of(converse.id)
    assert converse.assumptions == ()
    assert isinstance(certificate, Certificate)
    assert certificate.links == [[]]
    left, right = sides(converse, half_square())
    assert left == right
    false = replace(converse, rhs=lam * Value(F_i, x) + (1 - lam) * Value(F_i, y))
    assert check_certificate(false, certificate).verdict != "proved"


EXPECTED, SQUARES, SPLIT, MARK = (
    find(f"renard2022:lemma-2.2.proof.{name}")
    for name in ("expected", "squares.fixed", "noise-split.fixed", "mark.fixed")
)
MOVE = Expectation(inner(xbar_next - x_i, xbar_next - x_i))
FALSE: dict[str, tuple[Claim, dict[str, Any]]] = {
    "expected without noise": (EXPECTED, {"rhs": EXPECTED.rhs - Expectation(noise_at_optimum)}),
    "expected with less": (EXPECTED, {"rhs": EXPECTED.rhs - L * MOVE}),
    "squares without noise": (SQUARES, {"rhs": SQUARES.rhs - noise_at_optimum}),
    "split with stochastic gradients only": (
        SPLIT,
        {"chain": (*SPLIT.chain[:4], SPLIT.chain[4] - Average(inner(g_i, xbar_next - x_star)))},
    ),
    "mark at twice the step": (MARK, {"rhs": L / eta * (1 / (2 * L) - eta)}),
}


@pytest.mark.parametrize(("claim", "change"), FALSE.values(), ids=FALSE)
def test_no_false_step_is_proved(claim: Claim, change: dict[str, Any]) -> None:
    """The recorded certificate proves the claim, and no changed one."""
    certificate = certificate_of(claim.id)
    assert certificate is not None
    assert check_certificate(claim, certificate).verdict == "proved"
    assert check_certificate(replace(claim, **change), certificate).verdict != "proved"

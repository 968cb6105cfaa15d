"""Gradients with common random numbers at several points, and expectations of vectors, by enumeration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

from fedtheory import quantity
from fedtheory.engine.frames import expect_inner_product, iterate_round_frames, iterate_step_frames, sample_at
from fedtheory.engine.run import Run
from fedtheory.errors import Misplaced, NotApplicable
from fedtheory.kernel import Rejected
from fedtheory.kernel.admitted import HEADS
from fedtheory.kernel.expressions import (
    Average,
    ClientSum,
    Expectation,
    Gradient,
    SampledGradient,
    has_plain_vectors,
    norm_sq,
)
from fedtheory.language import quantities as q
from fedtheory.language.quantities.measuring.symbols import (
    CLIENT_OBJECTIVE,
    LOCAL,
    NEXT_VIRTUAL,
    OPTIMUM,
    SERVER,
    define_by,
    square,
)
from fedtheory.language.quantities.measuring.terms import compile_term, define
from fedtheory.language.term_relations import find_by_term
from fedtheory.proofs.numbers import SymbolTable
from fedtheory.sources.fraboni2022.context.terms import define_in_vectors
from fedtheory.sources.fraboni2022.quantities.vectors import SAMPLE_AT_LOCAL, define_at_each_step
from verify.instances import Instance

AT_LOCAL, AT_SERVER = SampledGradient(CLIENT_OBJECTIVE, LOCAL), SampledGradient(CLIENT_OBJECTIVE, SERVER)
DRAWN = (("short rounds on data", 3), ("short rounds, unequal shares", 0))
"""Runs with random curvatures and few outcomes per round."""


def _value(run: Run, expression: Any) -> Any:
    """Return values at the local steps of the first round, which starts at a known model."""
    return compile_term(define_by(expression))(run)[0]


@pytest.mark.parametrize(("family", "number"), DRAWN)
def test_differences_of_one_draw_are_those_of_all_outcomes(family: str, number: int) -> None:
    """Values at a client's iterate and at the round's model, their differences, and averages agree."""
    run = Instance(family, number).run()
    frame = next(iter(iterate_round_frames(run)))
    assert frame.index == {"round from": "start"}
    local, server = frame.gradient.values, frame.gradient_at_server.values
    weights = run.problem.weights[:, None]
    by_hand = {
        square(AT_LOCAL): (local**2).sum(axis=-1),
        square(AT_SERVER): (server**2).sum(axis=-1),
        square(AT_LOCAL - AT_SERVER): ((local - server) ** 2).sum(axis=-1),
        square(2 * AT_LOCAL + AT_SERVER): ((2 * local + server) ** 2).sum(axis=-1),
        square(Average(AT_LOCAL - AT_SERVER)): (((local - server) * weights).sum(axis=-2, keepdims=True) ** 2).sum(-1),
        square(AT_LOCAL - Average(AT_SERVER)): ((local - (server * weights).sum(axis=-2, keepdims=True)) ** 2).sum(-1),
    }
    for expression, outcomes in by_hand.items():
        expected = frame.take_expectation(outcomes)[0]
        assert (_value(run, expression) == expected).all(), expression
    noise = _value(run, square(AT_SERVER - Gradient(CLIENT_OBJECTIVE, SERVER)))
    assert (noise > 0).any()


def test_the_expectation_of_a_vector_is_that_of_the_trajectory() -> None:
    run = Instance("asynchronous cycles", 3).run()
    away = run.trajectory.server_mean[1:] - run.problem.optimum
    found = compile_term(define_by(square(Expectation(NEXT_VIRTUAL) - OPTIMUM)))(run)[:, -1, 0]
    assert (found == (away * away).sum(axis=1)).all()
    assert (compile_term(define_by(square(NEXT_VIRTUAL - OPTIMUM)))(run)[:, -1, 0] >= found).all()


@pytest.mark.parametrize(("family", "number"), DRAWN)
def test_expectations_run_over_draws_and_participants(family: str, number: int) -> None:
    """E x after the first round agrees with all outcomes of the round."""
    run = Instance(family, number).run()
    frame = next(iter(iterate_round_frames(run)))
    mean = frame.take_expectation(frame.next_server.values)[0, 0, 0]
    found = next(frame for frame in iterate_step_frames(run) if frame.index["step"] == run.algorithm.work.steps[0] - 1)
    vector = found.mean_of(found.next_virtual)
    apart = vector + found.constant(-mean[None])
    assert (np.asarray(found.inner(apart, apart)) == 0).all()


def test_a_step_has_its_gradient_or_draws_at_points() -> None:
    """A vector of a step together with samples at points has unknown covariances, and is rejected."""
    run = Instance("short rounds, unequal shares", 0).run()
    frame = next(iter(iterate_step_frames(run)))
    sampled = sample_at(frame, frame.local)
    with pytest.raises(ValueError, match="either the stochastic gradient"):
        _ = sampled + frame.gradient
    with pytest.raises(Misplaced, match="draws of all clients"):
        sampled.average(run.problem.weights).average(run.problem.weights)
    assert (
        expect_inner_product(frame, frame.server, sampled) == expect_inner_product(frame, sampled, frame.server)
    ).all()


def test_rounds_have_no_draws_at_points() -> None:
    frame = next(iter(iterate_round_frames(Instance("short rounds, unequal shares", 0).run())))
    with pytest.raises(Misplaced, match="place='step'"):
        sample_at(frame, frame.server)


def test_the_kernel_admits_no_draws_at_points() -> None:
    assert SampledGradient not in HEADS


@pytest.mark.parametrize(
    "expression",
    [
        square(Expectation(NEXT_VIRTUAL) - OPTIMUM),
        Expectation(norm_sq(Gradient(CLIENT_OBJECTIVE, Expectation(LOCAL)))),
        square(AT_LOCAL - AT_SERVER),
        ClientSum(square(AT_LOCAL)),
    ],
)
def test_expectations_are_left_out_of_plain_vectors_alone(expression: Any) -> None:
    assert not has_plain_vectors(expression)
    assert has_plain_vectors(square(NEXT_VIRTUAL - OPTIMUM))


def test_the_square_of_an_expectation_is_not_found_as_the_expectation_of_the_square() -> None:
    """|E x - x*|^2 is smaller than E|x - x*|^2, which the vocabulary has at each local step."""
    x, best = sp.symbols("x x^*", real=True)
    where = {x: q.virtual_iterate, best: q.optimum}
    known = quantity("mine", Expectation(norm_sq(x - best)), where)
    other = quantity("other", Expectation(norm_sq(Expectation(x) - best)), where)
    assert find_by_term(known, {}) is q.virtual_distance_sq
    assert find_by_term(other, {}) is other


def test_meanings_refuse_what_no_context_has() -> None:
    """An expectation of a vector, or a sample at another point, has no meaning in contexts."""
    expected = define("mine", "s", "m", define_at_each_step(square(Expectation(NEXT_VIRTUAL))))
    with pytest.raises(Rejected, match="expectations of vectors"):
        define_in_vectors(expected, SymbolTable({}))
    elsewhere = define("mine", "s", "m", define_at_each_step(square(SampledGradient(SAMPLE_AT_LOCAL.args[0], SERVER))))
    with pytest.raises(Rejected, match="present sample at"):
        define_in_vectors(elsewhere, SymbolTable({}))


def test_a_user_can_ask_for_the_distance_of_the_expected_model() -> None:
    """The distance of the expected model is at most the expected distance, and agrees with the trajectory."""
    x, best = sp.symbols("x x^*", real=True)
    where = {x: q.next_virtual_iterate, best: q.optimum}
    mine = quantity("mine", Expectation(norm_sq(Expectation(x) - best)), where)
    run = Instance("short rounds, unequal shares", 0).run()
    assert mine.on(run)[-1, -1, 0] == q.final_mean_distance_sq.on(run) < q.final_distance_sq.on(run)


def test_with_noise_only_quadratics_have_an_expected_descent() -> None:
    """Only for quadratics is the descent from the expected model defined with noise."""
    with pytest.raises(NotApplicable, match="quadratics only"):
        q.interval_end_gap.on(Instance("smooth losses", 3).run())
    assert (q.interval_end_gap.on(Instance("smooth losses with full gradients", 3).run()) >= 0).all()

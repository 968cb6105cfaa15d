"""Quantities of runs at the limit of a variable agree with those of runs near the limit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from flint import fmpq

from fedtheory import RATIONAL, NotApplicable
from fedtheory.arithmetic import plain_floats
from fedtheory.arithmetic.germs import INFINITESIMAL, Germ
from fedtheory.engine.limiting_runs import with_endless_rounds, with_infinitesimal_steps
from fedtheory.engine.run import Run
from fedtheory.errors import FedtheoryError, Unresolved
from fedtheory.federation import fedavg
from fedtheory.federation.problem import quadratic
from fedtheory.language import quantities as q
from fedtheory.language.quantities import RunQuantity
from verify.instances import Instance

FAMILIES = ["steady quadratics", "steady quadratics, curvatures that differ", "steady sampled clients"]
SYNCHRONOUS = [Instance(family, number) for family in FAMILIES for number in (4, 9)]
STALE = [Instance("steady asynchronous", 4), Instance("steady intervals", 9)]
QUANTITIES = [quantity for quantity in vars(q).values() if isinstance(quantity, RunQuantity)]
SMALL = fmpq(1, 10**9)


def _values(measured: Any, at: fmpq) -> np.ndarray:
    """Return numbers of a quantity, with h in germs replaced by a number."""
    entries = measured.ravel() if isinstance(measured, np.ndarray) else [measured]
    return np.array([g.numerator(at) / g.denominator(at) if isinstance(g, Germ) else g for g in entries], dtype=object)


def _known(run: Run, limiting: Run) -> Iterator[tuple[RunQuantity, Any]]:
    """Yield quantities of a run, with their values at the limit if these are rational functions."""
    for quantity in QUANTITIES:
        try:
            quantity.measure(run)
            yield quantity, quantity.measure(limiting)
        except (FedtheoryError, ArithmeticError, LookupError, ValueError, TypeError, AttributeError):
            continue


@pytest.mark.long
@pytest.mark.parametrize("instance", [*SYNCHRONOUS, *STALE], ids=str)
def test_quantities_of_infinitesimal_steps(instance: Instance) -> None:
    """At a small factor of the step sizes the values agree exactly."""
    run = instance.run()
    near, count = run.with_step_factor(SMALL), 0
    for quantity, germs in _known(run, with_infinitesimal_steps(run)):
        exact = quantity.measure(near)
        pairs = zip(_values(germs, SMALL), _values(exact, SMALL), strict=True)
        # Enclosures of irrational numbers are equal to nothing.
        assert all(found == number for found, number in pairs if isinstance(number, fmpq)), quantity.name
        count += not quantity.is_constant
    assert count >= 20


@pytest.mark.long
@pytest.mark.parametrize("instance", SYNCHRONOUS, ids=str)
def test_quantities_of_endless_rounds(instance: Instance) -> None:
    """At one over a number of rounds the values agree up to vanishing terms."""
    run = instance.run()
    rounds, names = 1024, set()
    many = run.with_rounds(rounds)
    for quantity, germs in _known(run, with_endless_rounds(run)):
        exact = plain_floats(_values(quantity.measure(many), SMALL))
        found = plain_floats(_values(germs, fmpq(1, rounds)))
        assert np.abs(found - exact).max() <= 1e-12 * max(1, np.abs(exact).max()), quantity.name
        names.add(quantity.name)
    assert names >= {"average_gradient_sq", "final_distance_sq", "rounds"}


def _one(noise: int = 0, start: int = 1) -> Run:
    """Return gradient descent on x^2 / 2 with steps of 1/2."""
    array = RATIONAL.array
    problem = quadratic(array([[[1]]]), array([[0]]), array([start]), noise=array([noise]))
    return Run(problem, fedavg(problem, rounds=4, local_step_size=fmpq(1, 2)))


def test_gradient_descent_by_hand() -> None:
    """The error after k steps is (1/4)^k / 2; the sums over T tend to 1/6, and to 2/3 with the start."""
    endless = with_endless_rounds(_one())
    h = INFINITESIMAL
    assert q.average_suboptimality.on(endless) == h / 6
    assert q.average_gradient_sq.on(endless) == 4 * h / 3
    assert q.final_distance_sq.on(endless) == 0
    assert q.rounds.on(endless) == 1 / h
    short = with_infinitesimal_steps(_one())
    assert q.final_distance_sq.on(short) == (1 - h / 2) ** 8


def test_noise_by_hand() -> None:
    """From the optimum E|x^n|^2 is (1 - (1/4)^n) / 3 for noise of variance 1: the sum over all T is T/3 - 4/9."""
    endless = with_endless_rounds(_one(noise=1, start=0))
    assert q.final_distance_sq.on(endless) == fmpq(1, 3)
    assert q.average_gradient_sq.on(endless) == fmpq(1, 3) - INFINITESIMAL * fmpq(4, 9)
    assert q.last_round_suboptimality.on(endless) == fmpq(1, 6)


def test_directions_without_curvature_keep_the_start() -> None:
    """A flat dimension adds nothing, and the other one has its own values."""
    array = RATIONAL.array
    problem = quadratic(array([[[1, 0], [0, 0]]]), array([[0, 0]]), array([1, 5]))
    run = Run(problem, fedavg(problem, rounds=4, local_step_size=fmpq(1, 2)))
    assert q.average_suboptimality.on(with_endless_rounds(run)) == INFINITESIMAL / 6


def test_runs_without_a_limit_are_refused() -> None:
    """Floats, too large steps, stale models, and moments of single rounds are rejected."""
    with pytest.raises(Unresolved):
        with_infinitesimal_steps(_one().as_floats())
    with pytest.raises(NotApplicable):
        q.final_distance_sq.on(with_endless_rounds(_one().with_step_factor(fmpq(8))))
    with pytest.raises(NotApplicable):
        with_endless_rounds(STALE[0].run())
    with pytest.raises(NotApplicable):
        q.max_drift.on(with_endless_rounds(_one()))

"""Fraboni et al., Sections 2 and 3: the symbolic facts behind the claims, and small runs computed by hand."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
import pytest
import sympy as sp
from flint import fmpq

from fedtheory import FLOAT, RATIONAL, Run
from fedtheory.federation import fedavg
from fedtheory.federation.clock import Asynchronous, Clock, FedBuff, Schedule, Update
from fedtheory.federation.problem import quadratic
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import (
    Assumption,
    fair_types,
    one_type,
    theorem_step_size,
    turns_of_clients,
    turns_of_pairs,
)
from fedtheory.language.registry import find
from fedtheory.sources.fraboni2022.instances import alternating
from fedtheory.sources.fraboni2022.instances.asynchronous import make_one_of_two
from fedtheory.sources.fraboni2022.statements.assumptions import model_free_noise
from fedtheory.sources.fraboni2022.statements.examples import EXAMPLES, STABLE, write_odd_offset
from fedtheory.sources.fraboni2022.statements.examples import step as phi_of_steps
from fedtheory.sources.fraboni2022.statements.notation import N, W, eta_l, rho, tau, theta0_distance
from fedtheory.sources.fraboni2022.statements.relaxed import BOUND, EPSILON_W, B_g
from fedtheory.sources.fraboni2022.statements.theorem_1 import EPSILON_F
from verify.check import check

phi, a, b, c = sp.symbols("phi a b c", positive=True)
q_1, q_2 = (next(s for s in EXAMPLES if s.name == name) for name in ("q_1", "q_2"))
FAMILY_SAMPLE = range(0, 210, 3)


def units(optima: list[int], start: int) -> tuple[object, object, object]:
    """Return Hessians, linear terms and start of clients with unit curvature in one dimension."""
    linear = RATIONAL.array(optima)[:, None]
    return linear[..., None] * 0 + 1, linear, RATIONAL.array([start])


def pairs(step_size: str, rounds: int) -> Run:
    """Return Example 1 with optima 1 and -1 from 1, one local step."""
    problem = quadratic(*units([1, -1, 1, -1], 1))  # type: ignore[arg-type]
    clock = Clock(FedBuff(2, "one-by-one"), (fmpq(1),) * 4)
    half = RATIONAL.array(["1/2"] * 4)
    size = RATIONAL.number(step_size, "eta")
    return Run(problem, fedavg(problem, rounds=rounds, local_step_size=size, clock=clock, aggregation=half))


def turns(first: str, second: str, step_size: str, rounds: int) -> Run:
    """Return Example 2 with optima 1 and -1 from 2, one local step."""
    problem = quadratic(*units([1, -1], 2))  # type: ignore[arg-type]
    clock = Clock(Asynchronous("one-by-one"), (fmpq(1),) * 2)
    weights = RATIONAL.array([first, second])
    size = RATIONAL.number(step_size, "eta")
    return Run(problem, fedavg(problem, rounds=rounds, local_step_size=size, clock=clock, aggregation=weights))


def models(run: Run) -> list[fmpq]:
    """Return the server's models of a run without noise, in one dimension."""
    return [model[0] for model in run.trajectory.server_mean]


# Theorem 1.


@cache
def sampled_for_long() -> Run:
    """Return a long run at the step size of (98): one of two clients, 128 steps of 1/(48 * 128 * 3 * 16), 34 rounds."""
    return make_one_of_two(128, 34, fmpq(1, 294912), 16)


@pytest.mark.long
@pytest.mark.parametrize("name", ["thm-1.explicit", "sampling.unbiased.bound"])
def test_sampled_clients_with_many_local_steps_break_theorem_1(name: str) -> None:
    """The conditions of Theorem 1 hold, and its bound does not."""
    run = sampled_for_long()
    assert theorem_step_size.failure(run) is None
    assert model_free_noise.failure(run) is None
    assert check(find(f"fraboni2022:{name}"), run).holds is False


# Example 1.


@pytest.mark.parametrize("step_size", ["1/10", "1/4", "1/2", "9/10"])
def test_example_1_converges_for_phi_between_zero_and_one(step_size: str) -> None:
    """The rate is the larger root of r^2 - r + phi, and the energy is multiplied by phi in every update."""
    run, chosen = pairs(step_size, 40), RATIONAL.number(step_size, "phi")
    path = models(run)
    real = float(FLOAT.number(chosen, "phi"))
    largest = max(abs(np.roots([1.0, -1.0, real])))
    assert largest < 1
    # Both solutions r^n, or r^n and n r^n, start at 1, and the second model is 1 as well.
    assert abs(float(FLOAT.number(path[-1], "model"))) <= 40 * largest**38

    def energy(n: int) -> fmpq:
        return path[n + 1] ** 2 - path[n + 1] * path[n] + chosen * path[n] ** 2

    assert all(energy(n + 1) == chosen * energy(n) for n in range(39))
    assert q.last_energy.measure(run) == energy(39)


def test_the_energy_of_example_1_is_measured_from_the_optimum() -> None:
    """With optima 3 and 1 from 3 the models are translated by 2, and the errors are equal."""
    run = pairs("1/4", 6)
    moved = Run(quadratic(*units([3, 1, 3, 1], 3)), run.algorithm)  # type: ignore[arg-type]
    assert models(moved) == [model + 2 for model in models(run)]
    for quantity in (q.first_energy, q.last_energy):
        assert quantity.measure(moved) == quantity.measure(run) > 0


def test_example_1_grows_at_a_large_step_and_turns_in_circles_at_one() -> None:
    """For phi = 3/2 the errors are 1, -1/2, -2, ...; for phi = 1 they have period six."""
    large = models(pairs("3/2", 24))
    assert large[:4] == [fmpq(1), fmpq(-1, 2), fmpq(-2), fmpq(-5, 4)]
    assert abs(large[-1]) > 10
    circle = models(pairs("1", 12))
    assert circle == [1, 0, -1, -1, 0, 1] * 2 + [1]


def test_example_1_has_the_printed_recursion() -> None:
    """theta^{n+2} - theta^{n+1} + phi theta^n = phi theta*, here with phi = 1/4 and theta* = 0."""
    run = pairs("1/4", 8)
    path = models(run)
    assert all(path[n + 2] - path[n + 1] + path[n] / 4 == 0 for n in range(7))
    assert q.second_order_residual.measure(run) == 0
    assert q.last_energy.measure(run) == q.first_energy.measure(run) / 4**7


# Example 2.


def test_the_cycle_of_example_2_in_closed_form() -> None:
    """Both points and their mean, measured from the weighted mean of the optima, solve the cycle's equations."""
    x, y, gap = phi * q_1, phi * q_2, sp.Symbol("gap")
    first, second = q_2 * gap / (q_1 + q_2), -q_1 * gap / (q_1 + q_2)
    even, odd = sp.symbols("even odd")
    found = sp.solve([even + x * (first - odd) - odd, odd + y * (second - even) - even], [even, odd])
    offset = write_odd_offset().subs(phi_of_steps, phi) * gap
    assert sp.simplify(found[odd] - offset) == 0
    assert sp.simplify(found[even] + q_1 / q_2 * offset) == 0
    assert sp.simplify((found[even] + found[odd]) / 2 - (q_2 - q_1) / (2 * q_2) * offset) == 0
    assert sp.limit(offset / gap, phi, 0) == 0


def test_the_map_of_two_updates_has_the_stated_trace_and_determinant() -> None:
    """The characteristic polynomial gives the conditions of Jury under which Example 2 is stable."""
    x, y = phi * q_1, phi * q_2
    both = sp.Matrix([[0, 1], [-y, 1]]) * sp.Matrix([[0, 1], [-x, 1]])
    assert sp.expand(both.trace() - (1 - x - y)) == 0
    assert sp.expand(both.det() - x * y) == 0
    at_minus_one = sp.expand(1 + both.trace() + both.det())
    second = STABLE[1].subs(phi_of_steps, phi)
    assert sp.expand(at_minus_one - (second.lhs - second.rhs)) == 0
    assert sp.expand(1 - both.trace() + both.det() - (x + y + x * y)) == 0


def test_example_2_alternates_between_two_points() -> None:
    """With q_1 = 1/2, q_2 = 1 and phi = 1/2 the models alternate between two points, neither of them -1/3."""
    path = [float(str(m.p)) / float(str(m.q)) for m in models(turns("1/2", "1", "1/2", 60))]
    offset = float(
        write_odd_offset().subs(phi_of_steps, phi).subs({q_1: sp.Rational(1, 2), q_2: 1, phi: sp.Rational(1, 2)})
    )
    assert path[59] == pytest.approx(-1 / 3 + 2 * offset, abs=1e-6)
    assert path[60] == pytest.approx(-1 / 3 - offset, abs=1e-6)
    assert abs(path[60] - path[59]) > 0.2


def test_the_shares_of_example_2_are_always_equal() -> None:
    """With the share of each update, the printed condition holds for any weights."""
    shares = q.mean_of_shares.measure(turns("1/4", "2", "1/8", 4))
    assert shares.ravel().tolist() == [fmpq(1, 2)] * 2


# Windows, bounds, Corollary 2.


def test_a_delay_can_be_longer_than_a_window() -> None:
    """The second client reports first in one window of three updates and last in the next: tau = 4."""
    reports = [(0, 1), (0,), (0,), (0,), (0,), (0, 1)]
    ages = [0, 0, 1, 2, 3, 4]
    updates = (Update(fmpq(n + 1), r, (0, age)) for n, (r, age) in enumerate(zip(reports, ages, strict=True)))
    schedule = Schedule(tuple(updates))
    weights = RATIONAL.array(schedule.participates.astype(int))
    assert schedule.smallest_window(weights) == 3
    assert schedule.largest_staleness == 4 == 2 * 3 - 2


def test_the_bounds_on_gradients_of_a_short_run() -> None:
    """Example 2 from 2 with optima 1 and -1: the largest squared gradient is 9, with noise of variance 4 it is 13."""
    run = turns("1/2", "1/2", "1/2", 2)
    assert q.full_gradient_bound.measure(run) == 9
    hessians, linear, start = units([1, -1], 2)
    noisy = quadratic(hessians, linear, start, noise=RATIONAL.array([4, 4]))  # type: ignore[arg-type]
    assert q.gradient_bound.measure(Run(noisy, run.algorithm)) == 13


def test_no_step_size_makes_both_ends_of_the_bound_small() -> None:
    """With W = N the product of eps_F and eps_W does not depend on the step size."""
    product = (EPSILON_F * EPSILON_W).subs(W, N)
    assert sp.simplify(product - theta0_distance**2 * rho**2 * B_g**2 * (N - 1) / N) == 0


def exponents() -> list[sp.Expr]:
    """Return the exponents of N in the terms of Theorem 3's bound, for eta_l = N^-c, tau = N^b and W = N^a."""
    terms = sp.Add.make_args(sp.expand(BOUND))
    powers = [term.as_powers_dict() for term in terms]
    return [powers_of[N] - c * powers_of[eta_l] + b * powers_of[tau] + a * powers_of[W] for powers_of in powers]


@pytest.mark.parametrize("values", list(itertools.product((0, 1, 2), (0, 1, 2), (3,))), ids=str)
def test_all_terms_of_the_bound_vanish_under_corollary_2(values: tuple[int, int, int]) -> None:
    """For max(a, b) < c < 1, in quarters, every exponent is negative."""
    at = dict(zip((a, b, c), (sp.Rational(value, 4) for value in values), strict=True))
    assert all(exponent.subs(at) < 0 for exponent in exponents())


def test_some_term_of_the_bound_stays_at_each_edge_of_corollary_2() -> None:
    """For a = c, b = c or c = 1 there is a term that does not vanish."""
    half = sp.Rational(1, 2)
    for edge in ({a: half, b: 0, c: half}, {a: 0, b: half, c: half}, {a: 0, b: 0, c: 1}):
        assert max(exponent.subs(edge) for exponent in exponents()) == 0


# Families.


FAMILIES = {
    one_type: alternating.clients_of_one_type,
    fair_types: alternating.fair_clients,
    turns_of_pairs: alternating.pairs_in_turn,
    turns_of_clients: alternating.clients_in_turn,
}


@pytest.mark.parametrize("assumption", FAMILIES, ids=lambda assumption: assumption.name)
def test_families_are_made_of_what_they_are_meant_for(assumption: Assumption) -> None:
    """Nearly all instances satisfy the assumption; in the others both types of clients coincide."""
    failures = [failure for n in FAMILY_SAMPLE if (failure := assumption.failure(FAMILIES[assumption](n))) is not None]
    assert set(failures) <= {"a type does not have half of the weight of an update"}
    assert len(failures) <= len(FAMILY_SAMPLE) // 20


def test_turns_are_recognised() -> None:
    """Runs that end within a window, and more clients, do not count as turns."""
    odd = turns("1/2", "1", "1/2", 3)
    assert turns_of_clients.failure(odd) == "the clients do not take turns for whole windows"
    assert turns_of_clients.failure(pairs("1/2", 4)) == "there are not 2 clients"
    assert np.all(turns("1/2", "1", "1/2", 4).algorithm.schedule.participates.sum(axis=1) == 1)

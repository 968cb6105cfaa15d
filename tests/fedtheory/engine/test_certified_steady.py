"""Identical rounds are enclosed jointly, and contain the rational results, after one round or millions."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from random_problems import fractions, random_problem, seeds
from test_certified import EXPECTATIONS, contains

from fedtheory import Claim
from fedtheory.arithmetic import RATIONAL, MidpointRadius
from fedtheory.arithmetic.enclosures import Enclosure, convert_to_ball, largest
from fedtheory.engine.certified_run import CertifiedRun
from fedtheory.engine.moments import Trajectory, stationary
from fedtheory.engine.moments.certified_steady import CertifiedSteadyTrajectory
from fedtheory.engine.run import Run
from fedtheory.errors import InputError, Unresolved
from fedtheory.federation import Fixed, Uniform, fedavg
from fedtheory.federation.problem import quadratic
from fedtheory.language import quantities as q
from verify.check import check

ENDS = (
    "final_mean",
    "final_suboptimality",
    "final_distance_sq",
    "last_local_suboptimality",
    "mean_server_suboptimality",
    "mean_server_gradient_sq",
    "mean_local_gradient_sq",
)
LIMITS = (q.limiting_suboptimality, q.limiting_model_suboptimality, q.limiting_distance_sq)


def certified(run: Run) -> CertifiedSteadyTrajectory:
    """Return the enclosures of a run."""
    found = CertifiedRun(run.problem, run.algorithm).trajectory
    assert isinstance(found, CertifiedSteadyTrajectory)
    return found


def plain(clients: int = 1, *, rounds: int, size: fmpq, steps: int = 1, **keys: Any) -> Run:
    """Return equal clients with curvature 1, noise of variance 1, at initial distance 1."""
    hessians, linear = RATIONAL.array([[[1]]] * clients), RATIONAL.array([[0]] * clients)
    problem = quadratic(hessians, linear, RATIONAL.array([1]), noise=RATIONAL.array([1] * clients))
    return Run(problem, fedavg(problem, rounds=rounds, local_step_size=size, local_steps=steps, **keys))


@settings(max_examples=25, deadline=None, derandomize=True)
@given(seeds, st.integers(1, 3), st.integers(1, 3), st.integers(1, 40), st.integers(1, 3))
def test_enclosures_contain_what_rationals_find(
    seed: int, kinds: int, dimension: int, rounds: int, copies: int
) -> None:
    """Enclosures contain the rational results for clients of several kinds, contracting and expanding steps."""
    generator = np.random.default_rng(seed)
    problem = random_problem(generator, kinds, dimension)
    sizes, step = fractions(generator, kinds) / fmpq(6), fmpq(int(generator.integers(1, 5)), 3)
    steps = 1 + int(generator.integers(3))
    algorithm = fedavg(problem, rounds=rounds, local_step_size=sizes, local_steps=steps, server_step_size=step)
    run = Run(problem, algorithm).with_copies(copies)
    enclosed, exact = certified(run), run.trajectory
    for name in (*EXPECTATIONS, *ENDS):
        assert contains(getattr(enclosed, name), getattr(exact, name)), name
    moment = enclosed.moments[-1]
    assert (moment.radius <= 1e-10 * (1 + np.abs(moment.middle))).all()  # type: ignore[attr-defined]


def test_clients_with_work_of_their_own() -> None:
    """Enclosures are correct for equal objectives with different local steps and client sampling."""
    problem = random_problem(np.random.default_rng(5), 3, 2).repeat(2)
    algorithm = fedavg(
        problem, rounds=17, local_step_size=fmpq(1, 5), local_steps=[1, 2, 3, 3, 2, 1], participation=Fixed((0, 2, 5))
    )
    run = Run(problem, algorithm)
    enclosed = certified(run)
    for name in ("final_distance_sq", "final_suboptimality", "final_mean", "server_distance_sq"):
        assert contains(getattr(enclosed, name), getattr(run.trajectory, name)), name


@pytest.mark.parametrize("rounds", [10**3, 4 * 10**6])
@pytest.mark.parametrize("clients", [1, 32])
def test_millions_of_rounds(rounds: int, clients: int) -> None:
    """The last distance is ``q^T + eta^2/M (1 - q^T)/(1 - q)``, q = (1 - eta)^2, which determines the average."""
    size = fmpq(1, 2048)
    enclosed = certified(plain(clients, rounds=rounds, size=size))
    with ctx.workprec(400):
        factor = (1 - arb(size)) ** 2
        left, noise = factor**rounds, arb(size) ** 2 / clients / (1 - factor)
        last = left + noise * (1 - left)
        mean = noise + (1 - noise) * (1 - left) / (1 - factor) / rounds
        for found, exact in ((enclosed.final_distance_sq, last), (2 * enclosed.mean_server_suboptimality, mean)):
            assert convert_to_ball(found).contains(exact)
            assert convert_to_ball(found).rad() < 1e-14 * exact


def test_many_local_steps_stay_narrow() -> None:
    """Enclosures of two thousand local steps in three dimensions stay narrow."""
    curved = RATIONAL.array([["2", "1", "-1"], ["1", "2", "1"], ["-1", "1", "2"]])
    problem = quadratic(
        np.stack([curved, curved * fmpq(1, 2)]),
        RATIONAL.array([["1", "1", "0"], ["-1", "-1", "0"]]),
        RATIONAL.array(["1", "2", "3"]),
        noise=RATIONAL.array(["1", "1/3"]),
    )
    run = Run(problem, fedavg(problem, rounds=10**5, local_step_size=fmpq(1, 4), local_steps=2000))
    enclosed, floats = certified(run), run.as_floats().trajectory
    for name in ("mean_local_suboptimality", "last_local_suboptimality", "mean_drift"):
        found, near = getattr(enclosed, name), getattr(floats, name)
        assert (found.radius <= 1e-3 * (0.01 + found.middle)).all(), name
        assert np.allclose(found.middle, near, rtol=1e-6, atol=1e-12), name


def test_runs_that_diverge() -> None:
    """Numbers beyond the range of floats are enclosed by everything; others are enclosed."""
    assert contains(certified(plain(rounds=40, size=fmpq(3))).final_distance_sq, _distance(40, fmpq(3)))
    with pytest.raises(Unresolved):
        _ = certified(plain(rounds=10**6, size=fmpq(3))).final_distance_sq > 1


def _distance(rounds: int, size: fmpq) -> fmpq:
    distance = fmpq(1)
    for _ in range(rounds):
        distance = (1 - size) ** 2 * distance + size * size
    return distance


def test_single_rounds_of_long_runs() -> None:
    """Single rounds agree with the ends of blocks; too many are rejected with their number."""
    run = plain(2, rounds=30_000, size=fmpq(1, 100))
    enclosed = certified(run)
    assert len(enclosed.server_distance_sq) == 30_001
    assert convert_to_ball(enclosed.server_distance_sq[-1]).overlaps(convert_to_ball(enclosed.final_distance_sq))
    assert contains(enclosed.server_distance_sq[:41], run.with_rounds(40).trajectory.server_distance_sq)
    with pytest.raises(Unresolved, match="expected at most 5000000 rounds for enclosures"):
        _ = certified(plain(rounds=10**7, size=fmpq(1, 100))).server_distance_sq


def test_the_largest_of_midpoints_and_radii() -> None:
    """The largest of many enclosures is correct within the radii."""
    near = MidpointRadius(np.array([1.0, 2.0, 1.5]), np.array([0.0, 0.25, 1.0]))
    found = largest(near)
    assert isinstance(found, Enclosure)
    assert all(found.interval.contains(value) for value in (1.75, 2.0, 2.5))


@pytest.mark.parametrize("quantity", LIMITS, ids=lambda each: each.name)
def test_limits_are_those_of_rationals(quantity: q.RunQuantity) -> None:
    """Limits do not depend on the length of the run; if their maps are too long there are none."""
    problem = random_problem(np.random.default_rng(2), 3, 2)
    algorithm = fedavg(problem, rounds=10**6, local_step_size=fmpq(1, 9), local_steps=3)
    run = Run(problem, algorithm)
    exact = quantity.on(run.with_rounds(2))
    assert contains(quantity.on(CertifiedRun(run.problem, run.algorithm)), exact)
    longer = Run(problem, fedavg(problem, rounds=2, local_step_size=fmpq(1, 9), local_steps=20_000))
    with pytest.raises(Unresolved, match="local steps"):
        quantity.on(CertifiedRun(longer.problem, longer.algorithm))


def test_random_rounds_are_not_merged() -> None:
    """Rounds with client sampling are not merged."""
    problem = random_problem(np.random.default_rng(1), 3, 1)
    algorithm = fedavg(problem, rounds=3, local_step_size=fmpq(1, 9), participation=Uniform(2))
    found = CertifiedRun(problem, algorithm).trajectory
    assert isinstance(found, Trajectory)
    assert not isinstance(found, CertifiedSteadyTrajectory)


def test_rationals_of_so_many_rounds_are_refused() -> None:
    """A long run may be read in rationals; computing its expectations is rejected with the limit."""
    run = plain(rounds=10**6, size=fmpq(1, 100))
    with pytest.raises(InputError, match="at most 20000 rounds times local steps in rationals, got 1000000"):
        _ = run.trajectory


def test_a_claim_on_millions_of_rounds() -> None:
    """The noise of a client does not vanish over the rounds: half of the stationary error is no bound, twice is one."""
    eta = sp.Symbol("eta", positive=True)
    run = plain(rounds=2 * 10**6, size=fmpq(1, 20))
    for factor, verdict in ((sp.Rational(1, 8), False), (sp.Rational(1, 2), True)):
        claim = Claim(id="t:floor", lhs=q.average_suboptimality, rhs=factor * eta, where={eta: q.local_step_size})
        assert check(claim, CertifiedRun(run.problem, run.algorithm)).holds is verdict


def test_limits_are_found_up_to_the_length_that_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two steps of three clients in one dimension need 2^2 * 3 * 2^3 = 96 operations, which a limit of 96 allows."""
    run = plain(3, rounds=10, size=fmpq(1, 100), steps=2)
    for most, is_found in ((96, True), (95, False)):
        stationary._find_limit.cache_clear()
        monkeypatch.setattr(stationary, "_MOST_OF_A_ROUND", most)
        with nullcontext() if is_found else pytest.raises(Unresolved, match="local steps"):
            assert q.limiting_distance_sq.on(CertifiedRun(run.problem, run.algorithm)) > 0

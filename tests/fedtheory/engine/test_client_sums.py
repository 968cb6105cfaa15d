"""Sums over clients by polynomials in their Hessians equal sums client by client."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.engine.gradient_forms import evaluate_forms
from fedtheory.engine.region import bound_suprema_on_ball, bound_supremum_on_ball
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.federation import fedavg
from fedtheory.federation.problem import Problem
from fedtheory.planner.client_sums import SumsByPolynomials, SumsOverClients
from fedtheory.planner.closed_rounds import ClosedRounds


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 5, 40]), st.booleans())
def test_polynomials_give_the_sums(seed: int, steps: int, has_equal_curvatures: bool) -> None:
    generator = np.random.default_rng(seed)
    clients, size = 7, 3
    roots = generator.standard_normal((clients, size, 2))
    hessians = np.array([np.eye(size)] * clients) if has_equal_curvatures else roots @ roots.swapaxes(-1, -2)
    curvatures, vectors = np.linalg.eigh(hessians)
    weights, variances = generator.random((2, clients))
    shared = (curvatures, vectors, generator.standard_normal((clients, size)), weights, variances)
    step_size = 1.5 / curvatures.max()
    one = SumsByPolynomials(*shared, step_size, steps)
    other = SumsOverClients(*shared, np.full(clients, step_size), np.full(clients, steps))
    factors = np.array([1e-6, 0.01, 0.3, 1.0])
    # Both divide by curvatures that may be zero, and leave the quotients out.
    with np.errstate(all="ignore"):
        found, expected = ((*each.compute_moves(factors), each.compute_noise(factors)) for each in (one, other))
    for sums, wanted in zip(found, expected, strict=True):
        for each, right in zip(sums, wanted, strict=True):
            np.testing.assert_allclose(each, right, rtol=0, atol=1e-12 * np.abs(right).max())


def test_rounds_of_many_clients_go_by_polynomials() -> None:
    generator = np.random.default_rng(2)
    roots = generator.standard_normal((600, 3, 5))
    hessians, linear = roots @ roots.swapaxes(-1, -2), generator.standard_normal((600, 3))
    constants, weights = np.zeros(600), np.full(600, 1 / 600)
    problem = Problem(hessians, linear, constants, weights, np.ones(3))
    run = Run(problem, fedavg(problem, rounds=9, local_step_size=0.01, local_steps=2))
    closed = ClosedRounds(run)
    assert isinstance(closed._sums, SumsByPolynomials)
    assert closed.scale_steps(1.0).error(9) == pytest.approx(run.trajectory.server_suboptimality[-1], rel=1e-10)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-6, 0.3, 10.0, 1e7]))
def test_suprema_of_many_forms_are_those_of_each(seed: int, radius: float) -> None:
    """Suprema of many forms are hardly below those of each, also for interior maximisers and orthogonal terms."""
    generator = np.random.default_rng(seed)
    forms = generator.standard_normal((8, 4, 4))
    forms += forms.swapaxes(-1, -2)
    forms[1, 1:, 1:] -= 20 * np.eye(3)
    forms[2, 1:, 1:] = np.diag([3.0, 1.0, 0.0])
    forms[2, 1, 0] = forms[2, 0, 1] = 0
    forms[3, 1:, 0] = forms[3, 0, 1:] = 0
    forms[4] = 0
    forms[5, 1:, 1:] = 0
    found = bound_suprema_on_ball(forms, radius)
    expected = [bound_supremum_on_ball(form[1:, 1:], form[1:, 0], form[0, 0], radius) for form in forms]
    # The multiplier of a single form has few digits, for rationals; it is raised by millionths to lie above a pole.
    size = radius**2 * np.abs(forms).max() + np.abs(expected)
    assert (found <= expected + 1e-8 * size).all()
    assert (found >= expected - 5e-6 * size).all()
    points = generator.standard_normal((1000, 3))
    points *= radius / np.linalg.norm(points, axis=1)[:, None]
    assert (found >= evaluate_forms(forms, np.concatenate([points, points / 2])).max(axis=0)).all()


def test_suprema_on_a_point_are_the_constants() -> None:
    forms = np.arange(8.0).reshape(2, 2, 2)
    assert bound_suprema_on_ball(forms, 0).tolist() == [0.0, 4.0]


def test_suprema_beyond_floats_are_refused() -> None:
    for forms, radius in ((np.full((1, 2, 2), np.inf), 1.0), (np.ones((1, 2, 2)), np.inf)):
        with pytest.raises(NotApplicable, match="leave double precision"):
            bound_suprema_on_ball(forms, radius)

"""Joint computations for many clients agree with those for each client."""

from __future__ import annotations

import numpy as np
import pytest

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.engine.moments import build_trajectory
from fedtheory.engine.moments.recursion import Recursion
from fedtheory.engine.region import may_be_largest
from fedtheory.engine.run import Run
from fedtheory.federation import Multinomial, Participation, Uniform, fedavg
from fedtheory.federation.problem import Problem, quadratic

CLIENTS, DIMENSION = 150, 3


def _problem() -> Problem:
    generator = np.random.default_rng(4)
    factors = generator.standard_normal((CLIENTS, DIMENSION, DIMENSION))
    hessians = factors @ factors.transpose(0, 2, 1)
    hessians = (hessians + hessians.transpose(0, 2, 1)) / 2
    linear = generator.standard_normal((CLIENTS, DIMENSION))
    return quadratic(hessians, linear, np.ones(DIMENSION), noise=np.linspace(0, 1, CLIENTS))


@pytest.mark.parametrize("participation", [Uniform(7), Multinomial(7)])
def test_sampled_rounds_do_not_go_over_clients(monkeypatch, participation: Participation) -> None:
    problem = _problem()
    algorithm = fedavg(problem, rounds=30, local_step_size=0.02, local_steps=3, participation=participation)
    found = build_trajectory(problem, algorithm)
    assert found.recursion._spread_map is not None
    assert found.recursion._spread_map.shape == (16, 16)
    monkeypatch.setattr(Recursion, "_spread_map", None)
    expected = build_trajectory(problem, algorithm)
    np.testing.assert_allclose(found.moments, expected.moments, rtol=0, atol=1e-13 * np.abs(expected.moments).max())


def test_few_rounds_go_over_clients() -> None:
    """For few rounds, and in rationals, the computation goes over the clients."""
    problem = _problem()
    short = fedavg(problem, rounds=4, local_step_size=0.02, participation=Uniform(7))
    assert Recursion(problem, short)._spread_map is None


def test_largest_constants_are_those_of_all_clients() -> None:
    """The largest noise, dissimilarity and gradient on the ball are found by evaluating few clients."""
    problem = _problem()
    run = Run(problem, fedavg(problem, rounds=4, local_step_size=0.02))
    forms = run.gradient_forms
    for each in (forms.deviations, forms.squares, forms.stochastic):
        suprema = forms.suprema(each, run.ball.radius)
        assert forms.largest_supremum(each, run.ball.radius) == suprema.max()
        chosen = may_be_largest(each, np.linalg.eigvalsh(each[:, 1:, 1:])[:, -1], run.ball.radius)
        assert suprema.argmax() in chosen
        assert len(chosen) < CLIENTS / 3
    assert run.dissimilarity_sq.value == max(run.client_dissimilarities_sq.value)


def test_extreme_eigenvalues_are_those_of_each() -> None:
    """Extreme eigenvalues agree in floats and rationals, also for singular matrices."""
    hessians = _problem().hessians[:5].round(3)
    hessians[0] = np.outer([1, 2, 3], [1, 2, 3])
    for arithmetic in (FLOAT, RATIONAL):
        given = arithmetic.array(hessians)
        each = [(arithmetic.largest_eigenvalue(one), arithmetic.smallest_eigenvalue(one)) for one in given]
        together = zip(arithmetic.largest_eigenvalues(given), arithmetic.smallest_eigenvalues(given), strict=True)
        assert list(together) == each
    assert FLOAT.smallest_eigenvalues(hessians)[0] == 0

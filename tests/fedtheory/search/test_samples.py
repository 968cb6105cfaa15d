"""Sample numbers at which conditions hold: exact decisions, with some samples on the edges."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from fedtheory.kernel import Numbers, Rejected
from fedtheory.kernel.expressions import Inner
from fedtheory.search.samples import Samples, draw_inner_points, draw_samples, find_negative

eta, L = sp.symbols("eta L", positive=True)
sigma = sp.Symbol("sigma", nonnegative=True)
tau = sp.Symbol("tau", positive=True)
NUMBERS = Numbers(
    symbols=frozenset({eta, L, sigma, tau}),
    at_least={tau: 1},
    maybe_zero=frozenset({sigma}),
    integer=frozenset({tau}),
)
STEP = [eta <= 1 / (4 * L)]


def test_conditions_hold_and_edges_are_met() -> None:
    """Points satisfy a bound on the step size, some with equality; counts start at one, deviations at zero."""
    samples = draw_samples([eta, L, sigma, tau], NUMBERS, STEP, 400)
    assert samples.at.shape[1] > 300
    assert (samples.values(4 * eta * L) <= 1).all()
    assert (samples.values(4 * eta * L) == 1).any()
    assert (samples.values(tau) == 1).any()
    assert (samples.values(sigma) == 0).any()


def test_conditions_on_products() -> None:
    """Samples satisfy a condition without a symbol alone on one side."""
    samples = draw_samples([eta, L, tau], NUMBERS, [6 * eta * L * tau <= 1, eta * L <= 1 / (tau + 1)], 400)
    assert samples.at.shape[1] > 100
    assert (samples.values(6 * eta * L * tau) <= 1).all()


def test_a_negative_value_is_decided_in_rationals() -> None:
    """A negative value is found with its numbers; a value that vanishes at the edge does not count as negative."""
    samples = draw_samples([eta, L, sigma, tau], NUMBERS, STEP, 400)
    point = find_negative(1 - 5 * eta * L, samples, NUMBERS, STEP)
    assert point is not None
    assert (1 - 5 * eta * L).xreplace(dict(point)) < 0
    assert eta.xreplace(dict(point)) <= 1 / (4 * L.xreplace(dict(point)))
    assert find_negative(1 - 4 * eta * L, samples, NUMBERS, STEP) is None
    assert find_negative(sp.Rational(1, 3) - sp.Rational(4, 3) * eta * L, samples, NUMBERS, STEP) is None


def test_the_same_points_each_time() -> None:
    """Samples do not depend on earlier samples."""
    one, other = (draw_samples([eta, L, tau], NUMBERS, STEP, 50) for _ in range(2))
    assert (one.at == other.at).all()


def test_inner_points_may_have_the_least_counts() -> None:
    """A bound on counts alone may hold with equality, but one on the step size is strict."""
    samples = draw_inner_points([eta, L, tau], NUMBERS, [*STEP, sp.Le(tau, 1)], 20)
    assert samples.at.shape[1] == 20
    assert (samples.values(tau) == 1).all()
    assert (samples.values(4 * eta * L) < 1).all()
    assert not draw_inner_points([tau], NUMBERS, [sp.Le(tau, 0, evaluate=False)], 20).at.shape[1]


def test_values_of_expressions() -> None:
    """Powers, roots, exponentials and maxima have their values; numbers without symbols have one for each sample."""
    samples = Samples([eta, L, tau], np.array([[0.25, 4.0], [2.0, 8.0], [3.0, 0.0]]))
    expected = {
        sp.Rational(3, 4): [0.75, 0.75],
        eta**-2 + L: [18.0, 8.0625],
        L * sp.sqrt(eta) - 1 / L: [0.5, 15.875],
        (1 - eta) ** tau + L ** sp.Rational(3, 2) / L: [0.421875 + 2**0.5, 1.0 + 8**0.5],
        sp.Max(eta, L) * sp.Min(tau, L): [4.0, 0.0],
        sp.exp(tau - 3) * abs(eta - 1): [0.75, 3 * np.exp(-3)],
        1 / tau: [1 / 3, np.inf],
    }
    for expression, values in expected.items():
        np.testing.assert_allclose(samples.values(expression), values, rtol=1e-15)
    assert np.isnan(samples.values(sp.sqrt(1 - eta))[1])
    for without_value in (Inner(eta, L), sigma + eta):
        with pytest.raises(Rejected, match="has no numeric value"):
            samples.values(without_value)

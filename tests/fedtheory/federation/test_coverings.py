"""Proofs on an interval: maxima and zeros of functions with closed forms."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory.arithmetic.enclosures import precise_enclosures
from fedtheory.federation.losses.covering import Jet, enclose_largest, enclose_zero, run_interval_newton

few = settings(max_examples=25, deadline=None, derandomize=True)
centres = st.integers(-9, 9).map(lambda n: arb(n) / 4)


@pytest.fixture(autouse=True)
def precision() -> Iterator[None]:
    """Use 256 bits of precision."""
    with precise_enclosures():
        yield


def sine(x: arb) -> Jet:
    """Return sin and its derivatives."""
    return Jet(x.sin(), x.cos(), -x.sin())


def quartic(centre: arb) -> object:
    """Return -(x - c)^4, whose second derivative vanishes at the maximum."""

    def jet(x: arb) -> Jet:
        u = x - centre
        return Jet(-u * u * u * u, -4 * u * u * u, -12 * u * u)

    return jet


def test_largest_values_by_hand() -> None:
    """The largest value of the sine is 1 if the maximum is inside, and the value at an end otherwise."""
    assert enclose_largest(sine, arb(0), arb(7)).contains(1)
    assert enclose_largest(sine, arb(0), arb(7)).rad() < 1e-70
    short = enclose_largest(sine, arb(2), arb(3))
    assert short.overlaps(arb(2).sin())
    assert short.rad() < 1e-70
    assert enclose_largest(sine, arb(0), arb(7), arb(2)).contains(2)


@given(centres)
@few
def test_flat_tops(centre: arb) -> None:
    """The enclosure of a flat maximum is tight, although no piece is monotone or concave."""
    with precise_enclosures():
        found = enclose_largest(quartic(centre), arb(-3), arb(3))
    assert found.contains(0)
    assert found.rad() < 1e-12


def test_newton_by_hand() -> None:
    """The root of two is the zero of x^2 - 2 in [1, 2]; there is none in [2, 3]."""

    def slopes(x: arb) -> tuple[arb, arb]:
        return x * x - 2, 2 * x

    found = run_interval_newton(slopes, arb(1).union(arb(2)))
    assert found is not None
    assert found.overlaps(arb(2).sqrt())
    assert found.rad() < 1e-70
    assert run_interval_newton(slopes, arb(2).union(arb(3))) is None


@given(centres)
@few
def test_zeros(centre: arb) -> None:
    """The zero of an increasing function is found, also in the middle of the interval."""

    def rising(x: arb) -> Jet:
        height = (x - centre).tanh()
        return Jet(height, 1 - height * height, -2 * height * (1 - height * height))

    with precise_enclosures():
        for low, high in ((arb(-8), arb(8)), (centre - 1, centre + 1)):
            found = enclose_zero(rising, low, high)
            assert found.contains(centre)
            assert found.rad() < 1e-70

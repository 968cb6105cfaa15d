"""Products of powers at samples, edges of conditions, and faces of Gram matrices, against values known by hand."""

from __future__ import annotations

import numpy as np
import sympy as sp

from fedtheory.kernel import Context, Numbers
from fedtheory.kernel.quotients import ONE, quotient
from fedtheory.search.blocks import SHARED, Blocks, find_squares
from fedtheory.search.coefficients import System
from fedtheory.search.faces import FeasibleSet, list_costs
from fedtheory.search.fits import Products
from fedtheory.search.positivity import SignFacts
from fedtheory.search.samples import Samples, add_edges, draw_inner_points

a, b, c = sp.symbols("a b c", positive=True)
u, v = sp.symbols("u v", real=True)
NUMBERS = Numbers(symbols=frozenset({a, b, c}), maybe_zero=frozenset({c}))


def _samples() -> Samples:
    return draw_inner_points([a, b, c], NUMBERS, [a * b <= 1], 20)


def test_products_are_recognised() -> None:
    """Powers of several symbols and of a sum, with a rational in front."""
    samples = _samples()
    products = Products(samples, [1 - a * b])
    for number in (sp.Rational(-3, 2) * a**2 * b * c / (1 - a * b), sp.Rational(5, 4), a / b, sp.S.Zero):
        found = products.fit(np.broadcast_to(samples.values(number), (samples.at.shape[1],)))
        assert found is not None
        assert sp.simplify(found - number) == 0


def test_sums_are_no_products() -> None:
    """A sum that is no unit does not count as a product."""
    samples = _samples()
    assert Products(samples, []).fit(samples.values(a + b)) is None


def test_edges_attain_bounds_and_zeros() -> None:
    """Some sample has c = 0, some a b = 1, and the conditions hold at all of them."""
    edges = add_edges(_samples(), NUMBERS, [a * b <= 1])
    products = edges.at[edges.symbols.index(a)] * edges.at[edges.symbols.index(b)]
    assert np.any(edges.at[edges.symbols.index(c)] == 0)
    assert np.any(np.abs(products - 1) < 1e-9)
    assert np.all(products <= 1 + 1e-9)


def test_a_face_has_the_kernel_of_its_matrix() -> None:
    """The least f with a |u|^2 - 2 b <u, v> + f |v|^2 >= 0 is b^2/a, and the matrix vanishes on (b/a, 1)."""
    entries = {(SHARED, u, u): quotient(a), (SHARED, u, v): quotient(-b)}
    parts = {-1: Blocks({}, entries), 0: Blocks({}, {(SHARED, v, v): ONE})}
    samples = _samples()
    face = FeasibleSet(samples, [0], parts, [{0: ONE}]).find_face([1.0])
    assert face is not None
    least = samples.values(b**2 / a)
    assert np.allclose(face.free[:, 0], least, rtol=1e-5)
    ((block, vectors, kernel),) = face.kernels
    assert (block, list(vectors), kernel.shape[2]) == (SHARED, [u, v], 1)
    assert np.allclose(kernel[:, 0, 0] / kernel[:, 1, 0], samples.values(b / a), rtol=1e-4)


def test_costs_prefer_each_coefficient_small_then_large() -> None:
    """Two coefficients give four cost functions."""
    assert list(list_costs(2)) == [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]


def test_equations_are_written_in_free_coefficients() -> None:
    """With c_0 = 2 c_1 the equation c_0 + c_1 is 3 c_1."""
    system = System(Blocks({}, {}), [], {0: {1: quotient(sp.Integer(2))}})
    assert system.substitute({0: ONE, 1: ONE}) == {1: quotient(sp.Integer(3))}


def test_a_pivot_may_vanish_where_it_cancels() -> None:
    """In c |u - v|^2 the coefficient may vanish; in c |u|^2 + 2 a <u, v> + |v|^2 it is a divisor."""
    signs = SignFacts(NUMBERS, [])
    context = Context(numbers=NUMBERS, vectors=frozenset({u, v}))
    square = {(SHARED, u, u): quotient(c), (SHARED, u, v): quotient(-c), (SHARED, v, v): quotient(c)}
    terms = find_squares(square, context, signs)
    assert terms is not None
    assert [term.coefficient for term in terms] == [c]
    divided = {(SHARED, u, u): quotient(c), (SHARED, u, v): quotient(a), (SHARED, v, v): quotient(a**2 / c)}
    assert find_squares(divided, context, signs) is None

"""The language of proofs: typesetting, text, and evaluation on runs."""

from __future__ import annotations

import pytest
import sympy as sp
from flint import arb, fmpq

from fedtheory import Claim, Value, inner, norm_sq
from fedtheory.arithmetic import RATIONAL
from fedtheory.arithmetic.enclosures import convert_to_ball, precise_enclosures
from fedtheory.arithmetic.root_sums import RootSum
from fedtheory.errors import NotApplicable
from fedtheory.kernel.expressions import Average, ClientSum, Expectation, Gradient
from fedtheory.language import quantities as q
from fedtheory.language.claim_places import iterate_sites
from fedtheory.language.evaluation import compile_expression
from fedtheory.language.meaning import require_meaning
from fedtheory.language.registry import find
from fedtheory.language.typesetting import format_plain, latex, weigh_clients
from verify.instances import Instance

x, y, xbar, x_i, g_i, F_i = sp.symbols("x y xbar x_i g_i F_i", real=True)
eta = sp.Symbol("eta", positive=True)
WHERE = {
    x: q.point,
    y: q.second_point,
    xbar: q.average_iterate,
    x_i: q.local_iterate,
    g_i: q.stochastic_gradient,
    F_i: q.client_objective,
    eta: q.local_step_size,
}


def test_latex_reads_like_mathematics() -> None:
    """Squares are typeset as norms, positive terms come first, and names that are LaTeX are kept."""
    assert latex(norm_sq(y - x)) == r"\|y- x\|^2"
    assert latex(inner(x, y)) == r"\langle x,\ y\rangle"
    assert latex(Gradient(F_i, x)) == r"\nabla F_{i}(x)"
    assert latex(sp.Symbol(r"\bar{x}^{(t,k)}") + 1).startswith(r"\bar{x}^{(t,k)}")


def test_a_sum_over_types_has_an_index_of_its_own() -> None:
    """The sum over types in the weight of a type has other index symbols; a sum over clients is kept."""
    weight, share = sp.Symbol("s_j(n)"), sp.Symbol("p_i")
    with weigh_clients(None, frozenset({weight})):
        assert latex(weight * ClientSum(weight)) == r"s_j(n) \sum_{l=1}^J s_{l}(n)"
        assert latex(ClientSum(share)) == r"\sum_{i=1}^M p_{i}"
        assert latex(ClientSum(share * weight)).startswith(r"\sum_{i=1}^M")
    assert latex(ClientSum(weight)) == r"\sum_{i=1}^M s_j(n)"
    repaired = find("fraboni2022:eq-12.normalised.fixed")
    assert r"\sum_{l=1}^J s_{l}(n)" in repaired.links[0]


def test_inner_products_are_symmetric() -> None:
    """<x, y> and <y, x> are one expression."""
    assert inner(x, y) == inner(y, x)


def test_plain_text_uses_the_vocabulary() -> None:
    """Symbols whose name is LaTeX have the name of their quantity in a terminal."""
    claim = Claim(id="t:c", lhs=q.max_drift, rhs=18 * eta, where=WHERE)
    assert claim.in_words(claim.relations[0].left) == "max_drift"
    assert format_plain(18 * eta, {}) == "18*eta"


def test_expectations_of_identities_vanish_exactly() -> None:
    """E|xbar - average of x_i|^2 is zero at every local step of a stochastic run, in rationals."""
    claim = Claim(
        id="t:average", lhs=Expectation(norm_sq(xbar - Average(x_i))), relation="==", rhs=0, where=WHERE, place="step"
    )
    evaluate = compile_expression(claim.relations[0].left, claim.notation)
    values = [evaluate(site) for site in iterate_sites(claim, Instance("small quadratics", 3).run())]
    assert values
    assert all((value == fmpq(0)).all() for value in values)


def test_values_are_quadratic_in_the_point() -> None:
    """F_i(y) - F_i(x) - <grad F_i(x), y - x> is half the Hessian form of y - x."""
    gap = Value(F_i, y) - Value(F_i, x) - inner(Gradient(F_i, x), y - x)
    claim = Claim(id="t:gap", lhs=gap, rhs=0, where=WHERE, place="points")
    run = Instance("small quadratics", 5).run()
    evaluate = compile_expression(gap, claim.notation)
    for site in iterate_sites(claim, run):
        apart = site.points[y] - site.points[x]
        expected = [apart @ hessian @ apart / 2 for hessian in run.problem.hessians]
        assert evaluate(site).ravel().tolist() == expected


FUNCTIONS = [
    sp.exp(-eta),
    sp.exp(1) * eta,
    sp.log(1 + eta),
    eta ** sp.Rational(1, 3),
    eta ** sp.Rational(-2, 3),
    eta ** sp.Rational(3, 4),
    sp.exp(eta) * sp.log(2 + eta) ** 2 - sp.sqrt(1 + eta),
]


@pytest.mark.parametrize("expression", FUNCTIONS, ids=str)
@pytest.mark.parametrize("family", ["small quadratics", "smooth losses"])
def test_functions_of_numbers(expression: sp.Expr, family: str) -> None:
    """Values agree with SymPy in floats, and are enclosures in rationals and for losses without rational values."""
    claim = Claim(id="t:functions", lhs=expression, rhs=0, where=WHERE)
    evaluate = compile_expression(expression, claim.notation)
    run = Instance(family, 5).run()
    size = sp.Rational(str(run.algorithm.work.step_sizes[0]))
    expected = expression.subs(eta, size).evalf(80)
    (site,) = iterate_sites(claim, run)
    with precise_enclosures():
        (found,) = evaluate(site).ravel()
    middle = arb(convert_to_ball(found)).mid().fmpq()
    assert abs(sp.Rational(int(middle.p), int(middle.q)) - expected) < sp.Rational(1, 10**50)
    (in_floats,) = iterate_sites(claim, run.as_floats())
    assert float(evaluate(in_floats).item()) == pytest.approx(float(expected), rel=1e-12)


def test_functions_of_rationals_that_are_rational() -> None:
    """exp 0, log 1 and roots of powers are exact, and numbers without a value are named."""
    assert RATIONAL.exp(fmpq(0)) == 1
    assert RATIONAL.log(fmpq(1)) == 0
    assert RATIONAL.root(fmpq(8, 27), 3) == fmpq(2, 3)
    assert isinstance(RATIONAL.root(fmpq(8, 26), 3), RootSum)
    for function, *arguments in (RATIONAL.log, fmpq(0)), (RATIONAL.root, fmpq(-1), 3), (RATIONAL.exp, fmpq(10**9)):
        with pytest.raises(NotApplicable):
            function(*arguments)


def test_functions_of_what_is_random_have_no_expectation() -> None:
    """The expectation of an exponential or a maximum is not determined by second moments, and is rejected."""
    for function in (sp.exp, sp.Abs, sp.floor, lambda node: sp.Max(node, 0)):
        with pytest.raises(ValueError, match="only expectations linear in inner products"):
            require_meaning(Expectation(function(inner(x, y))), "step")


@pytest.mark.parametrize(
    ("expression", "complaint"),
    [
        (x, "not a number"),
        (sp.sin(eta), "cannot evaluate"),
        (eta**sp.pi, "a power with a rational exponent"),
        (norm_sq(eta * x * y), "one vector"),
        (Value(x, y), "not an objective"),
        (inner(eta, x), "not a vector"),
    ],
)
def test_parts_outside_the_language_are_refused(expression: sp.Expr, complaint: str) -> None:
    """Compilation names the part without meaning."""
    with pytest.raises(ValueError, match=complaint):
        compile_expression(expression, WHERE)


def test_means_over_clients_are_typeset_as_the_claim_takes_them() -> None:
    """Averages over clients are typeset with the claim's symbol of client weights, if these may be unequal."""
    equal, unequal = find("comparator:average-error"), find("comparator:curvatures.average-error")
    own = find("fraboni2022:eq-4")
    of_all = Average(sp.Symbol("v_i"))
    typeset = []
    for claim in (equal, unequal, own):
        with claim.typesetting():
            typeset.append(latex(of_all))
    assert typeset == [r"\frac{1}{M}\sum_{i=1}^M v_{i}", r"\sum_{i=1}^M p_{i} v_{i}", r"\sum_{i=1}^M p_{i} v_{i}"]
    assert latex(of_all) == typeset[0]
    assert r"\sum_{i=1}^M p_{i} L_{i}" in unequal.encoded

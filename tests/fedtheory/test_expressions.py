"""The language of proofs: typesetting, text, and evaluation on runs."""

from __future__ import annotations

import pytest
import sympy as sp
from flint import fmpq

from fedtheory import Claim, Value, inner, norm_sq
from fedtheory.kernel.expressions import Average, Expectation, Gradient
from fedtheory.language import quantities as q
from fedtheory.language.evaluation import compile_expression, sites
from fedtheory.language.typesetting import latex, plain
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
    """Squares are norms, positive terms come first, names that are LaTeX stay as they are."""
    assert latex(norm_sq(y - x)) == r"\|y- x\|^2"
    assert latex(inner(x, y)) == r"\langle x,\ y\rangle"
    assert latex(Gradient(F_i, x)) == r"\nabla F_{i}(x)"
    assert latex(sp.Symbol(r"\bar{x}^{(t,k)}") + 1).startswith(r"\bar{x}^{(t,k)}")


def test_inner_products_are_symmetric() -> None:
    """<x, y> and <y, x> are one expression."""
    assert inner(x, y) == inner(y, x)


def test_plain_text_uses_the_vocabulary() -> None:
    """Symbols whose name is LaTeX are called by their quantity in a terminal."""
    claim = Claim(id="t:c", lhs=q.max_drift, rhs=18 * eta, where=WHERE)
    assert claim.in_words(claim.relations[0].left) == "max_drift"
    assert plain(18 * eta, {}) == "18*eta"


def test_expectations_of_identities_vanish_exactly() -> None:
    """E|xbar - average of x_i|^2 is zero at every local step of a stochastic run, in rationals."""
    claim = Claim(
        id="t:average", lhs=Expectation(norm_sq(xbar - Average(x_i))), relation="==", rhs=0, where=WHERE, place="step"
    )
    evaluate = compile_expression(claim.relations[0].left, claim.notation)
    values = [evaluate(site) for site in sites(claim, Instance("small quadratics", 3).run())]
    assert values
    assert all((value == fmpq(0)).all() for value in values)


def test_values_are_quadratic_in_the_point() -> None:
    """F_i(y) - F_i(x) - <grad F_i(x), y - x> is half the Hessian form of y - x."""
    gap = Value(F_i, y) - Value(F_i, x) - inner(Gradient(F_i, x), y - x)
    claim = Claim(id="t:gap", lhs=gap, rhs=0, where=WHERE, place="points")
    run = Instance("small quadratics", 5).run()
    evaluate = compile_expression(gap, claim.notation)
    for site in sites(claim, run):
        apart = site.points[y] - site.points[x]
        expected = [apart @ hessian @ apart / 2 for hessian in run.problem.hessians]
        assert evaluate(site).ravel().tolist() == expected


@pytest.mark.parametrize(
    ("expression", "complaint"),
    [
        (x, "not a number"),
        (sp.sin(eta), "cannot evaluate"),
        (eta ** sp.Rational(1, 3), "whole, half or quarter power"),
        (norm_sq(eta * x * y), "one vector"),
        (Value(x, y), "not an objective"),
        (inner(eta, x), "not a vector"),
    ],
)
def test_what_the_language_does_not_know_is_refused(expression: sp.Expr, complaint: str) -> None:
    """Compiling names the part that has no meaning."""
    with pytest.raises(ValueError, match=complaint):
        compile_expression(expression, WHERE)


def test_telescoping_holds_for_every_horizon() -> None:
    """sum_{t<T} (d(t) - d(t+1)) = d(0) - d(T): by induction over a symbolic T."""
    d, horizon = sp.Function("d"), sp.Symbol("T", integer=True, nonnegative=True)
    closed = d(0) - d(horizon)
    step = closed.subs(horizon, horizon + 1) - closed
    assert closed.subs(horizon, 0) == 0
    assert sp.simplify(step - (d(horizon) - d(horizon + 1))) == 0

"""Scripts of users' claims at points: free numbers that may be zero, differences that cancel, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import pytest
import sympy as sp

from fedtheory import Claim, Gradient, Value, inner, norm_sq
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.kernel import Term, smoothness, square, strong_convexity
from fedtheory.kernel.expressions import Expectation
from fedtheory.proofs import Certificate, check_certificate
from verify.rocq.export import export_claim
from verify.rocq.project import render_file
from verify.rocq.refusals import NotExported

x, y, F = sp.symbols("x y F", real=True)
beta = sp.Symbol("beta", nonnegative=True)
eta, L, mu, tau = sp.symbols("eta L mu tau", positive=True)
WHERE: dict[Any, Any] = {x: q.point, F: q.client_objective, eta: q.local_step_size, L: q.smoothness}
STEP = x - eta * Gradient(F, x)


def script(claim: Claim, *terms: Term) -> str:
    """Return the file of a claim, whose certificate the kernel accepts."""
    certificate = Certificate(claim=claim.id, links=[list(terms)])
    assert check_certificate(claim, certificate).verdict == "proved"
    return render_file(export_claim(claim, certificate))


def between(values: list[int]) -> Claim:
    """Return the bound of a squared norm between two points."""
    return Claim(
        id="own:between",
        lhs=norm_sq(beta * x + (1 - beta) * y),
        rhs=beta * norm_sq(x) + (1 - beta) * norm_sq(y),
        place="points",
        where={x: q.point, y: q.second_point},
        for_all={beta: values},
        conditions=[beta <= 1],
    )


@pytest.mark.parametrize(("values", "is_split"), [([0, 1, 2], True), ([1, 2], False)], ids=["zero", "positive"])
def test_a_number_that_may_be_zero_divides_where_it_is_positive(values: list[int], is_split: bool) -> None:
    """A sign by a condition divides by the free number; the case of zero stands apart where it is a value."""
    text = script(between(values), Term(beta * (1 - beta), square(x - y)))
    assert ("destruct (Rtotal_order 0 (each_1))" in text) is is_split
    assert "spare := (1 - (each_1)) / (each_1)" in text


def test_a_difference_of_points_is_written_as_in_the_statement() -> None:
    """The known inequality has the difference of two points, of which the statement has what does not cancel."""
    drop = eta * (1 - L * eta / 2) * norm_sq(Gradient(F, x))
    known = {"where": WHERE, "place": "points", "assumptions": [a.convex_and_smooth]}
    descent = Claim(id="own:descent", lhs=Value(F, STEP), rhs=Value(F, x) - drop, **known)
    text = script(descent, Term(sp.S.One, smoothness(F, STEP, x)))
    assert re.search(r"^Require Import .*\bDefinitions\b.*\.$", text, re.MULTILINE)
    assert re.search(r"replace \(\(point_1 - .*\) - \(point_1\)\)%vec with \(.*\)%vec in known by by_linear; lra", text)
    apart = Claim(
        id="own:apart",
        lhs=Value(F, y),
        rhs=Value(F, x) + smoothness_at(y, x),
        **(known | {"where": WHERE | {y: q.second_point}}),
    )
    assert "by_linear" not in script(apart, Term(sp.S.One, smoothness(F, y, x)))


def smoothness_at(at: Any, around: Any) -> Any:
    """Return the tangent and the parabola of a smooth function around a point."""
    return inner(Gradient(F, around), at - around) + L / 2 * norm_sq(at - around)


def test_numbers_without_a_hypothesis_are_refused() -> None:
    """A curvature needs its assumption; a number of local steps needs the index of the step."""
    curved = Claim(
        id="own:curved",
        lhs=mu / 2 * norm_sq(x - y),
        rhs=Value(F, x) - Value(F, y) - smoothness_at(x, y) + L / 2 * norm_sq(x - y),
        where=WHERE | {y: q.second_point, mu: q.strong_convexity},
        place="points",
        assumptions=[a.convex_and_smooth],
    )
    with pytest.raises(NotExported, match=r"add assumptions\.strongly_convex_clients"):
        script(curved, Term(sp.S.One, strong_convexity(F, x, y)))
    point = sp.Symbol("x_i", real=True)
    counted = Claim(
        id="own:counted",
        lhs=sp.S.Zero,
        rhs=Expectation(tau * norm_sq(point)),
        where={point: q.local_iterate, tau: q.local_steps},
        place="step",
        assumptions=[a.same_local_work],
    )
    with pytest.raises(NotExported, match="expected the index of the local step"):
        script(counted, Term(tau, square(point)))


def test_a_claim_without_certificate_says_where_one_is_kept() -> None:
    with pytest.raises(NotExported, match="it has no certificate; in a paper's folder, `fedtheory prove FOLDER"):
        export_claim(between([1]))

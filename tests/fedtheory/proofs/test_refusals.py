"""False or meaningless statements that a single check rejects."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from fedtheory import RATIONAL, parse_run
from fedtheory.kernel import (
    Context,
    Inequality,
    InequalityRef,
    Rejected,
    Term,
    assumption,
    check,
    square,
    strong_convexity,
)
from fedtheory.kernel.expressions import (
    Average,
    ClientSum,
    Expectation,
    Gradient,
    LocalSum,
    PastSum,
    Selected,
    Value,
    inner,
    norm_sq,
)
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Rate
from fedtheory.language.registry import find
from fedtheory.proofs import Certificate, Combination, Part, certificates, check_certificate, facts
from fedtheory.proofs.links import CauchySchwarz, Nonnegative, Positive, PrefixSum, Product, Products
from fedtheory.proofs.numbers import ROUNDS
from fedtheory.proofs.roots import Root
from verify.check import check as evaluate

ONE, ZERO = sp.S.One, sp.S.Zero
eta, L, M, T, nu, sigma, E_i = sp.symbols("eta L M T nu sigma E_i", positive=True)
k = sp.Symbol("k", nonnegative=True, integer=True)
S = sp.Symbol("S", positive=True, integer=True)
r, share, total, squared, slope_sq = sp.symbols("r share total squared slope_sq", nonnegative=True)
x, y, x_i, xi, best, F, s, t, u = sp.symbols("x y x_i xi best F s t u", real=True)
WHERE: dict[sp.Symbol, Any] = {
    eta: q.local_step_size,
    L: q.smoothness,
    M: q.clients,
    T: q.rounds,
    nu: q.smallest_curvature,
    sigma: q.noise_deviation,
    x: q.point,
    y: q.second_point,
    F: q.objective,
}
AT_POINTS: dict[str, Any] = {"lhs": norm_sq(x), "rhs": ZERO, "place": "points"}
QUIET = (a.full_gradients,)


def stated(**parts: Any) -> Claim:
    """Return a small claim, by default in the symbols of this module."""
    return Claim(id="t:refused", **{"where": WHERE, **parts})


def links(*why: Any, **parts: Any) -> Certificate:
    """Return a certificate for the small claim."""
    return Certificate(claim="t:refused", links=list(why), **parts)


def sums(*parts: Any, **more: Any) -> Combination:
    """Return a combination for its only relation."""
    return Combination(claim="t:refused", links=[list(parts)], **more)


def assert_stopped(claim: Claim, certificate: Any, because: str, prover: Any = None) -> None:
    """Assert that exactly one step of a certificate fails, with the given message."""
    steps = (
        check_certificate(claim, certificate).steps
        if prover is None
        else check_certificate(claim, certificate, prover).steps
    )
    failing = [step.text for step in steps if not step.holds]
    assert len(failing) == 1, failing
    assert because in failing[0]


def is_false(claim: Claim, problem: Any = (), **algorithm: Any) -> bool:
    """Return whether a claim fails on an exact run of two clients."""
    two = {"kind": "quadratic", "hessians": [[["1"]], [["2"]]], "linear": [["1"], ["0"]], "start": ["1"]}
    steps = {"local_step_size": "1/4", "rounds": 2, "local_steps": 2, **algorithm}
    return (
        evaluate(claim, parse_run({"problem": {**two, **dict(problem)}, "algorithm": steps}, RATIONAL)).holds is False
    )


# Numbers.


def test_exponents() -> None:
    """A power that decreases with the rounds is a hidden denominator, and M - 1 is zero for one client."""
    claim = stated(**AT_POINTS, conditions=[sp.Le((M - 1) ** T, 0, evaluate=False)])
    why = [Term(-((M - 1) ** T), square((M - 1) ** (-T / 2) * x))]
    assert_stopped(claim, links(why), "has an exponent")
    assert is_false(claim, {"hessians": [[["1"]]], "linear": [["1"]], "start": ["3"]}, rounds=1)


def test_a_gradient_is_no_number() -> None:
    """An expression of numbers only has no gradient, even times zero."""
    nonsense = Gradient(eta, eta)
    claim = stated(lhs=sigma * nonsense, relation="==", rhs=ZERO, assumptions=QUIET)
    assert_stopped(claim, sums(Part(-nonsense, facts.QUIET)), "vectors have values at local steps only")


def test_a_root_of_a_clients_number_is_a_clients() -> None:
    """The symbol of a root is shared by all clients, so the root of a client's number is rejected."""
    claim = stated(lhs=Average(sp.sqrt(E_i)), relation="==", rhs=sp.sqrt(E_i), where={E_i: q.client_local_steps})
    assert_stopped(claim, sums(roots=[Root(r, E_i, [Part(E_i, facts.ONE)])]), "differs from client to client")
    assert is_false(claim, local_steps=[1, 4])


def test_a_symbol_is_what_all_of_its_values_are() -> None:
    """A symbol has only the signs of all of its values, whatever is declared."""
    claim = stated(lhs=ZERO, rhs=S, where={}, for_all={S: [-1, 2]})
    assert_stopped(claim, sums(Part(S, facts.ONE)), "coefficient (S) >= 0")
    assert is_false(claim)
    assert check_certificate(replace(claim, for_all={S: [1, 2]}), sums(Part(S, facts.ONE))).verdict == "proved"
    vanishing = sp.Symbol("S", zero=True)
    tried = replace(claim, rhs=-vanishing, for_all={vanishing: [2]})
    assert_stopped(tried, sums(Part(-vanishing, facts.ONE)), "coefficient (-S) >= 0")
    assert is_false(tried)


# Contents of the context.


class Forged:
    """A forged inequality that minus one is non-negative."""

    def instantiate(self, _context: Context) -> Inequality:
        """Return minus the squared norm of x."""
        return Inequality("mine", -norm_sq(x))


def test_reasons_are_those_of_the_kernel() -> None:
    """Another object, or an unknown name, is no inequality of the kernel, even without a document."""
    claim, forged = stated(**AT_POINTS), Forged()
    assert_stopped(claim, links([Term(ONE, forged)]), "expected a reason of the kernel")  # type: ignore[arg-type]
    assert_stopped(claim, links([Term(ONE, InequalityRef("luck", (x,)))]), "no inequality called 'luck'")
    with pytest.raises(Rejected, match="no inequality called 'luck'"):
        check(norm_sq(x), ZERO, [Term(ONE, InequalityRef("luck", (x,)))], Context(vectors=frozenset({x})), ())
    assert is_false(claim)


def test_a_fact_is_a_known_one() -> None:
    """A user-defined fact is rejected."""
    claim = stated(lhs=ONE, rhs=ZERO)
    forged = facts.Fact(facts.ONE.name, -ONE)
    assert_stopped(claim, sums(Part(ONE, forged)), "expected one of one, ")
    assert is_false(claim)


def test_strong_convexity_needs_its_constant() -> None:
    """Without the symbol of its constant nothing is strongly convex."""
    bend = Value(F, x) - Value(F, y) - inner(Gradient(F, y), x - y)
    where = {symbol: quantity for symbol, quantity in WHERE.items() if symbol != nu}
    claim = stated(lhs=L * norm_sq(x - y) / 2, rhs=bend, place="points", where=where)
    assert_stopped(claim, links([Term(ONE, strong_convexity(F, x, y))]), "not known to be strongly convex")
    assert is_false(claim)


def test_at_points_no_steps_are_taken() -> None:
    """A claim at a point has no steps to sum over."""
    claim = stated(**AT_POINTS)
    assert_stopped(claim, links([Term(ONE, square(x), summed=True)]), "number of local steps")
    assert is_false(claim)


def test_noise_in_a_mean_needs_the_shares() -> None:
    """The variance of an average is 1/M of that of its terms only with equal weights."""
    claim = stated(
        lhs=Expectation(norm_sq(Average(xi))),
        rhs=sigma**2 / M,
        where={xi: q.gradient_noise, sigma: q.noise_deviation, M: q.clients},
        place="step",
        assumptions=(a.unbiased_bounded_variance,),
    )
    why = [Term(1 / M, assumption("bounded variance"), averaged=True)]
    assert_stopped(claim, links(why), "their weights")
    assert is_false(claim, {"weights": ["1/4", "3/4"], "noise": "1"})


def test_symbols_that_change_between_steps_are_vectors() -> None:
    """A symbol that changes between steps is a vector, so that its sum is no multiple."""
    context = {"client_vectors": frozenset({x_i}), "local_steps": sp.Integer(2)}
    total, multiple = norm_sq(LocalSum(x_i)), 4 * norm_sq(x_i)
    assert not all(step.holds for step in check(total, multiple, [], Context(**context, step_vectors={x_i}), ()))
    with pytest.raises(Rejected, match="only vectors differ between local steps"):
        check(total, multiple, [], Context(**context, step_vectors=frozenset({y})), ())


# Statements of other kinds.


def test_rates_are_not_proved() -> None:
    """A proved relation does not prove an additional rate."""
    rate = Rate(measured=T, order=1 / T, variable=T)
    claim = stated(rate=rate, also=stated(lhs=norm_sq(x), rhs=2 * norm_sq(x)).relations, place="points")
    assert_stopped(claim, links([Term(ONE, square(x))]), "rates have no certificates")
    numbers = stated(rate=rate, also=stated(lhs=ZERO, rhs=M).relations)
    assert_stopped(numbers, sums(Part(M, facts.ONE)), "rates have no certificates")


OF_EACH_KIND = {type(found): name for name, found in certificates().items()}
"""A proved claim for each kind of certificate."""


@pytest.mark.parametrize("name", OF_EACH_KIND.values(), ids=[kind.__name__ for kind in OF_EACH_KIND])
def test_no_kind_of_certificate_proves_a_rate(name: str) -> None:
    """A bound on the last model, or a fixed point, does not prove an additional rate."""
    plain = find(name)
    claim = replace(plain, rate=Rate(measured=T, order=1 / T, variable=T), where={**plain.where, T: q.rounds})
    found = check_certificate(claim, certificates()[name])
    assert [step.text for step in found.steps if not step.holds] == ["expected relations: rates have no certificates"]


@pytest.mark.parametrize("number", [1, 3])
def test_every_relation_has_its_link(number: int) -> None:
    """Every relation needs a link, and every link a relation."""
    false = stated(**AT_POINTS).relations
    claim = stated(lhs=norm_sq(x), rhs=2 * norm_sq(x), also=false, place="points")
    why: list[Any] = [[Term(ONE, square(x))], [Term(-ONE, square(x))], []][:number]
    assert_stopped(claim, links(*why), f"each of the 2 relations of the claim, got {number}")
    of_run = stated(lhs=ZERO, rhs=M, also=stated(lhs=M, rhs=ZERO).relations)
    parts = [[Part(M, facts.ONE)], [Part(-M, facts.ONE)], []][:number]
    assert_stopped(
        of_run, Combination(claim=of_run.id, links=parts), f"each of the 2 relations of the claim, got {number}"
    )
    assert is_false(claim)
    assert is_false(of_run)


def test_a_positive_difference_shows_no_equation() -> None:
    """A positive difference does not prove an equation."""
    claim = stated(lhs=ZERO, relation="==", rhs=eta, place="points")
    assert_stopped(claim, links(Positive()), "proves a strict inequality")
    assert is_false(claim)


def test_equal_sums_are_not_smaller() -> None:
    """A known sum over past steps is not smaller than its value."""
    claim = stated(
        lhs=PastSum(k),
        relation="<",
        rhs=k * (k + 1) / 2,
        where={k: q.local_step_index},
        place="round",
        assumptions=ROUNDS,
    )
    assert_stopped(claim, links(PrefixSum()), "a total is an equation")
    assert is_false(claim)


def test_a_sum_of_vectors_is_no_inner_product() -> None:
    """A sum of two vectors contains no inner product."""
    both = {"s": Nonnegative(s, [Term(ONE, square(x))]), "product": CauchySchwarz(s, t, u)}
    why = Products(scalars={s: norm_sq(x), t: norm_sq(y), u: x + y}, facts=both, parts=[Product(ONE, ["product"])])
    claim = stated(lhs=(x + y) ** 2, rhs=norm_sq(x) * norm_sq(y), place="points")
    assert_stopped(claim, links(why), "Cauchy-Schwarz")


# Weights.

SCHEME = (a.aggregation_scheme, a.unbiased_gradients, a.somebody_reports)
OF_UPDATES = {squared: q.stochastic_gradient_sq, share: q.weight_share, total: q.weight_sum}


def test_importances_are_no_shares() -> None:
    """Client weights are not the normalised weights of an update with other weights."""
    claim = stated(
        lhs=Average(squared), relation="==", rhs=ClientSum(share * squared), where=OF_UPDATES, assumptions=SCHEME
    )
    assert_stopped(claim, links([]), "use the client weights")
    assert is_false(claim, aggregation=["1/4", "3/4"])


def test_shares_need_somebody_who_reports() -> None:
    """If no client reports, normalised weights that add up to one are undefined."""
    claim = stated(lhs=ClientSum(share), relation="==", rhs=ONE, where={share: q.weight_share}, assumptions=SCHEME[:2])
    assert_stopped(claim, links([]), "in updates with a report")


def test_averages_over_participants_are_random() -> None:
    """The average optimum of participants is random."""
    drawn = norm_sq(Selected(best))
    claim = stated(
        lhs=Expectation(drawn),
        relation="==",
        rhs=drawn,
        where={best: q.client_optimum},
        place="round",
        assumptions=(a.uniform_sampling, a.unit_server_step, a.uniform_shares),
    )
    assert_stopped(claim, links([]), "is random, and stands outside of an expectation")
    assert is_false(claim, participation={"kind": "uniform", "clients": 1})

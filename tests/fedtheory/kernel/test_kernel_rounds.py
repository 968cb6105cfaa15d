"""Averages with clients' numbers, sums over local steps, noise of one sample, and client sampling."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
import sympy as sp

from fedtheory.kernel import Context, Numbers, Rejected, Term, check, mean_of_drawn, scalar, square, vector, write_form
from fedtheory.kernel.expressions import Average, Expectation, Gradient, LocalSum, Selected, inner, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs import Certificate, check_certificate

M, L = sp.symbols("M L", positive=True)
E_i, s_i = sp.symbols("E_i s_i", positive=True)
w, u, v = sp.symbols("w u v", real=True)
x_i, y_i, n_i, m_i, p_i = sp.symbols("x_i y_i n_i m_i p_i", real=True)
F, F_i = sp.symbols("F F_i", real=True)

THEORY = Context(
    numbers=Numbers(symbols=frozenset({M, L}), of_clients=frozenset({E_i, s_i}), at_least={M: 2, L: 1}),
    vectors=frozenset({w}),
    client_vectors=frozenset({x_i, y_i, n_i, m_i, p_i}),
    step_vectors=frozenset({n_i, m_i, p_i}),
    noise=frozenset({n_i, m_i}),
    common_random_numbers=frozenset({frozenset({n_i, m_i})}),
    random=frozenset({p_i}),
    clients=M,
    share=1 / M,
    participants=L,
    of_a_round=True,
    local_steps=E_i,
    objectives=frozenset({F}),
    client_objectives=frozenset({F_i}),
    means={F: F_i},
)


def same(left: Any, right: Any, context: Context = THEORY) -> bool:
    """Return whether two scalars have the same normal form."""
    return scalar(left - right, context) == {}


EQUATIONS = {
    "clients' numbers stay inside": (
        Average(s_i * norm_sq(x_i - w)),
        Average(s_i * norm_sq(x_i)) - 2 * inner(Average(s_i * x_i), w) + Average(s_i) * norm_sq(w),
    ),
    "shared numbers leave a mean of numbers": (
        Average(2 * s_i / E_i + M * s_i) * norm_sq(w),
        (2 * Average(s_i / E_i) + M * Average(s_i)) * norm_sq(w),
    ),
    "a sum of the same is a multiple": (norm_sq(LocalSum(x_i)), E_i**2 * norm_sq(x_i)),
    "sums of squares of fresh noise": (norm_sq(LocalSum(n_i)), LocalSum(norm_sq(n_i))),
    "a mean of noises with clients' numbers": (norm_sq(Average(s_i * n_i)), Average(s_i**2 * norm_sq(n_i)) / M),
    "own noise in a mean of sums": (
        inner(Average(s_i * LocalSum(n_i)), LocalSum(n_i)),
        s_i * LocalSum(norm_sq(n_i)) / M,
    ),
    "fresh noise and earlier iterates": (inner(n_i, p_i), sp.S.Zero),
    "expected gradients": (inner(Expectation(Gradient(F_i, w) + n_i), w), inner(Gradient(F_i, w), w)),
    "whoever is drawn, in the mean": (inner(Expectation(Selected(s_i * x_i)), w), inner(Average(s_i * x_i), w)),
    "a shared vector is the same for all that are drawn": (norm_sq(Selected(w)), norm_sq(w)),
}


@pytest.mark.parametrize("name", EQUATIONS)
def test_equations(name: str) -> None:
    """Both sides have the same normal form, and a side and its double do not."""
    left, right = EQUATIONS[name]
    assert same(left, right)
    assert not same(left, right + norm_sq(w))


LOOK_ALIKES = {
    "a client's number does not leave the mean": (Average(s_i * norm_sq(x_i)), s_i * Average(norm_sq(x_i))),
    "noises of one draw are not independent": (inner(n_i, m_i), sp.S.Zero),
    "nor are their sums": (inner(LocalSum(n_i), LocalSum(m_i)), sp.S.Zero),
    "summed noise is in later iterates": (inner(LocalSum(n_i), LocalSum(p_i)), sp.S.Zero),
    "nor does a sum of noise see one iterate only": (inner(LocalSum(n_i), p_i), sp.S.Zero),
    "a sum of steps is no multiple": (norm_sq(LocalSum(p_i)), E_i**2 * norm_sq(p_i)),
}


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_variants_of_rules_are_refused(name: str) -> None:
    """Variants of the rules are not equal."""
    left, right = LOOK_ALIKES[name]
    assert not same(left, right)


step = sp.Symbol("k", nonnegative=True)
NUMBERED = replace(
    THEORY,
    numbers=replace(THEORY.numbers, symbols=THEORY.numbers.symbols | {step}),
    step_vectors=THEORY.step_vectors | {y_i},
    step_number=step,
)


@pytest.mark.parametrize("power", [0, 1, 2, 3])
def test_sums_of_powers_of_the_number_of_a_step(power: int) -> None:
    """Sums of powers of the step index over a client's steps are closed forms."""
    ((monomial, found),) = scalar(LocalSum(s_i * step**power * norm_sq(x_i)), NUMBERED).items()
    assert monomial == norm_sq(x_i)
    for steps in (1, 2, 5):
        assert found.expression.subs(E_i, steps) == s_i * sum(sp.Integer(number) ** power for number in range(steps))


@pytest.mark.parametrize(
    "content", [step * norm_sq(y_i), norm_sq(x_i) / (1 + step), sp.sqrt(step) * norm_sq(x_i), step * inner(p_i, x_i)]
)
def test_sums_that_are_not_known(content: Any) -> None:
    """Sums of expressions that change in other ways, and of other functions of the step index, are not known."""
    with pytest.raises(Rejected, match=r"over which it is summed|under a sum"):
        scalar(LocalSum(content), NUMBERED)
    with pytest.raises(Rejected, match=r"over which it is summed|under a sum"):
        vector(LocalSum(step * x_i), NUMBERED)


@pytest.mark.parametrize(("clients", "drawn"), [(2, 1), (2, 2), (3, 1), (3, 2), (4, 2), (4, 3), (5, 5)])
def test_products_of_drawn_means_by_enumeration(clients: int, drawn: int) -> None:
    """E<Selected(u), Selected(v)> over all subsets, against the kernel's formula."""
    ones = [Fraction(3 * i + 1, i + 2) for i in range(clients)]
    others = [Fraction((-2) ** i, 3) for i in range(clients)]
    subsets = list(combinations(range(clients), drawn))
    exact = sum(sum(ones[i] for i in s) * sum(others[i] for i in s) for s in subsets) / len(subsets) / drawn**2
    alone = sum(x * y for x, y in zip(ones, others, strict=True)) / clients
    means = sum(ones) / clients * sum(others) / clients
    form = scalar(inner(Selected(x_i), Selected(y_i)), THEORY)
    given = {Average(inner(x_i, y_i)): alone, inner(Average(x_i), Average(y_i)): means}
    found = sum(
        coefficient.expression.subs({M: clients, L: drawn}) * sp.Rational(given[m]) for m, coefficient in form.items()
    )
    assert sp.Rational(exact) == found


@pytest.mark.parametrize(
    "expression",
    [Expectation(p_i), Expectation(Gradient(F_i, p_i)), Selected(s_i * w), Expectation(Selected(p_i))],
)
def test_means_that_are_not_known(expression: Any) -> None:
    """The expectation of an iterate is not known, and random numbers are no vectors of the language."""
    with pytest.raises(Rejected):
        vector(expression, THEORY)


def test_for_every_outcome_a_drawn_mean_is_opaque() -> None:
    """Without client sampling in the context, the square of a participants' average is opaque."""
    pathwise = replace(THEORY, participants=None, noise=frozenset(), common_random_numbers=frozenset())
    assert not same(norm_sq(Selected(x_i)), Average(norm_sq(x_i)), pathwise)
    assert same(norm_sq(Selected(x_i + w)), norm_sq(Selected(x_i)) + 2 * inner(Selected(x_i), w) + norm_sq(w), pathwise)


g, phi, psi, w_next = sp.symbols("g phi psi w_next", real=True)
NOTATION: dict[sp.Symbol, Any] = {
    M: q.clients,
    L: q.participants,
    E_i: q.client_local_steps,
    s_i: q.client_step_size,
    w: q.server_model,
    w_next: q.next_server_model,
    phi: q.local_iterate,
    psi: q.local_result,
    g: q.stochastic_gradient,
    F: q.objective,
    F_i: q.client_objective,
}
SAMPLED = (a.uniform_sampling, a.unit_server_step, a.uniform_shares, a.several_clients)


def verdict(left: Any, right: Any, assumptions: Any = SAMPLED) -> str:
    """Return the kernel verdict on an equation about a round."""
    claim = Claim(
        id="t:round", lhs=left, relation="==", rhs=right, place="round", where=NOTATION, assumptions=assumptions
    )
    return check_certificate(claim, Certificate(claim=claim.id, links=[[]])).verdict


def test_equations_about_a_round() -> None:
    """Equations hold for every outcome, or in expectation with all random expressions inside."""
    assert verdict(norm_sq(w_next - Selected(psi)), 0) == "proved"
    assert verdict(norm_sq(psi - (w - s_i * LocalSum(g))), 0) == "proved"
    mean = Average(Expectation(psi))
    assert verdict(norm_sq(Expectation(Selected(psi)) - mean), 0) == "proved"
    assert verdict(Expectation(inner(g - Gradient(F_i, phi), phi)), 0) == "proved"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        # An outcome is not its expectation.
        (norm_sq(psi), Expectation(norm_sq(psi))),
        (inner(g - Gradient(F_i, phi), w), 0),
        (norm_sq(Selected(psi) - w), Expectation(norm_sq(Selected(psi) - w))),
        (norm_sq(Selected(psi)), Average(Expectation(norm_sq(psi)))),
        # An average over participants is not the average over all clients.
        (norm_sq(Selected(psi) - Average(psi)), 0),
    ],
)
def test_random_numbers_outside_expectations(left: Any, right: Any) -> None:
    """Equations that hold in expectation only are not proved for every outcome."""
    assert verdict(left, sp.sympify(right)) == "broken"


def test_rounds_with_full_gradients() -> None:
    """Without noise a stochastic gradient is the gradient, in expectation and for each outcome; with noise not."""
    quiet = (*SAMPLED, a.full_gradients)
    for wrapped in (norm_sq(g - Gradient(F_i, phi)), Expectation(norm_sq(g - Gradient(F_i, phi)))):
        assert verdict(wrapped, 0, quiet) == "proved"
        assert verdict(wrapped, 0) == "broken"
    assert verdict(norm_sq(psi - w + s_i * LocalSum(Gradient(F_i, phi))), 0, quiet) == "proved"
    assert verdict(norm_sq(g - Gradient(F_i, w)), 0, quiet) == "broken"
    assert verdict(Expectation(norm_sq(g)), 0, quiet) == "broken"


@pytest.mark.parametrize("extra", [phi, g, LocalSum(g)], ids=["an iterate", "a gradient", "all gradients"])
def test_the_fluctuation_of_a_result_is_not_independent_of_how_it_came_about(extra: Any) -> None:
    """If the result of a client is a mean plus a fluctuation, vectors inside of the round are not known."""
    spread = Expectation(norm_sq(psi - Expectation(psi)))
    whole = Expectation(norm_sq(psi))
    claim = Claim(id="t:spread", lhs=spread, rhs=whole, place="round", where=NOTATION, assumptions=SAMPLED)
    honest = Term(sp.S.One, square(Expectation(psi)))
    assert check_certificate(claim, Certificate(claim=claim.id, links=[[honest]])).verdict == "proved"
    for vector_of_term in (psi - Expectation(psi) + extra, extra):
        refused = check_certificate(
            claim, Certificate(claim=claim.id, links=[[honest, Term(sp.S.One, square(vector_of_term))]])
        )
        assert any("is not a vector of the context" in step.text for step in refused.steps if not step.holds)


@pytest.mark.parametrize("missing", [a.uniform_sampling, a.unit_server_step])
def test_rounds_of_other_kinds(missing: Any) -> None:
    """Without uniform sampling, or with another server step, rounds have no rules."""
    fewer = tuple(assumption for assumption in SAMPLED if assumption is not missing)
    assert verdict(norm_sq(w_next - Selected(psi)), 0, fewer) == "broken"


def test_two_different_participants_need_two_clients() -> None:
    """Products of participants' averages divide by M - 1, so they are opaque for one client."""
    alone = replace(THEORY, numbers=replace(THEORY.numbers, at_least={M: 1, L: 1}))
    both = inner(Selected(x_i), Selected(x_i))
    assert write_form(scalar(both, alone)) == both
    assert not same(norm_sq(Selected(x_i)), Average(norm_sq(x_i)), alone)
    assert same(norm_sq(Selected(x_i - w)), norm_sq(Selected(x_i)) - 2 * inner(Average(x_i), w) + norm_sq(w), alone)


@pytest.mark.parametrize("clients", [1, 2])
def test_jensen_for_those_that_are_drawn(clients: int) -> None:
    """In expectation the square of a participants' average is at most the average square, but not half of it."""
    context = replace(THEORY, numbers=replace(THEORY.numbers, at_least={M: clients, L: 1}))
    drawn, every = norm_sq(Selected(s_i * x_i)), Average(s_i**2 * norm_sq(x_i))
    reason = mean_of_drawn(s_i * x_i)
    assert all(step.holds for step in check(drawn, every, [Term(sp.S.One, reason)], context, ()))
    for factor in (sp.Rational(1, 2), 2):
        assert not all(step.holds for step in check(drawn, factor * every, [Term(sp.S.One, reason)], context, ()))
    with pytest.raises(Rejected, match="depends on the participants"):
        check(drawn, every, [Term(sp.S.One, mean_of_drawn(x_i + 10 * Selected(x_i)))], context, ())
    for other in (replace(context, participants=None), replace(context, of_a_round=False)):
        with pytest.raises(Rejected):
            check(drawn, every, [Term(sp.S.One, reason)], other, ())


indicator = sp.Symbol("1_i", real=True)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (Expectation(indicator), L / M, "proved"),
        (Average(Expectation(indicator * norm_sq(psi))), L / M * Average(Expectation(norm_sq(psi))), "proved"),
        (Average(Expectation(norm_sq(indicator * psi))), L / M * Average(Expectation(norm_sq(psi))), "proved"),
        (norm_sq(Average(indicator * psi) - L / M * Selected(psi)), 0, "proved"),
        (Average(Expectation(norm_sq(indicator * psi))), Average(Expectation(norm_sq(psi))), "broken"),
        (norm_sq(Average(indicator * psi) - Selected(psi)), 0, "broken"),
        (indicator, L / M, "broken"),
        (indicator * (1 - indicator), 0, "proved"),
        (indicator * (2 - indicator), 0, "broken"),
        (M * Average(indicator), L, "proved"),
        (Expectation(indicator * (M * Average(indicator) - indicator)), L * (L - 1) / M, "proved"),
        (Expectation(indicator * M * Average(indicator)), L**2 / M**2, "broken"),
        # Participation is not independent of vectors that depend on it.
        (Expectation(indicator * norm_sq(Selected(psi))), L / M * Expectation(norm_sq(Selected(psi))), "broken"),
        (Expectation(indicator * norm_sq(w_next - w)), L / M * Expectation(norm_sq(w_next - w)), "broken"),
        (Expectation(indicator * norm_sq(Average(indicator * psi))), L**3 / M**3 * norm_sq(w), "broken"),
    ],
)
def test_indicators_of_participants(left: Any, right: Any, expected: str) -> None:
    """An indicator is its own square, L/M in expectation, and makes a mean over all one over the participants."""
    claim = Claim(
        id="t:indicator",
        lhs=left,
        relation="==",
        rhs=right,
        place="round",
        where={**NOTATION, indicator: q.participates},
        assumptions=SAMPLED,
    )
    assert check_certificate(claim, Certificate(claim=claim.id, links=[[]])).verdict == expected


def test_the_average_without_sampling_is_arbitrary() -> None:
    """Without sampled participants, their average is an arbitrary vector."""
    without = replace(THEORY, participants=None)
    assert same(inner(Selected(x_i), w), inner(Average(x_i), w), THEORY)
    assert not same(inner(Selected(x_i), w), inner(Average(x_i), w), without)

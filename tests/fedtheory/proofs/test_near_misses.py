"""A single change that repairs a broken certificate is suggested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
import sympy as sp

from fedtheory import Claim, Gradient, Value, norm_sq
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.kernel import Term, assumption, cocoercivity, smoothness, square
from fedtheory.kernel.expressions import Average, Expectation
from fedtheory.proofs import Certificate, check_certificate
from fedtheory.proofs.near_misses import list_near_misses
from fedtheory.proofs.proof import Proof

x, y, F = sp.symbols("x y F", real=True)
eta, L = sp.symbols("eta L", positive=True)
STEP = x - eta * Gradient(F, x)
SLOPE = Gradient(F, x) - Gradient(F, y)
WHERE = {x: q.point, y: q.second_point, F: q.client_objective, eta: q.local_step_size, L: q.smoothness}
DESCENT = Claim(
    id="own:descent",
    lhs=Value(F, STEP),
    rhs=Value(F, x) - eta * (1 - L * eta / 2) * norm_sq(Gradient(F, x)),
    where=WHERE,
    place="points",
    assumptions=[a.convex_and_smooth],
)
CONTRACTION = Claim(
    id="own:contraction",
    lhs=norm_sq(x - y - eta * SLOPE),
    rhs=norm_sq(x - y),
    where=WHERE,
    place="points",
    conditions=[eta <= 1 / L],
    assumptions=[a.convex_and_smooth],
)
BOTH = [Term(2 * eta, cocoercivity(F, x, y)), Term(2 * eta, cocoercivity(F, y, x))]


def checked(claim: Claim, terms: Sequence[Term]) -> Proof:
    """Return the proof by one link."""
    return check_certificate(claim, Certificate(claim=claim.id, links=[list(terms)]))


@pytest.mark.parametrize(
    ("claim", "terms", "change"),
    [
        (DESCENT, [Term(sp.S.One, smoothness(F, STEP, x))], ()),
        (DESCENT, [Term(sp.S.One, smoothness(F, x, STEP))], ("the two points exchanged in term 1 (smoothness)",)),
        (DESCENT, [Term(2 * sp.S.One, smoothness(F, STEP, x))], ("the coefficient times 1/2 in term 1 (smoothness)",)),
        (CONTRACTION, [*BOTH, Term(2 * eta / L - eta**2, square(SLOPE))], ()),
        (
            CONTRACTION,
            [*BOTH, Term((2 * eta / L - eta**2) / 2, square(SLOPE))],
            ("the coefficient times 2 in term 3 (square)",),
        ),
        (
            CONTRACTION,
            BOTH,
            ("one more term, Term(eta*(-L*eta + 2)/L, square(Gradient(F, x) - Gradient(F, y)))",),
        ),
        (
            CONTRACTION,
            [*BOTH, Term(3 * eta / L - eta**2, square(SLOPE))],
            ("the coefficient eta*(-L*eta + 2)/L in term 3 (square)",),
        ),
        (
            CONTRACTION,
            [*BOTH, Term(eta, square(Gradient(F, x) + Gradient(F, y)))],
            ("Term(eta*(-L*eta + 2)/L, square(Gradient(F, x) - Gradient(F, y))) in place of term 3 (square)",),
        ),
        (DESCENT, [Term(sp.S.One, smoothness(F, y, x))], ("at=-eta*Gradient(F, x) + x in term 1 (smoothness)",)),
        (
            replace(CONTRACTION, conditions=[]),
            [*BOTH, Term(2 * eta / L - eta**2, square(SLOPE))],
            ("the condition L*eta <= 2 in the claim, so that no coefficient is negative",),
        ),
        (
            CONTRACTION,
            [BOTH[0], replace(BOTH[1], coefficient=-2 * eta)],
            (),
        ),
        (CONTRACTION, [Term(sp.S.One, square(x))], ()),
    ],
    ids=[
        "right",
        "points",
        "half",
        "right-too",
        "twice",
        "forgotten",
        "multiplier",
        "another square",
        "another point",
        "condition",
        "sign",
        "unrelated",
    ],
)
def test_a_change_that_makes_it_right(claim: Claim, terms: list[Term], change: tuple[str, ...]) -> None:
    """The repairing change is suggested; none for a correct certificate, or if no single change repairs it."""
    assert list_near_misses(checked(claim, terms)) == change


def test_a_term_that_is_not_averaged() -> None:
    """A term with clients' iterates that must be averaged is suggested."""
    claim = Claim(
        id="own:averaged",
        lhs=sp.S.Zero,
        rhs=Expectation(Average(norm_sq(x))),
        where={x: q.local_iterate},
        place="step",
        assumptions=[a.same_local_work, a.uniform_shares],
    )
    proof = checked(claim, [Term(sp.S.One, square(x))])
    assert proof.verdict == "broken"
    assert list_near_misses(proof) == ("averaged=True in term 1 (square)",)


def test_two_mistakes_are_found_together() -> None:
    """A slip after which much less is left over is suggested with what repairs the rest."""
    terms = [Term(2 * eta, cocoercivity(F, x, y)), Term(2 * eta, cocoercivity(F, x, y))]
    assert list_near_misses(checked(CONTRACTION, terms)) == (
        "the two points exchanged in term 1 (cocoercivity)",
        "one more term, Term(eta*(-L*eta + 2)/L, square(Gradient(F, x) - Gradient(F, y)))",
    )


def test_noise_that_is_left_over_is_a_missing_square() -> None:
    """A remainder with the number of clients, which has no symbol in the claim, is described without a formula."""
    noise = sp.Symbol("n_i", real=True)
    claim = Claim(
        id="own:noise",
        lhs=sp.S.Zero,
        rhs=Expectation(norm_sq(Average(noise))),
        where={noise: q.gradient_noise},
        place="step",
        assumptions=[a.same_local_work, a.uniform_shares, a.unbiased_bounded_variance],
    )
    proof = checked(claim, [])
    assert proof.verdict == "broken"
    expected = "one more term, as what is left over is a square with a coefficient that is not negative"
    assert list_near_misses(proof) == (expected,)


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        (Term(eta, square(F)), "F is an objective, not a vector: expected a point, or a gradient at one"),
        (Term(eta, assumption("own:other, relation 1")), "lemmas=(ID,)"),
        (Term(eta, assumption(a.convex_and_smooth)), "expected a name such as assumption('bounded variance')"),  # type: ignore[arg-type]
        (
            Term(square(x), sp.S.One),
            "expected a SymPy expression, got square(...): write Term(coefficient, square(...))",
        ),
        (Term("eta", square(x)), "got the text 'eta': write it without quotes"),
        (Term(eta, square(x), summed=True), "a mean over clients is averaged=True"),
    ],
    ids=["objective", "claim", "no name", "exchanged", "text", "summed"],
)
def test_a_term_that_cannot_be_read_says_what_to_write(terms: Term, message: str) -> None:
    """The first step that fails names what was given, and what to write."""
    assert message in checked(CONTRACTION, [*BOTH, terms]).steps[-1].text


def test_terms_without_their_list_are_refused() -> None:
    """A certificate has a list of terms for each relation."""
    found = check_certificate(CONTRACTION, Certificate(claim=CONTRACTION.id, links=BOTH))  # type: ignore[arg-type]
    assert found.steps[0].text == (
        "certificate: links: expected a list of terms for each relation, as in links=[[Term(...), ...]]"
    )


def test_an_inequality_with_too_few_arguments_names_them() -> None:
    """For an inequality with too few arguments, they are listed in order."""
    found = checked(DESCENT, [Term(sp.S.One, smoothness(STEP, x))])
    assert [step.text for step in found.steps] == [
        "certificate: smoothness(objective, at, around) takes 3 arguments, got 2"
    ]

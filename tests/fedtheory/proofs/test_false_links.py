"""False relations with squares, products, sums over past steps or lemmas as proofs are not proved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from fedtheory.kernel import Rejected, Step, Term, assumption, square, triangle
from fedtheory.kernel.expressions import Average, Expectation, LocalSum, PastSum, inner, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.registry import find
from fedtheory.proofs import Certificate, certificate, certificate_of, check_certificate, prove
from fedtheory.proofs.certificate import build_known_context
from fedtheory.proofs.links import CauchySchwarz, Nonnegative, Positive, PrefixSum, Product, Products, Squared
from fedtheory.proofs.numbers import ROUNDS

eta, L, G, tau = sp.symbols("eta L G tau", positive=True)
k = sp.Symbol("k", nonnegative=True, integer=True)
x, y, w, x_i, x_next, g = sp.symbols("x y w x_i x_next g", real=True)
WHERE: dict[sp.Symbol, Any] = {
    eta: q.local_step_size,
    L: q.smoothness,
    G: q.second_moment,
    tau: q.local_steps,
    k: q.local_step_index,
    x: q.point,
    y: q.second_point,
    w: q.server_model,
    x_i: q.local_iterate,
    x_next: q.next_local_iterate,
    g: q.stochastic_gradient,
}
ONE = sp.S.One
s, t, u = sp.symbols("s t u", real=True)


def failing(why: Any, left: Any, operator: Any, right: Any, lemmas: Any = (), **stated: Any) -> str:
    """Return the failing steps of a certificate with one link; empty if the claim is proved."""
    claim = Claim(id="t:false", lhs=left, relation=operator, rhs=right, **{"where": WHERE, "place": "points", **stated})
    steps = list(check_certificate(claim, Certificate(claim=claim.id, links=[why], lemmas=lemmas)).steps)
    return "; ".join(step.text for step in steps if not step.holds)


# Squares.

LENGTH, LENGTHS = sp.sqrt(norm_sq(x + y)), sp.sqrt(norm_sq(x)) + sp.sqrt(norm_sq(y))
SQUARED = Squared(length=LENGTH, bound=LENGTHS, terms=[Term(ONE, triangle(x, y))])
CROSSED = 2 * sp.sqrt(norm_sq(x)) * sp.sqrt(norm_sq(y))


def test_a_square_of_lengths() -> None:
    """|x + y|^2 <= (|x| + |y|)^2 follows, and nothing smaller."""
    assert failing(SQUARED, norm_sq(x + y), "<=", norm_sq(x) + norm_sq(y) + CROSSED) == ""
    smaller = norm_sq(x) + norm_sq(y) + CROSSED / 2
    assert failing(SQUARED, norm_sq(x + y), "<=", smaller).startswith("what is proved is the relation")


def test_squares_of_what_may_be_negative() -> None:
    """From -|x| <= 0 it does not follow that |x|^2 <= 0."""
    why = Squared(length=-sp.sqrt(norm_sq(x)), bound=sp.S.Zero, terms=[])
    assert "might be negative" in failing(why, norm_sq(x), "<=", 0)


@pytest.mark.parametrize("operator", ["==", "<", ">"])
def test_squares_show_no_equation(operator: Any) -> None:
    """A bounded norm proves neither an equation nor a strict inequality."""
    assert "expected a claim with <= or >=" in failing(SQUARED, norm_sq(x + y), operator, norm_sq(x))


def test_squares_of_other_lengths() -> None:
    """The squares must be those of the relation."""
    why = Squared(length=sp.sqrt(norm_sq(x)), bound=sp.sqrt(norm_sq(x)), terms=[])
    assert failing(why, norm_sq(x), "<=", norm_sq(x)) == ""
    assert failing(why, 2 * norm_sq(x), "<=", norm_sq(x)).startswith("what is proved is the relation")


# Products.

SCALARS = {s: norm_sq(x), t: norm_sq(y), u: inner(x, y)}
SHOWN = {
    "s": Nonnegative(s, [Term(ONE, square(x))]),
    "t": Nonnegative(t, [Term(ONE, square(y))]),
    "Cauchy-Schwarz": CauchySchwarz(s, t, u),
}


def products(*parts: Product, divided_by: Any = (), scalars: Any = SCALARS, **facts: Any) -> Products:
    """Return products of squared norms and the Cauchy-Schwarz inequality."""
    return Products(scalars=scalars, facts={**SHOWN, **facts}, divided_by=divided_by, parts=parts)


def test_cauchy_schwarz() -> None:
    """<x, y>^2 / |y|^2 <= |x|^2 is proved, but not with half the right side."""
    why = products(Product(ONE, ["Cauchy-Schwarz"]), divided_by=["t"])
    assert failing(why, inner(x, y) ** 2 / norm_sq(y), "<=", norm_sq(x)) == ""
    assert "left over" in failing(why, inner(x, y) ** 2 / norm_sq(y), "<=", norm_sq(x) / 2)


def test_cauchy_schwarz_needs_both_lengths() -> None:
    """The false relation <x, y>^2 <= |x|^4 is not proved."""
    why = products(Product(ONE, ["false"]), false=CauchySchwarz(s, s, u))
    assert "false: Cauchy-Schwarz" in failing(why, inner(x, y) ** 2, "<=", norm_sq(x) ** 2)


def test_cauchy_schwarz_in_expectation_is_rejected() -> None:
    """The symbols in products are not expectations, so a relation at a step is rejected."""
    scalars = {s: Expectation(norm_sq(x_i)), t: Expectation(norm_sq(w)), u: Expectation(inner(x_i, w))}
    alone = Products(
        scalars=scalars,
        facts={"Cauchy-Schwarz": SHOWN["Cauchy-Schwarz"]},
        parts=[Product(ONE, ["Cauchy-Schwarz"])],
    )
    found = failing(alone, scalars[u] ** 2, "<=", scalars[s] * scalars[t], place="step")
    assert "not expectations of products" in found


def test_a_slack_is_divided_by_its_denominators_only() -> None:
    """From x t <= 0 it does not follow that x <= 0 if t may be zero."""
    why = products(Product(ONE, ["s"]), divided_by=["s"])
    assert "the relation does not divide by s" in failing(why, 0, "<=", ONE)


def test_facts_have_to_be_shown() -> None:
    """A symbol needs a fact to be positive, and coefficients must be non-negative."""
    bold = Nonnegative(s - t, [Term(ONE, square(x))])
    assert "bold" in failing(products(Product(ONE, ["bold"]), bold=bold), norm_sq(y), "<=", norm_sq(x))
    assert "(-1) >= 0" in failing(products(Product(-ONE, ["s"])), norm_sq(x), "<=", 0)
    assert "no factor with the name 'luck'" in failing(products(Product(ONE, ["luck"])), norm_sq(x), "<=", 0)


def test_other_things_than_numbers_and_symbols_are_rejected() -> None:
    """All quantities of a relation must be symbols of the proof."""
    assert "not a number" in failing(products(Product(ONE, ["s"])), norm_sq(x - y), "<=", norm_sq(x))


def test_a_symbol_of_a_proof_stands_for_one_thing() -> None:
    """A symbol of a proof is neither a number of the claim, nor part of the meaning of another symbol."""
    double = Products(
        scalars={eta: norm_sq(x)},
        facts={"eta": Nonnegative(eta, [Term(ONE, square(x))])},
        parts=[Product(ONE, ["eta"])],
    )
    assert "has a sign" in failing(double, 0, "<=", eta)
    nested = products(Product(ONE, ["s"]), scalars={**SCALARS, s: t * norm_sq(x)})
    assert "more than one meaning" in failing(nested, 0, "<=", norm_sq(x))


@pytest.mark.parametrize(("left", "right"), [(0, eta - L), (0, 0 * eta), (eta, L)])
def test_numbers_that_are_not_positive(left: Any, right: Any) -> None:
    """A difference with unknown sign, and zero, are not positive."""
    assert ") > 0" in failing(Positive(), left, "<", right)
    assert failing(Positive(), 0, "<", eta) == ""


# Sums over past steps.

LOOP = {"place": "round", "assumptions": (*ROUNDS, a.bounded_second_moment)}


def test_iterates_as_sums_over_the_past() -> None:
    """x' = w - eta sum g holds only with this step size, and if rounds begin at the server's model."""
    assert failing([], norm_sq(x_next - w + eta * PastSum(g)), "==", 0, **LOOP) == ""
    assert "left over" in failing([], norm_sq(x_next - w + 2 * eta * PastSum(g)), "==", 0, **LOOP)
    alone = {**LOOP, "assumptions": ROUNDS[1:]}
    assert ROUNDS[0].name in failing([], norm_sq(x_next - w + eta * PastSum(g)), "==", 0, **alone)


def test_sums_have_as_many_members_as_steps_were_taken() -> None:
    """|sum g|^2 <= n sum |g|^2 needs n = k + 1 terms."""
    total = LocalSum(g)
    for count, expected in ((k + 1, True), (k, False), (sp.S.One, False)):
        terms = [Term(k + 1, square(g - total / (k + 1)), summed=True)]
        left, right = Expectation(norm_sq(PastSum(g))), count * Expectation(PastSum(norm_sq(g)))
        assert (failing(terms, left, "<=", right, **LOOP) == "") is expected


def test_second_moments_are_means() -> None:
    """A bound in expectation does not hold for every outcome, and a mixture of both is rejected."""
    terms = [Term(ONE, assumption("bounded second moment"), summed=True)]
    total = PastSum(norm_sq(g))
    assert failing(terms, Expectation(total), "<=", (k + 1) * G**2, **LOOP) == ""
    assert "does not assume" in failing(terms, total, "<=", (k + 1) * G**2, **LOOP)
    assert "outside of an expectation" in failing([], total, "==", Expectation(total), **LOOP)


def test_means_over_clients_and_sums_over_steps() -> None:
    """Averages and sums may be interchanged, but the average of squares is not the square of the average."""
    assert failing([], norm_sq(PastSum(Average(g)) - Average(PastSum(g))), "==", 0, **LOOP) == ""
    assert "left over" in failing([], PastSum(norm_sq(Average(g))), "==", Average(PastSum(norm_sq(g))), **LOOP)


TOTALS: dict[str, tuple[Any, Any, str]] = {
    "whole numbers": (PastSum(k), k * (k + 1) / 2, ""),
    "powers": (eta * PastSum((1 + eta) ** k), (1 + eta) ** (k + 1) - 1, ""),
    "a wrong start": (PastSum(k), k * (k + 1) / 2 + 1, "over no steps"),
    "a wrong step": (PastSum(k), k * (k + 1), "what a step adds"),
    "a factor that changes": (k * PastSum(ONE), k * (k + 1), "changes from local step"),
    "a sum of something else": (PastSum(eta) + G, (k + 1) * eta * (1 + G / PastSum(eta)), "one sum"),
    "two sums": (PastSum(k) + PastSum(ONE), k * (k + 1) / 2 + k + 1, "one sum"),
}


@pytest.mark.parametrize("name", TOTALS)
def test_totals(name: str) -> None:
    """A sum over past steps begins with zero, and grows by its terms."""
    left, right, expected = TOTALS[name]
    found = failing(PrefixSum(), left, "==", right, **LOOP)
    assert expected in found
    assert (found == "") is (expected == "")


# Lemmas.


def test_lemmas_have_to_be_proved_and_their_assumptions_made() -> None:
    """A claim with a lemma is proved only if the lemma is, and under the lemma's assumptions."""
    claim = find("lecture27:thm-1.loss")
    certificate = Certificate(
        claim=claim.id,
        links=[[Term(ONE, assumption("lecture27:thm-1, relation 1"))]] * len(claim.relations),
        lemmas=["lecture27:thm-1"],
    )
    fewer = replace(claim, assumptions=tuple(x for x in claim.assumptions if x is not a.bounded_dissimilarity))
    assert "the assumptions of lecture27:thm-1" in " ".join(
        step.text for step in check_certificate(fewer, certificate).steps if not step.holds
    )

    def unproved(name: str) -> Any:
        return replace(prove(find(name)), steps=(Step("nothing", False),))

    found = check_certificate(claim, certificate, unproved)
    assert any("lecture27:thm-1 is proved" in step.text for step in found.steps if not step.holds)


def test_lemmas_of_another_place_say_nothing_of_a_step() -> None:
    """A bound on the drift of a whole run holds at each step; other claims about the run do not."""
    bound = find("renard2022:thm-2.1.proof.telescope")
    taken = {"lemmas": [bound.id], "place": "step", "where": bound.where, "assumptions": bound.assumptions}
    assert "does not bound the drift" in failing([Term(ONE, assumption(bound.id))], 0, "<=", 1, **taken)


NO_BOUNDS: dict[str, dict[str, Any]] = {
    "another quantity": {"lhs": q.average_round_drift},
    "a lower bound": {"relation": ">="},
    "two relations": {"also": (Relation(ONE, ">=", sp.S.Zero),)},
    "of each step": {"place": "step"},
    "no relation": {"lhs": None, "rhs": None},
}
"""Changes of a bound on the largest drift of a run."""


@pytest.mark.parametrize("name", NO_BOUNDS)
def test_reports_know_a_drift_only_by_a_bound_on_it(name: str) -> None:
    """The slack of a lemma at a step is that of an upper bound on the largest drift, alone in its claim."""
    claim = Claim(id="t:step", lhs=0, rhs=norm_sq(x_i), place="step", where=WHERE)
    bound = Claim(id="t:drift", lhs=q.max_drift, rhs=eta, where={eta: q.local_step_size})
    (slack,) = build_known_context(claim, claim.relations[0], (), [bound]).assumed.values()
    assert slack.has(eta)
    assert slack.subs(eta, 0).is_Mul
    others: list[tuple[Claim, Claim]] = [
        (replace(bound, **NO_BOUNDS[name]), claim),
        (bound, replace(claim, place="points")),
    ]
    for lemma, at in others:
        with pytest.raises(Rejected, match="t:drift does not bound the drift at a local step"):
            certificate._bound_drift(lemma, at)


def test_relations_of_lemmas_are_numbered() -> None:
    """A term names the relation that it uses."""
    claim = find("lecture27:thm-1.step")
    link = Relation(norm_sq(claim.relations[2].left.args[0]), "<=", sp.S.Zero)
    wrong = replace(claim, lhs=None, rhs=None, chain=(), also=(link,))
    terms = [Term(ONE, assumption("lecture27:thm-1.g, relation 3"))]
    found = check_certificate(wrong, Certificate(claim=claim.id, links=[terms], lemmas=["lecture27:thm-1.g"])).steps
    assert any("has no relation number 3" in step.text for step in found)


def test_lemmas_about_a_round() -> None:
    """Lemmas about a round hold in expectation under their conditions, but not for every outcome."""
    lemma = find("vlaski2023:eq-5.53.way")
    mean = lemma.relations[0]
    use = Certificate(
        claim="t:use", links=[[Term(ONE, assumption(f"{lemma.id}, relation 1"))]], lemmas=["vlaski2023:eq-5.53.way"]
    )

    def failures(left: Any, **stated: Any) -> str:
        claim = replace(lemma, id="t:use", lhs=left, rhs=mean.right, also=(), **stated)
        return " ".join(step.text for step in check_certificate(claim, use).steps if not step.holds)

    assert failures(mean.left) == ""
    assert "holds for the expectation" in failures(mean.left.args[0])
    assert "left over" in failures(2 * mean.left)
    assert "the conditions of" in failures(mean.left, conditions=())


# Strict decrease, by how much.

MORE = {
    "lemma-4.consequence": lambda claim: replace(
        claim, chain=(claim.relations[0].left, "<=", 2 * claim.relations[0].right, "<", 0), also=()
    ),
    "lemma-3.proof": lambda claim: replace(
        claim, also=tuple(Relation(r.left, r.operator, 2 if r.right == 1 else r.right) for r in claim.also)
    ),
}
"""A proved bound on a gap, divided by the gap and multiplied by two."""


@pytest.mark.parametrize("name", MORE)
def test_a_gap_that_shrinks_faster_than_it_does(name: str) -> None:
    """The certificate of a claim divided by theta does not prove twice as much."""
    claim = find(f"lecture27:{name}")
    found = check_certificate(MORE[name](claim), certificate_of(claim.id))
    assert prove(claim).verdict == "proved"
    assert "left over" in "; ".join(step.text for step in found.steps if not step.holds)

"""Correct certificates are not accepted for other statements.

The statement is changed: a false relation is added, its sides are exchanged, it is strict, it concerns another place,
its symbols denote similar quantities, or its id resembles another one. Further tests interrupt a check, and use numbers
that agree modulo a prime.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sympy as sp
from flint import Ordering, fmpq_mpoly_ctx

from fedtheory import RATIONAL, parse_run
from fedtheory.errors import InputError
from fedtheory.kernel import Term, assumption, polynomials
from fedtheory.kernel.expressions import Average, Expectation, norm_sq
from fedtheory.kernel.quotients import is_zero, reduce_fraction
from fedtheory.kernel.work import limit_work
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.quantities import Quantity
from fedtheory.language.registry import find
from fedtheory.language.setting import with_setting
from fedtheory.language.targets import resolve
from fedtheory.language.wellformed import require_wellformed
from fedtheory.proofs import Certificate, certificates, check_certificate, checker
from verify.check import check

ONE_OF_EACH_KIND = (
    "comparator:strongly-convex.last-model",
    "comparator:forgetting.at-optimum",
    "comparator:last-round.error",
    "comparator:curvatures.all-steps",
    "comparator:curvatures.one-step",
    "liu2022:lemma-1.loop",
    "liu2022:thm-1.loop",
    "liu2022:thm-1",
    "landmarks:dsgd.consensus",
    "landmarks:scaffnew.contraction",
)


def verdict(claim: Claim, name: str) -> str:
    """Return the verdict on a paper's certificate for another claim with its id."""
    return check_certificate(replace(claim, id=name), certificates()[name]).verdict


def restated(claim: Claim, *relations: Relation) -> Claim:
    """Return a claim with other relations."""
    where = {**claim.where, **claim.notation}
    return replace(claim, lhs=None, rhs=None, chain=(), also=relations, where=where)


def _exchange(claim: Claim) -> Claim:
    one, *others = claim.relations
    return restated(claim, Relation(one.right, one.operator, one.left), *others)


def _strict(claim: Claim) -> Claim:
    one, *others = claim.relations
    return restated(claim, Relation(one.left, "<", one.right), *others)


def _equal(claim: Claim) -> Claim:
    one, *others = claim.relations
    return restated(claim, Relation(one.left, "==", one.right), *others)


SAYING_MORE: dict[str, Callable[[Claim], Claim]] = {
    "something false as well": lambda c: restated(c, *c.relations, Relation(sp.S.One, "<=", sp.S.Zero)),
    "less than nothing as well": lambda c: restated(c, *c.relations, Relation(sp.S.Zero, "<=", -c.relations[0].right)),
    "something false first": lambda c: restated(c, Relation(sp.S.One, "==", sp.S.Zero), *c.relations),
    "the other way about": _exchange,
    "that it is smaller": _strict,
    "that both are equal": _equal,
    "that nothing is assumed": lambda c: replace(c, assumptions=()),
}


@pytest.mark.parametrize("name", ONE_OF_EACH_KIND)
def test_no_certificate_shows_more_than_its_claim(name: str) -> None:
    """No certificate proves a strengthened claim."""
    shown = [what for what, more in SAYING_MORE.items() if verdict(more(find(name)), name) == "proved"]
    assert shown == []


@pytest.mark.parametrize("place", ["run", "path", "round", "points"])
@pytest.mark.parametrize("name", ["comparator:curvatures.one-step", "comparator:drift.one-step"])
def test_statements_in_expectation_do_not_hold_on_paths(name: str, place: Any) -> None:
    """A statement in expectation at a local step is not proved on a path or for each outcome of a round."""
    assert verdict(replace(find(name), place=place), name) == "broken"


NEIGHBOURS: dict[str, list[tuple[Quantity, Quantity]]] = {
    "comparator:last-round.error": [
        (q.last_round_suboptimality, q.average_suboptimality),
        (q.last_round_suboptimality, q.final_suboptimality),
        (q.initial_distance, q.comparator_distance),
        (q.noise_at_optimum, q.comparator_noise),
        (q.dissimilarity_at_optimum, q.mean_dissimilarity),
        (q.strong_convexity, q.smallest_curvature),
        (q.smoothness, q.objective_smoothness),
        (q.iterations, q.rounds),
    ],
    "comparator:last-model.error": [
        (q.final_suboptimality, q.last_round_suboptimality),
        (q.final_suboptimality, q.final_distance_sq),
        (q.largest_importance, q.sampling_variance),
        (q.sampling_variance, q.momentum),
    ],
    "comparator:forgetting.at-optimum": [
        (q.discounted_suboptimality, q.average_suboptimality),
        (q.discounted_suboptimality, q.last_round_suboptimality),
        (q.strong_convexity, q.smallest_curvature),
    ],
    "comparator:curvatures.all-steps": [
        (q.client_smoothness, q.client_strong_convexity),
        (q.client_smoothness, q.importance),
        (q.comparator_curved_noise, q.comparator_noise),
        (q.curvature_drift, q.average_round_drift),
    ],
    "liu2022:thm-1.loop": [
        (q.loop_gradient_sq, q.average_local_gradient_sq),
        (q.loop_noise_deviation, q.noise_deviation),
        (q.initial_gap, q.total_descent),
    ],
}


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_symbols_do_not_stand_for_neighbours(name: str) -> None:
    """A symbol of the claim cannot denote a similar quantity while the certificate is unchanged."""
    claim = restated(find(name), *find(name).relations)
    for known, neighbour in NEIGHBOURS[name]:
        assert known in claim.where.values()
        where = {symbol: neighbour if quantity is known else quantity for symbol, quantity in claim.where.items()}
        assert verdict(replace(claim, where=where), name) == "broken", neighbour.name


@pytest.mark.parametrize("end", ["", " ", "\t", "\N{NO-BREAK SPACE}", "\N{ZERO WIDTH SPACE}", "\N{SOFT HYPHEN}"])
def test_no_id_looks_like_that_of_a_published_claim(end: str, tmp_path: Path) -> None:
    """Invisible characters in an id are ignored, since a verdict would be read as one on the paper's claim."""
    file = tmp_path / "mine.py"
    file.write_text(f"""from dataclasses import replace
from fedtheory.language.registry import find
CLAIM = replace(find("liu2022:lemma-1.loop"), id={"liu2022:lemma-1.loop" + end!r}, is_published=False)
""")
    with pytest.raises(InputError, match="id"):
        resolve(f"{file}:CLAIM")


LOOK_ALIKE = {
    "l\N{CYRILLIC SMALL LETTER I}u2022:lemma-1.loop": "CYRILLIC SMALL LETTER I",
    "liu2022:lemma-1.l\N{GREEK SMALL LETTER OMICRON}op": "GREEK SMALL LETTER OMICRON",
    "liu2022\N{FULLWIDTH COLON}lemma-1.loop": "FULLWIDTH COLON",
    "liu2022:lemma\N{NON-BREAKING HYPHEN}1.loop": "NON-BREAKING HYPHEN",
}


@pytest.mark.parametrize("name", LOOK_ALIKE, ids=LOOK_ALIKE.values())
def test_no_id_has_symbols_that_look_like_others(name: str, tmp_path: Path) -> None:
    """The message names the invisible character of an id."""
    file = tmp_path / "mine.py"
    file.write_text(
        f"""from dataclasses import replace
from fedtheory.language.registry import find
CLAIM = replace(find("liu2022:lemma-1.loop"), id={name!a}, is_published=False)
"""
    )
    with pytest.raises(InputError, match=LOOK_ALIKE[name]):
        resolve(f"{file}:CLAIM")


def test_no_quantity_has_a_name_that_looks_like_another_one() -> None:
    """A quantity cannot have a name that resembles another one, such as that of the noise."""
    other = replace(q.noise_deviation, name="noise_dev\N{CYRILLIC SMALL LETTER BYELORUSSIAN-UKRAINIAN I}ation")
    require_wellformed(_noise_is_at_most(q.noise_deviation))
    with pytest.raises(InputError, match="BYELORUSSIAN-UKRAINIAN I"):
        require_wellformed(_noise_is_at_most(other))


def test_no_document_has_symbols_that_look_like_others() -> None:
    """A document cannot use full-width symbols, in a formula or as its own symbol."""
    name = "renard2022:lemma-2.3"
    document = check_certificate(find(name), certificates()[name]).document
    assert document is not None
    assert check_certificate(find(name), document).verdict == "proved"
    known = {"x": {"latex": "x", "is": "positive"}}
    assert check_certificate(find(name), document | {"letters": known}).verdict == "proved"
    alike = {"\N{CYRILLIC SMALL LETTER HA}": known["x"]}
    relaxed = {"relaxed": ["\N{FULLWIDTH LATIN SMALL LETTER S}moothness > 0"]}
    for changed, found in (
        (document | {"letters": alike}, "CYRILLIC SMALL LETTER HA"),
        (document | {"certificate": document["certificate"] | relaxed}, "FULLWIDTH LATIN SMALL LETTER S"),
    ):
        (step,) = check_certificate(find(name), changed).steps
        assert found in step.text


sigma, xi = sp.Symbol("sigma", nonnegative=True), sp.Symbol("xi", real=True)
NOISY: dict[str, Any] = {"hessians": [[["1"]], [["2"]]], "linear": [["1"], ["-1"]], "start": ["1"], "noise": "1"}


def _noise_is_at_most(quantity: Quantity, **changed: Any) -> Claim:
    """Return a claim that the noise of a step is at most a constant, squared."""
    stated: dict[str, Any] = {
        "id": "t:noise",
        "lhs": Expectation(Average(norm_sq(xi))),
        "rhs": sigma**2,
        "where": {sigma: quantity, xi: q.gradient_noise},
        "place": "step",
        **changed,
    }
    return with_setting(Claim(**stated))


def _by_the_variance(claim: Claim) -> str:
    terms = [Term(sp.S.One, assumption("bounded variance"), averaged=True)]
    return check_certificate(claim, Certificate(claim=claim.id, links=[terms])).verdict


def test_a_constant_brings_its_own_assumption_alone() -> None:
    """The deviation of the noise implies the bound on the noise, but no other constant does."""
    claim = _noise_is_at_most(q.noise_deviation)
    assert a.unbiased_bounded_variance in claim.assumptions
    assert _by_the_variance(claim) == "proved"
    run = parse_run(
        {
            "problem": {"kind": "quadratic", **NOISY},
            "algorithm": {"local_step_size": "1/4", "rounds": 2, "local_steps": 2},
        },
        RATIONAL,
    )
    assert check(claim, run).holds
    half = _noise_is_at_most(q.noise_deviation, rhs=sigma**2 / 2)
    assert check(half, run).holds is False
    assert _by_the_variance(half) == "broken"
    others = (q.second_moment, q.gradient_dissimilarity, q.mean_dissimilarity, q.client_dissimilarity)
    for other in (*others, q.noise_at_optimum, q.noise_smoothness, q.loop_noise_deviation):
        assert _by_the_variance(_noise_is_at_most(other)) == "broken", other.name
    unused = _noise_is_at_most(q.noise_deviation, rhs=sp.S.One)
    assert a.unbiased_bounded_variance not in unused.assumptions
    assert _by_the_variance(unused) == "broken"


@pytest.mark.parametrize("name", ["comparator:last-round.error", "landmarks:scaffnew.contraction"])
def test_a_check_that_is_ended_shows_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupted check proves nothing, and does not affect later checks."""
    one, *_ = find(name).relations
    less = restated(find(name), Relation(one.left, "<=", one.right / 2))
    for most in (10, 10**3, 10**5, 10**6):
        monkeypatch.setattr(checker, "MOST_WORK", most)
        assert {verdict(claim, name) for claim in (less, find(name))} == {"broken"}
    monkeypatch.undo()
    assert verdict(less, name) == "broken"
    assert verdict(find(name), name) == "proved"


PRIME = sp.Integer(2**61 - 1)
u, v = sp.symbols("u v", positive=True)


@pytest.mark.parametrize(
    "number", [PRIME * u, u - (PRIME + 1) * u, u / PRIME, (u + v) ** 40 - (u - PRIME * v) ** 40, PRIME**3 * u**61]
)
def test_zero_modulo_a_prime_is_not_zero(number: Any) -> None:
    """Images modulo a prime bound the size of a quotient, but not its value."""
    assert not is_zero(number)
    assert is_zero(number - sp.expand(number))
    above = reduce_fraction(number * (u + PRIME * v) ** 3 / (u + PRIME * v) ** 2)
    assert is_zero(above - number * (u + PRIME * v))


def test_large_quotients_are_right_where_images_lose_a_factor() -> None:
    """Quotients of long polynomials are right if a common factor or leading coefficients vanish modulo the prime."""
    ring = fmpq_mpoly_ctx.get(["x", "y", "z"], Ordering.lex)
    x, y, z = ring.gens()
    dense = (1 + x + 2 * y + 3 * z) ** 20
    for common in (int(PRIME) * x + 1, x + int(PRIME) * y, int(PRIME) * (x * y) + int(PRIME)):
        with limit_work(None):
            above, below = polynomials.reduce(dense * common, (dense + 1) * common)
        assert above * (dense + 1) == below * dense
        assert below.total_degree() == dense.total_degree()

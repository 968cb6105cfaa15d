"""Inequalities and lemmas that a proof search chooses from, with stand-ins for contexts and claims, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp

from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.kernel import Numbers, Rejected, Term, square
from fedtheory.kernel.expressions import Average, Gradient, LocalSum
from fedtheory.language.claim import Claim, Relation
from fedtheory.search import candidates, certificate_terms, lemmas
from fedtheory.search.candidates import (
    _collect_summands,
    _list_at_pairs,
    _list_descent,
    _list_factors,
    _list_optimality,
)
from fedtheory.search.proof_outcome import Found, NotFound

x, y, best = sp.symbols("x y best")
F, L = sp.Symbol("F"), sp.Symbol("L", positive=True)
u, v, w, z = sp.symbols("u v w z", positive=True)


def _context(**known: Any) -> Any:
    usual = {"minimisers": {F: best}, "objectives": {F}, "smooth": {F: L}, "convex": {F}, "strongly_convex": {}}
    return SimpleNamespace(**{**usual, "numbers": Numbers(symbols=frozenset({u, v, w, z})), **known})


def _described(found: Any) -> list[tuple[Any, ...]]:
    return [(one.kind, *one.about) for one in found]


def test_factors_of_a_client_number() -> None:
    """Products of the first three factors, one, and the number itself, where they are not negative."""
    assert set(_list_factors(u * v, _context())) == {u * v, sp.S.One, u, v}
    assert set(_list_factors(-u, _context())) == {sp.S.One, u}
    four = _list_factors(u * v * w * z, _context())
    assert four[:2] == [u * v * w * z, sp.S.One]
    assert len(four) == 9
    assert not any(one.has(z) for one in four[1:])


@pytest.mark.parametrize("points", [[x], [x, best], [best]])
def test_steps_of_gradient_descent(points: Sequence[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """From each shared point that is not optimal, with the step 1/L; and values above the least one."""
    monkeypatch.setattr(candidates, "differs", lambda one, _: one == y)
    after = x - Gradient(F, x) / L
    expected = [("smoothness", F, after, x), ("optimality", F, after)] * (x in points)
    assert _described(_list_descent(_context(), F, [*points, y])) == expected
    assert _described(_list_optimality(_context(), F, [*points, y])) == [("optimality", F, x)] * (x in points)
    lacking: list[dict[str, Any]] = [{"minimisers": {}}, {"objectives": set()}]
    for without in lacking:
        assert _described(_list_descent(_context(**without), F, points)) == []
        assert _described(_list_optimality(_context(**without), F, points)) == []
    assert _described(_list_descent(_context(smooth={}), F, points)) == []


@pytest.mark.parametrize(
    ("smooth", "convex", "strongly", "kinds"),
    [
        (True, True, False, ["cocoercivity", "smoothness"]),
        (True, True, True, ["strong_convexity", "cocoercivity", "smoothness", "interpolation"]),
        (False, True, False, ["convexity"]),
        (False, True, True, ["strong_convexity", "convexity"]),
        (True, False, False, ["smoothness", "lipschitz_gradient", "interpolation"]),
        (False, False, False, []),
    ],
)
def test_inequalities_between_two_points(*, smooth: bool, convex: bool, strongly: bool, kinds: list[str]) -> None:
    context = _context(
        smooth={F: L} if smooth else {}, convex={F} if convex else set(), strongly_convex={F: u} if strongly else {}
    )
    assert _described(_list_at_pairs(context, F, [(x, y)])) == [(kind, F, x, y) for kind in kinds]


def test_vectors_below_means_and_sums() -> None:
    """A vector in front of which numbers stand, and what each mean is of."""
    found: dict[Any, None] = {}
    mean, inside = Average(x), LocalSum(Average(y))
    for one in (u * mean, x + y, v * inside):
        _collect_summands(one, found)
    assert list(found) == [mean, x, x + y, inside, Average(y), y]


def test_published_claims_use_earlier_ones_of_their_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search uses earlier claims at the same place, and bounds on the largest drift."""

    def claim(name: str, place: str = "step", verdict: str = "proved") -> Any:
        return SimpleNamespace(id=name, place=place, verdict=verdict)

    known = [
        *(claim("p:a"), claim("p:drift", "run"), claim("p:run", "run"), claim("o:a"), claim("p:rests")),
        *(claim("p:own"), claim("p:open", verdict="supported"), claim("o:drift", "run")),
    ]
    monkeypatch.setattr(lemmas, "all_claims", lambda: {one.id: one for one in known})
    monkeypatch.setattr(lemmas, "_bounds_drift", lambda one: one.id.endswith("drift"))
    monkeypatch.setattr(lemmas, "_list_all_dependencies", lambda name: {"p:own"} if name == "p:rests" else frozenset())
    monkeypatch.setattr(lemmas, "_use_claim", lambda _, name: [name])

    def found(name: str, place: str = "step", *, published: bool = True) -> Any:
        own: Any = SimpleNamespace(id=name, place=place, is_published=published)
        return lemmas.find_lemmas(own)

    assert found("p:own") == ["p:a", "p:drift"]
    assert found("p:own", "run") == ["p:drift", "p:run"]
    assert found("mine:x", published=False) == ["p:a", "p:drift", "o:a", "p:rests", "p:own", "o:drift"]


@pytest.mark.parametrize(
    ("solved", "chosen"),
    [
        ({"a": True, "b": False}, [["a"]]),
        ({"a": True, "b": True}, [["a"], ["b"]]),
        ({"a": False, "b": False}, [["a", "b"]]),
        ({}, []),
    ],
)
def test_lemmas_that_suffice(solved: dict[str, bool], chosen: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each that suffices alone, else all that have a weight in a sum with all; none where no sum has one."""
    known: Any = [SimpleNamespace(id=name) for name in ("a", "b", "c")]
    every = [SimpleNamespace(pattern=name, blocks=None) for name in ("", "a", "b", "c")]
    costs: list[Any] = []

    def solve(_goal: int, places: Sequence[int], given: Any) -> Any:
        costs.append(list(given))
        if len(places) == 4:
            return None if not solved else np.array([0.5, 0.5, 0.5, certificate_terms._ZERO_WEIGHT])
        ((_, name),) = [(place, every[place].pattern) for place in places if place]
        return np.array([1.0, 1.0]) if solved.get(name) else None

    monkeypatch.setattr(certificate_terms, "build_known_context", lambda *_: SimpleNamespace())
    monkeypatch.setattr(certificate_terms, "write_out", lambda _, relation: relation)
    monkeypatch.setattr(certificate_terms, "scalar", lambda *_: {})
    monkeypatch.setattr(certificate_terms, "split_form", lambda *_: None)
    monkeypatch.setattr(certificate_terms, "find_sign_facts", lambda *_: None)
    monkeypatch.setattr(certificate_terms, "find_candidates", lambda *_: iter(every))
    monkeypatch.setattr(certificate_terms, "_find_squares", lambda *_: iter(()))
    monkeypatch.setattr(certificate_terms, "_list_used_lemmas", lambda patterns, _: [one for one in patterns if one])
    monkeypatch.setattr(certificate_terms, "draw_inner_samples", lambda *_: SimpleNamespace(at=np.ones((1, 1))))
    monkeypatch.setattr(certificate_terms, "make_programs", lambda *_: SimpleNamespace(solve=solve))
    relation = Relation(x, "<=", y)
    found = [[one.id for one in several] for several in certificate_terms.choose_lemmas(None, relation, known)]  # type: ignore[arg-type]
    assert found == chosen
    assert costs[0] == [certificate_terms._INEQUALITY_COST, 1.0, 1.0, 1.0]
    monkeypatch.setattr(certificate_terms, "draw_inner_samples", lambda *_: SimpleNamespace(at=np.ones((1, 0))))
    assert list(certificate_terms.choose_lemmas(None, relation, known)) == []  # type: ignore[arg-type]


def test_quantities_that_a_proof_at_a_step_may_need() -> None:
    """Iterates, the mean dissimilarity beside the largest, and the number of clients, unless there is one."""

    def unnamed(where: dict[Any, Any], place: Any = "step", *assumptions: Any) -> set[str]:
        claim = Claim(id="t:x", lhs=u, rhs=v, where=where, place=place, assumptions=assumptions)
        return set(certificate_terms.list_unnamed_quantities(claim))

    iterates = {q.local_iterate.name, q.average_iterate.name}
    plain = unnamed({u: q.smoothness})
    assert iterates | {q.clients.name} <= plain
    assert q.mean_dissimilarity.name not in plain
    assert q.mean_dissimilarity.name in unnamed({u: q.gradient_dissimilarity})
    assert q.clients.name not in unnamed({u: q.clients})
    assert q.clients.name not in unnamed({u: q.smoothness}, "step", a.one_client)
    assert not iterates & unnamed({u: q.smoothness}, "points")


def test_certificates_of_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without lemmas first; each relation needs a link, and the kernel has the last word."""
    relations = [Relation(x, "<=", y), Relation(y, "<=", x)]
    plain: Any = SimpleNamespace(id="t:x", relations=relations, where={u: q.local_iterate, v: q.clients})
    claim: Any = SimpleNamespace()
    tried: list[Any] = []
    known: dict[str, Any] = {"links": {}, "verdict": "proved"}

    def link(_plain: Any, relation: Relation, chosen: Sequence[Any] = ()) -> Any:
        tried.append((relations.index(relation), *chosen))
        return known["links"].get(tried[-1])

    documents: list[Any] = []

    def check(_claim: Any, document: Any) -> Any:
        documents.append(document)
        steps = [SimpleNamespace(holds=True, text="fine"), SimpleNamespace(holds=False, text="wrong")]
        return SimpleNamespace(verdict=known["verdict"], steps=steps, work={"a": 2, "b": 3})

    spent: list[int] = []
    monkeypatch.setattr(certificate_terms, "derive_conditions", lambda _: [])
    monkeypatch.setattr(certificate_terms, "find_link", link)
    monkeypatch.setattr(certificate_terms, "choose_lemmas", lambda *_: [["a"], ["b"]])
    monkeypatch.setattr(certificate_terms, "document_of", lambda _, certificate: {"lemmas": certificate.lemmas})
    monkeypatch.setattr(certificate_terms, "check_certificate", check)
    monkeypatch.setattr(certificate_terms, "spend", spent.append)
    monkeypatch.setattr(certificate_terms, "list_unnamed_quantities", lambda _: [q.local_iterate.name, q.clients.name])
    monkeypatch.setattr(certificate_terms, "_list_symbols", lambda term: term.coefficient.free_symbols)
    first, second = [Term(u, square(x))], [Term(sp.S.One, square(y))]
    lemma: Any = SimpleNamespace(id="l")

    def certified(*lemmas: Any) -> Any:
        tried.clear()
        return certificate_terms._certify(claim, (), plain, lemmas)

    assert certified() == NotFound("no sum of named inequalities and squares shows it")
    assert tried == [(0,)]
    known["links"] = {(0,): first, (1, "b"): second}
    assert isinstance(certified(), NotFound)
    assert tried == [(0,), (1,)]
    found = certified(lemma)
    assert tried == [(0,), (1,), (1, "a"), (1, "b")]
    assert isinstance(found, Found)
    assert found.uses == ["square"]
    assert documents == [{"lemmas": [], "quantities": [q.local_iterate.name]}]
    assert spent == [5]
    known["verdict"] = "broken"
    assert certified(lemma) == NotFound("the sum that was found is not accepted: wrong")


def test_inequalities_outside_the_context_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Inequalities of each client are averaged with each weight if the statement has averages."""

    def reason(kind: str, *, own: bool = False, missing: bool = False) -> Any:
        def instantiate(_context: Any) -> Any:
            if missing:
                raise Rejected("no such vector")
            return SimpleNamespace(expression=(kind, own))

        return SimpleNamespace(kind=kind, instantiate=instantiate)

    reasons = [reason("square", own=True), reason("no", missing=True), reason("one"), reason("assumption", own=True)]
    spent: list[int] = []
    monkeypatch.setattr(candidates, "_list_inequalities", lambda *_: iter(reasons))
    monkeypatch.setattr(candidates, "differs", lambda one, _: bool(one[1]))
    monkeypatch.setattr(candidates, "changes", lambda *_: True)
    monkeypatch.setattr(candidates, "split_average", lambda one, _: (u if one[0].has(u) else sp.S.One, x))

    def term(weight: Any, reason: Any, averaged: bool = False, summed: bool = False) -> Any:
        return SimpleNamespace(shown=(weight, reason.kind, averaged, summed), whole=lambda _: 0)

    monkeypatch.setattr(candidates, "Term", term)
    monkeypatch.setattr(candidates, "scalar", lambda *_: None)
    monkeypatch.setattr(candidates, "split_form", lambda *_: None)
    monkeypatch.setattr(candidates, "spend", spent.append)

    class Monomial(tuple[Any, bool]):
        """A monomial, of each client or not."""

        __slots__ = ()

        def atoms(self, *_heads: Any) -> bool:
            """Return whether it has sums and means."""
            return bool(self[0].has(v))

    def listed(*monomials: Any) -> list[Any]:
        spent.clear()
        form: Any = dict.fromkeys(map(Monomial, monomials))
        found: Any = candidates.find_candidates(None, form, None, True, more_weights=[w])  # type: ignore[arg-type]
        return [one.pattern.shown for one in found]

    of_all = [
        *((1, "square", True, False), (u, "square", True, False), (1, "one", False, False)),
        *((1, "assumption", True, False), (u, "assumption", True, False), (w, "assumption", True, False)),
    ]
    assert listed((u, False)) == of_all
    assert spent == [5000] * 4
    of_each = [(1, "square", False, False), (1, "one", False, False), (1, "assumption", False, False)]
    assert listed((x, True)) == of_each
    mixed = listed((v, True))
    assert (1, "square", True, True) in mixed
    assert (1, "square", False, True) in mixed

"""Samples, remainders and systems of coefficients in the search for proofs, against values by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from search_numbers import NUMBERS, L, M, eta, sigma, tau

from fedtheory.kernel import Numbers, Rejected
from fedtheory.kernel.quotients import quotient
from fedtheory.proofs.derived_relation import Derived
from fedtheory.search import (
    blocks,
    chains,
    coefficients,
    conic,
    positivity,
    premises,
    remainders,
    restated,
    samples,
    tightening,
)
from fedtheory.search.coefficients import System, _list_equations, _list_powers
from fedtheory.search.conic import _suffices
from fedtheory.search.positivity import (
    SignFacts,
    split_into_products,
    split_with_squares,
)
from fedtheory.search.proof_outcome import NotFound
from fedtheory.search.samples import Samples, _draw, is_feasible

z = sp.Symbol("z", real=True)
SIGNS = SignFacts(NUMBERS, [eta <= 1 / (4 * L)])
ONE: Any = quotient(sp.S.One)


def test_points_of_symbols() -> None:
    """Points have counts from their least value, powers of two up and down, and zero where allowed."""
    random = np.random.default_rng(0)
    counts = _draw(tau, NUMBERS, random, 999)
    assert set(counts) == {1 + count for count in (0, 1, 2, 3, 4, 7, 16, 63, 999)}
    powers = _draw(eta, NUMBERS, random, 999)
    assert set(np.log2(powers)) == set(range(-7, 8))
    zeros = _draw(sigma, NUMBERS, random, 999)
    assert 150 < (zeros == 0).sum() < 350
    divided = Numbers(symbols=frozenset({sigma}), maybe_zero=frozenset({sigma}), divisors=frozenset({sigma}))
    assert (_draw(sigma, divided, random, 99) > 0).all()


def test_moves_of_points() -> None:
    """A symbol alone on a side moves to the edge or beyond; strict conditions keep a distance."""
    places = {L: 0, eta: 1}
    for condition, edge in ((eta <= 1 / L, True), (eta < 1 / L, False), (eta <= 1 / L, True)):
        at = np.array([[2.0] * 200, [7.0] * 100 + [0.25] * 100])
        samples._make_mover(condition, places, NUMBERS, np.random.default_rng(0))(at)
        assert (at[0] == 2).all()
        assert (at[1, 100:] == 0.25).all()
        assert set(at[1, :100]) == {*([0.5] if edge else []), *(0.5 / 2**n for n in range(1, 5))}
    at = np.array([[2.0] * 100, [0.125] * 100])
    samples._make_mover(eta >= 1 / L, places, NUMBERS, np.random.default_rng(0))(at)
    assert set(at[1]) == {0.5 * 2**n for n in range(5)}
    at = np.array([[2.0] * 100, [0.125] * 50 + [7.0] * 50])
    samples._make_mover(eta * L <= 1, places, NUMBERS, np.random.default_rng(0))(at)
    assert (at[:, :50] == [[2.0] * 50, [0.125] * 50]).all()
    assert set(at[0, 50:]) <= {0.5, 1.0, 2.0, 4.0}
    assert (at[:, 50:] != [[2.0] * 50, [7.0] * 50]).any(axis=0).all()


def test_conditions_and_least_counts_at_points() -> None:
    one, two = sp.S.One, sp.Integer(2)
    assert is_feasible({eta: one, tau: one, M: two}, NUMBERS, [])
    assert not is_feasible({eta: one, tau: one, M: one}, NUMBERS, [])
    assert not is_feasible({M: one, eta: one}, NUMBERS, [])
    assert not is_feasible({eta: one}, NUMBERS, [eta >= 1, eta > 1])
    assert is_feasible({eta: one}, NUMBERS, [eta >= 1])


def _premise(name: str, **form: int) -> Any:
    return SimpleNamespace(
        name=name, form={sp.Symbol(row): quotient(sp.Integer(n)) for row, n in form.items()}, given=()
    )


def test_eliminations_end() -> None:
    """Eliminations stop at six premises; a removed row does not return."""
    ring = [_premise(f"p{n}", **{f"r{n}": 1, f"r{n + 1}": -1}) for n in range(9)]
    for length, count in ((5, 1), (6, 1), (7, 0)):
        premises = [*ring[: length - 1], _premise("last", **{f"r{length - 1}": 1})]
        found = list(remainders._eliminate({sp.Symbol("r0"): ONE}, premises, SIGNS, frozenset()))
        assert len(found) == count
        assert all(len(parts) == length for parts in found)
    back = [_premise("there", a=1, b=-1), _premise("back", b=1, a=-1)]
    assert list(remainders._eliminate({sp.Symbol("a"): ONE}, back, SIGNS, frozenset())) == []
    assert remainders._subtract_multiple({eta: ONE}, ONE, {eta: ONE, L: ONE}) == {L: quotient(sp.S.NegativeOne)}


def test_the_remainder_that_is_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    """The remainder that the fewest samples refute is named."""

    def remainder(name: str, number: sp.Expr) -> Any:
        goal = SimpleNamespace(signs=SIGNS)
        return SimpleNamespace(goal=goal, number=number, parts=[(None, SimpleNamespace(name=name))])

    monkeypatch.setattr(remainders, "_find_below", lambda _: None)
    always, sometimes = remainder("always", -eta), remainder("sometimes", eta - 1)
    for order in ([always, sometimes], [sometimes, always]):
        found = remainders.search_products(order)
        assert isinstance(found, NotFound)
        assert found.nearest == "sometimes"


def test_powers_of_symbols() -> None:
    """Small powers of few symbols come first, at most three symbols up to squares; divisors count more."""
    assert _list_powers(1) == [(0,), (1,), (-1,), (2,), (-2,)]
    assert _list_powers(2)[:3] == [(0, 0), (0, 1), (1, 0)]
    assert len(_list_powers(3)) == 125
    assert all(sum(power != 0 for power in powers) <= 3 for powers in _list_powers(4))
    assert (1, 1, 1, 0) in _list_powers(4)
    assert _list_powers(0) == [()]


def test_systems_of_coefficients() -> None:
    """Equations are solved for the first free coefficient; one without any must vanish."""
    system = System(blocks.Blocks({}, {}), [None, None, None], {})  # type: ignore[list-item]
    assert system.free == [0, 1, 2]
    two, minus = quotient(sp.Integer(2)), quotient(sp.S.NegativeOne)
    assert system.impose({0: two, 1: ONE, -1: minus})
    assert (system.free, {free: str(n.expression) for free, n in system.known[0].items()}) == (
        [1, 2],
        {1: "-1/2", -1: "1/2"},
    )
    assert system.impose({1: ONE, 2: minus})
    assert {free: str(n.expression) for free, n in system.known[0].items()} == {2: "-1/2", -1: "1/2"}
    assert not system.impose({-1: ONE})
    assert system.impose({})
    assert not system.impose({0: quotient(sp.S.Zero), -1: ONE})


def test_rows_that_must_cancel() -> None:
    """Values, and inner products with a vector without square, must cancel."""
    a, b = sp.symbols("a b")
    parts = {
        -1: blocks.Blocks({a: ONE}, {("shared", a, b): ONE, ("shared", b, b): ONE}),
        0: blocks.Blocks({}, {("shared", a, b): ONE}),
    }
    found = list(_list_equations(parts))
    assert [sorted(one) for one in found] == [[-1], [-1, 0]]
    parts[0] = blocks.Blocks({}, {("shared", a, b): ONE, ("shared", a, a): ONE})
    assert [sorted(one) for one in _list_equations(parts)] == [[-1]]
    with pytest.raises(Rejected):
        blocks._require_small(blocks._MOST_TERMS + 1)
    blocks._require_small(blocks._MOST_TERMS)


def test_coefficients_of_a_proof_have_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    """All coefficients of a proof have signs; the remainder has no value, and is a sum of squares."""
    monkeypatch.setattr(coefficients, "find_squares", lambda matrices, *_: None if matrices else ["squares"])
    chosen = [SimpleNamespace(term=lambda c, n=n: (n, str(c.expression))) for n in range(3)]

    def finished(numbers: list[int], rest: Any) -> Any:
        known = {n: {-1: quotient(sp.Integer(number))} for n, number in enumerate(numbers)}
        system: Any = SimpleNamespace(known=known, chosen=chosen, rest=lambda: {-1: rest})
        choice: Any = SimpleNamespace(samples=SimpleNamespace(values=lambda number: np.array([float(number)])))
        return coefficients.write_terms(system, choice, None, SIGNS)  # type: ignore[arg-type]

    nothing = blocks.Blocks({}, {})
    assert finished([1, 0, 2], nothing) == [(0, "1"), (2, "2"), "squares"]
    assert finished([1, -1, 2], nothing) is None
    assert finished([-1, -1, -2], nothing) is None
    assert finished([1, 1, 2], blocks.Blocks({eta: ONE}, {})) is None
    assert finished([1, 1, 2], blocks.Blocks({}, {("shared", eta, eta): ONE})) is None


def test_candidates_suffice_at_every_sample() -> None:
    programs: Any = SimpleNamespace(candidates=np.zeros((1, 1, 2)), count=2)
    for solved, suffices in (((1, 1), True), ((1, None), False), ((None, 1), False)):
        programs.solve = lambda sample, *_, solved=solved: solved[sample]
        assert _suffices(programs, [0]) is suffices
    assert not _suffices(programs, [])


def test_claims_that_are_one_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chains, "_list_rows", lambda claim: claim.rows)
    usual: dict[str, Any] = {"rate": None, "for_all": {}, "relations": [SimpleNamespace(operator="<=")], "rows": {1}}
    fit = SimpleNamespace(**usual)
    assert chains._is_fit(fit)  # type: ignore[arg-type]
    assert chains._is_fit(SimpleNamespace(**{**usual, "rows": {1, 2}}))  # type: ignore[arg-type]
    for changes in (
        {"rate": 1},
        {"for_all": {1: 1}},
        {"relations": []},
        {"relations": [SimpleNamespace(operator="<=")] * 2},
        {"relations": [SimpleNamespace(operator="==")]},
        {"rows": set()},
    ):
        assert not chains._is_fit(SimpleNamespace(**{**usual, **changes}))  # type: ignore[arg-type]


def test_documents_in_other_words() -> None:
    """Names of claims are replaced as whole words; assumptions keep their names, and numbers do not change."""
    entry = {"claim": "old", "name": "final", "parts": ["2*final_x + final(1)", 3, {"step": "final_x"}]}
    found = restated._rewrite(entry, {"old": "new"}, {"final_x": "last", "final": "no"})
    assert found == {"claim": "new", "name": "final", "parts": ["2*last + final(1)", 3, {"step": "last"}]}
    assert restated.list_dependencies(
        {"claim": "a", "lemmas": ["b", 1], "inner": [{"step": "c"}, {"claim": "own"}]}, "own"
    ) == [
        *("a", "b", "c"),
    ]


def test_numbers_are_lowered_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each number is lowered with the others fixed: to zero if that is proved, else by bisection."""
    asked: list[list[sp.Rational]] = []

    def prove(_self: Any, numbers: list[sp.Rational]) -> Any:
        asked.append(numbers)
        return "found" if numbers[1] >= sp.Rational(1, 3) else None

    monkeypatch.setattr(tightening._Search, "prove", prove)
    search = tightening._Search(None, 1, [sp.Integer(5), sp.Integer(1), sp.Integer(7)], [])  # type: ignore[arg-type]
    assert search.lower(1, "first") == "found"  # type: ignore[arg-type,comparison-overlap]
    assert all((numbers[0], numbers[2]) == (5, 7) for numbers in asked)
    assert asked[0][1] == 0
    assert sp.Rational(1, 3) <= search.numbers[1] < sp.Rational(1, 2)
    assert search.lower(0, "first") == "found"  # type: ignore[arg-type,comparison-overlap]
    assert search.numbers[0] == 0


def test_supports_prefer_small_weights() -> None:
    """A product that a sample needs is kept; others are removed by increasing weight; later attempts are random."""
    list_costs: list[Any] = []

    class Found(SimpleNamespace):
        """Programs with given weights at two samples."""

        def solve(self, sample: int, chosen: Any, costs: Any) -> Any:
            list_costs.append(costs)
            return self.weights[sample] if {1, 2} <= set(chosen) or {0, 3} <= set(chosen) else None

        def select(self, samples: Any) -> Any:
            assert samples == [0, 1]
            return self

    weights = [np.array([1e-9, 0.5, 0.0, 0.0]), np.array([0.0, 0.0, 0.2, 0.0])]
    programs: Any = Found(candidates=np.zeros((1, 1, 4)), count=2, inner=2, weights=weights)
    assert conic.find_least_support(programs) == [1, 2]
    assert (list_costs[0] == 1).all()
    list_costs.clear()
    assert conic.find_least_support(programs, 1) == [1, 2]
    assert not (list_costs[0] == 1).all()
    programs.weights = [np.array([0.3, 0.0, 0.0, 0.0]), np.array([0.0, 0.1, 0.0, 0.0])]
    assert conic.find_least_support(programs) in ([0, 3], [1, 2])
    programs.weights = [None, np.ones(4)]
    assert conic.find_least_support(programs) is None


def test_numbers_below_all_bounds_have_all_symbols(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers below all bounds come from the goal that determines most symbols, which are all reported."""
    few = SimpleNamespace(signs=SignFacts(Numbers(symbols=frozenset({eta})), []), original_symbols={eta, tau})
    most = SimpleNamespace(signs=SignFacts(NUMBERS, []), original_symbols={eta, tau})
    drawn: list[Any] = []

    def draw(symbols: Any, numbers: Any, _conditions: Any, _count: int) -> Samples:
        drawn.append(numbers)
        return Samples(symbols, np.array([[2.0, 1.0], [3.0, 4.0]]))

    monkeypatch.setattr(remainders, "draw_samples", draw)
    for order in ((few, most), (most, few)):
        below: Any = [
            SimpleNamespace(goal=goal, number=number) for goal, number in zip(order, (1 - eta, eta - tau), strict=True)
        ]
        assert remainders._find_below(below) == {eta: 2, tau: 3}
        below[0].number = -eta
        below[1].number = tau - eta
        assert remainders._find_below(below) is None
    assert all(numbers is NUMBERS for numbers in drawn)


def test_every_summand_has_a_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    """One summand with unknown sign is enough to reject all."""
    signs = SignFacts(Numbers(symbols=frozenset({eta, L, sigma, tau, z})), [])
    number = sp.expand(z * (eta - L) ** 2 + (sigma - tau) ** 2)
    assert split_with_squares(number, signs) is None
    assert split_with_squares(number.subs(z, 2), signs) is not None
    monkeypatch.setattr(positivity, "_split_by_degree", lambda *_: [eta, z])
    assert split_into_products(eta + z, signs) is None
    monkeypatch.setattr(positivity, "_split_by_degree", lambda *_: [eta, L])
    assert split_into_products(eta - L, signs) is not None


def test_conditions_of_a_known_claim_all_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    """All conditions and assumptions of a known claim must follow; strict relations are no premises."""
    follows = {eta: True, L: True, tau: False}
    monkeypatch.setattr(premises, "follows", lambda condition, *_: follows[condition])
    monkeypatch.setattr(premises, "conditions_of_run", lambda _: [])
    monkeypatch.setattr(premises, "match_symbols", lambda *_: {})
    monkeypatch.setattr(premises, "rename_symbols", lambda known, _: known)
    monkeypatch.setattr(premises, "_list_premises", lambda part, *_: [part])

    def used(conditions: list[sp.Symbol], *signs: str, holds: bool = True, for_all: Any = None) -> list[str]:
        monkeypatch.setattr(premises, "check_assumed", lambda *_: SimpleNamespace(holds=holds))
        relations = [SimpleNamespace(operator=sign, slack=None) for sign in signs]
        known: Any = SimpleNamespace(
            id="k", for_all=for_all or {}, assumptions=(), conditions=conditions, relations=relations
        )
        return [str(part) for part in premises.use_known_claim(None, known)]  # type: ignore[arg-type]

    assert used([eta, L], "<=") == ["k"]
    assert used([], "==") == used([], ">=") == ["k"]
    assert used([], "<") == []
    assert len(used([], "<=", "<", "==")) == 2
    for conditions in ([tau], [eta, tau], [tau, L]):
        assert used(conditions, "<=") == []
    assert used([], "<=", holds=False) == used([], "<=", for_all={1: 1}) == []


def test_parts_of_a_known_claim_name_its_relations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of a known claim name its relation by id, or by index if it has several."""
    seen: list[Any] = []
    monkeypatch.setattr(premises, "check_assumed", lambda *_: SimpleNamespace(holds=True))
    monkeypatch.setattr(premises, "conditions_of_run", lambda _: [])
    monkeypatch.setattr(premises, "match_symbols", lambda *_: {})
    monkeypatch.setattr(premises, "rename_symbols", lambda known, _: known)
    monkeypatch.setattr(premises, "_list_premises", lambda *given: seen.append(given) or [])
    for count, parts in ((1, ["k"]), (2, [Derived("k", 0), Derived("k", 1)])):
        seen.clear()
        relations = [SimpleNamespace(operator=sign, slack=sign) for sign in ("<=", "==")[:count]]
        known: Any = SimpleNamespace(id="k", for_all={}, assumptions=(), conditions=(), relations=relations)
        assert premises.use_known_claim(None, known) == []  # type: ignore[arg-type]
        assert seen == [
            (part, "k", one.slack, None, one.slack == "==") for part, one in zip(parts, relations, strict=True)
        ]

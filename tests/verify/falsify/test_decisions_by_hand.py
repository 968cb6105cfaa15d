"""Decisions between two ways, in searches, checks and plans, against values by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp

from fedtheory.arithmetic import RATIONAL
from fedtheory.errors import NotApplicable
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.planner import planning, sentences
from fedtheory.planner.exact_optimum import find_lowest
from fedtheory.search import coefficients, known, lemmas, remainders
from verify.check import applicability, escalation
from verify.falsify import instance_search
from verify.falsify.regimes import violations
from verify.falsify.regimes.climb import LevelClimb

eta, L = sp.symbols("eta L", positive=True)
x = sp.Symbol("x", real=True)


@pytest.mark.parametrize("constant", [None, 3])
@pytest.mark.parametrize(
    ("floats", "rate", "expected"),
    [
        (None, None, "exact"),
        ((True, True, None), None, "floats"),
        ((True, False, None), None, "floats"),
        ((False, None, None), None, "floats"),
        ((True, None, None), None, "exact"),
        ((True, None, 1), 1, "limit"),
        ((True, None, None), 1, "exact"),
    ],
)
def test_checks_that_floats_leave_open(
    floats: Any, rate: Any, expected: str, constant: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rates are decided by an exact limit, unless their constant is stated; all else by an exact check."""
    found = None
    if floats is not None:
        applicable, holds, own = floats
        found = SimpleNamespace(applicable=applicable, holds=holds, rate=own, word="floats")
    exactly = SimpleNamespace(word="exact")
    monkeypatch.setattr(escalation, "check", lambda _, run: found if run == "floats" else exactly)
    monkeypatch.setattr(
        escalation, "_check_rate_closer", lambda seen, _: SimpleNamespace(word=f"limit after {seen.word}")
    )
    claim: Any = SimpleNamespace(rate=None if rate is None else SimpleNamespace(constant=constant))
    decided: Any = escalation.check_decided(claim, "exact", None if found is None else "floats")  # type: ignore[arg-type]
    wanted = "exact" if expected == "limit" and constant is not None else expected
    assert decided.word == ("limit after floats" if wanted == "limit" else wanted)


@pytest.mark.parametrize(
    ("applicable", "holds", "sides", "gap"),
    [(True, False, (5, 2), 3.0), (True, True, (5, 2), math.inf), (False, False, (5, 2), math.inf)],
)
def test_gaps_of_violations(
    applicable: bool, holds: bool, sides: Any, gap: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    worst = SimpleNamespace(lhs=RATIONAL.number(sides[0], "x"), rhs=RATIONAL.number(sides[1], "x"))
    found = SimpleNamespace(applicable=applicable, holds=holds, worst=worst)
    monkeypatch.setattr(violations, "check", lambda *_: found)
    assert violations._compute_gap(None, None) == gap  # type: ignore[arg-type]
    found.worst = None
    assert violations._compute_gap(None, None) == math.inf  # type: ignore[arg-type]


def test_work_for_ties() -> None:
    """A fraction of the work of a search is for ties."""
    for seconds in (1.0, 8.0):
        given = violations.Violations(None, seconds, lambda _: None)  # type: ignore[arg-type, return-value]
        assert given._of_ties == violations._OF_TIES * seconds
        assert (given.left_open, given.found, given.is_deciding) == (0, None, False)


def test_exclusions_have_a_name() -> None:
    """The name is that of the reason, else of the first vector of the claim, else the reason itself."""
    model = sp.Symbol("w", real=True)
    where: dict[Any, Any] = {eta: q.local_step_size, model: q.server_model}
    claim = Claim(id="t:name", lhs=0, rhs=eta + model, where=where, place="path")
    plain = Claim(id="t:name", lhs=0, rhs=eta, where={eta: q.local_step_size})
    assert applicability.name_exclusion(plain, NotApplicable("it diverges")).name == "it diverges"
    assert applicability.name_exclusion(claim, NotApplicable("it diverges")).name == q.server_model.name
    named = NotApplicable("it diverges")
    named.name = "error"
    assert applicability.name_exclusion(claim, named).name == "error"


def test_levels_beside_steps() -> None:
    """Words are other levels at the first scale only; numbers are reached by steps."""
    words_of = SimpleNamespace(steps=(1, 2, 4), within=lambda level: level)
    given: Any = SimpleNamespace(_factors={"a": words_of}, _levels={"a": (None, "one", 3)})

    def moves(scale: int, level: Any = 3) -> list[Any]:
        return [move for move in LevelClimb._list_moves(given, {"a": level}, "a", scale) if not isinstance(move, int)]

    assert moves(0) == [None, "one"]
    assert moves(1) == []
    assert moves(0, "one") == [None]
    given._levels = {"a": ("one",)}
    assert moves(0) == []


def test_generated_runs_are_tried_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Any] = []
    monkeypatch.setattr(instance_search, "KINDS", ("a", "b"))
    monkeypatch.setattr(instance_search, "find_bases", lambda _: "bases")
    monkeypatch.setattr(
        instance_search, "generate_run", lambda *given: None if given[2] == "a" else (given[0], given[2:4])
    )
    monkeypatch.setattr(instance_search, "keep_premises", lambda _: "premises")
    claim = SimpleNamespace(rate=None)
    state: Any = SimpleNamespace(claim=claim, start_from=lambda run, in_floats: tried.append((run, in_floats)))
    instance_search._try_kinds(state, None)  # type: ignore[arg-type]
    assert tried == [(claim, False)]
    claim.rate = "rate"
    instance_search._try_kinds(state, None)  # type: ignore[arg-type]
    assert tried[1:] == [("premises", False)]


@pytest.mark.parametrize("valley", [-2.5, 0.25])
def test_the_lowest_score_between_grid_points(valley: float) -> None:
    """Infinite scores on one side stay above all finite ones, so that the search ends at the valley."""

    def score(exponent: float) -> float:
        return math.inf if exponent > valley + 0.6 else (exponent - valley) ** 2

    found = find_lowest(score, range(-6, 4), 200)
    assert found is not None
    assert found[0] == pytest.approx(valley, abs=1e-2)
    assert found[1] == score(found[0])


# Proof searches.


def test_lemmas_in_the_symbols_of_a_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    """Symbols of the lemma are changed to those of the claim; foreign quantities and unmet conditions exclude it."""
    s = sp.Symbol("s", positive=True)
    where = {eta: q.local_step_size, L: q.smoothness}
    claim = Claim(id="mine:own", lhs=0, rhs=eta * L, where=where, conditions=[eta <= 1])

    def usable(**stated: Any) -> list[Any]:
        whole: dict[str, Any] = {"id": "t:known", "lhs": 0, "rhs": s, "where": {s: q.local_step_size}, **stated}
        monkeypatch.setattr(lemmas, "certificate_of", {"t:known": "certificate"}.get)
        monkeypatch.setattr(lemmas, "find_proved_statement", lambda _: Claim(**whole))
        return [one.relations[0].right for one in lemmas._use_claim(claim, "t:known")]

    assert usable() == [eta]
    assert usable(conditions=[s <= 1]) == [eta]
    assert usable(conditions=[s <= 2]) == [eta]
    assert usable(conditions=[2 * s <= 1]) == []
    assert usable(where={s: q.strong_convexity}) == []
    assert list(lemmas._use_claim(claim, "t:other")) == []


def test_the_order_in_which_a_remainder_is_split(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each remainder is split as written, then as a number; the first proof ends the search."""
    tried: list[Any] = []

    def show(_remainder: Any, number: Any, split: Any) -> Any:
        tried.append((number, split))
        return "found" if number == "b as a number" else None

    named = [
        SimpleNamespace(written=f"{name} as written", number=f"{name} as a number", parts=["premise"]) for name in "abc"
    ]
    for name, stand_in in (
        ("_explain_unfit", lambda _: None),
        ("use_plain_symbols", lambda claim: claim),
        ("find_known_claims", lambda _: ["one"]),
        ("_list_remainders", lambda *_: named),
        ("prove_remainder", show),
    ):
        monkeypatch.setattr(known, name, stand_in)
    assert known.search_known("claim") == "found"  # type: ignore[arg-type, comparison-overlap]
    first = [("a as written", known.split_differences), ("a as written", known.split_pairs)]
    first += [("a as a number", known.split_quickly), ("a as a number", known.split_into_squares)]
    second = [("b as written", known.split_differences), ("b as written", known.split_pairs)]
    assert tried == [*first, *second, ("b as a number", known.split_quickly)]


def test_equations_in_the_order_of_their_texts() -> None:
    """Equations of linear parts come in an order that does not depend on hashes."""
    rows = sp.symbols("c a b")
    parts: Any = {
        -1: SimpleNamespace(rows={rows[0]: 1, rows[1]: 2}, matrices={}),
        4: SimpleNamespace(rows={rows[2]: 3, rows[1]: 5}, matrices={}),
    }
    assert list(coefficients._list_equations(parts)) == [{-1: 2, 4: 5}, {4: 3}, {-1: 1}]


@pytest.mark.parametrize("verdict", ["proved", "broken"])
def test_remainders_that_are_shown(verdict: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A remainder without summands has no proof; the proof names its premises once, and no search by numbers."""
    monkeypatch.setattr(remainders, "_write_document", lambda _goal, _certificate, names: [*names])
    monkeypatch.setattr(remainders, "spend", lambda _: None)
    documents: list[Any] = []
    proof = SimpleNamespace(verdict=verdict, work={})
    monkeypatch.setattr(remainders, "check_certificate", lambda _, document: documents.append(document) or proof)
    premise = SimpleNamespace(name="t:one", part="t:one", sign=1, given=("t:given",))
    goal = SimpleNamespace(signs=None, claim=SimpleNamespace(id="t:goal"), relaxed=None, original=None, supposed=())
    pair = (SimpleNamespace(expression=eta), premise)
    remainder: Any = SimpleNamespace(goal=goal, parts=[pair, pair])
    found = remainders.prove_remainder(remainder, eta, lambda *_: [eta])
    assert documents == [["t:given", "t:one", "t:one"]]
    if verdict == "broken":
        assert found is None
    else:
        assert found is not None
        assert (found.proof, found.uses, found.supposed, found.work) == (proof, ["t:one"], (), 0)
    assert remainders.prove_remainder(remainder, eta, lambda *_: None) is None


# Plans.


def test_lines_of_plans_without_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without exact errors the plan is that of constants, in the given notation."""
    monkeypatch.setattr(sentences, "describe_constants_plan", lambda found, write: [(found.word, write("formula"))])
    found: Any = SimpleNamespace(answer=None, word="plan")
    lines = sentences.describe_answer(found, lambda text: f"short {text}")  # type: ignore[arg-type, return-value]
    assert lines == [("exact:", "the error of this run is not available"), ("plan", "short formula")]


@pytest.mark.parametrize("free", [True, False])
def test_plans_at_the_planned_step_size(monkeypatch: pytest.MonkeyPatch, *, free: bool) -> None:
    """A bound with a step size is planned at the given one; reasons are those of the run, then of conditions."""
    failing = SimpleNamespace(values={"at": "planned"}, slacks=lambda: ["slack"])
    bound: Any = SimpleNamespace(values={}, slacks=list)
    bound.with_numbers = lambda values: failing if values == {planning.STEP: 0.5} else None
    bound.symbols = lambda name: free and name == planning.STEP
    monkeypatch.setattr(planning, "_list_slacks_of_clients", lambda *_: ["client"])
    monkeypatch.setattr(
        planning, "_list_failed_conditions", lambda _, conditions: "it fails" if "slack" in conditions else ""
    )
    monkeypatch.setattr(planning, "require_bounded_error", lambda _: "error")
    monkeypatch.setattr(planning, "find_covered_edge", lambda *_: "edge")
    monkeypatch.setattr(planning, "largest", lambda one, name: (one is failing, name))
    monkeypatch.setattr(planning, "ClaimPlan", lambda *given: given)
    monkeypatch.setattr(planning, "_optimise", lambda found, one, accuracy, edge: (found, one, accuracy, edge))
    errors: Any = SimpleNamespace(planned=0.5, run=None)
    found, planned, accuracy, edge = planning._plan("claim", errors, bound, ["noise"], 0.1)  # type: ignore[arg-type, misc]
    assert (planned is failing, accuracy, edge) == (free, 0.1, "edge")
    conditions = ("slack", "client") if free else ("client",)
    reason = "noise; it fails" if free else "noise"
    assert found == ("claim", "error", False, reason, conditions, planned)

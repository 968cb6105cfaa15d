"""Single choices of searches, checks, plans and exports, each against a value by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import arb

from fedtheory.errors import InputError, NotApplicable
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.registry import find
from fedtheory.planner import deterministic_runs, rounds_needed
from fedtheory.proofs import Recursion, cases, certificate_of, check_certificate
from fedtheory.proofs.cases import Case, Cases
from fedtheory.proofs.induction import k
from fedtheory.search import chains, conic, known
from verify.check import rates, runs_at_places
from verify.check.runs_at_places import RunsAtPlaces
from verify.falsify.regimes.climb import LevelClimb
from verify.falsify.regimes.regime_search import _Over, _Searching
from verify.falsify.score import _balance
from verify.grade import exercise_checks
from verify.grade.point_entries import _read_entry
from verify.rocq import origins

eta, tau, M, G = sp.symbols("eta tau M G", positive=True)

# Checks.


def test_step_sizes_are_rounded_to_nine_digits() -> None:
    """An irrational step size is replaced by the simplest rational within 1e-9 of it, relative to its size."""
    for number in range(2, 60):
        if math.isqrt(number) ** 2 != number:
            found = rates._make_rational(arb(number).sqrt())
            assert abs(Fraction(int(found.p), int(found.q)) ** 2 / number - 1) <= Fraction(2, 10**9)


def test_parts_that_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part is as large as memory allows, counted anew for each part; a large run is a part alone."""
    numbers = {0: 4, 1: 6, 2: 4, 3: 6, 4: 12, 5: 1}
    monkeypatch.setattr(runs_at_places, "_MOST", 10)
    given: Any = SimpleNamespace(
        _list_frames=lambda row: [SimpleNamespace(numbers=numbers[row] / 2)], _count_choices=lambda _claim, _row: 2
    )
    assert list(RunsAtPlaces.split_parts(given, None, (0, 1, 2, 3, 4, 5))) == [(0, 1), (2, 3), (4,), (5,)]  # type: ignore[arg-type]


def test_runs_without_a_quantity_are_evaluated_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quantity that a run lacks is found before runs are evaluated together."""

    def lack(_run: Any) -> Any:
        raise NotApplicable("it has no optimum")

    monkeypatch.setattr(
        runs_at_places, "collect_in_relations", lambda _: SimpleNamespace(quantities=[SimpleNamespace(on=lack)])
    )
    run = SimpleNamespace(client_objectives=None)
    given: Any = SimpleNamespace(_runs=[run], _list_frames=lambda _: [])
    with pytest.raises(NotApplicable, match="it has no optimum"):
        RunsAtPlaces.find_kind(given, None, 0)  # type: ignore[arg-type]


# Searches for violations.


@pytest.mark.parametrize(("operator", "ratio"), [("<=", Fraction(7, 3)), (">=", Fraction(3, 7))])
def test_terms_count_on_the_side_where_they_are_positive(operator: Any, ratio: Fraction) -> None:
    """3 - 1 <= 2 - 4 is 3 + 4 <= 2 + 1 after the subtracted terms are moved."""

    def terms(*values: int) -> Any:
        return tuple(SimpleNamespace(value=value) for value in values)

    comparison: Any = SimpleNamespace(
        relation=Relation(eta, operator, tau), left_terms=terms(3, -1), terms=terms(2, -4)
    )
    assert _balance(comparison) == pytest.approx(math.log(ratio))


def test_coordinates_are_tried_in_random_order_after_the_first_ones() -> None:
    """A sweep begins with the step size, and continues from the best point; kept coordinates are left out."""
    tried: list[Any] = []
    given: Any = SimpleNamespace(
        _factors=dict.fromkeys(("loss", "a", "step size", "b", "clients")),
        _kept=("loss",),
        _random=SimpleNamespace(shuffle=lambda names: names.reverse()),
    )

    def along(at: Any, name: str, scale: int, end: int) -> Any:
        tried.append((at, name, scale, end))
        return at + 1

    given._climb_along = along
    assert LevelClimb._sweep_coordinates(given, 0, 2, 99) == 4  # type: ignore[arg-type]
    assert tried == [(place, name, 2, 99) for place, name in enumerate(("step size", "clients", "b", "a"))]


def test_a_violation_ends_a_search_before_its_settings() -> None:
    """No further evaluations are granted once a violation is found."""
    given: Any = SimpleNamespace(_violations=SimpleNamespace(found="run"), _most=10)
    given._end_with_a_violation = lambda: _Searching._end_with_a_violation(given)
    with pytest.raises(_Over):
        _Searching._climb_settings(given)
    assert given._most == 10
    given._violations.found = None
    assert _Searching._end_with_a_violation(given) is None


# Grades.


def test_points_without_a_cell_are_refused() -> None:
    """A row that ends before its points names its place."""
    row = {"student": "'=a", "question": "1", "note": None, "assignment": None, "points": "1,5"}
    found = _read_entry(row, "row 3")
    assert (found.student, found.question, found.points, found.note) == ("=a", "1", 1.5, "")
    for points in (None, "", " "):
        with pytest.raises(InputError, match="expected a number, zero or more, got ''"):
            _read_entry({**row, "points": points}, "row 3")


@pytest.mark.parametrize("file", [None, "exercise.py"])
def test_solutions_are_graded_once(file: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An assignment of the package has no file; a record avoids a second check until the edition changes."""
    done: list[str] = []
    monkeypatch.setattr(exercise_checks, "require_sound", lambda *_: done.append("graded"))
    assignment: Any = SimpleNamespace(file=file)
    copy: Any = SimpleNamespace(student="a")
    for _ in range(2):
        exercise_checks.require_sound_once(assignment, copy, tmp_path / "grades", lambda: done.append("started"))
    assert done == ["started", "graded"]
    copy.student = "b"
    exercise_checks.require_sound_once(assignment, copy, tmp_path / "grades")
    assert done == ["started", "graded", "graded"]


# Exports.


def test_rules_of_hypotheses_at_steps_and_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule applies to a hypothesis as it is, or after its step is replaced; patterns match whole hypotheses."""
    monkeypatch.setattr(origins, "_AT_STEP", [("step", "x")])
    monkeypatch.setattr(origins, "HYPOTHESIS_RULES", [])
    monkeypatch.setattr(origins, "INDICES", [("x+", "a letter"), ("step [0-9]", "a step")])
    monkeypatch.setattr(origins, "STANDING", [])
    monkeypatch.setattr(origins, "_explain_sign", lambda goal, _: f"no rule for {goal}")
    speaks: Any = SimpleNamespace(is_expected=False)
    assert origins._explain_rule("step", speaks) == "a letter"
    assert origins._explain_rule("xx", speaks) == "a letter"
    assert origins._explain_rule("step 7", speaks) == "a step"
    assert origins._explain_rule("step 77", speaks) == "no rule for x 77"


# Proofs and searches for them.


def test_equal_arguments_of_a_maximum_are_in_a_case() -> None:
    """In each case the other arguments are at most the largest, so that equal ones are in both."""
    claim = Claim(id="t:max", lhs=0, rhs=sp.Max(eta, tau) - 1, where={eta: q.local_step_size, tau: q.local_steps})
    why: Any = None
    found = cases.claims_of(claim, Cases(claim=claim.id, cases=[Case(eta, why), Case(tau, why)]))
    assert [one.relations[0].right for one in found] == [eta - 1, tau - 1]
    assert [[*one.conditions] for one in found] == [[tau <= eta], [eta <= tau]]
    (sufficient,) = cases.claims_of(claim, Cases(claim=claim.id, cases=[Case(eta, why)]))
    assert (sufficient.relations[0].right, *sufficient.conditions) == (eta - 1,)
    of_three = replace(claim, rhs=sp.Max(eta, tau, 3) - 1)
    with pytest.raises(cases.Rejected, match="expected a case for each argument"):
        cases.claims_of(of_three, Cases(claim=claim.id, cases=[Case(eta, why), Case(tau, why)]))


@pytest.mark.parametrize(("share", "verdict"), [(1, "proved"), (Fraction(99, 100), "broken")])
def test_a_mean_drift_below_its_last_bound(share: Any, verdict: str) -> None:
    """Without a sum of the bounds, the mean over the steps is at most the bound for all of them."""
    recursion: Any = certificate_of("liu2022:lemma-1.mean")
    assert isinstance(recursion, Recursion)
    claim: Any = find("liu2022:lemma-1.mean")
    steps = next(symbol for symbol, quantity in claim.where.items() if quantity is q.local_steps)
    clients = next(symbol for symbol, quantity in claim.where.items() if quantity is q.clients)
    last = recursion.measure.mean_drift(clients) * recursion.bound.subs(k, steps)
    changed = Claim(
        id=claim.id,
        lhs=claim.relations[0].left,
        rhs=sp.Rational(share) * last,
        where=dict(claim.where),
        assumptions=claim.assumptions,
        conditions=claim.conditions,
    )
    certificate = Recursion(**{**vars(recursion), "total": None})
    assert check_certificate(changed, certificate).verdict == verdict


def test_the_mean_dissimilarity_is_known_from_the_largest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lemma may name the mean dissimilarity if the claim bounds and names that of each client."""
    numbers, replacements = frozenset({q.mean_dissimilarity.name}), {"iterations": "rounds"}
    fits = {"fits_noise": True, "fits_full_gradients": True}
    step = chains._Step("t:lemma", replacements, "max_drift", frozenset(), numbers, (), **fits)
    monkeypatch.setattr(chains, "_collect_steps", lambda: (step,))

    def fitting(*assumptions: Any, rhs: Any = G) -> list[str]:
        where = {G: q.gradient_dissimilarity, eta: q.local_step_size}
        claim = Claim(id="t:drift", lhs=q.max_drift, rhs=rhs, where=where, assumptions=assumptions)
        return [one.name for one in chains._select_steps(claim)]

    assert fitting(a.bounded_dissimilarity) == ["t:lemma"]
    assert fitting() == []
    assert fitting(a.bounded_dissimilarity, rhs=eta) == []


def test_claims_without_remainders_are_reused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remainders of all known claims are tried together; a claim that gives none may lend its certificate."""
    reached: dict[str, list[str]] = {"a": ["a1", "a2"], "b": [], "c": ["c1"]}
    searched: list[Any] = []
    remainders = {
        name: [SimpleNamespace(written=one, number=one, parts=["premise"]) for one in found]
        for name, found in reached.items()
    }
    monkeypatch.setattr(known, "_explain_unfit", lambda _: None)
    monkeypatch.setattr(known, "use_plain_symbols", lambda claim: claim)
    monkeypatch.setattr(known, "find_known_claims", lambda _: list(reached))
    monkeypatch.setattr(known, "_list_remainders", lambda _claim, name: remainders[name])
    monkeypatch.setattr(known, "prove_remainder", lambda *_: None)
    monkeypatch.setattr(known, "search_products", lambda seen: searched.append([one.written for one in seen]) or "no")
    monkeypatch.setattr(known, "reuse_certificate", lambda _claim, name: f"reused {name}" if name == "b" else None)
    assert known.search_known("claim") == "reused b"  # type: ignore[arg-type, comparison-overlap]
    assert searched == [["a1", "a2", "c1"]]


def test_candidates_with_small_weights_are_left_out_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The candidate with the largest weight is kept among those that replace each other."""
    weights = np.array([0.5, 0.2, 0.0, 0.9])
    asked: list[list[int]] = []

    class Programs:
        """One sample, at which the first and second candidates replace each other, and the last one is needed."""

        candidates = np.zeros((1, 1, 4))
        count = inner = 1

        def select(self, _samples: Any) -> Any:
            return self

        def solve(self, _sample: int, chosen: Any, _costs: Any) -> Any:
            asked.append(list(chosen))
            fits = 3 in chosen and (0 in chosen or 1 in chosen)
            return weights if fits else None

    monkeypatch.setattr(conic, "_suffices", lambda programs, chosen: programs.solve(0, chosen, None) is not None)
    assert conic.find_least_support(Programs()) == [0, 3]  # type: ignore[arg-type]
    assert asked == [[0, 1, 2, 3], [0, 1, 3], [0, 3], [3], [0]]


# Plans.


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"coins": ("p",)}, False),
        ({"compressed": True}, False),
        ({"numbers": 1501}, False),
        ({"numbers": 1500}, True),
        ({"bounded": False}, False),
        ({"alike": False}, False),
        ({"fixed": False}, False),
    ],
)
def test_runs_of_one_path(changes: dict[str, Any], expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Coins, compression, many numbers, or other participants from round to round have no single path."""
    run: dict[str, Any] = {
        "coins": (),
        "compressed": False,
        "numbers": 7,
        "bounded": True,
        "alike": True,
        "fixed": True,
    }
    run |= changes
    monkeypatch.setattr(deterministic_runs, "count_numbers", lambda _: run["numbers"])
    definition = SimpleNamespace(coins=run["coins"], uses=lambda _: run["compressed"])
    given: Any = SimpleNamespace(
        algorithm=SimpleNamespace(
            defined=SimpleNamespace(algorithm=definition),
            rounds_are_alike=run["alike"],
            is_fedavg_of_changing_steps=False,
            aggregation=SimpleNamespace(moments=lambda _: SimpleNamespace(is_fixed=run["fixed"])),
        ),
        problem=SimpleNamespace(
            is_quadratic=True,
            arithmetic=deterministic_runs.FLOAT,
            oracle=deterministic_runs.ExactOracle(),
            is_bounded_below=run["bounded"],
            weights=None,
        ),
    )
    assert deterministic_runs.is_deterministic(given) is expected
    given.algorithm.defined = None
    assert deterministic_runs.is_deterministic(given) is False


def test_the_best_step_size_of_a_coarse_search_is_kept() -> None:
    """Finer searches around the best step size include it, and replace it only by a better one."""
    space = rounds_needed._space_step_sizes
    grid = space(1 / rounds_needed._SPAN, 1.0, rounds_needed._DENSE)
    # A step size of the coarse grid that no finer grid around it repeats to the last digit.
    between = (
        (at, space(low, high, rounds_needed._BETWEEN)) for low, at, high in zip(grid, grid[1:], grid[2:], strict=False)
    )
    best = next(at for at, finer in between if at not in finer)

    def search(score: Any) -> float:
        given: Any = SimpleNamespace(largest=1.0, accuracy=None, _make_rank=lambda one: one.error)
        given._compute_errors = lambda _, sizes: [
            SimpleNamespace(step_size=size, error=score(size), reached=False) for size in sizes
        ]
        return rounds_needed.RoundsNeeded._search_densely(given, None).step_size  # type: ignore[arg-type]

    assert search(lambda size: 0.0 if size == best else 1.0 + abs(size - best)) == best
    assert search(lambda size: abs(size - 0.3)) == pytest.approx(0.3, rel=1e-4)
    assert search(lambda size: -size) == 1.0

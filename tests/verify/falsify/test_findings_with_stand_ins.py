"""Order, budgets and seeds of a search for violations, with stand-ins for its parts, against values by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from claim_symbols import WHERE, L, eta

from fedtheory.arithmetic import FLOAT, RATIONAL
from fedtheory.language.claim import Claim
from verify.falsify import search_result
from verify.falsify.instance_search import Simplest
from verify.falsify.regimes.regime_search import _FEW_STEPS, _Searching
from verify.falsify.run_tables import CheckedRun

CLAIM = Claim(id="t:found", lhs=eta, rhs=L, where=WHERE)
falsify: Any = search_result.falsify
REFUTES = SimpleNamespace(arithmetic=RATIONAL, holds=False)
HOLDS = SimpleNamespace(arithmetic=RATIONAL, holds=True)


class Parts:
    """Parts of a search that record what they are asked; each takes two seconds of work."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.asked = 100.0, dict[str, Any]()
        self.confirmed: Any = None
        self.by_regimes: Any = None
        self.violation: Any = None
        self.clear = False
        monkeypatch.setattr(search_result, "measure_work", lambda: self.now)
        monkeypatch.setattr(search_result, "resolve", lambda claim: claim)
        monkeypatch.setattr(search_result, "is_clear", lambda *_: self.clear)
        for name in ("_search_small_runs", "_search_by_regimes", "search", "_shrink_violation", "_find_closest_run"):
            monkeypatch.setattr(search_result, name, getattr(self, name.strip("_")))
        monkeypatch.setattr(search_result, "_confirm", lambda *_: self.confirmed)

    def _spend(self, name: str, *given: Any) -> None:
        self.now += 2
        self.asked[name] = given

    def search_small_runs(self, _claim: Claim, *given: Any) -> Simplest:
        """Try three small runs, of which two apply."""
        self._spend("easily", *given[:3])
        return Simplest({"a": 1}, 3, 2)

    def search_by_regimes(self, _claim: Claim, budget: float, seed: int, _on_tick: Any) -> Any:
        """Try ten runs."""
        self._spend("regimes", budget, seed)
        found = {"evaluations": 10, "applicable": 5, "left_open": 1, "best": "best", "regimes": (), "pairs": ()}
        return SimpleNamespace(counterexample=self.by_regimes, **found)

    def search(self, _claim: Claim, budget: float, seed: int, on_tick: Any) -> Any:
        """Try a hundred runs, with progress."""
        on_tick()
        self._spend("search", budget, seed)
        return SimpleNamespace(looked=100, applicable=50, left_open=2, violation=self.violation)

    def shrink_violation(self, _claim: Claim, violation: Any, deadline: float, seed: int, _on_tick: Any) -> Any:
        """Shrink a violation."""
        self._spend("refutation", violation, deadline, seed)
        return self.refutation_of(violation)

    def refutation_of(self, violation: Any) -> Any:
        """Return what is left of a violation."""
        return None if violation is None else CheckedRun("small", REFUTES)

    def find_closest_run(self, _claim: Claim, state: Any, best: Any, deadline: float, _on_tick: Any) -> Any:
        """Return a run on which the claim holds."""
        self._spend("largest", state is not None, best, deadline)
        return "large", HOLDS


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> Parts:
    return Parts(monkeypatch)


def test_a_search_in_which_nothing_fails(parts: Parts) -> None:
    """Without a violation, the searches get a tenth of the budget, at most two seconds, then half, then the rest of 85
    %.
    """
    progress: list[tuple[int, int]] = []
    found = falsify(CLAIM, 12.0, 7, lambda done, whole: progress.append((done, whole)))
    assert parts.asked == {
        "easily": (100.0 + 1.2, 112.0, 7),
        "regimes": (6.0, 7),
        "search": (pytest.approx(0.85 * 12 - 4), 7),
        "refutation": (None, 112.0, 7),
        "largest": (True, "best", 112.0),
    }
    assert (found.verdict, found.run, found.left_open) == ("not refuted", "large", 3)
    assert (found.looked, found.applicable) == (113, 57)
    assert progress == [(4, 12), (12, 12)]
    falsify(CLAIM, 100.0)
    start = 110.0
    assert parts.asked["easily"] == (start + 2.0, start + 100.0, 0)
    # Simplification takes at most eight seconds.
    assert parts.asked["refutation"] == (None, start + 6 + 8, 0)


def test_a_violation_by_regimes_ends_the_search(parts: Parts) -> None:
    parts.by_regimes = ("table", "check")
    found = falsify(CLAIM, 12.0)
    assert "search" not in parts.asked
    assert parts.asked["refutation"][0] == ("table", "check")
    assert (found.verdict, found.run, found.looked, found.applicable, found.left_open) == ("refuted", "small", 13, 7, 0)


def test_a_violation_among_small_runs(parts: Parts) -> None:
    """A clear violation among small runs ends the search; for other violations a simpler one may be shown."""
    parts.confirmed, parts.clear = CheckedRun({"a": 1}, REFUTES), True
    found = falsify(CLAIM, 12.0)
    assert (found.verdict, found.run, found.looked, found.applicable) == ("refuted", {"a": 1}, 3, 2)
    assert set(parts.asked) == {"easily"}
    parts.clear = False
    found = falsify(CLAIM, 12.0)
    assert (found.verdict, found.run, found.looked) == ("refuted", {"a": 1}, 113)
    assert "largest" not in parts.asked
    parts.violation = ("table", "check")
    assert falsify(CLAIM, 12.0).run == "small"
    assert parts.asked["refutation"][0] == ("table", "check")


def test_a_violation_in_floats_refutes_nothing(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = SimpleNamespace(arithmetic=FLOAT, holds=False)
    monkeypatch.setattr(search_result, "_find_closest_run", lambda *_: ("large", seen))
    found = falsify(CLAIM, 12.0)
    assert (found.verdict, found.left_open) == ("not refuted", 3)
    monkeypatch.setattr(search_result, "_find_closest_run", lambda *_: (None, None))
    assert falsify(CLAIM, 12.0).verdict == "not refuted"
    assert parts.confirmed is None


def test_short_searches_have_seed_zero(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    """Short searches have seed zero and a quarter of the budget beyond a proof; simplification ends with the budget."""
    searches: list[float] = []
    state = SimpleNamespace(looked=1, applicable=1, left_open=0, violation=None)
    monkeypatch.setattr(search_result, "search_briefly", lambda _, budget: searches.append(budget) or state)  # type: ignore[func-returns-value]
    search_result.search_quickly(CLAIM, 3.0)
    assert parts.asked == {"regimes": (3.0, 0), "refutation": (None, 105.0, 0)}
    assert searches == []
    search_result.search_further(CLAIM, 40.0)
    assert parts.asked == {"regimes": (10.0, 0), "refutation": (None, 114.0, 0)}
    nothing = SimpleNamespace(evaluations=1, applicable=0, counterexample=None, left_open=0, regimes=(), pairs=())
    monkeypatch.setattr(search_result, "_search_by_regimes", lambda *_: nothing)
    search_result.search_quickly(CLAIM, 3.0)
    assert searches == [1.5]


@pytest.mark.parametrize("steps", [True, False])
def test_descent_of_one_client_on_each_loss(*, steps: bool) -> None:
    """Gradient descent of one client is tried on each loss at the largest step size; quadratics are no losses."""
    looked: list[Any] = []
    searching: Any = SimpleNamespace(_look=looked.append)
    base = {"clients": 3, "step size": -2, "sources": "n", **({"local steps": 5} if steps else {})}
    levels = {"loss": (None, "huber", "logistic"), "horizon": (("T", 2), ("L", 4), ("T", 6))}
    _Searching._look_at_descent(searching, base, levels)
    alone = {**base, "sources": "s", "clients": 0, "step size": 0}
    assert looked == [
        {**alone, "loss": loss, "horizon": horizon, **({"local steps": few} if steps else {})}
        for loss in ("huber", "logistic")
        for horizon in (("T", 2), ("T", 6))
        for few in _FEW_STEPS
    ]


@pytest.mark.parametrize(
    ("simplest", "clear", "shrunk", "shown"),
    [
        (None, False, ["given"], "given"),
        ("easy", True, ["easy"], "easy"),
        ("easy", False, ["easy", "given"], "given"),
        ("hard", False, ["hard", "given"], "given"),
    ],
)
def test_counterexamples_that_are_shown(
    monkeypatch: pytest.MonkeyPatch, *, simplest: Any, clear: bool, shrunk: list[str], shown: str
) -> None:
    """The lightest of the simplest one and the given one, which is shrunk unless the other is clear already."""
    costs = {"easy": 5, "given": 3, "hard": 9}
    tried: list[str] = []

    def shrink(_claim: Any, table: str, *_: Any) -> str:
        tried.append(table)
        return table

    monkeypatch.setattr(search_result, "measure_work", lambda: 0.0)
    monkeypatch.setattr(search_result, "find_simplest_violation", lambda *_: Simplest(simplest, 1, 1))
    monkeypatch.setattr(search_result, "shrink", shrink)
    monkeypatch.setattr(search_result, "is_clear", lambda *_: clear)
    monkeypatch.setattr(search_result, "measure_reading_effort", lambda _, table: costs[table])
    monkeypatch.setattr(search_result, "parse_run", lambda table, _: table)
    monkeypatch.setattr(search_result, "check_rigorously", lambda _, table: f"check of {table}")
    given: Any = CheckedRun("given", "known check")
    found: Any = search_result._shrink_violation(CLAIM, given, 9.0, 0, lambda: None)
    assert tried == shrunk
    assert found == (shown, "known check" if shown == "given" else f"check of {shown}")
    assert search_result._shrink_violation(CLAIM, None, 9.0, 0, lambda: None) is None

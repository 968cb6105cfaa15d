"""The search for violations refutes false claims in rationals, and does not refute true ones."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
import sympy as sp
from claim_symbols import WHERE, D, L, T, eta, sigma, tau, zeta

from fedtheory import Claim, InputError
from fedtheory.arithmetic import RATIONAL
from fedtheory.language import quantities as q
from fedtheory.language.registry import find
from fedtheory.runfile import parse_run, run_table
from verify.check import check
from verify.falsify import falsify, search_state
from verify.falsify import search_result as finding_of
from verify.falsify.instance_search import search
from verify.falsify.search_state import SearchDone, SearchState
from verify.falsify.starts import find_features
from verify.instances import Instance

pytestmark = pytest.mark.long

SMALL_STEPS = [eta <= 1 / (4 * L)]
DRIFT = 18 * tau**2 * eta**2 * zeta**2 + 4 * tau * eta**2 * sigma**2


def drift(rhs: Any, **keys: Any) -> Claim:
    """Return a bound on the drift of the clients."""
    return Claim(id="t:drift", lhs=q.max_drift, rhs=rhs, where=WHERE, conditions=SMALL_STEPS, **keys)


FALSE = {
    "a lost term": drift(DRIFT - 4 * tau * eta**2 * sigma**2),
    "a lost power": drift(18 * tau * eta**2 * zeta**2 + 4 * tau * eta**2 * sigma**2),
    "a power too many": drift(DRIFT * eta),
    "units that do not fit": drift(DRIFT * 1000 * L),
    "a constant too small": drift(DRIFT / 8),
    "a lost condition": Claim(id="t:free", lhs=q.final_distance_sq, rhs=2 * D**2 + eta**2 * tau**2 * T**2, where=WHERE),
    "the wrong direction": Claim(id="t:above", lhs=q.max_drift, relation=">=", rhs=eta, where=WHERE),
    "an equation": Claim(id="t:equal", lhs=D**2, relation="==", rhs=2 * D, where=WHERE),
    "a strict relation": Claim(id="t:strict", lhs=D, relation=">", rhs=0, where=WHERE),
}


@pytest.mark.parametrize("name", FALSE)
def test_false_claims_are_refuted(name: str) -> None:
    """The reported run is a run file, satisfies assumptions and conditions, and violates the claim in rationals."""
    finding = falsify(FALSE[name], 6)
    assert finding.verdict == "refuted"
    assert finding.run is not None
    exact = check(FALSE[name], parse_run(finding.run, RATIONAL))
    assert exact.applicable
    assert exact.holds is False
    assert run_table(parse_run(finding.run, RATIONAL)) == finding.run
    assert finding.found is not None
    assert finding.found.worst is not None
    assert exact.worst is not None
    assert (finding.found.worst.lhs, finding.found.worst.rhs) == (exact.worst.lhs, exact.worst.rhs)


def test_a_true_bound_stands() -> None:
    """The drift bound survives; the run of the largest ratio reproduces both sides."""
    claim = drift(DRIFT)
    finding = falsify(claim, 2)
    assert finding.verdict == "not refuted"
    assert finding.best_ratio is not None
    assert 0 < finding.best_ratio < 1
    assert finding.is_exact
    assert finding.run is not None
    assert check(claim, parse_run(finding.run, RATIONAL)).ratio == finding.best_ratio
    assert finding.looked >= finding.applicable > 0


def test_a_refutation_contradicts_other_records_only() -> None:
    """A refuted claim contradicts what is recorded as supported, and agrees with "refuted" and with no record."""
    for recorded, contradicts in ((None, False), ("refuted", False), ("supported", True)):
        assert falsify(drift(DRIFT * eta, verdict=recorded), 6).contradicts == contradicts
    assert not falsify(drift(DRIFT, verdict="refuted"), 0.5).contradicts


def test_floats_alone_refute_nothing() -> None:
    """Six equal clients do not drift: floats see 7.7e-32 above 7.1e-32, and the search goes on."""
    claim = drift(2 * tau**2 * eta**2 * zeta**2 + tau * eta**2 * sigma**2)
    state = SearchState(claim, 60)
    state.setting = find_features(claim)
    run = Instance("wide quadratics", 68).run()
    assert check(claim, run.as_floats()).holds is False
    state.start_from(run, in_floats=True)
    assert state.violation is None


def test_the_seed_decides_the_order() -> None:
    """One seed finds one violation after equally many runs; another seed may find another."""
    claim = drift(DRIFT / 20)
    first, again, other = (search(claim, 60, seed) for seed in (0, 0, 1))
    assert first.violation is not None
    assert again.violation is not None
    assert (first.looked, first.violation.table) == (again.looked, again.violation.table)
    assert other.violation is not None
    assert (other.looked, other.violation.table) != (first.looked, first.violation.table)


def test_a_search_stays_inside_the_setting_of_the_claim() -> None:
    """A bound that is only true without stale models is not tried on clocks that its families do not have."""
    claim = drift(DRIFT)
    stale = Instance("small schedules", 0).run()
    state = SearchState(claim, 60)
    state.setting = find_features(claim)
    state.start_from(stale, in_floats=False)
    assert state.best is None
    assert state.looked == 1


def test_the_budget_ends_a_search() -> None:
    """Without time nothing is tried, and nothing is refuted."""
    state = SearchState(drift(DRIFT), 0)
    with pytest.raises(SearchDone):
        state.start_from(Instance("by hand", 0).run(), in_floats=False)
    finding = falsify(drift(DRIFT), 0)
    assert (finding.verdict, finding.run, finding.best_ratio) == ("not refuted", None, None)


@pytest.mark.parametrize(
    ("seconds", "last"), [([3.0] * 9, (6, 6)), ([4.0, *[0.1] * 99], (9.5, 10))], ids=["all long", "the first one long"]
)
def test_the_last_look_is_inside_the_budget(
    seconds: list[float], last: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a search takes three seconds of ten, none starts that would end too late; a long first one is ignored."""
    now, begun = [0.0], []
    monkeypatch.setattr(search_state, "measure_work", lambda: now[0])
    state = SearchState(drift(DRIFT), 10)
    with suppress(SearchDone):
        for took in seconds:
            state.tick()
            begun.append(now[0])
            now[0] += took
    assert len(begun) < len(seconds)
    assert last[0] <= begun[-1] <= last[1]


def test_the_same_budget_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work is counted, not timed: what the clock says changes nothing."""
    first = falsify(drift(DRIFT), 0.5)
    monkeypatch.setattr(finding_of, "perf_counter", iter(range(0, 10**9, 10**6)).__next__)
    again = falsify(drift(DRIFT), 0.5)
    assert (first.looked, first.applicable, first.run) == (again.looked, again.applicable, again.run)
    assert again.seconds > first.seconds


def test_claims_that_never_apply() -> None:
    """Conditions that no run meets leave nothing to search from, and nothing is refuted."""
    nothing = Claim(id="t:nothing", lhs=q.max_drift, rhs=-1, where=WHERE, conditions=[sp.Rational(1, 2) >= T])
    finding = falsify(nothing, 1)
    assert (finding.verdict, finding.applicable, finding.found) == ("not refuted", 0, None)


def test_progress_is_reported() -> None:
    """Progress has the seconds done, of all seconds."""
    progress: list[tuple[int, int]] = []
    falsify(drift(DRIFT), 1, on_progress=lambda done, whole: progress.append((done, whole)))
    assert progress[0] == (0, 1)
    assert progress[-1] == (1, 1)


def test_rates_are_tried_on_ladders() -> None:
    """A rate that is recorded as refuted falls on a ladder; one that stands is tried on its families once."""
    refuted = find("renard2022:goal-rate")
    finding = falsify(refuted, 60)
    assert finding.verdict == "refuted"
    assert finding.found is not None
    assert finding.found.holds is False
    stands = falsify(find("renard2022:goal-rate.fixed"), 2)
    assert stands.verdict == "not refuted"
    assert stands.best_ratio is not None


@pytest.mark.parametrize(
    ("claim", "complaint"),
    [
        (Claim(id="t:bare", kind="definition"), "no relation to violate"),
        (Claim(id="t:unbound", lhs=q.max_drift, rhs=sp.Symbol("rho"), where=WHERE), "rho"),
        (Claim(id="t:outside", lhs=sp.sin(eta), rhs=1, where=WHERE), "sin"),
    ],
)
def test_claims_without_meaning_are_refused(claim: Claim, complaint: str) -> None:
    """A claim that cannot be evaluated is an input error before any search."""
    with pytest.raises(InputError, match=complaint):
        falsify(claim, 60)


def test_the_printed_drift_lemma_falls_and_its_repair_stands() -> None:
    """A refuted claim of a source is refuted by the search as well; its repair is not."""
    assert falsify(find("renard2022:lemma-2.2"), 30).verdict == "refuted"
    assert falsify(replace(find("renard2022:lemma-2.2.fixed"), verdict=None), 2).verdict == "not refuted"


def test_runs_of_other_families_may_lack_what_a_claim_asks_for() -> None:
    """A claim about the weights of two clients is not tried on a run with one."""
    claim = find("fraboni2022:example-2.fixed")
    state = SearchState(claim, 60)
    state.setting = find_features(claim)
    state.start_from(Instance("one client", 0).run(), in_floats=False)
    assert (state.looked, state.applicable) == (1, 0)

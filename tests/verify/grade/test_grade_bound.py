"""A bound is equal to the reference, proved, not refuted, or refuted by a run that anyone can check."""

from __future__ import annotations

import math
import tomllib
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp

from fedtheory.arithmetic import RATIONAL
from fedtheory.errors import InputError
from fedtheory.language.claim import Claim
from fedtheory.language.exercises import BoundQuestion
from fedtheory.language.registry import find, list_sharper_claims
from fedtheory.runfile import parse_run, run_table
from fedtheory.sources.renard2022.statements.notation import D, L, M, T, eta, sigma, tau, zeta
from verify.check import check
from verify.falsify.run_tables import count_clients
from verify.grade import grade_bound
from verify.grade.battery import build_battery
from verify.grade.bound import _list_proved_bounds
from verify.grade.looseness import measure_looseness
from verify.grade.questions import GivenAnswer, mark_answer

DRIFT = find("renard2022:lemma-2.3")
THEOREM = find("renard2022:thm-2.1")
SHARPER = find("renard2022:lemma-2.3.sharp").relations[0].right
PRINTED = 18 * tau**2 * eta**2 * zeta**2 + 4 * tau * eta**2 * sigma**2


def test_the_reference_in_another_form() -> None:
    """A bound that is the same number counts in full, however it is written."""
    found = grade_bound(DRIFT, 2 * tau * eta**2 * (9 * tau * zeta**2 + 2 * sigma**2))
    assert (found.standing, found.share, found.excess) == ("equal", 1, 1)


@pytest.mark.long
@pytest.mark.parametrize(("factor", "expected"), [(sp.Rational(3, 2), 1), (2, 1), (50, Fraction(1, 2))])
def test_a_looser_bound_is_proved(factor: sp.Expr, expected: Fraction | int) -> None:
    """A bound that is at least the reference is proved; the ratio to it is the factor, and decides on the points."""
    found = grade_bound(DRIFT, factor * PRINTED)
    assert (found.standing, found.share) == ("proved", expected)
    assert found.excess == pytest.approx(float(factor))
    assert found.tightness is not None
    assert 0 < found.tightness < 1


@pytest.mark.long
def test_an_answer_that_follows_names_what_it_follows_from() -> None:
    """No difference of right sides shows it at once, but a search finds a certificate."""
    found = grade_bound(DRIFT, PRINTED + sp.expand(eta**2 * (tau * zeta - sigma) ** 2))
    assert (found.standing, found.share) == ("proved", 1)
    assert found.follows_from == (DRIFT.id,)
    assert found.reason == f"it follows from {DRIFT.id}"


@pytest.mark.long
@pytest.mark.parametrize("answer", [SHARPER, 17 * tau**2 * eta**2 * zeta**2 + 4 * tau * eta**2 * sigma**2])
def test_a_sharper_bound_is_proved(answer: sp.Expr) -> None:
    """A bound that is at least a proved tightened claim is proved as well, and counts in full."""
    found = grade_bound(DRIFT, answer)
    assert (found.standing, found.share) == ("proved", 1)
    assert found.excess is not None
    assert found.excess <= 1


@pytest.mark.long
def test_a_claim_with_more_assumptions_proves_nothing() -> None:
    """The bound for full gradients is sharper still, and is refuted where there is noise."""
    quiet = find("renard2022:lemma-2.3.quiet").relations[0].right
    assert grade_bound(DRIFT, quiet).standing == "refuted"


def test_only_claims_that_ask_for_no_more_prove_an_answer() -> None:
    """Only a claim with no more assumptions proves an answer, even if no run is tried."""
    quiet = find("renard2022:lemma-2.3.quiet")
    assert quiet in list_sharper_claims(DRIFT)
    assert [known.id for known in _list_proved_bounds(DRIFT) if set(known.assumptions) > set(DRIFT.assumptions)] == []
    assert DRIFT in _list_proved_bounds(DRIFT)
    assert _list_proved_bounds(quiet)[0] is quiet


@pytest.mark.long
def test_a_bound_that_stands() -> None:
    """A bound that is neither proved nor refuted is not called valid; the reason says on how many runs it was tried."""
    found = grade_bound(DRIFT, tau**2 * eta**2 * zeta**2 + 4 * tau * eta**2 * sigma**2, budget=0)
    assert (found.standing, found.share) == ("not refuted", 1)
    assert found.reason == f"no violation in {len(build_battery(DRIFT))} test runs"


@pytest.mark.long
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (tau**2 * eta**2 * zeta**2, Fraction(1, 4)),
        (4 * tau * eta**2 * sigma**2, Fraction(1, 4)),
        (PRINTED - 17 * tau**2 * eta**2 * zeta**2 - tau, Fraction(0)),
        (sp.Integer(0), Fraction(0)),
    ],
)
def test_a_wrong_bound_comes_back_with_a_run(answer: sp.Expr, expected: Fraction) -> None:
    """The run file violates the bound in rationals, with the reported sides; units decide on partial points."""
    found = grade_bound(DRIFT, answer)
    assert (found.standing, found.share) == ("refuted", expected)
    assert found.counterexample is not None
    run_file, lhs, rhs = (getattr(found.counterexample, name) for name in ("run_file", "lhs", "rhs"))
    exact = check(replace(DRIFT, id="answer", rhs=answer), parse_run(tomllib.loads(run_file), RATIONAL))
    assert exact.holds is False
    assert exact.worst is not None
    assert (RATIONAL.text(exact.worst.lhs), RATIONAL.text(exact.worst.rhs)) == (lhs, rhs)


NOISE, START = eta * sigma**2 / M, D**2 / (2 * eta * tau * T)
NOISY_DRIFT, HETEROGENEOUS_DRIFT = 4 * L * tau * eta**2 * sigma**2, 18 * L * tau**2 * eta**2 * zeta**2


@pytest.mark.long
@pytest.mark.parametrize(
    "answer",
    [
        18 * tau * eta**2 * zeta**2 + 4 * tau * eta**2 * sigma**2,
        18 * tau**2 * eta**2 * zeta**2 + 4 * eta**2 * sigma**2,
        18 * tau**2 * eta**2 * zeta**2 / M + 4 * tau * eta**2 * sigma**2,
        18 * tau**2 * eta**2 * zeta**2 + 4 * tau * eta**2 * sigma**2 / M,
    ],
)
def test_a_lost_power_in_the_drift_is_refuted(answer: sp.Expr) -> None:
    """The stored runs refute a wrong power of a symbol, without a search."""
    assert grade_bound(DRIFT, answer, budget=0).standing == "refuted"


@pytest.mark.long
@pytest.mark.parametrize(
    "answer",
    [
        START + NOISE / M + NOISY_DRIFT + HETEROGENEOUS_DRIFT,
        START + NOISY_DRIFT + HETEROGENEOUS_DRIFT,
        START + NOISE + NOISY_DRIFT,
        START + NOISE + NOISY_DRIFT + HETEROGENEOUS_DRIFT / tau,
        START / tau + NOISE + NOISY_DRIFT + HETEROGENEOUS_DRIFT,
        START / T + NOISE + NOISY_DRIFT + HETEROGENEOUS_DRIFT,
    ],
)
def test_a_lost_power_in_the_theorem_is_refuted(answer: sp.Expr) -> None:
    """The stored runs refute a bound with four terms if a term loses a factor or is lost."""
    assert grade_bound(THEOREM, answer, budget=0).standing == "refuted"


@pytest.mark.long
@pytest.mark.parametrize(
    ("answer", "changes"),
    [
        (START + NOISE + HETEROGENEOUS_DRIFT, {tau: "grows", zeta: "falls"}),
        (START + NOISE + NOISY_DRIFT.subs(tau, tau - 1) + HETEROGENEOUS_DRIFT.subs(tau, tau - 1), {}),
    ],
)
def test_a_lost_term_that_no_run_shows_is_left_to_a_person(answer: sp.Expr, changes: dict[sp.Symbol, str]) -> None:
    """Noise in the drift costs quadratics nothing; a proved bound has the factor tau - 1, so that is no loss."""
    found = grade_bound(THEOREM, answer, budget=0)
    assert (found.standing, dict(found.shrinking)) == ("not refuted", changes)
    names = {str(symbol): symbol for symbol in THEOREM.where}
    question = BoundQuestion(name="b", title="", text="", points=6, claim=THEOREM, names=names)
    mark = mark_answer(question, GivenAnswer(str(answer)))
    assert mark.share == (None if changes else 1)
    assert ("a person reads this answer" in mark.comment) == bool(changes)


@pytest.mark.parametrize(
    ("claim", "answer", "changes"),
    [
        (THEOREM, THEOREM.relations[0].right - NOISE + M * NOISE, {M: "grows", T: "grows", L: "falls"}),
        (THEOREM, THEOREM.relations[0].right + START * (T - 1), {T: "grows", eta: "falls"}),
        (DRIFT, tau * PRINTED, {tau: "grows"}),
        (DRIFT, sp.sqrt(tau) * PRINTED, {tau: "grows"}),
        (DRIFT, PRINTED + 1, {eta: "falls"}),
    ],
)
def test_a_bound_that_gets_arbitrarily_loose(claim: Claim, answer: sp.Expr, changes: dict[sp.Symbol, str]) -> None:
    """However small its excess is on small runs, a bound is loose if it grows without bound with some symbols."""
    found = measure_looseness(claim, answer)
    assert found is not None
    assert found.excess == math.inf
    assert dict(found.growth) == changes


@pytest.mark.parametrize(
    ("claim", "answer", "excess"),
    [
        (THEOREM, THEOREM.relations[0].right + 2 * NOISE, 3),
        (THEOREM, THEOREM.relations[0].right * sp.Rational(3, 2), sp.Rational(3, 2)),
        (DRIFT, 2 * tau / (tau + 1) * PRINTED, 2),
        (DRIFT, PRINTED / 3, sp.Rational(1, 3)),
    ],
)
def test_the_excess_where_it_is_bounded(claim: Claim, answer: sp.Expr, excess: sp.Expr) -> None:
    """The excess is that of the term with the largest one, since this term can dominate the bound."""
    found = measure_looseness(claim, answer)
    assert found is not None
    assert found.excess == pytest.approx(float(excess), rel=1e-3)
    assert not found.growth


@pytest.mark.long
def test_the_looseness_of_chosen_symbols_only() -> None:
    """Runs alone decide if a symbol stands for a quantity that follows from others."""
    progress = find("renard2022:lemma-2.2.fixed")
    assert measure_looseness(progress, progress.relations[0].right) is None
    noise = eta * sigma**2
    found = grade_bound(progress, progress.relations[0].right - noise / M + noise)
    assert (found.standing, found.share) == ("proved", Fraction(1, 2))


@pytest.mark.long
@pytest.mark.parametrize("factor", [1, sp.Rational(1, 8)])
def test_the_same_answer_has_the_same_finding(factor: sp.Expr) -> None:
    """No limit is in seconds, so that grading again gives the same result, with and without a refuting run."""
    answer = factor * (tau**2 * eta**2 * zeta**2 + 4 * tau * eta**2 * sigma**2)
    first = grade_bound(DRIFT, answer, budget=0.3)
    build_battery.cache_clear()
    assert grade_bound(DRIFT, answer, budget=0.3) == first


@pytest.mark.parametrize("claim", ["renard2022:property-2.4", "lecture27:h", "renard2022:eq-8"])
def test_only_upper_bounds_are_asked_for(claim: str) -> None:
    """A claim of another form is refused by name."""
    with pytest.raises(InputError, match=claim):
        grade_bound(find(claim), eta)


@pytest.mark.long
def test_the_battery_is_of_the_claim() -> None:
    """Every run that answers are tried on satisfies the claim's assumptions, and the claim."""
    runs = build_battery(DRIFT)
    assert len(runs) > 500
    assert all(check(DRIFT, run).holds for run in runs.small[:20])
    assert runs.try_claim(replace(DRIFT, id="answer")).violation is None


@pytest.mark.long
def test_the_battery_has_all_kinds_of_runs() -> None:
    """Several clients, local steps and rounds together; many clients; long horizons; losses; noise and none."""
    runs = build_battery(DRIFT)
    small = [run_table(run) for run in runs.small]
    sizes = [(count_clients(t), t["algorithm"]["local_steps"], t["algorithm"]["rounds"]) for t in (*small, *runs.long)]
    assert sum(min(size) > 1 for size in sizes) > 50
    assert max(count for count, _, _ in sizes) >= 64
    assert max(steps for _, steps, _ in sizes) >= 256
    assert max(rounds for _, _, rounds in sizes) >= 2048
    assert sum(table["problem"]["kind"] == "huber" for table in small) >= 8
    assert 0 < sum("noise" in table["problem"] for table in small) < len(small)

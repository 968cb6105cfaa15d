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
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.exercises import BoundQuestion
from fedtheory.language.quantities import RunQuantity
from fedtheory.language.registry import find, sharper_claims
from fedtheory.runfile import parse_run, run_table
from fedtheory.sources.renard2022.statements.notation import D, L, M, T, eta, sigma, tau, zeta
from verify.check import check
from verify.falsify.tables import clients
from verify.grade import grade_bound
from verify.grade.battery import _detailed_kind, battery
from verify.grade.bound import _proved_bounds
from verify.grade.counterexample import _is_clear
from verify.grade.dimensions import units_of
from verify.grade.looseness import measure_looseness
from verify.grade.questions import GivenAnswer, mark_answer
from verify.grade.rule import share
from verify.grade.same import are_equal, has_units_of

DRIFT = find("renard2022:lemma-2.3")
THEOREM = find("renard2022:thm-2.1")
SHARPER = find("renard2022:lemma-2.3.sharp").relations[0].right
PRINTED = 18 * tau**2 * eta**2 * zeta**2 + 4 * tau * eta**2 * sigma**2


def test_the_reference_in_another_form() -> None:
    """A bound that is the same number counts in full, however it is written."""
    found = grade_bound(DRIFT, 2 * tau * eta**2 * (9 * tau * zeta**2 + 2 * sigma**2))
    assert (found.standing, found.share) == ("equal", 1)


@pytest.mark.long
@pytest.mark.parametrize(("factor", "expected"), [(sp.Rational(3, 2), 1), (2, 1), (50, Fraction(1, 2))])
def test_a_looser_bound_is_proved(factor: sp.Expr, expected: Fraction | int) -> None:
    """What is at least the reference is proved; the excess over it is the factor, and decides on the points."""
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
    """What is at least a proved claim that sharpens the reference is proved as well, and counts in full."""
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
    """Whatever runs would say: the guard of the proof stands alone."""
    quiet = find("renard2022:lemma-2.3.quiet")
    assert quiet in sharper_claims(DRIFT)
    assert [known.id for known in _proved_bounds(DRIFT) if set(known.assumptions) > set(DRIFT.assumptions)] == []
    assert DRIFT in _proved_bounds(DRIFT)
    assert _proved_bounds(quiet)[0] is quiet


@pytest.mark.long
def test_a_bound_that_stands() -> None:
    """What is neither proved nor refuted is not called valid; the reason says how many runs it was tried on."""
    found = grade_bound(DRIFT, tau**2 * eta**2 * zeta**2 + 4 * tau * eta**2 * sigma**2, budget=0)
    assert (found.standing, found.share) == ("not refuted", 1)
    assert found.reason == f"no violation in {len(battery(DRIFT))} test runs"


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
    """The run file violates the bound in rationals, with the sides that are told; units decide on a share."""
    found = grade_bound(DRIFT, answer)
    assert (found.standing, found.share) == ("refuted", expected)
    assert found.run_file is not None
    exact = check(replace(DRIFT, id="answer", rhs=answer), parse_run(tomllib.loads(found.run_file), RATIONAL))
    assert exact.holds is False
    assert exact.worst is not None
    assert (RATIONAL.text(exact.worst.lhs), RATIONAL.text(exact.worst.rhs)) == (found.lhs, found.rhs)


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
    """The battery itself refutes a wrong power of a symbol, without a search."""
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
    """So it does for a bound with four terms, each of which loses a factor or is lost."""
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
    """It is that of the term with the largest one, which decides alone somewhere."""
    found = measure_looseness(claim, answer)
    assert found is not None
    assert found.excess == pytest.approx(float(excess), rel=1e-3)
    assert not found.growth


@pytest.mark.long
def test_the_looseness_of_chosen_symbols_only() -> None:
    """Where a symbol stands for a quantity that follows from others, runs decide alone."""
    progress = find("renard2022:lemma-2.2.fixed")
    assert measure_looseness(progress, progress.relations[0].right) is None
    noise = eta * sigma**2
    found = grade_bound(progress, progress.relations[0].right - noise / M + noise)
    assert (found.standing, found.share) == ("proved", Fraction(1, 2))


@pytest.mark.long
@pytest.mark.parametrize("factor", [1, sp.Rational(1, 8)])
def test_the_same_answer_has_the_same_finding(factor: sp.Expr) -> None:
    """Nothing is measured in seconds, so that grading again changes nothing, whether a run refutes it or none does."""
    answer = factor * (tau**2 * eta**2 * zeta**2 + 4 * tau * eta**2 * sigma**2)
    first = grade_bound(DRIFT, answer, budget=0.3)
    battery.cache_clear()
    assert grade_bound(DRIFT, answer, budget=0.3) == first


@pytest.mark.parametrize("claim", ["renard2022:property-2.4", "lecture27:h", "renard2022:eq-8"])
def test_only_upper_bounds_are_asked_for(claim: str) -> None:
    """A claim of another form is refused by name."""
    with pytest.raises(InputError, match=claim):
        grade_bound(find(claim), eta)


@pytest.mark.long
def test_the_battery_is_of_the_claim() -> None:
    """Every run that answers are tried on satisfies the claim's assumptions, and the claim."""
    runs = battery(DRIFT)
    assert len(runs) > 500
    assert all(check(DRIFT, run).holds for run in runs.small[:20])
    assert runs.try_claim(replace(DRIFT, id="answer")).violation is None


@pytest.mark.long
def test_the_battery_has_all_kinds_of_runs() -> None:
    """Several clients, local steps and rounds together; many clients; long horizons; losses; noise and none."""
    runs = battery(DRIFT)
    small = [run_table(run) for run in runs.small]
    sizes = [(clients(t), t["algorithm"]["local_steps"], t["algorithm"]["rounds"]) for t in (*small, *runs.long)]
    assert sum(min(size) > 1 for size in sizes) > 50
    assert max(count for count, _, _ in sizes) >= 64
    assert max(steps for _, steps, _ in sizes) >= 256
    assert max(rounds for _, _, rounds in sizes) >= 2048
    assert sum(table["problem"]["kind"] == "huber" for table in small) >= 8
    assert 0 < sum("noise" in table["problem"] for table in small) < len(small)


def test_units() -> None:
    """A sum of terms with different units is found, one with lost numbers or counts is not."""
    assert has_units_of(PRINTED / M, PRINTED, DRIFT) is True
    assert has_units_of(PRINTED + eta * zeta, PRINTED, DRIFT) is False
    assert has_units_of(sp.Symbol("n", positive=True) * PRINTED, PRINTED, DRIFT) is None


def test_units_where_a_base_is_negative() -> None:
    """1 - eta L has no units; that it is negative at some points, where a broken power is none, does not matter."""
    contracting = (1 - eta * L) ** (2 * tau) * PRINTED
    assert has_units_of(contracting, PRINTED, DRIFT) is True
    assert has_units_of(contracting * eta, PRINTED, DRIFT) is False


@pytest.mark.long
def test_answers_with_exponentials() -> None:
    """They are tried as others are: enclosures decide in exact arithmetic."""
    assert grade_bound(DRIFT, sp.exp(eta * L) * PRINTED, budget=0).standing == "not refuted"
    refuted = grade_bound(DRIFT, sp.exp(-50 * tau) * PRINTED)
    assert refuted.standing == "refuted"
    assert refuted.right_units


LONG = (eta + 1) ** 5 * (tau + 2 * sigma) ** 5
"""With its terms written out, more operations than SymPy is asked to simplify: numbers alone decide."""


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ((eta + 1) ** 2, eta**2 + 2 * eta + 1, True),
        (sp.sqrt(eta**2 * tau), eta * sp.sqrt(tau), True),
        (sp.Max(eta, tau) + sp.Min(eta, tau), eta + tau, True),
        (eta**2, eta**2 + sp.Rational(1, 10**12), False),
        (eta, tau, False),
        (sp.log(-1 - eta), eta, False),
        (LONG, sp.expand(LONG), True),
        (LONG, sp.expand(LONG) * (1 + sp.Rational(1, 10**12)), False),
        (LONG, sp.expand(LONG) + eta * sp.Rational(1, 10**20), False),
    ],
)
def test_equality(left: sp.Expr, right: sp.Expr, expected: bool) -> None:
    """Equality is of the numbers, not of the form."""
    assert are_equal(left, right) is expected


def test_the_rule() -> None:
    """More points for an answer that is valid than for one that is not, and for a tight one than for a loose one."""
    shares = [
        share("equal", 1, True),
        share("proved", 2, True),
        share("not refuted", 2.1, True),
        share("refuted", None, True),
        share("refuted", None, False),
    ]
    assert shares == [1, 1, Fraction(1, 2), Fraction(1, 4), 0]


def test_units_of_a_gap() -> None:
    """F(x) - F* has the units of L |x|^2, and not those of L |x|."""
    gap = q.initial_gap.symbol
    claim = Claim(
        id="t:gap",
        lhs=q.final_suboptimality,
        rhs=gap,
        where={gap: q.initial_gap, L: q.smoothness, D: q.initial_distance},
    )
    assert has_units_of(L * D**2, gap, claim) is True
    assert has_units_of(L * D, gap, claim) is False


def test_runs_of_three_clients_are_another_kind() -> None:
    """Two clients are few, three are many; a quota of runs is of each."""
    two, three, four = (
        parse_run(
            {
                "problem": {
                    "kind": "quadratic",
                    "hessians": [[["1"]]] * count,
                    "linear": [["0"]] * count,
                    "start": ["1"],
                },
                "algorithm": {"local_step_size": "1/2", "rounds": 1},
            },
            RATIONAL,
        )
        for count in (2, 3, 4)
    )
    assert _detailed_kind(two) != _detailed_kind(three) == _detailed_kind(four)


@pytest.mark.parametrize(
    ("quantity", "units"),
    [
        (q.local_step_size, (-1, 2)),
        (q.smoothness, (1, -2)),
        (q.noise_deviation, (1, -1)),
        (q.gradient_dissimilarity, (1, -1)),
        (q.dissimilarity_at_optimum, (1, -1)),
        (q.initial_distance, (0, 1)),
        (q.final_suboptimality, (1, 0)),
        (q.max_drift, (0, 2)),
        (q.average_gradient_sq, (2, -2)),
        (q.participants, (0, 0)),
        (q.momentum, (0, 0)),
        (q.small_step_bias, (0, 1)),
        (q.largest_staleness, (0, 0)),
    ],
    ids=lambda one: getattr(one, "name", ""),
)
def test_units_come_from_runs(quantity: RunQuantity, units: tuple[int, int]) -> None:
    """Exponents of the loss and of lengths, by hand; a quantity without a value on any run has unknown units."""
    assert units_of(quantity) == units


def test_a_square_in_place_of_a_length_has_other_units() -> None:
    """Also where the claim is about the optimum's own dissimilarity."""
    mu = sp.Symbol("mu", positive=True)
    where = {eta: q.local_step_size, tau: q.local_steps, L: q.smoothness, mu: q.strong_convexity}
    claim = Claim(
        id="t:bias",
        lhs=q.small_step_bias,
        rhs=eta * (tau - 1) / 2 * L / mu * zeta,
        where={**where, zeta: q.dissimilarity_at_optimum},
    )
    reference = claim.relations[0].right
    assert has_units_of(reference * 3, reference, claim) is True
    assert has_units_of(eta * tau * L * zeta**2 / mu, reference, claim) is False


def test_a_bound_that_gets_loose_where_steps_shrink_as_fast_as_two_counts_grow() -> None:
    """At eta = 1/(tau M) the reference stays near 2, and the answer grows like the smaller one of tau and M."""
    product = eta * tau * M
    reference = product + 1 / product
    where = {eta: q.local_step_size, tau: q.local_steps, M: q.clients}
    claim = Claim(id="t:loose", lhs=q.max_drift, rhs=reference, where=where)
    measured = measure_looseness(claim, reference + tau * M / (tau + M) / reference**2)
    assert measured is not None
    assert measured.excess == math.inf


def test_a_violation_is_clear_where_floats_see_one() -> None:
    """Neither an equation that holds is one, which has no ratio, nor a claim that says nothing of the run."""
    rounds = q.rounds.symbol
    run = {
        "problem": {"kind": "quadratic", "hessians": [[["1"]]], "linear": [["0"]], "start": ["1"]},
        "algorithm": {"local_step_size": "1/2", "rounds": 3},
    }
    for rhs, conditions, is_clear in ((3, (), False), (4, (), True), (4, (rounds <= 2,), False)):
        claim = Claim(
            id="t:clear",
            lhs=rounds,
            rhs=sp.Integer(rhs),
            relation="==",
            where={rounds: q.rounds},
            conditions=conditions,
        )
        assert _is_clear(claim, run) is is_clear

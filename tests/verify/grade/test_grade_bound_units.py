"""Units, equality and looseness of graded bounds, and the runs that decide them."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import sympy as sp

from fedtheory.arithmetic import RATIONAL
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import RunQuantity
from fedtheory.language.registry import find
from fedtheory.runfile import parse_run
from fedtheory.sources.renard2022.statements.notation import D, L, M, eta, sigma, tau, zeta
from verify.grade import grade_bound
from verify.grade.answer_dimensions import find_units
from verify.grade.battery import _classify_run
from verify.grade.counterexample import _is_clear
from verify.grade.equality import are_equal, has_units_of
from verify.grade.looseness import measure_looseness
from verify.grade.partial_credit import compute_share

DRIFT = find("renard2022:lemma-2.3")
PRINTED = 18 * tau**2 * eta**2 * zeta**2 + 4 * tau * eta**2 * sigma**2


def test_units() -> None:
    """A sum of terms with different units is found; a sum with lost numbers or counts is not."""
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
    """Answers with exponentials are tried like others, and enclosures decide in exact arithmetic."""
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
        (sp.Max(eta, tau), (eta + tau + sp.Abs(eta - tau)) / 2, True),
        (1 / sp.Max(eta, tau, sigma), sp.Min(1 / eta, sp.Min(1 / tau, 1 / sigma)), True),
        (2 * sp.ceiling(eta), sp.ceiling(eta) * (2 + tau) - tau * sp.ceiling(eta), True),
        # These differ only at numbers that are larger than those of the points, or between two of them.
        (eta - sp.Max(0, tau - 1000), eta, False),
        (eta * sp.Min(1, 1000 / tau), eta, False),
        (eta - sp.Max(0, (tau - 100) * (101 - tau)), eta, False),
        (eta - sp.floor(tau / 100), eta, False),
        (eta + tau + sp.sqrt(tau**2 - 2000 * tau + 10**6), eta + 1000, False),
        (eta**2, eta**2 + sp.Rational(1, 10**12), False),
        (eta, tau, False),
        (sp.log(-1 - eta), eta, False),
        (LONG, sp.expand(LONG), True),
        (LONG, sp.expand(LONG) * (1 + sp.Rational(1, 10**12)), False),
        (LONG, sp.expand(LONG) + eta * sp.Rational(1, 10**20), False),
        (LONG, sp.expand(LONG) * (1 - sp.exp(-(10**6) * eta)), False),
    ],
)
def test_equality(left: sp.Expr, right: sp.Expr, expected: bool) -> None:
    """Two bounds are equal if their numbers are, in whatever form they are written."""
    assert are_equal(left, right) is expected


def test_the_rule() -> None:
    """A valid answer has more points than an invalid one, and a tight answer more than a loose one."""
    shares = [
        compute_share("equal", 1, True),
        compute_share("proved", 2, True),
        compute_share("not refuted", 2.1, True),
        compute_share("refuted", None, True),
        compute_share("refuted", None, False),
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
    assert _classify_run(two) != _classify_run(three) == _classify_run(four)


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
    assert find_units(quantity) == units


def test_a_square_in_place_of_a_length_has_other_units() -> None:
    """A square in place of a length has other units, also for claims about the optimum's own dissimilarity."""
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
    """An equation that holds is no clear violation, and neither is a claim that is not applicable."""
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

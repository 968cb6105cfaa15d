"""Equations on the step size, and ascents that keep a setting: false bounds that need them are refuted."""

from __future__ import annotations

from random import Random

import pytest
import sympy as sp
from claim_symbols import WHERE, D, L, M, T, eta, sigma, tau, zeta
from flint import fmpq

from fedtheory import Claim
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.language.targets import resolve
from verify.falsify.regimes import search_regimes
from verify.falsify.regimes.climb import LevelClimb
from verify.falsify.regimes.evaluation import Evaluation, Seen
from verify.falsify.regimes.factors import AS_MANY_DRAWS, BASE, Point, normalise

mu, m = sp.symbols("mu m", positive=True)
spread = sp.Symbol("zeta_*", nonnegative=True)
SYMBOLS = WHERE | {mu: q.strong_convexity, m: q.participants, spread: q.dissimilarity_at_optimum}
LOCAL = (a.same_local_work, a.unit_server_step, a.full_participation, a.uniform_shares)
SAMPLED = (a.same_local_work, a.unit_server_step, a.uniform_sampling, a.uniform_shares)
DRAWN = (a.same_local_work, a.unit_server_step, a.multinomial_sampling, a.uniform_shares, a.several_clients)
START, QUARTER, ONE_STEP = D**2 / (2 * eta * tau * T), eta <= 1 / (4 * L), tau <= 1
EVALUATIONS = 800
"""Evaluations of a search with a budget of ten seconds."""

ONE_LONG_STEP = Claim(
    id="mine:one-long-step",
    lhs=q.final_suboptimality,
    rhs=L * D**2 / (8 * T),
    where=SYMBOLS,
    conditions=[sp.Eq(eta, 1 / L), ONE_STEP],
    assumptions=[*LOCAL, a.one_client, a.convex_and_smooth, a.full_gradients],
)
TUNED_STEP = Claim(
    id="mine:tuned-step",
    lhs=q.average_suboptimality,
    rhs=sp.Rational(2, 5) * D * sigma / sp.sqrt(M * T),
    where=SYMBOLS,
    conditions=[sp.Eq(eta * sigma * sp.sqrt(T), D * sp.sqrt(M)), QUARTER, ONE_STEP],
    assumptions=[*LOCAL, a.convex_and_smooth, a.one_type, a.unbiased_bounded_variance],
)
SQUARED_PARTICIPANTS = Claim(
    id="mine:variance-over-the-square-of-participants",
    lhs=q.final_distance_sq,
    rhs=(1 - eta * mu) ** T * D**2 + 2 * eta * spread**2 * (M - m) / (mu * m**2 * (M - 1)),
    where=SYMBOLS,
    conditions=[eta <= 1 / (2 * L), ONE_STEP],
    assumptions=[*SAMPLED, a.several_clients, a.convex_and_smooth, a.strongly_convex_clients, a.full_gradients],
)
ABSENT_CLIENTS = Claim(
    id="mine:noise-of-absent-clients",
    lhs=q.average_suboptimality,
    rhs=START + eta * sigma**2 / M + 4 * L * tau * eta**2 * sigma**2,
    where=SYMBOLS,
    conditions=[QUARTER],
    assumptions=[*SAMPLED, a.convex_and_smooth, a.one_type, a.unbiased_bounded_variance],
)
DRIFT_OVER_CLIENTS = Claim(
    id="mine:drift-over-clients",
    lhs=q.average_suboptimality,
    rhs=START + eta * sigma**2 / M + 18 * L * tau**2 * eta**2 * zeta**2 / M + 4 * L * tau * eta**2 * sigma**2,
    where=SYMBOLS,
    conditions=[QUARTER],
    assumptions=[*LOCAL, a.convex_and_smooth, a.unbiased_bounded_variance, a.bounded_dissimilarity],
)
WITHOUT_REPLACEMENT = Claim(
    id="mine:draws-without-replacement",
    lhs=q.final_distance_sq,
    rhs=(1 - eta * mu) ** T * D**2 + 2 * eta * spread**2 * (M - m) / (mu * m * (M - 1)),
    where=SYMBOLS,
    conditions=[eta <= 1 / (2 * L), ONE_STEP, m <= M],
    assumptions=[*DRAWN, a.convex_and_smooth, a.strongly_convex_clients, a.full_gradients],
)
ALONE: Point = {**BASE, "sources": "s", "clients": 0, "local steps": 0, "step size": 0, "horizon": ("T", 0)}


def test_a_step_size_fixed_by_an_equation_has_one_level() -> None:
    """The solution of the equation is the edge; every other step size violates the condition."""
    assert Evaluation(resolve(ONE_LONG_STEP)).factors["step size"].levels == (0,)
    assert len(Evaluation(resolve(DRIFT_OVER_CLIENTS)).factors["step size"].levels) > 1


def test_one_long_step_reaches_the_largest_suboptimality_on_a_huber_loss() -> None:
    """One step of 1/L from distance 3 leaves 3/2 (Drori and Teboulle 2014), above 9/8."""
    claim = resolve(ONE_LONG_STEP)
    seen = Evaluation(claim).score({**ALONE, "loss": "Huber"})
    assert seen.sides == (1.5, 1.125)
    found = search_regimes(claim, EVALUATIONS)
    assert found.applicable
    assert found.counterexample is not None
    assert found.counterexample[1].holds is False


def test_a_step_size_with_a_root_of_the_rounds_is_rational_for_powers_of_four() -> None:
    """With D = sigma = L = 1, the step size D sqrt(M) / (sigma sqrt(T)) is 1/4 after 16 rounds, and 1/64 after 4096."""
    evaluation = Evaluation(resolve(TUNED_STEP))
    factors = evaluation.factors
    assert all(unit == "T" and power % 2 == 0 for unit, power in factors["horizon"].levels)
    for power, size in ((4, fmpq(1, 4)), (12, fmpq(1, 64))):
        seen = evaluation.score({**ALONE, "sources": "sn", "horizon": ("T", power)})
        assert seen.table is not None
        assert seen.table["algorithm"]["local_step_size"] == size


def test_the_edge_depends_on_the_noise_if_a_condition_does() -> None:
    """Twice the noise halves the step size of the equation, also after a run with less noise."""
    evaluation = Evaluation(resolve(TUNED_STEP))
    settled: Point = {**ALONE, "sources": "sn", "horizon": ("T", 12)}
    sizes = []
    for noise in (0, 4):
        seen = evaluation.score({**settled, "noise": noise})
        assert seen.table is not None
        sizes.append((seen.table["algorithm"]["local_step_size"], fmpq(seen.table["problem"]["noise"][0])))
    (size, variance), (other, larger) = sizes
    assert larger != variance
    assert size**2 * variance == other**2 * larger


def test_a_server_step_of_one_client_by_their_number_is_plain() -> None:
    """The number of clients is one, and so is that server step size: the same run is not tried twice."""
    alone = normalise({**ALONE, "server step size": "M"})
    assert alone["server step size"] is None
    assert normalise({**ALONE, "clients": 1, "server step size": "M"})["server step size"] == "M"
    assert normalise({**ALONE, "server step size": 4.3})["server step size"] == 4.3


def test_an_ascent_keeps_a_setting_that_fewer_clients_would_remove() -> None:
    """One client cannot be sampled; an ascent from sampled clients that keeps the sampling never ends there."""
    evaluation = Evaluation(resolve(ABSENT_CLIENTS))
    start: Point = {**ALONE, "sources": "n", "curvatures": "alike", "clients": 1, "participation": "one"}

    def count_down(seen: Seen) -> float:
        return -float(seen.point["clients"])

    for kept, least in (("participation",), 1), ((), 0):
        climb = LevelClimb(
            evaluation, {"clients": (0, 1, 3)}, Random(0), evaluation.score, count_down, kept=("sources", *kept)
        )
        assert climb.climb_from(evaluation.score(start), 50).point["clients"] == pytest.approx(least, abs=0.6)


def test_as_many_clients_are_drawn_as_there_are() -> None:
    """With replacement, M draws from M clients leave a variance; a factor (M - m)/(M - 1) forgets it."""
    evaluation = Evaluation(resolve(WITHOUT_REPLACEMENT))
    drawn = evaluation.score(
        {**ALONE, "sources": "p", "clients": 9, "participation": AS_MANY_DRAWS, "curvatures": "alike"}
    )
    assert drawn.table is not None
    assert drawn.table["algorithm"]["participation"] == {"kind": "multinomial", "clients": 4}
    assert len(drawn.table["problem"]["hessians"]) == 4
    assert drawn.holds is False


@pytest.mark.long
@pytest.mark.parametrize(
    "claim",
    [TUNED_STEP, ABSENT_CLIENTS, DRIFT_OVER_CLIENTS, WITHOUT_REPLACEMENT, SQUARED_PARTICIPANTS],
    ids=lambda claim: claim.id.partition(":")[2],
)
def test_the_search_refutes_it(claim: Claim) -> None:
    """The search of a short budget finds a run that violates the bound rigorously."""
    found = search_regimes(resolve(claim), EVALUATIONS).counterexample
    assert found is not None
    assert found[1].applicable
    assert found[1].arithmetic.is_rigorous
    assert found[1].holds is False

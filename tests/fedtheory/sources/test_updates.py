"""Facts that proofs use about updates: definitions of quantities, facts of every run, and missing facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import fmpq

from fedtheory.arithmetic import RATIONAL, Array
from fedtheory.engine.run import Run
from fedtheory.errors import NotApplicable
from fedtheory.federation import Multinomial, Uniform, fedavg
from fedtheory.federation.clock import Asynchronous, Clock, FedBuff, FedFix
from fedtheory.federation.problem import quadratic
from fedtheory.kernel import Rejected, Term, assumption, is_nonnegative, one, square, steps, unweighted, weighted
from fedtheory.kernel.expressions import Average, ClientSum, Expectation, Expr, Inner, LocalSum, Selected, Value
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.assumptions import Assumption
from fedtheory.language.claim import Claim
from fedtheory.language.claim_places import iterate_sites
from fedtheory.language.evaluation import compile_expression
from fedtheory.language.quantities import Quantity, RunQuantity, local_change_sq
from fedtheory.language.registry import find
from fedtheory.proofs import Certificate, Combination, Part, check_certificate
from fedtheory.proofs.certificate import BothWays
from fedtheory.proofs.decoding import FACTS
from fedtheory.proofs.facts import Fact
from fedtheory.proofs.numbers import numbers_of, symbols_of
from fedtheory.proofs.run_conditions import split_minima
from fedtheory.sources.fraboni2022.certificates.local_steps import CERTIFICATES, SLOPE
from fedtheory.sources.fraboni2022.context import update_facts
from fedtheory.sources.fraboni2022.context import updates as v
from fedtheory.sources.fraboni2022.context.averages import OverClients, OverSteps, OverUpdates
from fedtheory.sources.fraboni2022.context.meanings import READINGS
from fedtheory.sources.fraboni2022.context.update_facts import RESIDUAL
from fedtheory.sources.fraboni2022.statements.any_point import claim as any_point
from fedtheory.sources.fraboni2022.statements.convergence import loss_n
from fedtheory.sources.fraboni2022.statements.gradient_lemmas import mixed_change
from fedtheory.sources.fraboni2022.statements.inequalities import R_nk, S_nk, gradient_sq, spread_ik
from fedtheory.sources.fraboni2022.statements.lemma_3_proof import age_sq, k, past_S
from fedtheory.sources.fraboni2022.statements.notation import (
    ASSUMPTIONS,
    SCHEME,
    K,
    N,
    Q,
    Q_bar,
    Q_past,
    R,
    S,
    Z,
    Z_bar,
    alpha,
    beta,
    phi,
    q_in,
    q_n,
    qt_i,
    qt_in,
    rho,
    sigma_1,
    tau,
)
from fedtheory.sources.fraboni2022.statements.relaxed import q_bar
from fedtheory.sources.fraboni2022.statements.theorem_2_proof import lengths
from fedtheory.sources.fraboni2022.statements.weights_lemmas import NOTATION as WEIGHTS_NOTATION
from fedtheory.sources.fraboni2022.statements.weights_lemmas import selected_sq

progress_y, final_y = sp.symbols("progress_y final_y")
where = {
    **WEIGHTS_NOTATION,
    **any_point.where,
    progress_y: q.mean_comparator_progress,
    final_y: q.final_surrogate_comparator_distance_sq,
    lengths: q.virtual_gradient_lengths,
    qt_i: q.mean_weight_share,
    q_bar: q.mean_weight_sum,
    loss_n: q.virtual_suboptimality,
}
ONE = sp.S.One
CLAIM = replace(find("fraboni2022:lemma-2.fixed"), where=where)
SYMBOL = symbols_of(CLAIM)
DISTANCES = (SYMBOL(q.surrogate_initial_distance), SYMBOL(q.surrogate_comparator_distance))


def _run(scheme: str, seed: int) -> Run:
    """Return three updates of two local steps with three clients, unequal weights, noise, and a server step."""
    generator = np.random.default_rng(seed)

    def fractions(*shape: int) -> Array:
        return RATIONAL.array(generator.integers(1, 7, shape)) / fmpq(5)

    hessians = np.stack([RATIONAL.array(np.diag(generator.integers(1, 4, 2))) for _ in range(3)])
    shares = fractions(3)
    problem = quadratic(hessians, fractions(3, 2), fractions(2), weights=shares / shares.sum(), noise=fractions(3))
    chosen: dict[str, Any] = {
        "uniform": {"participation": Uniform(2)},
        "multinomial": {"participation": Multinomial(2)},
        "everybody": {},
        "asynchronous": {"clock": Clock(Asynchronous(), tuple(fractions(3)))},
        "fedfix": {"clock": Clock(FedFix(fmpq(6, 5)), tuple(fractions(3)))},
        "fedbuff": {"clock": Clock(FedBuff(2), tuple(fractions(3)))},
    }[scheme]
    algorithm = fedavg(
        problem, rounds=3, local_step_size=fmpq(1, 7), local_steps=2, server_step_size=fmpq(4, 3), **chosen
    )
    return Run(problem, algorithm)


SCHEMES = ("uniform", "multinomial", "everybody", "asynchronous", "fedfix", "fedbuff")


def _is_known(run: Run, needs: Sequence[Assumption] = ()) -> bool:
    """Return whether each update has a report, and a run satisfies the assumptions."""
    try:
        for needed in (*needs, a.somebody_reports):
            needed.require(run)
    except NotApplicable:
        return False
    return True


def _place(symbols: Any, run: Run, symbol: Any) -> dict[sp.Symbol, Any]:
    """Return values of symbols in a run, on axes (rounds, steps, clients)."""
    known = {}
    for each in symbols:
        quantity = symbol.quantity(each)
        assert isinstance(quantity, RunQuantity), each
        value = quantity.on(run)
        known[each] = value if isinstance(value, np.ndarray) else RATIONAL.array([value]).reshape(1, 1, 1)
        assert not quantity.root or each in DISTANCES
    return known


OF_UPDATES = [fact for fact in FACTS.values() if fact in vars(update_facts).values()]


@pytest.mark.parametrize("fact", OF_UPDATES, ids=lambda fact: fact.name)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_facts_hold_of_exact_runs(scheme: str, fact: Fact) -> None:
    """A fact is zero or non-negative in runs of every scheme."""
    runs = [run for seed in range(3) if _is_known(run := _run(scheme, seed), fact.needs)]
    if not runs:
        pytest.skip("no run satisfies what the fact needs")
    for run in runs:
        symbol = symbols_of(CLAIM)
        slack = sp.expand(fact.slack(symbol))
        # The measured quantity is the square of a distance.
        slack = slack.subs({distance**2: distance for distance in DISTANCES})
        symbols = sorted(slack.free_symbols, key=str)
        values = _place(symbols, run, symbol)
        found = np.asarray(sp.lambdify(symbols, slack, modules=[])(*(values[s] for s in symbols)))
        assert (found == 0).all() if fact.is_zero else (found >= 0).all()


VECTORS: dict[Any, Quantity] = {
    v.local: q.local_iterate,
    v.virtual: q.virtual_iterate,
    v.received: q.received_model,
    v.server: q.server_model,
    v.surrogate_optimum: q.surrogate_optimum,
    v.comparator: q.surrogate_comparator,
    v.optimum: q.optimum,
    v.round_optimum: q.round_optimum,
    v.client_optimum: q.client_optimum,
    v.noise: q.gradient_noise,
    v.client_objective: q.client_objective,
    sp.Symbol("chosen"): q.stochastic_gradient,
}


def _evaluable(meaning: Expr, share: Expr) -> Expr:
    """Return a meaning in the language of claims at local steps, with the server's weights."""
    total, gradient = SYMBOL(q.weight_sum), sp.Symbol("chosen")
    applied = Selected(gradient) - total * ClientSum(share * gradient)
    found = meaning.xreplace({Average(v.deviation): applied})
    found = found.replace(lambda part: isinstance(part, Average), lambda part: ClientSum(share * part.args[0]))
    return found.replace(lambda part: isinstance(part, Inner | Value), Expectation)


def _is_evaluable(meaning: Expr) -> bool:
    return not meaning.free_symbols & {v.virtual_noise, v.optimum_noise, v.sample, v.move, v.present, v.pull}


STEP_MEANINGS = {
    quantity.name: (quantity, meaning, next(iter(reading.weights)))
    for reading in READINGS
    for quantity, meaning in reading.define(SYMBOL, reading.quantities).items()
    if _is_evaluable(meaning) and quantity not in (q.step_length_sq, local_change_sq)
}
"""Quantities at each local step, and weights of client averages."""


@pytest.mark.parametrize("name", STEP_MEANINGS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_quantities_mean_what_the_table_says(scheme: str, name: str) -> None:
    """Meanings agree at every local step, or averaged over steps, for every client."""
    quantity, meaning, share = STEP_MEANINGS[name]
    run = _run(scheme, 1)
    if not _is_known(run):
        pytest.skip("no client reports in some update")
    is_mean = bool(meaning.atoms(LocalSum))
    at_step = (meaning * K).replace(LocalSum, lambda content: content) if is_mean else meaning
    compiled = compile_expression(_evaluable(at_step, SYMBOL(share)), {**CLAIM.where, **VECTORS})
    stepwise = replace(CLAIM, place="step", where={**CLAIM.where, **VECTORS}, for_all={})
    values = np.concatenate([compiled(site) for site in iterate_sites(stepwise, run)], axis=1)
    values = values.reshape(run.algorithm.rounds, 2, -1)
    measured = quantity.on(run)
    if is_mean:
        values = values.sum(axis=1, keepdims=True) / fmpq(2)
    assert (np.broadcast_to(measured, np.broadcast_shapes(measured.shape, values.shape)) == values).all()


# Statements that are not proved.


def failing(why: Any, left: Any, operator: Any, right: Any, **stated: Any) -> str:
    """Return the failing steps of a certificate with one link; empty if the claim is proved."""
    claim = Claim(
        id="t:false", lhs=left, relation=operator, rhs=right, **{"where": where, "assumptions": ASSUMPTIONS, **stated}
    )
    found = check_certificate(claim, Certificate(claim=claim.id, links=[why])).steps
    return "; ".join(step.text for step in found if not step.holds)


JENSEN = [Term(ONE, square(v.at_local - Average(v.at_local)), averaged=True)]


def test_jensen_with_the_shares() -> None:
    """The average over clients has their normalised weights in the update, and no others."""
    assert failing(JENSEN, R_nk, "<=", S_nk) == ""
    assert "left over" in failing(JENSEN, R_nk, "<=", ClientSum(q_in * gradient_sq))
    assert "expected exactly one weight" in failing(JENSEN, R_nk, "<=", ClientSum(gradient_sq))
    assert "scheme (6)" in failing(JENSEN, R_nk, "<=", S_nk, assumptions=(a.convex_and_smooth,))


def test_noise_of_clients_counts_with_the_squares_of_their_shares() -> None:
    """The squares of normalised weights multiply the noise only if gradients are unbiased."""
    noise = q.mixed_noise_at_virtual
    mixed = next(each for each, quantity in where.items() if quantity is noise)
    own = next(each for each, quantity in where.items() if quantity is q.virtual_second_moment)
    exact = ClientSum(qt_in**2 * (own - lengths))
    assert failing([], mixed, "==", exact) == ""
    assert "left over" in failing([], mixed, "==", ClientSum(qt_in * (own - lengths)))
    assert "left over" in failing([], mixed, "==", exact, assumptions=SCHEME)


def test_samples_and_weights_are_not_known_together() -> None:
    """The virtual iterate depends on the weights, so that a sample there is not independent of them."""
    assert "no context of updates has all" in failing([], selected_sq, "<=", mixed_change)


def test_weights_need_their_covariance() -> None:
    """Without Assumption 5 nothing is known about the random weights."""
    weights = [Term(ONE, assumption(v.WEIGHTS_AT_MOST)), Term(2 * q_n, assumption(v.APART_AT_LEAST), averaged=True)]
    assert "does not assume" in failing(weights, selected_sq, "<=", q_n**2 * R_nk, assumptions=SCHEME)
    assert "left over" in failing(weights, selected_sq, "<=", q_n**2 * R_nk)
    own = beta * q_n * S_nk + alpha * q_n**2 * R_nk
    excess = q_n * (beta - v.square_of_weight + alpha * q_n * qt_in)
    assert failing([*weights, Term(excess, square(v.at_local), averaged=True)], selected_sq, "<=", own) == ""
    assert "left over" in failing(
        [*weights, Term(excess, square(v.at_local), averaged=True)], selected_sq, "<=", own / 2
    )


def test_an_equation_is_shown_from_both_sides() -> None:
    """An equation needs both directions."""
    assert "at least: the slack is the sum" in failing(BothWays(JENSEN, []), R_nk, "==", S_nk)
    assert failing(BothWays([], []), R_nk, "==", R_nk) == ""


def _miss(most: Expr) -> list[Term]:
    moves = [Term(most - v.age, square(v.move), summed=True), Term(most, assumption(v.PAST_MOVES))]
    return [Term(ONE, steps(v.move)), *moves]


def test_a_client_is_not_older_than_the_oldest() -> None:
    """A client's model missed at most tau moves, and not fewer."""
    why = [
        Term(ONE, steps(v.move)),
        Term(tau - v.age, square(v.move), summed=True),
        Term(tau, assumption(v.PAST_MOVES)),
    ]
    assert failing(why, age_sq, "<=", tau * Q_past) == ""
    fewer = [why[0], Term(tau - 1 - v.age, square(v.move), summed=True), Term(tau - 1, assumption(v.PAST_MOVES))]
    assert ">= 0" in failing(fewer, age_sq, "<=", (tau - 1) * Q_past)


def test_sums_over_earlier_steps_need_the_step() -> None:
    """A sum over earlier steps needs the symbol that counts them."""
    claim = {each: quantity for each, quantity in where.items() if quantity is not q.local_step_index}
    assert "symbol of the local step" in failing([], spread_ik, "<=", past_S, where=claim)


def test_reasons_need_what_they_count() -> None:
    """Sums over steps need their number, comparisons of weights the number of clients."""
    context = replace(v.build_steps_context(CLAIM), local_steps=None, clients=None)
    for reason in (steps(v.at_local), unweighted(v.at_local)):
        with pytest.raises(Rejected, match=r"number of (clients|local steps)"):
            reason.instantiate(context)


@pytest.mark.parametrize(
    ("derived", "slack"),
    [
        (OverUpdates, q_n * Q),
        (OverUpdates, Q * Z),
        (OverUpdates, Q + phi),
        (OverUpdates, Q**2),
        (OverSteps, k * S_nk),
        (OverSteps, past_S),
        (OverSteps, S_nk + R),
        (OverSteps, R_nk * S_nk),
        (OverClients, qt_in * age_sq),
        (OverClients, age_sq + gradient_sq),
        (OverClients, age_sq**2),
    ],
)
def test_means_are_taken_of_what_is_linear_and_else_the_same(derived: Any, slack: Expr) -> None:
    """A product of two varying quantities has no known average, nor has a quantity outside of the table."""
    with pytest.raises(Rejected, match=r"differs among|is not linear"):
        derived("t:claim").slack(SYMBOL, slack)


def test_means_that_are_known() -> None:
    """Multiples by numbers, and constants, have known averages."""
    assert OverUpdates("t:claim").slack(SYMBOL, rho * Q - Z + 1) == rho * Q_bar - Z_bar + 1
    assert sp.expand(OverUpdates("t:claim").slack(SYMBOL, Q_past) - tau * Q_bar) == 0
    assert sp.expand(OverSteps("t:claim").slack(SYMBOL, q_n * S_nk + sigma_1) - q_n * S - sigma_1) == 0
    assert OverUpdates("t:claim").requires(SYMBOL, 2 * Z - 3 * Q_past) == (-3,)


def test_gaps_above_least_values_need_convexity() -> None:
    """Only for convex objectives is a stationary point of L^n its minimum."""
    claim = replace(find("fraboni2022:eq-91"), lhs=0, relation="<=", rhs=SYMBOL(q.residual), also=())
    certificate = Combination(claim=claim.id, links=[[Part(ONE, RESIDUAL)]])
    assert all(step.holds for step in check_certificate(claim, certificate).steps)
    assert not all(step.holds for step in check_certificate(replace(claim, assumptions=SCHEME), certificate).steps)


def test_a_margin_is_a_factor() -> None:
    """An expression that is at least one by a condition may be a denominator, and its margin is a factor."""
    numbers, margin = numbers_of(CLAIM), 2 - rho * K * N
    at_least_one = [sp.Ge(margin, 1, evaluate=False)]
    assert is_nonnegative((margin - 1) / margin, numbers, at_least_one)
    assert is_nonnegative(K / margin, numbers, at_least_one)
    assert not is_nonnegative((margin - 1) / margin, numbers, [sp.Ge(margin, 0, evaluate=False)])
    assert not is_nonnegative(K / margin, numbers, [sp.Ge(margin, 0, evaluate=False)])
    assert not is_nonnegative(K / margin, numbers)
    assert not is_nonnegative(-K / margin, numbers, at_least_one)
    assert not is_nonnegative((margin - 2) / margin, numbers, at_least_one)


def test_one_needs_no_vectors() -> None:
    """The excess over the pairing is non-negative by the definition of weights, and no more is known."""
    left = qt_in * q_n * (v.square_of_weight - alpha * q_n * qt_in)
    second = next(each for each, quantity in where.items() if quantity.name == "expected_square_weight")
    assert failing([Term(left, one())], 0, "<=", second - alpha * q_in * q_n * qt_in) == ""
    assert "need not exist" in failing([Term(left, one())], 0, "<=", second - alpha * q_in**2)
    more = qt_in * q_n * (v.square_of_weight - 2 * alpha * q_n * qt_in)
    assert ">= 0" in failing([Term(more, one())], 0, "<=", second - 2 * alpha * q_in * q_n * qt_in)


TYPES = find("fraboni2022:lemma-7").where
DEVIATION = next(each for each, quantity in TYPES.items() if quantity is q.gradient_deviation_sq)


def test_cauchy_schwarz_has_weights_that_are_not_negative() -> None:
    """Cauchy-Schwarz needs the squares over types with a weight, and over the others."""
    chosen = find("fraboni2022:lemma-7.steps").relations[0]
    terms = next(c for c in CERTIFICATES if c.claim == "fraboni2022:lemma-7.steps").links[0]
    stated = {"where": TYPES, "assumptions": SCHEME}
    assert failing(terms, chosen.left, "<=", chosen.right, **stated) == ""
    negative = replace(terms[0], reason=weighted(-v.present, v.pull, SLOPE))
    assert ">= 0" in failing([negative, *terms[1:]], chosen.left, "<=", chosen.right, **stated)
    assert "left over" in failing([*terms[:2]], chosen.left, "<=", chosen.right, **stated)


def test_even_powers_have_a_sign_and_odd_ones_none() -> None:
    """Even powers are non-negative; odd powers have the sign of the symbol, which may be either."""
    numbers = replace(numbers_of(CLAIM), of_clients=frozenset({v.pull}))
    assert is_nonnegative(v.pull**2 + v.pull**4, numbers)
    assert is_nonnegative(Average(v.pull**2), numbers)
    for number in (v.pull, v.pull**3, v.pull**2 + v.pull, -(v.pull**2), Average(v.pull), 1 / v.pull**2):
        assert not is_nonnegative(number, numbers)


def test_a_smallest_number_is_one_of_its_members() -> None:
    """x <= c min(u, v) implies x <= c u and x <= c v for c >= 0, and nothing otherwise."""
    numbers, (x, u, v_) = numbers_of(CLAIM), (K, rho, tau)
    made = list(split_minima([sp.Le(x, 2 * sp.Min(u, v_), evaluate=False)], numbers))
    assert set(made[1:]) == {sp.Le(x, 2 * u, evaluate=False), sp.Le(x, 2 * v_, evaluate=False)}
    for bound in (-sp.Min(u, v_), sp.Min(u, v_) ** 2, sp.Min(u, v_) + 1, sp.Max(u, v_), (u - v_) * sp.Min(u, v_)):
        assert len(list(split_minima([sp.Le(x, bound, evaluate=False)], numbers))) == 1
    assert len(list(split_minima([sp.Ge(x, sp.Min(u, v_), evaluate=False)], numbers))) == 1

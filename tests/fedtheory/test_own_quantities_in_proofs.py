"""User-defined quantities in proofs: they mean what their terms say, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

import fedtheory as ft
from fedtheory import Average, Claim, Expectation, InputError, Value, inner, norm_sq
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.kernel import Rejected
from fedtheory.language.quantities import RunQuantity, VectorQuantity
from fedtheory.language.term_relations import find_by_term
from fedtheory.proofs import check_certificate
from fedtheory.proofs.means import MeanCertificate
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.proofs.run_terms import step_average_of
from fedtheory.search import Found, NotFound, find_proof

F, x, x_i, best, after, local_after, server, t, D, L, eta = sp.symbols(
    "F x x_i best after local_after server t D L eta"
)
WHERE = {
    F: q.objective,
    x: q.average_iterate,
    x_i: q.local_iterate,
    best: q.optimum,
    after: q.next_average_iterate,
    local_after: q.next_local_iterate,
    server: q.server_model,
    D: q.initial_distance,
    L: q.smoothness,
    eta: q.local_step_size,
}
ROUNDS = (a.full_participation, a.unit_server_step, a.same_local_work, a.uniform_shares)
GAP = Expectation(Value(F, after) - Value(F, best))
SPREAD, DISTANCES = Average(Expectation(norm_sq(x_i - x))), Average(Expectation(norm_sq(x_i - best)))


def own(name: str, term: Any, **keys: Any) -> RunQuantity:
    return ft.quantity(name, term, WHERE, **keys)


def at_steps(lhs: Any, rhs: Any) -> Claim:
    return Claim(id="mine:steps", lhs=lhs, rhs=rhs, where=WHERE, place="step", assumptions=list(ROUNDS))


def about_runs(lhs: RunQuantity, rhs: Any) -> Claim:
    return Claim(id="mine:runs", lhs=lhs, rhs=rhs, where=WHERE, assumptions=list(ROUNDS))


def test_a_relation_between_own_quantities_is_found_at_steps() -> None:
    """The spread around the average is at most the spread around another point."""
    found = find_proof(at_steps(own("own_spread", SPREAD), own("own_distances", DISTANCES)))
    assert isinstance(found, Found)


def test_the_other_direction_is_not_found() -> None:
    found = find_proof(at_steps(own("own_distances", DISTANCES), own("own_spread", SPREAD)))
    assert isinstance(found, NotFound)


def test_the_statement_of_steps_is_written_out() -> None:
    plain = use_plain_symbols(at_steps(own("own_spread", SPREAD), 0))
    (relation,) = plain.relations
    symbol = symbols_of(plain)
    local, mean = symbol(q.local_iterate), symbol(q.average_iterate)
    assert relation.left == Average(Expectation(norm_sq(local - mean)))


def test_errors_of_the_vocabulary_are_written_out_where_rounds_are_synchronous() -> None:
    claim = at_steps(q.suboptimality_at_step, D)
    symbol = symbols_of(plain := use_plain_symbols(claim))
    gap = Value(symbol(q.objective), symbol(q.average_iterate)) - Value(symbol(q.objective), symbol(q.optimum))
    assert plain.relations[0].left == Expectation(gap)
    stale = use_plain_symbols(replace(claim, assumptions=[a.aggregation_scheme]))
    assert q.average_iterate not in {stale.notation[one] for one in stale.relations[0].left.free_symbols}


@pytest.mark.parametrize(
    ("term", "keys", "known"),
    [
        (GAP, {"over": "run"}, q.average_suboptimality),
        (Expectation(Value(F, after)) - Expectation(Value(F, best)), {"over": "run"}, q.average_suboptimality),
        (GAP, {"over": "round"}, q.round_suboptimality),
        (GAP, {"over": "run", "by": "largest"}, None),
        (GAP, {"over": "run", "by": "smallest"}, None),
        (GAP, {"over": "run", "by": "sum"}, None),
        (GAP, {"over": "run", "weights": (1 + t) ** 2, "index": t}, None),
        (Expectation(Value(F, x) - Value(F, best)), {"over": "run"}, None),
        (2 * GAP, {"over": "run"}, None),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_an_own_quantity_is_that_of_the_vocabulary_where_both_terms_agree(term: Any, keys: Any, known: Any) -> None:
    quantity = own("own_error", term, **keys)
    plain = use_plain_symbols(about_runs(quantity, D**2 * L))
    (found,) = {plain.notation[one] for one in plain.relations[0].left.free_symbols}
    assert found is (quantity if known is None else known)


def test_without_synchronous_rounds_the_average_is_not_the_virtual_iterate() -> None:
    quantity = own("own_error", GAP, over="run")
    plain = use_plain_symbols(replace(about_runs(quantity, D), assumptions=[a.aggregation_scheme]))
    assert plain.notation[next(iter(plain.relations[0].left.free_symbols))] is quantity


def lying(quantity: RunQuantity) -> RunQuantity:
    """A quantity that measures nothing of what its term says."""
    return replace(quantity, measure=lambda run: run.arithmetic.array([[[1]]]))


LIAR = VectorQuantity("average_iterate", r"\bar x^{(t,k)}", "no average", lambda frame: frame.server)


@pytest.mark.parametrize(
    "quantity",
    [
        lying(own("own_error", GAP, over="run")),
        replace(own("own_error", GAP, over="run"), root=True),
        ft.quantity(
            "own_error", Expectation(Value(F, x) - Value(F, best)), {**WHERE, x: replace(LIAR, name="next")}, over="run"
        ),
        ft.quantity("own_error", GAP, {**WHERE, after: replace(LIAR, name="next_average_iterate")}, over="run"),
    ],
    ids=["another measure", "root", "another vector", "another vector of that name"],
)
def test_what_only_says_to_be_a_quantity_has_no_meaning(quantity: RunQuantity) -> None:
    """A hostile file can make any quantity, with whatever term and whatever names."""
    assert find_by_term(quantity, {}) is quantity
    claim = about_runs(quantity, D**2 * L)
    certificate = MeanCertificate(claim=claim.id, step="renard2022:lemma-2.2.proof.last.fixed", span="run")
    assert check_certificate(claim, certificate).verdict != "proved"


def test_a_hostile_quantity_is_not_written_out_at_steps() -> None:
    claim = at_steps(lying(own("own_spread", SPREAD)), own("own_distances", DISTANCES))
    assert use_plain_symbols(claim).relations[0].left.is_Symbol
    assert isinstance(find_proof(claim), NotFound)


def test_a_condition_on_quantities_of_a_step_is_refused() -> None:
    spread = own("own_spread", SPREAD)
    claim = replace(at_steps(spread, 0), conditions=[spread.symbol <= eta])
    with pytest.raises(Rejected, match="condition on quantities of a local step"):
        use_plain_symbols(claim)


def mean(quantity: RunQuantity) -> Any:
    """The expression whose mean a term is in proofs, in the symbols of a claim about it."""
    assert quantity.term is not None
    return step_average_of(quantity.term, symbols_of(about_runs(quantity, D)))


def test_means_of_the_vocabulary() -> None:
    """As they had been written down by hand; sums without the first step are means where that adds nothing."""
    symbol = symbols_of(about_runs(q.average_round_drift, D))
    apart = symbol(q.local_iterate) - symbol(q.average_iterate)
    tau, rounds = symbol(q.local_steps), symbol(q.rounds)
    assert step_average_of(q.average_round_drift.term, symbol) == (Average(norm_sq(apart)), 1)
    expression, multiple = step_average_of(q.total_progress.term, symbol)
    before, end, point = (symbol(one) for one in (q.average_iterate, q.next_average_iterate, q.optimum))
    assert (expression, multiple) == (norm_sq(before - point) - norm_sq(end - point), tau * rounds)


@pytest.mark.parametrize(
    "quantity",
    [
        own("own_last", GAP, over="run", by="largest"),
        own("own_weighted", GAP, over="run", weights=1 + t, index=t),
        q.last_round_suboptimality,
        q.final_distance_sq,
        q.max_drift,
        q.mean_server_suboptimality,
    ],
    ids=lambda one: one.name,
)
def test_other_reductions_are_no_means(quantity: RunQuantity) -> None:
    assert mean(quantity) is None


def test_a_sum_without_the_first_step_is_no_mean_where_that_step_counts() -> None:
    """The drift is zero where a round starts, the error is not."""
    term = q.average_round_drift.term
    error = q.average_suboptimality.term
    assert term is not None
    assert error is not None
    symbol = symbols_of(about_runs(q.average_round_drift, D))
    assert step_average_of(replace(error, over=term.over), symbol) is None
    assert step_average_of(replace(term, over=(replace(term.over[0], begin=2), term.over[1])), symbol) is None


@pytest.mark.parametrize("clients", ["largest", "smallest"])
def test_an_extreme_of_clients_is_no_mean_of_them(clients: Any) -> None:
    """It has a value for each step, and neither the certificate of a mean nor that of a step is about it."""
    distance = Expectation(norm_sq(x_i - best))
    each, extreme = own("each", distance), own("extreme", distance, clients=clients)
    assert extreme.place == "step"
    assert latex_of_extreme(clients) in extreme.latex
    over_run = own("over_run", distance, over="run", clients=clients)
    assert over_run.term is not None
    assert step_average_of(over_run.term, symbols_of(about_runs(over_run, D))) is None
    claims = [at_steps(extreme, each), at_steps(each, extreme), at_steps(extreme, DISTANCES)]
    assert not any(isinstance(find_proof(claim), Found) for claim in claims)


def latex_of_extreme(clients: str) -> str:
    return rf"\{'max' if clients == 'largest' else 'min'}_i"


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"over": "epoch"}, "over= one of step, round, run"),
        ({"over": "run", "by": "median"}, "by= one of mean, sum, largest, smallest"),
        ({"over": "run", "clients": "mean"}, "clients= one of largest, smallest or None, got 'run', 'mean' and 'mean'"),
        ({"over": "round", "weights": t, "index": t}, "weights are for over='run'"),
        ({"over": "run", "by": "largest", "weights": t, "index": t}, "by='mean' or 'sum'"),
        ({"over": "run", "weights": t}, "as index, got None"),
        ({"over": "run", "weights": t * sp.Symbol("z"), "index": t}, "symbols of `where` in the weights, got z"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_what_is_no_own_quantity(keys: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        own("own_error", GAP, **keys)


def test_inner_products_need_an_expectation() -> None:
    with pytest.raises(InputError, match="inside an Expectation"):
        own("own_error", inner(x, best), over="run")

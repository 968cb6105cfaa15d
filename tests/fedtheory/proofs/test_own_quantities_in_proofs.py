"""User-defined quantities in proofs have exactly the meaning of their terms."""

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
from fedtheory.proofs.numbers import numbers_of, symbols_of
from fedtheory.proofs.plain_symbols import use_plain_symbols
from fedtheory.proofs.terms.indexed import ROUND, STEP, RangeSum, average, vector_at
from fedtheory.proofs.terms.indexed import server as server_model
from fedtheory.proofs.terms.process import Process
from fedtheory.proofs.terms.run_form import RunForm
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
    """Return a quantity whose values differ from its term."""
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
def test_imitated_quantities_have_no_meaning(quantity: RunQuantity) -> None:
    """A quantity with any term and name from a hostile file has no meaning in proofs."""
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
    with pytest.raises(Rejected, match="got one on a quantity that vectors define"):
        use_plain_symbols(claim)


def measured(quantity: RunQuantity) -> tuple[Process, Any]:
    """Return the rounds of a claim about a quantity, and its term in their vectors, or its symbol."""
    process = Process(about_runs(quantity, D))
    return process, process.unfold(process.symbols(quantity))


@pytest.mark.parametrize(
    "quantity",
    [
        own("own_largest", GAP, over="run", by="largest"),
        own("own_weighted", GAP, over="run", weights=1 + t, index=t),
        q.max_drift,
    ],
    ids=lambda one: one.name,
)
def test_other_reductions_are_no_sums(quantity: RunQuantity) -> None:
    process, found = measured(quantity)
    assert found == process.symbols(quantity)


def test_sums_of_the_vocabulary() -> None:
    """The drift is an average over all steps but the first, and the progress telescopes."""
    process, drift = measured(q.average_round_drift)
    apart = norm_sq(vector_at("local") - average())
    steps = RangeSum(Average(apart) / process.steps, STEP, 1, process.steps)
    assert drift == RangeSum(steps, ROUND, 0, process.rounds) / process.rounds
    process, progress = measured(q.total_progress)
    optimum = process.symbols(q.optimum)
    ends = norm_sq(server_model(sp.S.Zero) - optimum) - norm_sq(server_model(process.rounds) - optimum)
    form = RunForm(process, numbers_of(process.claim))
    assert form.check_zero("", progress - ends).holds
    assert not form.check_zero("", progress - 2 * ends).holds


def test_a_mean_without_the_first_step_is_no_sum() -> None:
    """An average over fewer steps is not divided by their number."""
    term = q.average_round_drift.term
    assert term is not None
    later = replace(q.average_round_drift, term=replace(term, over=(replace(term.over[0], by="mean"), term.over[1])))
    process, found = measured(later)
    assert found == process.symbols(later)


@pytest.mark.parametrize("clients", ["largest", "smallest"])
def test_an_extreme_of_clients_is_no_mean_of_them(clients: Any) -> None:
    """A maximum over clients has a value at each step, but no certificate of an average or a step."""
    distance = Expectation(norm_sq(x_i - best))
    each, extreme = own("each", distance), own("extreme", distance, clients=clients)
    assert extreme.place == "step"
    assert latex_of_extreme(clients) in extreme.latex
    over_run = own("over_run", distance, over="run", clients=clients)
    process, found = measured(over_run)
    assert found == process.symbols(over_run)
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
def test_invalid_user_defined_quantities(keys: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        own("own_error", GAP, **keys)


def test_inner_products_need_an_expectation() -> None:
    with pytest.raises(InputError, match="inside an Expectation"):
        own("own_error", inner(x, best), over="run")

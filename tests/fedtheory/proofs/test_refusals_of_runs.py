"""False statements about steps and runs that a single check rejects."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from fedtheory import RATIONAL, parse_run
from fedtheory.kernel import Step, Term, assumption, one, square
from fedtheory.kernel.expressions import Expectation, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.quantities import RunQuantity
from fedtheory.language.registry import find
from fedtheory.proofs import Certificate, Combination, Part, Proof, Recursion, certificates, check_certificate, facts
from fedtheory.proofs.derived_relation import Derived
from fedtheory.proofs.document import document_of
from fedtheory.proofs.links import Induction
from fedtheory.sources.fraboni2022.context.updates import square_of_weight
from fedtheory.sources.lecture27.context.intervals import AtFirstStart, AtNextStart
from verify.check import check as evaluate

ONE, ZERO = sp.S.One, sp.S.Zero
eta, G, M, sigma = sp.symbols("eta G M sigma", positive=True)
k = sp.Symbol("k", nonnegative=True, integer=True)
start, again, first = sp.symbols("start again first", nonnegative=True)
w, x_i, g = sp.symbols("w x_i g", real=True)
WHERE: dict[sp.Symbol, Any] = {
    eta: q.local_step_size,
    G: q.second_moment,
    M: q.clients,
    k: q.local_step_index,
    w: q.server_model,
    x_i: q.local_iterate,
    g: q.stochastic_gradient,
}


def stated(**parts: Any) -> Claim:
    """Return a small claim, by default in the symbols of this module."""
    return Claim(id="t:refused", **{"where": WHERE, **parts})


def assert_stopped(claim: Claim, certificate: Any, because: str, **prover: Any) -> None:
    """Assert that exactly one step of a certificate fails, with the given message."""
    failing = [step.text for step in check_certificate(claim, certificate, **prover).steps if not step.holds]
    assert len(failing) == 1, failing
    assert because in failing[0]


def is_false(claim: Claim, **algorithm: Any) -> bool:
    """Return whether a claim fails on an exact run of two clients."""
    two = {"kind": "quadratic", "hessians": [[["1"]], [["2"]]], "linear": [["1"], ["0"]], "start": ["1"]}
    steps = {"local_step_size": "1/4", "rounds": 2, "local_steps": 2, **algorithm}
    return evaluate(claim, parse_run({"problem": two, "algorithm": steps}, RATIONAL)).holds is False


@pytest.mark.parametrize("operator", ["==", ">=", "<"])
def test_an_induction_shows_an_upper_bound(operator: Any) -> None:
    """An induction proves an upper bound only."""
    moment, most = assumption("bounded second moment"), k**2 * eta**2 * G**2
    travelled = Induction(
        measured=norm_sq(x_i - w),
        factor=1 + 1 / k,
        offset=(1 + k) * eta**2 * G**2,
        terms=[Term(1 / k, square((x_i - w) + k * eta * g)), Term((1 + k) * eta**2, moment)],
        bound=most,
        first=[Term(eta**2, moment)],
    )
    claim = stated(
        lhs=Expectation(norm_sq(x_i - w)),
        relation=operator,
        rhs=most,
        place="step",
        assumptions=(a.same_local_work, a.full_participation, a.bounded_second_moment),
    )
    assert_stopped(claim, Certificate(claim=claim.id, links=[travelled]), "an induction proves an upper bound")
    assert is_false(claim)


MEAN = find("liu2022:thm-1.mean")


@pytest.mark.parametrize(
    ("changes", "why"),
    [({"relation": "=="}, "claim states =="), ({"also": [Relation(ONE, "<=", ZERO)]}, "one inequality")],
)
def test_a_mean_is_one_inequality(changes: Any, why: str) -> None:
    """A claim about an average must be one inequality."""
    assert_stopped(replace(MEAN, **changes), certificates()[MEAN.id], why)
    assert is_false(replace(MEAN, **changes), local_step_size="1/100")


DRIFT = find("liu2022:thm-3.drift.sharp")
SPREAD = certificates()[DRIFT.id]
assert isinstance(SPREAD, Recursion)
FORGED = replace(SPREAD, measure=replace(SPREAD.measure, largest_drift=lambda _clients: ZERO))


@pytest.mark.parametrize(
    "changes", [{"relation": "=="}, {"also": [Relation(ONE, "<=", ZERO)]}, {"lhs": ONE, "rhs": ZERO}]
)
def test_a_recursion_is_one_upper_bound_on_the_drift(changes: Any) -> None:
    """A recursion must be one upper bound on the drift."""
    assert_stopped(replace(DRIFT, **changes), SPREAD, "one upper bound on the drift")
    assert is_false(replace(DRIFT, **changes), local_step_size="1/100")


def test_a_mean_over_clients_bounds_no_single_one() -> None:
    """A bound on the average drift is no bound on the largest drift."""
    claim = replace(DRIFT, lhs=q.max_drift)
    assert_stopped(claim, SPREAD, "does not bound a single client")


def test_a_measure_is_a_known_one() -> None:
    """A claim without any drift is refused."""
    claim = replace(DRIFT, lhs=q.max_drift, rhs=ZERO)
    assert_stopped(claim, FORGED, "expected one of pair, spread, displacement")
    assert is_false(claim, local_step_size="1/100")


def test_a_condition_has_two_sides() -> None:
    """A number in place of a condition is rejected, as it has no smaller side."""
    claim = stated(lhs=3, rhs=M)
    document = document_of(claim, Combination(claim=claim.id, links=[[Part(ONE, sp.Ge(M, 3))]]))
    document["certificate"]["links"][0][0]["premise"] = {"condition": "clients - 3"}
    (failing,) = (step.text for step in check_certificate(claim, document).steps if not step.holds)
    assert "expected an ordering of two expressions" in failing
    assert is_false(claim)


def test_two_symbols_for_one_quantity() -> None:
    """With two symbols for one quantity one of them would be overlooked."""
    where = {start: q.interval_start_gap, again: q.interval_start_gap, first: q.initial_gap}
    needed = {"where": where, "assumptions": AtFirstStart.needs}
    proof = Proof(
        replace(stated(lhs=start, relation="==", rhs=again, **needed), id="t:premise"),
        object(),
        (Step("by letter", True),),
    )
    claim = stated(lhs=first, relation="==", rhs=again, **needed)
    use = Combination(claim=claim.id, links=[[Part(ONE, AtFirstStart("t:premise"))]])
    assert_stopped(claim, use, "both stand for interval_start_gap", prover=lambda _id: proof)
    assert is_false(claim)


def test_two_quantities_of_one_name() -> None:
    """Facts about one of two quantities of one name do not hold for the other."""
    other = RunQuantity("noise_deviation", "s", "something else", lambda run: run.smoothness)
    where = {sigma: q.noise_deviation, G: other}
    claim = stated(lhs=G, rhs=sigma, where=where, assumptions=(a.full_gradients,))
    use = Combination(claim=claim.id, links=[[Part(ONE, facts.QUIET)]])
    assert_stopped(claim, use, "two different quantities have the name noise_deviation")
    assert is_false(claim)


E_i = sp.Symbol("E_i", positive=True, integer=True)


def test_a_number_of_a_step_for_all_clients() -> None:
    """In a round each client has its own number of steps, so a common one is rejected."""
    where = {k: q.local_step_index, E_i: q.client_local_steps}
    assumed = (a.uniform_sampling, a.uniform_shares, a.unit_server_step)
    taken = {"lhs": k + 1, "rhs": E_i, "where": where, "assumptions": assumed}
    of_a_round = replace(stated(**taken, place="round"), id="t:premise")
    proof = check_certificate(of_a_round, Certificate(claim=of_a_round.id, links=[[Term(E_i - k - 1, one())]]))
    assert proof.verdict == "proved"
    claim = stated(**taken)
    use = Combination(claim=claim.id, links=[[Part(ONE, "t:premise")]])
    assert_stopped(claim, use, "about the place 'round', and is used at 'run'", prover=lambda _id: proof)
    assert is_false(claim, local_steps=[1, 3])


def test_a_relation_that_is_not_there() -> None:
    """A reference to a missing second relation of a premise is rejected."""
    premise = replace(stated(lhs=ZERO, rhs=sigma, where={sigma: q.noise_deviation}), id="t:premise")
    proof = check_certificate(premise, Combination(claim=premise.id, links=[[Part(sigma, facts.ONE)]]))
    assert proof.verdict == "proved"
    claim = stated(lhs=ONE, rhs=ZERO)
    use = Combination(claim=claim.id, links=[[Part(ONE, Derived("t:premise", link=1))]])
    assert_stopped(claim, use, "has no relation number 2", prover=lambda _id: proof)


def test_the_last_model_is_no_start_of_a_round() -> None:
    """The last model is not the start of a round."""
    following, last = sp.symbols("following last", nonnegative=True)
    where = {start: q.interval_start_gap, following: q.next_interval_start_gap, last: q.final_suboptimality}
    shared = {"where": where, "assumptions": AtNextStart.needs, "conditions": [sp.Ge(start, ONE)]}
    premise = replace(stated(lhs=ONE, rhs=start, **shared), id="t:premise")
    proof = check_certificate(premise, Combination(claim=premise.id, links=[[Part(ONE, sp.Ge(start, ONE))]]))
    assert proof.verdict == "proved"
    claim = stated(lhs=ONE, rhs=following, **shared)
    use = Combination(claim=claim.id, links=[[Part(ONE, AtNextStart("t:premise"))]])
    assert_stopped(claim, use, "(last - 1) >= 0", prover=lambda _id: proof)
    at_two = {"problem": {"kind": "quadratic", "hessians": [[["1"]]], "linear": [["0"]], "start": ["3/2"]}}
    table = {"algorithm": {"local_step_size": "1/4", "rounds": 1, "local_steps": 2}}
    assert evaluate(claim, parse_run({**at_two, **table}, RATIONAL)).holds is False


def test_a_condition_that_does_not_follow_is_none() -> None:
    """A sufficient condition must follow from the claim's conditions."""
    claim = stated(lhs=M, rhs=ONE)
    alone = Combination(claim=claim.id, links=[[Part(ONE, M <= 1)]], relaxed=[M <= 1])
    assert_stopped(claim, alone, "M <= 1 follows from the conditions of the claim")
    assert is_false(claim)


def test_two_symbols_of_one_name() -> None:
    """Two symbols with one name denote different things, whatever is declared."""
    other = sp.Symbol("sigma", real=True)
    claim = stated(lhs=sigma, rhs=other, where={sigma: q.noise_deviation, other: q.initial_distance})
    assert_stopped(claim, Combination(claim=claim.id, links=[[]]), "two symbols have the name sigma")
    two = {
        "kind": "quadratic",
        "hessians": [[["1"]], [["2"]]],
        "linear": [["1"], ["0"]],
        "start": ["1/3"],
        "noise": "4",
    }
    table = {"local_step_size": "1/4", "rounds": 2, "local_steps": 2}
    assert evaluate(claim, parse_run({"problem": two, "algorithm": table}, RATIONAL)).holds is False


def test_a_symbol_with_the_name_of_one_of_a_proof() -> None:
    """A symbol with the name of one of the proof is different from it."""
    distance, excess = sp.symbols("u_i b", nonnegative=True)
    total, pairing, share = sp.symbols("q alpha s", nonnegative=True)
    where = {distance: q.initial_distance, excess: q.weight_excess, total: q.weight_sum}
    where |= {pairing: q.weight_pairing, share: q.weight_share}
    right = excess + pairing * total * share
    scheme = (a.aggregation_scheme, a.weight_covariance, a.somebody_reports)
    claim = stated(lhs=distance, rhs=right, where=where, assumptions=scheme)
    assert_stopped(claim, Certificate(claim=claim.id, links=[[Term(right - distance, one())]]), ">= 0: 1 >= 0")
    known = Term(right - square_of_weight, one())
    assert_stopped(claim, Certificate(claim=claim.id, links=[[known]]), "left over")
    assert is_false(claim)

"""False statements with plausible certificates are not proved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from fedtheory.kernel import Numbers, Term, assumption, is_nonnegative, one, square
from fedtheory.kernel.expressions import Average, Expectation, Gradient, LocalSum, Selected, inner, norm_sq
from fedtheory.language import assumptions as a
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import RunQuantity
from fedtheory.language.registry import find
from fedtheory.proofs import (
    Certificate,
    Combination,
    MeanCertificate,
    Part,
    Recursion,
    certificates,
    check_certificate,
    facts,
)
from fedtheory.proofs.decoding import FACTS
from fedtheory.proofs.facts import Fact
from fedtheory.proofs.induction import POWER
from fedtheory.proofs.induction import k as counter
from fedtheory.proofs.links import Induction

eta, L, sigma, G = sp.symbols("eta L sigma G", positive=True)
M, T, tau, P = sp.symbols("M T tau P", positive=True)
E_i, mu_i = sp.symbols("E_i mu_i", positive=True)
k = sp.Symbol("k", nonnegative=True, integer=True)
S = sp.Symbol("S", positive=True, integer=True)
x, w, w_next, x_i, x_next, xi, xbar, psi, g, F, F_i = sp.symbols("x w w_next x_i x_next xi xbar psi g F F_i", real=True)
WHERE: dict[sp.Symbol, Any] = {
    eta: q.local_step_size,
    L: q.smoothness,
    sigma: q.noise_deviation,
    G: q.second_moment,
    M: q.clients,
    T: q.iterations,
    tau: q.local_steps,
    k: q.local_step_index,
    x: q.point,
    w: q.server_model,
    x_i: q.local_iterate,
    x_next: q.next_local_iterate,
    g: q.stochastic_gradient,
    F: q.objective,
    F_i: q.client_objective,
}
ROUND: dict[sp.Symbol, Any] = {
    M: q.clients,
    P: q.participants,
    E_i: q.client_local_steps,
    mu_i: q.client_step_size,
    k: q.local_step_index,
    w: q.server_model,
    w_next: q.next_server_model,
    x_i: q.local_iterate,
    xbar: q.average_iterate,
    xi: q.gradient_noise,
    psi: q.local_result,
    F: q.objective,
    F_i: q.client_objective,
}
SAMPLED = (a.uniform_sampling, a.unit_server_step, a.uniform_shares, a.several_clients)
LINKS = {"links": [[]]}


def verdict(kind: Any, parts: dict[str, Any], prover: Any = None, because: str = "", **stated: Any) -> str:
    """Return the verdict on a claim and a certificate; failing steps must name the given cause."""
    claim = Claim(id="t:false", **{"where": WHERE, **stated})
    certificate = kind(claim=claim.id, **parts)
    proof = check_certificate(claim, certificate) if prover is None else check_certificate(claim, certificate, prover)
    assert not because or any(because in step.text for step in proof.steps if not step.holds), proof.steps
    return proof.verdict


def about_a_round(left: Any, right: Any, terms: Any = (), **stated: Any) -> str:
    """Return the verdict on an equation about a round, or with terms on an inequality."""
    relation = "<=" if terms else "=="
    given = {"where": ROUND, "assumptions": SAMPLED, "place": "round", **stated}
    return verdict(Certificate, {"links": [terms]}, lhs=left, relation=relation, rhs=right, **given)


def test_both_readings_of_a_condition_are_kept_apart() -> None:
    """The condition eta <= L substitutes one symbol at a time."""
    wrong = eta * L - L + eta
    assert not is_nonnegative(wrong, Numbers(symbols=frozenset({eta, L})), [eta <= L])
    sides = {"lhs": L - eta, "rhs": eta * L, "conditions": [eta <= L]}
    assert verdict(Combination, {"links": [[Part(wrong, facts.ONE)]]}, because="coefficient", **sides) == "broken"


@pytest.mark.parametrize("missing", [a.uniform_shares, a.uniform_sampling])
def test_weights_of_those_that_are_drawn(missing: Any) -> None:
    """The weights of participants sum to one only with equal weights and uniform sampling."""
    fewer = tuple(assumption for assumption in SAMPLED if assumption is not missing)
    for left, right in ((norm_sq(Selected(w) - w), 0), (norm_sq(Expectation(Selected(psi)) - Average(psi)), 0)):
        assert about_a_round(left, right, assumptions=fewer, because="sampled") == "broken"
    at_step = {"lhs": Expectation(norm_sq(Selected(w) - w)), "relation": "==", "rhs": 0, "place": "step"}
    assert verdict(Certificate, LINKS, because="defined for a round only", **at_step) == "broken"


def test_chosen_weights_are_no_uniform_sampling() -> None:
    """The assumption fails if the server's weights are not the client weights."""
    from fedtheory import RATIONAL, parse_run

    table: dict[str, Any] = {
        "problem": {"kind": "quadratic", "hessians": [[["1"]]] * 2, "linear": [["1"], ["0"]], "start": ["1"]},
        "algorithm": {"local_step_size": "1/4", "rounds": 1},
    }
    assert a.uniform_sampling.failure(parse_run(table, RATIONAL)) is None
    table["algorithm"]["aggregation"] = ["1/4", "1/4"]
    assert a.uniform_sampling.failure(parse_run(table, RATIONAL)) is not None


def test_gradients_at_sampled_averages_are_correlated() -> None:
    """A gradient at the participants' average is correlated with that average."""
    for drawn, at in ((Selected(psi), Selected(psi)), (w_next, w_next)):
        sides = (Expectation(inner(vector, Gradient(F, at))) for vector in (drawn, Average(psi)))
        assert about_a_round(*sides, because="depends on the participants") == "broken"


@pytest.mark.parametrize(
    ("left", "right", "because"),
    [
        (inner(xi, w), Expectation(inner(xi, w)), "is random, and stands outside"),
        (norm_sq(xbar - w), Expectation(norm_sq(xbar - w)), "is random, and stands outside"),
        (Expectation(inner(psi, xbar)), inner(Expectation(psi), Expectation(xbar)), "the expectation of"),
        (Expectation(norm_sq(xi)), sp.S.Zero, "left over"),
    ],
)
def test_every_vector_of_a_round_is_random_unless_it_is_given(left: Any, right: Any, because: str) -> None:
    """Noise and averages are random, and the last iterate of a client depends on them."""
    assert about_a_round(left, sp.sympify(right), because=because) == "broken"


def test_the_number_of_a_step() -> None:
    """The step index is not constant, not defined for clients with fewer steps, and not averaged."""
    assert about_a_round(LocalSum(k * norm_sq(w)), k * E_i * norm_sq(w), because="left over") == "broken"
    assert about_a_round(LocalSum(k * norm_sq(x_i)), k * LocalSum(norm_sq(x_i)), because="under a sum") == "broken"
    assert about_a_round(norm_sq(LocalSum(k * w)), k**2 * norm_sq(E_i * w), because="under a sum") == "broken"
    taken = [Term(E_i - k - 1, one(), averaged=True)]
    assert about_a_round(k + 1, Average(E_i), taken, because="(E_i - k - 1) >= 0") == "broken"
    without_symbol = {symbol: quantity for symbol, quantity in ROUND.items() if symbol != E_i}
    differs = norm_sq(Average(LocalSum(w)) - LocalSum(w))
    assert about_a_round(differs, 0, where=without_symbol, because="left over") == "broken"


def test_means_of_a_vector_at_a_step() -> None:
    """At a local step, the expectation of a vector is not known."""
    sides = {"lhs": Expectation(norm_sq(x_i - Expectation(x_i))), "relation": "==", "rhs": 0, "place": "step"}
    assert verdict(Certificate, LINKS, because="defined for a round only", **sides) == "broken"


MOMENT = assumption("bounded second moment")
TRAVELLED: dict[str, Any] = {
    "measured": norm_sq(x_i - w),
    "factor": 1 + 1 / k,
    "offset": (1 + k) * eta**2 * G**2,
    "terms": [Term(1 / k, square((x_i - w) + k * eta * g)), Term((1 + k) * eta**2, MOMENT)],
    "bound": k**2 * eta**2 * G**2,
    "first": [Term(eta**2, MOMENT)],
}
TRAVEL: dict[str, Any] = {
    "lhs": Expectation(norm_sq(x_i - w)),
    "rhs": k**2 * eta**2 * G**2,
    "place": "step",
    "assumptions": (a.same_local_work, a.full_participation, a.bounded_second_moment),
}


def induction_verdict(changes: dict[str, Any], **stated: Any) -> str:
    """Return the verdict on the bound on the path of a client, with other parts."""
    return verdict(Certificate, {"links": [Induction(**{**TRAVELLED, **changes})]}, **{**TRAVEL, **stated})


def test_inductions() -> None:
    """The correct induction is proved; with stale models, a wrong base, or another meaning of a symbol it is not."""
    assert induction_verdict({}) == "proved"
    fewer = tuple(assumption for assumption in TRAVEL["assumptions"] if assumption is not a.full_participation)
    assert induction_verdict({}, assumptions=fewer, because="at the server's model") == "broken"
    assert induction_verdict({"base": sp.Rational(2, 3)}, because="(-1/3) >= 0") == "broken"
    assert induction_verdict({"base": 1 + eta}) == "proved"
    larger = {"base": 1 + eta, "bound": TRAVELLED["bound"] + POWER - 1}
    assert induction_verdict(larger, because="the power itself") == "broken"
    assert induction_verdict({"measured": norm_sq(g)}, because="not a distance of iterates") == "broken"
    renamed = {POWER if symbol == eta else symbol: quantity for symbol, quantity in WHERE.items()}
    assert induction_verdict({}, where=renamed, because="has no name in the claim") == "broken"


def test_lecture_27_with_stale_models() -> None:
    """With stale models the clients of a round do not start from one model."""
    claim = find("lecture27:thm-1.g")
    fewer = tuple(assumption for assumption in claim.assumptions if assumption is not a.full_participation)
    assert check_certificate(replace(claim, assumptions=fewer), certificates()[claim.id]).verdict == "broken"


def test_a_mean_of_what_is_bounded_by_the_number_of_its_step() -> None:
    """The average over the steps is not bounded by the bound at every single step."""
    drift = sp.Symbol("d", real=True)
    step = Claim(id="t:step", where=WHERE, **TRAVEL)
    proof = check_certificate(step, Certificate(claim=step.id, links=[Induction(**TRAVELLED)]))
    assert proof.verdict == "proved"
    found = verdict(
        MeanCertificate,
        {"step": step.id, "span": "run"},
        lambda _id: proof,
        because="left over",
        lhs=drift,
        rhs=k**2 * eta**2 * G**2,
        where={**WHERE, drift: q.average_round_drift},
        assumptions=(*TRAVEL["assumptions"], a.unit_server_step),
    )
    assert found == "broken"


def test_zeros_are_not_divided_by() -> None:
    """A number that is zero may only be multiplied by finite numbers."""
    quiet = {"assumptions": (a.full_gradients,)}
    by_zero = {"links": [[Part(-1 / sigma, facts.QUIET)]]}
    assert verdict(Combination, by_zero, lhs=sp.S.One, rhs=sp.S.Zero, because="may be zero", **quiet) == "broken"
    equation = Claim(id="t:equation", lhs=M * (M - 1), relation="==", rhs=M**2 - M, where=WHERE)
    proof = check_certificate(equation, Combination(claim=equation.id, links=[[]]))
    assert proof.verdict == "proved"
    gap = equation.relations[0].right - equation.relations[0].left
    hidden = {"links": [[Part(-M / gap, equation.id)]]}
    assert verdict(Combination, hidden, lambda _id: proof, "divided by zero", lhs=M, rhs=sp.S.Zero) == "broken"
    step = eta - sp.sqrt(M) / sp.sqrt(T)
    tuned = {"links": [[Part(-M / step, FACTS["plain_speedup_step"])]]}
    plain = {"assumptions": (a.plain_speedup_step, a.same_local_work), "because": "may be zero"}
    assert verdict(Combination, tuned, lhs=M, rhs=sp.S.Zero, **plain) == "broken"


def test_symbols_under_quantifiers() -> None:
    """Quantified symbols are not symbols of the run, in the claim or in one that uses it."""
    D = sp.Symbol("D", nonnegative=True)
    where = {D: q.initial_distance}
    premise = Claim(id="t:premise", lhs=D, rhs=S * D, where=where, for_all={S: [1, 2]})
    proof = check_certificate(premise, Combination(claim=premise.id, links=[[Part((S - 1) * D, facts.ONE)]]))
    assert proof.verdict == "proved"
    use = {"links": [[Part(1, premise.id)]]}
    as_clients = {"where": {D: q.initial_distance, S: q.clients}}
    assert verdict(Combination, use, lambda _id: proof, lhs=D, rhs=S * D, **as_clients) == "broken"
    both = {"where": {x: q.point, S: q.clients}, "for_all": {S: [1, 2]}, "place": "points"}
    more = {"links": [[Term(S - 1, square(x))]]}
    sides = {"lhs": norm_sq(x), "rhs": S * norm_sq(x), "because": "a quantity and a quantified symbol"}
    assert verdict(Certificate, more, **sides, **both) == "broken"


def test_the_counter_of_a_recursion_is_its_own() -> None:
    """A claim cannot redefine the symbol that counts local steps."""
    claim = find("renard2022:lemma-2.3.quiet")
    recursion = certificates()[claim.id]
    assert isinstance(recursion, Recursion)
    where = {**claim.where, counter: q.final_suboptimality}
    assert check_certificate(replace(claim, rhs=claim.rhs * counter, where=where), recursion).verdict == "broken"


@pytest.mark.parametrize(
    ("lhs", "rhs"), [(sp.Float("0.5") * M, sp.Rational(1, 2) * M), (M / 3, sp.Float("0.333333333333333") * M)]
)
def test_rounded_numbers(lhs: Any, rhs: Any) -> None:
    """A float in a claim is rejected, because it is rounded."""
    assert verdict(Combination, LINKS, because="is not exact", lhs=lhs, rhs=rhs) == "broken"


def test_declarations_are_not_statements() -> None:
    """SymPy's assumptions on a symbol prove nothing about its quantity."""
    zero, progress = sp.Symbol("z", zero=True), sp.Symbol("p", positive=True)
    as_step = {"where": {zero: q.local_step_size, sigma: q.noise_deviation}}
    assert verdict(Combination, LINKS, lhs=zero * sigma, rhs=0, because="the sum", **as_step) == "broken"
    positive = {"links": [[Part(1, sp.Ge(progress, 0, evaluate=False))]]}
    sides = {"lhs": 0, "rhs": progress, "because": "is not a number that the claim defines"}
    assert verdict(Combination, positive, where={progress: q.total_progress}, **sides) == "broken"


@pytest.mark.parametrize("operator", ["!=", "approximately", "<"])
def test_unknown_relations(operator: Any) -> None:
    """Only <=, == and >= are proved."""
    shows = {"relation": operator, "because": f"the claim states {operator}"}
    assert verdict(Combination, LINKS, lhs=M, rhs=M, **shows) == "broken"
    assert verdict(Certificate, LINKS, lhs=norm_sq(x), rhs=norm_sq(x), place="points", **shows) == "broken"


def test_reasons_and_facts_of_ones_own() -> None:
    """Certificates may use only the kernel's inequalities and the known facts; names of quantities do not matter."""
    luck = Fact("luck", -sp.S.One)
    assert verdict(Combination, {"links": [[Part(1, luck)]]}, because="expected one of one, ", lhs=1, rhs=0) == "broken"
    term: Any = Term(1, lambda _context: None)  # type: ignore[arg-type,return-value]
    made_up = {"because": "expected a reason of the kernel", "place": "points"}
    assert verdict(Certificate, {"links": [[term]]}, lhs=norm_sq(x), rhs=0, **made_up) == "broken"
    imposter = RunQuantity("noise_deviation", "s", "something else", lambda run: run.smoothness)
    named = {"where": {sigma: imposter}, "assumptions": (a.full_gradients,), "because": "has the name"}
    assert verdict(Combination, {"links": [[Part(-1, facts.QUIET)]]}, lhs=sigma, rhs=0, **named) == "broken"


def test_more_are_drawn_than_there_are() -> None:
    """With replacement, more draws than clients are possible."""
    drawn = {"where": {x: q.point, P: q.participants, M: q.clients}, "place": "points"}
    fewer = {"links": [[Term(M - P, square(x))]]}
    sides = {"lhs": P * norm_sq(x), "rhs": M * norm_sq(x)}
    assert verdict(Certificate, fewer, because="coefficient (M - P) >= 0", **sides, **drawn) == "broken"
    assert verdict(Certificate, fewer, assumptions=(a.uniform_sampling,), **sides, **drawn) == "proved"


def test_a_claim_that_says_nothing() -> None:
    """A claim without a relation has nothing to prove, whatever conditions are relaxed."""
    nothing = {"links": [], "relaxed": [eta <= 1]}
    assert verdict(Combination, nothing, because="has no relation", conditions=[eta <= 1]) == "broken"

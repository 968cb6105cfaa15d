"""Refusals of proof terms that no tactic meets: each is made by hand, in a context that fits but for one thing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
import sympy as sp

import fedtheory as ft
from fedtheory import assumptions as a
from fedtheory import quantities as q
from fedtheory.kernel import Rejected
from fedtheory.kernel.expressions import ClientSum, Expectation, PastSum, Value, norm_sq
from fedtheory.language.claim import Claim
from fedtheory.language.quantities import RunQuantity
from fedtheory.proofs.decoding import FACTS, MEASURES
from fedtheory.proofs.numbers import symbols_of
from fedtheory.proofs.proof import Proof
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.places import context_of_run, enter_models, enter_step
from fedtheory.proofs.terms.rules.axiom import FACT, Axiom
from fedtheory.proofs.terms.rules.consequence import LAWS, Consequence
from fedtheory.proofs.terms.rules.induct import InductDrift
from fedtheory.proofs.terms.rules.maximum import BoundMaximum, _find_term, _find_value
from fedtheory.proofs.terms.rules.sign import Sign
from fedtheory.proofs.terms.rules.use import _require_place, write_in_symbols
from fedtheory.sources.fraboni2022.context import surrogate, terms, updates

eta, tau, d, k, r, z = sp.symbols("eta tau d k r z", positive=True)
F, xs, ys = sp.symbols("F x y")
WHERE = {F: q.objective, xs: q.local_iterate, ys: q.average_iterate}
CLAIM = Claim(
    id="mine:rare",
    lhs=d,
    rhs=eta * tau,
    where={d: q.max_drift, eta: q.local_step_size, tau: q.local_steps, r: q.weight_sum},
    assumptions=(a.same_local_work, a.unit_server_step, a.full_participation, a.uniform_shares),
    conditions=[eta <= 2],
)


def _prove_nothing(name: str) -> Proof:
    raise Rejected(f"nothing is proved of {name}")


RUN = context_of_run(CLAIM, _prove_nothing)
AT_STEP, MODELS, LOOP = enter_step(RUN), enter_models(RUN), enter_models(RUN, "loop")
UNEQUAL = context_of_run(replace(CLAIM, assumptions=CLAIM.assumptions[1:]), _prove_nothing)
symbol = RUN.symbols
x, mean = (symbol(one) for one in (q.local_iterate, q.average_iterate))
NUMBER = Sign(eta)


def _read_maximum(read: Callable[..., Any], expression: Any) -> object:
    """Read a user-defined maximum over clients, steps and rounds."""
    other = ft.quantity("other", expression, WHERE, over="run", by="largest", clients="largest")
    claim = replace(CLAIM, where={**CLAIM.where, d: other})
    return read(context_of_run(claim, _prove_nothing).process, symbols_of(claim)(other))


def _prefix() -> Claim:
    where = {eta: q.local_step_size, k: q.local_step_index}
    return Claim(id="mine:past", lhs=PastSum(k), rhs=eta, where=where, place="step", assumptions=CLAIM.assumptions)


OWN = ft.quantity("own_gap", Expectation(Value(F, xs)), WHERE)
OWN_CLAIM = replace(CLAIM, id="mine:own", where={**CLAIM.where, d: OWN})


def _use(context: TermContext, premise: Claim) -> None:
    _require_place(premise, premise.relations[0], context)


def _infer(law: str, place: str) -> None:
    """Apply a law to a proved claim about another place."""
    premise = replace(CLAIM, id="mine:premise", place=cast(Any, place))
    proof = SimpleNamespace(statement=premise, rename_for=lambda _: proof, verdict="proved")
    context = replace(RUN, prove=lambda _: proof)  # type: ignore[arg-type, return-value]
    Consequence(law, "mine:premise").check(context)


NOT_AT_STEPS = next(name for name, law in LAWS.items() if law("mine:premise", 0).place == "run")
REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "symbols of an expectation": (
        lambda: RUN.process.express_in_symbols(cast(RunQuantity, q.max_drift), norm_sq(Expectation(x))),
        "max_drift has expectations of vectors",
    ),
    "a symbol without a value": (lambda: RUN.process.write_indexed(z * eta, RUN.index), "z has no value by round"),
    "a vector without a value": (
        lambda: RUN.process.write_indexed(norm_sq(symbol(q.round_optimum)), RUN.index),
        "has no value by round and step",
    ),
    "vectors of unequal rounds": (
        lambda: UNEQUAL.process.express_in_vectors(cast(RunQuantity, q.max_drift), norm_sq(x)),
        "has vectors that rounds of all clients do not define",
    ),
    "a fact at a step": (lambda: Axiom(FACT, (next(iter(FACTS)),)).check(AT_STEP), "are about quantities of a run"),
    "a law of another place": (lambda: _infer(NOT_AT_STEPS, "step"), "the law is about the place 'run'"),
    "a drift without a first step": (
        lambda: InductDrift("loop pair", "mean", eta, NUMBER, NUMBER).check(LOOP),
        "expected the first step",
    ),
    "a drift bounded by the round": (
        lambda: InductDrift("spread", "mean", r, NUMBER, NUMBER).check(MODELS),
        "is not the same for all rounds",
    ),
    "the drift of a single client": (
        lambda: InductDrift("spread", "largest", eta, NUMBER, NUMBER)._conclude(MODELS, MEASURES["spread"]),
        "does not bound a single client",
    ),
    "a maximum bounded by the round": (
        lambda: BoundMaximum(d, r, NUMBER).check(RUN),
        "is not the same for all rounds and steps",
    ),
    "a maximum of expectations": (
        lambda: _read_maximum(_find_term, Expectation(norm_sq(Expectation(xs)))),
        "has expectations of vectors",
    ),
    "a maximum of two values": (
        lambda: _read_maximum(_find_value, sp.Max(Expectation(norm_sq(xs)), Expectation(norm_sq(xs - ys)))),
        "has no single value before a step",
    ),
    "sums over past steps": (lambda: _use(replace(AT_STEP, place="step"), _prefix()), "sums over the past steps"),
    "a quantity without a name": (
        lambda: write_in_symbols(RUN, OWN_CLAIM, eta - symbols_of(OWN_CLAIM)(OWN)),
        "own_gap is a quantity that mine:rare does not name",
    ),
    "a symbol under a quantifier": (
        lambda: write_in_symbols(RUN, replace(CLAIM, id="mine:all", for_all={z: (1, 2)}), z * eta),
        "z is under a quantifier of mine:all alone",
    ),
    "weights that are not given": (
        lambda: surrogate.build_loss_changes_context(CLAIM),
        "for weights that are not random: assume `given_weights`",
    ),
    "steps of no update": (
        lambda: terms.define_in_vectors(cast(RunQuantity, q.max_drift), symbol),
        "no vectors are known at the local steps that max_drift is made of",
    ),
    "vectors that change otherwise": (
        lambda: terms.define_in_vectors(cast(RunQuantity, q.server_distance_sq), symbol),
        "is about vectors that change in other ways: server_model",
    ),
    "expectations at an update": (
        lambda: terms.define_in_vectors(
            ft.quantity_at_steps("other", Expectation(norm_sq(Expectation(xs))), {xs: q.local_iterate}), symbol
        ),
        "other has expectations of vectors, which no context of updates has",
    ),
    "a sample at another point": (
        lambda: terms._get_sampled_gradient(updates.objective, 2 * updates.local),
        "is the gradient of the present sample at",
    ),
    "weights that count twice": (
        lambda: terms._weigh_by_shares(symbol(q.expected_weight) ** 2 * eta, symbol),
        "exactly once as a factor of each summand over clients",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_rare_refusal(name: str) -> None:
    """Each rule names the one thing that does not fit."""
    attempt, why = REFUSED[name]
    with pytest.raises(Rejected, match=why):
        attempt()


def test_weights_that_count_once() -> None:
    """A sum with one weight in each member is a multiple of the sum with shares."""
    weight, share, total = (symbol(one) for one in (q.expected_weight, q.weight_share, q.weight_sum))
    assert terms._weigh_by_shares(weight * eta + 2 * weight, symbol) == total * ClientSum(share * eta + 2 * share)

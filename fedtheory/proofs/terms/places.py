"""Contexts of terms: those of claims, and those that rules enter for an index or at the start of an induction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import sympy as sp

from fedtheory.kernel import Context, Numbers, Rejected
from fedtheory.kernel.expressions import Expr
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim, Relation
from fedtheory.proofs.claim_context import build_context
from fedtheory.proofs.induction import k
from fedtheory.proofs.link_context import build_link_context
from fedtheory.proofs.numbers import ROUNDS, list_known_conditions, numbers_of, symbols_of
from fedtheory.proofs.paper_contexts import list_paper_step_conditions
from fedtheory.proofs.prefix_sum import has_prefix_sum
from fedtheory.proofs.proof import Prover
from fedtheory.proofs.rounds import is_in_expectation
from fedtheory.proofs.run_conditions import conditions_of_run
from fedtheory.proofs.terms.context import Place, Reading, TermContext

_AFTER_STEPS = (q.server_model, q.optimum, q.comparator, q.local_iterate)
"""Vectors after the last step of a round."""


def index_of(claim: Claim) -> sp.Symbol:
    """Return the symbol of the present local step.

    It is that of the claim, or that of recursions for claims about whole runs.
    """
    return k if claim.place == "run" else symbols_of(claim)(q.local_step_index)


def context_of_numbers(claim: Claim, conditions: Sequence[Expr], prove: Prover) -> TermContext:
    """Return the context of the numbers of a claim, under conditions."""
    return TermContext(claim, "run", "expectation", numbers_of(claim), tuple(conditions), prove, index_of(claim))


def context_of_totals(claim: Claim, prove: Prover) -> TermContext:
    """Return the context of numbers of a local step that are sums over the past ones."""
    return replace(context_of_numbers(claim, claim.conditions, prove), place="past")


def context_of_run(claim: Claim, prove: Prover, equations: Sequence[Expr] = ()) -> TermContext:
    """Return the context of a claim about a whole run, with known equations."""
    return context_of_numbers(claim, (*conditions_of_run(claim), *equations), prove)


def context_of_vectors(claim: Claim, relation: Relation, prove: Prover) -> TermContext:
    """Return the context of one relation between vectors."""
    vectors = build_link_context(claim, relation)
    numbers = vectors.numbers
    if claim.place == "step":
        # A bound on the largest drift of the run bounds the drift at each step.
        numbers = replace(numbers, symbols=numbers.symbols | {symbols_of(claim)(q.max_drift)})
        vectors = replace(vectors, numbers=numbers)
    conditions = (*claim.conditions, *list_known_conditions(claim), *list_paper_step_conditions(claim))
    place: Place = "past" if has_prefix_sum(relation) else claim.place
    reading = _find_reading(claim, relation)
    return TermContext(claim, place, reading, numbers, conditions, prove, index_of(claim), vectors)


def _find_reading(claim: Claim, relation: Relation) -> Reading:
    """Return whether the relation holds in expectation, for each outcome or for each path."""
    if claim.place in ("step", "run"):
        return "expectation"
    if claim.place == "round":
        return "expectation" if is_in_expectation(claim, relation) else "outcome"
    return "path"


def numbers_at_steps(context: TermContext, first: int = 0) -> Numbers:
    """Return the numbers of a run with the index of a local step, which is at least `first`."""
    numbers, index = context.numbers, context.index
    symbols = {index, context.process.steps, context.symbols(q.max_drift)}
    return replace(
        numbers,
        symbols=numbers.symbols | symbols,
        at_least={context.process.steps: 1, **numbers.at_least, index: first},
        maybe_zero=numbers.maybe_zero | {index},
    )


def enter_step(context: TermContext) -> TermContext:
    """Return the context of any local step of any round of a run, in expectation."""
    known = _build_step(context)
    conditions = (*context.conditions, context.index + 1 <= context.process.steps)
    return replace(context, place="step", numbers=known.numbers, conditions=conditions, vectors=known)


def enter_models(context: TermContext, place: Literal["models", "loop"] = "models") -> TermContext:
    """Return the context of the iterates after any number of local steps of a round, from none to all.

    In the loop with restarts, steps are counted from the last common start of all clients.
    """
    known = _build_step(context)
    if place == "loop":
        context.require_assumed(ROUNDS, "all clients of the loop take the same steps and are averaged")
    conditions = (*context.conditions, context.index <= context.process.steps)
    models = _keep_models(context, known)
    return replace(context, place=place, numbers=known.numbers, conditions=conditions, vectors=models)


def _keep_models(context: TermContext, known: Context) -> Context:
    """Return a kernel context that contains the models after steps and the objectives, but no step from them."""
    kept, average = {context.symbols(of) for of in _AFTER_STEPS}, context.symbols(q.average_iterate)
    return replace(
        known,
        vectors=known.vectors & kept,
        client_vectors=known.client_vectors & kept,
        noise=frozenset(),
        common_random_numbers=frozenset(),
        visited=frozenset(),
        definitions={symbol: of for symbol, of in known.definitions.items() if symbol == average},
        assumed={},
    )


def _build_step(context: TermContext) -> Context:
    """Return the kernel's context of any local step of a run; raise `Rejected` for a context of another place."""
    if context.place != "run":
        raise Rejected(f"a round or step is entered from the whole run, not from the place {context.place!r}")
    context.process.require_steps()
    return replace(build_context(replace(context.claim, place="step")), numbers=numbers_at_steps(context))

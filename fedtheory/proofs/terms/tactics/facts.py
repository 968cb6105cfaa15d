"""Facts about quantities of a run as proof terms: by what the quantities are, where rounds define them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import sympy as sp

from fedtheory.kernel import Rejected
from fedtheory.language import quantities as q
from fedtheory.language.claim import Claim
from fedtheory.proofs import facts
from fedtheory.proofs.decoding import FACTS
from fedtheory.proofs.facts import Fact
from fedtheory.proofs.numbers import numbers_of
from fedtheory.proofs.terms.process import Process
from fedtheory.proofs.terms.rules.at import At
from fedtheory.proofs.terms.rules.axiom import FACT, Axiom
from fedtheory.proofs.terms.rules.combine import Combine
from fedtheory.proofs.terms.rules.maximum import BelowMaximum
from fedtheory.proofs.terms.rules.sign import Sign
from fedtheory.proofs.terms.rules.sum_over import SumOver
from fedtheory.proofs.terms.run_form import RunForm
from fedtheory.proofs.terms.term import ProofTerm, Weighted

ONE = sp.S.One


def term_of_fact(claim: Claim, fact: Fact) -> ProofTerm:
    """Write a fact as a term: from definitions where they suffice, else by its name."""
    if fact is facts.ONE:
        return Sign(ONE)
    process, goal = Process(claim), None
    if process.has_steps:
        goal = fact.slack(process.symbols)
        derive = _DERIVATIONS.get(fact.name)
        if derive is not None:
            return derive(process, goal)
        if fact.is_zero and fact.where == 0 and _follows_by_definition(process, goal):
            return Combine(goal, "==")
    return Axiom(FACT, (next(name for name, one in FACTS.items() if one is fact),))


def _follows_by_definition(process: Process, goal: sp.Expr) -> bool:
    try:
        return RunForm(process, numbers_of(process.claim)).check_zero("", goal).holds
    except Rejected:
        return False


def _below_mean(over: str) -> Callable[[Process, sp.Expr], ProofTerm]:
    """A mean over the steps of a round, or of all rounds, is at most the largest."""

    def derive(process: Process, goal: sp.Expr) -> ProofTerm:
        each = SumOver("clients", ONE, BelowMaximum(process.symbols(q.max_drift)))
        steps, count = SumOver("steps", ONE, each), process.steps
        if over == "rounds":
            return Combine(goal, ">=", (Weighted(1 / (count * process.rounds), SumOver("rounds", ONE, steps)),))
        return Combine(goal, ">=", (Weighted(1 / count, steps),))

    return derive


def _at_end(kind: str, *about: q.Quantity) -> Callable[[Process, sp.Expr], ProofTerm]:
    """An inequality of the kernel for the model at the end of a run."""

    def derive(process: Process, goal: sp.Expr) -> ProofTerm:
        first, *others = (process.symbols(of) for of in about)
        axiom = Axiom(kind, (first - others[0],) if kind == "square" else (first, *others))
        return Combine(goal, ">=", (Weighted(ONE, At("end of the run", axiom)),))

    return derive


_DERIVATIONS: Mapping[str, Callable[[Process, sp.Expr], ProofTerm]] = {
    facts.MEAN_DRIFT.name: _below_mean("rounds"),
    facts.ROUND_DRIFT.name: _below_mean("steps"),
    facts.FINAL_DISTANCE.name: _at_end("square", q.server_model, q.optimum),
    facts.FINAL_COMPARATOR_DISTANCE.name: _at_end("square", q.server_model, q.comparator),
    facts.DESCENT.name: _at_end("optimality", q.objective, q.server_model),
}
"""Terms of facts that inequalities of the kernel show, by the names of the facts."""

"""A claim's proof by terms: one for each of its relations, under its conditions or weaker ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import sympy as sp

from fedtheory.kernel import Rejected, Step, scalar
from fedtheory.kernel.expressions import Expr
from fedtheory.kernel.quotients import is_zero
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.meaning import require_meaning
from fedtheory.proofs.link_context import write_out
from fedtheory.proofs.proof import Prover, check_relaxation, require_provable
from fedtheory.proofs.roots import name_roots
from fedtheory.proofs.terms.context import TermContext
from fedtheory.proofs.terms.places import context_of_run, context_of_totals, context_of_vectors
from fedtheory.proofs.terms.proved import Proved
from fedtheory.proofs.terms.rules.name_roots import NameRoots, add_roots_to_context
from fedtheory.proofs.terms.rules.past_total import PastTotal
from fedtheory.proofs.terms.term import Condition, ProofTerm


@dataclass(frozen=True)
class TermProof:
    """The terms that prove the relations of a claim."""

    claim: str
    """Id of the claim."""
    relations: tuple[ProofTerm, ...]
    relaxed: tuple[Condition, ...] | None = None
    """Weaker conditions than the claim's, under which the terms prove it; None for the claim's own."""


_SHOWN_BY = {"==": ("==",), "<=": ("==", ">="), ">=": ("==", ">="), "<": (">",), ">": (">",)}
"""The comparison with zero that a term must prove for the slack of a relation, by the relation's operator."""


def check_terms(claim: Claim, proof: TermProof, prove: Prover) -> Iterator[Step]:
    """Check the terms of a claim in plain symbols, one step for each relation; a `Rejected` names the failure."""
    require_provable(claim)
    if proof.relaxed is not None:
        yield from check_relaxation(claim, proof.relaxed)
        claim = replace(claim, conditions=proof.relaxed)
        require_provable(claim)
    if len(claim.relations) != len(proof.relations):
        raise Rejected(
            f"expected a term for each of the {len(claim.relations)} relations of the claim, got {len(proof.relations)}"
        )
    equations: list[Expr] = []
    for number, (relation, term) in enumerate(zip(claim.relations, proof.relations, strict=True), start=1):
        is_total = isinstance(term, PastTotal)
        context = context_of_totals(claim, prove) if is_total else context_of(claim, relation, prove, equations)
        try:
            proved = _check_relation(relation, term, context)
        finally:
            yield from context.held
        yield Step(f"relation {number} follows", True)
        if proved.is_equation and context.vectors is None and relation.operator == "==":
            equations.append(sp.Eq(relation.slack, 0, evaluate=False))


def context_of(claim: Claim, relation: Relation, prove: Prover, equations: list[Expr]) -> TermContext:
    """Return the context in which a term proves a relation of a claim."""
    try:
        for side in write_out(claim, relation).sides if claim.place != "run" else relation.sides:
            require_meaning(side, claim.place)
    except ValueError as reason:
        raise Rejected(str(reason)) from None
    if claim.place == "run":
        return context_of_run(claim, prove, equations)
    return context_of_vectors(claim, relation, prove)


def _check_relation(relation: Relation, term: ProofTerm, context: TermContext) -> Proved:
    """Check a term, and that its conclusion is the relation."""
    proved = term.check(context)
    if proved.comparison not in _SHOWN_BY.get(relation.operator, ()):
        raise Rejected(
            f"the certificate shows that larger side - smaller side is {proved.comparison} 0, but the claim states "
            f"{relation.operator}: expected a proof of this relation"
        )
    wanted = relation.slack if context.vectors is None else write_out(context.claim, relation).slack
    context.require_expression(wanted)
    if isinstance(term, NameRoots):
        roots = [named.root for named in term.roots]
        context = add_roots_to_context(context, roots)
        relation = name_roots(roots, relation)
        for root in roots:
            wanted = root.substitute(wanted)
    _require_whole_sides(relation, context)
    if not _is_same_quotient(proved.expression, wanted):
        sides = [(sp.S.One, proved.expression), (sp.S.NegativeOne, wanted)]
        context.require_zero(sides, "what is proved is the relation")
    return proved


def _require_whole_sides(relation: Relation, context: TermContext) -> None:
    """Raise `Rejected` if a symbol that cancels between the sides is unknown in the context."""
    known = relation.left.free_symbols | relation.right.free_symbols
    if context.vectors is None or known <= relation.slack.free_symbols:
        return
    for side in write_out(context.claim, relation).sides:
        scalar(side, context.vectors)


def _is_same_quotient(one: Expr, other: Expr) -> bool:
    """Return whether two expressions are equal, or equal quotients of the same inner products and values."""
    if one == other:
        return True
    try:
        return is_zero(one - other)
    except Rejected:
        return False

"""Extensions of proofs by papers: definitions of their quantities in vectors, conditions on their numbers, and facts.

They are found in the folders ``context`` of the papers, and are trusted like the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from types import ModuleType

from fedtheory.kernel import Context, Rejected
from fedtheory.kernel.expressions import Expr
from fedtheory.language.claim import Claim, Relation
from fedtheory.language.paper_parts import import_modules
from fedtheory.language.quantities import Quantity
from fedtheory.proofs.derived_relation import Derived


@dataclass(frozen=True, kw_only=True)
class PaperRules:
    """Rules that a paper adds: premises derived from proved claims, conditions between its numbers, and bounds."""

    conditions: Callable[[Claim], tuple[Expr, ...]] = lambda _claim: ()
    """Function from a claim to known orderings between its numbers."""
    derived: Sequence[type[Derived]] = ()
    """Further derived relations of a proved claim."""
    extend: Callable[[Context, Claim], Context] = lambda context, _claim: context
    """Function that adds to a context what holds at every local step, path or round by a paper's quantities."""


@dataclass(frozen=True, kw_only=True)
class PaperContext(PaperRules):
    """The definitions of a paper's quantities for proofs."""

    write_in_vectors: Callable[[Claim, Relation], Relation]
    """Function that rewrites a relation between quantities of a run in inner products and objective values."""
    context: Callable[[Claim, Relation], Context]
    """Function that returns the context in which such a relation is to be proved."""
    share: Quantity
    """Function that returns the weight of a client in client averages of such a relation."""
    step_conditions: Callable[[Claim], tuple[Expr, ...]]
    """Function that returns the orderings, including those of single clients and steps."""
    symbols: Mapping[str, ModuleType]
    """Modules with symbols that no claim has, by the first part of their names in documents."""


@cache
def list_paper_contexts() -> tuple[PaperContext, ...]:
    """Return the contexts of all papers."""
    return tuple(rules for rules in _list_rules() if isinstance(rules, PaperContext))


@cache
def list_paper_rules() -> tuple[PaperRules, ...]:
    """Return the rules of all papers, those of their contexts among them."""
    return tuple(_list_rules())


def _list_rules() -> Iterator[PaperRules]:
    found = (getattr(module, "CONTEXT", None) for module in import_modules("context"))
    return (rules for rules in found if isinstance(rules, PaperRules))


def _find_first(claim: Claim, relation: Relation) -> tuple[PaperContext, Relation]:
    """Return the first context that can rewrite a relation between quantities of a run, and the rewritten relation."""
    refusals = [Rejected("no context defines these quantities of a run in vectors")]
    for context in list_paper_contexts():
        try:
            return context, context.write_in_vectors(claim, relation)
        except Rejected as reason:
            refusals.append(reason)
    raise refusals[-1]


def write_in_vectors(claim: Claim, relation: Relation) -> Relation:
    """Return a relation between quantities of a run as one between inner products and objective values."""
    return _find_first(claim, relation)[1]


def build_run_context(claim: Claim, relation: Relation) -> Context:
    """Return the context in which one relation between quantities of a run is to be proved."""
    return _find_first(claim, relation)[0].context(claim, relation)


def find_weight(claim: Claim, relation: Relation) -> Quantity:
    """Return the weight of a client in client averages of a relation between quantities of a run."""
    return _find_first(claim, relation)[0].share


def list_paper_conditions(claim: Claim) -> tuple[Expr, ...]:
    """Return orderings between numbers of a claim that papers know."""
    return tuple(one for rules in list_paper_rules() for one in rules.conditions(claim))


def extend_by_papers(context: Context, claim: Claim) -> Context:
    """Return the context of a claim with what holds by the quantities of papers."""
    return reduce(lambda found, rules: rules.extend(found, claim), list_paper_rules(), context)


def list_paper_step_conditions(claim: Claim) -> tuple[Expr, ...]:
    """Orderings between numbers of a claim that papers know, including those of single clients and local steps."""
    return tuple(one for context in list_paper_contexts() for one in context.step_conditions(claim))
